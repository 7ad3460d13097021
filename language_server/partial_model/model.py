"""The partial model, a persistent value: a typed graph of facts known, open or excluded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from immutables import Map

from language_server.partial_model.members import grown, shrunk
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
_ASKED_FOR = ("*", "#")  # by constraints, unlike the entries of the linker


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

    All places in it are such that ``place`` tells where they are in the text: the model of a whole
    text keeps anchored ones, which stay when text is put in before them.

    ``stated`` has for each object what is stated of it (see ``of``): at ``forward`` of a feature
    its targets or its value, at ``backward`` its sources; ``<contains`` are those of all
    containments. Such a cell has the address ``(forward or backward, object)``.

    ``facts`` maps all other cells to what is stated: ``('#', attribute, value)`` to the objects
    that have it, ``('*', class)`` to its objects, and some entries of the linker by plain names.

    ``scopes`` are the objects of the text as the linker of all other references sees them (None
    where the language has none). It links when the text is closed: ``linked`` is what it found,
    ``faults`` what it did not; ``surroundings`` know the files around the text.
    """

    __slots__ = (
        "ambiguous",
        "closed",
        "conflicts",
        "facts",
        "faults",
        "frame",
        "linked",
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

    def objects(self, cls: str | None = None) -> Iterator[ObjectId]:
        """Existing objects that certainly are of the class (all without a class), in order."""
        if cls is None:
            return iter(self.in_order(node for node in self.nodes if node >= 0))
        info = self.schema.classes[cls]
        found: list[ObjectId] = []
        for kind in info.descendants:
            found.extend(self.facts.get(("*", kind), NOTHING))
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
        return tuple(self.in_order(self.of(node).get(">" + self._symbol(node, feature), NOTHING)))

    def sources(self, node: ObjectId, feature: str) -> tuple[ObjectId, ...]:
        """The objects that point here by the feature (a symbol)."""
        return tuple(self.in_order(self.of(node).get("<" + feature, NOTHING)))

    def value(self, node: ObjectId, feature: str) -> Any:
        """The value of an attribute, None where none is stated; a tuple if there may be several."""
        return self.of(node).get("=" + self._symbol(node, feature))

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
            for node in self.in_order(self.facts.get(("*", kind), NOTHING)):
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
            for reference in self.references(name, target_class)
        ]
        return tuple(sorted(found, key=lambda reference: reference.start))

    def references(self, name: str, target_class: str | None = None) -> Iterator[Reference]:
        """The references by this name (to one class, or all), with offsets in the text."""
        classes = self.facts.get(("targets", name), ()) if target_class is None else (target_class,)
        for cls in classes:
            for reference in self.facts.get(("refs", cls, name), ()):
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
            for key, value in stated.items() if node >= 0 else ():
                if key[0] == ">":
                    graph.add_edges_from((node, target, key[1:]) for target in value)
                elif key[0] == "=":
                    graph.nodes[node][self.schema.features[key[1:]].name] = value
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
        self.nodes = model.nodes.mutate()
        self.stated = model.stated
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
        self._changed: dict[ObjectId, dict[str, Any]] = {}  # what replaces entries of `stated`

    @staticmethod
    def blank(schema: Schema, surroundings: Surroundings | None = None) -> Draft:
        """A draft without any object."""
        empty: Any = Map()
        maps = (empty, empty, empty, empty, empty, empty, empty)
        model = PartialModel(schema, *maps, None, 0, False)
        model.scopes = schema.no_scopes
        model.surroundings = surroundings
        return Draft(model)

    def commit(self) -> PartialModel:
        """The changed model."""
        stated = self.stated
        for node, said in self._changed.items():
            if said:
                stated = stated.set(node, said)
            elif node in stated:
                stated = stated.delete(node)
        self.stated, self._changed = stated, {}
        nodes = self.nodes.finish()
        self.nodes = nodes.mutate()
        return PartialModel(
            self.schema,
            nodes,
            stated,
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
            self.include(("*", home), number)
        return number

    def replace_node(self, number: ObjectId, node: Node) -> None:
        """Other knowledge about an object."""
        before = self.nodes[number]
        self.nodes[number] = node
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

    def include(self, cell: Cell, member: Any) -> None:
        """One more member at a cell."""
        self.facts = self.facts.set(cell, grown(self.facts.get(cell), member))
        if cell[0] in _ASKED_FOR:
            self.touched.append(cell)

    def exclude(self, cell: Cell, member: Any) -> None:
        """One member less at a cell."""
        left = shrunk(self.facts.get(cell, NOTHING), member)
        self.facts = self.facts.set(cell, left) if len(left) else self.facts.delete(cell)
        if cell[0] in _ASKED_FOR:
            self.touched.append(cell)

    def link(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        """State a reference, its opposite and what it is a subset of.

        What is stated several times is counted, so that one statement can be taken back.
        """
        if target in self.of(source).get(feature.forward, NOTHING):
            again = self._again(feature, source, target)
            self.facts = self.facts.set(again, self.facts.get(again, 0) + 1)
            return
        self._put(feature, source, target)
        features = self.schema.features
        if feature.opposite is not None:
            opposite = features[feature.opposite]
            if opposite is not feature or source != target:
                self._put(opposite, target, source)
                for symbol in opposite.supersets:
                    self.link(features[symbol], target, source)
        for symbol in feature.supersets:
            self.link(features[symbol], source, target)

    def unlink(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        """Take back one statement of a reference."""
        if target not in self.of(source).get(feature.forward, NOTHING):
            return
        again = self._again(feature, source, target)
        times = self.facts.get(again, 0)
        if times:
            left = self.facts.delete(again) if times == 1 else self.facts.set(again, times - 1)
            self.facts = left
            return
        self._take(feature, source, target)
        features = self.schema.features
        if feature.opposite is not None:
            opposite = features[feature.opposite]
            if opposite is not feature or source != target:
                self._take(opposite, target, source)
                for symbol in opposite.supersets:
                    self.unlink(features[symbol], target, source)
        for symbol in feature.supersets:
            self.unlink(features[symbol], source, target)

    def _put(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        forward, backward = feature.forward, feature.backward
        of_source, of_target = self._edit(source), self._edit(target)
        of_source[forward] = grown(of_source.get(forward), target)
        of_target[backward] = grown(of_target.get(backward), source)
        touched = self.touched
        touched += ((forward, source), (backward, target))
        if feature.bounded:
            touched.append(("bounds", source))
        if feature.containment:
            of_target["<contains"] = grown(of_target.get("<contains"), source)
            touched.append(("<contains", target))

    def _take(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        self._part(feature.forward, source, target)
        self._part(feature.backward, target, source)
        if feature.bounded:
            self.touched.append(("bounds", source))
        if feature.containment:
            self._part("<contains", target, source)

    def _part(self, key: str, node: ObjectId, other: ObjectId) -> None:
        said = self._edit(node)
        left = shrunk(said[key], other)
        if len(left):
            said[key] = left
        else:
            del said[key]
        self.touched.append((key, node))

    def sever(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> int:
        """Take back all statements of a reference; how many there were."""
        times = 0
        while target in self.of(source).get(feature.forward, NOTHING):
            self.unlink(feature, source, target)
            times += 1
        return times

    def _again(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> Cell:
        """Where it is counted how often more than once the reference or its opposite is stated."""
        symbol, opposite = feature.symbol, feature.opposite
        if opposite is not None and (opposite, target, source) < (symbol, source, target):
            symbol, source, target = opposite, target, source
        return ("again", symbol, source, target)

    def assign(self, feature: FeatureInfo, source: ObjectId, value: Any) -> None:
        """State the value of an attribute; a list attribute collects its values in order."""
        said = self._edit(source)
        before = said.get(feature.forward)
        if feature.upper == 1:
            self.revised = self.revised or before is not None
            if before == value:
                return
            if before is not None and feature.looked_up:
                self.exclude(("#", feature.symbol, before), source)
            said[feature.forward] = value
        else:
            said[feature.forward] = (*(before or ()), value)
        self.touched.append((feature.forward, source))
        if feature.bounded:
            self.touched.append(("bounds", source))
        if feature.looked_up:
            self.include(("#", feature.symbol, value), source)

    def unassign(self, feature: FeatureInfo, node: ObjectId) -> None:
        """Take back what is stated of the value, or the values, of an attribute."""
        value = self._edit(node).pop(feature.forward)
        if feature.looked_up:
            for one in {value} if feature.upper == 1 else set(value):
                self.exclude(("#", feature.symbol, one), node)
        self.touched.append((feature.forward, node))
        if feature.bounded:
            self.touched.append(("bounds", node))
