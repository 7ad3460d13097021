"""Linking of texts as textX links them: pass by pass, each reference when it can be resolved.

Textx goes through all references again and again until nothing is left to resolve; a reference that
leads through others waits for an earlier pass to resolve these. Here each waits for the one feature
that it came to, so that the cost is that of the searches, however many passes textX would need.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from language_server.partial_model.model import NOTHING, Draft, Node, ObjectId
from language_server.partial_model.objects import Cell, Objects, OutOfSight, Place, Unit, Waiting
from language_server.partial_model.schema import FeatureInfo
from language_server.partial_model.scopes import Mention, Number, Scopes, Thing
from language_server.partial_model.search import Ambiguous, Circular, find
from language_server.partial_model.ways import LinkRules, Own

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


class Resolution:
    """The references of some texts, resolved together.

    Attributes:
        targets: (unit, number of the reference) to what it means.
        faults: (unit, fault) for each reference that cannot be resolved, in textX's order.
        objects: all objects, with what their references mean.
    """

    def __init__(self, units: tuple[Unit, ...]) -> None:
        rules = units[0].scopes.rules
        self._builtins = {name: number for number, name in enumerate(rules.builtins)}
        self.units = (*units, _builtin_unit(rules))
        self.targets: dict[tuple[int, int], Place] = {}
        self.faults: list[tuple[int, Fault]] = []
        self.objects = Objects(self.units)
        self._blocked: defaultdict[Cell, list[tuple[int, Mention]]] = defaultdict(list)
        self._queues: list[list[tuple[int, Mention]]] = []
        self._failed: set[Cell] = set()
        for number, unit in enumerate(units):
            mentions = unit.scopes.mentions()
            self._queues.append([(mention.number, mention) for mention in mentions])
            for mention in mentions:
                self.objects.expect(number, mention)
        while any(self._queues):
            for number in range(len(units)):
                self._pass_through(number)
        self._report_circular()

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

    def _pass_through(self, unit: int) -> None:
        """What textX does with one text in one pass."""
        queue, self._queues[unit] = self._queues[unit], []
        settled = []
        while queue:
            mention = heapq.heappop(queue)[1]
            cell = (unit, mention.source, mention.feature)
            try:
                target = self._resolve(unit, mention)
            except Waiting as waiting:
                self._blocked[waiting.cell].append((unit, mention))
                continue
            except OutOfSight:
                self.objects.hide(unit, mention)
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
                self.targets[unit, mention.number] = target
                self.objects.refer(unit, mention, target)
            settled.append((cell, mention))
        for cell, mention in settled:  # others see it as resolved when the pass is over
            if self.objects.settle(unit, mention):
                for waiting_unit, waiting_mention in self._blocked.pop(cell, ()):
                    entry = (waiting_mention.number, waiting_mention)
                    heapq.heappush(self._queues[waiting_unit], entry)

    def _resolve(self, unit: int, mention: Mention) -> Place | None:
        rules = self.units[unit].scopes.rules
        at = (unit, mention.source)
        way = rules.way(self.objects.cls(at), mention.feature)
        if isinstance(way.scope, Own):
            raise OutOfSight
        classes = rules.fitting.get(mention.target, frozenset())
        found = find(self.objects, way.scope, mention, classes, at)
        if found is None and way.elsewhere:
            for other in self.units[unit].visible:
                found = found or find(self.objects, way.scope, mention, classes, (other, 0))
        if found is None and rules.builtins.get(mention.name) in classes:
            if rules is not self.units[0].scopes.rules:
                raise OutOfSight
            return len(self.units) - 1, self._builtins[mention.name]
        return found

    def _fail(self, kind: str, unit: int, mention: Mention, found: list[Place]) -> None:
        self._failed.add((unit, mention.source, mention.feature))
        scopes = self.units[unit].scopes
        way = scopes.rules.way(scopes.things[mention.source].cls, mention.feature)
        others = []
        for at in found:
            other = self.units[at[0]].scopes
            span = other.name_span(at[1]) if at[0] == unit else (-1, -1)
            others.append((".".join(other.names_down_to(at[1])), *span))
        fault = Fault(
            kind,
            mention.start,
            mention.end,
            mention.name,
            mention.target,
            tuple(others),
            way.plain and not scopes.rules.builtins,
        )
        self.faults.append((unit, fault))

    def _out_of_scope(self, unit: int, mention: Mention) -> list[Place]:
        """Objects that a reference which leads nowhere may have been meant for."""
        rules = self.units[unit].scopes.rules
        classes = rules.fitting.get(mention.target, frozenset())
        parts = [part for part in _SEPARATORS.split(mention.name) if part]
        return self.objects.bearers(unit, parts[-1], classes) if parts else []

    def _report_circular(self) -> None:
        """What still waits waits for itself, unless it waits for what failed."""
        after: defaultdict[Cell, list[Cell]] = defaultdict(list)
        for cell, blocked in self._blocked.items():
            for unit, mention in blocked:
                after[cell].append((unit, mention.source, mention.feature))
        excused = set(self._failed)
        waiting = list(self._failed)
        while waiting:
            for cell in after.get(waiting.pop(), ()):
                if cell not in excused:
                    excused.add(cell)
                    waiting.append(cell)
        left = [each for cell, each in self._blocked.items() if cell not in excused]
        for unit, mention in sorted(
            (entry for blocked in left for entry in blocked),
            key=lambda entry: (entry[0], entry[1].number),
        ):
            self._fail("circular", unit, mention, [])


def link(draft: Draft) -> None:
    """The text has ended: its references get their targets, as far as refinement has not."""
    scopes = draft.scopes
    if scopes is None:
        return
    units, faults = gathered(scopes, draft.surroundings)
    resolution = Resolution(units)
    elsewhere = [fault for unit, fault in resolution.faults if unit > 0]
    mine = tuple(fault for unit, fault in resolution.faults if unit == 0)
    if elsewhere:
        faults = (*faults, *_of_imports(scopes, units, resolution))
    draft.faults = (*faults, *mine)
    draft.links = tuple(_state_links(draft, scopes, resolution))
    if draft.faults:
        draft.touched.append(("faults",))


def gathered(
    scopes: Scopes, surroundings: Surroundings | None
) -> tuple[tuple[Unit, ...], tuple[Fault, ...]]:
    """A text as the first unit, with the files around it and what is wrong with its imports."""
    if surroundings is None:
        return (Unit("", scopes),), ()
    return surroundings.gather(scopes)


def _state_links(draft: Draft, scopes: Scopes, resolution: Resolution) -> Iterator[Target]:
    foreign: dict[Place, ObjectId] = {}
    for mention in scopes.mentions():
        target = resolution.targets.get((0, mention.number))
        if target is None:
            continue
        unit = resolution.units[target[0]]
        if not unit.opaque:
            span = unit.scopes.name_span(target[1])
            yield Target(mention.start, mention.end, unit.path if target[0] else "", *span)
        cls = scopes.things[mention.source].cls
        source = scopes.node(mention.source)
        feature = draft.schema.feature_map.get((cls, mention.feature))
        if source is None or feature is None or scopes.rules.way(cls, mention.feature).plain:
            continue
        if target[0] == 0:
            node = scopes.node(target[1])
        else:
            if target not in foreign:
                foreign[target] = _foreign_node(draft, unit, target, feature)
            node = foreign[target]
        if node is not None:
            if feature.upper == 1:
                for before in draft.facts.get((feature.symbol, ">", source), NOTHING):
                    draft.unlink(feature, source, before)
            draft.link(feature, source, node)


def _foreign_node(draft: Draft, unit: Unit, target: Place, feature: FeatureInfo) -> ObjectId:
    """An object that is not of this text: of it nothing is known here but class and name."""
    cls = unit.scopes.things[target[1]].cls
    info = draft.schema.rules.get(cls)
    if info is None or not info.descendants <= feature.targets:
        info = draft.schema.classes[feature.target]
    name = unit.scopes.cells.get(("name", target[1]))
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
        cells = cells.set(("name", number), name)
    return Unit("", Scopes(rules, things, cells, -1), opaque=True)
