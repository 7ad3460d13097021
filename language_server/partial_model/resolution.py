"""Linking of texts as textX links them: pass by pass, each reference when it can be resolved.

Textx goes through all references again and again until nothing is left to resolve; a reference that
leads through others waits for an earlier pass to resolve these. Here each waits for the one feature
that it came to, so that the cost is that of the searches, however many passes textX would need.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from language_server.partial_model.objects import (
    Cell,
    Entry,
    Objects,
    OutOfSight,
    Place,
    Unit,
    Waiting,
)
from language_server.partial_model.scopes import Mention, Number
from language_server.partial_model.search import Ambiguous, Circular, find
from language_server.partial_model.ways import Own, Qualified

if TYPE_CHECKING:
    from language_server.partial_model.linking import Linked

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
    reads: Set[tuple[Any, ...]]


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
        self.units = with_given_models(units)
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
            for *_, mention in queue:
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
            self.outcomes[unit, mention.number] = Outcome(cell, entry, None, objects.reads)
            objects.refer(cell, entry)
            settled.append(cell)
        for cell in settled:  # others see it as resolved when the pass is over
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
            for other in self.objects.visible(unit):
                root = self.objects.root(other)
                found = found or find(self.objects, way.scope, mention, classes, root)
        if found is None and mention.name in rules.builtins:
            cls, (model, thing) = rules.builtins[mention.name]
            if cls in classes:
                return self.units[unit].given + model, thing
        return found

    def _fail(self, kind: str, unit: int, mention: Mention, found: list[Place]) -> None:
        cell = (unit, mention.source, mention.feature)
        self._failed.add(cell)
        failure = Failure(kind, tuple(found))
        self.outcomes[unit, mention.number] = Outcome(cell, None, failure, self.objects.reads)

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


def with_given_models(units: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """The units, and behind them the models that their languages are given."""
    found = list(units)
    begins: dict[int, int] = {}
    for number, unit in enumerate(units):
        rules = unit.scopes.rules
        begin = begins.get(id(rules))
        if begin is None:
            begin = begins[id(rules)] = len(found)
            found += [replace(model, given=begin) for model in rules.given]
        if rules.given:
            found[number] = replace(unit, given=begin)
    return tuple(found)
