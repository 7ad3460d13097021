"""Whether a prefix can be completed into a consistent model, and with which text.

From cheap to dear: the witness of an earlier prefix; the shortest closing of the text; a goal from
the solver, written down; at last a search over texts. The search appends syntactic units
(everything up to the next object that closes), the ones that touch an open obligation first, and
asks of every text it reaches what would be violated if it were closed in the shortest way. A text
that violates nothing is the witness.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise, repeat
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from language_server.constraints.repair import repairing_symbols
from language_server.constraints.solver import Begun, Goal, Wish, solve
from language_server.constraints.symmetry import interchangeable
from language_server.languages.agreement import feature_of
from language_server.projection.realisation import Realisation
from language_server.syntax import Assign, Close, Open, Refer, Trail

if TYPE_CHECKING:
    from language_server.constraints import Violation
    from language_server.partial_model import PartialModel
    from language_server.partial_model.model import Frame
    from language_server.projection.moves import Move
    from language_server.projection.prefix import Prefix
    from language_server.syntax import Event, Expected

_T = TypeVar("_T")
Answer = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to spend on each of a series of questions.

    Attributes:
        texts: how many texts may be judged before the answer is "unknown".
        pools: how many new objects of each class the solver may use, in the order to try.
        stop: asked now and then; once it is true the answer is "unknown".
        vain: what was found to have no goal within this effort; it is not asked again.
    """

    texts: int = 600
    pools: tuple[int, ...] = (2, 6, 12)
    stop: Callable[[], bool] = field(default=lambda: False)
    vain: set[object] = field(default_factory=set, compare=False, repr=False)


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
    start = prefix.advance(prefix.comment_end)
    if start.in_comment:
        return Verdict("unknown", None, ("no end of the comment was found",)), known
    return _Search(start, effort).run(prefix.state.length, known)


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
    """What the open obligations are about: elements, and symbols of features that can lift them."""

    elements: frozenset[Any]
    features: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Part:
    """A unit in the writing: whether it names an element in focus, how many terminals it has.

    ``complete_at`` is the number of events after which it was complete, None as long as it is not.
    """

    prefix: Prefix
    touches: bool
    length: int
    complete_at: int | None


