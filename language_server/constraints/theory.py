"""The vocabulary of a metamodel with constraints, as read from a ``.problem`` file.

This is the abstract syntax that the evaluation works on: names are resolved (a feature is called
``Owner::feature`` with the class that declares it), types checked, wild cards renamed apart.
The language is Refinery's (see ``grammars/problem.tx`` for its textual form).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal as Choice
from typing import NamedTuple

Primitive = Choice["int", "real", "string", "boolean"]
Modality = Choice["must", "may"]


class Place(NamedTuple):
    """Half-open character offsets in a problem file; None for a text without a file."""

    start: int
    end: int
    path: Path | None = None


NOWHERE = Place(0, 0)


@dataclass(frozen=True, slots=True)
class Var:
    """A logic variable; wild cards are variables with unique names that start with ``_``."""

    name: str


@dataclass(frozen=True, slots=True)
class Individual:
    """A named object of the problem: enum literal, atom, node of an assertion, or ``C::new``."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    value: int | float | str | bool


Term = Var | Individual | Constant


@dataclass(frozen=True, slots=True)
class AttributeOf:
    """The value of an attribute of an object, e.g. ``capacity(x)``; no value where it is unset."""

    attribute: str
    of: Var | Individual


@dataclass(frozen=True, slots=True)
class Count:
    """How many tuples match an atom, e.g. ``count { input(_, n) }``.

    Free variables of the atom that occur nowhere else in the clause are counted over.
    """

    atom: Atom


@dataclass(frozen=True, slots=True)
class Arithmetic:
    op: Choice["+", "-", "*", "/"]
    left: Expression
    right: Expression


Expression = Term | AttributeOf | Count | Arithmetic


@dataclass(frozen=True, slots=True)
class Atom:
    """``symbol(args)``: a class, a feature, a predicate or a built-in.

    Built-ins are ``exists``, ``equals``, ``contains`` and ``container``.
    """

    symbol: str
    args: tuple[Term, ...]
    closure: bool = False  # symbol+ (transitive closure)
    modality: Modality | None = None
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom, perhaps negated.

    ``modality`` stands outside the negation (``must !p``); that of ``!may p`` is the atom's.
    """

    atom: Atom
    negated: bool = False
    modality: Modality | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    op: Choice["==", "!=", "<", "<=", ">", ">="]
    left: Expression
    right: Expression
    place: Place = NOWHERE


Clause = tuple[Literal | Comparison, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    var: Var
    type: str | None = None  # class or unary predicate


@dataclass(frozen=True, slots=True)
class ClassSymbol:
    name: str
    abstract: bool = False
    supertypes: tuple[str, ...] = ()
    literals: tuple[str, ...] | None = None  # of an enum
    place: Place = NOWHERE
    key: tuple[str, ...] = ()  # @key(feature, ...): mentions with equal keys are one object
    conflict: Choice["error", "first", "last"] = "error"  # when merged mentions differ in a feature
    ignore_case: bool = False  # @ignorecase: a text value names an individual of it in any case


@dataclass(frozen=True, slots=True)
class Feature:
    """An attribute (primitive target) or a reference (class target)."""

    owner: str
    name: str
    target: str  # class name, or a Primitive
    lower: int = 0
    upper: int | None = 1  # None: unbounded
    containment: bool = False
    opposite: str | None = None
    subsets: tuple[str, ...] = ()
    place: Place = NOWHERE

    @property
    def symbol(self) -> str:
        return f"{self.owner}::{self.name}"

    @property
    def is_attribute(self) -> bool:
        return self.target in ("int", "real", "string", "boolean")


@dataclass(frozen=True, slots=True)
class Predicate:
    """A derived predicate in disjunctive normal form; ``clauses is None`` for a base predicate.

    ``message`` is what an error predicate tells the user; ``{param}`` stands for an element.
    ``lookahead`` marks an error predicate that only looks ahead: where it holds, every completion
    violates another one, which is the one to report on finished text. So it is a contradiction of
    the cursor view and never a problem of the document view.
    """

    name: str
    parameters: tuple[Parameter, ...]
    clauses: tuple[Clause, ...] | None
    error: bool = False
    subsets: tuple[str, ...] = ()
    shadow: bool = False
    message: str | None = None
    place: Place = NOWHERE
    severity: Choice["error", "warning", "information"] = "error"
    lookahead: bool = False


@dataclass(frozen=True, slots=True)
class PropagationRule:
    name: str
    parameters: tuple[Parameter, ...]
    clauses: tuple[Clause, ...]
    conclusions: tuple[Literal, ...]  # negated: the atom becomes false, else true
    place: Place = NOWHERE
    message: str | None = None  # what the user reads where a text contradicts it


@dataclass(frozen=True, slots=True)
class Assertion:
    symbol: str
    args: tuple[Individual | Constant | None, ...]  # None: the wild card ``*``
    value: Choice["true", "false", "unknown", "error"]
    default: bool = False
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Scope:
    cls: str
    lower: int
    upper: int | None
    place: Place = NOWHERE


@dataclass(frozen=True)
class Theory:
    """A whole problem file, imports included."""

    classes: dict[str, ClassSymbol] = field(default_factory=dict)
    features: dict[str, Feature] = field(default_factory=dict)  # by Feature.symbol
    predicates: dict[str, Predicate] = field(default_factory=dict)
    rules: tuple[PropagationRule, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    individuals: dict[str, Choice["atom", "multi", "node", "literal"]] = field(default_factory=dict)
    scopes: tuple[Scope, ...] = ()

    def supertypes(self, cls: str) -> frozenset[str]:
        """The class itself and all its supertypes."""
        found: set[str] = set()
        waiting = [cls]
        while waiting:
            name = waiting.pop()
            if name not in found and name in self.classes:
                found.add(name)
                waiting.extend(self.classes[name].supertypes)
        return frozenset(found)

    @cached_property
    def scope_predicates(self) -> dict[str, Predicate]:
        """Error predicates that say the same as the scopes."""
        return {predicate.name: predicate for predicate in _scope_predicates(self.scopes)}


def _scope_predicates(scopes: Iterable[Scope]) -> Iterator[Predicate]:
    for scope in scopes:
        symbol = "exists" if scope.cls == "node" else scope.cls
        number = Count(Atom(symbol, (Var("_counted"),)))
        what = "objects" if scope.cls == "node" else f"objects of class {scope.cls}"
        if scope.lower > 0:
            few = Comparison("<", number, Constant(scope.lower), scope.place)
            text = f"at least {scope.lower} {what} are needed"
            yield Predicate(
                f"scope {scope.cls} lower", (), ((few,),), True, message=text, place=scope.place
            )
        if scope.upper is not None:
            many = Comparison(">", number, Constant(scope.upper), scope.place)
            text = f"at most {scope.upper} {what} are allowed"
            yield Predicate(
                f"scope {scope.cls} upper", (), ((many,),), True, message=text, place=scope.place
            )
