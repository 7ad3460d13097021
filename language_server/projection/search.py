"""The search for a witness over texts, for what the solver's goals do not reach.

It appends syntactic units (everything up to the next object that closes), the ones that touch an
open obligation first, and asks of every text it reaches what would be violated if it were closed in
the shortest way. A text that violates nothing is a witness.
"""

from __future__ import annotations

import heapq
import re
from collections import deque
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from language_server.constraints.repair import repairing_symbols
from language_server.constraints.symmetry import representative
from language_server.languages.agreement import feature_of
from language_server.projection.moves import under_construction
from language_server.projection.verdict import Effort, Known
from language_server.syntax import Close, Open, Trail
from language_server.syntax.document import shared_start

if TYPE_CHECKING:
    from language_server.constraints import Violation
    from language_server.projection.moves import Move
    from language_server.projection.prefix import Prefix

_T = TypeVar("_T")


@dataclass(order=True)
class _Node:
    """A text of the search: the prefix it reached and the units that may follow.

    ``rank`` weighs what its shortest closing violates and what was written.
    """

    rank: float
    order: int
    prefix: Prefix = field(compare=False)
    cuts: tuple[int, ...] = field(compare=False)
    units: Iterator[Prefix] = field(compare=False)
    open: frozenset[tuple[str, tuple[int, ...]]] = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Focus:
    """What the open obligations are about: elements, and symbols of features that can lift them.

    ``names`` are parts of the names of references that lead nowhere.
    """

    elements: frozenset[Any]
    features: frozenset[str]
    names: frozenset[str]

    def has(self, move: Move) -> bool:
        """Whether a move names what an obligation is about."""
        return move.element in self.elements or (
            move.kind == "declaration" and move.text in self.names
        )


@dataclass(frozen=True, slots=True)
class _Part:
    """A unit in the writing: whether it names an element in focus, how many terminals it has.

    ``complete_at`` is the number of events after which it was complete, None as long as it is not.
    """

    prefix: Prefix
    touches: bool
    length: int
    complete_at: int | None


