"""Context-free grammars over characters, as servers take them, and what is left of one.

A textX grammar is not context-free: choices are ordered, repetition is greedy, predicates look
ahead. ``approximation`` makes the context-free grammar that has every text of it and some more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

#: Pairs of first and last code point, in order and apart.
Ranges = tuple[tuple[int, int], ...]
# States of more ways than this are not worth what a server would have to make of them.
_MOST_WAYS = 2000


@dataclass(frozen=True, eq=False)
class Characters:
    """One character of a set."""

    ranges: Ranges

    def has(self, character: str) -> bool:
        """Whether a character belongs to the set."""
        return any(low <= ord(character) <= high for low, high in self.ranges)


@dataclass(frozen=True, eq=False)
class Sequence:
    """One expression behind the other."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """One of some expressions."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Repeat:
    """An expression several times; ``most`` is None where there is no limit."""

    part: Expression
    least: int
    most: int | None


@dataclass(frozen=True, eq=False)
class Rule:
    """What the rule of a name says."""

    name: str


Expression: TypeAlias = Characters | Sequence | Choice | Repeat | Rule


@dataclass(frozen=True, eq=False)
class _Stack:
    """What has still to come, the next first; None below is the end."""

    top: Expression
    below: _Stack | None


@dataclass(frozen=True, eq=False)
class ContextFree:
    """A grammar, or what is left of one behind the beginning of a text; a persistent value.

    Attributes:
        rules: expressions by name.
        start: the rule of whole texts.
    """

    rules: Mapping[str, Expression]
    start: str
    _ways: tuple[_Stack | None, ...] | None = None
    _stacks: dict[tuple[int, int], _Stack] = field(default_factory=dict)
    _shorter: dict[tuple[int, int, int | None], Repeat] = field(default_factory=dict)

    def after(self, text: str) -> ContextFree | None:
        """What may follow ``text``; None where nothing does, or too much to be told."""
        ways = self._ways if self._ways is not None else self._opened([self._whole()])
        for character in text:
            taken = (
                way.below
                for way in ways
                if way is not None and isinstance(way.top, Characters) and way.top.has(character)
            )
            ways = self._opened(taken)
            if not ways or len(ways) > _MOST_WAYS:
                return None
        return ContextFree(self.rules, self.start, ways, self._stacks, self._shorter)

    @property
    def may_end(self) -> bool:
        """Whether the text may be finished."""
        ways = self._ways if self._ways is not None else self._opened([self._whole()])
        return None in ways

    def whole(self) -> Expression:
        """The expression of all that may follow."""
        if self._ways is None:
            return Rule(self.start)
        return Choice(tuple(Sequence(tuple(_parts(way))) for way in self._ways))

    def _whole(self) -> _Stack:
        return self._push(Rule(self.start), None)

    def _push(self, top: Expression, below: _Stack | None) -> _Stack:
        key = (id(top), id(below))
        stack = self._stacks.get(key)
        if stack is None:
            # The stack keeps both alive, so that their identities stay theirs.
            stack = self._stacks[key] = _Stack(top, below)
        return stack

    def _opened(self, stacks: Iterable[_Stack | None]) -> tuple[_Stack | None, ...]:
        """The ways that begin with a character, or are at the end."""
        found: dict[_Stack | None, None] = {}
        seen: set[_Stack | None] = set()
        waiting = list(stacks)
        while waiting and len(seen) <= 10 * _MOST_WAYS:
            stack = waiting.pop()
            if stack in seen:
                continue
            seen.add(stack)
            if stack is None or isinstance(stack.top, Characters):
                found[stack] = None
            else:
                waiting.extend(self._expanded(stack.top, stack.below))
        return tuple(found)

    def _expanded(self, top: Expression, below: _Stack | None) -> Iterator[_Stack | None]:
        if isinstance(top, Rule):
            yield self._push(self.rules[top.name], below)
        elif isinstance(top, Sequence):
            for part in reversed(top.parts):
                below = self._push(part, below)
            yield below
        elif isinstance(top, Choice):
            for part in top.parts:
                yield self._push(part, below)
        elif isinstance(top, Repeat):
            if top.least == 0:
                yield below
            if top.most == 1:
                yield self._push(top.part, below)
            elif top.most != 0:
                yield self._push(top.part, self._push(self._one_less(top), below))

    def _one_less(self, repeat: Repeat) -> Repeat:
        least, most = max(0, repeat.least - 1), None if repeat.most is None else repeat.most - 1
        if (least, most) == (repeat.least, repeat.most):
            return repeat
        key = (id(repeat.part), least, most)
        return self._shorter.setdefault(key, Repeat(repeat.part, least, most))