class _Search:
    """Best-first search over units; a node's rank is what is open plus what was written."""

    # What one open obligation weighs against one more unit of text.
    _OBLIGATION = 2.0
    # As how many open obligations a text counts for which no closing was found.
    _UNCLOSED = 8
    # What a unit ranks behind the one before it.
    _LATER = 0.5
    # Units tried from one node, and names tried for one reference that no obligation mentions.
    _UNITS = 60
    _NAMES = 6
    # Readings for which a goal is looked for, and goals for one.
    _BASES = 4
    _ROUNDS = 6
    # Terminals in one unit, and in one closing.
    _TERMINALS = 24
    _CLOSING = 400

    def __init__(self, prefix: Prefix, effort: Effort) -> None:
        self._start = prefix
        self._effort = effort
        self._spent = 0
        self._order = 0
        self._queue: list[_Node] = []
        self._seen: set[str] = set()
        self._same = interchangeable(prefix.language.constraints)
        self._found: tuple[str, tuple[int, ...]] | None = None

    def run(self, length: int, known: Known | None) -> tuple[Verdict, Known | None]:
        """The verdict on the first `length` characters, and what to remember of it."""
        first = self._judge(self._start, ())
        if known is not None and self._found is None:
            self._judge(*self._replay(known))
        if self._found is None and not self._reach_a_goal():
            self._queue.clear()
        while self._queue and self._found is None and not self._is_over():
            # A node is expanded one unit at a time: a unit that helps is followed at once.
            node = heapq.heappop(self._queue)
            prefix = next(node.units, None)
            if prefix is not None:
                self._judge(prefix, (*node.cuts, node.prefix.state.length), node)
                node.rank += self._LATER
                heapq.heappush(self._queue, node)
        if self._found is None:
            reasons = tuple(dict.fromkeys(violation.message for violation in first))
            return Verdict("unknown", None, reasons, self._spent), known
        text, cuts = self._found
        witness = text[length:]
        return Verdict("yes", witness, (), self._spent), Known(text, cuts)

    def _reach_a_goal(self) -> bool:
        """Ask the solver for a consistent model and write it; what cannot be written is ruled out.

        Returns:
            Whether there was any goal: without one, a search is in vain for all one can tell.
        """
        any_goal = False
        for base in islice(_bases(self._start), self._BASES):
            forbidden: frozenset[tuple[str, Any]] = frozenset()
            for _ in range(self._ROUNDS):
                goal = None if self._is_over() else self._goal(base, forbidden)
                if goal is None:
                    break
                any_goal = True
                self._spent += 1
                realisation = Realisation(base.prefix, base.model, goal)
                text = realisation.text()
                if text is not None:
                    whole = base.prefix.advance(text)
                    if whole.complete:
                        self._found = (whole.text, (base.prefix.state.length,))
                        return True
                if text is not None or not realisation.stuck:
                    break
                forbidden |= realisation.stuck
        return any_goal

    def _goal(self, base: _Base, forbidden: frozenset[tuple[str, Any]]) -> Goal | None:
        language, effort = self._start.language, self._effort
        question = (base.says(), forbidden)
        if question in effort.vain:
            return None
        root = None
        if base.model.frame is None and language.root in language.constraints.schema.rules:
            root = language.constraints.schema.rules[language.root].name
        for pool in effort.pools:
            wish = Wish(pool, root, base.begun, forbidden)
            goal = solve(language.constraints, base.model, wish)
            if goal is not None or effort.stop():
                return goal
        effort.vain.add(question)
        return None

    def _is_over(self) -> bool:
        return self._spent >= self._effort.texts or self._effort.stop()

    def _judge(
        self, prefix: Prefix, cuts: tuple[int, ...], before: _Node | None = None
    ) -> tuple[Violation, ...]:
        """Queues `prefix` by what its shortest closing violates, which is returned.

        `before` is the node it is one unit behind: a unit that only adds is left out.
        """
        if prefix.text in self._seen:
            return ()
        self._seen.add(prefix.text)
        self._spent += 1
        closed = self._close(prefix)
        finished = closed.finished if closed is not None else None
        obligations = finished.obligations if finished is not None else ()
        if closed is not None and not obligations:
            self._found = (closed.text, cuts)
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
        same = _shared(known.text, prefix.text)
        bounds = [cut for cut in known.cuts if cut >= same] + [len(known.text)]
        for begin, end in pairwise(bounds):
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
        whole = any(reading.expected.whole for reading in prefix.readings)
        # What is a whole terminal already is made longer only where nothing else helps.
        moves = sorted(
            prefix.moves(),
            key=lambda move: (whole and move.start < prefix.state.length, move.remaining),
        )
        distance = _distance(prefix)
        for move in moves:
            if move.remaining > distance:
                break  # not on a shortest way to the end
            after = prefix.advance(move.insert)
            if _distance(after) < distance and after.alive and after.settled.alive:
                return after
        return None

    def _units(self, start: Prefix, obligations: tuple[Violation, ...]) -> Iterator[Prefix]:
        """The prefixes one unit behind `start`, those that touch an obligation first."""
        focus = self._focus(obligations)
        aside: list[Prefix] = []
        units = self._write_unit(_Part(start, False, 0, None), _oldest(start), focus)
        for prefix, touches in islice(units, self._UNITS):
            if touches or not focus.elements:
                yield prefix
            else:
                aside.append(prefix)
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
        touches = part.touches or move.element in focus.elements
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
        for move in sorted(prefix.moves(), key=lambda move: self._eagerness(move, focus)):
            if self._effort.stop():
                return
            if move.kind == "end" or (after_white and move.text.isspace()):
                continue
            if move.start < prefix.state.length and prefix is not self._start:
                continue  # a terminal that the search wrote is as long as it meant it to be
            if move.kind == "reference" and move.element not in focus.elements:
                others += 1
                if others > self._NAMES:
                    continue
            what = self._what(move)
            if what in tried or _states_again(prefix, move):
                continue
            after = prefix.advance(move.insert)
            if after.alive and after.settled.alive:
                tried.add(what)
                yield move, after

    def _focus(self, obligations: tuple[Violation, ...]) -> _Focus:
        theory = self._start.language.theory
        features: frozenset[str] = frozenset()
        for constraint in {v.constraint for v in obligations if v.source == "constraint"}:
            features |= repairing_symbols(theory, constraint)
        elements = frozenset(element for v in obligations for element in v.elements)
        return _Focus(elements, features)

    def _eagerness(self, move: Move, focus: _Focus) -> tuple[int, int]:
        """The rank of a move among its alternatives: what can lift an obligation goes first."""
        lifts = False
        if move.cls is not None and move.feature is not None:
            feature = feature_of(self._start.language.theory, move.cls, move.feature)
            lifts = feature is not None and feature.symbol in focus.features
        if move.element in focus.elements:
            return (0 if lifts else 1, move.remaining)
        # A reference to something new must be declared; a new object must be connected less often
        # than one that stands already.
        later = "declaration" if move.target is not None else "reference"
        if move.kind == later:
            return (3, move.remaining)
        return (1 if lifts and move.kind != "reference" else 2, move.remaining)

    def _what(self, move: Move) -> object:
        """What a move says, up to interchangeable individuals."""
        individual = None if move.feature is None else self._same.get(move.text.lower())
        return move.insert if individual is None else (move.cls, move.feature, individual)