class Search:
    """Best-first search over units; a node's rank is what is open plus what was written.

    Attributes:
        found: a consistent text, once there is one.
        spent: how many texts were judged.
        refusals: what the language's own code had against texts that were consistent otherwise.
    """

    # What one open obligation weighs against one more unit of text.
    _OBLIGATION = 2.0
    # As how many open obligations a text counts for which no closing was found.
    _UNCLOSED = 8
    # What a unit ranks behind the one before it.
    _LATER = 0.5
    # Units tried from one node, and names tried for one reference that no obligation mentions.
    _UNITS = 60
    _NAMES = 6
    # Terminals in one unit, and in one closing.
    _TERMINALS = 24
    _CLOSING = 400
    # Terminals written one after another, in all ways together, without a unit being complete; and
    # in all, for each text that may be judged.
    _IN_VAIN = 1000
    _STEPS = 4
    # Texts that the language's own code may refuse before it is asked no more.
    _REFUSALS = 6

    def __init__(self, prefix: Prefix, effort: Effort) -> None:
        self._start = prefix
        self._effort = effort
        self._order = 0
        self._queue: list[_Node] = []
        self._seen: set[str] = set()
        self._in_vain = 0
        self._steps_left = self._STEPS * effort.texts
        self.spent = 0
        self.found: Known | None = None
        self.refusals: list[str] = []

    def accepts(self, whole: Prefix) -> bool:
        """Whether a text is a witness: it is complete, and the language's own code agrees."""
        if not whole.complete or len(self.refusals) >= self._REFUSALS:
            return False
        if whole.refusal is None:
            return True
        self.refusals.append(whole.refusal)
        return False

    def begin(self) -> tuple[Violation, ...]:
        """Judge the prefix closed in the shortest way; what that violates is returned."""
        return self._judge(self._start, ())

    def retry(self, known: Known) -> None:
        """Judge what of an old witness still fits."""
        self._judge(*self._replay(known))

    def refer(self) -> None:
        """Judge what each reference leads to that may come next.

        It may be to an object of another file, of which the solver knows only what is mentioned.
        """
        references = (move for move in self._start.moves() if move.kind == "reference")
        for move in islice(references, self._NAMES):
            if self.found is None and not self._is_over():
                self._judge(self._start.advance(move.insert), (self._start.state.length,))

    def run(self) -> None:
        """Append units until a text is found or the effort is spent."""
        while self._queue and self.found is None and not self._is_over():
            # A node is expanded one unit at a time: a unit that helps is followed at once.
            node = heapq.heappop(self._queue)
            prefix = next(node.units, None)
            if prefix is not None:
                self._judge(prefix, (*node.cuts, node.prefix.state.length), node)
                node.rank += self._LATER
                heapq.heappush(self._queue, node)

    def _is_over(self) -> bool:
        spent = self.spent >= self._effort.texts or self._steps_left <= 0
        return spent or len(self.refusals) >= self._REFUSALS or self._effort.stop()

    def _judge(
        self, prefix: Prefix, cuts: tuple[int, ...], before: _Node | None = None
    ) -> tuple[Violation, ...]:
        """Queues `prefix` by what its shortest closing violates, which is returned.

        `before` is the node it is one unit behind: a unit that only adds is left out.
        """
        if prefix.text in self._seen:
            return ()
        self._seen.add(prefix.text)
        self.spent += 1
        closed = self._close(prefix)
        finished = closed.finished if closed is not None else None
        if finished is None and (reading := prefix.first_reading) is not None:
            finished = reading.evaluation  # what is owed as it stands
        obligations = finished.obligations if finished is not None else ()
        if closed is not None and self.accepts(closed):
            self.found = Known(closed.text, cuts)
            return ()
        open_now = frozenset(
            (violation.constraint, violation.elements) for violation in obligations
        )
        if before is not None and open_now == before.open and _opens(prefix, before.prefix):
            return obligations
        weight = sum(violation.degree for violation in obligations) if closed else self._UNCLOSED
        rank = self._OBLIGATION * weight + len(cuts)
        units = self._units(prefix, obligations)
        self._order += 1
        heapq.heappush(self._queue, _Node(rank, self._order, prefix, cuts, units, open_now))
        return obligations

    def _replay(self, known: Known) -> tuple[Prefix, tuple[int, ...]]:
        """The start with those later units of an old witness that still fit."""
        prefix, cuts = self._start, []
        same = shared_start(known.text, prefix.text)
        bounds = [cut for cut in known.cuts if cut >= same] + [len(known.text)]
        for begin, end in pairwise(bounds):
            unit = known.text[begin:end]
            after = prefix.advance(unit)
            if after.alive and after.state.finish() is not None:
                cuts.append(prefix.state.length)
                prefix = after
        return prefix, tuple(cuts)

    def closing(self, prefix: Prefix, terminals: int = _CLOSING) -> Iterator[Prefix]:
        """The prefixes on the shortest way to the end that no contradiction rules out."""
        yield prefix
        for _ in range(terminals):
            after = self._cheapest(prefix) if prefix.state.finish() is None else None
            if after is None:
                return
            yield after
            prefix = after

    def _close(self, prefix: Prefix) -> Prefix | None:
        *_, last = self.closing(prefix)
        return last if last.state.finish() is not None else None

    def _cheapest(self, prefix: Prefix) -> Prefix | None:
        distance = _distance(prefix)
        for move in prefix.nearest_moves(distance):
            after = prefix.advance(move.insert)
            if _distance(after) < distance and after.alive and after.settled.alive:
                return after
        return None

    def _units(self, start: Prefix, obligations: tuple[Violation, ...]) -> Iterator[Prefix]:
        """The prefixes one unit behind `start`, those that touch an obligation first."""
        focus = self._focus(obligations)
        aside: list[Prefix] = []
        units = self._write_unit(_Part(start, False, 0, None), _oldest(start), focus)
        self._in_vain = 0
        for prefix, touches in islice(units, self._UNITS):
            self._in_vain = 0
            if touches or not focus.elements:
                yield prefix
            else:
                aside.append(prefix)
        self._in_vain = 0
        yield from aside

    def _write_unit(self, part: _Part, base: int, focus: _Focus) -> Iterator[tuple[Prefix, bool]]:
        """The prefixes that complete a unit begun behind `base` events.

        Each with whether the unit names an element of `focus`.
        """
        branches = (
            self._follow(part, move, after, base, focus)
            for move, after in self._steps(part.prefix, focus)
        )
        yield from _take_turns(branches)

    def _follow(
        self, part: _Part, move: Move, after: Prefix, base: int, focus: _Focus
    ) -> Iterator[tuple[Prefix, bool]]:
        if part.complete_at is not None and _closes_since(after, part.complete_at):
            return  # the unit was complete without this move
        touches = part.touches or focus.has(move)
        boundary = not move.text.isspace() and _is_boundary(after, base)
        if boundary:
            yield after, touches
        if part.length < self._TERMINALS and not (boundary and _is_finished(after, base)):
            complete_at = _oldest(after) if boundary else None
            longer = _Part(after, touches, part.length + 1, complete_at)
            yield from self._write_unit(longer, base, focus)

    def _steps(self, prefix: Prefix, focus: _Focus) -> Iterator[tuple[Move, Prefix]]:
        """The moves worth trying, best first, one of each class of interchangeable ones."""
        others = 0
        tried: set[object] = set()
        after_white = prefix.text[-1:].isspace()
        reading = prefix.first_reading
        inside = set(under_construction(reading.evaluation.model)) if reading is not None else set()
        for move in sorted(prefix.moves(), key=lambda move: self._eagerness(move, focus, inside)):
            if self._in_vain > self._IN_VAIN or self._is_over():
                return
            if move.kind == "end" or (after_white and move.text.isspace()):
                continue
            if move.start < prefix.state.length and prefix is not self._start:
                continue  # a terminal that the search wrote is as long as it meant it to be
            if move.kind == "reference" and move.element not in focus.elements:
                others += 1
                if others > self._NAMES:
                    continue
            what = self._what(prefix, move)
            if what in tried or _states_again(prefix, move):
                continue
            after = prefix.advance(move.insert)
            if after.alive and after.settled.alive:
                tried.add(what)
                self._in_vain += 1
                self._steps_left -= 1
                yield move, after

    def _focus(self, obligations: tuple[Violation, ...]) -> _Focus:
        theory = self._start.language.theory
        features: frozenset[str] = frozenset()
        for constraint in {v.constraint for v in obligations if v.source == "constraint"}:
            features |= repairing_symbols(theory, constraint)
        elements = frozenset(element for v in obligations for element in v.elements)
        names = (name for v in obligations if _leads_nowhere(v) for name in v.element_names)
        return _Focus(elements, features, frozenset(re.findall(r"\w+", " ".join(names))))

    def _eagerness(self, move: Move, focus: _Focus, inside: Container[Any]) -> tuple[int, int]:
        """The rank of a move among its alternatives: what can lift an obligation goes first.

        Args:
            inside: the objects that the text is in the middle of.
        """
        lifts = False
        if move.cls is not None and move.feature is not None:
            feature = feature_of(self._start.language.theory, move.cls, move.feature)
            lifts = feature is not None and feature.symbol in focus.features
        if focus.has(move) and (move.kind == "declaration" or move.element not in inside):
            return (0 if lifts else 1, move.remaining)
        # A reference to something new must be declared; a new object must be connected less often
        # than one that stands already.
        later = "declaration" if move.target is not None else "reference"
        if move.kind == later:
            return (3, move.remaining)
        return (1 if lifts and move.kind != "reference" else 2, move.remaining)

    def _what(self, prefix: Prefix, move: Move) -> object:
        """What a move says, up to interchangeable individuals."""
        individual = None
        reading = prefix.first_reading
        if move.feature is not None and reading is not None:
            model = reading.evaluation.model
            individual = representative(prefix.language.constraints, model, move.text)
        return move.insert if individual is None else (move.cls, move.feature, individual)


