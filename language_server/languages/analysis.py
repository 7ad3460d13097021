"""The two judgements on a text: the analysis of a document as it stands, and the final word."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from textx.metamodel import TextXMetaModel

from language_server.constraints import ConstraintSet, Evaluation, Violation
from language_server.diagnostic import Diagnostic
from language_server.languages.textx_judge import load_problems
from language_server.languages.wording import syntax_message
from language_server.syntax import Close, Grammar, Parse, SyntaxFault

logger = logging.getLogger(__name__)

BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Analysis:
    """The document view of a text.

    Attributes:
        diagnostics: its problems by place.
        evaluation: its model, closed, and what holds in it.
        parse: what could be read; offsets in it leave out a byte-order mark.
    """

    diagnostics: tuple[Diagnostic, ...]
    evaluation: Evaluation
    parse: Parse


def analyse(grammar: Grammar, constraints: ConstraintSet, text: str) -> Analysis:
    """All problems of a text as it stands, with the model it states; never raises.

    Where the syntax is broken, the model has holes: then only what no text in the holes could mend
    is reported about it.
    """
    body = text.removeprefix(BYTE_ORDER_MARK)
    shift = len(text) - len(body)
    try:
        parse = grammar.parse(body)
        found = [_fault(fault, body) for fault in parse.faults]
        evaluation = constraints.initial().refine_all(parse.trail.events()).close()
        violations = (
            (*evaluation.obligations, *evaluation.warnings)
            if parse.complete
            else _certain(parse, constraints, evaluation, body)
        )
        found += violation_diagnostics(violations)
    except Exception as error:
        logger.exception("the analysis failed")
        parse = grammar.parse("")
        evaluation = constraints.initial()
        message = f"the analysis failed ({type(error).__name__}); please report this text"
        found = [Diagnostic(0, len(body), "error", "syntax", "internal", message)]
    ordered = sorted(set(found), key=lambda each: (each.start, each.end, each.message))
    return Analysis(tuple(_shifted(each, shift) for each in ordered), evaluation, parse)


def judge(
    metamodel: TextXMetaModel,
    grammar: Grammar,
    constraints: ConstraintSet,
    text: str,
    path: Path | None = None,
) -> tuple[Diagnostic, ...]:
    """The final word on a finished text: textX must load it, and no constraint be violated."""
    body = text.removeprefix(BYTE_ORDER_MARK)
    against = load_problems(metamodel, body, path)
    if against:
        return tuple(_shifted(each, len(text) - len(body)) for each in against)
    return analyse(grammar, constraints, text).diagnostics


def violation_diagnostics(violations: Iterable[Violation]) -> list[Diagnostic]:
    """The violations of a model as problems of its text."""
    return [
        Diagnostic(
            max(violation.start, 0),
            max(violation.end, violation.start, 0),
            violation.severity,
            violation.source,
            violation.code,
            violation.message,
            violation.constraint if violation.source == "constraint" else None,
            violation.element_names,
            violation.related,
        )
        for violation in violations
    ]


def _certain(
    parse: Parse, constraints: ConstraintSet, closed: Evaluation, text: str
) -> Iterator[Violation]:
    """What holds whatever the unreadable parts of a text mean.

    That is what more text could not mend, about objects without a fault in them; and a name without
    a declaration that does not occur near a fault.
    """
    events = list(parse.trail.events())
    if events and isinstance(events[-1], Close):
        events.pop()  # the fault may hide more of the root object
    open_end = constraints.initial().refine_all(events)
    for violation in open_end.contradictions:
        spans = [open_end.model.span(element) for element in violation.elements]
        if not any(_touches(span, fault) for span in spans for fault in parse.faults):
            yield violation
    near = set(re.findall(r"\w+", " ".join(_line_of(fault, text) for fault in parse.faults)))
    for violation in closed.obligations:
        words = set(re.findall(r"\w+", text[violation.start : violation.end]))
        if violation.code == "unresolved-reference" and not words & near:
            yield violation


def _touches(span: tuple[int, int] | None, fault: SyntaxFault) -> bool:
    if span is None or span[0] < 0:
        return False
    return span[0] <= fault.end and (span[1] < 0 or fault.start <= span[1])


def _line_of(fault: SyntaxFault, text: str) -> str:
    """The lines a fault touches: a broken declaration may begin before the fault."""
    stop = text.find("\n", fault.end)
    return text[text.rfind("\n", 0, fault.start) + 1 : len(text) if stop < 0 else stop]


def _fault(fault: SyntaxFault, text: str) -> Diagnostic:
    end = fault.end if fault.end > fault.start else min(fault.start + 1, len(text))
    start = fault.start if end > fault.start else max(fault.start - 1, 0)
    return Diagnostic(start, end, "error", "syntax", "syntax", syntax_message(fault))


def _shifted(diagnostic: Diagnostic, shift: int) -> Diagnostic:
    if not shift:
        return diagnostic
    return replace(
        diagnostic,
        start=diagnostic.start + shift,
        end=diagnostic.end + shift,
        related=tuple((s + shift, e + shift, message) for s, e, message in diagnostic.related),
    )
