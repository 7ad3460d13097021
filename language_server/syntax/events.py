"""What reading a text says about the model: a stream of parse events, kept as a persistent trail.

A trail is a linked list that grows at its end; two readings that share a prefix share its trail.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple


class Open(NamedTuple):
    """An object of a common rule begins.

    Attributes:
        cls: name of the textX class (the concrete rule, never an abstract one).
        feature: the feature of the enclosing object it fills, None for the root object.
        many: True where that feature is a list (textX multiplicity ``*`` or ``+``).
        start: offset of the first character of the object.
    """

    cls: str
    feature: str | None
    many: bool
    start: int


class Assign(NamedTuple):
    """A primitive value fills a feature of the innermost open object.

    Attributes:
        value: as textX converts it (``int``, ``float``, ``bool`` or ``str``).
        rule: the match rule or base type that read it (``ID``, ``INT``, ``Direction`` ...).
        start, end: the exact span of the value in the text.
    """

    feature: str
    many: bool
    value: Any
    rule: str
    start: int
    end: int


class Refer(NamedTuple):
    """A reference by name fills a feature of the innermost open object (``[Type|Rule]``).

    Attributes:
        target: name of the textX class referred to.
        name: the text of the reference as textX looks it up.
    """

    feature: str
    many: bool
    target: str
    name: str
    rule: str
    start: int
    end: int


class Close(NamedTuple):
    """The innermost open object is finished; ``end`` is the offset behind its last character."""

    end: int


Event = Open | Assign | Refer | Close


class Trail:
    """A persistent list of events, newest last.

    ``memo`` is one slot for a consumer's fold over the trail (the partial model up to and including
    this event); a trail belongs to one reading of one text, started by ``Trail.root()``.
    """

    __slots__ = ("event", "memo", "parent", "size")

    def __init__(self, parent: Trail | None, event: Event | None) -> None:
        self.parent = parent
        self.event = event
        self.size: int = parent.size + 1 if parent is not None else 0
        self.memo: Any = None

    @staticmethod
    def root() -> Trail:
        """The empty trail of a new reading."""
        return Trail(None, None)

    def then(self, event: Event) -> Trail:
        """This trail followed by one more event; O(1)."""
        return Trail(self, event)

    def events(self) -> Iterator[Event]:
        """All events, oldest first."""
        newest_first: list[Event] = []
        trail: Trail | None = self
        while trail is not None and trail.event is not None:
            newest_first.append(trail.event)
            trail = trail.parent
        return iter(newest_first[::-1])
