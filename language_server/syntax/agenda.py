"""What a parse needs to go on: threads by position, and the guards they depend on."""

from __future__ import annotations

from typing import Any, NamedTuple

from language_server.syntax.events import Trail
from language_server.syntax.frames import Conditions, Frame, Guard, Inside, Thread
from language_server.syntax.slots import Part, Slot
from language_server.syntax.values import Pending

#: How what is skipped before a terminal ends: decided, in a possible comment, in a comment.
DECIDED, PERHAPS_COMMENT, IN_COMMENT = 0, 1, 2


class Waiting(NamedTuple):
    """A thread in front of a terminal that the end of the text leaves undecided."""

    thread: Thread
    start: int
    end: int
    comment: int


class Agenda(NamedTuple):
    """Threads by position, and the guards they depend on: everything a parse needs to go on.

    Attributes:
        open: undecided guards, with the conditions under which they have succeeded.
        won: guards that have succeeded and are still named by a frame.
    """

    threads: dict[int, dict[Any, Thread]]
    open: dict[Guard, tuple[Conditions, ...]]
    won: frozenset[Guard]

    def first(self) -> int:
        """The first position with threads."""
        return min(self.threads)


Task = tuple[Slot, Frame, Trail, "Pending | None", "Part | None", int, Conditions, Inside]
