"""A partial model being changed within one step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from immutables import Map

from language_server.partial_model.members import grown, shrunk
from language_server.partial_model.model import (
    NOT_USED,
    NOTHING,
    UNSAID,
    Cell,
    NameUse,
    Node,
    ObjectId,
    PartialModel,
    Reference,
)
from language_server.partial_model.schema import FeatureInfo, Schema

if TYPE_CHECKING:
    from language_server.partial_model.linking import Surroundings


class Draft:
    """A model being changed within one step.

    ``touched`` collects the cells that changed: of an object that is new only that it is, since
    nothing can rest on what was not there.
    """

    def __init__(self, model: PartialModel) -> None:
        self.schema = model.schema
        self.nodes = model.nodes.mutate()
        self.stated = model.stated
        self.extents = model.extents
        self.names = model.names
        self.facts = model.facts
        self.pending = model.pending
        self.ambiguous = model.ambiguous
        self.conflicts = model.conflicts
        self.unknown_values = model.unknown_values
        self.frame = model.frame
        self.next_id = model.next_id
        self.closed = model.closed
        self.scopes = model.scopes
        self.surroundings = model.surroundings
        self.linked = model.linked
        self.faults = model.faults
        self.place = model.place
        self.revised = False  # whether a second value has met the first one of a feature
        self.held: list[Reference] | None = None  # references by name, where they are to wait
        self.touched: list[Cell] = []
        self._new = model.next_id  # from here on numbers are those of objects that are new
        self._changed: dict[ObjectId, dict[str, Any]] = {}  # what replaces entries of `stated`

    @staticmethod
    def blank(schema: Schema, surroundings: Surroundings | None = None) -> Draft:
        """A draft without any object."""
        empty: Any = Map()
        maps = (empty,) * 9
        model = PartialModel(schema, *maps, None, 0, False)
        model.scopes = schema.no_scopes
        model.surroundings = surroundings
        return Draft(model)

    def commit(self) -> PartialModel:
        """The changed model."""
        if self._changed:
            stated = self.stated.mutate()
            for node, said in self._changed.items():
                if said:
                    stated[node] = said
                elif node in stated:
                    del stated[node]
            self.stated, self._changed = stated.finish(), {}
        nodes = self.nodes.finish()
        self.nodes = nodes.mutate()
        return PartialModel(
            self.schema,
            nodes,
            self.stated,
            self.extents,
            self.names,
            self.facts,
            self.pending,
            self.ambiguous,
            self.conflicts,
            self.unknown_values,
            self.frame,
            self.next_id,
            self.closed,
            self.scopes,
            self.surroundings,
            self.linked,
            self.faults,
            self.place,
        )

    def add_node(self, node: Node, home: str | None) -> ObjectId:
        """A further object; ``home`` is the most special class that it certainly is of."""
        number = self.next_id
        self.next_id = number + 1
        self.nodes[number] = node
        self.touched.append(("new", number))
        if home is not None:
            self.include(home, number)
        return number

    def replace_node(self, number: ObjectId, node: Node) -> None:
        """Other knowledge about an object."""
        before = self.nodes[number]
        self.nodes[number] = node
        if number >= self._new:
            return
        if node.kinds != before.kinds:
            self.touched.append(("kinds", number))
        if node.role != before.role:
            self.touched.append(("role", number))
        if node[1:4] != before[1:4]:  # name, open, role
            self.touched.append(("open", number))

    def shut(self, number: ObjectId, symbols: frozenset[str]) -> None:
        """Text has no place for some features of an object any more."""
        record = self.nodes[number]
        self.nodes[number] = record._replace(shut=record.shut | symbols)
        self.touched += [("open", number), ("bounds", number)]

    def drop_node(self, number: ObjectId) -> None:
        """An object turned out to be another one; its facts have been moved before."""
        del self.nodes[number]
        self.touched += [("open", number), ("kinds", number), ("gone", number)]

    def of(self, node: ObjectId) -> Mapping[str, Any]:
        """What is stated of an object so far, by ``forward`` and ``backward`` of features."""
        changed = self._changed.get(node)
        return self.stated.get(node, UNSAID) if changed is None else changed

    def _edit(self, node: ObjectId) -> dict[str, Any]:
        changed = self._changed.get(node)
        if changed is None:
            changed = self._changed[node] = dict(self.stated.get(node, UNSAID))
        return changed

    def include(self, cls: str, node: ObjectId) -> None:
        """A class is the most special one that an object certainly is of."""
        self.extents = self.extents.set(cls, grown(self.extents.get(cls), node))
        self.touched.append(("*", cls))

    def exclude(self, cls: str, node: ObjectId) -> None:
        """A class is not that any more."""
        left = shrunk(self.extents[cls], node)
        self.extents = self.extents.set(cls, left) if len(left) else self.extents.delete(cls)
        self.touched.append(("*", cls))

    def use_of(self, name: str) -> NameUse:
        """What a name is used for so far."""
        return self.names.get(name, NOT_USED)

    def bear(self, name: str, node: ObjectId) -> None:
        """An object has a name."""
        bearers, references = self.use_of(name)
        self.names = self.names.set(name, NameUse(grown(bearers or None, node), references))

    def lose(self, name: str, node: ObjectId) -> None:
        """An object has a name no more."""
        bearers, references = self.use_of(name)
        self._use(name, NameUse(shrunk(bearers, node), references))

    def refer(self, reference: Reference) -> None:
        """There is a reference by name."""
        bearers, references = self.use_of(reference.name)
        cls = reference.target_class
        there = {**references, cls: grown(references.get(cls) or None, reference)}
        self.names = self.names.set(reference.name, NameUse(bearers, there))

    def refer_from_outside(self, name: str, cls: str) -> None:
        """Others than the text refer to an object of the class by its name."""
        bearers, references = self.use_of(name)
        self._use(name, NameUse(bearers, {cls: (), **references}))

    def unrefer(self, reference: Reference) -> None:
        """There is a reference by name no more."""
        bearers, references = self.use_of(reference.name)
        left = dict(references)
        cls = reference.target_class
        left[cls] = shrunk(left[cls], reference)
        if not left[cls]:
            del left[cls]
        self._use(reference.name, NameUse(bearers, left))

    def unrefer_all(self, name: str) -> None:
        """There is no reference by this name any more."""
        self._use(name, NameUse(self.use_of(name).bearers, {}))

    def _use(self, name: str, use: NameUse) -> None:
        if use.bearers or use.references:
            self.names = self.names.set(name, use)
        elif name in self.names:
            self.names = self.names.delete(name)

    def link(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        """State a reference, and with it its opposite, and what they are subsets of.

        What is stated several times is counted, so that one statement can be taken back.
        """
        for entailed, exchanged in self.schema.entailed[feature.symbol]:
            self._link(entailed, *((target, source) if exchanged else (source, target)))

    def unlink(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        """Take back one statement of a reference, and with it all that it says."""
        if target in self.of(source).get(feature.forward, NOTHING):
            for entailed, exchanged in self.schema.entailed[feature.symbol]:
                self._unlink(entailed, *((target, source) if exchanged else (source, target)))

    def _link(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        of_source, of_target = self._edit(source), self._edit(target)
        targets = of_source.get(feature.forward)
        if targets is not None and target in targets:
            again = _again(feature, source, target)
            self.facts = self.facts.set(again, self.facts.get(again, 0) + 1)
            return
        of_source[feature.forward] = grown(targets, target)
        of_target[feature.backward] = grown(of_target.get(feature.backward), source)
        self._touch(feature, source, target)
        if feature.containment:
            of_target["<contains"] = grown(of_target.get("<contains"), source)

    def _unlink(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        if target not in self.of(source).get(feature.forward, NOTHING):
            return
        again = _again(feature, source, target)
        times = self.facts.get(again, 0)
        if times:
            left = self.facts.delete(again) if times == 1 else self.facts.set(again, times - 1)
            self.facts = left
            return
        self._part(feature.forward, source, target)
        if feature.forward != feature.backward or source != target:
            self._part(feature.backward, target, source)
        self._touch(feature, source, target)
        if feature.containment:
            self._part("<contains", target, source)

    def _opposite(self, feature: FeatureInfo) -> FeatureInfo:
        return self.schema.features[feature.opposite or feature.symbol]

    def _touch(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        """The ends of a reference have changed."""
        touched, new = self.touched, self._new
        if source < new:
            touched.append((feature.forward, source))
            if feature.bounded:
                touched.append(("bounds", source))
        if target < new:
            touched.append((feature.backward, target))
            if feature.containment:
                touched.append(("<contains", target))
            if feature.opposite is not None and self._opposite(feature).bounded:
                touched.append(("bounds", target))

    def _part(self, key: str, node: ObjectId, other: ObjectId) -> None:
        said = self._edit(node)
        left = shrunk(said[key], other)
        if len(left):
            said[key] = left
        else:
            del said[key]

    def sever(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> int:
        """Take back all statements of a reference; how many there were."""
        times = 0
        while target in self.of(source).get(feature.forward, NOTHING):
            self.unlink(feature, source, target)
            times += 1
        return times

    def assign(self, feature: FeatureInfo, source: ObjectId, value: Any) -> None:
        """State the value of an attribute; a list attribute collects its values in order."""
        said = self._edit(source)
        before = said.get(feature.forward)
        if feature.upper == 1:
            self.revised = self.revised or before is not None
            if before == value:
                return
            if before is not None and feature.looked_up:
                self._unindex(feature, before, source)
            said[feature.forward] = value
        else:
            said[feature.forward] = (*(before or ()), value)
        if source < self._new:
            self.touched.append((feature.forward, source))
            if feature.bounded:
                self.touched.append(("bounds", source))
        if feature.looked_up:
            cell = ("#", feature.symbol, value)
            self.facts = self.facts.set(cell, grown(self.facts.get(cell), source))
            self.touched.append(cell)

    def unassign(self, feature: FeatureInfo, node: ObjectId) -> None:
        """Take back what is stated of the value, or the values, of an attribute."""
        value = self._edit(node).pop(feature.forward)
        if feature.looked_up:
            for one in {value} if feature.upper == 1 else set(value):
                self._unindex(feature, one, node)
        self.touched.append((feature.forward, node))
        if feature.bounded:
            self.touched.append(("bounds", node))

    def _unindex(self, feature: FeatureInfo, value: Any, node: ObjectId) -> None:
        cell = ("#", feature.symbol, value)
        left = shrunk(self.facts[cell], node)
        self.facts = self.facts.set(cell, left) if len(left) else self.facts.delete(cell)
        self.touched.append(cell)


def _again(feature: FeatureInfo, source: ObjectId, target: ObjectId) -> Cell:
    """Where it is counted how often more than once a reference is stated."""
    if feature.opposite == feature.symbol and target < source:
        source, target = target, source
    return ("again", feature.symbol, source, target)
