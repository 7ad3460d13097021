"""Syntax faults, and how reading goes on behind them.

Where no thread can go on, the parse is repaired and continues. The repairs are, from the cheapest
on: a missing terminal is assumed, a lexeme is skipped, a lexeme is replaced, or text is skipped
until a rule around the fault, taken as finished, can go on. Each is tried out on the text that
follows; the cheapest one that reads on far enough is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from language_server.syntax.agenda import Agenda
from language_server.syntax.events import Close, Trail
from language_server.syntax.frames import Frame, Thread
from language_server.syntax.machine import Machine
from language_server.syntax.slots import GATHER, AssignSlot, CloseSlot, MatchSlot, Result
from language_server.syntax.state import LOOK_BEHIND
from language_server.syntax.tables import Table, table_of
from language_server.syntax.values import TEXT

if TYPE_CHECKING:
    from language_server.syntax.layout import Skipper

#: A repair is good if this many further lexemes are read after it.
CONFIDENCE = 3
#: Rules around a fault that are tried as finished.
LEVELS = 24
#: Lexemes skipped at most in one step of the search for a place to go on.
REACH = 400
#: Characters behind a fault that are looked at first; more only if no repair is found in them.
SIGHT = 4000

_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
_WHITE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """A place where the text cannot be read as the grammar asks.

    Attributes:
        start, end: the text that does not fit (empty where something is missing at the end). Where
            a predicate fails it begins with the white space before ``found``, as for textX.
        message: one sentence for a person.
        expected: what could stand here, in the grammar's words.
        found: the text that does not fit, ``""`` at the end of the text.
    """

    start: int
    end: int
    message: str
    expected: tuple[str, ...]
    found: str


class Repaired(NamedTuple):
    """A fault, and how reading goes on behind it.

    Attributes:
        fault: what is wrong.
        agenda: where to go on, None if nothing of the rest can be read.
        trail: what was read before the fault.
        seen: the end of the text that was looked at to find out.
    """

    fault: SyntaxFault
    agenda: Agenda | None
    trail: Trail
    seen: int


def repair(failed: Machine, text: str, moved: int) -> Repaired:
    """How to go on where a run has failed.

    The answer depends on no more of the text than was seen, so that a change behind it leaves the
    answer as it is.

    Args:
        failed: a run over some of the text that no thread has survived.
        text: the document; ``seen`` counts in it.
        moved: what to add to an offset of the run for the offset in the document.
    """
    again = _thorough(failed)
    tried = max(again.furthest, again.sure_start.first())
    first = max(min(tried, _blamed(again)) + moved - LOOK_BEHIND, 0)
    sight = SIGHT
    while True:
        seen = min(tried + moved + sight, len(text))
        view = _View(text[first:seen], first - moved, seen == len(text), again.skipper)
        fault = _fault(again, view)
        repairs = _Repairs(again, fault, view)
        if repairs.confident or view.closed:
            break
        sight *= 8
    trail = again.tried[0].thread.trail if again.tried else Trail.root()
    return Repaired(fault, repairs.best, trail, seen)


def _thorough(machine: Machine) -> Machine:
    """The end of a run that has failed, with every terminal tried that could have stood there."""
    again = Machine(
        machine.skipper, machine.text, machine.shift, machine.closed, machine.sure_start
    )
    again.thorough = True
    again.run()
    return again


class _View(NamedTuple):
    """The text around a fault.

    Attributes:
        start: its offset.
        closed: whether the document ends with it.
    """

    text: str
    start: int
    closed: bool
    skipper: Skipper


def lexeme(text: str, start: int, skipper: Skipper) -> int:
    """The end of the lexeme at ``start``: the longest terminal there, a word, or one character."""
    if start >= len(text):
        return start
    word = _WORD.match(text, start)
    end = word.end() if word is not None else start + 1
    for terminal in skipper.terminals_at(text[start]):
        found = terminal.match(text, start)
        if end < found and ("\n" not in text[start:found] or text[start] in "\"'"):
            end = found
    return end


def _fault(machine: Machine, view: _View) -> SyntaxFault:
    text, shift = view.text, view.start
    first = max(machine.furthest, machine.sure_start.first()) - shift
    end = lexeme(text, first, view.skipper)
    found = text[first:end]
    slots = [waiting.thread.slot for waiting in machine.tried]
    expected = tuple(
        dict.fromkeys(slot.terminal.describe() for slot in slots if isinstance(slot, MatchSlot))
    )
    start = _blamed(machine)
    return SyntaxFault(start, end + shift, _message(expected, found), expected, found)


def _blamed(machine: Machine) -> int:
    return max(machine.blamed, machine.sure_start.first())


def _message(expected: tuple[str, ...], found: str) -> str:
    shown = f"'{found if len(found) <= 40 else found[:37] + '...'}'"
    if not expected:
        return f"{shown} cannot stand here" if found else "the text ends too early"
    what = f"found {shown}" if found else "the text ends"
    return f"expected {_enumerate(expected)} but {what}"


def _enumerate(words: tuple[str, ...]) -> str:
    if len(words) <= 1:
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"


class _Repairs:
    """The ways to go on behind one fault; places are those in the text of the view.

    Attributes:
        best: the agenda after the cheapest repair that reads on; None if there is none.
        confident: whether it reads on far enough.
    """

    def __init__(self, failed: Machine, fault: SyntaxFault, view: _View) -> None:
        self._view = view
        self._text = view.text
        self._start, self._end = fault.start - view.start, fault.end - view.start
        self._limits: dict[int, int] = {}
        threads: dict[Any, Thread] = {}
        for waiting in failed.tried:
            thread = _free(waiting.thread)
            threads.setdefault(thread.key(), thread)
        self._threads = list(threads.values())
        self.best: Agenda | None = None
        self.confident = False
        most = 0
        for agenda in self._candidates():
            read = self._lexemes_read(agenda)
            if read > most:
                self.best, most = agenda, read
            if read >= CONFIDENCE:
                self.confident = True
                break

    def _candidates(self) -> Iterator[Agenda]:
        start, end = self._start, self._end
        if start < len(self._text):
            missing = [_assumed(t) for t in self._threads if _awaits_text(t)]
            for thread in missing:
                yield self._agenda(start, [thread])
            yield self._agenda(end, self._threads)
            for thread in missing:
                yield self._agenda(end, [thread])
        yield from self._resumptions()

    def _agenda(self, at: int, threads: Iterable[Thread]) -> Agenda:
        bucket: dict[Any, Thread] = {}
        for thread in threads:
            bucket.setdefault(thread.key(), thread)
        return Agenda({at + self._view.start: bucket}, {}, frozenset())

    def _resumptions(self) -> Iterator[Agenda]:
        finished: dict[Any, Thread] = {}
        for thread in self._threads:
            for level in _levels(thread):
                finished.setdefault(level.key(), level)
        outer = [(thread, _next_table(thread)) for thread in finished.values()]
        inner = [(thread, _next_table(thread)) for thread in self._threads]
        for at in self._places():
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
            behind = self._behind_lexeme(at)
            line = self._text.find("\n", at, behind)
            while line >= 0:
                first = self._over_white(line)
                if first < behind:
                    yield first
                line = self._text.find("\n", first, behind)
            at = self._over_white(behind)
            if at < len(self._text) or self._view.closed:
                yield at

    def _going_on(self, threads: list[tuple[Thread, Table]], at: int) -> list[Thread]:
        """Those threads of whose own rule some terminal stands at ``at``."""
        text, at = self._text, self._over_white(at)
        stands: dict[Table, bool] = {}
        for _, table in threads:
            if table not in stands:
                paths = table.at(text[at]) if at < len(text) else table.paths
                matches = (path.match for path in paths if path.match is not None)
                stands[table] = not table.plain or any(
                    match.terminal.match(text, at) >= 0 for match in matches
                )
        return [thread for thread, table in threads if stands[table]]

    def _over_white(self, at: int) -> int:
        found = _WHITE.match(self._text, at)
        return found.end() if found is not None else at

    def _behind_lexeme(self, at: int) -> int:
        return lexeme(self._text, at, self._view.skipper)

    def _limit(self, at: int) -> int:
        """The end of the lexemes that a repair at ``at`` has to read."""
        if at not in self._limits:
            limit = at
            for _ in range(CONFIDENCE + 1):
                limit = self._behind_lexeme(self._over_white(limit))
            self._limits[at] = limit
        return self._limits[at]

    def _lexemes_read(self, agenda: Agenda) -> int:
        """How many lexemes are read from ``agenda``, up to ``CONFIDENCE``."""
        view = self._view
        at = agenda.first() - view.start
        machine = _Sample(view.skipper, view.text, view.start, view.closed, agenda)
        machine.limit = self._limit(at) + view.start
        machine.run()
        if machine.accepted or machine.passed or machine.waiting:
            return CONFIDENCE
        read = 0
        while at < machine.furthest - view.start and read < CONFIDENCE:
            at = self._behind_lexeme(self._over_white(at))
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


def _next_table(thread: Thread) -> Table:
    """What can be read next in the thread's own rule."""
    slot = thread.slot
    while isinstance(slot, (CloseSlot, AssignSlot)):
        slot = slot.next
    return table_of(slot)


def _free(thread: Thread) -> Thread:
    return Thread(thread.slot, thread.frame, thread.trail, thread.pending, thread.parts, thread.end)


def _awaits_text(thread: Thread) -> bool:
    return isinstance(thread.slot, MatchSlot) and thread.slot.terminal.kind != "end"


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
