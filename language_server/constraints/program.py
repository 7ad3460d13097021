"""A theory as a logic program for an answer set solver (clingo).

Classes, features and predicates become predicates of the program, error predicates its constraints.
What text may still state is chosen, objects that it may still add come from a pool. Strings and
numbers that are not stated yet are values of their own, equal to nothing else. (Bounded model
finding as answer sets; the semantics is that of Refinery's concrete models.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import clingo

from language_server.constraints.clauses import Definition, counts, occurrences, term_variables
from language_server.constraints.constraint_set import ConstraintSet
from language_server.constraints.goal import Goal
from language_server.constraints.paths import paths_of
from language_server.constraints.theory import (
    Arithmetic,
    Atom,
    AttributeOf,
    Clause,
    Comparison,
    Constant,
    Count,
    Expression,
    Individual,
    Literal,
    PropagationRule,
    Term,
    Var,
)
from language_server.partial_model import FeatureInfo, ObjectId

_OPERATORS = {"==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


@lru_cache(maxsize=16)
def program_of(constraints: ConstraintSet) -> Program:
    """The program of a language's constraints."""
    return Program(constraints)


class _Unsupported(Exception):
    """A part of the theory that the program cannot say; constraints that use it are left out."""


class Program:
    """The part of the program that is the same for all models of a language."""

    def __init__(self, constraints: ConstraintSet) -> None:
        self.constraints = constraints
        self.schema = constraints.schema
        self._classes = {name: place for place, name in enumerate(self.schema.classes)}
        self._class_names = list(self.schema.classes)
        self._features = {symbol: place for place, symbol in enumerate(self.schema.features)}
        self._feature_list = list(self.schema.features.values())
        self._predicates: dict[str, int] = {}
        self._broken: set[str] = set()
        self._lines: list[str] = []
        self._fresh = 0
        self._write()
        self.text = "\n".join(dict.fromkeys(self._lines))

    def kind(self, name: str) -> str:
        return f"k{self._classes[name]}"

    def cls(self, name: str) -> str:
        """What holds of the objects of a class and of all its subclasses."""
        return f"c{self._classes[name]}"

    def feature(self, symbol: str) -> str:
        return f"f{self._features[symbol]}"

    def is_key(self, feature: FeatureInfo) -> bool:
        """Whether objects are identified by the feature."""
        return any(feature.name in self.schema.classes[name].key for name in feature.sources)

    def read(self, symbols: tuple[clingo.Symbol, ...], price: int) -> Goal:
        """The goal that an answer set of that price stands for."""
        kinds: dict[ObjectId, str] = {}
        links: set[tuple[str, ObjectId, ObjectId]] = set()
        values: dict[tuple[str, ObjectId], bool | None] = {}
        for symbol in symbols:
            place = int(symbol.name[1:])
            args = symbol.arguments
            if symbol.name[0] == "k":
                kinds[args[0].number] = self._class_names[place]
                continue
            feature = self._feature_list[place]
            if not feature.attribute:
                links.add((feature.symbol, args[0].number, args[1].number))
            elif feature.target == "boolean" and args[1] == clingo.Number(1):
                values[feature.symbol, args[0].number] = True
            elif args[1].type is clingo.SymbolType.Function and args[1].name == "some":
                values[feature.symbol, args[0].number] = None
        return Goal(kinds, frozenset(links), values, price)

    # ---- metamodel ---------------------------------------------------------------------------

    def _write(self) -> None:
        say = self._lines.append
        for name, info in self.schema.classes.items():
            place = self._classes[name]
            if not info.abstract:
                say(f"obj(X) :- k{place}(X). {{k{place}(X)}} :- pool{place}(X).")
                say(f":- pool{place}(X), pool{place}(Y), Y = X+1, k{place}(Y), not k{place}(X).")
                say(f"#show k{place}/1.")
                for ancestor in sorted(info.ancestors):
                    say(f"c{self._classes[ancestor]}(X) :- k{place}(X).")
        for feature in self.schema.features.values():
            self._write_feature(feature)
        # An object that text still has to declare stands in exactly one place of another, and all
        # of them in the root.
        say("inside(Y) :- contains(X,Y), inside(X).")
        say(":- boxed(X), obj(X), #count{P,F : placed(P,X,F)} != 1.")
        say(":- boxed(X), obj(X), not inside(X).")
        # A keyed object is written where another one refers to it.
        say(":- keyed(X), obj(X), new(X), not mention(X).")
        for name in self._used():
            self._write_definition(name, self.constraints.compiler.definitions[name])
        self._write_conclusions()
        self._write_errors()

    def _write_feature(self, feature: FeatureInfo) -> None:
        say = self._lines.append
        place = self._features[feature.symbol]
        say(f"#show f{place}/2.")
        if feature.attribute:
            self._write_attribute(feature, place)
            return
        say(
            f"{{f{place}(X,Y)}} :- src{place}(X), dst{place}(Y), obj(X), obj(Y), s{place}(X), "
            f"t{place}(Y)."
        )
        for name in sorted(feature.sources):
            say(f"s{place}(X) :- k{self._classes[name]}(X).")
        for name in sorted(feature.targets):
            say(f"t{place}(X) :- k{self._classes[name]}(X).")
        say(f"f{place}(X,Y) :- was{place}(X,Y).")
        say(f"stated{place}(X,Y) :- f{place}(X,Y), not was{place}(X,Y).")
        say(f":- stated{place}(X,Y), keyed(X), not mention(X).")
        if any(self.schema.classes[name].key for name in feature.targets):
            say(f"mention(Y) :- stated{place}(X,Y).")
        if feature.containment:
            say(f"contains(X,Y) :- f{place}(X,Y).")
            parts = (
                f", not f{self._features[other.symbol]}(X,Y)"
                for other in self._feature_list
                if feature.symbol in other.supersets
            )
            say(f"placed(X,Y,{place}) :- f{place}(X,Y){''.join(parts)}.")
        if feature.opposite is not None:
            say(f"f{place}(X,Y) :- f{self._features[feature.opposite]}(Y,X).")
        for symbol in feature.supersets:
            say(f"f{self._features[symbol]}(X,Y) :- f{place}(X,Y).")
        self._write_paths(feature, place)
        if feature.lower:
            say(f":- s{place}(X), #count{{Y : f{place}(X,Y)}} < {feature.lower}.")
        if feature.upper is not None and not feature.revisable:
            say(f":- s{place}(X), #count{{Y : f{place}(X,Y)}} > {feature.upper}.")

    def _write_paths(self, feature: FeatureInfo, place: int) -> None:
        paths = paths_of(self.schema, self.constraints.mapping.links, feature)
        if paths is None:
            return
        say = self._lines.append
        say(f":- stated{place}(X,Y), not found{place}(X,Y).")
        say(f":- was{place}(X,Y), boxed(Y), not found{place}(X,Y).")  # is still to be declared
        say(f"from{place}(X,X) :- s{place}(X).")
        if any(path.outward for path in paths):
            say(f"around{place}(X,Z) :- s{place}(X), contains(Z,X).")
            say(f"around{place}(X,Z) :- around{place}(X,Y), contains(Z,Y).")
        for outward, symbols in paths:
            steps = [f"f{self._features[s]}(X{at},X{at + 1})" for at, s in enumerate(symbols)]
            for begin in ("from", "around") if outward else ("from",):
                body = ", ".join([f"{begin}{place}(X,X0)", *steps])
                say(f"found{place}(X,X{len(symbols)}) :- {body}.")

    def _write_attribute(self, feature: FeatureInfo, place: int) -> None:
        say = self._lines.append
        say(f"f{place}(X,V) :- was{place}(X,V).")
        say(f"has{place}(X) :- was{place}(X,_).")
        for name in sorted(feature.sources):
            say(f"s{place}(X) :- k{self._classes[name]}(X).")
        if feature.target == "boolean":
            say(f"{{f{place}(X,1)}} :- src{place}(X), obj(X), s{place}(X), not has{place}(X).")
            say(f"f{place}(X,0) :- s{place}(X), not f{place}(X,1), not has{place}(X).")
            say(f"stated{place}(X) :- f{place}(X,1), not has{place}(X).")
        else:
            open_ends = "" if feature.lower else "{"
            closing = "" if feature.lower else "}"
            say(
                f"{open_ends}f{place}(X,some({place},X)){closing} :- src{place}(X), obj(X), "
                f"s{place}(X), not has{place}(X)."
            )
            say(f"stated{place}(X) :- f{place}(X,some({place},X)).")
        if not self.is_key(feature):
            say(f":- stated{place}(X), keyed(X), not mention(X).")

    # ---- predicates --------------------------------------------------------------------------

    def _errors(self) -> Iterator[tuple[str, int]]:
        """What must have no rows, with the number of its parameters."""
        for error in self.constraints.errors.values():
            predicate = error.predicate
            if not predicate.lookahead and predicate.severity == "error":
                yield predicate.name, len(predicate.parameters)
        for query in self.constraints.rules:
            yield query.name, len(query.pattern)

    def _used(self) -> list[str]:
        """The predicates that the errors rest on."""
        definitions = self.constraints.compiler.definitions
        found: dict[str, None] = {}
        waiting = [name for name, _ in self._errors()]
        waiting += [f"rule {rule.name}" for rule, _ in self._deciding()]
        while waiting:
            name = waiting.pop()
            if name in definitions and name not in found:
                found[name] = None
                for clause in definitions[name].clauses:
                    waiting += _symbols(clause)
        return list(found)

    def _write_definition(self, name: str, meaning: Definition) -> None:
        head_name = self._predicate(name)
        for clause in meaning.clauses:
            mark = len(self._lines)
            try:
                body = self._body(meaning.parameters, clause)
            except _Unsupported:
                del self._lines[mark:]
                self._broken.add(name)
                continue
            head = head_name + arguments(_variable(parameter) for parameter in meaning.parameters)
            self._lines.append(f"{head} :- {', '.join(body)}." if body else f"{head}.")

    def _deciding(self) -> Iterator[tuple[PropagationRule, Atom]]:
        """What rules conclude of predicates that nothing else decides."""
        for rule in self.constraints.theory.rules:
            for conclusion in rule.conclusions:
                only = self.constraints.compiler.is_concluded_only(conclusion.atom.symbol)
                if only and not conclusion.negated:
                    yield rule, conclusion.atom

    def _write_conclusions(self) -> None:
        for rule, atom in self._deciding():
            body = self._predicate(f"rule {rule.name}") + arguments(
                _variable(parameter.var.name) for parameter in rule.parameters
            )
            self._lines.append(f"{self._atom(atom)} :- {body}.")

    def _write_errors(self) -> None:
        broken = self._all_broken()
        for name, count in self._errors():
            if name in broken:
                continue
            predicate = self._predicate(name)
            if count and self.schema.no_scopes is not None:
                # What is wrong with an object of another file is said there.
                rest = arguments(["X", *"_" * (count - 1)])
                self._lines.append(f":- {predicate}{rest}, not foreign(X).")
            else:
                self._lines.append(f":- {predicate}{arguments('_' * count)}.")

    def _all_broken(self) -> set[str]:
        """The predicates that rest on something the program leaves out."""
        definitions = self.constraints.compiler.definitions
        uses = {
            name: {symbol for clause in meaning.clauses for symbol in _symbols(clause)}
            for name, meaning in definitions.items()
        }
        broken = set(self._broken)
        while True:
            more = {name for name, used in uses.items() if used & broken} - broken
            if not more:
                return broken
            broken |= more

    def _predicate(self, name: str) -> str:
        return f"p{self._predicates.setdefault(name, len(self._predicates))}"

    def _body(self, parameters: Iterable[str], clause: Clause) -> list[str]:
        parameters = tuple(parameters)
        places = occurrences(parameters, clause)
        body: list[str] = []
        for part in clause:
            if isinstance(part, Comparison):
                body += self._comparison(part, places)
            elif not part.negated:
                body.append(self._atom(part.atom))
            else:
                body.append(f"not {self._projected(part, places)}")
        shared = {*parameters} | {
            name
            for part in clause
            for name in _variables_of(part)
            if places[name] > 1 or not (isinstance(part, Literal) and part.negated)
        }
        counted = {
            name
            for part in clause
            if isinstance(part, Comparison)
            for count in (*counts(part.left), *counts(part.right))
            for name in term_variables(count.atom.args)
            if places[name] <= 1
        }
        return [*body, *(f"obj({_variable(name)})" for name in sorted(shared - counted))]

    def _projected(self, literal: Literal, places: Any) -> str:
        """The atom with the variables that occur nowhere else projected away."""
        names = list(dict.fromkeys(term_variables(literal.atom.args)))
        local = [name for name in names if places[name] <= 1]
        atom = self._atom(literal.atom)
        if not local:
            return atom
        self._fresh += 1
        head = f"q{self._fresh}" + arguments(_variable(name) for name in names if name not in local)
        self._lines.append(f"{head} :- {atom}.")
        return head

    def _atom(self, atom: Atom) -> str:
        base = self._symbol(atom.symbol)
        if atom.closure:
            closure = f"tc_{base}"
            self._lines.append(f"{closure}(X,Y) :- {base}(X,Y).")
            self._lines.append(f"{closure}(X,Z) :- {closure}(X,Y), {base}(Y,Z).")
            base = closure
        return base + arguments(self._term(term) for term in atom.args)

    def _symbol(self, symbol: str) -> str:
        if symbol == "exists":
            return "obj"
        if symbol == "contains":
            return "contains"
        if symbol in self._classes:
            return f"c{self._classes[symbol]}"
        if symbol in self._features:
            return f"f{self._features[symbol]}"
        if symbol in self.constraints.compiler.definitions:
            return self._predicate(symbol)
        if symbol in self.constraints.theory.predicates:
            return f"base_{self._predicate(symbol)}"
        raise _Unsupported(symbol)

    def base(self, symbol: str) -> str | None:
        """The name of a predicate that is only asserted."""
        return f"base_p{self._predicates[symbol]}" if symbol in self._predicates else None

    def _term(self, term: Term) -> str:
        if isinstance(term, Var):
            return _variable(term.name)
        if isinstance(term, Individual):
            try:
                return str(self.constraints.compiler.object_number(term.name))
            except KeyError:
                raise _Unsupported(term.name) from None
        return value_term(term.value)

    def _comparison(self, comparison: Comparison, places: Any) -> list[str]:
        body: list[str] = []
        ordered = comparison.op not in ("==", "!=")
        left = self._expression(comparison.left, places, body, ordered)
        right = self._expression(comparison.right, places, body, ordered)
        return [*body, f"{left} {_OPERATORS[comparison.op]} {right}"]

    def _expression(
        self, expression: Expression, places: Any, body: list[str], ordered: bool
    ) -> str:
        if isinstance(expression, AttributeOf):
            self._fresh += 1
            value = f"W{self._fresh}"
            of = self._term(expression.of)
            body.append(f"{self._symbol(expression.attribute)}({of},{value})")
            if ordered:
                body.append(f"integer({value})")
            return value
        if isinstance(expression, Count):
            self._fresh += 1
            value = f"W{self._fresh}"
            names = dict.fromkeys(term_variables(expression.atom.args))
            local = [_variable(name) for name in names if places[name] <= 1] or ["0"]
            atom = self._atom(expression.atom)
            body.append(f"{value} = #count{{{','.join(local)} : {atom}}}")
            return value
        if isinstance(expression, Arithmetic):
            left = self._expression(expression.left, places, body, True)
            right = self._expression(expression.right, places, body, True)
            return f"({left} {expression.op} {right})"
        if isinstance(expression, Constant) and ordered and not isinstance(expression.value, int):
            raise _Unsupported("an order of values that are no integers")
        return self._term(expression)


