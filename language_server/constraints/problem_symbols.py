"""First pass over a problem: what it declares, and how names are resolved to it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, cast

from language_server.constraints.problem_annotations import class_annotations, known_annotations
from language_server.constraints.problem_error import Collector, place_of
from language_server.constraints.theory import ClassSymbol, Feature

PRIMITIVES = ("int", "real", "string", "boolean")
BUILT_IN = {"exists": 1, "equals": 2, "contains": 2, "container": 2, "node": 1}

Kind = Literal["class", "feature", "predicate", "built-in"]
IndividualKind = Literal["atom", "multi", "node", "literal"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a name in an atom stands for; an attribute has arity 2 (object, value)."""

    kind: Kind
    name: str
    arity: int


@dataclass
class Symbols:
    """The declarations of a problem."""

    classes: dict[str, ClassSymbol] = field(default_factory=dict)
    features: dict[str, Feature] = field(default_factory=dict)
    arities: dict[str, int] = field(default_factory=dict)  # of predicates
    individuals: dict[str, IndividualKind] = field(default_factory=dict)
    annotations: frozenset[str] = frozenset()

    def supertypes(self, cls: str) -> list[str]:
        """The class itself and all its supertypes, nearest first."""
        found: list[str] = []
        waiting = [cls]
        while waiting:
            name = waiting.pop(0)
            if name not in found and name in self.classes:
                found.append(name)
                waiting.extend(self.classes[name].supertypes)
        return found

    def feature_of(self, cls: str, name: str) -> Feature | None:
        """The feature of that name which a class declares or inherits."""
        for owner in self.supertypes(cls):
            if (known := self.features.get(f"{owner}::{name}")) is not None:
                return known
        return None

    def resolve(self, node: Any, text: str, collector: Collector) -> Symbol | None:
        """The symbol a name stands for; unknown and ambiguous names are recorded as mistakes."""
        name = clean(text)
        found = self._candidates(name)
        if not found and "::" in name:
            found = self._candidates(name.split("::", 1)[1])  # a module in front
        if len(found) == 1:
            return found[0]
        if found:
            choices = " or ".join(symbol.name for symbol in found)
            collector.add(node, f"'{name}' is ambiguous", cure=f"write {choices}")
        else:
            collector.add(node, f"'{name}' is not declared", cure=self._suggestion(name))
        return None

    def class_or_predicate(self, node: Any, text: str, collector: Collector) -> str | None:
        """The class or unary predicate a type name stands for; None is the top type ``node``."""
        symbol = self.resolve(node, text, collector)
        if symbol is None or symbol.name == "node":
            return None
        if symbol.arity != 1:
            collector.add(node, f"'{symbol.name}' is no type: it takes {symbol.arity} arguments")
            return None
        return symbol.name

    def individual(self, text: str) -> str | None:
        """The declared individual (or ``C::new``) a name stands for."""
        name = clean(text)
        if name in self.individuals:
            return name
        owner, _, last = name.rpartition("::")
        if owner:
            owner = owner.rpartition("::")[2]
            cls = self.classes.get(owner)
            if cls is not None and (last == "new" or last in (cls.literals or ())):
                return f"{owner}::new" if last == "new" else last
        return None

    def _candidates(self, name: str) -> list[Symbol]:
        found: list[Symbol] = []
        if name in self.classes:
            found.append(Symbol("class", name, 1))
        if name in self.arities:
            found.append(Symbol("predicate", name, self.arities[name]))
        if name in BUILT_IN:
            found.append(Symbol("built-in", name, BUILT_IN[name]))
        if "::" in name:
            owner, _, last = name.rpartition("::")
            feature = self.feature_of(owner, last)
            if feature is not None:
                found.append(Symbol("feature", feature.symbol, 2))
        else:
            found.extend(
                Symbol("feature", feature.symbol, 2)
                for feature in self.features.values()
                if feature.name == name
            )
        return found

    def _suggestion(self, name: str) -> str:
        known = [*self.classes, *self.arities, *(f.name for f in self.features.values())]
        close = get_close_matches(name, known, n=1)
        return f"did you mean '{close[0]}'?" if close else ""


