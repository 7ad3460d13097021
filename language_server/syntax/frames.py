"""Threads of a parse and the stack they share.

A frame is the run of one rule from one position. Threads that call the same rule at the same
position share its frame (a graph-structured stack), so the number of frames is bounded by rules
times positions.
"""

from __future__ import annotations

from typing import Any

from language_server.syntax.events import Close, Open, Trail
from language_server.syntax.slots import Body, CallSlot, ChoiceSlot, Mode, Part, Slot
from language_server.syntax.values import Pending


class Guard:
    """The undecided question whether one branch of a choice, tried at one place, succeeds."""

    __slots__ = ()


Conditions = frozenset[Guard]
#: Branches a thread is in: choice, branch, guard, and the conditions it had when it went in.
Inside = tuple[tuple[ChoiceSlot, int, Guard, Conditions], ...]

NONE: Conditions = frozenset()

#: Stands for "what the end of the text leaves open"; it never fails and never succeeds.
UNDECIDED = Guard()
OPEN_END: Conditions = frozenset([UNDECIDED])


class Edge:
    """Where a frame returns to, and what the caller had read.

    Attributes:
        conditions: guards that must fail for the caller to be right.
        inside: branches the caller is in.
    """

    __slots__ = ("call", "conditions", "inside", "parent", "parts", "pending", "trail")

    def __init__(
        self,
        call: CallSlot | None,
        parent: Frame | None,
        trail: Trail,
        pending: Pending | None,
        parts: Part | None,
        conditions: Conditions = NONE,
        inside: Inside = (),
    ) -> None:
        self.call = call
        self.parent = parent
        self.trail = trail
        self.pending = pending
        self.parts = parts
        self.conditions = conditions
        self.inside = inside


class Frame(Edge):
    """The run of ``body`` from ``start``; it is its own first edge.

    Attributes:
        more: further callers.
        clean: True if no guard is named by this frame or any below it.
    """

    __slots__ = ("_below", "_rest", "body", "clean", "follows", "more", "start")

    def __init__(
        self,
        body: Body | None,
        start: int,
        call: CallSlot | None,
        parent: Frame | None,
        trail: Trail,
        pending: Pending | None,
        parts: Part | None,
        conditions: Conditions = NONE,
        inside: Inside = (),
        clean: bool = True,
    ) -> None:
        self.body = body
        self.start = start
        self.call = call
        self.parent = parent
        self.trail = trail
        self.pending = pending
        self.parts = parts
        self.conditions = conditions
        self.inside = inside
        self.more: list[Edge] | None = None
        self.clean = clean
        self._rest: float | None = None
        self._below: tuple[bool, bool] | None = None
        self.follows: dict[object, bool] | None = None

    def edges(self) -> list[Edge]:
        """All callers, the preferred one first."""
        return [self] if self.more is None else [self, *self.more]

    def alone(self) -> bool:
        """Whether this frame and all below have one caller each.

        To be asked of a frame that gets no more callers.
        """
        return self._survey()[0]

    def gathers(self) -> bool:
        """Whether a caller of this frame, or of one below, is in the middle of a value."""
        return self._survey()[1]

    def _survey(self) -> tuple[bool, bool]:
        passed: list[Frame] = []
        frame: Frame | None = self
        while frame is not None and frame._below is None:
            passed.append(frame)
            frame = frame.parent
        alone, gathers = frame._below if frame is not None and frame._below else (True, False)
        for each in reversed(passed):
            alone = alone and each.more is None
            gathers = gathers or each.parts is not None
            each._below = (alone, gathers)
        return alone, gathers

    def rest(self) -> float:
        """The least number of characters that must follow once this frame has returned."""
        known = self._rest
        if known is not None:
            return known
        waiting: list[Frame] = [self]
        entered: set[Frame] = set()
        while waiting:
            frame = waiting[-1]
            if frame not in entered:
                entered.add(frame)
                parents = [edge.parent for edge in frame.edges() if edge.parent is not None]
                waiting.extend(p for p in parents if p._rest is None and p not in entered)
                continue
            waiting.pop()
            frame._rest = min(
                (
                    edge.call.behind + (edge.parent._rest or 0)
                    for edge in frame.edges()
                    if edge.call is not None and edge.parent is not None
                ),
                default=0.0,
            )
        assert self._rest is not None
        return self._rest


