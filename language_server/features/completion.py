"""The completion list: what may stand at the cursor so that the model can still be completed.

`propose` asks the projection for the moves of the text before the cursor and tries each one. Items
whose continuation is proven come first, those nobody could decide in time behind them, those proven
impossible not at all. The text behind the cursor contributes the names it declares, and an item
that would break what stands there is not called proven.
"""

from __future__ import annotations

import difflib
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from language_server.diagnostic import Diagnostic
from language_server.features.proofs import verdict_within
from language_server.languages import Language
from language_server.projection import Move, Prefix
from language_server.projection.moves import is_meant
from language_server.syntax import Expected

Kind = Literal["keyword", "reference", "declaration", "value"]

_SECONDS = 0.25  # for the proofs of one list; what is not decided by then is unknown
_KINDS: tuple[Kind, ...] = ("reference", "keyword", "value", "declaration")  # best first
_WORD = re.compile(r"\w+\Z")
_REST_OF_WORD = re.compile(r"\w*")


@dataclass(frozen=True, slots=True)
class Proposal:
    """One item of the list.

    Attributes:
        label: what the item writes, without white space around it.
        text: replaces the characters from ``start`` to ``end`` of the document.
        replaces: what stands there now; the item is meant to be found by typing it.
        verdict: ``proven`` if the text before the cursor and the item have a known completion and
            the item breaks nothing behind the cursor; else ``unknown``.
        cls, feature, target: the class under construction, its feature that the item fills, and the
            class it refers to; None where there is none.
    """

    kind: Kind
    label: str
    text: str
    start: int
    end: int
    replaces: str
    verdict: Literal["proven", "unknown"]
    cls: str | None = None
    feature: str | None = None
    target: str | None = None

    @property
    def detail(self) -> str:
        """What the item is for, in the words of the metamodel."""
        fills = f"{self.feature} of {self.cls}" if self.feature and self.cls else self.cls or ""
        if self.kind == "declaration":
            return f"new name, {fills}" if fills else "new name"
        return f"{self.target}, {fills}" if self.target and self.target != self.cls else fills


def propose(
    language: Language,
    prefix: Prefix,
    after: str,
    seconds: float = _SECONDS,
    path: Path | None = None,
) -> tuple[Proposal, ...]:
    """The completion list, best item first.

    Args:
        prefix: the text before the cursor.
        after: the text behind it.
        seconds: how long proofs may take.
        path: where the text belongs, which what it imports is relative to.
    """
    if prefix.in_comment:
        return ()
    context = _Context(language, prefix, after, time.monotonic() + seconds, path)
    order = {"proven": 0, "unknown": len(_KINDS)}
    continuations = sorted(
        _continuations(context),
        key=lambda item: order[item.verdict] + _KINDS.index(item.kind),
    )  # sorted is stable: within a kind the projection's order stays
    if any(proposal.replaces for proposal in continuations):
        return tuple(continuations)
    return (*_corrections(context), *continuations)


def moves_between(language: Language, prefix: Prefix, after: str) -> list[Move]:
    """The moves from a prefix, best first, with the names that only the text behind declares."""
    moves = list(prefix.moves())
    if not moves and prefix.text:
        # The model is already inconsistent, so nothing completes it; the grammar still tells what
        # can be written, and the model which names there are.
        prefix = Prefix.of_grammar(language).advance(prefix.text)
        moves = list(prefix.moves())
    moves.extend(_later_names(language, prefix, after, moves))
    return sorted((move for move in moves if move.kind != "end" and move.insert), key=_rank)


@dataclass(frozen=True)
class _Context:
    language: Language
    prefix: Prefix
    after: str
    deadline: float
    path: Path | None

    @property
    def offset(self) -> int:
        return len(self.prefix.text)

    @cached_property
    def is_lost(self) -> bool:
        """Whether it is proven that nothing completes the text before the cursor."""
        return verdict_within(self.prefix, self.deadline).answer == "no"


def _continuations(context: _Context) -> Iterator[Proposal]:
    """What goes on with the text as it stands, whatever has been typed of a word."""
    whole = context.prefix.text + context.after
    faults = _Faults(context.language, whole) if context.after.strip() else None
    moves = moves_between(context.language, context.prefix, context.after)
    moves.extend(_names_elsewhere(context, moves))
    for move in moves:
        verdict = _verdict(context, move, faults)
        if verdict is not None:
            yield _proposal(context, move, verdict)


def _verdict(
    context: _Context, move: Move, faults: _Faults | None
) -> Literal["proven", "unknown"] | None:
    """None if the item leads nowhere."""
    if not context.prefix.alive:
        return "unknown"
    behind = context.prefix.advance(move.insert)
    if not behind.alive:
        return None
    if time.monotonic() > context.deadline:
        return "unknown"
    whole = behind.text + context.after
    if faults is not None and faults.none_in(whole):
        return "proven"  # with what stands behind the cursor the model is complete already
    verdict = verdict_within(behind, context.deadline)
    if verdict.answer == "no":
        # Where nothing completes the text as it stands, the item is not what is wrong with it.
        return "unknown" if context.is_lost else None
    if verdict.witness is None or (faults and faults.added(whole)):
        return "unknown"
    start = len(behind.text) - len(move.text)
    finished = behind.advance(verdict.witness)
    return "proven" if is_meant(finished, start, move) else "unknown"


