"""What of a text goes with a piece that is taken out of it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import takewhile

from language_server.projection.pieces import Piece, Pieces

LEXEME = re.compile(r"\w+|[^\w\s]")
# Lexemes without a meaning of their own that go with a piece: ``= value``, ``[ guard ]``.
_AROUND = 3

Span = tuple[int, int]


class Removals:
    """The spans that may be taken out of one text.

    Args:
        lexemes: the spans of its lexemes.
        pieces: what stands in it.
    """

    def __init__(self, text: str, lexemes: list[Span], pieces: Pieces) -> None:
        self._text, self._lexemes, self._pieces = text, lexemes, pieces
        self._starts = [start for start, _ in lexemes]
        self._innermost = self._innermost_pieces()

    def of(self, piece: Piece) -> Iterator[Span]:
        """A piece, with as few of the lexemes around it as may be first."""
        before, behind = self._lexemes_around(piece)
        for left in range(len(before) + 1):
            for right in range(len(behind) + 1):
                start = before[left - 1][0] if left else piece.start
                end = behind[right - 1][1] if right else piece.end
                yield self._with_white(start, end)

    def _lexemes_around(self, piece: Piece) -> tuple[list[Span], list[Span]]:
        """The lexemes before a piece, the nearest first, and behind it, that are in no other one.

        They may belong to the objects around it.
        """
        first = bisect_left(self._starts, piece.start)
        behind = bisect_left(self._starts, piece.end)
        holders = {-1}
        at = self._pieces.around(piece)
        while at is not None:
            holders.add(at.number)
            at = self._pieces.around(at)

        def free(numbers: Iterable[int]) -> list[Span]:
            alone = takewhile(lambda number: self._innermost[number] in holders, numbers)
            return [self._lexemes[number] for number in alone]

        return (
            free(range(first - 1, max(first - 1 - _AROUND, -1), -1)),
            free(range(behind, min(behind + _AROUND, len(self._lexemes)))),
        )

    def _innermost_pieces(self) -> list[int]:
        """For each lexeme the number of the innermost piece that it belongs to."""
        found = [-1] * len(self._lexemes)
        for piece in self._pieces.all:
            first = max(bisect_right(self._starts, piece.start) - 1, 0)
            for number in range(first, bisect_left(self._starts, piece.end)):
                if self._lexemes[number][1] > piece.start:
                    found[number] = piece.number
        return found

    def _with_white(self, start: int, end: int) -> Span:
        """A span with the white space that would be left of it: its line, or what is before it."""
        text = self._text
        line = text.rfind("\n", 0, start) + 1
        stop = text.find("\n", end)
        stop = len(text) if stop < 0 else stop + 1
        if not text[line:start].strip() and not text[end:stop].strip():
            return (line, stop) if text[:stop].endswith("\n") or not line else (line - 1, stop)
        while start > line and text[start - 1] in " \t":
            start -= 1
        return start, end
