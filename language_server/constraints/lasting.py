"""What is violated in a text and would be however it went on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from immutables import Map

from language_server.constraints.constraint_set import ConstraintSet
from language_server.constraints.query import Query, View
from language_server.constraints.settling import Settled, settle
from language_server.constraints.shortfalls import shortfalls
from language_server.constraints.state import Key, State
from language_server.constraints.violation import Violation, violations
from language_server.partial_model import ObjectId, PartialModel


def lasting_violations(
    constraints: ConstraintSet, closed: Settled, reopened: PartialModel
) -> tuple[Violation, ...]:
    """The violations that hold in every completion of a text.

    Only what is violated as the text stands is looked at.

    Args:
        closed: the answers for the text as it stands.
        reopened: its model with the objects open that may go on.
    """
    if constraints.rules:  # these ask what may follow for any object
        cells = [(kind, node) for node in reopened.nodes if node >= 0 for kind in ("new", "bounds")]
        settled = settle(constraints, Settled(reopened), reopened, [*cells, ("start",)])
    else:
        settled = Settled(reopened)
        lasting = {node: shortfalls(reopened, node)[1] for node in closed.shortfalls_now}
        settled.shortfalls_must = Map({node: found for node, found in lasting.items() if found})
        settled.violated_must = _certain_rows(constraints, reopened, closed.violated_now)
    found = violations(constraints, settled, certain_only=True)
    return tuple(each for each in found if each.severity == "error")


def _certain_rows(
    constraints: ConstraintSet, model: PartialModel, violated: Iterable[Key]
) -> Map[Key, Any]:
    """The violated rows that are violated in every completion, with the queries that say so."""
    found: Map[Key, Any] = Map()
    state = _Extents(constraints, model).state
    for now, args in violated:
        assert isinstance(now, Query)
        must = constraints.errors[now].must
        rows = state.rows(must, args)
        if rows:
            found = found.set((must, args), rows)
    return found


class _Extents:
    """The rows of whole predicates, found when they are asked for.

    Attributes:
        state: that asks, and is asked for them.
    """

    def __init__(self, constraints: ConstraintSet, model: PartialModel) -> None:
        nothing: Any = Map()
        self._constraints = constraints
        self._queries = {place: query for query, place in constraints.extents.items()}
        self._known: dict[tuple[str, View], dict[ObjectId, Any]] = {}
        sizes = _Sizes(self)
        self.state = State(model, nothing.mutate(), nothing.mutate(), self, sizes)

    def get(self, place: tuple[str, View], default: Any = None) -> Any:
        known = self._known.get(place)
        if known is None:
            query, nodes = self._queries[place], self.state.nodes
            known = self._known[place] = {}
            for node, record in nodes.items():
                roots = (self._constraints.extents_of(kind) for kind in record.kinds)
                if node >= 0 and any(query in each for each in roots):
                    rows = self.state.rows(query, (node,))
                    if rows:
                        known[node] = rows
        return known


class _Sizes:
    """How many rows whole predicates have."""

    def __init__(self, extents: _Extents) -> None:
        self._extents = extents

    def get(self, place: tuple[str, View], default: int = 0) -> int:
        return sum(map(len, self._extents.get(place).values()))