def clean(name: str) -> str:
    """A name without the quotes that let it hold any characters."""
    return re.sub(r"'([^']*)'", r"\1", name)


def declare(statements: Iterable[Any], collector: Collector) -> Symbols:
    """Collects the declarations of a problem and checks that they fit together."""
    statements = list(statements)
    symbols = Symbols(annotations=known_annotations(statements))
    for statement in statements:
        match statement.__class__.__name__:
            case "ClassDeclaration":
                _declare_class(statement, symbols, collector)
            case "EnumDeclaration":
                _declare_enum(statement, symbols, collector)
            case "PredicateDeclaration":
                name = clean(statement.name)
                if name in symbols.arities or name in symbols.classes or name in BUILT_IN:
                    collector.add(statement, f"'{name}' is declared twice")
                symbols.arities[name] = len(statement.parameters)
            case "IndividualDeclaration":
                for individual in statement.names:
                    kind = "node" if statement.kind == "declare" else statement.kind
                    _declare_individual(individual, kind, symbols, collector)
    for statement in statements:
        if statement.__class__.__name__ == "ClassDeclaration":
            _resolve_supertypes(statement, symbols, collector)
    for statement in statements:
        if statement.__class__.__name__ == "ClassDeclaration":
            for declaration in statement.features:
                _declare_feature(clean(statement.name), declaration, symbols, collector)
    for statement in statements:
        if statement.__class__.__name__ == "ClassDeclaration":
            for declaration in statement.features:
                _relate_feature(clean(statement.name), declaration, symbols, collector)
            _annotate_class(statement, symbols, collector)
        elif statement.__class__.__name__ == "EnumDeclaration":
            _annotate_class(statement, symbols, collector)
    for statement in statements:
        if statement.__class__.__name__ == "ClassDeclaration":
            for declaration in statement.features:
                _check_opposite(clean(statement.name), declaration, symbols, collector)
    return symbols


def _declare_class(statement: Any, symbols: Symbols, collector: Collector) -> None:
    name = clean(statement.name)
    if name in symbols.classes or name in BUILT_IN or name in PRIMITIVES:
        collector.add(statement, f"'{name}' is declared twice")
        return
    symbols.classes[name] = ClassSymbol(
        name=name,
        abstract=statement.abstract,
        supertypes=tuple(clean(supertype) for supertype in statement.supertypes),
        place=place_of(statement),
    )


def _declare_enum(statement: Any, symbols: Symbols, collector: Collector) -> None:
    name = clean(statement.name)
    if name in symbols.classes or name in BUILT_IN or name in PRIMITIVES:
        collector.add(statement, f"'{name}' is declared twice")
        return
    literals = tuple(clean(literal.name) for literal in statement.literals)
    for literal in statement.literals:
        _declare_individual(literal, "literal", symbols, collector)
    symbols.classes[name] = ClassSymbol(name=name, literals=literals, place=place_of(statement))


def _declare_individual(node: Any, kind: str, symbols: Symbols, collector: Collector) -> None:
    name = clean(node.name)
    if name in symbols.individuals:
        collector.add(
            node,
            f"individual '{name}' is declared twice",
            cure="literals and atoms of one problem need different names",
        )
    symbols.individuals[name] = cast(IndividualKind, kind)


def _resolve_supertypes(statement: Any, symbols: Symbols, collector: Collector) -> None:
    name = clean(statement.name)
    for supertype in symbols.classes[name].supertypes:
        known = symbols.classes.get(supertype)
        if known is None:
            close = get_close_matches(supertype, symbols.classes, n=1)
            collector.add(
                statement,
                f"class '{supertype}' is not declared",
                cure=f"did you mean '{close[0]}'?" if close else "",
            )
        elif known.literals is not None:
            collector.add(statement, f"'{supertype}' is an enum and cannot be extended")
        elif name in symbols.supertypes(supertype):
            collector.add(statement, f"class '{name}' extends itself")


