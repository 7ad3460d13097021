"""Taking back what parse events have stated in the closed model of a text; see `reading`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from language_server.partial_model.draft import Draft
from language_server.partial_model.linking import Relinking, relink
from language_server.partial_model.model import Node, ObjectId, Reference
from language_server.partial_model.refinement import (
    bearers,
    individual_named,
    is_linked_later,
    state_reference,
)
from language_server.partial_model.schema import ClassInfo, FeatureInfo
from language_server.partial_model.scopes import Mention, Scopes
from language_server.syntax.document import Parse
from language_server.syntax.events import Assign, Close, Event, Open, Refer

Number = int  # of an object of a text


class Begun(NamedTuple):
    """An object of a text: the object around it, what opens it, and what it is in the model."""

    parent: Number
    event: Open
    node: ObjectId | None


class Retraction:
    """What of a model is taken back in the course of one edit.

    Args:
        draft: the model.
        objects, numbers: those of the reading; what is taken back is taken out of them.
        count: the number from which on objects are of the new text only.
    """

    def __init__(
        self,
        draft: Draft,
        objects: Any,
        numbers: Any,
        count: Number,
    ) -> None:
        self._draft = draft
        self._objects: dict[Number, Begun] = objects
        self._numbers: dict[tuple[int, str], Number] = numbers
        self._count = count
        self._loose: dict[str, set[Reference]] = {}
        self._lists: dict[tuple[Number, str], FeatureInfo] = {}
        self._gone: set[Number] = set()
        self._filled: set[tuple[Number, str]] = set()  # single features with values of this edit
        self._displaced: set[tuple[Number, str]] = set()  # those that had others
        self._rescoped: set[tuple[Any, ...]] = set()
        self._unsaid: list[Mention] = []
        self._said = draft.scopes.said if draft.scopes is not None else 0

    def expect(self, event: Event) -> None:
        """An event is to be taken back or added: what its name means may change."""
        if isinstance(event, Assign) and event.feature == "name":
            self._loosen(str(event.value))

    def make_room(self, event: Event, top: Number) -> None:
        """An event is about to be added to ``top``.

        The value that a single feature had is taken back early, its own event comes later. In a
        list, the new value may not be the last one.
        """
        if not 0 <= top < self._count or not isinstance(event, Assign | Refer):
            return
        self._note_list(event, top)
        if (top, event.feature) in self._filled:
            return
        self._filled.add((top, event.feature))
        draft, begun = self._draft, self._objects[top]
        if isinstance(event, Assign) and event.feature == "name" and self._unname(top):
            self._displaced.add((top, "name"))
        feature = draft.schema.feature_map.get((begun.event.cls, event.feature))
        if feature is None or feature.upper != 1 or begun.node is None:
            return
        if not feature.attribute and (isinstance(event, Refer) or self._by_name(feature)):
            return
        if self._unset(feature, begun.node):
            self._displaced.add((top, event.feature))

    def _by_name(self, feature: FeatureInfo) -> bool:
        info = self._draft.schema.classes[feature.target]
        return not info.individuals and (info.named or bool(info.key))

    def _unname(self, top: Number) -> bool:
        """An object loses its name; whether it had one."""
        draft, node = self._draft, self._objects[top].node
        found = draft.scopes is not None and draft.scopes.name(top) is not None
        if draft.scopes is not None and found:
            self._rescope(top)
            draft.scopes = draft.scopes.unnamed(top)
        name = None if node is None else draft.nodes[node].name
        if name is None:
            return found
        self._loosen(name)
        assert node is not None
        draft.lose(name, node)
        nameless = draft.nodes[node]._replace(name=None, name_start=-1, name_end=-1)
        draft.replace_node(node, nameless)
        return True

    def added(self, event: Event, top: Number) -> None:
        """An event has been added; ``top`` is the innermost open object now."""
        begins = isinstance(event, Open) or (isinstance(event, Assign) and event.feature == "name")
        if self._draft.scopes is not None and top >= 0 and begins:
            self._rescope(top)

    def past(self, events: Iterable[Event], top: Number) -> Number:
        """The innermost object behind some events that begin within ``top``."""
        for event in events:
            if isinstance(event, Open):
                top = self._numbers[event.start, event.cls]
            elif isinstance(event, Close) and top >= 0:
                top = self._objects[top].parent
        return top

    # ---- taking back -----------------------------------------------------------------------------

    def take_back(self, events: Iterable[Event], top: Number) -> Number:
        """Take back what events within ``top`` have stated; the innermost object behind them."""
        for event in events:
            if isinstance(event, Open):
                top = self._numbers.pop((event.start, event.cls))
                self._gone.add(top)
                node = self._objects[top].node
                if node is not None:
                    self._drop(node)
                if self._draft.scopes is not None:
                    self._rescope(top)
                    self._draft.scopes = self._draft.scopes.without(top)
            elif top < 0:
                continue
            elif isinstance(event, Close):
                top = self._objects[top].parent  # what has ended before ends somewhere again
            else:
                self._unfill(event, top)
        return top

    def _drop(self, node: ObjectId) -> None:
        """An object goes with all that is stated of it."""
        draft = self._draft
        record = draft.nodes[node]
        if record.name is not None:
            self._loosen(record.name)
            draft.lose(record.name, node)
        (kind,) = record.kinds
        for feature in draft.schema.features.values():
            if kind in feature.sources:
                self._unset(feature, node)
            if kind in feature.targets:
                for source in tuple(draft.of(node).get(feature.backward, ())):
                    draft.sever(feature, source, node)
        draft.exclude(kind, node)
        draft.drop_node(node)

    def _unset(self, feature: FeatureInfo, node: ObjectId) -> bool:
        """Nothing is stated of a feature of an object; whether there was anything."""
        draft = self._draft
        found = (node, feature.symbol) in draft.unknown_values
        if found:
            draft.unknown_values = draft.unknown_values.delete((node, feature.symbol))
            draft.touched.append(("bounds", node))
        if not feature.attribute:
            targets = tuple(draft.of(node).get(feature.forward, ()))
            for target in targets:
                draft.sever(feature, node, target)
            return found or bool(targets)
        if feature.forward not in draft.of(node):
            return found
        draft.unassign(feature, node)
        return True

    def _unfill(self, event: Assign | Refer, top: Number) -> None:
        """Take back a value or a reference; of an object that has gone only references are left."""
        draft = self._draft
        number, kept = self._objects[top].node, top not in self._gone
        cls = self._objects[top].event.cls
        if draft.scopes is not None and isinstance(event, Refer):
            mention = draft.scopes.mention(self._numbers.pop((event.start, "")))
            self._unsaid.append(mention)
            draft.scopes = draft.scopes.unsaid(mention)
        if kept and (top, event.feature) in self._displaced:
            self._displaced.discard((top, event.feature))
            return
        if kept and isinstance(event, Assign) and event.feature == "name":
            self._unname(top)
        if number is None:
            return
        feature = draft.schema.feature_map.get((cls, event.feature))
        if feature is None or is_linked_later(draft, cls, event):
            return
        reference = _reference(draft, feature, number, event)
        if reference is not None:
            self._unrefer(reference)
        elif not kept:
            return
        elif feature.attribute and feature.upper != 1:
            self._note_list(event, top)
        elif feature.attribute:
            self._unset(feature, number)
        else:
            self._unfill_given(feature, number, event)

    def _rescope(self, top: Number) -> None:
        """Searches by way of an object may come to other results."""
        scopes = self._draft.scopes
        assert scopes is not None
        _, parent, feature, _ = scopes.things[top]
        name = scopes.name(top)
        self._rescoped.add((parent, feature))
        if name is not None:
            self._rescoped |= {(parent, feature, name), ("bearers", name), ("name", top)}

    def _unfill_given(self, feature: FeatureInfo, node: ObjectId, event: Assign | Refer) -> None:
        """Take back a reference to a given object, or what should have been the name of one."""
        draft, schema = self._draft, self._draft.schema
        if isinstance(event, Refer):
            info, said = (
                schema.rules.get(event.target) or schema.classes.get(event.target),
                event.name,
            )
        else:
            info, said = schema.classes[feature.target], event.value
        if info is None or not isinstance(said, str):
            return
        individual = individual_named(schema, info, said)
        if individual is not None:
            draft.unlink(feature, node, individual)
        elif (node, feature.symbol) in draft.unknown_values:
            draft.unknown_values = draft.unknown_values.delete((node, feature.symbol))
            draft.touched.append(("bounds", node))

    def _note_list(self, event: Assign | Refer, top: Number) -> None:
        feature = self._draft.schema.feature_map.get((self._objects[top].event.cls, event.feature))
        if feature is not None and feature.attribute and feature.upper != 1:
            self._lists[top, event.feature] = feature

    # ---- references by name ----------------------------------------------------------------------

    def _unrefer(self, reference: Reference) -> None:
        draft, name, target = self._draft, reference.name, reference.target_class
        if name not in self._loose and any(
            (cls, name) in draft.pending for cls in draft.use_of(name).references
        ):
            self._loosen(name)  # which object is mentioned depends on all references to it
        if name in self._loose:
            self._loose[name].discard(reference)
            return
        feature = draft.schema.features[reference.feature]
        (meant, *_) = bearers(draft, draft.schema.classes[target], name)
        draft.unlink(feature, reference.source, meant)
        draft.unrefer(reference)
        if target not in draft.use_of(name).references:
            self._is_unique(target, name)

    def _loosen(self, name: str) -> None:
        """Take back what all references by a name mean, until it is known what they mean now."""
        if name in self._loose:
            return
        draft = self._draft
        loose = self._loose[name] = set()
        mentioned: dict[ObjectId, Node] = {}
        for target, references in draft.use_of(name).references.items():
            info = draft.schema.classes[target]
            meant = next(iter(bearers(draft, info, name)), None)
            if meant is None:
                meant = draft.pending[target, name]
                mentioned[meant] = draft.nodes[meant]
                draft.pending = draft.pending.delete((target, name))
            for reference in references:
                draft.unlink(draft.schema.features[reference.feature], reference.source, meant)
                loose.add(reference)
            self._is_unique(target, name)
        draft.unrefer_all(name)
        for node, record in mentioned.items():
            draft.exclude(record.rule, node)
            draft.drop_node(node)

    def _is_unique(self, target: str, name: str) -> None:
        draft = self._draft
        if (target, name) in draft.ambiguous:
            draft.ambiguous = draft.ambiguous.delete((target, name))

    # ---- other places ----------------------------------------------------------------------------

    def move(self, pairs: Iterable[tuple[Event, Event]], top: Number) -> None:
        """What events within ``top`` have stated stands at the places of others now."""
        for old, new in pairs:
            scopes = self._draft.scopes
            if scopes is not None:
                self._draft.scopes = self._moved(scopes, old, new, top)
            if isinstance(old, Open) and isinstance(new, Open):
                top = self._numbers.pop((old.start, old.cls))
                self._numbers[new.start, new.cls] = top
                parent, _, node = self._objects[top]
                self._objects[top] = Begun(parent, new, node)
                self._move_node(node, 4, (new.start,))
            elif top < 0:
                continue
            elif isinstance(old, Close) and isinstance(new, Close):
                parent, _, node = self._objects[top]
                self._move_node(node, 5, (new.end,))
                top = parent
            elif isinstance(old, Assign | Refer) and isinstance(new, Assign | Refer):
                self._move_value(old, new, top)

    def _move_node(self, node: ObjectId | None, field: int, places: tuple[int, ...]) -> None:
        """Other places in the record of an object, from a field on."""
        draft = self._draft
        record = None if node is None else draft.nodes.get(node)
        if node is not None and record is not None:
            moved = Node._make((*record[:field], *places, *record[field + len(places) :]))
            draft.nodes[node] = moved

    def _moved(self, scopes: Scopes, old: Event, new: Event, top: Number) -> Scopes:
        if isinstance(old, Open):
            return scopes.moved(self._numbers[old.start, old.cls], old, new)
        if top < 0:
            return scopes
        if isinstance(old, Refer) and isinstance(new, Refer):
            number = self._numbers[new.start, ""] = self._numbers.pop((old.start, ""))
            return scopes.said_elsewhere(number, new.start, new.end)
        return scopes.moved(top, old, new)

    def _move_value(self, old: Assign | Refer, new: Assign | Refer, top: Number) -> None:
        draft, begun = self._draft, self._objects[top]
        node, cls = begun.node, begun.event.cls
        if node is None:
            return
        if isinstance(old, Assign) and old.feature == "name":
            self._move_node(node, 6, (new.start, new.end))
        feature = draft.schema.feature_map.get((cls, old.feature))
        if feature is None or is_linked_later(draft, cls, old):
            return
        reference = _reference(draft, feature, node, old)
        if reference is not None:
            self._move_reference(reference, new.start, new.end)
            return
        value, *place = draft.unknown_values.get((node, feature.symbol), (None,))
        if place == [old.start, old.end]:  # others of the feature may have known values
            said = (value, new.start, new.end)
            draft.unknown_values = draft.unknown_values.set((node, feature.symbol), said)
            draft.touched.append(("bounds", node))

    def _move_reference(self, old: Reference, start: int, end: int) -> None:
        draft, new = self._draft, old._replace(start=start, end=end)
        if old.name in self._loose:
            self._loose[old.name].discard(old)
            self._loose[old.name].add(new)
            return
        draft.refer(new)
        draft.unrefer(old)
        mentioned = draft.pending.get((old.target_class, old.name))
        if mentioned is not None and draft.nodes[mentioned].start == old.start:
            self._move_node(mentioned, 4, (start, end, start, end))

    # ---- the end ---------------------------------------------------------------------------------

    def finish(self, come: Iterable[Reference], parse: Parse) -> None:
        """The whole text is in the model: references and lists get what they have now."""
        draft = self._draft
        draft.revised |= bool(self._displaced)
        for number in self._gone:
            del self._objects[number]
        for reference in come:
            name = reference.name
            if not bearers(draft, draft.schema.classes[reference.target_class], name):
                self._loosen(name)
            if name in self._loose:
                self._loose[name].add(reference)
            else:
                state_reference(draft, reference)
        loose = chain.from_iterable(self._loose.values())
        for reference in sorted(loose, key=lambda each: draft.place(each.start)):
            state_reference(draft, reference)
        for (number, name), feature in self._lists.items():
            if number not in self._gone:
                self._restate(number, name, feature, parse)
        if draft.scopes is not None:
            said = draft.scopes.since(self._said)
            relink(draft, Relinking(self._rescoped, self._unsaid, said))

    def _restate(self, number: Number, name: str, feature: FeatureInfo, parse: Parse) -> None:
        """The values of a list of an object, in the order in which they stand."""
        node = self._objects[number].node
        if node is None:
            return
        self._unset(feature, node)
        for event in self._direct(number, parse):
            if isinstance(event, Assign) and event.feature == name:
                self._draft.assign(feature, node, event.value)
            elif isinstance(event, Refer) and event.feature == name:
                self._draft.assign(feature, node, event.name)

    def _direct(self, number: Number, parse: Parse) -> Iterator[Event]:
        """What a text says of an object itself."""
        begin = self._objects[number].event
        first = parse.anchors.segment(begin.start)
        depth = 0
        for segment in parse.segments[first:]:
            for event in segment.anchored():
                if isinstance(event, Open):
                    depth += depth > 0 or (event.start, event.cls) == (begin.start, begin.cls)
                elif isinstance(event, Close) and depth:
                    depth -= 1
                    if not depth:
                        return
                elif depth == 1:
                    yield event


def _reference(
    draft: Draft, feature: FeatureInfo, node: ObjectId, event: Assign | Refer
) -> Reference | None:
    """The reference by name that an event states, if it is one."""
    schema = draft.schema
    if feature.attribute:
        return None
    if isinstance(event, Refer):
        info: ClassInfo | None = schema.rules.get(event.target) or schema.classes.get(event.target)
        name = event.name
    else:
        info, name = schema.classes[feature.target], event.value
        if not isinstance(name, str) or info.individuals or not (info.named or info.key):
            return None
    if info is None or (info.individuals and individual_named(schema, info, name) is not None):
        return None
    return Reference(node, feature.symbol, info.name, name, event.start, event.end)
