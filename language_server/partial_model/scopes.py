"""What the linker knows of a text: its objects as textX nests them, persistent, with an index.

Unlike the partial model this follows the grammar alone: every object of a common rule is in it, in
the order of the text, whatever of it the metamodel leaves out or merges. Finding the object of a
name in a feature of an object costs one look-up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from immutables import Map

from language_server.partial_model.ways import LinkRules
from language_server.syntax.events import Assign, Close, Event, Open, Refer

Number = int  # of an object of a text, counted from 0 in the order in which they begin


class Thing(NamedTuple):
    """An object of a text; ``parent`` is -1 for the root, ``start`` the offset of its begin."""

    cls: str
    parent: Number
    feature: str
    start: int


class Mention(NamedTuple):
    """A reference as it stands in the text; ``number`` counts them."""

    number: int
    source: Number
    feature: str
    many: bool
    target: str
    name: str
    start: int
    end: int


class Import(NamedTuple):
    """The text of an ``importURI`` and where it stands."""

    source: Number
    uri: str
    start: int
    end: int


class Scopes:
    """The objects of a text; a persistent value.

    ``cells`` holds, newest first as linked pairs, ``(object, feature)``: the objects contained;
    ``('mentions',)``: the references; ``('imports',)``: the imports; and as plain values
    ``(object, feature, name)``: the first object of that name; ``('name', object)`` and
    ``('name at', object)``: name and its span; ``('bearers', name, class)``: the first and the last
    object of that name; ``('end', object)``: the offset behind it; ``('node', object)``: which
    object of the partial model it is; ``('said', class, feature)``: that there is such a reference.
    """

    __slots__ = ("cells", "rules", "things", "top")

    def __init__(
        self, rules: LinkRules, things: Map[Number, Thing], cells: Map[Any, Any], top: Number
    ) -> None:
        self.rules = rules
        self.things = things
        self.cells = cells
        self.top = top

    @staticmethod
    def empty(rules: LinkRules) -> Scopes:
        """The scopes of the empty text."""
        nothing: Any = Map()
        return Scopes(rules, nothing, nothing, -1)

    @staticmethod
    def of(rules: LinkRules, events: Iterator[Event]) -> Scopes:
        """The scopes of a whole text."""
        scopes = Scopes.empty(rules)
        for event in events:
            scopes = scopes.then(event)
        return scopes

    def then(self, event: Event) -> Scopes:
        """The scopes with what one more parse event says."""
        if isinstance(event, Open):
            return self._opened(event)
        if self.top < 0:
            return self
        if isinstance(event, Close):
            cells = self.cells.set(("end", self.top), event.end)
            return Scopes(self.rules, self.things, cells, self.things[self.top].parent)
        if isinstance(event, Refer):
            return self._referred(event)
        return self._assigned(event)

    def standing(self, node: int) -> Scopes:
        """The scopes in which the innermost open object is an object of the partial model."""
        if self.top < 0 or self.cells.get(("node", self.top)) == node:
            return self
        return self._with(self.cells.set(("node", self.top), node))

    def referring(self, feature: str) -> Scopes:
        """The scopes in which the innermost open object refers to something by a feature."""
        return self._with(self.cells.set(("said", self.things[self.top].cls, feature), True))

    def node(self, thing: Number) -> int | None:
        """The object of the partial model that an object of the text is, if it is one."""
        found: int | None = self.cells.get(("node", thing))
        return found

    def name_span(self, thing: Number) -> tuple[int, int]:
        """Where the name of an object stands, else where the object begins."""
        start = self.things[thing].start
        span: tuple[int, int] = self.cells.get(("name at", thing), (start, start))
        return span

    def contained(self, thing: Number, feature: str) -> list[Number]:
        """The objects a feature contains, in order."""
        return _in_order(self.cells.get((thing, feature)))

    def mentions(self) -> list[Mention]:
        """All references in the order of the text."""
        return _in_order(self.cells.get(("mentions",)))

    def imports(self) -> list[Import]:
        """All imports, in the order in which textX comes by them."""
        found: list[Import] = _in_order(self.cells.get(("imports",)))
        return sorted(found, key=lambda one: self._place(one.source))

    def is_known(self, name: str) -> bool:
        """Whether any object has the name."""
        return ("known", name) in self.cells

    def bearers(self, name: str) -> list[Number]:
        """The objects of a name, in order (the first and the last one of each class)."""
        found: set[Number] = set()
        for cls in self.cells.get(("known", name), ()):
            found.update(self.cells["bearers", name, cls])
        return sorted(found)

    def named(self) -> Iterator[Number]:
        """The objects that have a name, in order."""
        return (number for number in range(len(self.things)) if ("name", number) in self.cells)

    def names_down_to(self, thing: Number) -> list[str]:
        """The names of an object and of those around it, outermost first."""
        parts = []
        while thing >= 0:
            name = self.cells.get(("name", thing))
            if name is not None:
                parts.append(str(name))
            thing = self.things[thing].parent
        return parts[::-1]

    def _opened(self, event: Open) -> Scopes:
        number = len(self.things)
        feature = event.feature or ""
        things = self.things.set(number, Thing(event.cls, self.top, feature, event.start))
        cells = self.cells
        if self.top >= 0:
            cells = cells.set((self.top, feature), (number, cells.get((self.top, feature))))
        return Scopes(self.rules, things, cells, number)

    def _assigned(self, event: Assign) -> Scopes:
        if event.feature == "name" and isinstance(event.value, str):
            return self._named(event.value, event.start, event.end)
        if event.feature == "importURI" and isinstance(event.value, str):
            one = Import(self.top, event.value, event.start, event.end)
            return self._with(self.cells.set(("imports",), (one, self.cells.get(("imports",)))))
        return self

    def _named(self, name: str, start: int, end: int) -> Scopes:
        thing = self.things[self.top]
        cells = self.cells.set(("name", self.top), name).set(("name at", self.top), (start, end))
        first = (thing.parent, thing.feature, name)
        if first not in cells:
            cells = cells.set(first, self.top)
        bearers = ("bearers", name, thing.cls)
        known = cells.get(bearers)
        if known is None:
            classes = ("known", name)
            cells = cells.set(classes, (*cells.get(classes, ()), thing.cls))
        cells = cells.set(bearers, (self.top if known is None else known[0], self.top))
        return self._with(cells)

    def _referred(self, event: Refer) -> Scopes:
        last = self.cells.get(("mentions",))
        mention = Mention(
            0 if last is None else last[0].number + 1,
            self.top,
            event.feature,
            event.many,
            event.target,
            event.name,
            event.start,
            event.end,
        )
        said = self.referring(event.feature)
        return said._with(said.cells.set(("mentions",), (mention, last)))

    def _with(self, cells: Map[Any, Any]) -> Scopes:
        return Scopes(self.rules, self.things, cells, self.top)

    def _place(self, thing: Number) -> list[tuple[int, Number]]:
        """Where an object comes in a walk through all features in the grammar's order."""
        place = []
        while self.things[thing].parent >= 0:
            _, parent, feature, _ = self.things[thing]
            order = self.rules.features.get(self.things[parent].cls, ())
            place.append((order.index(feature) if feature in order else len(order), thing))
            thing = parent
        return place[::-1]


def _in_order(link: Any) -> list[Any]:
    newest_first = []
    while link is not None:
        item, link = link
        newest_first.append(item)
    return newest_first[::-1]
