"""Clauses in the form the compiler works on: fewer kinds of literals, variables counted."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

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
    Parameter,
    Predicate,
    PropagationRule,
    Term,
    Theory,
    Var,
)

Part = Literal | Comparison
ALL = sys.maxsize
EXACT = -1
_MOST_ROUNDS = 6


@dataclass(frozen=True)
class Definition:
    """A predicate (or the body of a rule) with the types of its parameters made literals.

    Attributes:
        rounds: how often propagation rules have been applied to what its atoms mean; ALL of them
            reach a fixed point. The atoms of an EXACT definition mean just what they name.
    """

    name: str
    parameters: tuple[str, ...]
    clauses: tuple[Clause, ...]
    rounds: int = ALL


def definition(
    theory: Theory, name: str, parameters: tuple[Parameter, ...], clauses: Iterable[Clause]
) -> Definition:
    """The normal form of a predicate or of the body of a rule."""
    typing = tuple(
        Literal(Atom(parameter.type, (parameter.var,)))
        for parameter in parameters
        if parameter.type is not None and parameter.type != "node"
    )
    return Definition(
        name,
        tuple(parameter.var.name for parameter in parameters),
        tuple(
            tuple(_simplified(theory, part) for part in (*typing, *clause)) for clause in clauses
        ),
    )


def _simplified(theory: Theory, part: Part) -> Part:
    """Without ``equals``, ``container`` and atoms over attributes."""
    if isinstance(part, Comparison):
        return part
    atom = part.atom
    if atom.symbol == "container":
        reverse = Atom("contains", atom.args[::-1], atom.closure, atom.modality, atom.place)
        return Literal(reverse, part.negated, part.modality)
    if atom.symbol == "equals" and not atom.closure and atom.modality is None:
        op = "!=" if part.negated else "=="
        return Comparison(op, atom.args[0], atom.args[1], atom.place)  # type: ignore[arg-type]
    feature = theory.features.get(atom.symbol)
    if feature is not None and feature.is_attribute:
        value = atom.args[1] if len(atom.args) > 1 else Constant(True)
        of = atom.args[0]
        assert not isinstance(of, Constant)
        return Comparison(
            "!=" if part.negated else "==", AttributeOf(atom.symbol, of), value, atom.place
        )
    return part


def conclusion_clause(rule: str, parameters: tuple[str, ...], conclusion: Atom) -> Clause:
    """The condition under which a rule concludes an atom for arguments ``p0``, ``p1`` ...

    Args:
        rule: name of the predicate for the body of the rule.
        parameters: of the rule.
        conclusion: the concluded atom, over the parameters.
    """
    places: dict[str, Var] = {}
    equations: list[Part] = []
    for position, term in enumerate(conclusion.args):
        place = Var(f"p{position}")
        if isinstance(term, Var) and term.name not in places:
            places[term.name] = place
        else:
            other = places[term.name] if isinstance(term, Var) else term
            equations.append(Comparison("==", place, other))
    body = tuple(places.get(name, Var(f"r {name}")) for name in parameters)
    return (Literal(Atom(rule, body)), *equations)


def rounds_to_fixed_point(
    rules: Iterable[PropagationRule], definitions: Mapping[str, Definition]
) -> int:
    """After how many rounds of propagation rules nothing more follows.

    That is the length of the longest chain in which the conclusion of a rule is used in the body of
    the next one. Rules that lead back to themselves may have no last round: after as many rounds
    as `_MOST_ROUNDS` they are left alone, which only leaves more open.
    """
    concluded: dict[str, set[str]] = {}
    for rule in rules:
        for conclusion in rule.conclusions:
            concluded.setdefault(conclusion.atom.symbol, set()).add(f"rule {rule.name}")
    feeds: dict[str, set[str]] = {}
    for rule in rules:
        seen: set[str] = set()
        waiting = [f"rule {rule.name}"]
        while waiting:
            symbol = waiting.pop()
            if symbol not in seen:
                seen.add(symbol)
                meaning = definitions.get(symbol)
                for clause in meaning.clauses if meaning is not None else ():
                    waiting += [used for part in clause for used in _symbols(part)]
        feeds[f"rule {rule.name}"] = set().union(*(concluded.get(s, ()) for s in seen))
    rounds, last = 0, set(feeds)
    while last and rounds < _MOST_ROUNDS:
        rounds += 1
        last = {rule for rule, earlier in feeds.items() if earlier & last}
    return rounds


def recursive_predicates(predicates: Mapping[str, Predicate]) -> frozenset[str]:
    """The names of the predicates whose definition leads back to them."""
    uses: dict[str, set[str]] = {}
    for name, predicate in predicates.items():
        symbols = [s for c in predicate.clauses or () for part in c for s in _symbols(part)]
        symbols += [p.type for p in predicate.parameters if p.type is not None]
        uses[name] = {symbol for symbol in symbols if symbol in predicates}
    reached = {name: set(used) for name, used in uses.items()}
    for middle in predicates:
        for found in reached.values():
            if middle in found:
                found |= reached[middle]
    return frozenset(name for name, found in reached.items() if name in found)


def _symbols(part: Part) -> Iterator[str]:
    if isinstance(part, Literal):
        yield part.atom.symbol
    else:
        for count in (*counts(part.left), *counts(part.right)):
            yield count.atom.symbol


def term_variables(terms: Iterable[Term]) -> Iterator[str]:
    """The variables among some terms, as often as they stand there."""
    for term in terms:
        if isinstance(term, Var):
            yield term.name


def direct_variables(expression: Expression) -> Iterator[str]:
    """The variables of an expression that stand outside of counts."""
    if isinstance(expression, Var):
        yield expression.name
    elif isinstance(expression, AttributeOf):
        yield from term_variables((expression.of,))
    elif isinstance(expression, Arithmetic):
        yield from direct_variables(expression.left)
        yield from direct_variables(expression.right)


def counts(expression: Expression) -> Iterator[Count]:
    """The counts in an expression."""
    if isinstance(expression, Count):
        yield expression
    elif isinstance(expression, Arithmetic):
        yield from counts(expression.left)
        yield from counts(expression.right)


def occurrences(parameters: Iterable[str], clause: Clause) -> Counter[str]:
    """In how many places each variable is used.

    One place is a parameter list, a literal, a count or the rest of a comparison. A variable used
    in one place only is local to it.
    """
    found: Counter[str] = Counter(parameters)
    for part in clause:
        if isinstance(part, Literal):
            found.update(set(term_variables(part.atom.args)))
            continue
        found.update({*direct_variables(part.left), *direct_variables(part.right)})
        for count in (*counts(part.left), *counts(part.right)):
            found.update(set(term_variables(count.atom.args)))
    return found


def required(part: Part, places: Counter[str]) -> set[str]:
    """The variables that must be bound before the literal can be checked (not enumerated)."""
    if isinstance(part, Literal):
        names = set(term_variables(part.atom.args))
        return {name for name in names if places[name] > 1} if part.negated else names
    names = {*direct_variables(part.left), *direct_variables(part.right)}
    for count in (*counts(part.left), *counts(part.right)):
        names |= {name for name in term_variables(count.atom.args) if places[name] > 1}
    return names


def is_object(expression: Expression) -> bool:
    """Whether an expression stands for an object, not for a value."""
    return isinstance(expression, (Var, Individual))
