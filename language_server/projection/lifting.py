"""The smallest changes of a text that lift a problem of it, without making another one.

A violation rests on facts, and on there being no others. Pieces of the text that state such a fact
may be removed or say something else, and what is missing may be put in. Every change is tried: the
changed text is analysed, and has all problems of the old one at most, but for one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from language_server.constraints import Violation
from language_server.constraints.repair import repairing_symbols
from language_server.constraints.symmetry import representative
from language_server.diagnostic import Diagnostic
from language_server.languages import BYTE_ORDER_MARK, Analysis, Fix, Language
from language_server.languages.analysis import shifted, violation_diagnostics
from language_server.partial_model import ObjectId
from language_server.projection.insertions import Wanted, insertions
from language_server.projection.names import new_names
from language_server.projection.pieces import Piece, Pieces
from language_server.projection.removals import LEXEME, Removals
from language_server.projection.spelling import spelt
from language_server.syntax import Assign, Open, ParseState, Refer
from language_server.syntax.document import shared_start

# Changes of a kind that are offered for one problem, and that are tried; characters of all of them.
_OFFERED = 2
_TRIES = 40
_CHARACTERS = 100_000
# Pieces of the text that are changed; values or names tried in one place; objects in which
# something may be missing; places in each.
_PIECES = 40
_VALUES = 40
_OWNERS = 5
_PLACES = 4
# Places at which one text is put in.
_SAME = 3
# Objects around a piece that are taken out in its place.
_LEVELS = 3
_SHOWN = 40


class _Change(NamedTuple):
    """``text`` for the characters from ``start`` to ``end``, and how much that is.

    ``size`` is the number of lexemes that go and come, then 1 where no fact that the violation
    rests on is stated there, then the number of characters that do.
    """

    size: tuple[int, int, int]
    start: int
    end: int
    text: str


class Lifting:
    """Finds changes of one text.

    Args:
        analysis: of the text.
        path: the file it belongs to.
        stop: asked now and then; once it is true nothing further is tried.
    """

    def __init__(
        self,
        language: Language,
        text: str,
        analysis: Analysis,
        path: Path | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._language, self._analysis, self._path = language, analysis, path
        self._whole, self._text = text, text.removeprefix(BYTE_ORDER_MARK)
        self._skipped = len(text) - len(self._text)
        self._model = analysis.evaluation.model
        self._stop = stop
        self._known = Counter(map(_kind, analysis.diagnostics))
        self._pieces = Pieces(analysis.parse.events(), self._model)
        self._lexemes = [found.span() for found in LEXEME.finditer(self._text)]
        self._spans = Removals(self._text, self._lexemes, self._pieces)
        self._states: dict[int, ParseState] = {}
        self._left = 0

    def fixes(self, problem: Diagnostic) -> tuple[Fix, ...]:
        """The smallest changes that lift a problem of the text, the smallest first.

        Each is a single edit; that there is none means that none was found.
        """
        if problem.source == "syntax" or len(self._text) > _CHARACTERS:
            return ()
        violation = self._violation(problem)
        offered: list[_Change] = []
        for changes, most in (
            (self._replacements(problem, violation), _OFFERED),
            (self._removals(problem, violation), _OFFERED),
            (self._additions(problem, violation), 1),
        ):
            self._left = min(_TRIES, _CHARACTERS // (len(self._text) + 1))
            offered += islice(self._tried(problem, changes), most)
        offered.sort()
        titles = Counter(map(self._title, offered))
        return tuple(
            Fix(
                self._title(each)
                + (f" in line {self._line(each)}" if titles[self._title(each)] > 1 else ""),
                each.start + self._skipped,
                each.end + self._skipped,
                each.text,
            )
            for each in offered
        )

    def _violation(self, problem: Diagnostic) -> Violation | None:
        evaluation, reading = self._analysis.evaluation, self._analysis.reading
        lasting: tuple[Violation, ...] = ()
        if reading is not None and not self._analysis.parse.complete:
            lasting = evaluation.lasting(reading)
        for violation in (*evaluation.obligations, *evaluation.warnings, *lasting):
            if shifted(violation_diagnostics([violation]), self._whole) == (problem,):
                return violation
        return None

    def _tried(self, problem: Diagnostic, changes: Iterable[_Change]) -> Iterator[_Change]:
        """Those of some changes that lift a problem; what takes out more than another one is none.

        Args:
            changes: a smaller one comes before what it is part of.
        """
        spans: list[tuple[int, int]] = []
        seen: set[str] = set()
        for change in changes:
            if self._left <= 0 or self._stop():
                return
            result = "".join(self._changed(change).split())
            wider = any(change.start <= start and end <= change.end for start, end in spans)
            if result in seen or (wider and not change.text):
                continue
            seen.add(result)
            if self._is_read(change) and self._lifts(problem, change):
                if not change.text:
                    spans.append((change.start, change.end))
                yield change

    def _changed(self, change: _Change) -> str:
        return self._text[: change.start] + change.text + self._text[change.end :]

    def _lifts(self, problem: Diagnostic, change: _Change) -> bool:
        """Whether a problem is gone with a change, and no other one has come."""
        self._left -= 1
        text = self._changed(change)
        after = self._language.analyse(text, self._path, self._analysis).diagnostics
        now, kind = Counter(map(_kind, after)), _kind(problem)
        return now[kind] < self._known[kind] and now <= self._known

    def _is_read(self, change: _Change) -> bool:
        """False only if the grammar has no such text, where it has the text as it is."""
        if not self._analysis.parse.complete:
            return True
        rest = self._text[change.end :]
        changed = self._before(change.start).advance(change.text)
        return changed.alive and changed.advance(rest).finish() is not None

    def _before(self, place: int) -> ParseState:
        """The parse of the text up to a place."""
        if place not in self._states:
            self._states[place] = self._language.grammar.start().advance(self._text[:place])
        return self._states[place]

    # ---- what is there -----------------------------------------------------------------------

    def _replacements(self, problem: Diagnostic, violation: Violation | None) -> list[_Change]:
        """Pieces that say something else, the smallest change first."""
        found: set[_Change] = set()
        for piece, values in islice(self._causes(problem, violation), _PIECES):
            found.update(self._others(piece, values, problem.elements))
        symbols = self._missing(violation)
        filling = (
            piece
            for piece in self._pieces.all
            if (feature := self._pieces.feature(piece)) is not None and feature.symbol in symbols
        )
        near = sorted(filling, key=lambda piece: abs(piece.start - problem.start))
        for piece in islice(near, _PIECES):
            far = self._others(piece, (), problem.elements)
            found.update(each._replace(size=(each.size[0], 1, each.size[2])) for each in far)
        return sorted(found)

    def _removals(self, problem: Diagnostic, violation: Violation | None) -> list[_Change]:
        """Pieces taken out, or objects around them, the smallest change first."""
        found: set[_Change] = set()
        for piece, _ in islice(self._causes(problem, violation), _PIECES):
            at: Piece | None = piece
            for _ in range(_LEVELS):
                if at is not None and at.around >= 0:
                    found.update(map(self._without, self._spans.of(at)))
                    at = self._pieces.around(at)
        return sorted(found)

    def _causes(
        self, problem: Diagnostic, violation: Violation | None
    ) -> Iterator[tuple[Piece, tuple[object, ...]]]:
        """The pieces that a problem rests on, with values that would be right instead."""
        pieces = self._pieces
        start, end = problem.start - self._skipped, problem.end - self._skipped
        for piece in pieces.all:
            if isinstance(piece.event, Refer) and start <= piece.start < end:
                yield piece, ()
        if violation is None:
            return
        for fact in violation.core:
            for piece in pieces.stating(fact):
                yield piece, fact.instead
        absent = (node for fact in violation.core if not fact.stated for node in fact.row)
        for node in dict.fromkeys((*violation.elements, *absent)):
            for piece in pieces.of(node):
                yield piece, ()
                if not violation.core:
                    yield from ((each, ()) for each in pieces.inside(piece))

    def _others(
        self, piece: Piece, values: tuple[object, ...], names: tuple[str, ...]
    ) -> Iterator[_Change]:
        """Other values or targets in the place of a piece."""
        event = piece.event
        if isinstance(event, Open):
            named = self._model.schema.rules.get(event.cls)
            parts = self._pieces.inside(piece)
            if named is not None and all(each.event.feature in named.key for each in parts):
                for part in parts:  # a mention that says nothing else
                    yield from self._others(part, values, names)
            return
        feature = self._pieces.feature(piece)
        said = self._text[piece.start : piece.end]
        for value in values:
            yield self._change(piece.start, piece.end, str(value))
        if isinstance(event, Assign) and feature is not None and not feature.attribute:
            individuals = self._model.schema.classes[feature.target].individuals
            constraints = self._language.constraints
            different: dict[str, str] = {}
            for name in individuals:
                if name.lower() != str(event.value).lower():
                    kind = representative(constraints, self._model, name) or name
                    different.setdefault(kind, name)
            at = said.find(str(event.value))
            for name in islice(different.values() if at >= 0 else (), _VALUES):
                start = piece.start + at
                yield self._change(start, start + len(str(event.value)), name)
            return
        holder = self._pieces.around(piece)
        cls = holder.event.cls if holder is not None and isinstance(holder.event, Open) else ""
        info = self._model.schema.rules.get(cls)
        keyed = info is not None and event.feature in info.key
        for expected in self._before(piece.start).expected():
            if expected.feature != event.feature or expected.cls != cls or expected.typed:
                continue
            if expected.terminal.kind == "keyword":
                yield self._change(piece.start, piece.end, expected.terminal.text)
            elif event.feature == "name" and not keyed:
                taken = {str(name) for name, _ in self._model.candidates(cls)}
                words = self._language.grammar.keywords
                for name in islice(new_names(expected, cls, taken, words), 1):
                    yield self._change(piece.start, piece.end, name)
            elif isinstance(event, Refer) or keyed:
                target = event.target if isinstance(event, Refer) else cls
                known = [name for name, _ in self._model.candidates(target)]
                first = [name for name in names if name in known]
                for name in islice(dict.fromkeys([*first, *known]), _VALUES):
                    text = spelt(expected, name)
                    if text is not None and text != said:
                        yield self._change(piece.start, piece.end, text)

    # ---- what is missing ---------------------------------------------------------------------

    def _missing(self, violation: Violation | None) -> frozenset[str]:
        """The features of which further facts may lift a violation."""
        if violation is None:
            return frozenset()
        theory = self._language.theory
        found = {
            fact.symbol
            for fact in violation.core
            if not fact.stated and fact.symbol in theory.features
        }
        return frozenset(found) | repairing_symbols(theory, violation.constraint)

    def _additions(self, problem: Diagnostic, violation: Violation | None) -> Iterator[_Change]:
        """What may be put in, the shortest first."""
        if violation is None:
            return
        schema = self._model.schema
        symbols = self._missing(violation)
        owners: set[str] = set()
        for symbol in symbols:
            if symbol in schema.features:
                owners |= schema.features[symbol].sources
        if violation.code == "unresolved-reference":
            for node in violation.elements:
                owners |= self._model.nodes[node].kinds
        held = {
            each.symbol
            for each in schema.features.values()
            if each.containment and not owners.isdisjoint(each.targets)
        }
        wanted = Wanted(symbols | held, frozenset(owners), problem.elements)
        owning = islice(self._owners(violation, wanted), _OWNERS)
        places = dict.fromkeys(
            place for piece in owning for place in sorted(islice(self._places(piece), _PLACES))
        )
        times: Counter[str] = Counter()
        for place, text in insertions(self._language, self._text, places, self._model, wanted):
            times[text.strip()] += 1
            if times[text.strip()] <= _SAME:
                yield self._change(place, place, text)

    def _owners(self, violation: Violation, wanted: Wanted) -> Iterator[Piece]:
        """The objects in which something may be missing, those that a violation names first."""
        pieces = self._pieces
        named: list[ObjectId | None] = list(violation.elements)
        for fact in violation.core:
            named += fact.row
        near = [piece for node in dict.fromkeys(named) for piece in pieces.of(node)]
        holders = [holder for piece in near if (holder := pieces.around(piece)) is not None]
        around = sorted(pieces.all, key=lambda piece: abs(piece.start - violation.start))
        for piece in dict.fromkeys([*near, *holders, *around]):
            if isinstance(piece.event, Open):
                info = self._model.schema.rules.get(piece.event.cls)
                has = info.features.values() if info is not None else ()
                if any(feature.symbol in wanted.features for feature in has):
                    yield piece

    def _places(self, piece: Piece) -> Iterator[int]:
        """The ends of lexemes: before an object, then in it but in no other one, from its end."""
        inside = [each for each in self._pieces.inside(piece) if isinstance(each.event, Open)]
        within = [span for span in self._lexemes if piece.start <= span[0] and span[1] <= piece.end]
        before = [span[1] for span in self._lexemes if span[1] <= piece.start][-1:]
        yield from before or [0]
        for _, end in reversed(within):
            if not any(each.start < end < each.end for each in inside):
                yield end

    # ---- changes -----------------------------------------------------------------------------

    def _without(self, span: tuple[int, int]) -> _Change:
        """A span taken out; one that begins within a line and ends in another comes later."""
        change = self._change(*span, "")
        line_start = self._text.rfind("\n", 0, span[0]) + 1
        broken = (
            "\n" in self._text[slice(*span)].strip() and self._text[line_start : span[0]].strip()
        )
        return change._replace(size=(change.size[0], 1, change.size[2])) if broken else change

    def _change(self, start: int, end: int, text: str) -> _Change:
        old = self._text[start:end]
        lexemes = len(LEXEME.findall(old)) + len(LEXEME.findall(text))
        same = shared_start(old, text)
        same += shared_start(old[same:][::-1], text[same:][::-1])
        return _Change((lexemes, 0, len(old) + len(text) - 2 * same), start, end, text)

    def _title(self, change: _Change) -> str:
        old, new = (_shown(each) for each in (self._text[change.start : change.end], change.text))
        if not new:
            return f"Remove '{old}'"
        return f"Replace '{old}' by '{new}'" if old else f"Insert '{new}'"

    def _line(self, change: _Change) -> int:
        return self._text.count("\n", 0, change.start) + 1


def _shown(text: str) -> str:
    """A text in one row."""
    row = " ".join(text.split())
    return row if len(row) <= _SHOWN else row[: _SHOWN - 1] + "…"


def _kind(found: Diagnostic) -> tuple[str, str, str | None, tuple[str, ...]]:
    """What makes two problems the same, wherever they are shown."""
    what = found.message if found.source == "syntax" else found.constraint
    return found.source, found.code, what, found.elements
