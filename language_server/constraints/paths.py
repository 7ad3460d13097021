"""Where a reference may lead that is found along a path of features (RREL), for the solver.

``.~part.~type.inputs`` leads to the inputs of the type of the part. What a text can mean by such a
reference stands at the end of its path: a goal in which it does not can never be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from language_server.partial_model import FeatureInfo, Schema
from language_server.partial_model.ways import Chain, Expression, LinkRules, Star, Step, Up


class Path(NamedTuple):
    """A path from the object that holds the reference.

    Attributes:
        outward: whether it begins at any object around that one as well (``^``).
        symbols: the features along it.
    """

    outward: bool
    symbols: tuple[str, ...]


def paths_of(schema: Schema, links: LinkRules | None, feature: FeatureInfo) -> list[Path] | None:
    """The paths along which the targets of a feature are found.

    Returns:
        None where it is found in another way too, or by what no list of features tells.
    """
    ways = [
        (cls, links.way(cls, name))
        for (cls, name), mapped in schema.feature_map.items()
        if links is not None and mapped.symbol == feature.symbol
    ]
    found: list[Path] = []
    for cls, way in ways:
        if not isinstance(way.scope, Expression) or way.elsewhere or way.scope.by_path:
            return None
        for chain in way.scope.choice.chains:
            names = _features_along(chain)
            info = schema.rules.get(cls)
            if names is None or info is None:
                return None
            outward, features = names
            begin = frozenset(schema.classes if outward else info.descendants)
            found += (Path(outward, each) for each in _symbols_along(schema, begin, features))
    return found or None


def _features_along(chain: Chain) -> tuple[bool, tuple[str, ...]] | None:
    """Whether a chain begins further out, too, and its features; the last one takes the name."""
    first, *steps = chain.elements
    outward = isinstance(first, Star) and _goes_up(first)
    if not (outward or (isinstance(first, Up) and first.levels == 1)) or not steps:
        return None
    names = tuple(step.feature for step in steps if isinstance(step, Step) and not step.fixed_name)
    takes = [isinstance(step, Step) and step.takes_name for step in steps]
    whole = len(names) == len(steps) and takes == [False] * (len(steps) - 1) + [True]
    return (outward, names) if whole else None


def _goes_up(star: Star) -> bool:
    """``(..)*``."""
    (elements, *others) = [chain.elements for chain in star.choice.chains]
    up = elements[0]
    return not others and len(elements) == 1 and isinstance(up, Up) and up.levels == 2


def _symbols_along(
    schema: Schema, classes: frozenset[str], names: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    """The features of some names that begin at objects of some classes."""
    if not names:
        yield ()
        return
    for feature in schema.features.values():
        if feature.name == names[0] and not feature.sources.isdisjoint(classes):
            for rest in _symbols_along(schema, feature.targets, names[1:]):
                yield (feature.symbol, *rest)