@dataclass(frozen=True, slots=True)
class _Base:
    """Where writing may begin: a prefix, what one reading says of it, and what is under way."""

    prefix: Prefix
    trail: Trail
    model: PartialModel
    begun: tuple[Begun, ...]

    def says(self) -> object:
        """Equal where the text says the same and what is under way can get the same."""
        events = tuple(_without_places(event) for event in self.trail.events())
        return events, tuple(begun.features for begun in self.begun)


def _without_places(event: Event) -> object:
    match event:
        case Open(cls, feature):
            return cls, feature
        case Assign(feature, _, value):
            return feature, value
        case Refer(feature, _, target, name):
            return feature, target, name
    return None


def _bases(start: Prefix, terminals: int = 3) -> Iterator[_Base]:
    """The prefix in each of its readings; where it ends within a value, with that completed."""
    yield from _readings(start)
    expected = start.state.expected()
    if terminals == 0 or not any(e.typed or e.value_begun for e in expected):
        return
    within = all(e.typed or e.value_begun for e in expected)
    for move in sorted(start.moves(), key=lambda move: move.remaining):
        if move.insert and (within or move.start < start.state.length):
            after = start.advance(move.insert)
            if after.alive:
                yield from _bases(after, terminals - 1)


def _readings(prefix: Prefix) -> Iterator[_Base]:
    """What the readings of a prefix say, without objects that need not begin or end here."""
    groups: dict[Trail, list[tuple[Expected, list[Trail]]]] = {}
    for expected in prefix.state.expected():
        if expected.typed or expected.value_begun:
            continue
        opened: list[Trail] = []
        trail = expected.trail
        while isinstance(trail.event, Open) and trail.event.start >= prefix.state.length:
            opened.append(trail)
            assert trail.parent is not None
            trail = trail.parent
        groups.setdefault(trail, []).append((expected, opened[::-1]))
    may_end = prefix.state.finish() is not None
    for trail, members in groups.items():
        if any(at in groups for at in _before(trail)):
            continue
        common = [] if may_end else _common([opened for _, opened in members])
        at = common[-1] if common else trail
        evaluation = prefix.behind(at)
        if not evaluation.contradictions:
            further = [(expected, len(opened) - len(common)) for expected, opened in members]
            # An object that may end here need not get anything more.
            may_close = any(trail in _before(other) for other in groups)
            begun = _begun(evaluation.model, further, may_end or may_close)
            yield _Base(prefix, at, evaluation.model, begun)


def _common(readings: list[list[Trail]]) -> list[Trail]:
    """The objects that begin in every reading, as trails of the first one."""
    common = []
    for at_once in zip(*readings, strict=False):
        if any(each.event != at_once[0].event for each in at_once):
            break
        common.append(at_once[0])
    return common


def _begun(
    model: PartialModel, readings: list[tuple[Expected, int]], may_close: bool
) -> tuple[Begun, ...]:
    """The objects under construction with the features they can get.

    Args:
        readings: terminals that may follow, with how many objects begin with them that need not.
        may_close: whether the innermost object may also end here.
    """
    frames = []
    frame = model.frame
    while frame is not None:
        frames.append(frame)
        frame = frame.parent
    names: list[set[str]] = [set() for _ in frames]
    for expected, skipped in readings:
        for depth, (features, inner) in enumerate(expected.fillable[skipped:]):
            if depth < len(names):
                names[depth] |= features
                # What an object inside fills is not stated as long as that one is not there.
                is_open = frames[depth - 1].node is None if depth else skipped > 0
                if is_open and inner is not None:
                    names[depth].add(inner)
    mapped = model.schema.feature_map

    def symbols(frame: Frame, found: set[str]) -> frozenset[str]:
        return frozenset(mapped[frame.rule, n].symbol for n in found if (frame.rule, n) in mapped)

    required = set() if may_close else _filled_next(readings)
    return tuple(
        Begun(
            frame, symbols(frame, found), symbols(frame, required if frame is frames[0] else set())
        )
        for frame, found in zip(frames[::-1], names[::-1], strict=True)
    )


def _filled_next(readings: list[tuple[Expected, int]]) -> set[str]:
    """The feature of the innermost object that every terminal which may follow fills, if any."""
    found = {
        expected.fillable[skipped][1] if skipped else expected.feature
        for expected, skipped in readings
    }
    return {name for name in found if name is not None} if len(found) == 1 else set()


def _before(trail: Trail) -> Iterator[Trail]:
    """The trails that one goes on from by ends of objects alone."""
    while isinstance(trail.event, Close) and trail.parent is not None:
        trail = trail.parent
        yield trail


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


def _shared(left: str, right: str) -> int:
    length = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        length += 1
    return length
