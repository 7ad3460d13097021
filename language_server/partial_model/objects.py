"""The objects of a text and of the files visible from it, as the linker walks them.

Features that refer to objects get their values while linking goes on; what textX has not resolved
at that moment cannot be walked, and what only its own code resolves cannot be followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from language_server.partial_model.scopes import Mention, Number, Scopes
from language_server.partial_model.ways import LinkRules

Place = tuple[int, Number]  # an object: the position of its file among the units, its number there
Cell = tuple[int, Number, str]  # a feature of an object


@dataclass(frozen=True)
class Unit:
    """A text among those that are linked together.

    Attributes:
        path: its file, '' if it has none.
        visible: positions of the units that are visible in it, in textX's order.
        loaded: for each import (its object) the units it names.
        opaque: whether its objects have features that are not known here.
    """

    path: str
    scopes: Scopes
    visible: tuple[int, ...] = ()
    loaded: Mapping[Number, tuple[int, ...]] = field(default_factory=dict)
    opaque: bool = False


class Waiting(Exception):
    """The search has come to references that are not resolved so far."""

    def __init__(self, cell: Cell) -> None:
        super().__init__(cell)
        self.cell = cell


class OutOfSight(Exception):
    """The search has come to what only the language's own code knows."""


class Objects:
    """All objects of some units, with the references resolved so far."""

    def __init__(self, units: tuple[Unit, ...]) -> None:
        self.units = units
        self._unsettled: dict[Cell, int] = {}
        self._referred: dict[Cell, list[Place]] = {}
        self._named: dict[tuple[Cell, str], Place] = {}
        self._hidden: set[Cell] = set()

    # ---- what a text says ------------------------------------------------------------------------

    def rules(self, at: Place) -> LinkRules:
        """The rules of the language an object belongs to."""
        return self.units[at[0]].scopes.rules

    def cls(self, at: Place) -> str:
        """The class of an object, as its own grammar calls it."""
        return self.units[at[0]].scopes.things[at[1]].cls

    def name(self, at: Place) -> str | None:
        """The name of an object."""
        found: str | None = self.units[at[0]].scopes.cells.get(("name", at[1]))
        return found

    def parent(self, at: Place) -> Place | None:
        """The object around an object; None for a root."""
        above = self.units[at[0]].scopes.things[at[1]].parent
        return (at[0], above) if above >= 0 else None

    def root(self, at: Place) -> Place:
        """The root of the file an object belongs to."""
        return at[0], 0

    def is_one_of(self, at: Place, classes: frozenset[str]) -> bool:
        """Whether an object is of a class, given by the qualified names of all it stands for."""
        cls = self.cls(at)
        return self.rules(at).identity.get(cls, cls) in classes

    def bearers(self, unit: int, name: str, classes: frozenset[str]) -> list[Place]:
        """The objects of one file with a name (the first and the last one of each class)."""
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
            contained = self.units[at[0]].scopes.contained(at[1], feature)
            if contained:
                return [(at[0], thing) for thing in contained]
            cell = self._in_sight((*at, feature))
            return self._referred.get(cell, [])
        parent = self.parent(at) if feature == "parent" else None
        return [] if parent is None else [parent]

    def named(self, at: Place, feature: str, name: str) -> Place | None:
        """The first object of that name in a feature.

        Raises:
            OutOfSight: the language's own code determines what is in the feature.
        """
        if feature in self.features(at):
            thing = self.units[at[0]].scopes.cells.get((at[1], feature, name))
            if thing is not None:
                return at[0], thing
            return self._named.get((self._in_sight((*at, feature)), name))
        parent = self.parent(at) if feature == "parent" else None
        return parent if parent is not None and self.name(parent) == name else None

    def _in_sight(self, cell: Cell) -> Cell:
        if cell in self._hidden:
            raise OutOfSight
        return cell

    def require_settled(self, at: Place, feature: str) -> None:
        """Go on only where all references of a feature have been resolved.

        Raises:
            Waiting: some have not.
        """
        cell = (*at, feature)
        if self._unsettled.get(cell):
            raise Waiting(cell)

    # ---- linking goes on -------------------------------------------------------------------------

    def expect(self, unit: int, mention: Mention) -> None:
        """A reference of the feature is to be resolved."""
        cell = (unit, mention.source, mention.feature)
        self._unsettled[cell] = self._unsettled.get(cell, 0) + 1

    def refer(self, unit: int, mention: Mention, target: Place) -> None:
        """A reference has been resolved; what does not wait for it sees it from now on."""
        cell = (unit, mention.source, mention.feature)
        if mention.many:
            self._referred.setdefault(cell, []).append(target)
        else:
            self._referred[cell] = [target]
        name = self.name(target)
        if name is not None:
            self._named.setdefault((cell, name), target)

    def hide(self, unit: int, mention: Mention) -> None:
        """A reference is resolved by the language's own code: its feature is out of sight."""
        self._hidden.add((unit, mention.source, mention.feature))

    def settle(self, unit: int, mention: Mention) -> bool:
        """One reference less to wait for; whether it was the last one of its feature."""
        cell = (unit, mention.source, mention.feature)
        self._unsettled[cell] -= 1
        return self._unsettled[cell] == 0
