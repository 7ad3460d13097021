"""Which part of a goal a text states: its objects found again among those of the goal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from language_server.constraints.goal import Goal
from language_server.partial_model import (
    FeatureInfo,
    Node,
    ObjectId,
    PartialModel,
    is_foreign,
    said_since,
)
from language_server.partial_model.model import Frame

Names = dict[ObjectId, str]
Fact = tuple[str, ObjectId | None]


@dataclass(frozen=True, slots=True)
class Embedding:
    """Which object of the goal each object of the model is, and what is not stated yet."""

    of: dict[ObjectId, ObjectId]
    missing: dict[ObjectId, set[Fact]]


class Parts:
    """A goal as what has to be stated, object by object.

    Args:
        model: what the text says where the goal begins to be written.
        supposition: that with its references linked; the goal was found for it.
    """

    def __init__(self, model: PartialModel, supposition: PartialModel, goal: Goal) -> None:
        self._base = model
        self._goal = goal
        self._supposed = supposition.nodes
        self._facts: dict[ObjectId, set[Fact]] = defaultdict(set)
        self._open_in_base = {
            node for node, record in model.nodes.items() if record.open and record.role != "new"
        }
        self._mentioned = [
            node
            for node, record in supposition.nodes.items()
            if record.role == "mentioned" and not is_foreign(record)
        ]

        def _is_supposed(symbol: str, source: ObjectId, target: ObjectId) -> bool:
            end = model.schema.features[symbol].forward
            is_said = target in supposition.of(source).get(end, ())
            return is_said and target not in model.of(source).get(end, ())

        # What no text writes follows from its opposite.
        self._written = {feature.symbol for feature in model.schema.feature_map.values()}
        for symbol, source, target in goal.links:
            if symbol in self._written and not _is_supposed(symbol, source, target):
                self._facts[source].add((symbol, target))
        for symbol, node in goal.values:
            self._facts[node].add((symbol, None))

    def record(self, target: ObjectId) -> Node | None:
        """What is known of an object of the goal before it is written; None of a new one."""
        return self._supposed.get(target)

    def name(self, target: ObjectId, names: Names) -> str | None:
        """The name of an object of the goal, if it has one already."""
        record = self._supposed.get(target)
        return names.get(target, record.name if record is not None else None)

    def objects(self, frame: Frame, embedding: Embedding) -> list[ObjectId]:
        """The objects of the goal that the one under construction can be."""
        if frame.node is not None and frame.node in embedding.of:
            return [embedding.of[frame.node]]
        return self.unwritten(frame, embedding)

    def unwritten(self, frame: Frame, embedding: Embedding) -> list[ObjectId]:
        """Objects of the goal that may begin at a frame whose identity is not known yet."""
        assert frame.info is not None
        if frame.parent is None or frame.parent.info is None or frame.feature is None:
            written = set(embedding.of.values())
            return [
                node
                for node, kind in self._goal.kinds.items()
                if kind == frame.info.name and node >= self._base.next_id and node not in written
            ]
        return [
            target
            for source in self.objects(frame.parent, embedding)
            for symbol, target in self.missing(source, embedding)
            if symbol == frame.feature.symbol
            and target is not None
            and self._goal.kinds.get(target) == frame.info.name
        ]

    def missing(self, node: ObjectId, embedding: Embedding) -> list[Fact]:
        """What the goal says of an object that is not stated yet, in a fixed order."""
        facts = embedding.missing.get(node)
        if facts is None:
            facts = self._facts.get(node, set())
        return sorted(facts, key=_order)

    def embed(self, model: PartialModel, names: Names) -> Embedding | None:
        """The model as a part of the goal; None if it is none, or cannot become all of it."""
        base, goal = self._base, self._goal
        if len(model.ambiguous) > len(base.ambiguous) or len(model.conflicts) > len(base.conflicts):
            return None
        # A mentioned object that a declaration with another number has taken over is told by name.
        gone = (n for n in self._mentioned if n not in model.nodes or n not in base.nodes)
        by_name = {self._supposed[node].name: node for node in gone}
        by_name.update((name, node) for node, name in names.items())
        of: dict[ObjectId, ObjectId] = {}
        unnamed = []
        said = said_since(model, base)
        for node, record in model.nodes.items():
            if node in base.nodes:
                of[node] = node
            elif record.name is None:
                unnamed.append(node)
            elif record.name in by_name:
                of[node] = by_name[record.name]
            else:
                return None
        for node in sorted(unnamed):
            if model.nodes[node].role == "keyed":
                continue  # its key is not known yet
            target = self._match(model, node, of, said.get(node, []), names)
            if target is None:
                return None
            of[node] = target
        missing: dict[ObjectId, set[Fact]] = {}
        # An object that is mentioned and now being declared is two as long as it has no name.
        for node, target in of.items():
            if target in base.nodes and target not in self._open_in_base:
                continue
            record = model.nodes[node]
            if record.kinds.isdisjoint((goal.kinds.get(target, ""),)):
                return None
            stated = self._stated(model, node, of)
            meant = self._meant(target, said.get(node, []), names)
            if stated is None or meant is None or not stated <= self._facts[target]:
                return None
            stated |= meant
            missing[target] = missing.get(target, self._facts[target]) - stated
            if missing[target] and not record.open:
                return None
        for node in goal.kinds:
            if node >= base.next_id and node not in missing:
                missing[node] = set(self._facts[node])
        embedding = Embedding(of, missing)
        frame = model.frame
        while frame is not None:
            unknown = frame.node is None and frame.info is not None
            if unknown and not self.unwritten(frame, embedding):
                return None
            frame = frame.parent
        return embedding

    def _match(
        self,
        model: PartialModel,
        node: ObjectId,
        of: dict[ObjectId, ObjectId],
        said: list[tuple[str, str]],
        names: Names,
    ) -> ObjectId | None:
        """The object of the goal that an unnamed one of the model can be: the first that fits."""
        containers = model.of(node).get("<contains", ())
        taken = {of[other] for other in of if model.nodes[other].role != "mentioned"}
        kind = model.cls_of(node)
        places = {
            (symbol, of[source])
            for source in containers
            if source in of
            for symbol in self._containments(model, source, node)
        }
        stated = self._stated(model, node, of)
        if stated is None:
            return None
        for target, target_kind in sorted(self._goal.kinds.items()):
            if target_kind != kind or target in taken or target < 0:
                continue
            record = self._base.nodes.get(target)
            if record is not None and record.role != "mentioned":
                continue
            if places and not any((s, target) in self._facts[source] for s, source in places):
                continue
            if stated <= self._facts[target] and self._meant(target, said, names) is not None:
                return target
        return None

    def _meant(self, node: ObjectId, said: list[tuple[str, str]], names: Names) -> set[Fact] | None:
        """What references by name state of an object of the goal; None if it has no such thing.

        What they mean is known when the text has ended: here the name counts.
        """
        found: set[Fact] = set()
        for symbol, said_name in said:
            left = self._facts[node] - found
            for fact in sorted(left, key=_order):
                name = self.name(fact[1], names) if fact[1] is not None else None
                if fact[0] == symbol and name is not None and is_called(said_name, name):
                    found.add(fact)
                    break
            else:
                return None
        return found

    def _containments(self, model: PartialModel, source: ObjectId, node: ObjectId) -> Iterator[str]:
        for feature in model.schema.classes[model.cls_of(source)].features.values():
            if feature.containment and node in model.of(source).get(feature.forward, ()):
                yield feature.symbol

    def _stated(
        self, model: PartialModel, node: ObjectId, of: dict[ObjectId, ObjectId]
    ) -> set[Fact] | None:
        """What the model says of an object, in the goal's objects; None if it has no such thing.

        Objects that are not matched yet are left out.
        """
        facts: set[Fact] = set()
        for kind in model.nodes[node].kinds:
            for feature in model.schema.classes[kind].features.values():
                if feature.symbol not in self._written:
                    continue
                if not feature.attribute:
                    for target in model.of(node).get(feature.forward, ()):
                        if target in of:
                            facts.add((feature.symbol, of[target]))
                elif self._is_news(model, node, feature, of.get(node)):
                    facts.add((feature.symbol, None))
        return facts

    def _is_news(
        self, model: PartialModel, node: ObjectId, feature: FeatureInfo, target: ObjectId | None
    ) -> bool:
        """Whether an attribute has a value that the goal must speak of."""
        value = model.of(node).get(feature.forward)
        if value is None or value is False:
            return False
        if target is not None and (feature.symbol, target) in self._goal.values:
            return True
        if node in self._base.nodes and value == self._base.of(node).get(feature.forward):
            return False
        # Names and keys tell which object it is.
        info = model.schema.classes[model.cls_of(node)]
        return feature.name != "name" and feature.name not in info.key


def _order(fact: Fact) -> tuple[str, ObjectId]:
    return fact[0], -1 if fact[1] is None else fact[1]


def is_called(said: str, name: str) -> bool:
    """Whether a name, which may be qualified, ends with that of an object."""
    rest = said.removesuffix(name)
    return said.endswith(name) and (not rest or not rest[-1].isalnum())
