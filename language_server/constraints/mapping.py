"""The mapping from parse to model (by name unless stated otherwise) and the schema it leads to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal

from language_server.constraints.theory import (
    AttributeOf,
    Comparison,
    Feature,
    Individual,
    Theory,
)
from language_server.partial_model import (
    NEW,
    ClassInfo,
    FeatureInfo,
    LinkRules,
    Schema,
    Scopes,
    entailments,
)


@dataclass(frozen=True)
class Mapping:
    """Where classes and features of a grammar stand in the theory.

    Attributes:
        classes: class of the grammar to class of the theory; what is missing is not modelled.
        features: (class of the grammar, feature) to symbol of the theory's feature.
        case_insensitive: classes of the theory whose individuals text may name in any case.
        links: how references are resolved, None where all of them are by plain name.
        unseen: symbols of features whose values the text gives, but only textX can find out.
    """

    classes: dict[str, str] = field(default_factory=dict)
    features: dict[tuple[str, str], str] = field(default_factory=dict)
    case_insensitive: frozenset[str] = frozenset()
    links: LinkRules | None = None
    unseen: frozenset[str] = frozenset()

    @staticmethod
    def by_name(theory: Theory, grammar_classes: Iterable[str] | None = None) -> Mapping:
        """Equal names mean the same; features are found along the theory's supertypes.

        Args:
            theory: the metamodel.
            grammar_classes: the classes of the grammar, by default those of the theory.
        """
        names = theory.classes if grammar_classes is None else grammar_classes
        classes = {name: name for name in names if name in theory.classes}
        features = {
            (name, feature.name): feature.symbol
            for name in classes
            for feature in features_of(theory, name)
        }
        return Mapping(classes, features)


def features_of(theory: Theory, cls: str) -> list[Feature]:
    """The features of a class, inherited ones included; a redefinition hides what it redefines."""
    found: dict[str, Feature] = {}
    ancestors = theory.supertypes(cls)
    depth = {name: len(theory.supertypes(name)) for name in ancestors}
    for feature in theory.features.values():
        if feature.owner in ancestors:
            known = found.get(feature.name)
            if known is None or depth[known.owner] < depth[feature.owner]:
                found[feature.name] = feature
    return list(found.values())


def schema_of(theory: Theory, mapping: Mapping) -> Schema:
    """What the model store needs of theory and mapping."""
    ancestors = {name: theory.supertypes(name) for name in theory.classes}
    descendants = {
        name: frozenset(other for other in theory.classes if name in ancestors[other])
        for name in theory.classes
    }
    individuals, members = _individuals(theory, ancestors)
    folded = mapping.case_insensitive | {
        name for name, symbol in theory.classes.items() if symbol.ignore_case
    }
    features = _feature_infos(theory, descendants)
    for unseen in mapping.unseen & features.keys():
        features[unseen] = replace(features[unseen], lower=0)  # what is not seen is not missing
    for indirect in _indirect(features, mapping):
        features[indirect] = replace(features[indirect], indirect=True)
    for late in _late(features, mapping):
        features[late] = replace(features[late], late=True, indirect=True)
    for compared in _compared(theory) & features.keys():
        features[compared] = replace(features[compared], looked_up=True)
    classes = {}
    for name, symbol in theory.classes.items():
        own = {f.name: features[f.symbol] for f in features_of(theory, name)}
        named = {
            alias: individuals[individual]
            for individual in members.get(name, ())
            for alias in _aliases(individual, name in folded)
        }
        classes[name] = ClassInfo(
            name=name,
            abstract=symbol.abstract,
            descendants=descendants[name],
            kinds=frozenset(d for d in descendants[name] if not theory.classes[d].abstract)
            or frozenset({name}),
            ancestors=ancestors[name],
            features=own,
            bounded=tuple(f for f in own.values() if f.bounded),
            containments=tuple(f for f in own.values() if f.containment),
            key=inherited_key(theory, name),
            conflict=_conflict(theory, name),
            named="name" in own,
            individuals=named,
            exact=frozenset({name}),
        )
    concrete = [name for name, symbol in theory.classes.items() if not symbol.abstract]
    return Schema(
        classes=classes,
        features=features,
        rules={rule: classes[cls] for rule, cls in mapping.classes.items() if cls in classes},
        feature_map={
            place: features[symbol]
            for place, symbol in mapping.features.items()
            if symbol in features
        },
        individuals=individuals,
        new={
            name: -1 - position
            for position, name in enumerate(concrete)
            if theory.classes[name].literals is None and name + NEW not in theory.individuals
        },
        case_insensitive=folded,
        no_scopes=None if mapping.links is None else Scopes.empty(mapping.links),
    )


def _late(features: dict[str, FeatureInfo], mapping: Mapping) -> set[str]:
    """The features that are linked when the text ends, with all that they state as well."""
    if mapping.links is None:
        return set()
    waiting = [
        symbol
        for (cls, feature), symbol in mapping.features.items()
        if symbol in features
        and (cls, feature) in mapping.links.ways
        and not mapping.links.way(cls, feature).plain
    ]
    found: set[str] = set()
    while waiting:
        symbol = waiting.pop()
        if symbol not in found:
            found.add(symbol)
            info = features[symbol]
            waiting += [*info.supersets, *([info.opposite] if info.opposite else [])]
    return found


def _compared(theory: Theory) -> set[str]:
    """The attributes whose values must equal something."""
    bodies = [predicate.clauses or () for predicate in theory.predicates.values()]
    bodies += [rule.clauses for rule in theory.rules]
    return {
        side.attribute
        for clause in chain.from_iterable(bodies)
        for part in clause
        if isinstance(part, Comparison) and part.op == "=="
        for side in (part.left, part.right)
        if isinstance(side, AttributeOf)
    }


def resolved_feature(theory: Theory, cls: str, name: str | None) -> str | None:
    """The symbol of a feature given by symbol or by its plain name within a class."""
    if name is None or name in theory.features:
        return name
    for feature in features_of(theory, cls) if cls in theory.classes else ():
        if feature.name == name:
            return feature.symbol
    return name if "::" in name else None


def _feature_infos(
    theory: Theory, descendants: dict[str, frozenset[str]]
) -> dict[str, FeatureInfo]:
    infos = {}
    above = {
        symbol: tuple(
            name
            for name in (resolved_feature(theory, feature.owner, n) for n in feature.subsets)
            if name in theory.features
        )
        for symbol, feature in theory.features.items()
    }
    for symbol, feature in theory.features.items():
        opposite = resolved_feature(theory, feature.target, feature.opposite)
        if opposite not in theory.features:
            opposite = None
        keyed = bool(feature.containment and inherited_key(theory, feature.target))
        owner = theory.classes.get(feature.owner)
        infos[symbol] = FeatureInfo(
            symbol=symbol,
            name=feature.name,
            owner=feature.owner,
            target=feature.target,
            lower=feature.lower,
            upper=feature.upper,
            containment=feature.containment and not keyed,
            attribute=feature.is_attribute,
            opposite=opposite,
            supersets=above[symbol],
            sources=descendants.get(feature.owner, frozenset()),
            targets=descendants.get(feature.target, frozenset()),
            revisable=bool(owner and owner.key and owner.conflict == "last"),
            inverse=opposite is not None and _rank(theory, opposite) < _rank(theory, symbol),
        )
    return infos


def _rank(theory: Theory, symbol: str) -> tuple[bool, str]:
    """Opposites are kept by the one that comes first, which is the containment."""
    return not theory.features[symbol].containment, symbol


def _indirect(features: dict[str, FeatureInfo], mapping: Mapping) -> set[str]:
    """The features that text can also state at another object, or by another feature."""
    found: set[str] = set()
    for stated in set(mapping.features.values()) & features.keys():
        _, *others = entailments(features, features[stated])
        found.update(feature.symbol for feature, _ in others)
    return found


def _individuals(
    theory: Theory, ancestors: dict[str, frozenset[str]]
) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Numbers for the given objects, and for each class its given objects."""
    kinds = kinds_of_individuals(theory)
    individuals: dict[str, int] = {}
    members: dict[str, list[str]] = {}
    for name in kinds:
        individuals[name] = len(individuals)
        seen = set()
        for cls in kinds[name]:
            for ancestor in ancestors[cls]:
                if ancestor not in seen:
                    seen.add(ancestor)
                    members.setdefault(ancestor, []).append(name)
    return individuals, members


