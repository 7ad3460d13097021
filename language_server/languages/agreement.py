"""How the grammar and the problem file of a language fit together.

The mapping from parse to model is by name. What does not fit is said with its places in both files:
an error where the problem file relies on something the grammar cannot give, a warning where the
grammar has something the problem file leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

from textx.metamodel import TextXMetaModel

from language_server.constraints import Mapping
from language_server.constraints.theory import ClassSymbol, Feature, Place, Theory
from language_server.languages.expressions import choices, grammar_classes, has_twin, rule_of
from language_server.languages.metamodel import is_mixed, primitive_of
from language_server.languages.references import link_rules, way_of
from language_server.partial_model.ways import OWN


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Something that grammar and problem file do not agree on.

    Attributes:
        in_problem: where in the problem file, or in one that it imports; None for nowhere.
        in_grammar: half-open character offsets in the grammar, None for nowhere.
    """

    severity: Literal["error", "warning"]
    message: str
    in_problem: Place | None = None
    in_grammar: tuple[int, int] | None = None
    cure: str = ""


@dataclass(frozen=True)
class Agreement:
    """The mapping by name, and what it leaves open."""

    mapping: Mapping
    mismatches: tuple[Mismatch, ...] = field(default=())


def agree(metamodel: TextXMetaModel, theory: Theory) -> Agreement:
    """Maps the classes and features of a grammar to those of a theory."""
    classes = grammar_classes(metamodel)
    mapped = {
        name: name
        for name, cls in classes.items()
        if cls._tx_type != "match"
        and name in theory.classes
        and theory.classes[name].literals is None
    }
    features: dict[tuple[str, str], str] = {}
    unseen: set[str] = set()
    mismatches = list(_missing_classes(classes, theory))
    for name in mapped:
        for attribute in classes[name]._tx_attrs.values():
            feature = feature_of(theory, name, attribute.name)
            if feature is None:
                mismatches.append(_left_out(name, attribute))
                continue
            wrong = _kinds_differ(feature, attribute, classes, theory)
            if wrong is not None:
                mismatches.append(wrong)
            elif _is_modelled(attribute, metamodel, name):
                features[name, attribute.name] = feature.symbol
            elif attribute.ref and not attribute.cont:
                unseen.add(feature.symbol)
                mismatches.append(_unseen(name, attribute))
    mismatches.extend(_missing_features(classes, mapped, theory))
    mismatches.extend(_literals_differ(classes, theory))
    folded = frozenset(name for name, symbol in theory.classes.items() if symbol.ignore_case)
    links = link_rules(metamodel)
    used = links if links.beyond_plain else None
    mapping = Mapping(mapped, features, folded, used, frozenset(unseen))
    return Agreement(mapping, tuple(mismatches))


def clashes_with_textx(metamodel: TextXMetaModel) -> Iterator[Mismatch]:
    """Names that mean something else to textX, or several things.

    textX walks up to the model by ``parent``; a feature of that name may send it in a circle.
    """
    for name, cls in grammar_classes(metamodel).items():
        for attribute in cls._tx_attrs.values() if cls._tx_type != "match" else ():
            if attribute.name == "parent":
                yield Mismatch(
                    "warning",
                    f"the feature 'parent' of '{name}' hides textX's own: models may not load",
                    None,
                    (attribute.position, attribute.position),
                    cure="give it another name",
                )
        if has_twin(name, metamodel):
            yield Mismatch(
                "warning",
                f"a rule of an imported grammar is called '{name}' as well: constraints cannot "
                "tell their objects apart, and textX alone resolves their references",
                None,
                (cls._tx_position, cls._tx_position),
                cure="give them different names",
            )


def idle_imports(metamodel: TextXMetaModel) -> Iterator[Mismatch]:
    """Features by which textX imports files, in a language where nothing makes it do so."""
    classes = grammar_classes(metamodel)
    if link_rules(metamodel).imports:
        return
    for name, cls in classes.items():
        attribute = cls._tx_attrs.get("importURI") if cls._tx_type != "match" else None
        if attribute is not None:
            yield Mismatch(
                "warning",
                f"'importURI' of '{name}' imports nothing: no scope provider reads it",
                None,
                (attribute.position, attribute.position),
                cure="begin the reference expressions with +m:, or register an ImportURI provider",
            )


def feature_of(theory: Theory, cls: str, name: str) -> Feature | None:
    """The feature of that name which a class of the theory declares or inherits."""
    for owner in theory.supertypes(cls):
        if (feature := theory.features.get(f"{owner}::{name}")) is not None:
            return feature
    return None


def _is_modelled(attribute: Any, metamodel: TextXMetaModel, cls: str) -> bool:
    """References that only the language's own code resolves are left to textX."""
    if attribute.ref and not attribute.cont:
        return way_of(attribute, metamodel, cls) is not OWN
    return not (attribute.cls._tx_type == "abstract" and is_mixed(attribute.cls))


def _missing_classes(classes: dict[str, Any], theory: Theory) -> Iterator[Mismatch]:
    inhabited = _inhabited(theory)
    for name, symbol in theory.classes.items():
        if symbol.literals is not None or name in inhabited:
            continue
        if name not in classes:
            if not symbol.abstract or not _has_subclass(theory, name):
                close = get_close_matches(name, [n for n in classes if n not in theory.classes], 1)
                yield Mismatch(
                    "error",
                    f"the grammar has no rule '{name}' for this class",
                    symbol.place,
                    cure=f"did you mean '{close[0]}'?"
                    if close
                    else "rename it after a rule, make it abstract or give it individuals",
                )
        elif classes[name]._tx_type == "match":
            yield Mismatch(
                "error",
                f"'{name}' is a class, but its rule in the grammar only matches text",
                symbol.place,
                (classes[name]._tx_position, classes[name]._tx_position_end),
                cure="declare an enum, or give the rule features",
            )


