"""Parsing whole documents, and edited documents again.

A document is read in segments. Between two of them a single thread is left of which nothing is
undecided, so that what follows depends on little: where that thread is in the grammar, and the
text. An edit therefore renews only the segments that have looked at the text it changes: reading
begins again where the last one before it ended, and ends where the new thread comes to a place at
which the old one was in the same state. What the further segments say is the same as before, at
another place; they keep the offsets with which they were read, and the document knows by how much
each has moved. Whoever keeps something of a segment does so with `anchored` places.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, islice
from typing import TYPE_CHECKING, Any, AnyStr, NamedTuple

from language_server.syntax.agenda import Agenda
from language_server.syntax.anchors import Anchors, anchored
from language_server.syntax.edits import BACK
from language_server.syntax.events import Close, Event, Open, Trail
from language_server.syntax.frames import Frame, Thread
from language_server.syntax.machine import Machine
from language_server.syntax.recovery import SyntaxFault, repair
from language_server.syntax.slots import Part
from language_server.syntax.state import LOOK_BEHIND
from language_server.syntax.values import TEXT

if TYPE_CHECKING:
    from language_server.syntax.layout import Skipper

#: Characters read at a time, and so about the length of a segment.
STRIDE = 192
#: After so many faults the rest of the text is not read.
MOST_FAULTS = 100


#: Numbers of segments; each is used once.
_NUMBERS = count(1)


class Segment(NamedTuple):
    """What was read between two places at which a single thread is left.

    Attributes:
        entry: the thread that it begins with; its trail is empty.
        start, end: where it stands.
        seen: the end of the text that was looked at; None if also the end of the document was.
        events, faults: what was read, and what could not be.
        mended: whether it ends directly behind the repair of a fault.
        number: no other segment of any text has it.
    """

    entry: Thread
    start: int
    end: int
    seen: int | None
    events: tuple[Event, ...]
    faults: tuple[SyntaxFault, ...]
    mended: bool
    number: int

    def anchored(self) -> Iterator[Event]:
        """The events at places that stay when the segment moves; see `Parse.anchors`."""
        moved = anchored(self.number, -self.start)
        return (_at(event, moved) for event in self.events)


@dataclass(frozen=True, eq=False)
class Parse:
    """What could be read of a document.

    Attributes:
        text: the document.
        segments: what was read, in textual order.
        skipper: the grammar's own; a parse of another grammar has another.
    """

    text: str
    segments: tuple[Segment, ...]
    skipper: Skipper

    @property
    def complete(self) -> bool:
        """Whether textX accepts the text."""
        return not self.faults

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the segments stand in the text."""
        starts, at = [], 0
        for segment in self.segments:
            starts.append(at)
            at += segment.end - segment.start
        return tuple(starts)

    @cached_property
    def faults(self) -> tuple[SyntaxFault, ...]:
        """The syntax faults in textual order; a place that took several repairs is told once."""
        found: dict[int, SyntaxFault] = {}
        for segment, moved in self._moved():
            for fault in segment.faults:
                start = fault.start + moved
                found.setdefault(start, replace(fault, start=start, end=fault.end + moved))
        return tuple(found.values())

    def events(self, first: int = 0, behind: int | None = None) -> Iterator[Event]:
        """What was read, in textual order; what was skipped after a fault is left out.

        Args:
            first, behind: the segments to tell of, by number; without them all.
        """
        for segment, moved in islice(self._moved(), first, behind):
            if moved:
                yield from (_at(event, moved) for event in segment.events)
            else:
                yield from segment.events

    @cached_property
    def anchors(self) -> Anchors:
        """Where the anchored places of the segments are in the text."""
        numbers = (segment.number for segment in self.segments)
        return Anchors(dict(zip(numbers, self.starts, strict=True)))

    def _moved(self) -> Iterator[tuple[Segment, int]]:
        """The segments, and by how much each has moved since it was read."""
        for segment, start in zip(self.segments, self.starts, strict=True):
            yield segment, start - segment.start


def _at(event: Event, moved: int) -> Event:
    """The event elsewhere; made as the tuple it is, since events are many and constructors slow."""
    one: Any = event
    kind = type(one)
    if kind is Close:
        places: tuple[Any, ...] = (one[0] + moved,)
    elif kind is Open:
        places = (*one[:3], one[3] + moved)
    else:
        places = (*one[:-2], one[-2] + moved, one[-1] + moved)
    made: Event = tuple.__new__(kind, places)
    return made


