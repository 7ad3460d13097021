"""The edits of a text that may mend a fault in it, and the places at which reading may resume."""

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

#: Terminals read before a fault that are tried as superfluous or wrong.
BACK = 2
#: Lexemes skipped at a fault in one edit.
NEAR = 3
#: Rules around a fault that are tried as finished.
LEVELS = 24
#: Lexemes skipped at most in one step of the search for a place to go on.
REACH = 400


class Edits:
    """The edits that may mend one fault.

    A missing terminal is assumed, a lexeme is dropped, or replaced by a missing terminal; the same
    at each of the terminals read last (a bracket too many closes what the text goes on with); or a
    few lexemes are skipped. Terminals that may be missing at one place are assumed together, as
    threads of one agenda. Places are those in the text of the view.

    Attributes:
        fault: where the fault is, in the offsets of the agendas.
        short: whether more of what was read before would have been taken back than ``past`` holds.
    """

    def __init__(self, failed: Machine, past: Sequence[Agenda], fault: int, view: View) -> None:
        self.fault = fault + view.start
        self.short = False
        self._past = past
        self._start = fault
        self._view = view
        self._threads = _distinct(_free(waiting.thread) for waiting in failed.tried)

    def behind(self, failed: Machine, agenda: Agenda) -> Edits:
        """The edits that may mend the next fault, at which a run from ``agenda`` has failed."""
        failed = thorough(failed)
        fault = max(failed.furthest, failed.sure_start.first()) - self._view.start
        return Edits(failed, [agenda], fault, self._view)

    def all(self) -> Iterator[tuple[int, Agenda]]:
        """Where to go on after each edit, behind its price; of equal ones the better first."""
        view, threads = self._view, self._threads
        missing = _behind_missing(threads)
        yield 1, self._agenda(self._start, missing)
        if self._start == len(view.text):
            return
        first = view.over_white(self._start)
        lexeme, ends = view.lexeme(first), view.ends(first)
        for end in (lexeme, *(end for end in ends if end != lexeme)):
            price = 1 if end == lexeme else max(2, view.words(first, end))
            yield price, self._agenda(end, threads)
            yield price, self._agenda(end, missing)
            if end == lexeme:
                yield from ((1, agenda) for agenda in self._retractions())
        for skipped, at in enumerate(islice(self._places(), NEAR)):
            yield from ((skipped + 1, agenda) for agenda in self._resumptions([at], []))

    def resumptions(self) -> Iterator[Agenda]:
        """Where to go on behind skipped text, the nearest first."""
        levels = _distinct(level for thread in self._threads for level in _levels(thread))
        return self._resumptions(self._places(), levels)

    def _agenda(self, at: int, threads: Iterable[Thread]) -> Agenda:
        bucket: dict[Any, Thread] = {thread.key(): thread for thread in _distinct(threads)}
        return Agenda({at + self._view.start: bucket}, {}, frozenset())

    # -- taking back ------------------------------------------------------------------------------

    def _retractions(self) -> Iterator[Agenda]:
        """Going on without, behind or instead of the terminals read last, the last one first."""
        history = self._history()
        for before, end in zip(history[-2::-1], history[:0:-1], strict=True):
            threads = self._threads_before(before)
            missing = _behind_missing(threads)
            yield self._agenda(end, threads)
            yield self._agenda(before, missing)
            yield self._agenda(end, missing)

    def _history(self) -> list[int]:
        """The places behind the terminals read last, in textual order, one more than ``BACK``."""
        view = self._view
        for agenda in reversed(self._past):
            steps = _Steps(view.skipper, view.text, view.start, view.closed, agenda)
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
            if at >= len(self._view.text):
                return
            behind = self._view.lexeme(at)
            line = self._view.text.find("\n", at, behind)
            while line >= 0:
                first = self._view.over_white(line)
                if first < behind:
                    yield first
                line = self._view.text.find("\n", first, behind)
            at = self._view.over_white(behind)
            if at < len(self._view.text) or self._view.closed:
                yield at

    def _going_on(self, threads: list[tuple[Thread, Table]], at: int) -> list[Thread]:
        """Those threads of whose own rule some terminal stands at ``at``."""
        text, at = self._view.text, self._view.over_white(at)
        stands: dict[Table, bool] = {}
        for _, table in threads:
            if table not in stands:
                paths = table.at(text[at]) if at < len(text) else table.paths
                matches = (path.match for path in paths if path.match is not None)
                stands[table] = not table.plain or any(
                    match.terminal.match(text, at) >= 0 for match in matches
                )
        return [thread for thread, table in threads if stands[table]]


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


def thorough(machine: Machine) -> Machine:
    """The end of a run that has failed, with every terminal tried that could have stood there."""
    again = Machine(
        machine.skipper, machine.text, machine.shift, machine.closed, machine.sure_start
    )
    again.thorough = True
    again.run()
    return again


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
    after = slot.after
    while isinstance(after, CloseSlot):  # nothing waits for the branch: one is as good as another
        after = after.next
    return Thread(after, thread.frame, thread.trail, thread.pending, parts, thread.end)


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