class Thread:
    """A reading of the text up to some position.

    Attributes:
        slot, frame: where it is in the grammar.
        trail: its events.
        pending: objects whose first terminal is still to come.
        parts: the value it is in the middle of.
        end: end of the last terminal that belongs to the parse tree.
        conditions: guards that must fail for it to be right.
        inside: branches of its frame's rule that it is in.
    """

    __slots__ = ("conditions", "end", "frame", "inside", "parts", "pending", "slot", "trail")

    def __init__(
        self,
        slot: Slot,
        frame: Frame,
        trail: Trail,
        pending: Pending | None,
        parts: Part | None,
        end: int,
        conditions: Conditions = NONE,
        inside: Inside = (),
    ) -> None:
        self.slot = slot
        self.frame = frame
        self.trail = trail
        self.pending = pending
        self.parts = parts
        self.end = end
        self.conditions = conditions
        self.inside = inside

    def key(self) -> tuple[Any, ...]:
        """Threads with equal keys at one position have the same future."""
        return (self.slot, self.frame, self.conditions, self.inside)


def flush(trail: Trail, pending: Pending | None, start: int) -> Trail:
    """``trail`` with the objects that begin at ``start``."""
    if pending is None:
        return trail
    if pending[0] is None:
        return Trail(trail, Open(*pending[1:], start))
    newest_first = []
    while pending is not None:
        newest_first.append(pending)
        pending = pending[0]
    for _, cls, feature, many in reversed(newest_first):
        trail = Trail(trail, Open(cls, feature, many, start))
    return trail


def rebased(
    frame: Frame, edge: Edge, trail: Trail, pending: Pending | None
) -> tuple[Trail, Pending | None]:
    """What a thread that ran in or above ``frame`` for its first caller has read for ``edge``."""
    opens = edge.call.opens if edge.call is not None else None
    if trail is frame.trail:
        own = _above(pending, frame.pending)
        moved_pending = edge.pending
        for index, entry in enumerate(own):
            if index == 0 and opens is not None:
                moved_pending = (moved_pending, *opens)
            else:
                moved_pending = (moved_pending, *entry[1:])
        return edge.trail, moved_pending
    events = []
    node = trail
    while node is not frame.trail and node.parent is not None and node.event is not None:
        events.append(node.event)
        node = node.parent
    events.reverse()
    first = events[0].start if not isinstance(events[0], Close) else frame.start
    moved = flush(edge.trail, edge.pending, first)
    events = events[len(_above(frame.pending, None)) :]
    if opens is not None:
        moved = moved.then(Open(*opens, first))
        events = events[1:]
    for event in events:
        moved = moved.then(event)
    return moved, pending


def _above(pending: Pending | None, below: Pending | None) -> list[Pending]:
    """The pending objects above ``below``, outermost first."""
    newest_first = []
    while pending is not None and pending is not below:
        newest_first.append(pending)
        pending = pending[0]
    return newest_first[::-1]


def rebased_parts(frame: Frame, edge: Edge, parts: Part | None) -> Part | None:
    """The value parts read in ``frame``, behind those of the caller ``edge``."""
    if frame.body is None or frame.body.mode is not Mode.VALUE:
        return parts
    newest_first = []
    while parts is not None and parts is not frame.parts:
        newest_first.append(parts)
        parts = parts[0]
    moved = edge.parts
    for part in reversed(newest_first):
        moved = (moved, *part[1:])
    return moved
