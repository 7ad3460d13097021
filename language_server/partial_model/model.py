"""The partial model, a persistent value: a typed graph of facts known, open or excluded."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from immutables import Map

from language_server.partial_model.schema import ClassInfo, FeatureInfo, Schema
from language_server.partial_model.truth import Truth

if TYPE_CHECKING:
    import networkx

    from language_server.partial_model.linking import Fault, Surroundings, Target
    from language_server.partial_model.scopes import Scopes

ObjectId = int
Cell = tuple[Any, ...]  # address of something that can change; what reads it depends on it
Members = Collection[ObjectId]

NOTHING: frozenset[ObjectId] = frozenset()
_IN_TEXT = ("declared", "keyed")
SMALL = 12  # members up to which a plain frozenset is cheaper than a persistent map


class Node(NamedTuple):
    """An object.

    Attributes:
        kinds: the classes it may still turn out to be of (one for an object of the text).
        name: by which text refers to it.
        open: whether text may still state features of it.
        role: ``declared`` in the text; ``mentioned`` by a reference, not declared so far; ``keyed``
            (identified by its key, open until the text ends); ``individual`` (given by the
            theory); ``new`` (stands for all future objects of a class).
        start, end: its span; of a mentioned object the span of the first reference.
        name_start, name_end: the span of its name or key (-1 where there is none).
        shut: symbols of features that text has no place for any more although it is open.
    """

    kinds: frozenset[str]
    name: str | None
    open: bool
    role: str
    start: int = -1
    end: int = -1
    name_start: int = -1
    name_end: int = -1
    rule: str = ""
    shut: frozenset[str] = frozenset()


class Reference(NamedTuple):
    """A reference by name as it stands in the text."""

    source: ObjectId
    feature: str
    target_class: str
    name: str
    start: int
    end: int


class Frame(NamedTuple):
    """An object under construction; ``node`` is None until its identity or a fact is known."""

    parent: Frame | None
    node: ObjectId | None
    rule: str
    info: ClassInfo | None
    feature: FeatureInfo | None
    start: int
    key: tuple[tuple[str, Any], ...] = ()
    held: tuple[Any, ...] = ()
    key_start: int = -1
    key_end: int = -1


class PartialModel:
    """A persistent snapshot; every change makes a new one (see ``Draft``).

    ``facts`` maps cells to what is stated: ``(feature, '>', object)`` to its targets,
    ``(feature, '<', object)`` to its sources, ``(attribute, '=', object)`` to its value,
    ``(attribute, '#', value)`` to the objects that have it, ``(class, '*')`` to its objects,
    and some entries of the linker by plain names.

    ``scopes`` are the objects of the text as the linker of all other references sees them (None
    where the language has none). It links when the text is closed: ``links`` are what it found,
    ``faults`` what it did not; ``surroundings`` know the files around the text.
    """

    __slots__ = (
        "ambiguous",
        "closed",
        "conflicts",
        "facts",
        "faults",
        "frame",
        "links",
        "next_id",
        "nodes",
        "pending",
        "schema",
        "scopes",
        "surroundings",
        "unknown_values",
    )

    def __init__(
        self,
        schema: Schema,
        nodes: Map[ObjectId, Node],
        facts: Map[Cell, Any],
        pending: Map[tuple[str, str], ObjectId],
        ambiguous: Map[tuple[str, str], tuple[ObjectId, ...]],
        conflicts: Map[tuple[ObjectId, str], tuple[Any, ...]],
        unknown_values: Map[tuple[ObjectId, str], tuple[Any, ...]],
        frame: Frame | None,
        next_id: int,
        closed: bool,
        scopes: Scopes | None = None,
        surroundings: Surroundings | None = None,
        links: tuple[Target, ...] = (),
        faults: tuple[Fault, ...] = (),
    ) -> None:
        self.schema = schema
        self.nodes = nodes
        self.facts = facts
        self.pending = pending
        self.ambiguous = ambiguous
        self.conflicts = conflicts
        self.unknown_values = unknown_values
        self.frame = frame
        self.next_id = next_id
        self.closed = closed
        self.scopes = scopes
        self.surroundings = surroundings
        self.links = links
        self.faults = faults

    def objects(self, cls: str | None = None) -> Iterator[ObjectId]:
        """Existing objects that certainly are of the class (all without a class), oldest first."""
        if cls is None:
            return iter(sorted(node for node in self.nodes if node >= 0))
        info = self.schema.classes[cls]
        found: list[ObjectId] = []
        for kind in info.descendants:
            found.extend(self.facts.get((kind, "*"), NOTHING))
        return iter(sorted(found))

    def cls_of(self, node: ObjectId) -> str:
        """The class of an object; the nearest known superclass where it is not yet certain."""
        kinds = self.nodes[node].kinds
        if len(kinds) == 1:
            return next(iter(kinds))
        common = [info for info in self.schema.classes.values() if kinds <= info.descendants]
        return min(common, key=lambda info: len(info.descendants)).name if common else "node"

    def name_of(self, node: ObjectId) -> str | None:
        """The name (or key) of an object, if it has one."""
        return self.nodes[node].name

    def label(self, node: ObjectId) -> str:
        """How to speak of an object to a person: its name, else its class."""
        return self.nodes[node].name or f"unnamed {self.cls_of(node)}"

    def span(self, node: ObjectId) -> tuple[int, int]:
        """Where the object stands in the text, (-1, -1) where nowhere.

        The end is that of its name as long as the object is open.
        """
        record = self.nodes[node]
        return record.start, record.end if record.end >= 0 else max(record.name_end, record.start)

    def name_span(self, node: ObjectId) -> tuple[int, int]:
        """The best span to point at an object: its name, else the whole of it."""
        record = self.nodes[node]
        if record.name_start >= 0:
            return record.name_start, record.name_end
        return self.span(node)

    def is_open(self, node: ObjectId) -> bool:
        """Whether text may still state features of the object."""
        return self.nodes[node].open and not self.closed

    def targets(self, node: ObjectId, feature: str) -> tuple[ObjectId, ...]:
        """The objects a reference points to; ``feature`` is a symbol or a plain name."""
        return tuple(sorted(self.facts.get((self._symbol(node, feature), ">", node), NOTHING)))

    def sources(self, node: ObjectId, feature: str) -> tuple[ObjectId, ...]:
        """The objects that point here by the feature (a symbol)."""
        return tuple(sorted(self.facts.get((feature, "<", node), NOTHING)))

    def value(self, node: ObjectId, feature: str) -> Any:
        """The value of an attribute, None where none is stated; a tuple if there may be several."""
        return self.facts.get((self._symbol(node, feature), "=", node))

    def candidates(self, target_class: str) -> Iterator[tuple[str, ObjectId]]:
        """Names a reference to the class could take: declared, then mentioned, then given ones.

        Args:
            target_class: a class of the grammar or of the theory.
        """
        info = self.schema.rules.get(target_class) or self.schema.classes.get(target_class)
        if info is None:
            return
        seen: set[str] = set()
        mentioned: list[tuple[str, ObjectId]] = []
        for kind in sorted(info.descendants):
            for node in sorted(self.facts.get((kind, "*"), NOTHING)):
                name = self.nodes[node].name
                if name is not None and name not in seen and self.nodes[node].role in _IN_TEXT:
                    seen.add(name)
                    yield name, node
        for (_, name), node in self.pending.items():
            if not self.nodes[node].kinds.isdisjoint(info.descendants):
                mentioned.append((name, node))
        for name, node in [*sorted(mentioned), *info.individuals.items()]:
            if name not in seen:
                seen.add(name)
                yield name, node

    def given_names(self, cls: str) -> frozenset[str]:
        """The names of given objects of a class, or of a more general one, that text declares."""
        found: frozenset[str] = frozenset()
        for ancestor in self.schema.classes[cls].ancestors:
            found |= self.facts.get(("given", ancestor), NOTHING)
        return found

    def is_given(self, node: ObjectId) -> bool:
        """Whether an object declared in the text is a given one; of one name it is the first."""
        record = self.nodes[node]
        bearers = self.facts.get(("name", record.name), NOTHING)
        return any(
            record.name in self.given_names(kind)
            and node == min(each for each in bearers if kind in self.nodes[each].kinds)
            for kind in record.kinds
        )

    def unresolved(self) -> tuple[Reference, ...]:
        """References whose target is not declared so far, in textual order."""
        found = [
            reference
            for (target_class, name) in self.pending
            for reference in self.references(name)
            if reference.target_class == target_class
        ]
        return tuple(sorted(found, key=lambda reference: reference.start))

    def references(self, name: str) -> Iterator[Reference]:
        """All references by this name, newest first."""
        link = self.facts.get(("refs", name))
        while link is not None:
            reference, link = link
            yield reference

    def truth(self, symbol: str, args: tuple[ObjectId, ...]) -> Truth:
        """What the text says about a class or reference fact (without propagation)."""
        info = self.schema.classes.get(symbol)
        if info is not None:
            kinds = self.nodes[args[0]].kinds
            return Truth.of(not kinds.isdisjoint(info.descendants), kinds <= info.descendants)
        source, target = args
        feature = self.schema.features[symbol]
        if target in self.facts.get((symbol, ">", source), NOTHING):
            return Truth.TRUE
        return Truth.UNKNOWN if self.may_link(feature, source, target) else Truth.FALSE

    def may_link(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> bool:
        """Whether an unstated reference may still be stated."""
        if not self.may_fill(feature, source):
            return False
        record = self.nodes[target]
        if record.kinds.isdisjoint(feature.targets):
            return False
        stated = not (self.nodes[source].open or record.open or feature.late)
        if feature.opposite is not None:
            opposite = self.schema.features[feature.opposite]
            if stated or not self.may_fill(opposite, target):
                return False
        if feature.containment and record.role not in ("new", "mentioned", "keyed"):
            return record.role == "individual" and record.open
        return True

    def may_fill(self, feature: FeatureInfo, source: ObjectId) -> bool:
        """Whether the object may still get a (further) target or value of the feature."""
        record = self.nodes[source]
        statable = record.open and feature.symbol not in record.shut
        if self.closed or not (statable or feature.indirect):
            return False
        if record.kinds.isdisjoint(feature.sources):
            return False
        if feature.upper is None or record.role == "new" or feature.revisable:
            return True
        if feature.attribute:
            return (feature.symbol, "=", source) not in self.facts or feature.upper != 1
        return len(self.facts.get((feature.symbol, ">", source), NOTHING)) < feature.upper

    def awaits_name(self) -> bool:
        """Whether an object under construction may turn out to be one that is mentioned already."""
        frame = self.frame
        while frame is not None:
            named = frame.info is not None and frame.info.named
            if named and frame.node is not None and self.nodes[frame.node].name is None:
                return True
            frame = frame.parent
        return False

    def to_networkx(self) -> networkx.MultiDiGraph[ObjectId]:
        """The stated facts as a graph.

        Nodes have ``cls``, ``name``, ``role`` and their attributes; edges are keyed by feature.
        """
        import networkx

        graph: networkx.MultiDiGraph[ObjectId] = networkx.MultiDiGraph()
        for node, record in self.nodes.items():
            if node >= 0:
                graph.add_node(node, cls=self.cls_of(node), name=record.name, role=record.role)
        for cell, value in self.facts.items():
            if len(cell) == 3 and cell[1] == ">" and cell[2] >= 0:
                graph.add_edges_from((cell[2], target, cell[0]) for target in value)
            elif len(cell) == 3 and cell[1] == "=" and cell[2] >= 0:
                graph.nodes[cell[2]][self.schema.features[cell[0]].name] = value
        return graph

    def _symbol(self, node: ObjectId, feature: str) -> str:
        if feature in self.schema.features:
            return feature
        for kind in self.nodes[node].kinds:
            found = self.schema.classes[kind].features.get(feature)
            if found is not None:
                return found.symbol
        return feature


class Draft:
    """A model being changed within one step; ``touched`` collects the cells that changed."""

    def __init__(self, model: PartialModel) -> None:
        self.schema = model.schema
        self.nodes = model.nodes
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
        self.links = model.links
        self.faults = model.faults
        self.touched: list[Cell] = []

    @staticmethod
    def blank(schema: Schema, surroundings: Surroundings | None = None) -> Draft:
        """A draft without any object."""
        empty: Any = Map()
        model = PartialModel(schema, empty, empty, empty, empty, empty, empty, None, 0, False)
        model.scopes = schema.no_scopes
        model.surroundings = surroundings
        return Draft(model)

    def commit(self) -> PartialModel:
        """The changed model."""
        return PartialModel(
            self.schema,
            self.nodes,
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
            self.links,
            self.faults,
        )

    def add_node(self, node: Node, home: str | None) -> ObjectId:
        """A further object; ``home`` is the most special class that it certainly is of."""
        number = self.next_id
        self.next_id = number + 1
        self.nodes = self.nodes.set(number, node)
        self.touched.append(("new", number))
        if home is not None:
            self.include((home, "*"), number)
        return number

    def replace_node(self, number: ObjectId, node: Node) -> None:
        """Other knowledge about an object."""
        before = self.nodes[number]
        self.nodes = self.nodes.set(number, node)
        if node.kinds != before.kinds:
            self.touched.append(("kinds", number))
        if node[1:4] != before[1:4]:  # name, open, role
            self.touched.append(("open", number))

    def shut(self, number: ObjectId, symbols: frozenset[str]) -> None:
        """Text has no place for some features of an object any more."""
        self.nodes = self.nodes.set(number, self.nodes[number]._replace(shut=symbols))
        self.touched += [("open", number), ("bounds", number)]

    def drop_node(self, number: ObjectId) -> None:
        """An object turned out to be another one; its facts have been moved before."""
        self.nodes = self.nodes.delete(number)
        self.touched += [("open", number), ("kinds", number), ("gone", number)]

    def include(self, cell: Cell, member: ObjectId) -> None:
        """One more member at a cell."""
        self.facts = self.facts.set(cell, _grown(self.facts.get(cell), member))
        self.touched.append(cell)

    def exclude(self, cell: Cell, member: ObjectId) -> None:
        """One member less at a cell."""
        members = self.facts.get(cell, NOTHING)
        left: Members
        if isinstance(members, frozenset):
            left = members - {member}
        else:
            left = members.delete(member)
        self.facts = self.facts.set(cell, left) if len(left) else self.facts.delete(cell)
        self.touched.append(cell)

    def link(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        """State a reference, its opposite and what it is a subset of."""
        cell = (feature.symbol, ">", source)
        if target in self.facts.get(cell, NOTHING):
            return
        self.include(cell, target)
        self.include((feature.symbol, "<", target), source)
        self.touched.append(("bounds", source))
        if feature.containment:
            self.include(("contains", "<", target), source)
            self.include(("contains", ">", source), target)
            self.touched.append(("bounds", target))
        features = self.schema.features
        if feature.opposite is not None:
            self.link(features[feature.opposite], target, source)
        for symbol in feature.supersets:
            self.link(features[symbol], source, target)

    def unlink(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        """Take back a reference (an object turned out to be another one, or a value is revised)."""
        if target not in self.facts.get((feature.symbol, ">", source), NOTHING):
            return
        self.exclude((feature.symbol, ">", source), target)
        self.exclude((feature.symbol, "<", target), source)
        self.touched.append(("bounds", source))
        if feature.containment:
            self.exclude(("contains", "<", target), source)
            self.exclude(("contains", ">", source), target)
            self.touched.append(("bounds", target))
        features = self.schema.features
        if feature.opposite is not None:
            self.unlink(features[feature.opposite], target, source)
        for symbol in feature.supersets:
            self.unlink(features[symbol], source, target)

    def assign(self, feature: FeatureInfo, source: ObjectId, value: Any) -> None:
        """State the value of an attribute; a list attribute collects its values in order."""
        cell = (feature.symbol, "=", source)
        before = self.facts.get(cell)
        if feature.upper == 1:
            if before == value:
                return
            if before is not None:
                self.exclude((feature.symbol, "#", before), source)
            self.facts = self.facts.set(cell, value)
        else:
            self.facts = self.facts.set(cell, (*(before or ()), value))
        self.touched.append(cell)
        self.touched.append(("bounds", source))
        self.include((feature.symbol, "#", value), source)


def _grown(members: Any, member: ObjectId) -> Members:
    if members is None:
        return frozenset((member,))
    if isinstance(members, frozenset):
        if len(members) < SMALL:
            return members | {member}
        mutation: Any = Map().mutate()
        for one in members:
            mutation[one] = None
        mutation[member] = None
        grown: Members = mutation.finish()
        return grown
    larger: Members = members.set(member, None)
    return larger
