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
from language_server.partial_model import PartialModel


@lru_cache(maxsize=64)
def interchangeable(constraints: ConstraintSet) -> Mapping[str, str]:
    """For each named individual, in lower case, the representative of the ones like it."""
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
        classes[individual.lower()] = representative.setdefault(profile, individual)
    return classes


def representative(constraints: ConstraintSet, model: PartialModel, name: str) -> str | None:
    """The individual that stands for all that are like a named one; None if there is no such name.

    What the model refers to already differs from what it does not: it stands for itself.
    """
    alike = interchangeable(constraints).get(name.lower())
    if alike is None:
        return None
    return f"{name.lower()} itself" if _is_used(constraints, model, name) else alike


def has_a_like(constraints: ConstraintSet, model: PartialModel, name: str) -> bool:
    """Whether another individual, which stands for this one, is as unused as it is."""
    alike = interchangeable(constraints).get(name.lower(), name)
    return alike != name and not any(_is_used(constraints, model, each) for each in (name, alike))


def _is_used(constraints: ConstraintSet, model: PartialModel, name: str) -> bool:
    """Whether an object of the text refers to a named individual."""
    number, symbols = _places(constraints).get(name.lower(), (-1, ()))
    return any(
        model.nodes[source].role != "individual"
        for symbol in symbols
        for source in model.facts.get((symbol, "<", number), ())
        if source in model.nodes
    )


@lru_cache(maxsize=64)
def _places(constraints: ConstraintSet) -> Mapping[str, tuple[int, tuple[str, ...]]]:
    """For each individual, in lower case, its number and the references that may lead to it."""
    places: dict[str, tuple[int, tuple[str, ...]]] = {}
    for info in constraints.schema.classes.values():
        for name, number in info.individuals.items():
            symbols = tuple(
                feature.symbol
                for feature in constraints.schema.features.values()
                if not feature.targets.isdisjoint(info.kinds)
            )
            known = places.get(name.lower(), (number, ()))[1]
            places[name.lower()] = (number, tuple(dict.fromkeys((*known, *symbols))))
    return places


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
