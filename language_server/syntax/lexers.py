"""What a terminal still can become, for all texts alike: a lazily made automaton of each terminal.

A *lexical state* stands for all texts behind which a terminal has the same future. What is true of
a state - whether more text could still belong to the terminal - is asked of the terminal itself,
for one text of the state. Which texts share a state is found by running the regular expression on
all its alternatives at once, in the order in which a backtracking matcher prefers them (Thompson's
simulation with priorities, as in RE2; look-ahead is an automaton that runs beside). Where an
expression has what cannot be run so, each text is a state of its own.
"""

from __future__ import annotations

import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from language_server.syntax.terminals import Terminal

#: Instructions of one expression, at most: counted repetitions are written out.
_MOST_INSTRUCTIONS = 2000


class Outcome(Enum):
    """What the end of a text says of a terminal that begins where the text begins."""

    OPEN = 0  #: more text may belong to it, or change where it ends
    ENDED = 1  #: it has ended, whatever follows
    FAILED = 2  #: it cannot stand here


@dataclass(eq=False)
class LexicalState:
    """All texts behind which a terminal has the same future.

    Attributes:
        text: one of them.
        outcome: see :class:`Outcome`.
        whole: whether the text is all of a match.
        apart: whether the terminal, if it has ended, ended right before the last character.
    """

    lexer: Lexer
    text: str
    key: object
    outcome: Outcome
    whole: bool
    apart: bool
    _next: dict[str, LexicalState] = field(default_factory=dict)

    @property
    def tells_all(self) -> bool:
        """Whether two texts of this state are read alike even by what follows the terminal.

        That is so unless it may still turn out to have ended inside the text.
        """
        return not isinstance(self.key, _Threads) or not self.key.may_end_inside

    def then(self, char: str) -> LexicalState:
        """The state one character later."""
        kind = self.lexer.kind(char)
        behind = self._next.get(kind)
        if behind is None:
            behind = self._next[kind] = self.lexer.step(self, kind)
        return behind


