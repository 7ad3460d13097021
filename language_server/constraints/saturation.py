"""What the assertions of a problem imply, for all its objects at once.

The objects are the individuals of the problem and one ``C::new`` object for each class. Every fact
has one of the four truth values; rules of the metamodel (types, opposites, subsets, containment,
multiplicities), definitions of predicates and propagation rules are applied until nothing changes.
This is done by plain enumeration: a problem file asserts little. Models of texts are kept by
``Evaluation``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from language_server.constraints.clauses import (
    Definition,
    definition,
    direct_variables,
    occurrences,
    term_variables,
)
from language_server.constraints.mapping import resolved_feature
from language_server.constraints.query import DUAL, View
from language_server.constraints.theory import (
    Arithmetic,
    Assertion,
    Atom,
    AttributeOf,
    Clause,
    Comparison,
    Constant,
    Count,
    Expression,
    Feature,
    Individual,
    Literal,
    Theory,
    Var,
)
from language_server.constraints.values import UNKNOWN, Interval, calculate, decided
from language_server.partial_model import NEW, Truth

Row = tuple[str, ...]
_UNTYPED = ""  # the kind of an object of no class


class Saturation:
    """The consequences of a problem's assertions.

    Args:
        theory: the problem.
    """

    def __init__(self, theory: Theory) -> None:
        self._theory = theory
        self._ancestors = {name: theory.supertypes(name) for name in theory.classes}
        self._definitions: dict[str, Definition] = {
            name: definition(theory, name, predicate.parameters, predicate.clauses)
            for name, predicate in theory.predicates.items()
            if predicate.clauses is not None
        }
        concrete = [name for name, cls in theory.classes.items() if not cls.abstract]
        open_classes = [name for name in concrete if theory.classes[name].literals is None]
        named = [name for name in theory.individuals if not name.endswith(NEW)]
        literals = [
            literal
            for cls in theory.classes.values()
            for literal in cls.literals or ()
            if literal not in named
        ]
        self.objects: list[str] = [*named, *literals, *(name + NEW for name in open_classes)]
        self._exists = {
            name: Truth.UNKNOWN if name.endswith(NEW) else Truth.TRUE for name in self.objects
        }
        self._kinds: dict[str, set[str]] = {name: {*concrete, _UNTYPED} for name in self.objects}
        self._types: dict[str, set[str]] = {name: set() for name in self.objects}
        self._known: dict[tuple[str, Row], Truth] = {}
        self._values: dict[tuple[str, str], Any] = {}
        self._changed = False
        for cls in theory.classes.values():
            for literal in cls.literals or ():
                self._learn(cls.name, (literal,), Truth.TRUE)
            for name in named if cls.literals is not None else ():
                if name not in (cls.literals or ()):
                    self._learn(cls.name, (name,), Truth.FALSE)
        for name in open_classes:
            self._kinds[name + NEW] = {name}
        self._assert_all()
        self._saturate()

    @property
    def consistent(self) -> bool:
        """Whether no fact is an error and no error predicate certainly holds."""
        if any(self.truth(symbol, row) is Truth.ERROR for symbol, row in self._all_facts()):
            return False
        return not any(
            self._holds(Atom(name, tuple(Individual(n) for n in row)), {}, "must")
            for name, predicate in self._theory.predicates.items()
            if predicate.error
            for row in self._rows(len(predicate.parameters))
            if all(self._exists[n].must for n in row)
        )

    def truth(self, symbol: str, row: Row) -> Truth:
        """The value of a fact.

        Args:
            symbol: a class, a feature, a predicate or a built-in.
            row: names of objects.
        """
        if symbol == "exists":
            return self._exists[row[0]]
        if symbol == "equals":
            if row[0] != row[1]:
                return Truth.FALSE
            return Truth.UNKNOWN if row[0].endswith(NEW) else Truth.TRUE
        if symbol in self._theory.classes:
            kinds = self._kinds[row[0]]
            return Truth.of(
                any(symbol in self._ancestors.get(kind, ()) for kind in kinds),
                symbol in self._types[row[0]],
            )
        known = self._known.get((symbol, row), Truth.UNKNOWN)
        if symbol == "contains":
            links = [self.truth(f.symbol, row) for f in self._features() if f.containment]
            found = Truth.of(any(t.may for t in links), any(t.must for t in links))
            return found.meet(known)
        meaning = self._definitions.get(symbol)
        if meaning is None:
            return known
        may, must = self._defined(meaning, row, "may"), self._defined(meaning, row, "must")
        return known.meet(Truth.of(may, must))

    def candidate(self, symbol: str, row: Row) -> Truth:
        """The value of a fact in the simplest completion.

        There an object is of the first class that it can have, and nothing holds that need not.
        """
        known = self.truth(symbol, row)
        if symbol not in self._theory.classes or known is not Truth.UNKNOWN:
            return Truth.FALSE if known is Truth.UNKNOWN else known
        first = next(kind for kind in self._theory.classes if kind in self._kinds[row[0]])
        holds = symbol in self._ancestors[first]
        return Truth.of(holds, holds)

    # ---- knowledge ---------------------------------------------------------------------------

    def _learn(self, symbol: str, row: Row, value: Truth) -> None:
        """One more piece of knowledge about a fact."""
        if value is Truth.UNKNOWN:
            return
        if symbol == "exists":
            self._update(self._exists, row[0], self._exists[row[0]].meet(value))
        elif symbol in self._theory.classes:
            self._learn_type(symbol, row[0], value)
        else:
            before = self._known.get((symbol, row), Truth.UNKNOWN)
            self._update(self._known, (symbol, row), before.meet(value))

    def _learn_type(self, cls: str, name: str, value: Truth) -> None:
        kinds, types = self._kinds[name], self._types[name]
        size = (len(kinds), len(types))
        if value.must:
            kinds &= {k for k in kinds if cls in self._ancestors.get(k, ())}
            types |= self._ancestors[cls]
        if not value.may:
            kinds -= {k for k in kinds if cls in self._ancestors.get(k, ())}
        if kinds:
            common = [self._ancestors.get(kind, frozenset()) for kind in kinds]
            types |= frozenset.intersection(*common)
        self._changed |= size != (len(kinds), len(types))

    def _update(self, known: dict[Any, Truth], key: Any, value: Truth) -> None:
        if known.get(key, Truth.UNKNOWN) is not value:
            known[key] = value
            self._changed = True

    def _assert_all(self) -> None:
        explicit: set[tuple[str, Row]] = set()
        ordered = sorted(self._theory.assertions, key=lambda assertion: assertion.default)
        for assertion in ordered:
            feature = self._theory.features.get(assertion.symbol)
            if feature is not None and feature.is_attribute:
                self._assert_value(assertion)
                continue
            for row in self._expanded(assertion):
                if assertion.default:
                    if (assertion.symbol, row) in explicit:
                        continue
                else:
                    explicit.add((assertion.symbol, row))
                self._learn(assertion.symbol, row, Truth[assertion.value.upper()])
                if assertion.symbol == "exists" and assertion.value == "unknown":
                    self._exists[row[0]] = Truth.UNKNOWN

    def _assert_value(self, assertion: Assertion) -> None:
        of, value = assertion.args
        if isinstance(of, Individual) and isinstance(value, Constant):
            self._values[assertion.symbol, of.name] = value.value

    def _expanded(self, assertion: Assertion) -> Iterator[Row]:
        choices = [
            [argument.name] if isinstance(argument, Individual) else self.objects
            for argument in assertion.args
        ]
        yield from itertools.product(*choices)

    # ---- consequences ------------------------------------------------------------------------

    def _saturate(self) -> None:
        self._changed = True
        while self._changed:
            self._changed = False
            for feature in self._features():
                self._type_links(feature)
                self._relate(feature)
            self._contain()
            for feature in self._features():
                self._bound(feature)
            self._include_predicates()
            self._apply_rules()

    def _features(self) -> list[Feature]:
        return [feature for feature in self._theory.features.values() if not feature.is_attribute]

    def _type_links(self, feature: Feature) -> None:
        """Ends of a link have the types of the reference, and nothing else can have a link."""
        for source, target in self._rows(2):
            if self.truth(feature.symbol, (source, target)).must:
                self._learn(feature.owner, (source,), Truth.TRUE)
                self._learn(feature.target, (target,), Truth.TRUE)
            possible = (
                self.truth(feature.owner, (source,)).may
                and self.truth(feature.target, (target,)).may
                and self._exists[source].may
                and self._exists[target].may
            )
            if not possible:
                self._learn(feature.symbol, (source, target), Truth.FALSE)

    def _relate(self, feature: Feature) -> None:
        """Opposites agree, and what is in a subset is in the superset."""
        opposite = resolved_feature(self._theory, feature.target, feature.opposite)
        for row in self._rows(2):
            if opposite in self._theory.features:
                self._learn(feature.symbol, row, self.truth(opposite, row[::-1]))
            for superset in feature.subsets:
                symbol = resolved_feature(self._theory, feature.owner, superset) or superset
                self._subset(feature.symbol, symbol, row)

    def _subset(self, symbol: str, superset: str, row: Row) -> None:
        if self.truth(symbol, row).must:
            self._learn(superset, row, Truth.TRUE)
        if not self.truth(superset, row).may:
            self._learn(symbol, row, Truth.FALSE)

    def _contain(self) -> None:
        """An object of a contained class has one container and one link from it."""
        links = [feature for feature in self._features() if feature.containment]
        if not links:
            return
        contained = {feature.target for feature in links}
        for target in self.objects:
            certain = {s for s in self.objects if self.truth("contains", (s, target)).must}
            if certain and not target.endswith(NEW):
                for source in self.objects:
                    if source not in certain:
                        self._learn("contains", (source, target), Truth.FALSE)
            for source in self.objects:
                self._contain_in(links, source, target, source in certain)
            containers = [s for s in self.objects if self.truth("contains", (s, target)).may]
            if (
                self._exists[target].must
                and self._types[target] & contained
                and len(containers) == 1
                and not containers[0].endswith(NEW)
            ):
                self._learn("contains", (containers[0], target), Truth.TRUE)

    def _contain_in(self, links: list[Feature], source: str, target: str, certain: bool) -> None:
        row = (source, target)
        if not self.truth("contains", row).may:
            for feature in links:
                self._learn(feature.symbol, row, Truth.FALSE)
        stated = [f for f in links if self.truth(f.symbol, row).must]
        if stated and not target.endswith(NEW):
            for feature in links:
                if feature not in stated:
                    self._learn(feature.symbol, row, Truth.FALSE)
        possible = [f for f in links if self.truth(f.symbol, row).may]
        if certain and len(possible) == 1:
            self._learn(possible[0].symbol, row, Truth.TRUE)

    def _bound(self, feature: Feature) -> None:
        """A full reference takes no further link; one that lacks choice takes all there are."""
        for source in self.objects:
            values = {t: self.truth(feature.symbol, (source, t)) for t in self.objects}
            certain = [t for t, v in values.items() if v.must and self._exists[t].must]
            if feature.upper is not None and not source.endswith(NEW):
                singles = [t for t in certain if not t.endswith(NEW)]
                if len(singles) >= feature.upper:
                    for target, value in values.items():
                        if value is Truth.UNKNOWN:
                            self._learn(feature.symbol, (source, target), Truth.FALSE)
            possible = [t for t, v in values.items() if v.may]
            needed = self._exists[source].must and feature.owner in self._types[source]
            choice = any(t.endswith(NEW) for t in possible) or len(possible) > feature.lower
            if needed and not choice:
                for target in possible:
                    self._learn(feature.symbol, (source, target), Truth.TRUE)

    def _include_predicates(self) -> None:
        for name, predicate in self._theory.predicates.items():
            for superset in predicate.subsets:
                for row in self._rows(len(predicate.parameters)):
                    self._subset(name, superset, row)

    def _apply_rules(self) -> None:
        for rule in self._theory.rules:
            meaning = definition(self._theory, rule.name, rule.parameters, rule.clauses)
            for row in self._rows(len(rule.parameters)):
                if not all(self._exists[name].must for name in row):
                    continue
                if self._defined(meaning, row, "must"):
                    binding = dict(zip(meaning.parameters, row, strict=True))
                    for conclusion in rule.conclusions:
                        args = self._arguments(conclusion.atom, binding)
                        value = Truth.FALSE if conclusion.negated else Truth.TRUE
                        self._learn(conclusion.atom.symbol, args, value)

    # ---- definitions -------------------------------------------------------------------------

    def _rows(self, arity: int) -> Iterator[Row]:
        return itertools.product(self.objects, repeat=arity)

    def _all_facts(self) -> Iterator[tuple[str, Row]]:
        for cls in self._theory.classes:
            for name in self.objects:
                if self._exists[name].must:
                    yield cls, (name,)
        yield from self._known

    def _arguments(self, atom: Atom, binding: dict[str, str]) -> Row:
        return tuple(
            binding[term.name] if isinstance(term, Var) else str(getattr(term, "name", term))
            for term in atom.args
        )

    def _defined(self, meaning: Definition, row: Row, view: View) -> bool:
        binding = dict(zip(meaning.parameters, row, strict=True))
        return any(
            self._clause(clause, meaning.parameters, binding, view) for clause in meaning.clauses
        )

    def _clause(
        self, clause: Clause, parameters: tuple[str, ...], binding: dict[str, str], view: View
    ) -> bool:
        places = occurrences(parameters, clause)
        free: dict[str, None] = {}
        for part in clause:
            if isinstance(part, Literal):
                names = list(term_variables(part.atom.args))
                if part.negated:
                    names = [name for name in names if places[name] > 1]
            else:
                names = [*direct_variables(part.left), *direct_variables(part.right)]
            free.update(dict.fromkeys(name for name in names if name not in binding))
        for values in itertools.product(self._existing(view), repeat=len(free)):
            full = {**binding, **dict(zip(free, values, strict=True))}
            if all(self._part(part, full, view) for part in clause):
                return True
        return False

    def _existing(self, view: View) -> list[str]:
        wanted = "must" if view == "must" else "may"
        return [name for name in self.objects if getattr(self._exists[name], wanted)]

    def _part(self, part: Literal | Comparison, binding: dict[str, str], view: View) -> bool:
        if isinstance(part, Comparison):
            return self._compare(part, binding, view)
        if not part.negated:
            return self._holds(part.atom, binding, part.modality or part.atom.modality or view)
        inner = part.atom.modality or DUAL[part.modality or view]
        return not self._holds(part.atom, binding, inner)

    def _holds(self, atom: Atom, binding: dict[str, str], view: View) -> bool:
        """Whether an atom holds for some objects at its free variables."""
        return self._number(atom, binding, view) > 0

    def _number(self, atom: Atom, binding: dict[str, str], view: View) -> float:
        names = dict.fromkeys(name for name in term_variables(atom.args) if name not in binding)
        number = 0.0
        for values in itertools.product(self._existing(view), repeat=len(names)):
            full = {**binding, **dict(zip(names, values, strict=True))}
            if self._fact(atom, self._arguments(atom, full), view):
                many = view == "may" and any(value.endswith(NEW) for value in values)
                number += math.inf if many else 1
        return number

    def _fact(self, atom: Atom, row: Row, view: View) -> bool:
        wanted = "must" if view == "must" else "may"
        if not atom.closure:
            return bool(getattr(self.truth(atom.symbol, row), wanted))
        seen: set[str] = set()
        waiting = [row[0]]
        while waiting:
            source = waiting.pop()
            for target in self._existing(view):
                if target not in seen and getattr(
                    self.truth(atom.symbol, (source, target)), wanted
                ):
                    seen.add(target)
                    waiting.append(target)
        return row[1] in seen

    def _compare(self, part: Comparison, binding: dict[str, str], view: View) -> bool:
        left, right = self._value(part.left, binding), self._value(part.right, binding)
        if isinstance(part.left, (Var, Individual)) and isinstance(part.right, (Var, Individual)):
            equal = self.truth("equals", (left, right))
            known = None if equal is Truth.UNKNOWN else equal.must == (part.op == "==")
        else:
            known = decided(part.op, left, right)
        return known is True if view == "must" else known is not False

    def _value(self, expression: Expression, binding: dict[str, str]) -> Any:
        if isinstance(expression, Constant):
            return expression.value
        if isinstance(expression, Var):
            return binding[expression.name]
        if isinstance(expression, Individual):
            return expression.name
        if isinstance(expression, AttributeOf):
            return self._values.get(
                (expression.attribute, self._value(expression.of, binding)), UNKNOWN
            )
        if isinstance(expression, Arithmetic):
            return calculate(
                expression.op,
                self._value(expression.left, binding),
                self._value(expression.right, binding),
            )
        assert isinstance(expression, Count)
        return Interval(
            self._number(expression.atom, binding, "must"),
            self._number(expression.atom, binding, "may"),
        )
