"""Evaluation of a graph that comes from elsewhere than a text: objects, links and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from language_server.constraints.given import state_given
from language_server.constraints.settling import Settled
from language_server.partial_model import Draft, FeatureInfo, Node, ObjectId

if TYPE_CHECKING:
    from language_server.constraints.constraint_set import ConstraintSet
    from language_server.constraints.evaluation import Evaluation


class Graph:
    """A graph under construction.

    Args:
        constraints: the theory that the graph is to satisfy.
    """

    def __init__(self, constraints: ConstraintSet) -> None:
        self._constraints = constraints
        self._draft = Draft.blank(constraints.schema)
        self._start = Settled(self._draft.commit())
        state_given(self._draft, constraints, ())
        self._draft.touched.append(("start",))

    def add(self, cls: str, name: str | None = None) -> ObjectId:
        """One more object of a class."""
        info = self._constraints.schema.classes[cls]
        node = Node(info.exact, name, True, "keyed" if info.key else "declared")
        number = self._draft.add_node(node, cls)
        self._draft.touched.append(("bounds", number))
        return number

    def link(self, source: ObjectId, feature: str, target: ObjectId | str) -> None:
        """State a reference; the target may be a given object (enum literal, atom) by its name.

        Raises:
            KeyError: the class has no such reference, or there is no such individual.
        """
        info = self._feature(source, feature)
        if isinstance(target, str):
            target = self._constraints.schema.classes[info.target].individuals[target]
        self._draft.link(info, source, target)

    def set(self, source: ObjectId, attribute: str, value: Any) -> None:
        """State the value of an attribute.

        Raises:
            KeyError: the class has no such attribute.
        """
        self._draft.assign(self._feature(source, attribute), source, value)

    def evaluate(self) -> Evaluation:
        """The graph as a partial model: further facts may still be added to it.

        Its ``close()`` is the verdict on the graph as it is.
        """
        from language_server.constraints.evaluation import Evaluation

        pending = (tuple(self._draft.touched), None)
        return Evaluation(self._constraints, self._draft.commit(), self._start, pending)

    def _feature(self, source: ObjectId, feature: str) -> FeatureInfo:
        (kind,) = self._draft.nodes[source].kinds
        return self._constraints.schema.classes[kind].features[feature.rsplit("::", 1)[-1]]