class Lexer:
    """The automaton of one terminal; made once, see :func:`lexer_of`."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self._program = _program(terminal)
        self._states: dict[object, LexicalState] = {}
        self._kinds: dict[str, str] = {}
        self._by_tests: dict[tuple[bool, ...], str] = {}
        begin = _Threads((_Thread(0, ()),), None, False) if self._program is not None else ""
        #: The state before any text.
        self.start = LexicalState(self, "", begin, Outcome.OPEN, False, False)

    def read(self, text: str) -> LexicalState:
        """The state behind ``text``."""
        state = self.start
        for char in text:
            state = state.then(char)
        return state

    def kind(self, char: str) -> str:
        """A character that the terminal cannot tell from ``char``."""
        known = self._kinds.get(char)
        if known is None:
            known = self._kinds[char] = self._kind(char)
        return known

    def step(self, state: LexicalState, char: str) -> LexicalState:
        """The state behind ``char``, which is a kind of its own."""
        text = state.text + char
        key: object = text
        if self._program is not None:
            key = self._program.step(state.key, char)
        end = self.terminal.match(text, 0)
        if self.terminal.undecided(text, 0, end):
            outcome = Outcome.OPEN
        else:
            outcome = Outcome.ENDED if end >= 0 else Outcome.FAILED
        whole, apart = end == len(text), end == len(text) - 1
        behind = LexicalState(self, text, key, outcome, whole, apart)
        return self._states.setdefault((key, outcome, whole, apart), behind)

    def _kind(self, char: str) -> str:
        if self._program is None:
            spelling = self.terminal.text
            if not spelling or char.lower() in spelling.lower():
                return char
            tests: tuple[bool, ...] = (_is_word(char),)
        else:
            tests = self._program.tests(char)
        return self._by_tests.setdefault(tests, char)


@lru_cache(maxsize=4096)
def lexer_of(terminal: Terminal) -> Lexer:
    """The automaton of a terminal."""
    return Lexer(terminal)


class _Thread(NamedTuple):
    """One alternative: the instruction it is at, and the look-aheads it depends on."""

    place: int
    ahead: tuple[_Ahead, ...]


class _Ahead(NamedTuple):
    """A look-ahead that runs: whether it is wanted, and the instructions it may be at."""

    wanted: bool
    places: tuple[int, ...]


class _Threads(NamedTuple):
    """The alternatives, preferred ones first.

    Attributes:
        word_before: of the character before them, whether it is part of a word.
        may_end_inside: whether there is a match that ends before the end of the text, and counts
            if nothing comes of these alternatives.
    """

    threads: tuple[_Thread, ...]
    word_before: bool | None
    may_end_inside: bool


# Instructions: (operation, argument, places to go on at).
_TAKE, _SPLIT, _ASSERT, _AHEAD, _MATCH = range(5)
_Instruction = tuple[int, Any, tuple[int, ...]]


class _Unsupported(Exception):
    """The expression has what the simulation does not know."""


class _Program:
    """A regular expression as instructions."""

    def __init__(self, parsed: Any) -> None:
        self._code: list[_Instruction] = []
        self._looks_ahead = False  # inside a look-ahead, while it is compiled
        end = self._emit(_MATCH, None)
        # The first instruction is where the expression begins.
        begin = self._sequence(list(parsed), end)
        self._code.append((_SPLIT, None, (begin,)))
        self._code[0], self._code[-1] = self._code[-1], self._code[0]
        last = len(self._code) - 1
        self._code = [
            (operation, argument, tuple(last if place == 0 else place for place in places))
            for operation, argument, places in self._code
        ]

    def tests(self, char: str) -> tuple[bool, ...]:
        """Everything the expression can tell of a character."""
        takes = (
            _takes(argument, char) for operation, argument, _ in self._code if operation == _TAKE
        )
        return (*takes, _is_word(char), char == "\n")

    def step(self, before: Any, char: str) -> _Threads:
        """The alternatives one character later."""
        context = (before.word_before, char)
        after: dict[_Thread, None] = {}
        seen: set[_Thread] = set()
        matched = any(self._run(thread, context, after, seen) for thread in before.threads)
        # A match that is possible at the end of the text is preferred to all earlier ones.
        matches = any(self._matches(thread) for thread in after)
        waits = any(self._code[thread.place][0] == _MATCH for thread in after)
        inside = waits or ((matched or before.may_end_inside) and not matches)
        return _Threads(tuple(after), _is_word(char), inside)

    def _matches(self, thread: _Thread) -> bool:
        """Whether a thread has matched at the end of the text, whatever follows."""
        places = [thread.place] if not thread.ahead else []
        for place in places:
            operation, _, to = self._code[place]
            if operation == _MATCH:
                return True
            if operation == _SPLIT:
                places += [each for each in to if each not in places]
        return False

    def _run(
        self,
        thread: _Thread,
        context: tuple[bool | None, str],
        after: dict[_Thread, None],
        seen: set[_Thread],
    ) -> bool:
        """Follow a thread over ``char``; True if it has matched before it, for certain."""
        if thread in seen:
            return False
        seen.add(thread)
        place, ahead = thread
        operation, argument, places = self._code[place]
        if operation == _SPLIT:
            return any(self._run(_Thread(to, ahead), context, after, seen) for to in places)
        if operation == _ASSERT:
            holds = _holds(argument, context)
            return holds and self._run(_Thread(places[0], ahead), context, after, seen)
        if operation == _AHEAD:
            wanted, begin = argument
            more = _Ahead(wanted, (begin,))
            ahead = ahead if more in ahead else (*ahead, more)
            return self._run(_Thread(places[0], ahead), context, after, seen)
        left = self._look(ahead, context)
        if left is None:
            return False
        if operation == _MATCH:
            if not left:
                return True
            after[_Thread(place, left)] = None
        elif _takes(argument, context[1]):
            after[_Thread(places[0], left)] = None
        return False

    def _look(
        self, ahead: tuple[_Ahead, ...], context: tuple[bool | None, str]
    ) -> tuple[_Ahead, ...] | None:
        """The look-aheads that are left behind the character; None if one has failed."""
        left: list[_Ahead] = []
        for wanted, places in ahead:
            after: dict[_Thread, None] = {}
            seen: set[_Thread] = set()
            matched = any(self._run(_Thread(place, ()), context, after, seen) for place in places)
            if matched or not after:
                if matched != wanted:
                    return None
            else:
                left.append(_Ahead(wanted, tuple(thread.place for thread in after)))
        return tuple(left)

    # -- compiling --------------------------------------------------------------------------------

    def _emit(self, operation: int, argument: Any, *places: int) -> int:
        if len(self._code) > _MOST_INSTRUCTIONS:
            raise _Unsupported
        self._code.append((operation, argument, places))
        return len(self._code) - 1

    def _sequence(self, items: list[Any], end: int) -> int:
        for operation, argument in reversed(items):
            end = self._item(operation, argument, end)
        return end

    def _item(self, operation: Any, argument: Any, end: int) -> int:
        if operation in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            return self._emit(_TAKE, (operation, argument), end)
        if operation is sre.BRANCH:
            branches = [self._sequence(list(branch), end) for branch in argument[1]]
            return self._emit(_SPLIT, None, *branches)
        if operation is sre.SUBPATTERN:
            _, adding, removing, body = argument
            if adding or removing:
                raise _Unsupported
            return self._sequence(list(body), end)
        if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            return self._repeat(operation is sre.MAX_REPEAT, argument, end)
        if operation is sre.AT and argument in _ASSERTIONS:
            return self._emit(_ASSERT, argument, end)
        if operation in (sre.ASSERT, sre.ASSERT_NOT) and argument[0] == 1:
            if self._looks_ahead:
                raise _Unsupported
            self._looks_ahead = True
            begin = self._sequence(list(argument[1]), self._emit(_MATCH, None))
            self._looks_ahead = False
            return self._emit(_AHEAD, (operation is sre.ASSERT, begin), end)
        raise _Unsupported

    def _repeat(self, greedy: bool, rounds: tuple[int, Any, Any], end: int) -> int:
        low, high, body = rounds
        items = list(body)
        if high is sre.MAXREPEAT:
            loop = self._emit(_SPLIT, None)
            begin = self._sequence(items, loop)
            self._code[loop] = (_SPLIT, None, (begin, end) if greedy else (end, begin))
            end = loop
        else:
            behind = end
            for _ in range(high - low):
                begin = self._sequence(items, end)
                # An optional round that is not taken ends the repetition.
                end = self._emit(_SPLIT, None, *((begin, behind) if greedy else (behind, begin)))
        for _ in range(low):
            end = self._sequence(items, end)
        return end


def _program(terminal: Terminal) -> _Program | None:
    """The terminal's expression as a program; None where each text is a state of its own."""
    matcher = terminal.matcher
    if matcher is None or terminal.boundary:
        return None
    if matcher.flags & (re.IGNORECASE | re.ASCII | re.DOTALL) or not matcher.flags & re.MULTILINE:
        return None
    try:
        return _Program(sre_parser.parse(matcher.pattern, matcher.flags & ~re.DEBUG))
    except _Unsupported:
        return None