def _leads_nowhere(violation: Violation) -> bool:
    """Whether a reference is linked when the text ends, and then to nothing."""
    return violation.source == "reference" and not violation.elements


def _take_turns(branches: Iterator[Iterator[_T]]) -> Iterator[_T]:
    """One item of each branch in turn; a branch begins only when it is its turn."""
    begun: deque[Iterator[_T]] = deque()
    for branch in chain(branches, repeat(None)):
        if branch is not None:
            begun.append(branch)
        elif not begun:
            return
        current = begun.popleft() if branch is None else begun.pop()
        for item in current:
            yield item
            begun.append(current)
            break


def _states_again(prefix: Prefix, move: Move) -> bool:
    """Whether the move would state a feature that a mentioned object has already."""
    for reading in prefix.readings:
        expected = reading.expected
        if move.kind != "keyword" or expected.terminal.text != move.text or expected.many:
            continue
        model = reading.evaluation.model
        node = model.frame.node if model.frame is not None else None
        if node is not None and expected.feature is not None:
            feature = expected.feature
            return bool(model.targets(node, feature)) or model.value(node, feature) is not None
    return False


def _distance(prefix: Prefix) -> int:
    """The least number of characters that the grammar asks for behind the prefix."""
    return min((expected.remaining for expected in prefix.state.expected()), default=0)


