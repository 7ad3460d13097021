"""Terminals: the strings and regular expressions a grammar is spelled with.

Two questions are put to a terminal at a place of a text. *What does it match?* is answered by
``re``, as textX runs it. *Could more text change the answer?* is answered by ``regex`` with partial
matching: the pattern is made atomic (so that only readings preferred to the actual match are
tried), every boundary that looks at the end of the text is told to ask for more, and a sentinel
behind it asks for more where the match itself touches the end.
"""

from __future__ import annotations

import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal

import regex

Kind = Literal["keyword", "regex", "end"]

SENTINEL = "\uffff"
EXAMPLE_LENGTH = 80
#: Characters before a terminal that its pattern may look back at.
LOOK_BEHIND = 64
BEAM = 48

_PLAIN_CHARACTERS = "xa0\"' \n_A1.-+/\u00e9\u6f22\u0663\x01\t\u20ac"


class Terminal:
    """A terminal of a grammar; one object per spelling, shared by all its places.

    Attributes:
        kind: ``"keyword"`` (a fixed text), ``"regex"`` or ``"end"`` (the end of the text).
        text: the spelling of a keyword, else ``""``.
        pattern: source of the regular expression, else ``""``.
        name: the rule that is this terminal (``ID``, ``INT`` ...), else its spelling.
        width: the least number of characters it takes.
        boundary: True for a keyword that must end at a word boundary (textX ``autokwd``).
        looks_back: whether it may ask what stands before the place where it begins.
    """

    __slots__ = (
        "_examples",
        "_first",
        "_lowered",
        "_matcher",
        "_partial",
        "_settles",
        "boundary",
        "ignore_case",
        "kind",
        "looks_back",
        "name",
        "pattern",
        "text",
        "width",
    )

    def __init__(
        self,
        kind: Kind,
        name: str,
        text: str = "",
        pattern: str = "",
        matcher: re.Pattern[str] | None = None,
        ignore_case: bool = False,
        boundary: bool = False,
    ) -> None:
        self.kind = kind
        self.name = name
        self.text = text
        self.pattern = pattern
        self.ignore_case = ignore_case
        self.boundary = boundary
        self._lowered = text.lower()
        self._matcher = matcher
        self._partial = _partial_pattern(matcher.pattern, matcher.flags) if matcher else None
        self._first: dict[str, bool] = {}
        self._examples: dict[str, str | None] = {}
        self._settles = matcher is not None and _settles(matcher.pattern, matcher.flags)
        self.looks_back = matcher is not None and _looks_back(
            sre_parser.parse(matcher.pattern, matcher.flags & ~re.DEBUG), 0
        )
        self.width = len(text) if matcher is None or boundary else least_width(matcher)

    def __repr__(self) -> str:
        return f"Terminal({self.kind}, {self.name!r})"

    @property
    def matcher(self) -> re.Pattern[str] | None:
        """What matches it, where that is a regular expression."""
        return self._matcher

    def describe(self) -> str:
        """The terminal in the words of an error message."""
        if self.kind == "end":
            return "the end of the text"
        if self.kind == "keyword":
            return f"'{self.text}'"
        return self.name if self.name != self.pattern else f"/{self.pattern}/"

    def match(self, text: str, start: int) -> int:
        """Where this terminal ends if it stands at ``start`` of a whole text, -1 if it does not."""
        if self._matcher is not None:
            found = self._matcher.match(text, start)
            return found.end() if found is not None else -1
        if self.kind == "end":
            return start if start == len(text) else -1
        if self.ignore_case:
            end = start + len(self.text)
            return end if text[start:end].lower() == self._lowered else -1
        return start + len(self.text) if text.startswith(self.text, start) else -1

    def group(self, text: str, start: int) -> str | None:
        """The only capture group of the pattern at ``start``; None without exactly one group."""
        if self._matcher is None or self.boundary or self._matcher.groups != 1:
            return None
        found = self._matcher.match(text, start)
        return found.group(1) if found is not None else None

    def undecided(self, text: str, start: int, end: int) -> bool:
        """Whether text appended to ``text`` could change what ``match`` answered at ``start``.

        Args:
            text: the text so far.
            start: where the terminal stands.
            end: what ``match(text, start)`` answered.
        """
        if self.kind == "end":
            return start == len(text)
        if self._matcher is None or self.boundary:
            left = len(text) - start
            if left > len(self.text) or (self._matcher is None and left >= len(self.text)):
                return False
            if self.ignore_case:
                return self._lowered.startswith(text[start:].lower())
            return self.text.startswith(text[start:])
        if self._partial is None:
            return True
        if end >= 0 and end < len(text) and self._settles:
            return False
        if not self._asks(text, start):
            return False
        return end != len(text) or self._extends(text, start, end)

    def _asks(self, text: str, start: int) -> bool:
        """Whether the match at ``start`` looks at the end of ``text``.

        ``regex`` takes time in proportion to the text it is given, so it is given little at first.
        """
        assert self._partial is not None
        first = max(0, start - LOOK_BEHIND)
        size = 64
        while start + size < len(text):
            part = text[first : start + size]
            if self._partial.match(part, start - first, partial=True) is None:
                return False
            size *= 8
        return self._partial.match(text[first:], start - first, partial=True) is not None

    def can_start(self, char: str) -> bool:
        """Whether some text of this terminal, or the empty one, may stand before or at ``char``."""
        known = self._first.get(char)
        if known is None:
            known = self._first[char] = self._may_start(char)
        return known

    def matches_prefix(self, text: str) -> bool:
        """Whether some text that begins with ``text`` is a full match."""
        if self.kind == "end":
            return text == ""
        if self._matcher is None or self.boundary:
            head, whole = (text.lower(), self._lowered) if self.ignore_case else (text, self.text)
            return whole.startswith(head)
        if self._partial is None or text == "":
            return True
        return _touches(_loose_pattern(self._matcher.pattern, self._matcher.flags), text) or (
            self.match(text, 0) == len(text)
        )

    def may_grow(self, text: str) -> bool:
        """Whether a match that is all of ``text`` can become longer as text is appended."""
        if self._matcher is None or self.boundary:
            return False
        if self._partial is None:
            return True
        for char in _representatives(self._matcher.pattern, self._matcher.flags):
            longer = text + char
            if self.match(longer, 0) > len(text):
                return True
            if self._partial.match(longer, 0, partial=True) is not None:
                return True
        return False

    def example(self, begin: str = "") -> str | None:
        """A shortest full match that begins with ``begin``; None if none was found."""
        if self.kind == "end":
            return "" if begin == "" else None
        if self._matcher is None or self.boundary:
            return self._spelling(begin)
        if begin not in self._examples:
            if len(self._examples) > 256:
                self._examples.clear()
            self._examples[begin] = self._search_example(begin)
        return self._examples[begin]

    def _spelling(self, begin: str) -> str | None:
        if self.ignore_case and self._lowered.startswith(begin.lower()):
            return begin + self.text[len(begin) :]
        return self.text if self.text.startswith(begin) else None

    def _search_example(self, begin: str) -> str | None:
        assert self._matcher is not None
        pattern, flags = self._matcher.pattern, self._matcher.flags
        found = self._search_over(begin, _representatives(pattern, flags))
        # What takes any character up to a closing word is found only among the letters of the word.
        return found if found is not None else self._search_over(begin, _literals(pattern, flags))

    def _search_over(self, begin: str, characters: tuple[str, ...]) -> str | None:
        assert self._matcher is not None
        loose = _loose_pattern(self._matcher.pattern, self._matcher.flags)
        beam = [begin]
        for _ in range(EXAMPLE_LENGTH):
            for text in beam:
                if text and self.match(text, 0) == len(text):
                    return text
            longer = [text + char for text in beam[:BEAM] for char in characters]
            beam = [
                text for text in longer if _touches(loose, text) or self.match(text, 0) == len(text)
            ]
        return None

    def _may_start(self, char: str) -> bool:
        if self.kind == "end":
            return False
        if self._matcher is None:
            head = self.text[:1]
            return head == "" or (
                head.lower() == char.lower() if self.ignore_case else head == char
            )
        if self._partial is None or self._matcher.pattern.lstrip("(").startswith(("?<=", "?<!")):
            return True
        loose = _loose_pattern(self._matcher.pattern, self._matcher.flags)
        return any(
            loose.match(before + char, len(before), partial=True) is not None
            or self._matcher.match(before + char, len(before)) is not None
            for before in ("", "a", " ", "\n")
        )

    def _extends(self, text: str, start: int, end: int) -> bool:
        """Whether one more character could change a match that ends where the text ends."""
        assert self._matcher is not None and self._partial is not None
        for char in _representatives(self._matcher.pattern, self._matcher.flags):
            longer = text[max(0, start - LOOK_BEHIND) :] + char
            at = min(start, LOOK_BEHIND)
            found = self._matcher.match(longer, at)
            if found is None or found.end() != at + end - start:
                return True
            if self._partial.match(longer, at, partial=True) is not None:
                return True
        return False


