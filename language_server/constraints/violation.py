"""Violated constraints, put so that a person understands them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from language_server.constraints.theory import Predicate, PropagationRule
from language_server.partial_model import FeatureInfo, ObjectId, PartialModel

if TYPE_CHECKING:
    from language_server.constraints.constraint_set import ConstraintSet
    from language_server.constraints.settling import Settled, Shortfall


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint that does not hold.

    Attributes:
        constraint: its name (an error predicate, a feature, or the kind of built-in constraint).
        source: which part of the language is violated.
        code: stable, kebab-case identifier of the kind of problem.
        elements, element_names: the objects involved, in the order of the predicate's parameters.
        start, end: the best span to show, (-1, -1) where the text has none.
        related: (start, end, message) of further places.
        facts: what the violation rests on, as text.
        degree: how much is missing, at least 1 (a measure for search, not for people).
        severity: of an error predicate; everything else is an error.
    """

    constraint: str
    source: Literal["reference", "metamodel", "constraint"]
    code: str
    message: str
    elements: tuple[ObjectId, ...] = ()
    element_names: tuple[str, ...] = ()
    start: int = -1
    end: int = -1
    related: tuple[tuple[int, int, str], ...] = ()
    facts: tuple[str, ...] = ()
    degree: int = 1
    severity: Literal["error", "warning", "information"] = "error"


def violations(
    constraints: ConstraintSet, settled: Settled, certain_only: bool
) -> tuple[Violation, ...]:
    """All violations as the text stands, or only those that hold in every completion."""
    found = [
        *_of_references(settled.model, certain_only),
        *_of_features(settled, certain_only),
        *_of_predicates(constraints, settled, certain_only),
    ]
    return tuple(
        sorted(
            found, key=lambda violation: (violation.start, violation.constraint, violation.elements)
        )
    )


def _of_references(model: PartialModel, certain_only: bool) -> Iterator[Violation]:
    for (target, name), candidates in model.ambiguous.items():
        uses = [r for r in model.references(name) if r.target_class == target]
        for reference in uses:
            yield Violation(
                "reference",
                "reference",
                "ambiguous-reference",
                f"name '{name}' is not unique: {len(candidates)} objects of class {target} have it",
                candidates,
                tuple(model.label(node) for node in candidates),
                reference.start,
                reference.end,
                tuple(
                    (*model.name_span(node), f"'{name}' is declared here") for node in candidates
                ),
            )
    if certain_only and not model.closed:
        return
    for reference in model.unresolved():
        mentioned = model.pending[reference.target_class, reference.name]
        yield Violation(
            "reference",
            "reference",
            "unresolved-reference",
            f"{_words(reference.target_class)} '{reference.name}' is not declared",
            (mentioned,),
            (reference.name,),
            reference.start,
            reference.end,
            facts=(
                f"{_plain(reference.feature)}({model.label(reference.source)}, {reference.name})",
            ),
        )


def _of_features(settled: Settled, certain_only: bool) -> Iterator[Violation]:
    model = settled.model
    certain = certain_only and not model.closed
    for node, problems in (settled.shortfalls_must if certain else settled.shortfalls_now).items():
        for problem in problems:
            yield _of_feature(model, node, problem)


def _of_feature(model: PartialModel, node: ObjectId, problem: Shortfall) -> Violation:
    feature, kind, detail = problem
    start, end = model.name_span(node)
    cls = _words(model.cls_of(node))
    name = model.name_of(node)
    what = f"{cls} '{name}'" if name else cls
    degree = 1
    if kind == "lower":
        code = "missing-value"
        degree = feature.lower - detail
        if feature.lower == 1:
            message = f"'{feature.name}' of {what} needs a value"
        else:
            message = (
                f"'{feature.name}' of {what} needs at least {feature.lower} values, not {detail}"
            )
    elif kind == "upper":
        code = "too-many-values"
        assert feature.upper is not None
        degree = detail - feature.upper
        message = f"'{feature.name}' of {what} holds at most {_count(feature.upper)}, not {detail}"
    elif kind == "conflict":
        code = "conflicting-values"
        before, value, start, end = detail
        message = f"'{feature.name}' of {what} is {before!r} and cannot be {value!r} as well"
    else:
        code = "unknown-value"
        value, start, end = detail
        message = f"'{value}' is no {feature.target}"
    return Violation(
        feature.symbol,
        "metamodel",
        code,
        message,
        (node,),
        (model.label(node),),
        start,
        end,
        facts=tuple(_stated(model, node, feature)),
        degree=degree,
    )