def _is_boundary(prefix: Prefix, base: int) -> bool:
    """Whether a syntactic unit has just closed, or the text may end."""
    if prefix.state.finish() is not None:
        return True
    return any(
        reading.expected.trail.size > base and _closes_unit(reading.expected.trail)
        for reading in prefix.settled.readings
    )


def _opens(prefix: Prefix, before: Prefix) -> bool:
    """Whether an object begins in `prefix` behind `before`."""
    size = _oldest(before)
    for reading in prefix.readings:
        at: Trail | None = reading.expected.trail
        while at is not None and at.size > size:
            if isinstance(at.event, Open):
                return True
            at = at.parent
    return False


def _is_finished(prefix: Prefix, base: int) -> bool:
    """Whether the unit that closed cannot go on, in any reading."""
    return all(
        reading.expected.trail.size > base and _closes_unit(reading.expected.trail)
        for reading in prefix.readings
    )


def _closes_unit(trail: Trail) -> bool:
    """Whether the trail ends with the end of an element of a list of objects."""
    closed_last: list[bool] = []  # for each object not begun yet, going back: is its end at the end
    at_end = True
    at: Trail | None = trail
    while at is not None and (at_end or closed_last):
        at_end = at_end and isinstance(at.event, Close)
        if not closed_last and not at_end:
            return False
        if isinstance(at.event, Close):
            closed_last.append(at_end)
        elif isinstance(at.event, Open) and closed_last.pop() and at.event.many:
            return True
        at = at.parent
    return False


def _closes_since(prefix: Prefix, size: int) -> bool:
    """Whether every reading closes an object behind the first `size` events."""
    return all(_has_close(reading.expected.trail, size) for reading in prefix.readings)


def _has_close(trail: Trail, size: int) -> bool:
    at: Trail | None = trail
    while at is not None and at.size > size:
        if isinstance(at.event, Close):
            return True
        at = at.parent
    return False


def _oldest(prefix: Prefix) -> int:
    return min((reading.expected.trail.size for reading in prefix.readings), default=0)
