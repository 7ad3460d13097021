"""Linking of a text when it has ended, and again after an edit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from immutables import Map

from language_server.partial_model.draft import Draft
from language_server.partial_model.members import grown, shrunk
from language_server.partial_model.model import NOTHING, Node, ObjectId
from language_server.partial_model.objects import Cell, Entry, Place, Unit
from language_server.partial_model.resolution import (
    Failure,
    Fault,
    Outcome,
    Resolution,
    fault_of,
    with_given_models,
)
from language_server.partial_model.schema import FeatureInfo
from language_server.partial_model.scopes import Mention, Scopes
from language_server.syntax.anchors import as_it_is


class Target(NamedTuple):
    """What a reference means: a name in a file.

    Attributes:
        start, end: where the reference stands.
        path: the file that declares the object, '' for the text itself.
        name_start, name_end: the span of the object's name there.
    """

    start: int
    end: int
    path: str
    name_start: int
    name_end: int


class Surroundings(Protocol):
    """The place of a text among files: what it imports."""

    def gather(self, scopes: Scopes) -> tuple[tuple[Unit, ...], tuple[Fault, ...]]:
        """The text as the first unit with all files that are read for it, and failed imports."""


class Linked:
    """What the references of a text mean; a persistent value.

    Attributes:
        units: the text, and the others that were linked with it.
        outcomes: of its references by number.
        entries, unsettled: for each feature of an object the references that are resolved, and how
            many are not and never will be.
        failures, stuck: the references that are refused, and those that never could be resolved.
        stated: what is stated in the partial model for a reference.
    """

    __slots__ = (
        "entries",
        "failures",
        "outcomes",
        "readers",
        "stated",
        "stuck",
        "units",
        "unsettled",
    )

    def __init__(self, units: tuple[Unit, ...], before: Linked | None = None) -> None:
        nothing: Any = Map()
        self.units = units
        self.outcomes: Map[int, Outcome] = before.outcomes if before else nothing
        self.entries: Map[Cell, tuple[Entry, ...]] = before.entries if before else nothing
        self.unsettled: Map[Cell, int] = before.unsettled if before else nothing
        self.readers: Map[Any, Collection[int]] = before.readers if before else nothing
        self.failures: Map[int, Failure] = before.failures if before else nothing
        self.stuck: Map[int, None] = before.stuck if before else nothing
        self.stated: Map[int, Link] = before.stated if before else nothing

    def touched(self, cells: Iterable[Any], mentions: Iterable[Mention]) -> set[int]:
        """The references whose meaning may change.

        Args:
            cells: of the scopes that have changed.
            mentions: references that come or go.
        """
        found: set[int] = set()
        waiting = [*cells, *(("referred", each.source, each.feature) for each in mentions)]
        numbers = list(self.stuck)
        while waiting or numbers:
            if waiting:
                numbers.extend(self.readers.get(waiting.pop(), ()))
            for number in numbers:
                if number not in found:
                    found.add(number)
                    waiting.append(("referred", *self.outcomes[number].cell[1:]))
            numbers = []
        return found

    def without(self, numbers: Iterable[int], units: tuple[Unit, ...]) -> Linked:
        """Without what some references mean."""
        after = Linked(units, self)
        outcomes, readers = self.outcomes.mutate(), self.readers.mutate()
        for number in numbers:
            outcome = outcomes.pop(number)
            cell = outcome.cell
            if outcome.entry is None:
                left = after.unsettled[cell] - 1
                unsettled = after.unsettled
                after.unsettled = unsettled.set(cell, left) if left else unsettled.delete(cell)
            else:
                kept = tuple(each for each in after.entries[cell] if each.order[2] != number)
                entries = after.entries
                after.entries = entries.set(cell, kept) if kept else entries.delete(cell)
            for read in outcome.reads:
                members = shrunk(readers[read], number)
                if len(members):
                    readers[read] = members
                else:
                    del readers[read]
            if number in after.failures:
                after.failures = after.failures.delete(number)
            if number in after.stuck:
                after.stuck = after.stuck.delete(number)
        after.outcomes, after.readers = outcomes.finish(), readers.finish()
        return after

    def including(self, resolution: Resolution) -> Linked:
        """With what the resolved references of the text mean."""
        after = Linked(self.units, self)
        #: Only what a text that may be edited rests on is kept.
        keeping = len(self.units) == 1 and self.units[0].scopes.place is not as_it_is
        outcomes, readers = self.outcomes.mutate(), self.readers.mutate()
        entries, unsettled = self.entries.mutate(), self.unsettled.mutate()
        for (unit, number), outcome in resolution.outcomes.items():
            if unit:
                continue
            outcomes[number] = outcome
            cell, failure = outcome.cell, outcome.failure
            if outcome.entry is None:
                unsettled[cell] = unsettled.get(cell, 0) + 1
            else:
                entries[cell] = (*entries.get(cell, ()), outcome.entry)
            if keeping:
                for read in outcome.reads:
                    readers[read] = grown(readers.get(read), number)
            if failure is not None:
                after.failures = after.failures.set(number, failure)
            if outcome.entry is None and (failure is None or failure.kind == "circular"):
                after.stuck = after.stuck.set(number, None)
        after.outcomes, after.readers = outcomes.finish(), readers.finish()
        after.entries, after.unsettled = entries.finish(), unsettled.finish()
        return after

    def faults(self, scopes: Scopes) -> Iterator[Fault]:
        """The references that are refused."""
        units = with_given_models((replace(self.units[0], scopes=scopes), *self.units[1:]))
        for number, failure in self.failures.items():
            yield fault_of(units, 0, number, failure)

    def targets(self, scopes: Scopes) -> Iterator[Target]:
        """What the references mean, in the order of the text."""
        units = (replace(self.units[0], scopes=scopes), *self.units[1:])
        for mention in scopes.mentions():
            entry = self.outcomes[mention.number].entry
            if entry is not None and entry.target is not None:
                unit = units[entry.target[0]] if entry.target[0] < len(units) else None
                if unit is not None:  # else it is always there
                    span = unit.scopes.name_span(entry.target[1])
                    path = unit.path if entry.target[0] else ""
                    yield Target(mention.start, mention.end, path, *span)


Link = tuple[str, ObjectId, ObjectId]  # feature, source, target


class Relinking(NamedTuple):
    """What an edit changes for the linker.

    Attributes:
        cells: of the scopes, as they are read (see `Objects.reads`).
        gone, come: references.
    """

    cells: set[tuple[Any, ...]]
    gone: list[Mention]
    come: list[Mention]


def link(draft: Draft) -> None:
    """The text has ended: its references get their targets, as far as refinement has not."""
    scopes = draft.scopes
    if scopes is None:
        return
    units, faults = gathered(scopes, draft.surroundings)
    resolution = Resolution(units)
    if any(unit for unit, _ in resolution.faults):
        faults = (*faults, *_of_imports(scopes, units, resolution))
    linked = Linked(units).including(resolution)
    _state_links(draft, resolution, linked, linked.outcomes, scopes)
    _keep(draft, linked, (*faults, *linked.faults(scopes)))


def relink(draft: Draft, change: Relinking) -> None:
    """The text has been edited: the references whose meaning may have changed are linked again."""
    scopes, before = draft.scopes, draft.linked
    assert scopes is not None and before is not None
    units = (Unit("", scopes),)
    touched = before.touched(change.cells, (*change.gone, *change.come))
    gone = {mention.number for mention in change.gone}
    again = [scopes.mention(number) for number in touched - gone]
    left = before.without(touched | gone, units)
    resolution = Resolution(units, left, (*again, *change.come))
    linked = left.including(resolution)
    for number in touched | gone:
        known = before.stated.get(number)
        if known is not None:
            symbol, source, target = known
            draft.unlink(draft.schema.features[symbol], source, target)
            linked.stated = linked.stated.delete(number)
    numbers = [number for _, number in resolution.outcomes]
    _state_links(draft, resolution, linked, numbers, scopes)
    _keep(draft, linked, tuple(linked.faults(scopes)))


def _keep(draft: Draft, linked: Linked, faults: tuple[Fault, ...]) -> None:
    if draft.faults or faults:
        draft.touched.append(("faults",))
    draft.faults = faults
    draft.linked = linked


def gathered(
    scopes: Scopes, surroundings: Surroundings | None
) -> tuple[tuple[Unit, ...], tuple[Fault, ...]]:
    """A text as the first unit, with the files around it and what is wrong with its imports."""
    if surroundings is None:
        return (Unit("", scopes),), ()
    return surroundings.gather(scopes)


def _state_links(
    draft: Draft, resolution: Resolution, linked: Linked, numbers: Iterable[int], scopes: Scopes
) -> None:
    """State in the model what references mean that refinement has not linked."""
    foreign: dict[Place, ObjectId] = {}
    mentions = sorted(map(scopes.mention, numbers), key=lambda each: scopes.place(each.start))
    stated = linked.stated.mutate()
    for mention in mentions:
        entry = linked.outcomes[mention.number].entry
        target = None if entry is None else entry.target
        if target is None:
            continue
        cls = scopes.things[mention.source].cls
        source = scopes.node(mention.source)
        feature = draft.schema.feature_map.get((cls, mention.feature))
        if source is None or feature is None or scopes.rules.way(cls, mention.feature).plain:
            continue
        if target[0] == 0:
            node = scopes.node(target[1])
        else:
            if target not in foreign:
                unit = resolution.units[target[0]]
                foreign[target] = _foreign_node(draft, unit, target, feature)
            node = foreign[target]
        if node is not None:
            if feature.upper == 1:
                for before in draft.of(source).get(feature.forward, NOTHING):
                    draft.revised = True
                    draft.sever(feature, source, before)
            draft.link(feature, source, node)
            stated[mention.number] = (feature.symbol, source, node)
    linked.stated = stated.finish()


def _foreign_node(draft: Draft, unit: Unit, target: Place, feature: FeatureInfo) -> ObjectId:
    """An object that is not of this text: of it nothing is known here but class and name."""
    cls = unit.scopes.things[target[1]].cls
    info = draft.schema.rules.get(cls)
    if info is None or not info.descendants <= feature.targets:
        info = draft.schema.classes[feature.target]
    name = unit.scopes.name(target[1])
    return draft.add_node(Node(info.kinds, name, False, "mentioned", rule=info.name), info.name)


def _of_imports(scopes: Scopes, units: tuple[Unit, ...], resolution: Resolution) -> Iterator[Fault]:
    """What is wrong in imported files, at the imports by which they come in."""
    broken = {unit: fault for unit, fault in reversed(resolution.faults) if unit > 0}
    for one in scopes.imports():
        reached = list(units[0].loaded.get(one.source, ()))
        for unit in reached:
            further = {other for loaded in units[unit].loaded.values() for other in loaded}
            reached += sorted(further - {0, *reached})
        for unit in reached:
            if unit in broken:
                fault = broken.pop(unit)
                what = f"{units[unit].path}: '{fault.name}' is not known there"
                yield Fault("import", one.start, one.end, one.uri, what)
    for unit, fault in sorted(broken.items()):
        what = f"{units[unit].path}: '{fault.name}' is not known there"
        yield Fault("import", 0, 0, "", what)