def _touches(pattern: regex.Pattern[str], text: str) -> bool:
    return pattern.match(text, partial=True) is not None


@lru_cache(maxsize=4096)
def _partial_pattern(pattern: str, flags: int) -> regex.Pattern[str] | None:
    """The pattern whose partial match at a place means *more text could change the match there*."""
    return _compile(f"(?>{_ask_at_end(pattern)}{_line_end(flags)}){SENTINEL}", flags)


@lru_cache(maxsize=4096)
def _loose_pattern(pattern: str, flags: int) -> regex.Pattern[str]:
    """As ``_partial_pattern`` for any reading, not only those preferred to the actual match."""
    loose = _compile(f"(?:{_ask_at_end(pattern)}{_line_end(flags)}){SENTINEL}", flags)
    assert loose is not None
    return loose


def _line_end(flags: int) -> str:
    return "\n" if flags & re.VERBOSE else ""


def _compile(pattern: str, flags: int) -> regex.Pattern[str] | None:
    kept = 0
    for ours, theirs in (
        (re.IGNORECASE, regex.IGNORECASE),
        (re.MULTILINE, regex.MULTILINE),
        (re.DOTALL, regex.DOTALL),
        (re.VERBOSE, regex.VERBOSE),
        (re.ASCII, regex.ASCII),
    ):
        if flags & ours:
            kept |= theirs
    try:
        return regex.compile(pattern, kept)
    except regex.error:
        return None


