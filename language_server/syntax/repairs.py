"""The ways to go on behind a syntax fault.

From the cheapest on: a missing terminal is assumed, a lexeme is skipped, a lexeme is replaced, one
of the terminals read last is taken back (a bracket too many closes what the text goes on with), or
text is skipped until a rule around the fault, taken as finished, can go on. Each is tried out on
the text that follows; the cheapest one that reads on far enough is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from language_server.syntax.agenda import Agenda
from language_server.syntax.events import Close
from language_server.syntax.frames import Frame, Thread
from language_server.syntax.lexemes import View
from language_server.syntax.machine import Machine
from language_server.syntax.slots import GATHER, AssignSlot, CloseSlot, MatchSlot, Result
from language_server.syntax.tables import Table, table_of
from language_server.syntax.values import TEXT

#: A repair is good if this many further lexemes are read after it.
CONFIDENCE = 3
#: Terminals read before a fault that are tried as superfluous or wrong.
BACK = 2
#: Lexemes skipped before that.
NEAR = 3
#: Rules around a fault that are tried as finished.
LEVELS = 24
#: Lexemes skipped at most in one step of the search for a place to go on.
REACH = 400


class Repairs:
    """The ways to go on behind one fault, tried in turn; places are those in the text of the view.

    Attributes:
        best: the agenda after the cheapest repair that reads on; None if there is none.
        confident: whether it reads on far enough.
        short: whether more of what was read before would have been taken back than ``past`` holds.
    """

    def __init__(self, failed: Machine, past: Sequence[Agenda], fault: int, view: View) -> None:
        self._view = view
        self._text = view.text
        self._start = fault - view.start
        self._past = past
        self._limits: dict[int, int] = {}
        self._threads = _distinct(_free(waiting.thread) for waiting in failed.tried)
        self.best: Agenda | None = None
        self.confident = False
        self.short = False
        most = 0
        for agenda in self._candidates():
            read = self._lexemes_read(agenda)
            if read > most:
                self.best, most = agenda, read
            if read >= CONFIDENCE:
                self.confident = True
                break

    def _candidates(self) -> Iterator[Agenda]:
        start, view = self._start, self._view
        if start < len(self._text):
            missing = _behind_missing(self._threads)
            for thread in missing:
                yield self._agenda(start, [thread])
            first = view.over_white(start)
            lexeme, ends = view.lexeme(first), view.ends(first)
            for end in ends:
                if end <= lexeme:
                    yield from self._without(self._threads, missing, end)
            yield from self._resumptions(tuple(islice(self._places(), NEAR)), [])
            for end in ends:
                if end > lexeme:
                    yield from self._without(self._threads, missing, end)
            yield from self._retractions()
        levels = _distinct(level for thread in self._threads for level in _levels(thread))
        yield from self._resumptions(self._places(), levels)

    def _without(self, threads: list[Thread], missing: list[Thread], end: int) -> Iterator[Agenda]:
        """Going on at ``end`` as if what stands before were not there, or were what is missing."""
        yield self._agenda(end, threads)
        for thread in missing:
            yield self._agenda(end, [thread])

    def _agenda(self, at: int, threads: Iterable[Thread]) -> Agenda:
        bucket: dict[Any, Thread] = {thread.key(): thread for thread in _distinct(threads)}
        return Agenda({at + self._view.start: bucket}, {}, frozenset())

    # -- taking back ------------------------------------------------------------------------------

    def _retractions(self) -> Iterator[Agenda]:
        """Going on without one of the terminals read last, the last one first."""
        history = self._history()
        for before, end in zip(history[-2::-1], history[:0:-1], strict=True):
            threads = self._threads_before(before)
            yield from self._without(threads, _behind_missing(threads), end)

    def _history(self) -> list[int]:
        """The places behind the terminals read last, in textual order, one more than ``BACK``."""
        view, limit = self._view, self._start
        for agenda in reversed(self._past):
            text = view.text[:limit]
            steps = _Steps(view.skipper, text, view.start, True, agenda)
            steps.run()
            places = [at - view.start for at in steps.places]
            if len(places) > BACK:
                return places[-BACK - 1 :]
        self.short = True
        return places

    def _threads_before(self, at: int) -> list[Thread]:
        """Those in front of the terminals that could stand at ``at``."""
        view = self._view
        first = view.over_white(at)
        for agenda in reversed(self._past):
            if agenda.first() <= at + view.start:
                machine = Machine(view.skipper, view.text[:first], view.start, True, agenda)
                machine.thorough = True
                machine.run()
                return _distinct(_free(waiting.thread) for waiting in machine.tried)
        return []

    # -- skipping ---------------------------------------------------------------------------------

    def _resumptions(self, places: Iterable[int], finished: list[Thread]) -> Iterator[Agenda]:
        """Going on at the first place where a thread can, or one whose rules are ``finished``."""
        outer = [(thread, _next_table(thread)) for thread in finished]
        inner = [(thread, _next_table(thread)) for thread in self._threads]
        for at in places:
            if at > self._start:
                here = self._going_on(inner, at)
                if here:
                    yield self._agenda(at, here)
            for thread in self._going_on(outer, at):
                yield self._agenda(at, [thread])

    def _places(self) -> Iterator[int]:
        """Where reading may go on: behind each lexeme, and at each line.

        A quote too many makes lexemes of what stands between the strings; in them lie the lines.
        """
        at = self._start
        yield at
        for _ in range(REACH):
            if at >= len(self._text):
                return
            behind = self._view.lexeme(at)
            line = self._text.find("\n", at, behind)
            while line >= 0:
                first = self._view.over_white(line)
                if first < behind:
                    yield first
                line = self._text.find("\n", first, behind)
            at = self._view.over_white(behind)
            if at < len(self._text) or self._view.closed:
                yield at

    def _going_on(self, threads: list[tuple[Thread, Table]], at: int) -> list[Thread]:
        """Those threads of whose own rule some terminal stands at ``at``."""
        text, at = self._text, self._view.over_white(at)
        stands: dict[Table, bool] = {}
        for _, table in threads:
            if table not in stands:
                paths = table.at(text[at]) if at < len(text) else table.paths
                matches = (path.match for path in paths if path.match is not None)
                stands[table] = not table.plain or any(
                    match.terminal.match(text, at) >= 0 for match in matches
                )
        return [thread for thread, table in threads if stands[table]]

    # -- trying out -------------------------------------------------------------------------------

    def _limit(self, at: int) -> int:
        """The end of the lexemes that a repair at ``at`` has to read."""
        if at not in self._limits:
            limit = at
            for _ in range(CONFIDENCE + 1):
                limit = self._view.lexeme(self._view.over_white(limit))
            self._limits[at] = limit
        return self._limits[at]

    def _lexemes_read(self, agenda: Agenda) -> int:
        """How many lexemes behind the fault are read from ``agenda``, up to ``CONFIDENCE``."""
        view = self._view
        at = max(agenda.first() - view.start, self._start)
        machine = _Sample(view.skipper, view.text, view.start, view.closed, agenda)
        machine.limit = self._limit(at) + view.start
        machine.run()
        if machine.accepted or machine.passed or machine.waiting:
            return CONFIDENCE
        read = 0
        while at < machine.furthest - view.start and read < CONFIDENCE:
            at = self._view.lexeme(self._view.over_white(at))
            read += 1
        return read


class _Sample(Machine):
    """A run that stops when it has read far enough."""

    limit = 0
    passed = False

    def run(self) -> None:
        """Process positions up to the limit."""
        while self.threads:
            if min(self.threads) >= self.limit and self.limit < self.shift + len(self.text):
                self.passed = True
                return
            self.step()


class _Steps(Machine):
    """A run that notes where it has been."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.places: list[int] = []

    def run(self) -> None:
        """Process all positions."""
        while self.threads:
            self.places.append(min(self.threads))
            self.step()


