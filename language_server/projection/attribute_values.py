"""Values for attributes that constraints compare.

The shortest text of a terminal (``0`` for a number) need not be one that the constraints allow.
Those worth trying are near the constants that the theory compares, and the first numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from language_server.constraints.theory import (
    Arithmetic,
    AttributeOf,
    Comparison,
    Constant,
    Expression,
)
from language_server.languages.agreement import feature_of
from language_server.projection.names import new_names
from language_server.syntax import Expected

if TYPE_CHECKING:
    from language_server.languages import Language
    from language_server.projection.prefix import Prefix

# Numbers tried besides those near a constant: as many values can be told apart.
_NUMBERS = 12
# What makes a number, a name or a text another one.
_FURTHER = "15ab"


def attribute_value(prefix: Prefix, expected: Expected) -> str | None:
    """A text for the expected terminal, one that no constraint rules out where one is found."""
    shortest = _shortest(prefix.language, expected)
    if shortest is None or not _is_compared(prefix.language, expected):
        return shortest
    for text in (shortest, *_candidates(prefix.language, expected)):
        rest = text[len(expected.typed) :] if expected.typed else prefix.joint(text) + text
        after = prefix.advance(rest)
        if after.alive and after.settled.alive:
            return text
    return shortest


def _shortest(language: Language, expected: Expected) -> str | None:
    """The shortest text of the terminal, preferably one that is no keyword as well."""
    shortest = expected.terminal.example(expected.typed)
    keywords = language.grammar.keywords
    if shortest not in keywords:
        return shortest
    return next(new_names(expected, expected.feature or "", set(), keywords), shortest)


def named_by_constraints(language: Language) -> frozenset[str] | None:
    """The names that constraints tell from others; None where they compare names with values."""
    attributes, values = _compared(language)
    features = (language.theory.features[symbol] for symbol in attributes)
    if any(feature.target == "string" and feature.name != "name" for feature in features):
        return None
    return frozenset(value for value in values if isinstance(value, str))


def _is_compared(language: Language, expected: Expected) -> bool:
    if expected.cls is None or expected.feature is None or expected.value_begun:
        return False
    feature = feature_of(language.theory, expected.cls, expected.feature)
    return feature is not None and feature.symbol in _compared(language)[0]


def _candidates(language: Language, expected: Expected) -> Iterator[str]:
    """Further texts that the terminal reads whole, and that go on with what is typed of it."""
    for value in _compared(language)[1]:
        for text in (str(value), f'"{value}"'):
            fits = text.startswith(expected.typed)
            if fits and expected.terminal.match(text, 0) == len(text):
                yield text
    # What is there is all right with something more behind it.
    for further in _FURTHER if expected.typed else "":
        longer = expected.terminal.example(expected.typed + further)
        if longer is not None:
            yield longer


@lru_cache(maxsize=32)
def _compared(language: Language) -> tuple[frozenset[str], tuple[int | float | str, ...]]:
    """The attributes that some constraint compares, and the values worth trying for them."""
    attributes: set[str] = set()
    values: dict[int | float | str, None] = {}
    theory = language.theory
    bodies = [p.clauses for p in theory.predicates.values() if p.clauses is not None]
    for clauses in (*bodies, *(rule.clauses for rule in theory.rules)):
        for clause in clauses:
            for part in clause:
                if isinstance(part, Comparison):
                    for leaf in (*_leaves(part.left), *_leaves(part.right)):
                        if isinstance(leaf, AttributeOf):
                            attributes.add(leaf.attribute)
                        elif isinstance(leaf.value, str):
                            values[leaf.value] = None
                        elif not isinstance(leaf.value, bool):
                            near = (leaf.value, leaf.value + 1, leaf.value - 1)
                            values.update(dict.fromkeys(near))
    values.update(dict.fromkeys(range(1, _NUMBERS + 1)))
    return frozenset(attributes), tuple(values)


def _leaves(expression: Expression) -> Iterator[AttributeOf | Constant]:
    match expression:
        case AttributeOf() | Constant():
            yield expression
        case Arithmetic(_, left, right):
            yield from _leaves(left)
            yield from _leaves(right)
