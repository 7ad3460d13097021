"""The text around a fault, cut into what a person would take for one thing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from language_server.syntax.layout import Skipper

_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
_WHITE = re.compile(r"\s*")
_WHITE_SPACE, _LINE_END = re.compile(r"\s"), re.compile(r"\n")


class View(NamedTuple):
    """Some of a document; the places of the methods count in its text.

    Attributes:
        start: its offset.
        closed: whether the document ends with it.
        skipper: that of the grammar, with all its terminals.
    """

    text: str
    start: int
    closed: bool
    skipper: Skipper

    def lexeme(self, at: int) -> int:
        """The end of the lexeme at ``at``: the longest terminal there, a word, or one character.

        What is more than a line, or begins like a word and is more than one, is a lexeme only in
        quotes: a terminal that has no place here may read anything.
        """
        if at >= len(self.text):
            return at
        end, *longer = self.ends(at)
        barred = _WHITE_SPACE if self.text[at].isalnum() else _LINE_END
        for found in longer:
            if self.text[at] in "\"'" or not barred.search(self.text, at, found):
                end = found
        return end

    def ends(self, at: int) -> list[int]:
        """The ends of the word, or one character, at ``at`` and of all longer terminals there."""
        if at >= len(self.text):
            return []
        word = _WORD.match(self.text, at)
        end = word.end() if word is not None else at + 1
        terminals = self.skipper.terminals_at(self.text[at])
        longer = {terminal.match(self.text, at) for terminal in terminals}
        return [end, *sorted(found for found in longer if found > end)]

    def words(self, at: int, end: int) -> int:
        """How many words, and characters that are in none, stand between two places."""
        return sum(not found[0].isspace() for found in _WORD.finditer(self.text, at, end))

    def over_white(self, at: int) -> int:
        """Behind the white space at ``at``."""
        found = _WHITE.match(self.text, at)
        return found.end() if found is not None else at
