"""The two judgements on a text: the analysis of a document as it stands, and the final word."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from textx.metamodel import TextXMetaModel

from language_server.constraints import ConstraintSet, Evaluation, Violation
from language_server.diagnostic import Diagnostic
from language_server.languages.textx_judge import load_problems
from language_server.languages.wording import syntax_message
from language_server.syntax import Grammar, Parse, SyntaxFault

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
        # What is certain while the text may go on, before it is taken to be all there is.
        open_end = constraints.initial().refine_all(parse.trail.events())
        evaluation = open_end.close()
        found = [_fault(fault, body) for fault in parse.faults]
        violations = (
            evaluation.obligations
            if parse.complete
            else _certain(open_end, evaluation, parse.faults, body)
        )
        found += violation_diagnostics(violations, constraints)
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


def violation_diagnostics(
    violations: Iterable[Violation], constraints: ConstraintSet
) -> list[Diagnostic]:
    """The violations of a model as problems of its text; what only looks ahead is left out."""
    predicates = constraints.theory.predicates
    found = []
    for violation in violations:
        predicate = predicates.get(violation.constraint)
        is_constraint = violation.source == "constraint"
        if is_constraint and predicate is not None and predicate.lookahead:
            continue
        found.append(
            Diagnostic(
                violation.start,
                violation.end,
                predicate.severity if is_constraint and predicate is not None else "error",
                violation.source,
                violation.code,
                violation.message,
                violation.constraint if is_constraint else None,
                violation.element_names,
                violation.related,
            )
        )
    return found


def _certain(
    open_end: Evaluation, closed: Evaluation, faults: tuple[SyntaxFault, ...], text: str
) -> Iterable[Violation]:
    """What holds whatever the unreadable parts of a text mean.

    A name without a declaration counts only if it does not occur in an unreadable part.
    """
    yield from open_end.contradictions
    skipped = set(re.findall(r"\w+", " ".join(_line_of(fault, text) for fault in faults)))
    known = set(open_end.contradictions)
    for violation in closed.obligations:
        words = set(re.findall(r"\w+", text[violation.start : violation.end]))
        if violation.source == "reference" and violation not in known and not words & skipped:
            yield violation


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
