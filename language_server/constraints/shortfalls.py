"""The built-in constraints: what is wrong with the features or the identity of one object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from language_server.partial_model import FeatureInfo, Node, ObjectId, PartialModel

Shortfall = tuple[FeatureInfo | None, str, Any]  # feature, kind of the problem, detail


def shortfalls(
    model: PartialModel, node: ObjectId
) -> tuple[tuple[Shortfall, ...], tuple[Shortfall, ...]]:
    """Multiplicities, conflicts, unknown values and whether the object may be there at all.

    Returns:
        What is wrong as the text stands, and what no further text can mend.
    """
    record = model.nodes[node]
    now: list[Shortfall] = []
    must: list[Shortfall] = []
    if record.start >= 0 and _is_surplus(model, node, record):
        now.append((None, "surplus", None))
        must.append((None, "surplus", None))
    if record.role == "mentioned":
        if _would_be_ambiguous(model, node, record):
            must.append((None, "clash", record.name))
    elif len(record.kinds) == 1:
        (kind,) = record.kinds
        info = model.schema.classes[kind]
        stated = model.of(node)
        for feature in info.bounded:
            if feature.attribute and feature.upper == 1 and feature.forward in stated:
                continue
            problem = _bound_problem(model, node, feature, stated)
            if problem is not None:
                now.append(problem)
                if problem[1] == "upper" or not model.may_fill(feature, node):
                    must.append(problem)
        for what, found in (("conflict", model.conflicts), ("value", model.unknown_values)):
            for feature in info.features.values() if found else ():
                if (node, feature.symbol) in found:
                    problem = (feature, what, found[node, feature.symbol])
                    now.append(problem)
                    must.append(problem)
    return tuple(now), tuple(must)


def _would_be_ambiguous(model: PartialModel, node: ObjectId, record: Node) -> bool:
    """Whether references that mean another object could mean this one, were it declared."""
    if model.closed or model.scopes is not None:
        return False
    others, references = model.use_of(record.name)
    if not others or any(record.name in model.given_names(kind) for kind in record.kinds):
        return False  # no other bears it, or the text need not declare it
    classes, nodes = model.schema.classes, model.nodes
    return any(
        record.kinds <= classes[target].descendants
        and any(o != node and nodes[o].kinds <= classes[target].descendants for o in others)
        for target in references
    )


def _is_surplus(model: PartialModel, node: ObjectId, record: Node) -> bool:
    """Whether the objects of its classes are all given, and it is none of them."""
    new, classes = model.schema.new, model.schema.classes
    for kind in record.kinds:
        if kind not in new or new[kind] in model.nodes:
            return False
    named = any(classes[kind].named and not classes[kind].key for kind in record.kinds)
    if record.name is None and record.open and named:
        return False  # it is not known yet which one it is
    return not model.is_given(node)


def _bound_problem(
    model: PartialModel, node: ObjectId, feature: FeatureInfo, stated: Mapping[str, Any]
) -> Shortfall | None:
    value = stated.get(feature.forward)
    if value is None:
        if feature.attribute and feature.target == "boolean":
            return None
        number = 0
    elif feature.attribute:
        number = len(value) if isinstance(value, tuple) else 1
    else:
        number = len(value)
    if number < feature.lower:
        if (node, feature.symbol) in model.unknown_values:
            return None  # something stands there, and it is reported itself
        return feature, "lower", number
    if feature.upper is not None and number > feature.upper:
        return feature, "upper", number
    return None
