"""Transitive closures kept up to date edge by edge, as persistent values.

``Reach`` holds what can be reached from one object. ``Cycles`` holds which objects of a relation
lie on a cycle, by an order in which every edge leads upward as long as there is no cycle (Pearce
and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", 2006): an edge that
fits the order costs nothing, any other costs by the objects between its ends in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

import networkx
from immutables import Map

from language_server.partial_model import ObjectId

Neighbours = Collection[ObjectId]
Step = Callable[[ObjectId], Neighbours]
_NONE: frozenset[ObjectId] = frozenset()


class Reach(NamedTuple):
    """What is reached from ``start``; ``edges`` are those of the start and of all members."""

    start: ObjectId
    members: Map[ObjectId, None]
    edges: Map[ObjectId, Neighbours]

    @staticmethod
    def of(start: ObjectId, step: Step) -> Reach:
        """Search from scratch."""
        members: Any = Map()
        edges: Any = Map()
        return Reach(start, members, edges)._searched([start], step)

    def updated(self, changed: Iterable[ObjectId], step: Step) -> tuple[Reach, set[ObjectId]]:
        """After a change of the edges that leave some objects.

        Returns:
            The new value, and the objects that are now reached and were not, or vice versa.
        """
        before = self
        grown = []
        for node in changed:
            if node not in before.edges:
                continue
            if set(before.edges[node]) - set(step(node)):
                after = Reach.of(self.start, step)
                return after, set(self.members.keys()) ^ set(after.members.keys())
            grown.append(node)
        after = before._searched(grown, step)
        if len(after.members) == len(self.members):
            return after, set()
        return after, {node for node in after.members if node not in self.members}

    def _searched(self, waiting: list[ObjectId], step: Step) -> Reach:
        members = self.members.mutate()
        edges = self.edges.mutate()
        while waiting:
            node = waiting.pop()
            found = step(node)
            edges[node] = found
            for after in found:
                if after not in members:
                    members[after] = None
                    if after not in edges:
                        waiting.append(after)
        return Reach(self.start, members.finish(), edges.finish())


class Cycles(NamedTuple):
    """Which objects lie on a cycle; all objects reached from one that was asked for are known."""

    edges: Map[ObjectId, Neighbours]
    back: Map[ObjectId, frozenset[ObjectId]]
    place: Map[ObjectId, int]
    low: int
    high: int
    cyclic: frozenset[ObjectId]

    @staticmethod
    def empty() -> Cycles:
        """No object is known so far."""
        nothing: Any = Map()
        return Cycles(nothing, nothing, nothing, 0, 0, frozenset())

    def updated(self, changed: Iterable[ObjectId], step: Step) -> tuple[Cycles, set[ObjectId]]:
        """With further objects, or after a change of the edges that leave some objects.

        Returns:
            The new value, and the objects that are on a cycle now and were not, or vice versa.
        """
        work = _Order(self)
        waiting = list(changed)
        while waiting:
            node = waiting.pop()
            work.add_node(node)
            after = step(node)
            before = work.edges.get(node, _NONE)
            work.edges = work.edges.set(node, after)
            for target in before:
                if target not in after:
                    work.remove(node, target)
            for target in after:
                if target not in before:
                    if target not in work.place:
                        work.add_node(target)
                        waiting.append(target)
                    work.insert(node, target)
        result = work.finished()
        return result, set(self.cyclic ^ result.cyclic)


class _Order:
    """The order while it is being changed."""

    def __init__(self, before: Cycles) -> None:
        self.edges, self.back, self.place, self.low, self.high, self.cyclic = before
        self.broken = bool(before.cyclic)

    def finished(self) -> Cycles:
        """The new value; where the order does not hold it is found anew."""
        if self.broken:
            self._sort_anew()
        return Cycles(self.edges, self.back, self.place, self.low, self.high, self.cyclic)

    def add_node(self, node: ObjectId) -> None:
        """One more object, above all others."""
        if node not in self.place:
            self.high += 1
            self.place = self.place.set(node, self.high)

    def remove(self, source: ObjectId, target: ObjectId) -> None:
        """One edge less; the order still holds."""
        self.back = self.back.set(target, self.back.get(target, frozenset()) - {source})

    def insert(self, source: ObjectId, target: ObjectId) -> None:
        """One edge more."""
        incoming = self.back.get(target, frozenset())
        self.back = self.back.set(target, incoming | {source})
        if self.broken:
            return
        place = self.place
        if source == target:
            self.broken = True
        elif place[source] < place[target]:
            return
        elif not self.back.get(source):
            self.low -= 1
            self.place = place.set(source, self.low)
        elif not self.edges.get(target):
            self.high += 1
            self.place = place.set(target, self.high)
        else:
            self._reorder(source, target)

    def _reorder(self, source: ObjectId, target: ObjectId) -> None:
        place = self.place
        upper, lower = place[source], place[target]
        forward = {target}
        waiting = [target]
        while waiting:
            for after in self.edges.get(waiting.pop(), _NONE):
                if after == source:
                    self.broken = True
                    return
                if after not in forward and after in place and place[after] < upper:
                    forward.add(after)
                    waiting.append(after)
        backward = {source}
        waiting = [source]
        while waiting:
            for ahead in self.back.get(waiting.pop(), frozenset()):
                if ahead not in backward and place[ahead] > lower:
                    backward.add(ahead)
                    waiting.append(ahead)
        moved = [*sorted(backward, key=place.__getitem__), *sorted(forward, key=place.__getitem__)]
        for node, at in zip(moved, sorted(place[node] for node in moved), strict=True):
            self.place = self.place.set(node, at)

    def _sort_anew(self) -> None:
        graph: Any = networkx.DiGraph()
        graph.add_nodes_from(self.place)
        graph.add_edges_from((a, b) for a, targets in self.edges.items() for b in targets)
        components = list(networkx.strongly_connected_components(graph))
        self.cyclic = frozenset(
            node
            for component in components
            for node in component
            if len(component) > 1 or graph.has_edge(node, node)
        )
        if not self.cyclic:
            order = {node: at for at, node in enumerate(networkx.topological_sort(graph))}
            place: Any = Map(order)
            self.place, self.low, self.high = place, 0, len(order)
