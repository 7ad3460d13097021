"""The readings of a thread: its ways down a stack that several callers share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from language_server.syntax.events import Trail
from language_server.syntax.frames import Edge, Frame, Guard, Thread, rebased, rebased_parts
from language_server.syntax.slots import Mode, Part, Sink
from language_server.syntax.values import Pending

#: Readings of one thread that are told apart; the preferred ones come first.
MOST_READINGS = 16


@dataclass(frozen=True, slots=True)
class Reading:
    """One way down the stack, and what the thread has read if that way is right."""

    trail: Trail
    pending: Pending | None
    way: tuple[tuple[Frame, Edge], ...] | None
    thread: Thread

    def sink(self) -> Sink | None:
        """Where the value goes that is being read."""
        for frame, edge in self.way_down():
            body = frame.body
            if body is None or body.mode is not Mode.VALUE:
                return body.sink if body is not None else None
            if edge.call is not None and edge.call.sink is not None:
                return edge.call.sink
        return None

    def cls(self) -> str | None:
        """The class of the innermost object."""
        for frame, _ in self.way_down():
            if frame.body is not None and frame.body.mode is Mode.OBJECT:
                return frame.body.cls
        return None

    def parts(self) -> Part | None:
        """The value it is in the middle of."""
        parts = self.thread.parts
        for frame, edge in self.way or ():
            if frame.body is None or frame.body.mode is not Mode.VALUE:
                break
            if edge is not frame:
                parts = rebased_parts(frame, edge, parts)
        return parts

    def alone(self) -> Thread:
        """The thread as it goes on if no other reading is right: on this way, under no terms."""
        thread, frame = self.thread, self.thread.frame
        if self.way is not None:
            below: Frame | None = None
            for at, edge in reversed(self.way):
                caller = (edge.call, below, edge.trail, edge.pending, edge.parts)
                below = Frame(at.body, at.start, *caller, clean=False)
            assert below is not None
            frame = below
        return Thread(thread.slot, frame, self.trail, self.pending, self.parts(), thread.end)

    def way_down(self) -> Iterator[tuple[Frame, Edge]]:
        """The frames from the innermost to the outermost, each with the caller it returns to."""
        return iter(self.way) if self.way is not None else _straight(self.thread.frame)


def readings(thread: Thread, won: frozenset[Guard]) -> Iterator[Reading]:
    """The readings of ``thread``, the preferred one first, at most ``MOST_READINGS``.

    Args:
        thread: a living thread.
        won: guards that have succeeded, so that callers conditional on them are dead.
    """
    if not _is_shared(thread.frame):
        yield Reading(thread.trail, thread.pending, None, thread)
        return
    found = 0
    waiting: list[Reading] = [Reading(thread.trail, thread.pending, (), thread)]
    tops: list[Frame | None] = [thread.frame]
    while waiting and found < MOST_READINGS:
        reading, top = waiting.pop(), tops.pop()
        way = reading.way or ()
        while top is not None and top.more is None:
            way = (*way, (top, top))
            top = top.parent
        if top is None:
            found += 1
            yield Reading(reading.trail, reading.pending, way, thread)
            continue
        for edge in reversed(top.edges()):
            if not won.isdisjoint(edge.conditions):
                continue
            trail, pending = reading.trail, reading.pending
            if edge is not top:
                trail, pending = rebased(top, edge, trail, pending)
            waiting.append(Reading(trail, pending, (*way, (top, edge)), thread))
            tops.append(edge.parent)


def is_live(thread: Thread, won: frozenset[Guard]) -> bool:
    """Whether a thread has a reading where some guards have succeeded."""
    if not won.isdisjoint(thread.conditions):
        return False
    frames, seen = [thread.frame], {thread.frame}
    for frame in frames:
        if frame.clean:
            return True
        for edge in frame.edges():
            if won.isdisjoint(edge.conditions):
                if edge.parent is None:
                    return True
                if edge.parent not in seen:
                    seen.add(edge.parent)
                    frames.append(edge.parent)
    return False


def _is_shared(frame: Frame | None) -> bool:
    while frame is not None:
        if frame.more is not None:
            return True
        frame = frame.parent
    return False


def _straight(frame: Frame | None) -> Iterator[tuple[Frame, Edge]]:
    while frame is not None:
        yield frame, frame
        frame = frame.parent
