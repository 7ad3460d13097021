"""The analysis of a text as it stands: its problems, its model, its parse."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from language_server.constraints import Assertion, ConstraintSet, Evaluation, Violation
from language_server.diagnostic import Diagnostic
from language_server.languages.declaration import OwnRules
from language_server.languages.wording import syntax_message
from language_server.partial_model import Reading, Surroundings, Target
from language_server.syntax import Grammar, Parse, SyntaxFault

logger = logging.getLogger(__name__)

BYTE_ORDER_MARK = "\ufeff"

Check = Callable[[str, Path | None], Iterable[Diagnostic]]


@dataclass(frozen=True)
class Analysis:
    """The document view of a text.

    Attributes:
        diagnostics: its problems by place.
        evaluation: its model, closed, and what holds in it.
        parse: what could be read; offsets in it leave out a byte-order mark.
        reading: how the model was read, for the analysis of an edited text.
        targets: what references mean that only code of the language resolves.
    """

    diagnostics: tuple[Diagnostic, ...]
    evaluation: Evaluation
    parse: Parse
    reading: Reading | None = field(default=None, repr=False)
    targets: tuple[Target, ...] = ()


def analyse(
    grammar: Grammar,
    constraints: ConstraintSet,
    text: str,
    path: Path | None = None,
    check_further: Check | None = None,
    surroundings: Surroundings | None = None,
    known: Analysis | None = None,
    own_rules: OwnRules | None = None,
    given: tuple[Assertion, ...] = (),
) -> Analysis:
    """All problems of a text as it stands, with the model it states; never raises.

    Where the syntax is broken, the model has holes: then only what no text in the holes could mend
    is reported about it.

    Args:
        known: the analysis of an earlier version of the text: only what a change affects is read,
            and its model is changed where it can be (`Reading.edited`).
        given: what holds from the start.
    """
    body = text.removeprefix(BYTE_ORDER_MARK)
    reading: Reading | None = None
    try:
        parse = grammar.parse(body, known.parse if known is not None else None)
        found = [_fault(fault, body) for fault in parse.faults]
        initial = constraints.initial(given, surroundings)
        evaluation, reading = _read(initial, parse, None if given else known)
        violations = (
            (*evaluation.obligations, *evaluation.warnings)
            if parse.complete
            else _certain(parse, evaluation, reading, body)
        )
        if own_rules is not None:
            names = {each.name for each in own_rules.declared(evaluation.model, path)}
            violations = tuple(each for each in violations if not _means(each, names, body))
            found += own_rules.check(evaluation.model, path) if parse.complete else ()
        found += violation_diagnostics(violations)
        if check_further is not None and parse.complete:
            found += check_further(body, path)
    except Exception as error:
        logger.exception("the analysis failed")
        parse, reading = grammar.parse(""), None
        evaluation = constraints.initial(given)
        message = f"the analysis failed ({type(error).__name__}); please report this text"
        found = [Diagnostic(0, len(body), "error", "syntax", "internal", message)]
    ordered = sorted(set(found), key=lambda each: (each.start, each.end, each.message))
    return Analysis(shifted(ordered, text), evaluation, parse, None if given else reading)


def _read(initial: Evaluation, parse: Parse, known: Analysis | None) -> tuple[Evaluation, Reading]:
    """The model of a text, from that of an earlier version of it if that is possible."""
    if known is not None and known.reading is not None and initial.model.surroundings is None:
        before = known.evaluation
        if before.constraints is initial.constraints:
            changed = before.edited(known.reading, parse)
            if changed is not None:
                return changed
    return initial.read(parse)


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


def _means(violation: Violation, names: Container[str], text: str) -> bool:
    """Whether a reference that the linker refuses is one of some names."""
    return violation.source == "reference" and text[violation.start : violation.end] in names


def _certain(parse: Parse, closed: Evaluation, reading: Reading, text: str) -> Iterator[Violation]:
    """What holds whatever the unreadable parts of a text mean.

    That is what more text could not mend, about objects without a fault in them; and a name without
    a declaration that does not occur near a fault. The fault may also hide more of the last object
    and those around it.
    """
    for violation in closed.lasting(reading):
        spans = [closed.model.span(element) for element in violation.elements]
        if not any(_touches(span, fault) for span in spans for fault in parse.faults):
            yield violation
    if any(not word.startswith("'") for fault in parse.faults for word in fault.expected):
        return  # the missing name may be the one that is declared nowhere
    if closed.model.surroundings is not None:
        return  # it may be declared in a file whose import the fault hides
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


def shifted(diagnostics: Iterable[Diagnostic], text: str) -> tuple[Diagnostic, ...]:
    """Diagnostics of a text without its byte-order mark, at their places in the text with it."""
    if not text.startswith(BYTE_ORDER_MARK):
        return tuple(diagnostics)
    return tuple(
        replace(
            found,
            start=found.start + 1,
            end=found.end + 1,
            related=tuple((s + 1, e + 1, message) for s, e, message in found.related),
        )
        for found in diagnostics
    )