def _distinct(threads: Iterable[Thread]) -> list[Thread]:
    """The first of those that have the same future."""
    distinct: dict[Any, Thread] = {}
    for thread in threads:
        distinct.setdefault(thread.key(), thread)
    return list(distinct.values())


def _next_table(thread: Thread) -> Table:
    """What can be read next in the thread's own rule."""
    slot = thread.slot
    while isinstance(slot, (CloseSlot, AssignSlot)):
        slot = slot.next
    return table_of(slot)


def _free(thread: Thread) -> Thread:
    return Thread(thread.slot, thread.frame, thread.trail, thread.pending, thread.parts, thread.end)


def _behind_missing(threads: list[Thread]) -> list[Thread]:
    """The threads that await text, each behind its terminal."""
    slots = ((thread, thread.slot) for thread in threads)
    return [
        _assumed(thread)
        for thread, slot in slots
        if isinstance(slot, MatchSlot) and slot.terminal.kind != "end"
    ]


def _assumed(thread: Thread) -> Thread:
    """The thread behind its terminal, as if that had been there."""
    slot = thread.slot
    assert isinstance(slot, MatchSlot)
    parts = thread.parts
    if slot.effect == GATHER and slot.result is not Result.NONE:
        parts = (parts, TEXT, None, "", 0, 0)
    return Thread(slot.after, thread.frame, thread.trail, thread.pending, parts, thread.end)


def _levels(thread: Thread) -> list[Thread]:
    """The thread with one or more of the rules around it taken as finished, innermost first."""
    levels: list[Thread] = []
    frame: Frame | None = thread.frame
    trail, pending, end = thread.trail, thread.pending, thread.end
    while frame is not None and frame.parent is not None and len(levels) < LEVELS:
        assert frame.call is not None
        if frame.call.opens is not None:
            if pending is not None:
                pending = pending[0]
            else:
                trail = trail.then(Close(end))
        after = frame.call.to(Result.TEXT)
        levels.append(Thread(after, frame.parent, trail, pending, frame.parts, end))
        frame = frame.parent
    return levels