def _missing_features(
    classes: dict[str, Any], mapped: dict[str, str], theory: Theory
) -> Iterator[Mismatch]:
    """Features that no rule of the grammar fills."""
    inhabited = _inhabited(theory)
    for feature in theory.features.values():
        owners = [n for n in mapped if feature.owner in theory.supertypes(n)]
        rules = [n for n in owners if classes[n]._tx_type == "common"]
        if not rules or feature.owner in inhabited or feature.opposite is not None:
            continue
        if not any(feature.name in classes[name]._tx_attrs for name in rules):
            names = {attribute for name in rules for attribute in classes[name]._tx_attrs}
            close = get_close_matches(feature.name, names, 1)
            place = (classes[rules[0]]._tx_position, classes[rules[0]]._tx_position_end)
            yield Mismatch(
                "error",
                f"no rule of the grammar fills '{feature.symbol}'",
                feature.place,
                place,
                cure=f"did you mean '{close[0]}'?"
                if close
                else "assign it in the rule, or drop it",
            )


def _kinds_differ(
    feature: Feature, attribute: Any, classes: dict[str, Any], theory: Theory
) -> Mismatch | None:
    primitive = primitive_of(attribute.cls, classes)
    place = (attribute.position, attribute.position)
    target = theory.classes.get(feature.target)

    def differ(grammar: str, problem: str, cure: str) -> Mismatch:
        message = f"'{feature.symbol}' is {problem}, but the grammar gives {grammar}"
        return Mismatch("error", message, feature.place, place, cure)

    if feature.is_attribute:
        if attribute.ref:
            return differ(
                f"objects of {attribute.cls.__name__}",
                f"an attribute of type {feature.target}",
                f"write {attribute.cls.__name__} for {feature.target}",
            )
        if primitive not in (None, feature.target) and (primitive, feature.target) != (
            "int",
            "real",
        ):
            return differ(
                f"values of type {primitive}",
                f"of type {feature.target}",
                f"write {primitive} for {feature.target}",
            )
        return None
    if primitive is not None and target is not None:
        named = target.literals is not None or target.name in _inhabited(theory)
        if not named and target.name not in classes:
            return differ(
                f"values of type {primitive}",
                f"a reference to {target.name}",
                "declare an enum or an attribute",
            )
        return None
    if attribute.ref and target is not None:
        actual = attribute.cls.__name__
        related = feature.target in theory.supertypes(actual) or actual in theory.supertypes(
            feature.target
        )
        if actual in theory.classes and not related:
            return differ(
                f"objects of {actual}", f"a feature of type {feature.target}", "use one class"
            )
        if feature.containment and not attribute.cont:
            return differ("references", "a containment", "leave out 'contains'")
        if attribute.cont and not feature.containment and not _has_key(target, theory):
            return differ("contained objects", "a plain reference", "write 'contains'")
    return None


def _literals_differ(classes: dict[str, Any], theory: Theory) -> Iterator[Mismatch]:
    """A word of the grammar that the enum of the same name lacks could never be modelled."""
    for name, symbol in theory.classes.items():
        if symbol.literals is None or name not in classes or classes[name]._tx_type != "match":
            continue
        words = choices(rule_of(classes[name]))
        if words is None:
            continue
        known = {word.casefold() if symbol.ignore_case else word for word in symbol.literals}
        for word in words:
            if (word.casefold() if symbol.ignore_case else word) not in known:
                yield Mismatch(
                    "error",
                    f"enum '{name}' lacks the literal '{word}' of the grammar",
                    symbol.place,
                    (classes[name]._tx_position, classes[name]._tx_position_end),
                    cure=f"add '{word}'",
                )
        for literal in symbol.literals:
            if literal not in words and not symbol.ignore_case:
                yield Mismatch(
                    "warning",
                    f"no text of the grammar means the literal '{literal}' of '{name}'",
                    symbol.place,
                    (classes[name]._tx_position, classes[name]._tx_position_end),
                )


def _left_out(cls: str, attribute: Any) -> Mismatch:
    return Mismatch(
        "warning",
        f"'{cls}' has no feature '{attribute.name}', so constraints cannot see it",
        None,
        (attribute.position, attribute.position),
        cure=f"declare it in class {cls}",
    )


def _unseen(cls: str, attribute: Any) -> Mismatch:
    return Mismatch(
        "warning",
        f"what '{attribute.name}' of '{cls}' refers to is found by code of the language's own, "
        "so constraints cannot see it",
        None,
        (attribute.position, attribute.position),
        cure="use a scope provider of textX or a reference expression",
    )


def _inhabited(theory: Theory) -> frozenset[str]:
    """The classes whose objects the problem file itself names, with their supertypes."""
    found: set[str] = set()
    for assertion in theory.assertions:
        states = assertion.value == "true" and any(arg is not None for arg in assertion.args)
        if states and assertion.symbol in theory.classes:
            found |= theory.supertypes(assertion.symbol)
    return frozenset(found)


def _has_subclass(theory: Theory, name: str) -> bool:
    return any(name in symbol.supertypes for symbol in theory.classes.values())


def _has_key(target: ClassSymbol, theory: Theory) -> bool:
    return any(theory.classes[name].key for name in theory.supertypes(target.name))