def gbnf(grammar: ContextFree) -> str:
    """A grammar in the notation of llama.cpp, which vLLM's engines read too.

    Repetition of what may be empty is written as repetition of what is not: the servers take the
    former for left recursion.
    """
    writer = _Writer(grammar.rules)
    root = writer.expression(grammar.whole())
    lines = [f"root ::= {root}"]
    done: set[str] = set()
    while left := [name for name in writer.needed if name not in done]:
        for name in left:
            done.add(name)
            lines.append(f"{name} ::= {writer.expression(writer.needed[name])}")
    return "\n".join(lines) + "\n"


class _Writer:
    def __init__(self, rules: Mapping[str, Expression]) -> None:
        self._rules = rules
        self.needed: dict[str, Expression] = {}
        self._empty: dict[str, bool] = {}

    def expression(self, what: Expression) -> str:
        """An expression as it stands on the right of a rule or in brackets."""
        if isinstance(what, Choice):
            return " | ".join(self._sequence(part) for part in what.parts) or '""'
        return self._sequence(what)

    def _sequence(self, what: Expression) -> str:
        written: list[str] = []
        for part in _flat(what):
            letter = _letter(part)
            if letter is not None and written and written[-1].startswith('"'):
                written[-1] = f'{written[-1][:-1]}{letter}"'
            else:
                written.append(f'"{letter}"' if letter is not None else self._item(part))
        return " ".join(written) or '""'

    def _item(self, what: Expression) -> str:
        if isinstance(what, Rule):
            name = _rule_name(what.name)
            self.needed[name] = self._rules[what.name]
            return name
        if isinstance(what, Characters):
            return _character_class(what.ranges)
        if isinstance(what, Repeat):
            part = self._filled(what.part) if self._may_be_empty(what.part) else what.part
            least = 0 if part is not what.part else what.least
            return f"({self.expression(part)}){_times(least, what.most)}"
        return f"({self.expression(what)})"

    def _may_be_empty(self, what: Expression) -> bool:
        if isinstance(what, Rule):
            if what.name not in self._empty:
                self._empty[what.name] = False  # within itself: no left recursion, so not empty
                self._empty[what.name] = self._may_be_empty(self._rules[what.name])
            return self._empty[what.name]
        if isinstance(what, Sequence):
            return all(map(self._may_be_empty, what.parts))
        if isinstance(what, Choice):
            return any(map(self._may_be_empty, what.parts))
        return isinstance(what, Repeat) and (what.least == 0 or self._may_be_empty(what.part))

    def _filled(self, what: Expression) -> Expression:
        """The same without the empty text."""
        if not self._may_be_empty(what):
            return what
        if isinstance(what, Rule):
            return self._filled(self._rules[what.name])
        if isinstance(what, Repeat):
            filled = self._filled(what.part)
            most = None if what.most is None else max(0, what.most - 1)
            return Choice(()) if what.most == 0 else Sequence((filled, Repeat(filled, 0, most)))
        assert isinstance(what, Sequence | Choice)
        if isinstance(what, Choice):
            filled_parts = (self._filled(part) for part in what.parts)
            return Choice(tuple(part for part in filled_parts if not _is_nothing(part)))
        ways = []
        for place, part in enumerate(what.parts):
            filled = self._filled(part)
            if not _is_nothing(filled):
                ways.append(Sequence((filled, *what.parts[place + 1 :])))
        return Choice(tuple(ways))


def _is_nothing(what: Expression) -> bool:
    """Whether there is no text at all."""
    return isinstance(what, Choice) and not what.parts


def _flat(what: Expression) -> Iterator[Expression]:
    if isinstance(what, Sequence):
        for part in what.parts:
            yield from _flat(part)
    elif not isinstance(what, Repeat) or what.most != 0:
        yield what


def _parts(stack: _Stack | None) -> Iterator[Expression]:
    while stack is not None:
        yield stack.top
        stack = stack.below


def _times(least: int, most: int | None) -> str:
    if most is None:
        return {0: "*", 1: "+"}.get(least, f"{{{least},}}")
    return "?" if (least, most) == (0, 1) else f"{{{least},{most}}}"


def _letter(what: Expression) -> str | None:
    """The only character there is, escaped."""
    if isinstance(what, Characters) and len(what.ranges) == 1:
        low, high = what.ranges[0]
        if low == high:
            return _escaped(low, '"\\')
    return None


def _character_class(ranges: Ranges) -> str:
    inside = "".join(
        _escaped(low, "]^-\\[")
        + ("" if low == high else f"-{_escaped(high, ']^-' + chr(92) + '[')}")
        for low, high in ranges
    )
    return f"[{inside}]"


def _escaped(point: int, special: str) -> str:
    character = chr(point)
    if character in special or not 0x20 <= point < 0x7F:
        if point <= 0xFF:
            return f"\\x{point:02X}"
        return f"\\u{point:04X}" if point <= 0xFFFF else f"\\U{point:08X}"
    return character


@cache
def _rule_name(name: str) -> str:
    """A name that the notation allows; ``root`` is taken."""
    spelt = "".join(c if c.isascii() and c.isalnum() else f"-{ord(c):x}-" for c in name)
    return f"r-{spelt}"
