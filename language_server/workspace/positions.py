"""Positions as editors count them: lines and UTF-16 code units, both from 0.

Inside Langwright every place is an offset in code points. This is the one conversion between the
two; nothing else in the project counts UTF-16 units.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

# What the Language Server Protocol calls the end of a line. ``str.splitlines`` also splits at form
# feeds, U+2028 and others, which shifts every later line.
_LINE_END = re.compile(r"\r\n|\n|\r")


class Position(NamedTuple):
    """A place in a text.

    Attributes:
        line: the line, from 0.
        character: UTF-16 code units before the place on its line.
    """

    line: int
    character: int


class Range(NamedTuple):
    """A half-open stretch of a text."""

    start: Position
    end: Position


class LineIndex:
    """The lines of one text; made once in linear time, asked in logarithmic time."""

    __slots__ = ("_ends", "_plain", "_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0]
        self._ends: list[int] = []
        for match in _LINE_END.finditer(text):
            self._ends.append(match.start())
            self._starts.append(match.end())
        self._ends.append(len(text))
        # Without characters beyond the basic plane, UTF-16 units are code points.
        self._plain = not text or max(text) <= "\uffff"

    @property
    def line_count(self) -> int:
        """The number of lines; an empty text has one."""
        return len(self._starts)

    def position(self, offset: int) -> Position:
        """The position of an offset; offsets outside the text count as its nearest end."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return Position(line, self._units(start, offset))

    def range(self, start: int, end: int) -> Range:
        """The range between two offsets."""
        return Range(self.position(start), self.position(end))

    def offset(self, position: Position) -> int:
        """The offset of a position.

        A line behind the last one counts as the end of the text, a character behind the end of its
        line as that end, and one between the two halves of a surrogate pair as the place before it.
        """
        line, character = position
        if line < 0:
            return 0
        if line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[line], self._ends[line]
        if self._plain:
            return min(start + max(character, 0), end)
        units = 0
        for offset in range(start, end):
            units += 2 if self.text[offset] > "\uffff" else 1
            if units > character:
                return offset
        return end

    def span(self, place: Range) -> tuple[int, int]:
        """The offsets of a range, in order even if the range is not."""
        start, end = self.offset(place.start), self.offset(place.end)
        return (start, end) if start <= end else (end, start)

    def person(self, offset: int) -> tuple[int, int]:
        """Line and column as people count them, both from 1, the column in characters."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        return line + 1, offset - self._starts[line] + 1

    def offset_for_person(self, line: int, column: int) -> int | None:
        """The offset of a line and column counted from 1, None where the text has no such place."""
        if not 1 <= line <= len(self._starts):
            return None
        start, end = self._starts[line - 1], self._ends[line - 1]
        offset = start + column - 1
        return offset if start <= offset <= end else None

    def line_text(self, line: int) -> str:
        """The text of a line (from 0), without its end."""
        return self.text[self._starts[line] : self._ends[line]]

    def line_start(self, line: int) -> int:
        """The offset of the first character of a line (from 0)."""
        return self._starts[line]

    def line_of(self, offset: int) -> int:
        """The line (from 0) that holds an offset."""
        return bisect_right(self._starts, min(max(offset, 0), len(self.text))) - 1

    def _units(self, start: int, end: int) -> int:
        if self._plain:
            return end - start
        return end - start + sum(character > "\uffff" for character in self.text[start:end])
