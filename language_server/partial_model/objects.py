"""The objects of a text and of the files visible from it, as the linker walks them.

Features that refer to objects get their values while linking goes on; what textX has not resolved
at that moment cannot be walked, and what only its own code resolves cannot be followed.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from language_server.partial_model.scopes import Mention, Number, Scopes
from language_server.partial_model.ways import LinkRules

Place = tuple[int, Number]  # an object: the position of its file among the units, its number there
Cell = tuple[int, Number, str]  # a feature of an object


@dataclass(frozen=True)
class Unit:
    """A text among those that are linked together.

    Attributes:
        path: its file, '' if it has none.
        visible: positions of the units that are visible in it, in textX's order; ``~n`` is the n-th
            of those that its language is given.
        loaded: for each import (its object) the units it names, in the same way.
        opaque: whether its objects have features that are not known here.
        known: of a model that is given, what the references of its features mean: units and
            objects, the units counted among those that are given.
        given: where the units begin that its language is given.
    """

    path: str
    scopes: Scopes
    visible: tuple[int, ...] = ()
    loaded: Mapping[Number, tuple[int, ...]] = field(default_factory=dict)
    opaque: bool = False
    known: Mapping[tuple[Number, str], tuple[Place, ...]] = field(default_factory=dict)
    given: int = -1

    def position(self, unit: int) -> int:
        """Where a unit is that this one sees or loads."""
        return unit if unit >= 0 else self.given + ~unit


class Waiting(Exception):
    """The search has come to references that are not resolved so far."""

    def __init__(self, cell: Cell) -> None:
        super().__init__(cell)
        self.cell = cell


class OutOfSight(Exception):
    """The search has come to what only the language's own code knows."""


Order = tuple[int, int, int]  # of references in one pass: unit, offset in its text, number


class Entry(NamedTuple):
    """What a reference is resolved to.

    Attributes:
        turn: in which of textX's passes.
        order: of the references of one pass.
        target: None where only the language's own code knows it.
    """

    turn: int
    order: Order
    many: bool
    target: Place | None


class _Resolved(NamedTuple):
    """The references of a feature that are resolved, in their order."""

    entries: list[Entry]
    hidden: list[Entry]
    by_name: dict[str, list[Entry]]