def _ask_at_end(pattern: str) -> str:
    """``pattern`` with each boundary that looks at the end of the text asking for more there."""
    parts: list[str] = []
    at, in_set = _inline_flags(pattern), False
    while at < len(pattern):
        char = pattern[at]
        step = char
        if char == "\\" and at + 1 < len(pattern):
            step = pattern[at : at + 2]
            asks = not in_set and step in (r"\b", r"\B", r"\Z")
            if step == r"\w":
                # For `re` a word character is what `str.isalnum` says; `regex` counts marks too.
                parts.append(r"\p{L}\p{N}_" if in_set else r"[\p{L}\p{N}_]")
            elif step == r"\s":
                # `re` takes the separators of records for white space, too; `regex` does not.
                parts.append(r"\s\x1c-\x1f" if in_set else r"[\s\x1c-\x1f]")
            elif step == r"\S" and not in_set:
                parts.append(r"[^\s\x1c-\x1f]")
            else:
                parts.append(f"(?:(?={SENTINEL})|{step})" if asks else step)
        elif in_set:
            in_set = char != "]"
            parts.append(r"\[" if char == "[" else char)
        elif char == "[":
            in_set = True
            step = re.match(r"\[\^?\]?", pattern[at:]).group()  # type: ignore[union-attr]
            parts.append(step.replace("]", r"\]"))
        else:
            parts.append(f"(?:(?={SENTINEL})|{char})" if char in "^$" else char)
        at += len(step)
    return "".join(parts)


