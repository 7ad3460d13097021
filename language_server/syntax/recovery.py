"""Parsing whole documents: everything that can be read, and every syntax fault.

Where no thread can go on, the parse is repaired and continues. The repairs are, from the cheapest
on: a missing terminal is assumed, a lexeme is skipped, a lexeme is replaced, or text is skipped
until a rule around the fault, taken as finished, can go on. Each is tried out on the text that
follows; the cheapest one that reads on far enough is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from language_server.syntax.agenda import Agenda
from language_server.syntax.events import Close, Trail
from language_server.syntax.frames import Frame, Thread
from language_server.syntax.machine import Machine
from language_server.syntax.slots import GATHER, AssignSlot, CloseSlot, MatchSlot, Result
from language_server.syntax.tables import table_of
from language_server.syntax.terminals import Terminal
from language_server.syntax.values import TEXT

if TYPE_CHECKING:
    from language_server.syntax.layout import Skipper
    from language_server.syntax.state import ParseState

#: A repair is good if this many further lexemes are read after it.
CONFIDENCE = 3
#: Rules around a fault that are tried as finished.
LEVELS = 24
#: Lexemes skipped at most in one step of the search for a place to go on.
REACH = 400
#: Characters between two checkpoints of a document.
STRIDE = 2000
#: After so many faults the rest of the text is not read.
MOST_FAULTS = 100


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


@dataclass(frozen=True, slots=True)
class Parse:
    """What could be read of a document.

    Attributes:
        trail: the events; what was skipped after a fault is left out.
        faults: the syntax faults in textual order.
        complete: True if textX accepts the text.
        checkpoints: states along the text up to its first fault, for reading an edited text.
    """

    trail: Trail
    faults: tuple[SyntaxFault, ...]
    complete: bool
    checkpoints: tuple[ParseState, ...] = field(default=(), repr=False, compare=False)


def parse(start: ParseState, text: str, known: Parse | None) -> Parse:
    """Read ``text`` and repair what does not fit.

    Args:
        start: the state before any text.
        text: the document.
        known: a parse of an earlier version of the document, whose beginning is used again.
    """
    checkpoints = _checkpoints(start, text, known)
    last = checkpoints[-1]
    if last.length == len(text):
        trail = last.finish()
        if trail is not None:
            return Parse(trail, (), True, checkpoints)
    agenda = last.agenda
    assert agenda is not None
    trail, faults, complete = _Repaired(last.skipper, text).read(agenda)
    return Parse(trail, faults, complete, checkpoints)


def _checkpoints(start: ParseState, text: str, known: Parse | None) -> tuple[ParseState, ...]:
    """States along ``text``, as far as it can be read and a living state is left."""
    states = [start]
    if known is not None and known.checkpoints and known.checkpoints[0].skipper is start.skipper:
        common = _common_length(known.checkpoints[-1].text, text)
        states = [state for state in known.checkpoints if state.length <= common] or states
    while states[-1].length < len(text):
        at = states[-1].length
        further = states[-1].advance(text[at : at + STRIDE])
        if not further.alive:
            break
        states.append(further)
    return tuple(states)


def _common_length(one: str, other: str) -> int:
    if other.startswith(one):
        return len(one)
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class _Repaired:
    """Reads a text to its end, whatever is in it."""

    def __init__(self, skipper: Skipper, text: str) -> None:
        self._skipper = skipper
        self._text = text
        self._terminals = tuple(skipper.terminals())

    def read(self, agenda: Agenda) -> tuple[Trail, tuple[SyntaxFault, ...], bool]:
        """The events, the faults, and whether there are none, from ``agenda`` on."""
        faults: list[SyntaxFault] = []
        trail = Trail.root()
        while True:
            machine = Machine(self._skipper, self._text, 0, True, agenda)
            machine.run()
            accepted = next((t for t in machine.accepted if not t.conditions), None)
            if accepted is not None:
                return accepted.trail, tuple(faults), not faults
            machine = _thorough(machine)
            trail = machine.tried[0].thread.trail if machine.tried else trail
            fault = _fault(machine, self._text, self._terminals)
            faults.append(fault)
            repair = None
            if len(faults) < MOST_FAULTS:
                repair = _Repairs(self._skipper, self._text, machine, fault, self._terminals).best()
            if repair is None:
                return trail, tuple(faults), False
            agenda = repair


def _thorough(machine: Machine) -> Machine:
    """The end of a run that has failed, with every terminal tried that could have stood there."""
    again = Machine(machine.skipper, machine.text, machine.shift, True, machine.sure_start)
    again.thorough = True
    again.run()
    return again


def lexeme(text: str, start: int, terminals: Iterable[Terminal]) -> int:
    """The end of the lexeme at ``start``: the longest terminal there, a word, or one character."""
    if start >= len(text):
        return start
    word = re.compile(r"\w+|\s+|.", re.DOTALL).match(text, start)
    end = word.end() if word is not None else start + 1
    for terminal in terminals:
        if terminal.can_start(text[start]):
            found = terminal.match(text, start)
            if end < found and ("\n" not in text[start:found] or text[start] in "\"'"):
                end = found
    return end


def _fault(machine: Machine, text: str, terminals: Iterable[Terminal]) -> SyntaxFault:
    first = max(machine.furthest, 0)
    end = lexeme(text, first, terminals)
    found = text[first:end]
    slots = [waiting.thread.slot for waiting in machine.tried]
    expected = tuple(
        dict.fromkeys(slot.terminal.describe() for slot in slots if isinstance(slot, MatchSlot))
    )
    return SyntaxFault(max(machine.blamed, 0), end, _message(expected, found), expected, found)


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


def _agenda(at: int, threads: Iterable[Thread]) -> Agenda:
    bucket: dict[Any, Thread] = {}
    for thread in threads:
        bucket.setdefault(thread.key(), thread)
    return Agenda({at: bucket}, {}, frozenset())


class _Repairs:
    """The ways to go on behind one fault."""

    def __init__(
        self,
        skipper: Skipper,
        text: str,
        machine: Machine,
        fault: SyntaxFault,
        terminals: Iterable[Terminal],
    ) -> None:
        self._skipper = skipper
        self._text = text
        self._fault = fault
        self._terminals = terminals
        self._limits: dict[int, int] = {}
        threads: dict[Any, Thread] = {}
        for waiting in machine.tried:
            thread = _free(waiting.thread)
            threads.setdefault(thread.key(), thread)
        self._threads = list(threads.values())

    def best(self) -> Agenda | None:
        """The agenda after the cheapest repair that reads on; None if the rest cannot be read."""
        second: tuple[int, Agenda] | None = None
        for agenda in self._candidates():
            reached = self._lexemes_read(agenda)
            if reached >= CONFIDENCE:
                return agenda
            if reached > 0 and (second is None or reached > second[0]):
                second = (reached, agenda)
        return second[1] if second is not None else None

    def _candidates(self) -> Iterator[Agenda]:
        start, end = self._fault.start, self._fault.end
        if start < len(self._text):
            missing = [_assumed(t) for t in self._threads if _awaits_text(t)]
            for thread in missing:
                yield _agenda(start, [thread])
            yield _agenda(end, self._threads)
            for thread in missing:
                yield _agenda(end, [thread])
        yield from self._resumptions()

    def _resumptions(self) -> Iterator[Agenda]:
        finished: dict[Any, Thread] = {}
        for thread in self._threads:
            for level in _levels(thread):
                finished.setdefault(level.key(), level)
        at = self._fault.start
        for _ in range(REACH):
            for thread in finished.values():
                if self._may_go_on(thread, at):
                    yield _agenda(at, [thread])
            if at >= len(self._text):
                return
            at = self._over_white(lexeme(self._text, at, self._terminals))
            here = [thread for thread in self._threads if self._may_go_on(thread, at)]
            if here:
                yield _agenda(at, here)

    def _may_go_on(self, thread: Thread, at: int) -> bool:
        """Whether some terminal of the thread's own rule stands at ``at``."""
        text, at = self._text, self._over_white(at)
        slot = thread.slot
        while isinstance(slot, (CloseSlot, AssignSlot)):
            slot = slot.next
        table = table_of(slot)
        if not table.plain:
            return True
        paths = table.at(text[at]) if at < len(text) else table.paths
        return any(
            path.match is not None and path.match.terminal.match(text, at) >= 0 for path in paths
        )

    def _over_white(self, at: int) -> int:
        while at < len(self._text) and self._text[at].isspace():
            at += 1
        return at

    def _limit(self, at: int) -> int:
        """The end of the lexemes that a repair at ``at`` has to read."""
        if at not in self._limits:
            limit = at
            for _ in range(CONFIDENCE + 1):
                limit = lexeme(self._text, self._over_white(limit), self._terminals)
            self._limits[at] = limit
        return self._limits[at]

    def _lexemes_read(self, agenda: Agenda) -> int:
        """How many lexemes are read from ``agenda``, up to ``CONFIDENCE``."""
        at = agenda.first()
        machine = _Sample(self._skipper, self._text, 0, True, agenda)
        machine.limit = self._limit(at)
        machine.run()
        if machine.accepted or machine.passed:
            return CONFIDENCE
        read = 0
        while at < machine.furthest and read < CONFIDENCE:
            at = lexeme(self._text, self._over_white(at), self._terminals)
            read += 1
        return read


class _Sample(Machine):
    """A run that stops when it has read far enough."""

    limit = 0
    passed = False

    def run(self) -> None:
        """Process positions up to the limit."""
        while self.threads:
            if min(self.threads) >= self.limit and self.limit < len(self.text):
                self.passed = True
                return
            self.step()


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