class Objects:
    """All objects of some units, with the references resolved so far.

    Attributes:
        reads: what the current search has come to: cells of the scopes of the first unit, and
            ``('referred', object, feature)`` for what the references of a feature mean.
        turn: the last pass in which a feature that the current search waited for was settled.
    """

    def __init__(
        self,
        units: tuple[Unit, ...],
        entries: Mapping[Cell, tuple[Entry, ...]] = MappingProxyType({}),
        unsettled: Mapping[Cell, int] = MappingProxyType({}),
    ) -> None:
        self.units = units
        self.reads: set[tuple[Any, ...]] = set()
        self.turn = 0
        self._known = entries
        self._known_unsettled = unsettled
        self._before: tuple[int, Order] | None = None
        self._resolved: dict[Cell, _Resolved] = {}
        self._unsettled: dict[Cell, int] = {}

    # ---- what a text says ------------------------------------------------------------------------

    def rules(self, at: Place) -> LinkRules:
        """The rules of the language an object belongs to."""
        return self.units[at[0]].scopes.rules

    def cls(self, at: Place) -> str:
        """The class of an object, as its own grammar calls it."""
        return self.units[at[0]].scopes.things[at[1]].cls

    def name(self, at: Place) -> str | None:
        """The name of an object."""
        self.reads.add(("name", at[1]))
        return self.units[at[0]].scopes.name(at[1])

    def parent(self, at: Place) -> Place | None:
        """The object around an object; None for a root."""
        above = self.units[at[0]].scopes.things[at[1]].parent
        return (at[0], above) if above >= 0 else None

    def root(self, unit: int) -> Place:
        """The root of a file."""
        return unit, self.units[unit].scopes.root

    def visible(self, unit: int) -> list[int]:
        """The positions of the units that are visible in a unit, in textX's order."""
        seen = self.units[unit]
        always = (~number for number in seen.scopes.rules.always)
        return [seen.position(other) for other in (*seen.visible, *always)]

    def loaded(self, at: Place) -> list[int]:
        """The positions of the units that an import names."""
        unit = self.units[at[0]]
        return [unit.position(other) for other in unit.loaded.get(at[1], ())]

    def is_one_of(self, at: Place, classes: frozenset[str]) -> bool:
        """Whether an object is of a class, given by the qualified names of all it stands for."""
        cls = self.cls(at)
        return self.rules(at).identity.get(cls, cls) in classes

    def bearers(self, unit: int, name: str, classes: frozenset[str]) -> list[Place]:
        """The objects of one file with a name (the first and the last one of each class)."""
        self.reads.add(("bearers", name))
        found = [(unit, thing) for thing in self.units[unit].scopes.bearers(name)]
        return [at for at in found if self.is_one_of(at, classes)]

    # ---- what features hold ----------------------------------------------------------------------

    def features(self, at: Place) -> tuple[str, ...]:
        """The features of an object that hold objects, in the grammar's order.

        Raises:
            OutOfSight: they are not known.
        """
        if self.units[at[0]].opaque:
            raise OutOfSight
        return self.rules(at).features.get(self.cls(at), ())

    def values(self, at: Place, feature: str) -> list[Place]:
        """The objects in a feature, in order.

        Raises:
            OutOfSight: the language's own code determines them.
        """
        if feature in self.features(at):
            self.reads.add((at[1], feature))
            contained = self.units[at[0]].scopes.contained(at[1], feature)
            if contained:
                return [(at[0], thing) for thing in contained]
            entries = self._seen((*at, feature), None)
            return [entry.target for entry in entries if entry.target is not None]
        parent = self.parent(at) if feature == "parent" else None
        return [] if parent is None else [parent]

    def named(self, at: Place, feature: str, name: str) -> Place | None:
        """The first object of that name in a feature.

        Raises:
            OutOfSight: the language's own code determines what is in the feature.
        """
        if feature in self.features(at):
            self.reads.add((at[1], feature, name))
            thing = self.units[at[0]].scopes.first(at[1], feature, name)
            if thing is not None:
                return at[0], thing
            entries = self._seen((*at, feature), name)
            return entries[0].target if entries else None
        parent = self.parent(at) if feature == "parent" else None
        return parent if parent is not None and self.name(parent) == name else None

    def _seen(self, cell: Cell, name: str | None) -> list[Entry]:
        """The references of a feature that are resolved before the current one, in order.

        Args:
            name: that of the object they mean, if not all are wanted.
        """
        resolved = self._of(cell)
        if resolved is None:
            return []
        if any(self._is_before(entry) for entry in resolved.hidden[:1]):
            raise OutOfSight
        entries = resolved.entries if name is None else resolved.by_name.get(name, [])
        if self._before is not None:
            entries = [entry for entry in entries if self._is_before(entry)]
        if name is None and entries and not entries[-1].many:
            return entries[-1:]
        return entries

    def _is_before(self, entry: Entry) -> bool:
        return self._before is None or entry[:2] < self._before

    def _of(self, cell: Cell) -> _Resolved | None:
        self.reads.add(("referred", *cell[1:]))
        resolved = self._resolved.get(cell)
        unit = self.units[cell[0]]
        if resolved is None and cell[1:] in unit.known:
            resolved = self._resolved[cell] = _Resolved([], [], {})
            for at, (other, thing) in enumerate(unit.known[cell[1:]]):
                target = (unit.given + other, thing)
                self._include(resolved, Entry(0, (cell[0], at, at), True, target))
        if resolved is None and cell in self._known:
            resolved = self._resolved[cell] = _Resolved([], [], {})
            scopes = self.units[0].scopes
            for entry in self._known[cell]:
                number = entry.order[2]
                place = scopes.place(scopes.mention(number).start)
                self._include(resolved, entry._replace(order=(0, place, number)))
        return resolved

    def _include(self, resolved: _Resolved, entry: Entry) -> None:
        """One more reference in its order, which mostly is at the end."""
        if entry.target is None:
            insort(resolved.hidden, entry)
            return
        insort(resolved.entries, entry)
        unit, thing = entry.target
        name = self.units[unit].scopes.name(thing)
        if name is not None:
            insort(resolved.by_name.setdefault(name, []), entry)

    def require_settled(self, at: Place, feature: str) -> None:
        """Go on only where all references of a feature have been resolved.

        Raises:
            Waiting: some have not.
        """
        cell = (*at, feature)
        if self._unsettled.get(cell) or self._known_unsettled.get(cell):
            self.reads.add(("referred", *cell[1:]))
            raise Waiting(cell)
        resolved = self._of(cell)
        if resolved is not None:
            last = (*resolved.entries[-1:], *resolved.hidden[-1:])
            self.turn = max((self.turn, *(entry.turn for entry in last)))

    # ---- linking goes on -------------------------------------------------------------------------

    def begin(self, before: tuple[int, Order] | None) -> None:
        """A search begins.

        Args:
            before: pass and order of its reference, where it must not see what comes behind.
        """
        self.reads = set()
        self.turn = 0
        self._before = before

    def expect(self, unit: int, mention: Mention) -> None:
        """A reference of the feature is to be resolved."""
        cell = (unit, mention.source, mention.feature)
        self._unsettled[cell] = self._unsettled.get(cell, 0) + 1

    def refer(self, cell: Cell, entry: Entry) -> None:
        """A reference has been resolved; what does not wait for it sees it from now on."""
        resolved = self._of(cell)
        if resolved is None:
            resolved = self._resolved[cell] = _Resolved([], [], {})
        self._include(resolved, entry)

    def settle(self, cell: Cell) -> bool:
        """One reference less to wait for; whether it was the last one of its feature."""
        self._unsettled[cell] -= 1
        return self._unsettled[cell] == 0