def _inline_flags(pattern: str) -> int:
    """Where the pattern goes on behind flags like ``(?ms)``, which the compiled pattern knows."""
    found = re.match(r"\(\?[aiLmsux]+\)", pattern)
    return found.end() if found is not None else 0


def least_width(matcher: re.Pattern[str]) -> int:
    """The least number of characters ``matcher`` takes."""
    low, _ = sre_parser.parse(matcher.pattern, matcher.flags & ~re.DEBUG).getwidth()
    return int(low)


def _looks_back(items: Any, taken: int) -> bool:
    """Whether an expression may ask for what stands before its beginning.

    Args:
        taken: the least number of characters taken before these items.
    """
    for operation, argument in items:
        behind = operation in (sre.ASSERT, sre.ASSERT_NOT) and argument[0] < 0
        if behind and argument[1].getwidth()[1] > taken:
            return True
        if operation is sre.AT and argument not in (sre.AT_END, sre.AT_END_STRING) and not taken:
            return True
        if any(_looks_back(part, taken) for part in _parts(argument)):
            return True
        single = sre_parser.SubPattern(items.state, [(operation, argument)])
        taken += single.getwidth()[0]
    return False


def _parts(argument: Any) -> Iterator[Any]:
    """The expressions inside an item of an expression."""
    if isinstance(argument, sre_parser.SubPattern):
        yield argument
    elif isinstance(argument, (tuple, list)):
        for each in argument:
            yield from _parts(each)


@lru_cache(maxsize=1024)
def _settles(pattern: str, flags: int) -> bool:
    """Whether a match that ends before the end of the text is always decided.

    That is so for a row of single characters of which the last may repeat, optionally up to a word
    boundary: nothing behind the match but the next character is ever looked at.
    """
    items = list(sre_parser.parse(pattern, flags & ~re.DEBUG))
    if items and items[-1][0] is sre.AT and items[-1][1] is sre.AT_BOUNDARY:
        items.pop()
    single = (sre.IN, sre.LITERAL, sre.NOT_LITERAL, sre.ANY)
    if items and items[-1][0] is sre.MAX_REPEAT:
        repeated = items.pop()[1][2]
        if len(repeated) != 1 or repeated[0][0] not in single:
            return False
    return all(operation in single for operation, _ in items)


@lru_cache(maxsize=1024)
def _representatives(pattern: str, flags: int) -> tuple[str, ...]:
    """Characters among which is one of each kind the pattern distinguishes, its literals first."""
    points = _points(pattern, flags)
    exact = _literals(pattern, flags)
    characters: dict[str, None] = {}
    for point in points:
        for near in (point, point + 1, point - 1):
            if 0 <= near < 0xFFFF and not 0xD800 <= near < 0xE000:
                characters[chr(near)] = None
                if flags & re.IGNORECASE and near == point:
                    characters.update(dict.fromkeys(chr(near).swapcase()[:1]))
    plain = dict.fromkeys(_PLAIN_CHARACTERS)
    named = [char for char in characters if char.isprintable()]
    return tuple(dict.fromkeys([*exact, *plain, *named, *characters]))


def _literals(pattern: str, flags: int) -> tuple[str, ...]:
    """The characters that the pattern itself names."""
    points = map(chr, _points(pattern, flags))
    return tuple(dict.fromkeys(point for point in points if point.isprintable()))


def _points(pattern: str, flags: int) -> list[int]:
    """The code points at which the pattern's classes begin and end."""
    points: list[int] = []
    _collect(list(sre_parser.parse(pattern, flags & ~re.DEBUG)), points)
    return points


def _collect(item: Any, points: list[int]) -> None:
    """Gather the code points at which the pattern's classes begin and end."""
    if isinstance(item, sre_parser.SubPattern):
        item = list(item)
    if isinstance(item, tuple) and len(item) == 2 and item[0] in (sre.LITERAL, sre.NOT_LITERAL):
        points.append(int(item[1]))
    elif isinstance(item, tuple) and len(item) == 2 and item[0] is sre.RANGE:
        points.extend(item[1])
    elif isinstance(item, (tuple, list)):
        for part in item:
            _collect(part, points)
