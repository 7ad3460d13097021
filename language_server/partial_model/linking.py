"""Linking of texts as textX links them: pass by pass, each reference when it can be resolved.

Textx goes through all references again and again until nothing is left to resolve; a reference that
leads through others waits for an earlier pass to resolve these. Here each waits for the one feature
that it came to, so that the cost is that of the searches, however many passes textX would need.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from immutables import Map

from language_server.partial_model.members import grown, shrunk
from language_server.partial_model.model import NOTHING, Draft, Node, ObjectId
from language_server.partial_model.objects import (
    Cell,
    Entry,
    Objects,
    OutOfSight,
    Place,
    Unit,
    Waiting,
)
from language_server.partial_model.schema import FeatureInfo
from language_server.partial_model.scopes import Mention, Number, Scopes, Thing
from language_server.partial_model.search import Ambiguous, Circular, find
from language_server.partial_model.ways import LinkRules, Own, Qualified

_SEPARATORS = re.compile(r"[^\w]+")


class Fault(NamedTuple):
    """A reference (or import) that textX refuses.

    Attributes:
        kind: ``unresolved``: no object can be meant; ``ambiguous``: several; ``circular``: what it
            means depends on itself; ``import``: a file cannot be used.
        start, end: where it stands.
        target: the class of the grammar that is looked for, or what is wrong with the file.
        found: of an ambiguous reference the objects of the name; of an unresolved one those that
            have the name and the right class, but cannot be seen from here: the qualified name of
            each and the span of its name (-1, -1 if it is in another file).
        by_default: whether it is linked by plain name, which refinement reports itself.
    """

    kind: str
    start: int
    end: int
    name: str
    target: str
    found: tuple[tuple[str, int, int], ...] = ()
    by_default: bool = False


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


class Failure(NamedTuple):
    """Why a reference is refused, and the objects that have to do with it."""

    kind: str
    found: tuple[Place, ...] = ()


class Outcome(NamedTuple):
    """What has become of a reference.

    Attributes:
        cell: the feature of an object that it fills.
        entry: what it means; None where it is refused or waits for ever.
        failure: why it is refused.
        reads: what the search has come to (see `Objects.reads`).
    """

    cell: Cell
    entry: Entry | None
    failure: Failure | None
    reads: frozenset[tuple[Any, ...]]


class Resolution:
    """The references of some texts, resolved together.

    Attributes:
        outcomes: by unit and number of the reference.
        objects: all objects, with what their references mean.

    Args:
        units: the texts.
        known: what the references of the only unit mean that are not to be resolved.
        again: the references of the only unit that are; without them all references of all.
    """

    def __init__(
        self,
        units: tuple[Unit, ...],
        known: Linked | None = None,
        again: Iterable[Mention] | None = None,
    ) -> None:
        rules = units[0].scopes.rules
        self._builtins = {name: number for number, name in enumerate(rules.builtins)}
        self.units = (*units, _builtin_unit(rules))
        self.outcomes: dict[tuple[int, int], Outcome] = {}
        if known is None:
            self.objects = Objects(self.units)
        else:
            self.objects = Objects(self.units, known.entries, known.unsettled)
        self._mixed = known is not None
        self._blocked: defaultdict[Cell, list[tuple[int, Mention]]] = defaultdict(list)
        self._queues: list[list[tuple[int, int, Mention]]] = []
        self._failed: set[Cell] = set()
        self._turn = 0
        for number, unit in enumerate(units):
            mentions = unit.scopes.mentions() if again is None else again
            queue = [self._entry(number, mention) for mention in mentions]
            self._queues.append(sorted(queue))
            for _, _, mention in queue:
                self.objects.expect(number, mention)
        while any(self._queues):
            self._turn += 1
            for number in range(len(units)):
                self._pass_through(number)
        self._report_circular(known)

    def look_up(self, source: Number, feature: str, target: str, name: str) -> Place | None:
        """What a further reference of the first text would mean, None if there is nothing.

        Args:
            source: the object that holds it.
            feature: the feature it fills.
            target: the class of the grammar it refers to.
            name: its text.

        Raises:
            Ambiguous, Circular, OutOfSight, Waiting: as `find` does.
        """
        return self._resolve(0, Mention(-1, source, feature, False, target, name, -1, -1))

    @property
    def targets(self) -> dict[tuple[int, int], Place]:
        """What the references mean, by unit and number."""
        return {
            number: outcome.entry.target
            for number, outcome in self.outcomes.items()
            if outcome.entry is not None and outcome.entry.target is not None
        }

    @property
    def faults(self) -> list[tuple[int, Fault]]:
        """The references that are refused, with their unit."""
        return [
            (unit, fault_of(self.units, unit, number, outcome.failure))
            for (unit, number), outcome in self.outcomes.items()
            if outcome.failure is not None
        ]

    def _entry(self, unit: int, mention: Mention) -> tuple[int, int, Mention]:
        return self.units[unit].scopes.place(mention.start), mention.number, mention

    def _pass_through(self, unit: int) -> None:
        """What textX does with one text in one pass."""
        queue, self._queues[unit] = self._queues[unit], []
        settled = []
        while queue:
            place, number, mention = heapq.heappop(queue)
            cell = (unit, mention.source, mention.feature)
            objects = self.objects
            target: Place | None = None
            try:
                target = self._resolve(unit, mention)
            except Waiting as waiting:
                self._blocked[waiting.cell].append((unit, mention))
                continue
            except OutOfSight:
                pass
            except Ambiguous as ambiguous:
                self._fail("ambiguous", unit, mention, ambiguous.found)
                continue
            except Circular:
                self._fail("circular", unit, mention, [])
                continue
            else:
                if target is None:
                    self._fail("unresolved", unit, mention, self._out_of_scope(unit, mention))
                    continue
                objects.reads.add(("name", target[1]))
            turn = objects.turn + 1 if self._mixed else self._turn
            entry = Entry(turn, (unit, place, number), mention.many, target)
            reads = frozenset(objects.reads)
            self.outcomes[unit, mention.number] = Outcome(cell, entry, None, reads)
            objects.refer(cell, entry)
            settled.append((cell, mention))
        for cell, mention in settled:  # others see it as resolved when the pass is over
            if self.objects.settle(cell):
                for waiting_unit, waiting_mention in self._blocked.pop(cell, ()):
                    waiting_entry = self._entry(waiting_unit, waiting_mention)
                    heapq.heappush(self._queues[waiting_unit], waiting_entry)

    def _resolve(self, unit: int, mention: Mention) -> Place | None:
        self.objects.begin(None)
        rules = self.units[unit].scopes.rules
        at = (unit, mention.source)
        way = rules.way(self.objects.cls(at), mention.feature)
        if isinstance(way.scope, Own):
            raise OutOfSight
        if self._mixed and isinstance(way.scope, Qualified):  # it waits for no others
            place, number, _ = self._entry(unit, mention)
            self.objects.begin((1, (unit, place, number)))
        classes = rules.fitting.get(mention.target, frozenset())
        found = find(self.objects, way.scope, mention, classes, at)
        if found is None and way.elsewhere:
            for other in self.units[unit].visible:
                root = self.objects.root(other)
                found = found or find(self.objects, way.scope, mention, classes, root)
        if found is None and rules.builtins.get(mention.name) in classes:
            if rules is not self.units[0].scopes.rules:
                raise OutOfSight
            return len(self.units) - 1, self._builtins[mention.name]
        return found

    def _fail(self, kind: str, unit: int, mention: Mention, found: list[Place]) -> None:
        cell = (unit, mention.source, mention.feature)
        self._failed.add(cell)
        failure = Failure(kind, tuple(found))
        reads = frozenset(self.objects.reads)
        self.outcomes[unit, mention.number] = Outcome(cell, None, failure, reads)

    def _out_of_scope(self, unit: int, mention: Mention) -> list[Place]:
        """Objects that a reference which leads nowhere may have been meant for."""
        rules = self.units[unit].scopes.rules
        classes = rules.fitting.get(mention.target, frozenset())
        parts = [part for part in _SEPARATORS.split(mention.name) if part]
        return self.objects.bearers(unit, parts[-1], classes) if parts else []

    def _report_circular(self, known: Linked | None) -> None:
        """What still waits waits for itself, unless it waits for what failed."""
        after: defaultdict[Cell, list[Cell]] = defaultdict(list)
        for cell, blocked in self._blocked.items():
            for unit, mention in blocked:
                after[cell].append((unit, mention.source, mention.feature))
                mine = (unit, mention.source, mention.feature)
                self.outcomes[unit, mention.number] = Outcome(mine, None, None, frozenset())
        excused = set(self._failed)
        if known is not None:
            excused |= {cell for cell in after if known.unsettled.get(cell)}
        waiting = list(excused)
        while waiting:
            for cell in after.get(waiting.pop(), ()):
                if cell not in excused:
                    excused.add(cell)
                    waiting.append(cell)
        left = [each for cell, each in self._blocked.items() if cell not in excused]
        for unit, mention in sorted(
            (entry for blocked in left for entry in blocked),
            key=lambda entry: (entry[0], *self._entry(*entry)),
        ):
            self._fail("circular", unit, mention, [])


def fault_of(units: tuple[Unit, ...], unit: int, number: int, failure: Failure) -> Fault:
    """A reference that is refused, at its place."""
    scopes = units[unit].scopes
    mention = scopes.mention(number)
    way = scopes.rules.way(scopes.things[mention.source].cls, mention.feature)
    others = []
    for at in failure.found:
        other = units[at[0]].scopes
        span = other.name_span(at[1]) if at[0] == unit else (-1, -1)
        others.append((".".join(other.names_down_to(at[1])), *span))
    return Fault(
        failure.kind,
        mention.start,
        mention.end,
        mention.name,
        mention.target,
        tuple(others),
        way.plain and not scopes.rules.builtins,
    )


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
            if len(self.units) == 1:
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
        units = (replace(self.units[0], scopes=scopes), *self.units[1:])
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
                for before in draft.facts.get((feature.symbol, ">", source), NOTHING):
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


def _builtin_unit(rules: LinkRules) -> Unit:
    """The objects that are always there; what they hold only textX knows."""
    scopes = Scopes.empty(rules)
    things, cells = scopes.things, scopes.cells
    for number, (name, cls) in enumerate(rules.builtins.items()):
        things = things.set(number, Thing(cls, -1, "", -1))
        cells = cells.set(("name", number), (name, -1, -1))
    return Unit("", Scopes(rules, things, cells, -1), opaque=True)
