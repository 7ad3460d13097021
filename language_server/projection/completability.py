"""Whether a prefix can be completed into a consistent model, and with which text.

The search works on texts: it appends syntactic units (everything up to the next object that
closes), the ones that touch an open obligation first, and asks of every text it reaches what would
be violated if it were closed in the shortest way. A text that violates nothing is the witness.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from language_server.projection.symmetry import interchangeable
from language_server.syntax import Assign, Close, Trail

if TYPE_CHECKING:
    from language_server.constraints import Violation
    from language_server.languages import Language
    from language_server.projection.moves import Move
    from language_server.projection.prefix import Prefix

Answer = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to spend on a question.

    Attributes:
        texts: how many closed texts may be judged before the answer is "unknown".
        cost: what a text costs, e.g. the number of its tokens (characters if not given).
    """

    texts: int = 600
    cost: Callable[[str], float] = len


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to "can this prefix be completed?".

    Attributes:
        witness: text to append (answer "yes" only).
        reasons: why not (answer "no"), or what was still open (answer "unknown").
        spent: number of closed texts that were judged.
    """

    answer: Answer
    witness: str | None
    reasons: tuple[str, ...] = ()
    spent: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """A whole consistent text that an earlier prefix of this text was completed to.

    ``cuts`` are the offsets in the text at which the search's units began.
    """

    text: str
    cuts: tuple[int, ...]


def complete(prefix: Prefix, effort: Effort, known: Known | None) -> tuple[Verdict, Known | None]:
    """Searches for a witness of `prefix`; see the module."""
    if known is not None and known.text.startswith(prefix.text):
        return Verdict("yes", known.text[len(prefix.text) :]), known
    return _Search(prefix, effort).run(known)


@dataclass(order=True)
class _Node:
    """A text of the search: the prefix it reached and what its shortest closing violates."""

    rank: float
    order: int
    prefix: Prefix = field(compare=False)
    cuts: tuple[int, ...] = field(compare=False)
    obligations: tuple[Violation, ...] = field(compare=False)


class _Search:
    """Best-first search over units; a node's rank is what is open plus what was written."""

    # What one open obligation weighs against one more unit of text.
    _OBLIGATION = 2.0
    # Units tried from one node, and names tried for one reference that no obligation mentions.
    _UNITS = 60
    _NAMES = 6
    # Terminals in one unit, and in one closing.
    _DEPTH = 24
    _CLOSING = 400

    def __init__(self, prefix: Prefix, effort: Effort) -> None:
        self._start = prefix
        self._effort = effort
        self._spent = 0
        self._order = 0
        self._queue: list[_Node] = []
        self._seen: set[str] = set()
        self._same = _interchangeable(prefix.language)
        self._found: tuple[str, tuple[int, ...]] | None = None

    def run(self, known: Known | None) -> tuple[Verdict, Known | None]:
        self._add(self._start, ())
        if known is not None and self._found is None:
            self._add(*self._replay(known))
        open_obligations = self._queue[0].obligations if self._queue else ()
        while self._queue and self._found is None and self._spent < self._effort.texts:
            node = heapq.heappop(self._queue)
            for prefix in self._units(node):
                self._add(prefix, (*node.cuts, node.prefix.state.length))
                if self._found is not None or self._spent >= self._effort.texts:
                    break
        if self._found is None:
            reasons = tuple(dict.fromkeys(violation.message for violation in open_obligations))
            return Verdict("unknown", None, reasons, self._spent), known
        text, cuts = self._found
        witness = text[self._start.state.length :]
        return Verdict("yes", witness, (), self._spent), Known(text, cuts)

    def _add(self, prefix: Prefix, cuts: tuple[int, ...]) -> None:
        """Judges the shortest closing of `prefix` and queues it."""
        if prefix.text in self._seen:
            return
        self._seen.add(prefix.text)
        closed = self._close(prefix)
        self._spent += 1
        if closed is None:
            return
        finished = closed.finished
        if finished is None:
            return
        obligations = finished.obligations
        if not obligations:
            self._found = (closed.text, cuts)
            return
        self._order += 1
        rank = self._OBLIGATION * sum(violation.degree for violation in obligations) + len(cuts)
        heapq.heappush(self._queue, _Node(rank, self._order, prefix, cuts, obligations))

    def _replay(self, known: Known) -> tuple[Prefix, tuple[int, ...]]:
        """The start with those later units of an old witness that still fit."""
        prefix, cuts = self._start, []
        same = _shared(known.text, prefix.text)
        bounds = [cut for cut in known.cuts if cut >= same] + [len(known.text)]
        for begin, end in zip(bounds, bounds[1:], strict=False):
            unit = known.text[begin:end]
            after = prefix.advance(unit)
            if after.alive and after.state.finish() is not None:
                cuts.append(prefix.state.length)
                prefix = after
        return prefix, tuple(cuts)

    def _close(self, prefix: Prefix) -> Prefix | None:
        """The text closed in the shortest way that no contradiction rules out."""
        for _ in range(self._CLOSING):
            if prefix.state.finish() is not None:
                return prefix
            after = self._cheapest(prefix)
            if after is None:
                return None
            prefix = after
        return None

    def _cheapest(self, prefix: Prefix) -> Prefix | None:
        for move in sorted(prefix.moves(), key=lambda move: move.remaining):
            after = prefix.advance(move.insert)
            if after.alive:
                return after
        return None

    def _units(self, node: _Node) -> Iterator[Prefix]:
        """The prefixes one unit behind a node, those that touch an obligation first."""
        focus = {element for violation in node.obligations for element in violation.elements}
        aside: list[Prefix] = []
        count = 0
        for prefix, touches in self._write_unit(node.prefix, focus):
            count += 1
            if touches or not focus:
                yield prefix
            else:
                aside.append(prefix)
            if count >= self._UNITS:
                break
        yield from aside

    def _write_unit(self, start: Prefix, focus: set[Any]) -> Iterator[tuple[Prefix, bool]]:
        waiting: list[tuple[Prefix, bool, int]] = [(start, False, 0)]
        base = _newest(start)
        while waiting:
            prefix, touches, depth = waiting.pop()
            if depth and self._is_boundary(prefix, base):
                yield prefix, touches
                continue
            if depth >= self._DEPTH:
                continue
            steps = list(self._steps(prefix, focus))
            for move, after in reversed(steps):
                waiting.append((after, touches or move.element in focus, depth + 1))

    def _steps(self, prefix: Prefix, focus: set[Any]) -> Iterator[tuple[Move, Prefix]]:
        """The moves worth trying, best first, one of each class of interchangeable ones."""
        others = 0
        tried: set[object] = set()
        moves = [move for move in prefix.moves() if move.kind != "end"]
        for move in sorted(moves, key=lambda move: _eagerness(move, focus)):
            if move.kind == "reference" and move.element not in focus:
                others += 1
                if others > self._NAMES:
                    continue
            after = prefix.advance(move.insert)
            if not after.alive:
                continue
            what = self._what(move, after)
            if what not in tried:
                tried.add(what)
                yield move, after

    def _what(self, move: Move, after: Prefix) -> object:
        """What a move says, up to interchangeable individuals."""
        if move.kind == "keyword" and move.feature is not None:
            for reading in after.readings:
                event = _last_assignment(reading.expected.trail)
                if event is not None and event.feature == move.feature:
                    individual = self._same.get(str(event.value))
                    if individual is not None:
                        return (move.cls, move.feature, individual)
        return move.insert

    def _is_boundary(self, prefix: Prefix, base: int) -> bool:
        """Whether an object has closed since the unit began, or the text may end."""
        if prefix.state.finish() is not None:
            return True
        return any(
            _closed_since(reading.expected.trail, base) for reading in prefix.readings
        )


@lru_cache(maxsize=64)
def _interchangeable(language: Language) -> dict[str, str]:
    return interchangeable(language.theory)


def _eagerness(move: Move, focus: set[Any]) -> tuple[int, int]:
    if move.element is not None and move.element in focus:
        return (0, move.remaining)
    return (1 if move.kind != "reference" else 2, move.remaining)


def _newest(prefix: Prefix) -> int:
    return max((reading.expected.trail.size for reading in prefix.readings), default=0)


def _closed_since(trail: Trail, size: int) -> bool:
    at: Trail | None = trail
    while at is not None and at.size > size:
        if isinstance(at.event, Close):
            return True
        at = at.parent
    return False


def _last_assignment(trail: Trail) -> Assign | None:
    at: Trail | None = trail
    while at is not None and at.event is not None:
        if isinstance(at.event, Assign):
            return at.event
        at = at.parent
    return None


def _shared(left: str, right: str) -> int:
    length = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        length += 1
    return length
