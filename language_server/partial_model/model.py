"""The partial model, a persistent value: a typed graph of facts known, open or excluded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from immutables import Map

from language_server.partial_model.schema import ClassInfo, FeatureInfo, Schema
from language_server.partial_model.truth import Truth
from language_server.syntax.anchors import as_it_is

if TYPE_CHECKING:
    import networkx

    from language_server.partial_model.linking import Linked, Surroundings, Target
    from language_server.partial_model.resolution import Fault
    from language_server.partial_model.scopes import Scopes

ObjectId = int
Cell = tuple[Any, ...]  # address of something that can change; what reads it depends on it
Members = Collection[ObjectId]

NOTHING: frozenset[ObjectId] = frozenset()
UNSAID: Mapping[str, Any] = {}  # of an object of which nothing is stated
_IN_TEXT = ("declared", "keyed")


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

    def closed(self, end: int) -> Node:
        """The object when nothing more will be stated of it."""
        kinds, name, _, role, start, _, name_start, name_end, rule, shut = self
        return Node(kinds, name, False, role, start, end, name_start, name_end, rule, shut)


class Reference(NamedTuple):
    """A reference by name as it stands in the text."""

    source: ObjectId
    feature: str
    target_class: str
    name: str
    start: int
    end: int


class NameUse(NamedTuple):
    """What one name is used for, where references are by plain name.

    Attributes:
        bearers: the objects that have it, as their name or their key.
        references: those by this name, by the class that they refer to (no references of a class
            if others than the text refer to it).
    """

    bearers: Members
    references: Mapping[str, Collection[Reference]]


NOT_USED = NameUse(NOTHING, {})


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

    def known(self, node: ObjectId) -> Frame:
        """The frame when it is known which object it is."""
        parent, _, rule, info, feature, start, key, held, key_start, key_end = self
        return Frame(parent, node, rule, info, feature, start, key, held, key_start, key_end)


class PartialModel:
    """A persistent snapshot; every change makes a new one (see ``draft.Draft``).

    All places in it are such that ``place`` tells where they are in the text: the model of a whole
    text keeps anchored ones, which stay when text is put in before them.

    ``stated`` has for each object what is stated of it (see ``of``): at ``forward`` of a feature
    its targets or its value, at ``backward`` its sources; ``<contains`` are those of all
    containments. Such a cell has the address ``(forward or backward, object)``.

    ``extents`` are the objects of each class, ``names`` what each name is used for.

    ``facts`` maps all other cells to what is stated: ``('#', attribute, value)`` to the objects
    that have it, and what is known of keys, given objects and references stated several times.

    ``scopes`` are the objects of the text as the linker of all other references sees them (None
    where the language has none). It links when the text is closed: ``linked`` is what it found,
    ``faults`` what it did not; ``surroundings`` know the files around the text.
    """

    __slots__ = (
        "ambiguous",
        "closed",
        "conflicts",
        "extents",
        "facts",
        "faults",
        "frame",
        "linked",
        "names",
        "next_id",
        "nodes",
        "pending",
        "place",
        "schema",
        "scopes",
        "stated",
        "surroundings",
        "unknown_values",
    )

    def __init__(
        self,
        schema: Schema,
        nodes: Map[ObjectId, Node],
        stated: Map[ObjectId, Mapping[str, Any]],
        extents: Map[str, Members],
        names: Map[str, NameUse],
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
        linked: Linked | None = None,
        faults: tuple[Fault, ...] = (),
        place: Callable[[int], int] = as_it_is,
    ) -> None:
        self.schema = schema
        self.nodes = nodes
        self.stated = stated
        self.extents = extents
        self.names = names
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
        self.linked = linked
        self.faults = faults
        self.place = place

    @property
    def links(self) -> Iterator[Target]:
        """What the references of the closed text mean, with offsets, where scopes are kept."""
        if self.linked is not None and self.scopes is not None:
            for target in self.linked.targets(self.scopes):
                start, end = self.place(target.start), self.place(target.end)
                begin, stop = target.name_start, target.name_end
                if not target.path:
                    begin, stop = self.place(begin), self.place(stop)
                yield target._replace(start=start, end=end, name_start=begin, name_end=stop)

    def of(self, node: ObjectId) -> Mapping[str, Any]:
        """What is stated of an object, by ``forward`` and ``backward`` of features."""
        return self.stated.get(node, UNSAID)

    def use_of(self, name: str | None) -> NameUse:
        """What a name is used for."""
        return self.names.get(name, NOT_USED)  # type: ignore[arg-type]

    def objects(self, cls: str | None = None) -> Iterator[ObjectId]:
        """Existing objects that certainly are of the class (all without a class), in order."""
        if cls is None:
            return iter(self.in_order(node for node in self.nodes if node >= 0))
        info = self.schema.classes[cls]
        found: list[ObjectId] = []
        for kind in info.descendants:
            found.extend(self.extents.get(kind, NOTHING))
        return iter(self.in_order(found))

    def in_order(self, nodes: Iterable[ObjectId]) -> list[ObjectId]:
        """Objects as they come into the model when the text is read from its beginning."""
        return sorted(nodes) if self.place is as_it_is else sorted(nodes, key=self.turn)

    def turn(self, node: ObjectId) -> tuple[int, ObjectId]:
        """What tells the order of two objects, see `in_order`; after edits numbers do not."""
        start = 0 if self.place is as_it_is else self.place(self.nodes[node].start)
        return start, node

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
        start, end = self.place(record.start), self.place(record.end)
        return start, end if end >= 0 else max(self.place(record.name_end), start)

    def name_span(self, node: ObjectId) -> tuple[int, int]:
        """The best span to point at an object: its name, else the whole of it."""
        record = self.nodes[node]
        if record.name_start >= 0:
            return self.place(record.name_start), self.place(record.name_end)
        return self.span(node)

    def is_open(self, node: ObjectId) -> bool:
        """Whether text may still state features of the object."""
        return self.nodes[node].open and not self.closed

    def targets(self, node: ObjectId, feature: str) -> tuple[ObjectId, ...]:
        """The objects a reference points to; ``feature`` is a symbol or a plain name."""
        info = self._feature(node, feature)
        return tuple(self.in_order(self.of(node).get(info.forward, NOTHING) if info else ()))

    def sources(self, node: ObjectId, feature: str) -> tuple[ObjectId, ...]:
        """The objects that point here by the feature (a symbol)."""
        info = self.schema.features[feature]
        return tuple(self.in_order(self.of(node).get(info.backward, NOTHING)))

    def value(self, node: ObjectId, feature: str) -> Any:
        """The value of an attribute, None where none is stated; a tuple if there may be several."""
        info = self._feature(node, feature)
        return self.of(node).get(info.forward) if info else None

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
            for node in self.in_order(self.extents.get(kind, NOTHING)):
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
        bearers = self.use_of(record.name).bearers
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
            for reference in self.references(name, target_class)
        ]
        return tuple(sorted(found, key=lambda reference: reference.start))

    def references(self, name: str, target_class: str | None = None) -> Iterator[Reference]:
        """The references by this name (to one class, or all), with offsets in the text."""
        references = self.use_of(name).references
        for cls in references if target_class is None else (target_class,):
            for reference in references.get(cls, ()):
                start, end = self.place(reference.start), self.place(reference.end)
                yield reference._replace(start=start, end=end)

    def truth(self, symbol: str, args: tuple[ObjectId, ...]) -> Truth:
        """What the text says about a class or reference fact (without propagation)."""
        info = self.schema.classes.get(symbol)
        if info is not None:
            kinds = self.nodes[args[0]].kinds
            return Truth.of(not kinds.isdisjoint(info.descendants), kinds <= info.descendants)
        source, target = args
        feature = self.schema.features[symbol]
        if target in self.of(source).get(feature.forward, NOTHING):
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
            return feature.upper != 1 or feature.forward not in self.of(source)
        return len(self.of(source).get(feature.forward, NOTHING)) < feature.upper

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
        for node, stated in self.stated.items():
            for feature in self.schema.features.values() if node >= 0 else ():
                value = stated.get(feature.forward)
                if value is not None and feature.attribute:
                    graph.nodes[node][feature.name] = value
                elif value is not None:
                    graph.add_edges_from((node, target, feature.symbol) for target in value)
        return graph

    def _feature(self, node: ObjectId, feature: str) -> FeatureInfo | None:
        if feature in self.schema.features:
            return self.schema.features[feature]
        for kind in self.nodes[node].kinds:
            found = self.schema.classes[kind].features.get(feature)
            if found is not None:
                return found
        return None