def parse(skipper: Skipper, first: Thread, text: str, known: Parse | None) -> Parse:
    """Read ``text``, repairing what does not fit.

    Args:
        skipper: what skips white space and comments for the grammar.
        first: the thread before any text.
        text: the document.
        known: a parse of an earlier version of it, whose segments are used again.
    """
    if known is None or known.skipper is not skipper:
        known = Parse("", (), skipper)
    elif known.text == text:
        return known
    edit = _Edit(known, text)
    segments = list(known.segments[: edit.kept])
    reader = _Reader(skipper, text, sum(len(segment.faults) for segment in segments))
    if edit.kept < len(known.segments):
        entry, at = known.segments[edit.kept].entry, known.segments[edit.kept].start
        place = known.starts[edit.kept]
    else:
        entry, at, place = first, 0, 0
    while True:
        segment, behind = reader.read(entry, at, place, edit.stops(place))
        while reader.short and segments and not segments[-1].mended:
            before = segments.pop()
            least = place + segment.faults[0].start - segment.start
            place -= before.end - before.start
            reader.faults -= len(segment.faults) + len(before.faults)
            segment, behind = reader.read(before.entry, before.start, place, None, least)
        segments.append(segment)
        if behind is None:
            break
        place += segment.end - segment.start
        met = edit.meeting(place, behind, segment.end, reader.faults)
        if met is not None:
            segments.extend(known.segments[met:])
            break
        entry, at = behind, segment.end
    return Parse(text, tuple(segments), skipper)


class _Edit:
    """How a text differs from the one that was read before.

    Attributes:
        kept: how many segments of the earlier parse have not seen anything of the change.
    """

    def __init__(self, known: Parse, text: str) -> None:
        self._known = known
        before = known.text
        same = shared_start(before, text)
        self._shift = len(text) - len(before)
        #: Where in the old text a segment may start whose terminals look back on nothing new.
        self._again = len(before) - _shared_end(before, text, same) + LOOK_BEHIND
        self.kept = 0
        for segment, start in zip(known.segments, known.starts, strict=True):
            if segment.seen is None or start + segment.seen - segment.start > same:
                break
            self.kept += 1

    def stops(self, place: int) -> int | None:
        """Up to where to read from ``place`` on to come to where an old segment starts."""
        segments, starts = self._known.segments, self._known.starts
        index = bisect_left(starts, max(place - self._shift + 1, self._again))
        if not 0 < index < len(segments):
            return None
        before = segments[index - 1]
        if before.seen is None:
            return None
        return starts[index - 1] + before.seen - before.start + self._shift

    def meeting(self, place: int, thread: Thread, at: int, faults: int) -> int | None:
        """The first old segment that may follow ``thread``.

        Args:
            place: where that segment would stand in the text.
            thread: a thread that has read the text before.
            at: the same place in the offsets of the thread.
            faults: the faults before.
        """
        segments, starts = self._known.segments, self._known.starts
        place -= self._shift
        index = bisect_left(starts, place, max(self.kept, 1))
        if place < self._again or index == len(starts) or starts[index] != place:
            return None
        if not _same_future(thread, at, segments[index].entry, segments[index].start):
            return None
        before = sum(len(segment.faults) for segment in segments[:index])
        after = sum(len(segment.faults) for segment in segments[index:])
        if faults != before and max(faults, before) + after >= MOST_FAULTS:
            return None
        return index


