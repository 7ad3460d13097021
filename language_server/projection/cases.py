"""Proofs by cases that a model has no consistent completion.

Propagation judges each constraint with everything that is still open unknown at once. Here what an
object under construction may get is assumed in turn: nothing more, or one more part of each class.
If propagation finds a contradiction in every case there is no completion. The place to split at is
the one that leaves the fewest cases open, as in look-ahead SAT solvers (Heule and van Maaren,
*Look-Ahead Based SAT Solvers*, 2009).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from language_server.constraints.repair import repairing_symbols
from language_server.constraints.symmetry import representative
from language_server.partial_model import Draft, FeatureInfo, Node, ObjectId

if TYPE_CHECKING:
    from language_server.constraints import Evaluation, Violation

# Cases looked at for one model, and slots among which the best one is split.
_CASES = 120
_SLOTS = 4
# Ways to refer to given objects that are told apart.
_GIVEN = 20


class Slot(NamedTuple):
    """A feature of an object that text may still fill."""

    feature: FeatureInfo
    node: ObjectId


class _Case(NamedTuple):
    """The model under an assumption, with what may still be filled."""

    evaluation: Evaluation
    slots: tuple[Slot, ...]


def refutation(
    evaluation: Evaluation, slots: Sequence[Slot], stop: Callable[[], bool] = lambda: False
) -> Violation | None:
    """A violation that shows why no completion is consistent; None if no proof was found.

    Args:
        slots: what the objects under construction may still get, innermost first.
        stop: asked now and then; once it is true no proof is looked for.
    """
    return _Proof(stop).of(_Case(evaluation, tuple(slots)))


class _Proof:
    def __init__(self, stop: Callable[[], bool]) -> None:
        self._stop = stop
        self._left = _CASES
        self._lifting: dict[str, frozenset[str]] = {}

    def of(self, case: _Case) -> Violation | None:
        contradictions = case.evaluation.contradictions
        if contradictions:
            return contradictions[0]
        best: list[_Case] = []
        least = math.inf
        for slot in self._nearest(case):
            if self._stop():
                return None
            each = list(_cases(case, slot))
            self._left -= len(each)
            if self._left < 0:
                return None
            left = [one for one in each if not one.evaluation.contradictions]
            if not left:
                return each[0].evaluation.contradictions[0]
            # The share of the cases that are left: a slot of which one is left is no choice at all.
            share = len(left) / len(each) if len(left) > 1 else 0
            if share < least:
                best, least = left, share
            if len(left) == 1:
                break
        reason: Violation | None = None
        for one in best:
            reason = self.of(one)
            if reason is None:
                return None
        return reason

    def _nearest(self, case: _Case) -> list[Slot]:
        """The slots whose filling might lift a violation, near its elements; no other ones help."""
        found: dict[Slot, int] = {}
        for violation in case.evaluation.obligations:
            if violation.source == "constraint":
                lifts = self._lifts(case, violation)
                distances = {
                    slot: _distance(case, violation, slot)
                    for slot in case.slots
                    if slot.feature.symbol in lifts
                }
                for slot in sorted(distances, key=distances.__getitem__)[:_SLOTS]:
                    found[slot] = min(distances[slot], found.get(slot, distances[slot]))
        return sorted(found, key=found.__getitem__)

    def _lifts(self, case: _Case, violation: Violation) -> frozenset[str]:
        name = violation.constraint
        if name not in self._lifting:
            theory = case.evaluation.constraints.theory
            self._lifting[name] = repairing_symbols(theory, name)
        return self._lifting[name]


def _distance(case: _Case, violation: Violation, slot: Slot) -> int:
    """How many objects stand between an element of a violation and a slot."""
    model = case.evaluation.model
    around: list[ObjectId] = [slot.node]
    while above := model.of(around[-1]).get("<contains"):
        around.append(next(iter(above)))
    places = [around.index(each) for each in violation.elements if each in around]
    return min(places, default=len(around))


def _cases(case: _Case, slot: Slot) -> Iterator[_Case]:
    """All ways to fill a slot; together they have every completion of the model."""
    model = case.evaluation.model
    rest = tuple(other for other in case.slots if other != slot)
    yield _Case(case.evaluation.shut({slot.node: frozenset({slot.feature.symbol})}), rest)
    for name in sorted(slot.feature.targets):
        for referred in _given_references(case, name):
            draft = Draft(model)
            part = draft.add_node(Node(frozenset({name}), None, True, "declared"), name)
            draft.link(slot.feature, slot.node, part)
            for feature, target in referred:
                draft.link(feature, part, target)
            yield _Case(case.evaluation.followed_by(draft), rest)


def _given_references(case: _Case, name: str) -> Iterator[tuple[tuple[FeatureInfo, ObjectId], ...]]:
    """What a new object of a class may refer to, where that is one of the given objects."""
    model = case.evaluation.model
    choices: list[tuple[FeatureInfo, dict[ObjectId, str]]] = []
    for feature in model.schema.classes[name].features.values():
        if not feature.attribute and not feature.containment and feature.lower == 1:
            targets = _given(case, feature)
            if targets:
                choices.append((feature, targets))
    ways = list(islice(_ways(choices), _GIVEN + 1))
    yield from ways if len(ways) <= _GIVEN else [()]


def _ways(
    choices: Sequence[tuple[FeatureInfo, dict[ObjectId, str]]],
    chosen: tuple[tuple[FeatureInfo, ObjectId], ...] = (),
) -> Iterator[tuple[tuple[FeatureInfo, ObjectId], ...]]:
    """A target for each feature. Of those that are alike and not chosen yet, one is enough."""
    if len(chosen) == len(choices):
        yield chosen
        return
    feature, targets = choices[len(chosen)]
    before = {target for _, target in chosen}
    tried: set[str] = set()
    for target, kind in targets.items():
        if target in before:
            yield from _ways(choices, (*chosen, (feature, target)))
        elif kind not in tried:
            tried.add(kind)
            yield from _ways(choices, (*chosen, (feature, target)))


def _given(case: _Case, feature: FeatureInfo) -> dict[ObjectId, str]:
    """The only targets that a feature may have, each with what it is like; {} if not known."""
    model, constraints = case.evaluation.model, case.evaluation.constraints
    new = model.schema.new
    if any(kind in new and new[kind] in model.nodes for kind in feature.targets):
        return {}
    found: dict[ObjectId, str] = {}
    for name, target in model.candidates(feature.target):
        if model.nodes[target].role != "individual":
            return {}
        found[target] = representative(constraints, model, name) or name
    return found


def can_be_split(evaluation: Evaluation, feature: FeatureInfo, node: ObjectId) -> bool:
    """Whether the parts that a feature may get can be assumed one by one."""
    classes = evaluation.model.schema.classes
    return (
        feature.containment
        and not feature.indirect
        and evaluation.model.may_fill(feature, node)
        and not any(classes[name].named or classes[name].key for name in feature.targets)
    )