def _declare_feature(owner: str, node: Any, symbols: Symbols, collector: Collector) -> None:
    name, target = clean(node.name), clean(node.target)
    if symbols.feature_of(owner, name) is not None:
        collector.add(node, f"'{owner}' already has a feature '{name}'")
        return
    lower, upper = _bounds(node.multiplicity)
    if upper is not None and upper < lower:
        collector.add(node.multiplicity, f"no number lies in {lower}..{upper}")
    if target in PRIMITIVES:
        if node.kind in ("contains", "container"):
            collector.add(node, f"an attribute of type {target} cannot be contained")
        if node.opposite or node.subsets:
            collector.add(node, "an attribute has no opposite and subsets nothing")
    else:
        resolved = symbols.resolve(node, target, collector)
        if resolved is None:
            return
        if resolved.arity != 1:
            collector.add(node, f"'{target}' is no type: it takes {resolved.arity} arguments")
            return
        target = resolved.name
    feature = Feature(
        owner=owner,
        name=name,
        target=target,
        lower=lower,
        upper=upper,
        containment=node.kind == "contains",
        place=place_of(node),
    )
    symbols.features[feature.symbol] = feature


def _bounds(multiplicity: Any) -> tuple[int, int | None]:
    if multiplicity is None:
        return 0, 1
    if not multiplicity.lower:
        return 0, None
    lower = int(multiplicity.lower)
    if not multiplicity.upper:
        return lower, lower
    return lower, None if multiplicity.upper == "*" else int(multiplicity.upper)


def _relate_feature(owner: str, node: Any, symbols: Symbols, collector: Collector) -> None:
    """Resolves `opposite` and `subsets`, which may name features declared further down."""
    feature = symbols.features.get(f"{owner}::{clean(node.name)}")
    if feature is None or feature.is_attribute:
        return
    opposite = None
    if node.opposite:
        other = symbols.feature_of(feature.target, clean(node.opposite).rpartition("::")[2])
        if other is None:
            collector.add(node, f"'{feature.target}' has no reference '{clean(node.opposite)}'")
        elif other.is_attribute:
            collector.add(node, f"'{other.symbol}' is an attribute and no opposite")
        else:
            opposite = other.symbol
    elif node.kind == "container":
        collector.add(
            node, "a container reference needs its opposite", cure="add 'opposite <feature>'"
        )
    subsets = []
    for name in node.subsets:
        symbol = symbols.feature_of(owner, clean(name).rpartition("::")[2])
        if symbol is not None and not symbol.is_attribute:
            subsets.append(symbol.symbol)
        elif (found := symbols.resolve(node, name, collector)) is not None:
            if found.arity == 2:
                subsets.append(found.name)
            else:
                collector.add(node, f"'{clean(name)}' is no reference to be a subset of")
    symbols.features[feature.symbol] = Feature(
        owner=feature.owner,
        name=feature.name,
        target=feature.target,
        lower=feature.lower,
        upper=feature.upper,
        containment=feature.containment,
        opposite=opposite,
        subsets=tuple(subsets),
        place=feature.place,
    )


def _check_opposite(owner: str, node: Any, symbols: Symbols, collector: Collector) -> None:
    """Opposites name each other."""
    feature = symbols.features.get(f"{owner}::{clean(node.name)}")
    if feature is None or feature.opposite is None:
        return
    other = symbols.features[feature.opposite]
    if other.opposite != feature.symbol:
        collector.add(
            node,
            f"'{other.symbol}' has another opposite, '{other.opposite or ''}'",
            cure=f"name each other: opposite {feature.name} there",
        )
    if node.kind == "container" and not other.containment:
        collector.add(
            node, f"'{other.symbol}' is no containment", cure="declare it with 'contains'"
        )


def _annotate_class(statement: Any, symbols: Symbols, collector: Collector) -> None:
    name = clean(statement.name)
    if name in symbols.classes:
        symbols.classes[name] = class_annotations(
            statement,
            symbols.classes[name],
            lambda feature: symbols.feature_of(name, feature) is not None,
            symbols.annotations,
            collector,
        )