def shared_start(one: AnyStr, other: AnyStr) -> int:
    """How many characters two texts have in common at their beginnings."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shared_end(one: str, other: str, start: int) -> int:
    """How many characters two texts have in common at their ends, behind ``start``."""
    low, high = 0, min(len(one), len(other)) - start
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _same_future(one: Thread, at: int, other: Thread, there: int) -> bool:
    """Whether two threads between segments read the same from any text that follows."""
    if one.slot is not other.slot or one.end - at != other.end - there:
        return False
    if not _same_parts(one.parts, at, other.parts, there):
        return False
    frame: Frame | None = one.frame
    match: Frame | None = other.frame
    while frame is not match:
        if frame is None or match is None or frame.call is not match.call:
            return False
        if not _same_parts(frame.parts, at, match.parts, there):
            return False
        frame, match = frame.parent, match.parent
    # Of a value that began before the change the beginning has moved.
    return frame is None or at == there or not frame.gathers()


def _same_parts(one: Part | None, at: int, other: Part | None, there: int) -> bool:
    """Whether two values that are being read have the same parts at the same distances."""
    while one is not None and other is not None:
        if one[1:4] != other[1:4]:
            return False
        if one[1] == TEXT and (one[4] - at, one[5] - at) != (other[4] - there, other[5] - there):
            return False
        one, other = one[0], other[0]
    return one is other


class _Reader:
    """Reads the segments of a text.

    Attributes:
        faults: how many there have been.
        short: whether the first fault of the last segment asks for more of what was read before.
    """

    def __init__(self, skipper: Skipper, text: str, faults: int) -> None:
        self._skipper = skipper
        self._text = text
        self.faults = faults
        self.short = False

    def read(
        self, entry: Thread, at: int, place: int, stop: int | None, least: int = 0
    ) -> tuple[Segment, Thread | None]:
        """Read a segment.

        Args:
            entry: the thread to begin with.
            at: where it stands, in its own offsets.
            place: the same place in the text.
            stop: up to where to read, if that is not far; the segment then ends before.
            least: up to where to read before the segment may end.

        Returns:
            The segment, and the thread behind it, None at the end of the text.
        """
        text, moved = self._text, place - at
        agenda = Agenda({at: {entry.key(): entry}}, {}, frozenset())
        past = [agenda]
        faults: list[SyntaxFault] = []
        self.short = False
        seen, step = place, STRIDE
        near = stop is not None and place < stop <= place + 2 * STRIDE
        limit = stop if near and stop is not None else place + STRIDE
        while True:
            limit = min(limit, len(text))
            seen = max(seen, limit)
            machine = self._machine(agenda, moved, limit)
            alive = machine.advance() if limit < len(text) else machine.finish()
            if alive and machine.base is None:
                (accepted, *_) = machine.accepted
                return self._last(entry, at, moved, accepted.trail, faults), None
            if alive and machine.base is not None:
                advanced = machine.base.first() - agenda.first()
                step = STRIDE if 2 * advanced > step else 2 * step
                agenda, sure = machine.base, machine.sure_base
                if advanced:
                    past = [*past[-BACK:], agenda]
            else:
                repaired = repair(machine, past, text, moved, faults[-1] if faults else None)
                self.short = self.short or (repaired.short and not faults)
                faults.append(repaired.fault)
                self.faults += 1
                if repaired.agenda is None or self.faults >= MOST_FAULTS:
                    return self._last(entry, at, moved, repaired.trail, faults), None
                agenda, sure, step = repaired.agenda, repaired.agenda, STRIDE
                past = [agenda]
                seen = max(seen, repaired.seen)
            behind = _between(sure)
            if behind is not None and sure.first() > at and sure.first() + moved > least:
                end, known = sure.first(), None if seen == len(text) else seen - moved
                mended = bool(faults) and len(past) == 1 and past[0].first() == end
                segment = _segment(entry, at, end, known, behind.trail, faults, mended)
                return segment, _without_past(behind)
            limit = agenda.first() + moved + step

    def _machine(self, agenda: Agenda, moved: int, limit: int) -> Machine:
        first = max(agenda.first() + moved - LOOK_BEHIND, 0)
        closed = limit == len(self._text)
        return Machine(self._skipper, self._text[first:limit], first - moved, closed, agenda)

    def _last(
        self, entry: Thread, at: int, moved: int, trail: Trail, faults: list[SyntaxFault]
    ) -> Segment:
        return _segment(entry, at, len(self._text) - moved, None, trail, faults)


def _segment(
    entry: Thread,
    start: int,
    end: int,
    seen: int | None,
    trail: Trail,
    faults: list[SyntaxFault],
    mended: bool = False,
) -> Segment:
    events = tuple(trail.events())
    return Segment(entry, start, end, seen, events, tuple(faults), mended, next(_NUMBERS))


def _between(agenda: Agenda) -> Thread | None:
    """The only thread of an agenda, if nothing else is open there; the end of a segment."""
    if len(agenda.threads) != 1 or agenda.open:
        return None
    (bucket,) = agenda.threads.values()
    if len(bucket) != 1:
        return None
    (thread,) = bucket.values()
    return thread if thread.frame.alone() and thread.pending is None else None


def _without_past(thread: Thread) -> Thread:
    """The thread with nothing that it has read, and no branch that it waits for."""
    return Thread(thread.slot, thread.frame, Trail.root(), None, thread.parts, thread.end)
