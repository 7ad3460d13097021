"""Which facts can lift a violation: what text may still state to make an error predicate false.

Text only ever adds facts. So an error predicate is lifted by facts that its definition needs to be
false: those under an odd number of negations, and whatever a count or an attribute depends on.
"""

from __future__ import annotations

from language_server.constraints.theory import (
    Arithmetic,
    Atom,
    AttributeOf,
    Clause,
    Comparison,
    Count,
    Expression,
    Theory,
)


def repairing_symbols(theory: Theory, predicate: str) -> frozenset[str]:
    """The classes, references and attributes whose further facts may make a predicate false.

    Args:
        theory: where the predicate is defined.
        predicate: an error predicate, that of a scope, or any other one.

    Returns:
        Names of classes and symbols of features (``Owner::feature``); a superset of what is needed.
    """
    found: set[str] = set()
    seen: set[tuple[str, bool]] = set()
    waiting = [(predicate, False)]
    while waiting:
        symbol, wanted = waiting.pop()
        if (symbol, wanted) in seen:
            continue
        seen.add((symbol, wanted))
        definition = theory.predicates.get(symbol) or theory.scope_predicates.get(symbol)
        if definition is not None and definition.clauses is not None:
            for clause in definition.clauses:
                waiting.extend(_needed(clause, wanted, found))
        elif wanted and (symbol in theory.features or symbol in theory.classes):
            found.add(symbol)
            opposite = theory.features[symbol].opposite if symbol in theory.features else None
            if opposite is not None:
                found.add(opposite)
    return frozenset(found)


def _needed(clause: Clause, wanted: bool, attributes: set[str]) -> list[tuple[str, bool]]:
    """What the parts of a clause must become so that the clause gets the wanted value."""
    needed: list[tuple[str, bool]] = []
    for part in clause:
        if isinstance(part, Comparison):
            for atom in _counted(part.left, attributes) + _counted(part.right, attributes):
                needed += [(atom.symbol, True), (atom.symbol, False)]
        else:
            needed.append((part.atom.symbol, wanted != part.negated))
    return needed


def _counted(expression: Expression, attributes: set[str]) -> list[Atom]:
    """The atoms that an expression counts; its attributes are added to `attributes`."""
    match expression:
        case Count(atom):
            return [atom]
        case AttributeOf(attribute, _):
            attributes.add(attribute)
        case Arithmetic(_, left, right):
            return _counted(left, attributes) + _counted(right, attributes)
    return []