def kinds_of_individuals(theory: Theory) -> dict[str, tuple[str, ...]]:
    """The classes that the theory states of its given objects (``C::new`` objects left out)."""
    kinds: dict[str, list[str]] = {
        name: [] for name in theory.individuals if not name.endswith(NEW)
    }
    for enum in theory.classes.values():
        for literal in enum.literals or ():
            qualified = f"{enum.name}::{literal}"
            name = literal if qualified not in kinds else qualified
            kinds.setdefault(name, []).append(enum.name)
    for assertion in theory.assertions:
        if assertion.symbol in theory.classes and assertion.value == "true":
            for argument in assertion.args:
                known = kinds.get(argument.name) if isinstance(argument, Individual) else None
                if known is not None and assertion.symbol not in known:
                    known.append(assertion.symbol)
    return {name: tuple(classes) for name, classes in kinds.items()}


def _aliases(individual: str, fold: bool) -> list[str]:
    plain = individual.rsplit("::", 1)[-1]
    return [plain, plain.casefold()] if fold else [plain]


def inherited_key(theory: Theory, cls: str) -> tuple[str, ...]:
    """The features by which mentions of objects of a class are told apart, () without @key."""
    for name in sorted(theory.supertypes(cls), key=lambda name: name != cls):
        if theory.classes[name].key:
            return theory.classes[name].key
    return ()


def _conflict(theory: Theory, cls: str) -> Literal["error", "first", "last"]:
    for name in sorted(theory.supertypes(cls), key=lambda name: name != cls):
        if theory.classes[name].key:
            return theory.classes[name].conflict
    return "error"
