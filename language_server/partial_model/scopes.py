"""What the linker knows of a text: its objects as textX nests them, persistent, with an index.

Unlike the partial model this follows the grammar alone: every object of a common rule is in it, in
the order of the text, whatever of it the metamodel leaves out or merges. Finding the object of a
name in a feature of an object costs one look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from immutables import Map

from language_server.partial_model.members import grown, shrunk
from language_server.partial_model.ways import LinkRules
from language_server.syntax.anchors import as_it_is
from language_server.syntax.events import Assign, Close, Event, Open, Refer

_NOTHING: Any = Map()

Number = int  # of an object of a text, counted from 0 in the order in which they come to be known


class Thing(NamedTuple):
    """An object of a text; ``parent`` is -1 for the root, ``start`` the offset of its begin."""

    cls: str
    parent: Number
    feature: str
    start: int


class Mention(NamedTuple):
    """A reference as it stands in the text; no other one has its ``number``."""

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

    ``cells`` holds sets under ``(object, feature)``: the objects contained; ``(object, feature,
    name)``: those of them with that name; ``('bearers', name, class)``: the objects with that name;
    ``('known', name)``: their classes. It holds plain values under ``('name', object)``: name and
    its span; ``('root',)``: the outermost object; ``('node', object)``: which object of the partial
    model it is; ``('said', class, feature)``: that there is such a reference; and ``('imports',)``:
    the imports, newest first as linked pairs.

    Places are those of the partial model: ``place`` tells where in the text they are. ``count`` and
    ``said`` are how many objects and references there have been.
    """

    __slots__ = ("_mentions", "cells", "count", "place", "rules", "said", "things", "top")

    def __init__(
        self,
        rules: LinkRules,
        things: Map[Number, Thing],
        cells: Map[Any, Any],
        top: Number,
        count: Number = 0,
        said: int = 0,
        mentions: Map[int, Mention] = _NOTHING,
        place: Callable[[int], int] = as_it_is,
    ) -> None:
        self.rules = rules
        self.things = things
        self.cells = cells
        self.top = top
        self.count = count
        self.said = said
        self.place = place
        self._mentions = mentions

    @staticmethod
    def empty(rules: LinkRules) -> Scopes:
        """The scopes of the empty text."""
        return Scopes(rules, _NOTHING, _NOTHING, -1)

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
            ended = self._with(self.cells)
            ended.top = self.things[self.top].parent
            return ended
        if isinstance(event, Refer):
            return self._referred(event)
        return self._assigned(event)

    def standing(self, node: int) -> Scopes:
        """The scopes in which the innermost open object is an object of the partial model."""
        if self.top < 0 or self.cells.get(("node", self.top)) == node:
            return self
        return self._with(self.cells.set(("node", self.top), node))

    def standing_as(self, nodes: Mapping[Number, int]) -> Scopes:
        """The scopes in which objects of the text are those objects of the partial model."""
        return self._with(self.cells.update({("node", thing): nodes[thing] for thing in nodes}))

    def referring(self, feature: str) -> Scopes:
        """The scopes in which the innermost open object refers to something by a feature."""
        cell = ("said", self.things[self.top].cls, feature)
        return self if cell in self.cells else self._with(self.cells.set(cell, True))

    @property
    def root(self) -> Number:
        """The outermost object."""
        found: Number = self.cells.get(("root",), 0)
        return found

    def node(self, thing: Number) -> int | None:
        """The object of the partial model that an object of the text is, if it is one."""
        found: int | None = self.cells.get(("node", thing))
        return found

    def name(self, thing: Number) -> str | None:
        """The name of an object."""
        found: tuple[str, int, int] | None = self.cells.get(("name", thing))
        return None if found is None else found[0]

    def name_span(self, thing: Number) -> tuple[int, int]:
        """Where the name of an object stands, else where the object begins."""
        start = self.things[thing].start
        _, *span = self.cells.get(("name", thing), ("", start, start))
        return span[0], span[1]

    def contained(self, thing: Number, feature: str) -> list[Number]:
        """The objects a feature contains, in order."""
        return self._in_order(self.cells.get((thing, feature), ()))

    def first(self, thing: Number, feature: str, name: str) -> Number | None:
        """The first object of a name that a feature contains."""
        found = self.cells.get((thing, feature, name), ())
        return next(iter(found if len(found) < 2 else self._in_order(found)), None)

    def mention(self, number: int) -> Mention:
        """A reference."""
        return self._mentions[number]

    def mentions(self) -> list[Mention]:
        """All references in the order of the text."""
        if self.place is as_it_is:
            return [self._mentions[number] for number in range(len(self._mentions))]
        return sorted(self._mentions.values(), key=lambda mention: self.place(mention.start))

    def imports(self) -> list[Import]:
        """All imports, in the order in which textX comes by them."""
        newest_first = []
        link = self.cells.get(("imports",))
        while link is not None:
            one, link = link
            newest_first.append(one)
        in_order = reversed(newest_first)
        return sorted(in_order, key=lambda one: self._path(one.source))

    def is_known(self, name: str) -> bool:
        """Whether any object has the name."""
        return ("known", name) in self.cells

    def bearers(self, name: str) -> list[Number]:
        """The objects of a name, in order (the first and the last one of each class)."""
        found: set[Number] = set()
        for cls in self.cells.get(("known", name), ()):
            bearers = self._in_order(self.cells["bearers", name, cls])
            found.update((bearers[0], bearers[-1]))
        return self._in_order(found)

    def named(self) -> Iterator[Number]:
        """The objects that have a name, in order."""
        return (thing for thing in self._in_order(self.things) if ("name", thing) in self.cells)

    def names_down_to(self, thing: Number) -> list[str]:
        """The names of an object and of those around it, outermost first."""
        parts = []
        while thing >= 0:
            name = self.name(thing)
            if name is not None:
                parts.append(name)
            thing = self.things[thing].parent
        return parts[::-1]

    # ---- what an edit changes --------------------------------------------------------------------

    def placed(self, place: Callable[[int], int], top: Number) -> Scopes:
        """The same objects, in a text in which ``top`` is the innermost open one."""
        return Scopes(
            self.rules,
            self.things,
            self.cells,
            top,
            self.count,
            self.said,
            self._mentions,
            place,
        )

    def without(self, thing: Number) -> Scopes:
        """The scopes without an object."""
        before = self.unnamed(thing) if ("name", thing) in self.cells else self
        _, parent, feature, _ = self.things[thing]
        cells = before.cells
        if ("node", thing) in cells:
            cells = cells.delete(("node", thing))
        if parent >= 0:
            cells = _less(cells, (parent, feature), thing)
        elif cells.get(("root",)) == thing:
            cells = cells.delete(("root",))
        after = before._with(cells)
        after.things = self.things.delete(thing)
        return after

    def unnamed(self, thing: Number) -> Scopes:
        """The scopes in which an object has no name."""
        name = self.cells["name", thing][0]
        cls, parent, feature, _ = self.things[thing]
        cells = self.cells.delete(("name", thing))
        cells = _less(cells, (parent, feature, name), thing)
        cells = _less(cells, ("bearers", name, cls), thing)
        if ("bearers", name, cls) not in cells:
            cells = _less(cells, ("known", name), cls)
        return self._with(cells)

    def since(self, number: int) -> list[Mention]:
        """The references from one on."""
        numbers = range(number, self.said)
        return [self._mentions[each] for each in numbers if each in self._mentions]

    def unsaid(self, mention: Mention) -> Scopes:
        """The scopes without a reference."""
        after = self._with(self.cells)
        after._mentions = self._mentions.delete(mention.number)
        return after

    def moved(self, thing: Number, old: Event, new: Event) -> Scopes:
        """What an event says of an object stands elsewhere."""
        if isinstance(old, Open) and isinstance(new, Open):
            after = self._with(self.cells)
            after.things = self.things.set(thing, self.things[thing]._replace(start=new.start))
            return after
        if isinstance(new, Assign) and new.feature == "name" and ("name", thing) in self.cells:
            name = (self.cells["name", thing][0], new.start, new.end)
            return self._with(self.cells.set(("name", thing), name))
        return self

    def said_elsewhere(self, number: int, start: int, end: int) -> Scopes:
        """A reference stands elsewhere."""
        mention = self._mentions[number]._replace(start=start, end=end)
        after = self._with(self.cells)
        after._mentions = self._mentions.set(number, mention)
        return after

    # ---- what an event says ----------------------------------------------------------------------

    def _opened(self, event: Open) -> Scopes:
        number = self.count
        feature = event.feature or ""
        cells = self.cells
        if self.top >= 0:
            cells = _more(cells, (self.top, feature), number)
        else:
            cells = cells.set(("root",), number)
        after = self._with(cells)
        thing = Thing(event.cls, self.top, feature, event.start)
        after.things = self.things.set(number, thing)
        after.top = number
        after.count = number + 1
        return after

    def _assigned(self, event: Assign) -> Scopes:
        if event.feature == "name" and isinstance(event.value, str):
            return self._named(event.value, event.start, event.end)
        if event.feature == "importURI" and isinstance(event.value, str):
            one = Import(self.top, event.value, event.start, event.end)
            return self._with(self.cells.set(("imports",), (one, self.cells.get(("imports",)))))
        return self

    def _named(self, name: str, start: int, end: int) -> Scopes:
        cells, top = self.cells, self.top
        cls, parent, feature, _ = self.things[top]
        first, bearers, known = (parent, feature, name), ("bearers", name, cls), ("known", name)
        changed: dict[Any, Any] = {
            ("name", top): (name, start, end),
            first: grown(cells.get(first), top),
            bearers: grown(cells.get(bearers), top),
        }
        classes = cells.get(known)
        if classes is None or cls not in classes:
            changed[known] = grown(classes, cls)
        return self._with(cells.update(changed))

    def _referred(self, event: Refer) -> Scopes:
        number = self.said
        feature, many, target, name, _, start, end = event
        mention = Mention(number, self.top, feature, many, target, name, start, end)
        cell = ("said", self.things[self.top].cls, feature)
        after = self._with(self.cells if cell in self.cells else self.cells.set(cell, True))
        after._mentions = self._mentions.set(number, mention)
        after.said = number + 1
        return after

    def _with(self, cells: Map[Any, Any]) -> Scopes:
        return Scopes(
            self.rules,
            self.things,
            cells,
            self.top,
            self.count,
            self.said,
            self._mentions,
            self.place,
        )

    def _in_order(self, things: Iterable[Number]) -> list[Number]:
        if self.place is as_it_is:
            return sorted(things)
        return sorted(things, key=lambda thing: (self.place(self.things[thing].start), thing))

    def _path(self, thing: Number) -> list[tuple[int, Number]]:
        """Where an object comes in a walk through all features in the grammar's order."""
        path = []
        while self.things[thing].parent >= 0:
            _, parent, feature, _ = self.things[thing]
            order = self.rules.features.get(self.things[parent].cls, ())
            path.append((order.index(feature) if feature in order else len(order), thing))
            thing = parent
        return path[::-1]


def _more(cells: Map[Any, Any], cell: Any, member: Any) -> Map[Any, Any]:
    return cells.set(cell, grown(cells.get(cell), member))


def _less(cells: Map[Any, Any], cell: Any, member: Any) -> Map[Any, Any]:
    left = shrunk(cells[cell], member)
    return cells.set(cell, left) if len(left) else cells.delete(cell)
