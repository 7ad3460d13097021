"""The compiled grammar: slots, the instructions that threads of a parse run.

A rule's body is compiled in continuation-passing style: each slot knows what follows it *within its
rule*. What follows a success may depend on what Arpeggio would have returned for it (its
``Result``), because ordered choices and repetitions ask whether a result is ``None`` or falsy; such
continuations are compiled for each result on its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from language_server.syntax.terminals import Terminal

if TYPE_CHECKING:
    from language_server.syntax.tables import Table


class Result(IntEnum):
    """What Arpeggio's parse of an expression returns, as far as the control flow depends on it."""

    NONE = 0  #: ``None``: an ordered choice goes on to its next alternative
    EMPTY = 1  #: an empty list: false, but not ``None``
    BARE = 2  #: a non-terminal without children: false, but not ``None``
    HOLLOW = 3  #: a list that is true and holds no node
    TEXT = 4  #: terminals
    NODE = 5  #: at least one non-terminal

    @property
    def true(self) -> bool:
        """Whether Python takes the result for true."""
        return self >= Result.HOLLOW


class Mode(IntEnum):
    """What the terminals and rules under an expression mean for the model."""

    OBJECT = 0  #: the body of a common rule
    ABSTRACT = 1  #: the body of an abstract rule: its first non-terminal is the value
    VALUE = 2  #: part of a value: terminals are gathered
    SILENT = 3  #: nothing


