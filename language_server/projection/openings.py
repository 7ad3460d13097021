"""Which texts may go on with what the end of a prefix leaves open, without advancing to each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from language_server.syntax import Opening

if TYPE_CHECKING:
    from language_server.projection.prefix import Prefix


class Openings:
    """The openings at the end of a prefix and what the partial model says of each.

    Attributes:
        each: the openings; see ``syntax.Opening``.
        behind: whether they are behind terminals that are only assumed to end here.
    """

    def __init__(self, prefix: Prefix, each: tuple[Opening, ...], behind: bool) -> None:
        self.each = each
        self.behind = behind
        self._prefix = prefix
        self._admitted: dict[int, bool | tuple[str, ...]] = {}

    def begins_comment(self, char: str) -> bool:
        """Whether a comment may start with ``char`` before a terminal."""
        return self._prefix.state.begins_comment(char)

    def admits(self, number: int) -> bool | tuple[str, ...]:
        """How the opening of a number may go on as far as propagation tells.

        Returns:
            True: with whatever the grammar allows; False: not at all; else the texts of which one
            must follow, that have been begun or not.
        """
        known = self._admitted.get(number)
        if known is None:
            known = self._admitted[number] = self._admit(self.each[number])
        return known

    def _admit(self, opening: Opening) -> bool | tuple[str, ...]:
        if self._prefix.only_grammar:
            return True
        names: dict[str, None] = {}
        for expected in opening.readings():
            if expected is None:
                return True  # none of those left out is ruled out
            answer = self._prefix.values(expected)
            if answer is True:
                return True
            if answer is not False:
                names.update(dict.fromkeys(answer))
        return tuple(names) or False