def _stated(model: PartialModel, node: ObjectId, feature: FeatureInfo) -> Iterator[str]:
    if feature.attribute:
        value = model.value(node, feature.symbol)
        if value is not None:
            yield f"{feature.name}({model.label(node)}): {value!r}"
    for target in model.targets(node, feature.symbol):
        yield f"{feature.name}({model.label(node)}, {model.label(target)})"


def _of_predicates(
    constraints: ConstraintSet, settled: Settled, certain_only: bool
) -> Iterator[Violation]:
    by_must = {error.must: error.predicate for error in constraints.errors.values()}
    by_now = {error.now: error.predicate for error in constraints.errors.values()}
    certain = certain_only and not settled.model.closed
    entries: Any = settled.violated_must if certain else settled.violated_now
    predicates = by_must if certain else by_now
    for (query, args), rows in entries.items():
        if query in constraints.rules:
            rule = constraints.rules[query]
            for row in rows:
                yield _of_rule(settled.model, rule, (*args, *row))
            continue
        if predicates[query].lookahead and not certain:
            continue  # it only says early what other constraints say of the finished text
        for row in rows:
            yield of_predicate(settled.model, predicates[query], (*args, *row))


def of_predicate(model: PartialModel, predicate: Predicate, elements: tuple[Any, ...]) -> Violation:
    """The violation of an error predicate by the given arguments."""
    names = {
        parameter.var.name: _named(model, value)
        for parameter, value in zip(predicate.parameters, elements, strict=True)
    }
    objects = tuple(value for value in elements if value in model.nodes)
    places = [model.name_span(node) for node in objects if model.nodes[node].start >= 0]
    start, end = places[0] if places else (-1, -1)
    if predicate.message is not None:
        message = re.sub(
            r"\{(\w+)\}", lambda match: names.get(match[1], match[0]), predicate.message
        )
    else:
        inside = ", ".join(names.values())
        message = f"{_words(predicate.name)}{': ' if inside else ''}{inside}"
    return Violation(
        predicate.name,
        "constraint",
        _kebab(predicate.name),
        message,
        objects,
        tuple(_named(model, node) for node in objects),
        start,
        end,
        tuple((*span, "involved here") for span in places[1:] if span != (start, end)),
        severity=predicate.severity,
    )


def _of_rule(
    model: PartialModel, rule: PropagationRule, elements: tuple[ObjectId, ...]
) -> Violation:
    names = tuple(_named(model, value) for value in elements)
    inside = ", ".join(names)
    places = [model.name_span(node) for node in elements if model.nodes[node].start >= 0]
    return Violation(
        rule.name,
        "constraint",
        _kebab(rule.name),
        f"contradicts what follows for {inside}: {_words(rule.name)}",
        elements,
        names,
        *(places[0] if places else (-1, -1)),
    )


def _named(model: PartialModel, value: Any) -> str:
    return model.label(value) if value in model.nodes else str(value)


def _plain(symbol: str) -> str:
    return symbol.rsplit("::", 1)[-1]


def _count(number: int) -> str:
    return "one value" if number == 1 else f"{number} values"


def _words(name: str) -> str:
    """A camel-case name as words for a sentence."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").lower()


def _kebab(name: str) -> str:
    return _words(name).replace(" ", "-")
