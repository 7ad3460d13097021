"""Sets of characters, and the context-free form of regular expressions that includes them.

What a pattern matches is context-free but for what it looks at without reading (boundaries,
lookahead, what an earlier group matched) and for greed. All of that only takes texts away: it is
left out. Beyond ASCII, what is a letter or a digit is not spelt out but taken for anything.
"""

from __future__ import annotations

import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from language_server.syntax.context_free import (
    Characters,
    Choice,
    Expression,
    Ranges,
    Repeat,
    Sequence,
)

_LAST = 0x10FFFF
_BEYOND: Ranges = ((0x80, _LAST),)
_EVERYTHING: Ranges = ((0, _LAST),)
_ANYTHING = Repeat(Characters(_EVERYTHING), 0, None)
NOTHING = Sequence(())


@dataclass(frozen=True, slots=True)
class _Bounds:
    """A set between two sets: what certainly belongs to it, and what may."""

    sure: Ranges
    possible: Ranges

    def complement(self) -> _Bounds:
        return _Bounds(complement(self.possible), complement(self.sure))


_DIGITS: Ranges = ((0x30, 0x39),)
_WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: Ranges = ((0x09, 0x0D), (0x1C, 0x20))
_CATEGORIES = {"DIGIT": _DIGITS, "WORD": _WORD, "SPACE": _SPACE}
# Whose other case is not found by changing the case once.
_PECULIAR = {"s": "ſ", "k": "\u212a", "i": "ıİ"}


def expression_of(pattern: re.Pattern[str]) -> Expression:
    """An expression that has every text the pattern matches somewhere."""
    return _of_sequence(sre_parser.parse(pattern.pattern, pattern.flags), pattern.flags)


def literal(text: str, ignore_case: bool = False) -> Expression:
    """A text, in any case where that does not matter."""
    return Sequence(tuple(Characters(_single(ord(each), ignore_case)) for each in text))


def one_of(characters: str) -> Characters:
    """One of some characters."""
    return Characters(union((ord(each), ord(each)) for each in characters))


def union(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Ranges in order, those that touch made one."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def complement(ranges: Ranges) -> Ranges:
    """All other characters."""
    others: list[tuple[int, int]] = []
    begin = 0
    for low, high in ranges:
        if begin < low:
            others.append((begin, low - 1))
        begin = high + 1
    if begin <= _LAST:
        others.append((begin, _LAST))
    return tuple(others)


def _of_sequence(items: Iterable[tuple[Any, Any]], flags: int) -> Expression:
    return Sequence(tuple(_of_item(kind, value, flags) for kind, value in items))


def _of_item(kind: Any, value: Any, flags: int) -> Expression:
    ignore_case = bool(flags & re.IGNORECASE)
    if kind is sre.LITERAL:
        return Characters(_single(value, ignore_case))
    if kind is sre.NOT_LITERAL:
        return Characters(complement(((value, value),)))
    if kind is sre.ANY:
        return Characters(_EVERYTHING if flags & re.DOTALL else complement(((0x0A, 0x0A),)))
    if kind is sre.IN:
        return Characters(_of_set(value, flags).possible)
    if kind is sre.BRANCH:
        return Choice(tuple(_of_sequence(branch, flags) for branch in value[1]))
    if kind is sre.SUBPATTERN:
        _, added, removed, inner = value
        return _of_sequence(inner, (flags | added) & ~removed)
    if kind is sre.ATOMIC_GROUP:
        return _of_sequence(value, flags)
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, inner = value
        upper = None if most is sre.MAXREPEAT else int(most)
        return Repeat(_of_sequence(inner, flags), int(least), upper)
    if kind is sre.GROUPREF_EXISTS:
        _, then, otherwise = value
        return Choice((_of_sequence(then, flags), _of_sequence(otherwise or (), flags)))
    if kind in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
        return NOTHING
    return _ANYTHING  # a group that was matched before, and what later versions bring


def _of_set(items: Iterable[tuple[Any, Any]], flags: int) -> _Bounds:
    sure: list[tuple[int, int]] = []
    possible: list[tuple[int, int]] = []
    negated = False
    for kind, value in items:
        if kind is sre.NEGATE:
            negated = True
        elif kind is sre.CATEGORY:
            bounds = _category(str(value), flags)
            sure += bounds.sure
            possible += bounds.possible
        else:
            low, high = value if kind is sre.RANGE else (value, value)
            sure.append((low, high))
            possible += _in_any_case(low, high) if flags & re.IGNORECASE else [(low, high)]
    bounds = _Bounds(union(sure), union(possible))
    return bounds.complement() if negated else bounds


def _category(name: str, flags: int) -> _Bounds:
    kind = name.removeprefix("CATEGORY_")
    sure = _CATEGORIES.get(kind.removeprefix("NOT_"), ())
    possible = sure if flags & re.ASCII else union((*sure, *_BEYOND))
    bounds = _Bounds(sure, possible)
    return bounds.complement() if kind.startswith("NOT_") else bounds


def _single(point: int, ignore_case: bool) -> Ranges:
    return union(_in_any_case(point, point)) if ignore_case else ((point, point),)


def _in_any_case(low: int, high: int) -> list[tuple[int, int]]:
    """A range with the other cases of its letters; anything, beyond what is worth to look up."""
    if high - low > 0x400:
        return [(low, high), *_BEYOND, (0x41, 0x5A), (0x61, 0x7A)]
    found = [(low, high)]
    for point in range(low, high + 1):
        letter = chr(point)
        others = {letter.lower(), letter.upper(), letter.title(), letter.swapcase()}
        others.update(_PECULIAR.get(letter.lower(), ""))
        if point >= 0x80:
            others.update(name for name, alike in _PECULIAR.items() if letter in alike)
            others.update(name.upper() for name, alike in _PECULIAR.items() if letter in alike)
        found += [(ord(other), ord(other)) for other in others if len(other) == 1]
    return found
