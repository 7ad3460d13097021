"""Which named individuals of a theory are interchangeable.

Two enum literals or atoms that no predicate names and of which the theory asserts the same facts
lead to completions that differ in that name only: the search for a witness tries one of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache

from language_server.constraints.constraint_set import ConstraintSet
from language_server.constraints.theory import (
    Arithmetic,
    Atom,
    AttributeOf,
    Comparison,
    Count,
    Expression,
    Individual,
    Literal,
    Theory,
)
from language_server.partial_model import ObjectId, PartialModel


@lru_cache(maxsize=64)
def interchangeable(constraints: ConstraintSet) -> Mapping[str, str]:
    """For each named individual the representative of the ones like it."""
    theory = constraints.theory
    facts: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    for assertion in theory.assertions:
        for position, argument in enumerate(assertion.args):
            if isinstance(argument, Individual):
                others = tuple(
                    other for index, other in enumerate(assertion.args) if index != position
                )
                facts[argument.name].add((assertion.symbol, position, others, assertion.value))
    for cls in theory.classes.values():
        for literal in cls.literals or ():
            facts[literal].add((cls.name,))
    named = set(_named(theory))
    representative: dict[object, str] = {}
    classes: dict[str, str] = {}
    for individual in theory.individuals:
        profile: object = individual if individual in named else frozenset(facts[individual])
        classes[individual] = representative.setdefault(profile, individual)
    return classes


def representative(constraints: ConstraintSet, model: PartialModel, text: str) -> str | None:
    """The individual that stands for all that are like the one a text names, in any case.

    What the model refers to already differs from what it does not: it stands for itself.

    Returns:
        None if no individual has that name, or several have it, in some case.
    """
    names = _spelt(constraints).get(text.lower(), ())
    if len(names) != 1:
        return None
    (name,) = names
    used = _is_used(constraints, model, constraints.schema.individuals[name])
    return f"{name} itself" if used else interchangeable(constraints)[name]


def unused_alike(constraints: ConstraintSet, model: PartialModel) -> Iterator[list[ObjectId]]:
    """Those individuals that are alike and that no object of the text refers to."""
    for alike in _alike(constraints):
        unused = [each for each in alike if not _is_used(constraints, model, each)]
        if len(unused) > 1:
            yield unused


@lru_cache(maxsize=64)
def _spelt(constraints: ConstraintSet) -> Mapping[str, tuple[str, ...]]:
    """For each name in lower case the individuals that have it."""
    found: dict[str, tuple[str, ...]] = {}
    for name in constraints.schema.individuals:
        found[name.lower()] = (*found.get(name.lower(), ()), name)
    return found


@lru_cache(maxsize=64)
def _alike(constraints: ConstraintSet) -> tuple[tuple[ObjectId, ...], ...]:
    """The individuals of which several are interchangeable."""
    classes = interchangeable(constraints)
    found: dict[str, tuple[ObjectId, ...]] = {}
    for name, number in constraints.schema.individuals.items():
        found[classes[name]] = (*found.get(classes[name], ()), number)
    return tuple(numbers for numbers in found.values() if len(numbers) > 1)


def _is_used(constraints: ConstraintSet, model: PartialModel, individual: ObjectId) -> bool:
    """Whether an object of the text refers to an individual."""
    return any(
        model.nodes[source].role != "individual"
        for end in _places(constraints).get(individual, ())
        for source in model.of(individual).get(end, ())
        if source in model.nodes
    )


@lru_cache(maxsize=64)
def _places(constraints: ConstraintSet) -> Mapping[ObjectId, tuple[str, ...]]:
    """For each individual the ends of references that may lead to it."""
    places: dict[ObjectId, dict[str, None]] = {}
    for info in constraints.schema.classes.values():
        for number in info.individuals.values():
            for feature in constraints.schema.features.values():
                if not feature.targets.isdisjoint(info.kinds):
                    places.setdefault(number, {})[feature.backward] = None
    return {number: tuple(ends) for number, ends in places.items()}


def _named(theory: Theory) -> Iterator[str]:
    """The individuals that a predicate or a propagation rule names."""
    for predicate in theory.predicates.values():
        for clause in predicate.clauses or ():
            for literal in clause:
                yield from _in_literal(literal)
    for rule in theory.rules:
        for clause in (*rule.clauses, rule.conclusions):
            for literal in clause:
                yield from _in_literal(literal)


def _in_literal(literal: Literal | Comparison) -> Iterator[str]:
    if isinstance(literal, Comparison):
        yield from _in_expression(literal.left)
        yield from _in_expression(literal.right)
    else:
        yield from _in_atom(literal.atom)


def _in_atom(atom: Atom) -> Iterator[str]:
    for term in atom.args:
        yield from _in_expression(term)


def _in_expression(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Individual):
        yield expression.name
    elif isinstance(expression, AttributeOf):
        yield from _in_expression(expression.of)
    elif isinstance(expression, Count):
        yield from _in_atom(expression.atom)
    elif isinstance(expression, Arithmetic):
        yield from _in_expression(expression.left)
        yield from _in_expression(expression.right)