_ASSERTIONS = (sre.AT_BOUNDARY, sre.AT_NON_BOUNDARY, sre.AT_END)


def _holds(assertion: Any, context: tuple[bool | None, str]) -> bool:
    before, char = context
    if assertion is sre.AT_END:
        return char == "\n"
    return (bool(before) != _is_word(char)) == (assertion is sre.AT_BOUNDARY)


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _takes(item: Any, char: str) -> bool:
    """Whether a single character fits an item of an expression."""
    operation, argument = item
    if operation is sre.ANY:
        return char != "\n"
    if operation is sre.LITERAL:
        return ord(char) == int(argument)
    if operation is sre.NOT_LITERAL:
        return ord(char) != int(argument)
    negated = bool(argument) and argument[0][0] is sre.NEGATE
    return any(_in_set(part, char) for part in argument) != negated


def _in_set(part: Any, char: str) -> bool:
    operation, argument = part
    if operation is sre.NEGATE:
        return False
    if operation is sre.LITERAL:
        return ord(char) == int(argument)
    if operation is sre.RANGE:
        return bool(argument[0] <= ord(char) <= argument[1])
    return bool(_CATEGORIES[argument](char))


_CATEGORIES: dict[Any, Any] = {
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_NOT_DIGIT: lambda char: not char.isdecimal(),
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    sre.CATEGORY_WORD: _is_word,
    sre.CATEGORY_NOT_WORD: lambda char: not _is_word(char),
}