def _proposal(context: _Context, move: Move, verdict: Literal["proven", "unknown"]) -> Proposal:
    start = min(move.start, context.offset)
    assert move.kind != "end"
    return Proposal(
        kind=move.kind,
        label=move.text,
        text=move.text if start < context.offset else move.insert,
        start=start,
        end=context.offset,
        replaces=context.prefix.text[start:],
        verdict=verdict,
        cls=move.cls,
        feature=move.feature,
        target=move.target,
    )


def _later_names(
    language: Language, prefix: Prefix, after: str, moves: list[Move]
) -> Iterator[Move]:
    """References to what only the text behind the cursor declares."""
    if not after.strip():
        return
    expecteds = (reading.expected for reading in prefix.readings)
    links = language.links
    places = [
        expected
        for expected in expecteds
        if expected.target is not None
        and links.way(expected.cls or "", expected.feature or "").by_type
    ]
    if not places:
        return
    known = {(move.target, move.text) for move in moves if move.kind == "reference"}
    model = language.analyse(f"{prefix.text} {after}").evaluation.model
    for expected in places:
        begun = expected.value_begun + expected.typed
        for name, element in model.candidates(expected.target or ""):
            text = str(name)[len(expected.value_begun) :]
            if not str(name).startswith(begun) or (expected.target, text) in known:
                continue
            known.add((expected.target, text))
            yield _reference(prefix, expected, text, element)


def _names_elsewhere(context: _Context, moves: list[Move]) -> Iterator[Move]:
    """References to what other files declare, as far as the language's own rules tell."""
    rules, prefix = context.language.own_rules, context.prefix
    known = {move.text for move in moves if move.kind == "reference"}
    for reading in prefix.readings if rules is not None else ():
        expected = reading.expected
        if rules is None or expected.target is None or expected.value_begun:
            continue
        for declared in rules.declared(reading.evaluation.model, context.path):
            name = declared.name
            fits = name.startswith(expected.typed) and declared.cls == expected.target
            if fits and name not in known and expected.terminal.match(name, 0) == len(name):
                known.add(name)
                yield _reference(prefix, expected, name)


def _reference(prefix: Prefix, expected: Expected, text: str, element: Any = None) -> Move:
    return Move(
        kind="reference",
        text=text,
        insert=text[len(expected.typed) :] if expected.typed else prefix.joint(text) + text,
        start=expected.start if expected.typed else len(prefix.text),
        cls=expected.cls,
        feature=expected.feature,
        target=expected.target,
        element=element,
        remaining=expected.remaining,
    )


def _corrections(context: _Context) -> Iterator[Proposal]:
    """If the word at the cursor is wrong: what it may have been meant to be, nearest first."""
    word = _WORD.search(context.prefix.text)
    rest = _REST_OF_WORD.match(context.after)
    if word is None or rest is None or not _is_marked(context, word.start(), rest.end()):
        return
    typed = word.group() + rest.group()
    before = Prefix.start(context.language).advance(context.prefix.text[: word.start()])
    behind = context.after[rest.end() :]
    there = _Context(context.language, before, behind, context.deadline, context.path)
    items = [item for item in _continuations(there) if item.kind in ("keyword", "reference")]
    near = {
        label: position
        for position, label in enumerate(
            difflib.get_close_matches(typed, [item.label for item in items], n=10, cutoff=0.5)
        )
    }
    items.sort(key=lambda item: (near.get(item.label, len(near)), _KINDS.index(item.kind)))
    for item in items:
        if item.label != typed:
            yield replace(
                item,
                text=item.text.lstrip() if item.text != item.label else item.label,
                start=word.start(),
                end=context.offset + rest.end(),
                replaces=typed,
            )


def _is_marked(context: _Context, start: int, length: int) -> bool:
    """Whether a problem is reported exactly at the word around the cursor."""
    end = context.offset + length
    text = context.prefix.text + context.after
    return any(
        found.severity == "error" and (found.start, found.end) == (start, end)
        for found in context.language.analyse(text).diagnostics
    )


class _Faults:
    """Compares the problems of texts with those of the text as it stands."""

    def __init__(self, language: Language, text: str) -> None:
        self._language = language
        self._known = self._of_model(text)

    def none_in(self, text: str) -> bool:
        """Whether a text is in order."""
        return not any(found.severity == "error" for found in self._of(text))

    def added(self, text: str) -> bool:
        """Whether a text has a problem of the model that was not there before."""
        return bool(self._of_model(text) - self._known)

    def _of_model(self, text: str) -> Counter[tuple[str, str | None, tuple[str, ...]]]:
        # A half-written line has syntax errors whatever stands in it; they do not count here.
        return Counter(
            (found.code, found.constraint, found.elements)
            for found in self._of(text)
            if found.source != "syntax" and found.severity == "error"
        )

    def _of(self, text: str) -> tuple[Diagnostic, ...]:
        return self._language.analyse(text).diagnostics


def _rank(move: Move) -> int:
    return _KINDS.index(move.kind) if move.kind != "end" else len(_KINDS)
