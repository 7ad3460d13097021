"""What an object of a goal must state together, for the grammar has no place for it alone."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from language_server.constraints.goal import Companions
    from language_server.languages import Language


@lru_cache(maxsize=16)
def companions_of(language: Language) -> Companions:
    """By class and feature the features that the text of an object then has too.

    Only those that the metamodel does not ask for anyway, and only of features that an object has
    because its own text says so.
    """
    schema, written = language.constraints.schema, language.grammar.companions
    follows = {symbol for each in schema.features.values() for symbol in each.supersets}
    found: dict[tuple[str, str], frozenset[str]] = {}
    for (rule, name), feature in schema.feature_map.items():
        if rule not in schema.rules or feature.opposite is not None or feature.symbol in follows:
            continue
        others = (schema.feature_map.get((rule, other)) for other in written.get((rule, name), ()))
        symbols = frozenset(each.symbol for each in others if each is not None and not each.lower)
        place = (schema.rules[rule].name, feature.symbol)
        found[place] = found.get(place, symbols) & symbols
    return {place: symbols for place, symbols in found.items() if symbols}
