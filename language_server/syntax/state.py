"""Parse states: a prefix of a text and all readings of it, as a persistent value."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from language_server.syntax.agenda import IN_COMMENT, Agenda, Waiting
from language_server.syntax.events import Trail
from language_server.syntax.fillable import fillable
from language_server.syntax.frames import Guard, Thread, flush
from language_server.syntax.futures import Told, future
from language_server.syntax.machine import Machine
from language_server.syntax.openings import Opening, begun, openings, openings_behind
from language_server.syntax.readings import MOST_READINGS, Reading, readings
from language_server.syntax.slots import MatchSlot, Mode
from language_server.syntax.terminals import Terminal
from language_server.syntax.values import begun as begun_value

if TYPE_CHECKING:
    from language_server.syntax.layout import Skipper

#: Characters kept before the first position that is still open, for patterns that look back.
LOOK_BEHIND = 256
#: The kept text is cut only when at least this much of it has become useless.
CUT = 4096


@dataclass(frozen=True, slots=True)
class Expected:
    """A terminal that may stand at the end of a prefix, in one reading of it.

    Attributes:
        terminal: the terminal.
        trail: the events of this reading before the terminal, objects that begin with it included.
        start: where the terminal starts, behind white space and comments.
        typed: what of it is already there.
        whole: whether ``typed`` is itself a full match.
        rule: the rule around it.
        reader: the name under which textX converts it (``STRING``: without its quotes).
        cls: class of the object under construction, None outside of objects.
        feature: the feature the terminal fills, alone or as part of a longer value.
        many: whether that feature is a list.
        target: the class referred to where it fills a reference.
        value_start: where the value it is part of started (``start`` for its first terminal).
        value_begun: the text of that value before this terminal, as textX joins it.
        remaining: a lower bound of the characters of any completion that takes this terminal,
            ``typed`` not counted.
        reading: the way down the stack of the parse.
    """

    terminal: Terminal
    trail: Trail
    start: int
    typed: str
    whole: bool
    rule: str
    reader: str
    cls: str | None
    feature: str | None
    many: bool
    target: str | None
    value_start: int
    value_begun: str
    remaining: int
    reading: Reading = field(compare=False, repr=False)

    @property
    def fillable(self) -> tuple[tuple[frozenset[str], str | None], ...]:
        """What the objects under construction can still get; see ``fillable.fillable``."""
        return fillable(self.reading)


class Text:
    """A text as a chain of pieces, joined when somebody asks for it."""

    __slots__ = ("_before", "_joined", "_piece", "length")

    def __init__(self, before: Text | None, piece: str) -> None:
        self._before = before
        self._piece = piece
        self._joined: str | None = None
        self.length: int = len(piece) + (before.length if before is not None else 0)

    def join(self) -> str:
        """The whole text."""
        if self._joined is None:
            pieces: list[str] = []
            text: Text | None = self
            while text is not None:
                if text._joined is not None:
                    pieces.append(text._joined)
                    break
                pieces.append(text._piece)
                text = text._before
            self._joined = "".join(reversed(pieces))
            self._before = None
        return self._joined


class ParseState:
    """A prefix of a text with everything needed to go on; a value, never changed by ``advance``.

    Attributes:
        length: number of characters of the prefix.
        agenda: the threads before what the end of the prefix leaves open; None if it is dead.
        skipper: what skips white space and comments for this grammar.
        alive: False only if textX accepts no text that begins with the prefix.
    """

    __slots__ = (
        "_expected",
        "_explored",
        "_finished",
        "_followers",
        "_readings",
        "_shift",
        "_text",
        "_window",
        "agenda",
        "alive",
        "length",
        "skipper",
    )

    def __init__(
        self, skipper: Skipper, text: Text, window: str, shift: int, agenda: Agenda | None
    ) -> None:
        self.skipper = skipper
        self._text = text
        self.length = text.length
        self._expected: tuple[Expected, ...] | None = None
        self._finished: tuple[Trail | None] | None = None
        self._followers: dict[str, bool] = {}
        self._readings: dict[tuple[Waiting, frozenset[Guard]], tuple[Expected, ...]] = {}
        self.agenda: Agenda | None = None
        self._explored: Machine | None = None
        self.alive = False
        self._window = window
        self._shift = shift
        if agenda is not None:
            machine = Machine(skipper, window, shift, False, agenda)
            self.alive = machine.advance()
            if self.alive:
                self.agenda = machine.base
            self._cut()

    @property
    def text(self) -> str:
        """The prefix."""
        return self._text.join()

    @property
    def in_comment(self) -> bool:
        """Whether the prefix ends inside a comment, or in what can only become one."""
        waiting = self._explore().waiting
        return bool(waiting) and (
            any(each.comment == IN_COMMENT for each in waiting)
            or all(each.comment for each in waiting)
        )

    def advance(self, text: str) -> ParseState:
        """The state behind ``text``; feeding a text in pieces equals feeding it at once."""
        if text == "":
            return self
        return ParseState(
            self.skipper,
            Text(self._text, text),
            self._window + text if self.agenda is not None else "",
            self._shift,
            self.agenda,
        )

    def alone(self, expected: Expected) -> ParseState:
        """The state behind an expected keyword if that is what is read, and nothing else can be.

        It does not hang on the white space and the comments before the keyword.
        """
        rest = expected.terminal.text[len(expected.typed) :]
        thread = expected.reading.alone()
        agenda = Agenda({expected.start: {thread.key(): thread}}, {}, frozenset())
        text = Text(self._text, rest)
        return ParseState(self.skipper, text, self._window + rest, self._shift, agenda)

    @property
    def goes_on(self) -> bool:
        """Whether a terminal may stand at the end of the prefix, or go on there."""
        return bool(self._explore().waiting)

    def expected(self) -> tuple[Expected, ...]:
        """The terminals that may stand at the end of the prefix, the preferred reading first."""
        if self._expected is None:
            in_order = sorted(self._explore().waiting, key=lambda waiting: waiting.start)
            won = self._explore().won
            self._expected = tuple(e for each in in_order for e in self.readings_of(each, won))
        return self._expected

    def future(self, told: Told | None) -> Hashable | None:
        """What decides how the text may go on; None where terminals ask for what is before them.

        States of one grammar with equal futures are alive behind the same texts, and finished.

        Args:
            told: what of the events that have been read is to be equal too; None for nothing.
        """
        if self.agenda is None or self.skipper.looks_back:
            return None
        explored = self._explore()
        at_end = begun(self, explored, told is not None)
        if at_end is None:
            return future(self.agenda, self.text_from(self.agenda.first()), told)
        threads = dict(enumerate(waiting.thread for waiting in at_end[0]))
        rest = (at_end[1], *explored.skipped)
        return future(Agenda({0: threads}, explored.open, explored.won), rest, told)

    def openings(self) -> tuple[Opening, ...] | None:
        """What the end of the prefix leaves open; None where that is not all there is to know."""
        return openings(self, self._explore())

    def begins_comment(self, char: str) -> bool:
        """Whether a comment may start with ``char``."""
        return self.skipper.begins_comment(char)

    def openings_behind(self) -> tuple[Opening, ...] | None:
        """As ``openings``, if the terminals that are whole end here."""
        return openings_behind(self, self._explore())

    def readings_of(self, waiting: Waiting, won: frozenset[Guard]) -> tuple[Expected, ...]:
        """The readings that depend on one of the waiting threads where some guards have won."""
        known = self._readings.get((waiting, won))
        if known is None:
            known = self._readings[waiting, won] = tuple(self._expect(waiting, won))
        return known

    def each_reading_of(self, waiting: Waiting, won: frozenset[Guard]) -> Iterator[Expected]:
        """The same one by one, found as they are asked for."""
        known = self._readings.get((waiting, won))
        return self._expect(waiting, won) if known is None else iter(known)

    def each_expected(self) -> Iterator[Expected]:
        """As ``expected``, in no order, one by one."""
        explored = self._explore()
        for waiting in explored.waiting:
            yield from self.each_reading_of(waiting, explored.won)

    def text_from(self, place: int) -> str:
        """The text from ``place`` on, which must be behind what is decided."""
        return self._window[place - self._shift :]

    @property
    def exhaustive(self) -> bool:
        """Whether ``expected`` tells all readings apart; if not, there are more than it names."""
        explored = self._explore()
        return all(
            len(list(readings(waiting.thread, explored.won))) < MOST_READINGS
            for waiting in explored.waiting
        )

    def finish(self) -> Trail | None:
        """The events of the text if it ended here and textX accepted it, else None."""
        if self._finished is None:
            self._finished = (self._close(),)
        return self._finished[0]

    def skips(self, before: str = "") -> str:
        """The characters of white space that would be skipped here, in some reading.

        Args:
            before: if given, only those readings count that take this text for their next terminal.
        """
        white: dict[str, None] = {}
        for waiting in self._explore().waiting:
            slot = waiting.thread.slot
            if not isinstance(slot, MatchSlot) or waiting.start != self.length:
                continue
            if not before or slot.terminal.match(before, 0) == len(before):
                white.update(dict.fromkeys(slot.layout.white))
        return "".join(white)

    def may_follow(self, char: str) -> bool:
        """False only if no text goes on with ``char`` here: cheaper than ``advance``."""
        known = self._followers.get(char)
        if known is None:
            known = self._followers[char] = self._fits(char)
        return known

    def _fits(self, char: str) -> bool:
        waiting = self._explore().waiting
        if any(each.comment for each in waiting) or self.skipper.begins_comment(char):
            return True
        for thread, start, end, _ in waiting:
            slot = thread.slot
            assert isinstance(slot, MatchSlot)
            at = start - self._shift
            typed = self._window[at:]
            if typed:
                if slot.terminal.matches_prefix(typed + char):
                    return True
                # A pattern that looks ahead may end before ``char``, and only because of it.
                found = slot.terminal.match(self._window + char, at)
                if found >= 0 and found + self._shift != end:
                    return True
            elif slot.terminal.can_start(char) or char in slot.layout.white:
                return True
        return False

    def comment_begun(self) -> str:
        """What is there of the comment that the prefix ends in; '' where it ends in none."""
        at = self.agenda.first() - self._shift if self.agenda is not None else 0
        text = self._window
        while at < len(text):
            behind = at + 1
            for terminal in reversed(self.comment_terminals()):
                if terminal.can_start(text[at]):
                    end = terminal.match(text, at)
                    if terminal.undecided(text, at, end):
                        return text[at:]
                    behind = end if end > at else behind
            at = behind
        return ""

    def comment_terminals(self) -> tuple[Terminal, ...]:
        """The terminals that are whole comments of the language."""
        return self.skipper.comment_terminals() or ()

    def _explore(self) -> Machine:
        """A run over what the end of the text leaves open, with all threads that wait there."""
        if self._explored is None:
            agenda = self.agenda if self.agenda is not None else Agenda({}, {}, frozenset())
            self._explored = Machine(self.skipper, self._window, self._shift, False, agenda)
            self._explored.run()
        return self._explored

    def _close(self) -> Trail | None:
        if self.agenda is None:
            return None
        machine = Machine(self.skipper, self._window, self._shift, True, self.agenda)
        machine.run()
        return next((t.trail for t in machine.accepted if not t.conditions), None)

    def _cut(self) -> None:
        if self.agenda is None:
            self._window = ""
            return
        useless = self.agenda.first() - LOOK_BEHIND - self._shift
        if useless > CUT:
            self._window = self._window[useless:]
            self._shift += useless

    def _expect(self, waiting: Waiting, won: frozenset[Guard]) -> Iterator[Expected]:
        thread, start = waiting.thread, waiting.start
        slot = thread.slot
        assert isinstance(slot, MatchSlot)
        typed = "" if waiting.comment else self._window[start - self._shift :]
        missing = max(slot.terminal.width - len(typed), 0)
        rest = slot.behind + thread.frame.rest()
        for reading in readings(thread, won):
            sink = slot.sink if slot.sink is not None else reading.sink()
            value = None
            if slot.home.mode in (Mode.VALUE, Mode.ABSTRACT):
                value = begun_value(reading.parts())
            yield Expected(
                terminal=slot.terminal,
                trail=flush(reading.trail, reading.pending, start),
                start=start,
                typed=typed,
                whole=waiting.end == self.length and typed != "",
                rule=slot.home.name,
                reader=slot.reader,
                cls=reading.cls(),
                feature=sink.feature if sink is not None else None,
                many=sink.many if sink is not None else False,
                target=sink.target if sink is not None else None,
                value_start=value[0] if value is not None else start,
                value_begun=value[1] if value is not None else "",
                remaining=missing + int(rest) if rest != float("inf") else 1 << 30,
                reading=reading,
            )


def start(skipper: Skipper, thread: Thread) -> ParseState:
    """The state before any text."""
    agenda = Agenda({0: {thread.key(): thread}}, {}, frozenset())
    return ParseState(skipper, Text(None, ""), "", 0, agenda)