def value_term(value: Any) -> str:
    """A value as a term of the program; values are equal iff their terms are."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int) and abs(value) < 1 << 30:
        return str(value)
    return str(clingo.String(value if isinstance(value, str) else repr(value)))


def _variable(name: str) -> str:
    return "V" + "".join(char if char.isalnum() else f"_{ord(char)}_" for char in name)


def arguments(terms: Iterable[str]) -> str:
    """An argument list, '' for none."""
    inside = ",".join(terms)
    return f"({inside})" if inside else ""


def _variables_of(part: Literal | Comparison) -> set[str]:
    if isinstance(part, Literal):
        return set(term_variables(part.atom.args))
    found: set[str] = set()
    waiting = [part.left, part.right]
    while waiting:
        expression = waiting.pop()
        if isinstance(expression, Var):
            found.add(expression.name)
        elif isinstance(expression, AttributeOf):
            found.update(term_variables((expression.of,)))
        elif isinstance(expression, Count):
            found.update(term_variables(expression.atom.args))
        elif isinstance(expression, Arithmetic):
            waiting += [expression.left, expression.right]
    return found


def _symbols(clause: Clause) -> Iterator[str]:
    for part in clause:
        if isinstance(part, Literal):
            yield part.atom.symbol
        else:
            for count in (*counts(part.left), *counts(part.right)):
                yield count.atom.symbol