@dataclass(frozen=True, slots=True)
class Sink:
    """Where a value goes: a feature of the object under construction.

    Attributes:
        feature: name of the feature, None for the root of the model.
        many: whether the feature is a list.
        target: class referred to if the value is a reference by name, else None.
        flag: True for ``?=``, whose value is True whatever is read.
        rule: name of the rule that reads the value.
    """

    feature: str | None
    many: bool
    target: str | None
    flag: bool
    rule: str


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What is skipped before a terminal besides comments; equal ones are the same object.

    Attributes:
        white: characters of white space skipped; none where ``skips`` is False.
        skips: Arpeggio's ``skipws``.
    """

    white: str
    skips: bool


class Slot:
    """An instruction; ``rest`` is the least number of characters up to the end of the rule."""

    __slots__ = ("home", "rest", "table")
    op = -1

    def __init__(self, home: Body, rest: float) -> None:
        self.home = home
        self.rest = rest
        self.table: Table | None = None


class Body:
    """A rule's body compiled for one environment.

    Attributes:
        name: the rule.
        mode: what it means for the model.
        cls: the class its objects have (``Mode.OBJECT`` only).
        sink: where an abstract rule's value goes.
        start: its first slot (compiled on demand).
        least: the least number of characters of a text of the rule.
    """

    __slots__ = ("_compile", "_start", "cls", "key", "least", "mode", "name", "sink")

    def __init__(
        self,
        name: str,
        mode: Mode,
        cls: str | None,
        sink: Sink | None,
        least: float,
        compile_start: Callable[[Body], Slot],
    ) -> None:
        self.name = name
        self.mode = mode
        self.cls = cls
        self.sink = sink
        self.least = least
        self._compile = compile_start
        self._start: Slot | None = None

    @property
    def start(self) -> Slot:
        """The first slot of the body."""
        if self._start is None:
            self._start = self._compile(self)
        return self._start

    def __repr__(self) -> str:
        return f"Body({self.name}, {self.mode.name})"


#: What to do with the text of a terminal.
NOTHING, ASSIGN, GATHER = 0, 1, 2


class Continuation:
    """What follows an expression, by its result; slots are compiled on demand."""

    __slots__ = ("_slots", "_to", "rest")

    def __init__(self, to: Callable[[Result], Slot], rest: float) -> None:
        self._to = to
        self._slots: dict[Result, Slot] = {}
        self.rest = rest

    def __call__(self, result: Result) -> Slot:
        slot = self._slots.get(result)
        if slot is None:
            slot = self._slots[result] = self._to(result)
        return slot


class MatchSlot(Slot):
    """Match a terminal, after white space and comments.

    Attributes:
        node: the expression it was compiled from.
        loud: whether the terminal becomes part of the parse tree.
        effect: NOTHING, ASSIGN (to ``sink``) or GATHER (into the value that is being read).
        reader: the name under which textX converts the text.
        sink: the feature this terminal belongs to, directly or through an abstract rule.
        result: what Arpeggio returns for a text of the terminal.
        behind: the least number of characters from behind the terminal to the end of the rule.
    """

    __slots__ = (
        "_after",
        "_next",
        "behind",
        "effect",
        "layout",
        "loud",
        "node",
        "reader",
        "result",
        "sink",
        "terminal",
    )
    op = 0

    def __init__(
        self,
        home: Body,
        node: Any,
        terminal: Terminal,
        layout: Layout,
        loud: bool,
        effect: int,
        reader: str,
        sink: Sink | None,
        result: Result,
        after: Continuation,
    ) -> None:
        super().__init__(home, after.rest + terminal.width)
        self.behind = after.rest
        self.node = node
        self.terminal = terminal
        self.layout = layout
        self.loud = loud
        self.effect = effect
        self.reader = reader
        self.sink = sink
        self.result = result
        self._after = after
        self._next: Slot | None = None

    @property
    def after(self) -> Slot:
        """Where to go on behind a text."""
        if self._next is None:
            self._next = self._after(self.result)
        return self._next

    @property
    def after_empty(self) -> Slot:
        """Where to go on behind the empty match of a regex."""
        return self._after(Result.NONE)


class ChoiceSlot(Slot):
    """Try branches in order; a later one is only right if the earlier ones fail.

    Attributes:
        moving: branches that may read text and yet return ``None``. Arpeggio then tries the next
            branch *behind* that text, and only if it fails the ones after it at the beginning. The
            next branch behind the text is closed as branch ``-1 - index``.
        origin: the expression it was compiled from, and which part of it the first branch reads.
    """

    __slots__ = ("_branches", "_make", "moving", "origin")
    op = 1

    def __init__(
        self,
        home: Body,
        rest: float,
        make: Callable[[ChoiceSlot], Any],
        moving: frozenset[int] = frozenset(),
        origin: tuple[Any, int] | None = None,
    ) -> None:
        super().__init__(home, rest)
        self.moving = moving
        self.origin = origin
        self._make = make
        self._branches: tuple[Slot, ...] | None = None

    @property
    def branches(self) -> tuple[Slot, ...]:
        """The branches in order."""
        if self._branches is None:
            self._branches = tuple(self._make(self))
        return self._branches


class CloseSlot(Slot):
    """A branch of a choice has succeeded."""

    __slots__ = ("_make", "_next", "branch", "choice")
    op = 2

    def __init__(
        self, choice: ChoiceSlot, branch: int, rest: float, make: Callable[[], Slot]
    ) -> None:
        super().__init__(choice.home, rest)
        self.choice = choice
        self.branch = branch
        self._make = make
        self._next: Slot | None = None

    @property
    def next(self) -> Slot:
        """Where to go on."""
        if self._next is None:
            self._next = self._make()
        return self._next


class CallSlot(Slot):
    """Run another rule.

    Attributes:
        body: the rule called.
        opens: class, feature and multiplicity of the object that begins with it, if one does.
        behind: the least number of characters from behind the call to the end of the calling rule.
        sink: where the value read by it goes (for ``Expected``; the assignment has its own slot).
    """

    __slots__ = ("_returns", "_to", "behind", "body", "opens", "sink")
    op = 3

    def __init__(
        self,
        home: Body,
        body: Body,
        opens: tuple[str, str | None, bool] | None,
        sink: Sink | None,
        to: Callable[[Result], Slot],
        rest: float,
    ) -> None:
        super().__init__(home, body.least + rest)
        self.behind = rest
        self.body = body
        self.opens = opens
        self.sink = sink
        self._to = to
        self._returns: list[Slot | None] = [None] * len(Result)

    def to(self, result: Result) -> Slot:
        """Where to go on when the rule has returned ``result``."""
        slot = self._returns[result]
        if slot is None:
            slot = self._returns[result] = self._to(result)
        return slot


class ReturnSlot(Slot):
    """The rule has succeeded."""

    __slots__ = ("result",)
    op = 4

    def __init__(self, home: Body, result: Result) -> None:
        super().__init__(home, 0)
        self.result = result


class PredicateSlot(Slot):
    """Go on only if the text ahead can (``wanted``) or cannot be read from ``probe``."""

    __slots__ = ("_after", "_make_probe", "_probe", "result", "wanted")
    op = 5

    def __init__(
        self,
        home: Body,
        make_probe: Callable[[], Slot],
        wanted: bool,
        result: Result,
        after: Continuation,
    ) -> None:
        super().__init__(home, after.rest)
        self._make_probe = make_probe
        self._probe: Slot | None = None
        self.wanted = wanted
        self.result = result
        self._after = after

    @property
    def probe(self) -> Slot:
        """Where the trial begins; it ends at a return."""
        if self._probe is None:
            self._probe = self._make_probe()
        return self._probe

    @property
    def next(self) -> Slot:
        """Where to go on."""
        return self._after(self.result)


class AssignSlot(Slot):
    """The value that was gathered is complete and goes to ``sink``."""

    __slots__ = ("next", "sink")
    op = 6

    def __init__(self, home: Body, sink: Sink, after: Slot) -> None:
        super().__init__(home, after.rest)
        self.sink = sink
        self.next = after


class FailSlot(Slot):
    """Nothing can follow."""

    __slots__ = ()
    op = 7

    def __init__(self, home: Body) -> None:
        super().__init__(home, float("inf"))


#: A gathered value part: ``(previous, kind, text, rule, start, end)``.
Part = tuple[Any, ...]
