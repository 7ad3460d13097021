"""What compiled queries ask: facts under the views, answers of other queries, with dependencies.

Every method notes in ``deps`` the cells on which its answer rests. Under ``must`` and ``may`` these
are only the cells that may still change: what text has stated stays, what it has closed stays away.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from language_server.constraints.closures import Cycles, Reach
from language_server.constraints.query import Closure, Counting, Pattern, Query, Row, View
from language_server.constraints.values import ABSENT, UNKNOWN, Interval
from language_server.partial_model import ClassInfo, FeatureInfo, ObjectId, PartialModel

Key = tuple[Query | Closure | Counting, Row]
NONE: frozenset[Any] = frozenset()


class State:
    """The model of one step and the answers found for it."""

    def __init__(
        self, model: PartialModel, memo: Any, readers: Any, extents: Any, sizes: Any
    ) -> None:
        self.model = model
        self.stated = model.stated
        self.facts = model.facts
        self.nodes = model.nodes
        self.memo = memo
        self.readers = readers
        self.extents = extents
        self.sizes = sizes
        self.deps: list[Any] = []
        self.changed: list[Any] = []  # cells of closures that changed while they were renewed

    # ---- answers of queries ------------------------------------------------------------------

    def rows(self, query: Query, args: Row) -> Collection[Row]:
        """All rows of a ``now`` or ``must`` query."""
        key = (query, args)
        self.deps.append(key)
        found = self.memo.get(key)
        if found is None:
            found = self.compute(key)
        return found  # type: ignore[no-any-return]

    def possible_row(self, query: Query, args: Row) -> bool:
        """Whether a ``may`` query has a row."""
        key = (query, args)
        found = self.memo.get(key)
        if found is None:
            found = self.compute(key)
        if found:
            self.deps.append(key)
        return found  # type: ignore[no-any-return]

    def possible_rows(self, query: Query, args: Row) -> Iterator[Row]:
        """The rows of a ``may`` query; with each, ``deps`` holds what it rests on."""
        rows: Iterator[Row] = query.run(self, *args)
        return rows

    def gathered(self, query: Query, args: Row) -> Iterable[Row]:
        """All rows of a ``may`` query with everything that they rest on."""
        mine = self.deps
        self.deps = []
        found: dict[Row, None] = {}
        kept: list[Any] = []
        for row in query.run(self, *args):
            if row not in found:
                found[row] = None
                kept.extend(self.deps)
        self.deps = mine
        mine.extend(kept)
        return found

    def extent_rows(self, name: str, view: View) -> Iterator[Row]:
        """All rows of a predicate whose extent is maintained."""
        self.deps.append(("extent", name, view))
        for anchor, rows in self.extents.get((name, view), {}).items():
            for row in rows:
                yield (anchor, *row)

    def extent_size(self, name: str, view: View) -> int:
        """How many rows a predicate has."""
        self.deps.append(("extent", name, view))
        return self.sizes.get((name, view), 0)  # type: ignore[no-any-return]

    def extent_range(self, name: str, possible: Query) -> Any:
        """Bounds on how many rows a predicate has in any completion."""
        lower = self.extent_size(name, "must")
        if lower > 1 and self.model.pending:
            lower = self._distinct(list(self.extent_rows(name, "must")))
        return _range(lower, self._possible_count(possible, ()))

    def count_range(self, certain: Query, possible: Query, args: Row) -> Any:
        """Bounds on how many rows a query has in any completion."""
        lower = self._distinct(self.rows(certain, args))
        return _range(lower, self._possible_count(possible, args))

    def compute(self, key: Key) -> Any:
        """Answer a query anew and keep the answer."""
        self.memo[key] = value = self.answer(key)
        return value

    def answer(self, key: Key) -> Any:
        """Answer a query anew and note what the answer rests on."""
        asked, args = key
        mine = self.deps
        self.deps = []
        value: Any
        if isinstance(asked, Query):
            value = asked.run(self, *args)
            if asked.view == "may":
                value = next(value, None) is not None
        elif isinstance(asked, Counting):
            value = self._count_possible(asked.query, args)
        else:
            value = self._may_find(asked, args[0], args[1])
        if self.deps:
            self.rest(key)
        self.deps = mine
        return value

    def rest(self, key: Key) -> None:
        """Note that an answer rests on what has been read since the last note."""
        readers = self.readers
        for cell in set(self.deps):
            readers[cell] = _with(readers.get(cell), key)
        self.deps = []

    def _possible_count(self, query: Query, args: Row) -> float:
        key = (query.counting, args)
        self.deps.append(key)
        found = self.memo.get(key)
        return self.compute(key) if found is None else found  # type: ignore[no-any-return]

    def _count_possible(self, query: Query, args: Row) -> float:
        deps = self.deps
        found: set[Row] = set()
        kept: list[Any] = []
        for row in query.run(self, *args):
            if any(self._is_many(value) for value in row):
                return math.inf  # deps holds what this row rests on, which is enough
            if row not in found:
                found.add(row)
                kept.extend(deps)
        self.deps = kept
        return len(found)

    def _is_many(self, value: Any) -> bool:
        return isinstance(value, int) and value < 0

    def _distinct(self, rows: Collection[Row]) -> int:
        """How many of the rows are certainly different.

        Two mentions of one name may be one object, and so may a mention and an object under
        construction that has no name so far.
        """
        if not self.model.pending or len(rows) < 2:
            return len(rows)
        different = set()
        for row in rows:
            names = [self._name_if_mentioned(value) for value in row]
            if names != list(row) and self.model.awaits_name():
                self.deps.append(("named",))
            else:
                different.add(tuple(names))
        return max(1, len(different))

    def _name_if_mentioned(self, value: Any) -> Any:
        node = self.nodes.get(value)
        if node is None or node.role != "mentioned":
            return value
        self.deps.append(("open", value))
        return ("name", node.name)

    # ---- objects and types -------------------------------------------------------------------

    def everything(self, view: View) -> Iterator[ObjectId]:
        """All objects, also the possible ones under ``may``."""
        self.deps.append(("objects",))
        for node in self.nodes:
            if self.exists(node, view):
                yield node

    def exists(self, node: ObjectId, view: View) -> bool:
        """Whether the object exists."""
        return node >= 0 or (view == "may" and not self.model.closed)

    def must_be(self, node: ObjectId, kinds: frozenset[str]) -> bool:
        """Whether the object certainly is of one of the kinds."""
        known = self.nodes[node].kinds
        if len(known) > 1:
            self.deps.append(("kinds", node))
        return node >= 0 and known <= kinds

    def may_be(self, node: ObjectId, kinds: frozenset[str]) -> bool:
        """Whether the object may be of one of the kinds."""
        known = self.nodes[node].kinds
        if len(known) > 1 and not known <= kinds:
            self.deps.append(("kinds", node))
        return not known.isdisjoint(kinds)

    def certain(self, info: ClassInfo) -> Iterator[ObjectId]:
        """The objects that certainly are of the class."""
        for kind in info.descendants:
            self.deps.append(("*", kind))
            yield from self.model.extents.get(kind, NONE)

    def possible(self, info: ClassInfo) -> Iterator[ObjectId]:
        """The objects that may be of the class, those that later text adds first."""
        new = self.model.schema.new
        for kind in info.kinds:
            if kind in new and new[kind] in self.nodes and not self.model.closed:
                yield new[kind]
        for kind in info.descendants:
            yield from self.model.extents.get(kind, NONE)
        deps = self.deps
        mark = len(deps)
        for node in self.model.pending.values():
            kinds = self.nodes[node].kinds
            if not kinds <= info.descendants and not kinds.isdisjoint(info.descendants):
                deps.append(("kinds", node))
                yield node
                del deps[mark:]

    def must_equal(self, left: ObjectId, right: ObjectId) -> bool:
        """Whether two objects certainly are one."""
        return left == right and left >= 0

    def may_equal(self, left: ObjectId, right: ObjectId) -> bool:
        """Whether two objects may turn out to be one."""
        if left == right:
            return True
        if left < 0 or right < 0:
            return False
        one, other = self.nodes[left], self.nodes[right]
        if one.role != "mentioned" and other.role != "mentioned":
            return False
        if one.kinds.isdisjoint(other.kinds):
            return False
        may = one.name == other.name or one.name is None or other.name is None
        if may:
            self.deps.append(("open", left))
            self.deps.append(("open", right))
        return may

    # ---- references --------------------------------------------------------------------------

    def now_link(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> bool:
        """Whether the reference is stated."""
        if feature.upper == 1:
            key, node, member = feature.forward, source, target
        else:  # fewer links come in later at this end
            key, node, member = feature.backward, target, source
        self.deps.append((key, node))
        return member in self.model.of(node).get(key, NONE)

    def must_link(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> bool:
        """Whether the reference certainly holds."""
        if feature.upper != 1 and not feature.revisable:
            return source in self.must_link_sources(feature, target)
        return target in self.must_link_targets(feature, source)

    def must_link_targets(self, feature: FeatureInfo, source: ObjectId) -> Iterable[ObjectId]:
        """What the object certainly points to."""
        key = feature.forward
        targets = NONE if feature.revisable else self.model.of(source).get(key, NONE)
        if (
            source < 0
            or self.model.may_fill(feature, source)
            or any(self.nodes[target].role == "mentioned" for target in targets)
        ):
            self.deps.append((key, source))
        return targets

    def must_link_sources(self, feature: FeatureInfo, target: ObjectId) -> Iterable[ObjectId]:
        """What certainly points to the object."""
        self.deps.append((feature.backward, target))
        return NONE if feature.revisable else self.model.of(target).get(feature.backward, NONE)

    def may_link(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> bool:
        """Whether the reference holds in some completion."""
        if target in self.model.of(source).get(feature.forward, NONE):
            self._rest_on_mention(feature, source, target)
            return True
        if not self.model.may_link(feature, source, target):
            return False
        self._rest_on_openness(feature, source, target)
        return True

    def may_link_targets(self, feature: FeatureInfo, source: ObjectId) -> Iterator[ObjectId]:
        """What the object may point to."""
        stated = self.model.of(source).get(feature.forward, NONE)
        deps = self.deps
        mark = len(deps)
        for target in stated:
            self._rest_on_mention(feature, source, target)
            yield target
            del deps[mark:]
        if not self.model.may_fill(feature, source):
            return
        for target in self.possible(self.model.schema.classes[feature.target]):
            if target not in stated and self.model.may_link(feature, source, target):
                self._rest_on_openness(feature, source, target)
                yield target
                del deps[mark:]

    def may_link_sources(self, feature: FeatureInfo, target: ObjectId) -> Iterator[ObjectId]:
        """What may point to the object."""
        stated = self.model.of(target).get(feature.backward, NONE)
        deps = self.deps
        mark = len(deps)
        for source in stated:
            self._rest_on_mention(feature, source, target)
            yield source
            del deps[mark:]
        if self.model.closed:
            return
        for source in self._open_objects(feature):
            if source not in stated and self.model.may_link(feature, source, target):
                self._rest_on_openness(feature, source, target)
                yield source
                del deps[mark:]

    def _open_objects(self, feature: FeatureInfo) -> Iterator[ObjectId]:
        """Objects of which the feature may still be stated, those that later text adds first."""
        schema = self.model.schema
        if feature.indirect:
            yield from self.possible(schema.classes[feature.owner])
            return
        for kind in feature.sources:
            if kind in schema.new and schema.new[kind] in self.nodes:
                yield schema.new[kind]
        frame = self.model.frame
        while frame is not None:
            if frame.node is not None and self.nodes[frame.node].role != "keyed":
                yield frame.node
            frame = frame.parent
        yield from list(self.model.pending.values())
        for kind in feature.sources:
            if schema.classes[kind].key:
                yield from self.model.extents.get(kind, NONE)

    def _rest_on_mention(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        """A stated reference stays, unless its target turns out to be another object."""
        if self.nodes[target].role == "mentioned":
            self.deps.append((feature.forward, source))

    def _rest_on_openness(self, feature: FeatureInfo, source: ObjectId, target: ObjectId) -> None:
        deps = self.deps
        if source >= 0:
            deps.append(("open", source))
            if feature.upper is not None:
                deps.append((feature.forward, source))
            if len(self.nodes[source].kinds) > 1:
                deps.append(("kinds", source))
        if target >= 0:
            if feature.containment or feature.indirect or feature.opposite is not None:
                deps.append(("open", target))
            if feature.opposite is not None:
                deps.append((feature.backward, target))
            if len(self.nodes[target].kinds) > 1:
                deps.append(("kinds", target))

    def must_contains(self, symbol: str, source: ObjectId, target: ObjectId) -> bool:
        """Whether one object certainly contains the other."""
        return source in self.must_contains_sources(symbol, target)

    def must_contains_targets(self, symbol: str, source: ObjectId) -> Iterator[ObjectId]:
        """What the object certainly contains."""
        stated = self.model.of(source)
        for feature in self._containments(source):
            self.deps.append((feature.forward, source))
            yield from stated.get(feature.forward, NONE)

    def must_contains_sources(self, symbol: str, target: ObjectId) -> Iterable[ObjectId]:
        """What certainly contains the object."""
        self.deps.append(("<contains", target))
        containers: Iterable[ObjectId] = self.model.of(target).get("<contains", NONE)
        return containers

    def may_contains(self, symbol: str, source: ObjectId, target: ObjectId) -> bool:
        """Whether one object may contain the other."""
        return any(self.may_link(f, source, target) for f in self._containments(source))

    def may_contains_targets(self, symbol: str, source: ObjectId) -> Iterator[ObjectId]:
        """What the object may contain."""
        for feature in self._containments(source):
            yield from self.may_link_targets(feature, source)

    def may_contains_sources(self, symbol: str, target: ObjectId) -> Iterator[ObjectId]:
        """What may contain the object."""
        for feature in self.model.schema.features.values():
            if feature.containment and not self.nodes[target].kinds.isdisjoint(feature.targets):
                yield from self.may_link_sources(feature, target)

    def _containments(self, source: ObjectId) -> list[FeatureInfo]:
        classes = self.model.schema.classes
        found = {
            f.symbol: f for kind in self.nodes[source].kinds for f in classes[kind].containments
        }
        return list(found.values())

    # ---- values ------------------------------------------------------------------------------

    def now_value(self, feature: FeatureInfo, node: ObjectId) -> Any:
        """The stated value of an attribute; an unset boolean is false, as in textX."""
        self.deps.append((feature.forward, node))
        value = self.model.of(node).get(feature.forward)
        if value is None:
            return self._unset(feature, node)
        return value

    def known_value(self, feature: FeatureInfo, node: ObjectId) -> Any:
        """What is certain of the value of an attribute."""
        value = self.model.of(node).get(feature.forward)
        if value is not None and not feature.revisable and feature.upper == 1:
            return value
        if self.model.may_fill(feature, node):
            self.deps.append((feature.forward, node))
            self.deps.append(("open", node))
            return UNKNOWN
        return self._unset(feature, node) if value is None else value

    def _unset(self, feature: FeatureInfo, node: ObjectId) -> Any:
        if feature.target == "boolean" and not self.nodes[node].kinds.isdisjoint(feature.sources):
            return False
        return ABSENT

    def with_value(self, feature: FeatureInfo, value: Any, view: View) -> Iterable[ObjectId]:
        """The objects whose attribute certainly has the value."""
        if value is ABSENT or value is UNKNOWN or (view == "must" and feature.revisable):
            return NONE
        if isinstance(value, Interval):
            return NONE
        if isinstance(value, tuple):
            return [node for one in value for node in self.with_value(feature, one, view)]
        cell = ("#", feature.symbol, value)
        self.deps.append(cell)
        return self.facts.get(cell, NONE)

    def base_rows(self, name: str, pattern: Pattern, view: View, bound: Row) -> Iterator[Row]:
        """The rows of a predicate without definition."""
        self.deps.append(("base", name))
        for row in self.facts.get(("base", name), {}):
            values = iter(bound)
            if all(not is_bound or row[i] == next(values) for i, is_bound in enumerate(pattern)):
                yield tuple(row[i] for i, is_bound in enumerate(pattern) if not is_bound)

    # ---- closures ----------------------------------------------------------------------------

    def reached(self, closure: Closure, start: ObjectId) -> Iterable[ObjectId]:
        """The objects in the transitive closure from the start (the start itself if on a cycle)."""
        if closure.view == "may":
            return self._explore(closure, start)
        key = (closure, (start,))
        self.deps.append(key)
        found: Reach | None = self.memo.get(key)
        return (self.renew_closure(key, ()) if found is None else found).members

    def connected(self, closure: Closure, source: ObjectId, target: ObjectId) -> bool:
        """Whether the transitive closure leads from the source to the target."""
        if closure.view == "may":
            return self._may_connect(closure, source, target)
        key = (closure, (source,))
        found: Reach | None = self.memo.get(key)
        if found is None:
            found = self.renew_closure(key, ())
        self.deps.append(("reached", closure, source, target))
        return target in found.members

    def on_cycle(self, closure: Closure, node: ObjectId) -> bool:
        """Whether the transitive closure leads from the object to itself."""
        if closure.view == "may":
            return self._may_connect(closure, node, node)
        found: Cycles | None = self.memo.get((closure, ()))
        if found is None or node not in found.edges:
            found = self.renew_closure((closure, ()), (node,))
        self.deps.append(("cyclic", closure, node))
        return node in found.cyclic

    def renew_closure(self, key: Key, changed: Iterable[ObjectId]) -> Any:
        """Bring a closure up to date (or make it) where the edges of some objects have changed."""
        closure, args = key
        assert isinstance(closure, Closure)
        known: Reach | Cycles | None = self.memo.get(key)

        def step(node: ObjectId) -> Collection[ObjectId]:
            if node not in self.nodes:
                return NONE
            mine = self.deps
            self.deps = []
            rows = self.rows(closure.step, (node,))
            for cell in self.deps:
                self.readers[cell] = _with(self.readers.get(cell), key)
            self.deps = mine
            return frozenset([target for (target,) in rows])

        different: set[ObjectId]
        after: Reach | Cycles
        if not args:
            after, different = (known or Cycles.empty()).updated(changed, step)
            self.changed.extend(("cyclic", closure, node) for node in different)
        elif known is None:
            after = Reach.of(args[0], step)
        else:
            after, different = known.updated(changed, step)
            self.changed.extend(("reached", closure, args[0], node) for node in different)
            if different:
                self.changed.append(key)
        self.memo[key] = after
        return after

    def _may_connect(self, closure: Closure, source: ObjectId, target: ObjectId) -> bool:
        key = (closure, (source, target))
        found = self.memo.get(key)
        if found is None:
            found = self.compute(key)
        if found:
            self.deps.append(key)
        return bool(found)

    def _may_find(self, closure: Closure, source: ObjectId, target: ObjectId) -> bool:
        """Search for a possible path; on success ``deps`` holds what that path rests on."""
        paths: dict[ObjectId, list[Any]] = {source: []}
        waiting = deque([source])
        outer = self.deps
        while waiting:
            at = waiting.popleft()
            self.deps = []
            ends = (at, target) if closure.forward else (target, at)
            if self.possible_row(closure.check, ends):
                outer.extend(paths[at])
                outer.extend(self.deps)
                self.deps = outer
                return True
            for (after,) in self.possible_rows(closure.step, (at,)):
                if after not in paths:
                    paths[after] = [*paths[at], *self.deps]
                    waiting.append(after)
        self.deps = outer
        return False

    def _explore(self, closure: Closure, start: ObjectId) -> Iterator[ObjectId]:
        """What may be reached, nearest first; with each, ``deps`` holds what its path rests on."""
        paths: dict[ObjectId, list[Any]] = {start: []}
        waiting = deque([start])
        found: set[ObjectId] = set()
        while waiting:
            at = waiting.popleft()
            rows = closure.step.run(self, at)
            inner: list[Any] = []
            while True:
                outer = self.deps
                self.deps = inner
                row = next(rows, None)
                self.deps = outer
                if row is None:
                    break
                after = row[0]
                if after in found:
                    continue
                found.add(after)
                path = [*paths[at], *inner]
                if after not in paths:
                    paths[after] = path
                    waiting.append(after)
                mark = len(outer)
                outer.extend(path)
                yield after
                del outer[mark:]


def _range(lower: float, upper: float) -> Any:
    return lower if lower == upper else Interval(lower, max(lower, upper))


def _with(keys: Any, key: Key) -> Any:
    if keys is None:
        return (key,)
    if isinstance(keys, tuple) and len(keys) < 4:
        return keys if key in keys else (*keys, key)
    return keys.set(key, None) if not isinstance(keys, tuple) else _as_map(keys, key)


def _as_map(keys: tuple[Key, ...], key: Key) -> Any:
    from immutables import Map

    return Map(dict.fromkeys((*keys, key)))
