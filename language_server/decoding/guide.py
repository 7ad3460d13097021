"""What the decoder asks of a prefix: ``language_server.projection.Prefix`` answers it."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from language_server.syntax import Opening

_Answer = TypeVar("_Answer")


class Verdict(Protocol):
    """The answer to *can this prefix be completed?*; a ``yes`` carries the text that does it."""

    @property
    def answer(self) -> Literal["yes", "no", "unknown"]: ...

    @property
    def witness(self) -> str | None: ...

    @property
    def reasons(self) -> tuple[str, ...]: ...


class Openings(Protocol):
    """What a prefix leaves open (``language_server.projection.Openings``)."""

    @property
    def behind(self) -> bool:
        """Whether they are behind terminals that are only assumed to end here."""

    @property
    def each(self) -> Sequence[Opening]:
        """The openings, without the place and the text: equal ones are read on alike."""

    def begins_comment(self, char: str) -> bool:
        """Whether a comment may start with ``char`` before a terminal."""

    def admits(self, number: int) -> bool | tuple[str, ...]:
        """Whether an opening may go on: in any way, in no way, or with one of some texts."""


class Guide(Protocol):
    """A persistent value that knows what a prefix still allows."""

    @property
    def text(self) -> str:
        """The whole prefix."""

    @property
    def alive(self) -> bool:
        """False only if it is certain that nothing completes the prefix."""

    @property
    def complete(self) -> bool:
        """Whether the text may end here."""

    @property
    def parses(self) -> bool:
        """Whether the grammar lets the text end here, whatever else is against it."""

    @property
    def in_comment(self) -> bool:
        """Whether the prefix ends inside a comment."""

    @property
    def comment_end(self) -> str:
        """A short text that ends the comment the prefix ends in; '' if there is none."""

    @property
    def obligations(self) -> int:
        """How much is still missing before the text may end, as far as constraints tell."""

    @property
    def judged(self) -> Guide:
        """The same prefix by all rules of the language, where this guide knows only some."""

    def ends_unit(self, since: int) -> bool:
        """Whether a syntactic unit has certainly ended behind the first ``since`` characters."""

    @property
    def future(self) -> Hashable | None:
        """What decides how the text may go on: guides with equal ones have equal answers.

        None where that cannot be told.
        """

    def openings(self) -> Openings | None:
        """What is open at the end; None where that is not all there is to know."""

    def openings_behind(self) -> Openings | None:
        """The same, if the terminals that are whole at the end of the prefix end there."""

    def may_follow(self, char: str) -> bool:
        """False only if no text goes on with ``char``; cheaper than to advance and see."""

    def advance(self, text: str) -> Guide:
        """The prefix followed by ``text``."""

    def forced(self) -> str:
        """Text that must come next whatever the model says; '' if there is none."""

    def usual(self) -> str:
        """Text that comes next if it is laid out as the language's examples are; '' if none."""

    def expected(self) -> Sequence[Any]:
        """The terminals that may stand at the end (see ``language_server.syntax.Expected``)."""

    def completable(self, effort: Any = None) -> Verdict:
        """Whether some text completes the prefix; ``effort`` is the projection's to read."""


@dataclass(frozen=True, slots=True)
class Unguided:
    """The guide that allows everything: what ``free`` decodes with."""

    text: str = ""
    alive: bool = True
    complete: bool = True
    parses: bool = True
    in_comment: bool = False
    comment_end: str = ""
    obligations: int = 0
    future: Hashable | None = None

    @property
    def judged(self) -> Unguided:
        return self

    def ends_unit(self, since: int) -> bool:
        return False

    def openings(self) -> Openings | None:
        return None

    def openings_behind(self) -> Openings | None:
        return None

    def may_follow(self, char: str) -> bool:
        return True

    def advance(self, text: str) -> Unguided:
        return Unguided(self.text + text)

    def forced(self) -> str:
        return ""

    def usual(self) -> str:
        return ""

    def expected(self) -> Sequence[Any]:
        return ()

    def completable(self, effort: Any = None) -> Verdict:
        return _EmptyWitness()


@dataclass(frozen=True, slots=True)
class _EmptyWitness:
    answer: Literal["yes", "no", "unknown"] = "yes"
    witness: str | None = ""
    reasons: tuple[str, ...] = ()


@dataclass(slots=True)
class Clock:
    """Seconds spent on each part of a generation."""

    model: float = 0.0
    syntax: float = 0.0
    semantics: float = 0.0
    started: float = field(default_factory=time.perf_counter)

    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started


class Metered:
    """A guide that counts its time: advancing is syntax, what a prefix is asked is semantics.

    Before each of both ``check_time`` is called; it may raise.
    """

    __slots__ = ("_check_time", "_clock", "_guide", "_text")

    def __init__(self, guide: Guide, clock: Clock, check_time: Callable[[], None]) -> None:
        self._guide = guide
        self._clock = clock
        self._check_time = check_time
        self._text: str | None = None

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = self._guide.text
        return self._text

    @property
    def alive(self) -> bool:
        return self._timed(lambda: self._guide.alive)

    @property
    def complete(self) -> bool:
        return self._timed(lambda: self._guide.complete)

    @property
    def parses(self) -> bool:
        return self._timed(lambda: self._guide.parses)

    @property
    def in_comment(self) -> bool:
        return self._guide.in_comment

    @property
    def comment_end(self) -> str:
        return self._guide.comment_end

    @property
    def obligations(self) -> int:
        return self._timed(lambda: self._guide.obligations)

    @property
    def judged(self) -> Metered:
        return self._timed(lambda: self._behind(self._guide.judged))

    def ends_unit(self, since: int) -> bool:
        return self._timed(lambda: self._guide.ends_unit(since))

    @property
    def future(self) -> Hashable | None:
        return self._timed(lambda: self._guide.future)

    def openings(self) -> Openings | None:
        return self._timed(self._guide.openings)

    def openings_behind(self) -> Openings | None:
        return self._timed(self._guide.openings_behind)

    def may_follow(self, char: str) -> bool:
        started = time.perf_counter()
        answer = self._guide.may_follow(char)
        self._clock.syntax += time.perf_counter() - started
        return answer

    def advance(self, text: str) -> Metered:
        self._check_time()
        started = time.perf_counter()
        after = self._guide.advance(text)
        self._clock.syntax += time.perf_counter() - started
        return self._behind(after)

    def forced(self) -> str:
        return self._timed(self._guide.forced)

    def usual(self) -> str:
        return self._timed(self._guide.usual)

    def expected(self) -> Sequence[Any]:
        return self._timed(self._guide.expected)

    def completable(self, effort: Any = None) -> Verdict:
        return self._timed(lambda: self._guide.completable(effort))

    def _behind(self, guide: Guide) -> Metered:
        return Metered(guide, self._clock, self._check_time)

    def _timed(self, ask: Callable[[], _Answer]) -> _Answer:
        self._check_time()
        started = time.perf_counter()
        answer = ask()
        self._clock.semantics += time.perf_counter() - started
        return answer
