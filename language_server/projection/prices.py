"""What a goal takes to write: the prices of the grammar, by classes and features of the model."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from language_server.constraints.goal import Prices

if TYPE_CHECKING:
    from language_server.languages import Language
    from language_server.partial_model import FeatureInfo, Schema
    from language_server.syntax import Price


@lru_cache(maxsize=16)
def prices_of(language: Language) -> Prices:
    """The fewest terminals for an object and for each of its features."""
    schema, written = language.constraints.schema, language.grammar.prices
    objects: dict[str, int] = {}
    for rule, price in written.objects.items():
        if rule in schema.rules:
            name = schema.rules[rule].name
            objects[name] = min(price, objects.get(name, price))
    values: dict[str, list[Price]] = {}
    for place, price_of_value in written.values.items():
        if place in schema.feature_map:
            values.setdefault(schema.feature_map[place].symbol, []).append(price_of_value)
    first: dict[str, int] = {}
    further: dict[str, int] = {}
    for feature in schema.features.values():
        if feature.symbol in values:
            mention = _mention(feature, schema, objects, values)
            first[feature.symbol] = mention + min(p.first for p in values[feature.symbol])
            further[feature.symbol] = mention + min(p.further for p in values[feature.symbol])
        elif feature.opposite in values:
            first[feature.symbol] = further[feature.symbol] = 0  # it is paid for there
    return Prices(objects, first, further)


def _mention(
    feature: FeatureInfo, schema: Schema, objects: dict[str, int], values: dict[str, list[Price]]
) -> int:
    """What a mention of a keyed object takes at the end of a feature; 0 where there are none."""
    found = [
        objects.get(name, 0)
        + sum(min(p.first for p in values[cls.features[key].symbol]) for key in cls.key)
        for name, cls in schema.classes.items()
        if name in feature.targets and cls.key
        if all(cls.features[key].symbol in values for key in cls.key)
    ]
    return min(found, default=0)
