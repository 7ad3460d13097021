"""A closed-world evaluator by plain enumeration, as an oracle that shares no code with the product.

It reads a finished sequence of parse events into plain dictionaries and evaluates predicates by
trying all objects for all variables.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

from language_server.constraints.theory import (
    Arithmetic,
    Atom,
    AttributeOf,
    Comparison,
    Constant,
    Count,
    Literal,
    Theory,
    Var,
)
from language_server.syntax.events import Assign, Close, Event, Open, Refer

OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class NaiveModel:
    """The graph of a finished text; ``sound`` is False where textX would not resolve it."""

    def __init__(self, theory: Theory, events: list[Event]) -> None:
        self.theory = theory
        self.cls: list[str] = []
        self.links: dict[str, set[tuple[int, int]]] = {s: set() for s in theory.features}
        self.values: dict[tuple[str, int], Any] = {}
        self.sound = True
        names: dict[str, list[int]] = {}
        stack: list[int] = []
        pending: list[tuple[int, str, str, str]] = []
        for event in events:
            if isinstance(event, Open):
                self.cls.append(event.cls)
                node = len(self.cls) - 1
                if event.feature is not None:
                    self.links[self._symbol(stack[-1], event.feature)].add((stack[-1], node))
                stack.append(node)
            elif isinstance(event, Close):
                stack.pop()
            elif isinstance(event, Assign):
                self.values[self._symbol(stack[-1], event.feature), stack[-1]] = event.value
                if event.feature == "name":
                    names.setdefault(event.value, []).append(stack[-1])
            elif isinstance(event, Refer):
                pending.append((stack[-1], event.feature, event.target, event.name))
        for source, feature, target, name in pending:
            found = [n for n in names.get(name, []) if self.is_a(n, target)]
            if len(found) != 1:
                self.sound = False
            else:
                self.links[self._symbol(source, feature)].add((source, found[0]))

    def _symbol(self, node: int, feature: str) -> str:
        for symbol, info in self.theory.features.items():
            if info.name == feature and info.owner in self.theory.supertypes(self.cls[node]):
                return symbol
        raise KeyError(feature)

    def is_a(self, node: int, cls: str) -> bool:
        return cls in self.theory.supertypes(self.cls[node])

    def violations(self) -> set[tuple[str, tuple[int, ...]]]:
        found = set()
        for predicate in self.theory.predicates.values():
            if predicate.error:
                for row in self.rows(predicate.name):
                    found.add((predicate.name, row))
        return found

    def breaches(self) -> set[tuple[str, tuple[int, ...]]]:
        """For which objects the body of a propagation rule holds and a conclusion does not."""
        found = set()
        for rule in self.theory.rules:
            names = [parameter.var.name for parameter in rule.parameters]
            for row in itertools.product(range(len(self.cls)), repeat=len(names)):
                binding = dict(zip(names, row, strict=True))
                typed = all(
                    parameter.type is None or self.is_a(node, parameter.type)
                    for parameter, node in zip(rule.parameters, row, strict=True)
                )
                follows = typed and any(self.clause(clause, binding) for clause in rule.clauses)
                if follows and not all(self.part(each, binding) for each in rule.conclusions):
                    found.add((rule.name, row))
        return found

    def missing(self) -> set[tuple[str, int]]:
        """Objects without a value where one is demanded."""
        found = set()
        for symbol, info in self.theory.features.items():
            for node in range(len(self.cls)):
                if self.is_a(node, info.owner):
                    number = (
                        int((symbol, node) in self.values)
                        if info.is_attribute
                        else sum(1 for source, _ in self.links[symbol] if source == node)
                    )
                    if number < info.lower or (info.upper is not None and number > info.upper):
                        found.add((symbol, node))
        return found

    def rows(self, name: str) -> set[tuple[int, ...]]:
        predicate = self.theory.predicates[name]
        names = [parameter.var.name for parameter in predicate.parameters]
        rows = set()
        for row in itertools.product(range(len(self.cls)), repeat=len(names)):
            if self.holds(name, row):
                rows.add(row)
        return rows

    def holds(self, name: str, row: tuple[int, ...]) -> bool:
        predicate = self.theory.predicates[name]
        binding = dict(zip([p.var.name for p in predicate.parameters], row, strict=True))
        for parameter, node in zip(predicate.parameters, row, strict=True):
            if parameter.type and not self.atom(Atom(parameter.type, (Var("x"),)), {"x": node}):
                return False
        return any(self.clause(clause, binding) for clause in predicate.clauses or ())

    def clause(self, clause: Any, binding: dict[str, int]) -> bool:
        free = []
        for part in clause:
            for name in self.outer_variables(part, clause, binding):
                if name not in binding and name not in free:
                    free.append(name)
        return any(
            all(
                self.part(part, {**binding, **dict(zip(free, values, strict=True))})
                for part in clause
            )
            for values in itertools.product(range(len(self.cls)), repeat=len(free))
        )

    def outer_variables(self, part: Any, clause: Any, binding: dict[str, int]) -> list[str]:
        """Variables of a literal that are not local to it (to its negation or its count)."""
        if isinstance(part, Literal):
            names = [t.name for t in part.atom.args if isinstance(t, Var)]
            if not part.negated:
                return names
            return [n for n in names if self.uses(n, clause) > 1 or n in binding]
        return self.expression_variables(part.left, clause) + self.expression_variables(
            part.right, clause
        )

    def expression_variables(self, expression: Any, clause: Any) -> list[str]:
        if isinstance(expression, Var):
            return [expression.name]
        if isinstance(expression, AttributeOf):
            return [expression.of.name] if isinstance(expression.of, Var) else []
        if isinstance(expression, Arithmetic):
            return self.expression_variables(expression.left, clause) + self.expression_variables(
                expression.right, clause
            )
        if isinstance(expression, Count):
            return [
                t.name
                for t in expression.atom.args
                if isinstance(t, Var) and self.uses(t.name, clause) > 1
            ]
        return []

    def uses(self, name: str, clause: Any) -> int:
        number = 0
        for part in clause:
            if isinstance(part, Literal):
                number += name in {t.name for t in part.atom.args if isinstance(t, Var)}
            else:
                for side in (part.left, part.right):
                    if isinstance(side, Count):
                        number += name in {t.name for t in side.atom.args if isinstance(t, Var)}
                    else:
                        number += name in self.expression_variables(side, clause)
        return number

    def part(self, part: Any, binding: dict[str, int]) -> bool:
        if isinstance(part, Comparison):
            left, right = self.value(part.left, binding), self.value(part.right, binding)
            return left is not None and right is not None and OPERATORS[part.op](left, right)
        return self.exists(part.atom, binding) != part.negated

    def exists(self, atom: Atom, binding: dict[str, int]) -> bool:
        return self.number(atom, binding) > 0

    def number(self, atom: Atom, binding: dict[str, int]) -> int:
        free = list(
            dict.fromkeys(t.name for t in atom.args if isinstance(t, Var) and t.name not in binding)
        )
        return sum(
            self.atom(atom, {**binding, **dict(zip(free, values, strict=True))})
            for values in itertools.product(range(len(self.cls)), repeat=len(free))
        )

    def atom(self, atom: Atom, binding: dict[str, int]) -> bool:
        args = tuple(binding[t.name] for t in atom.args if isinstance(t, Var))
        if atom.symbol in self.theory.classes:
            return self.is_a(args[0], atom.symbol)
        pairs = self.links.get(atom.symbol)
        if atom.symbol == "contains":
            pairs = {
                pair
                for symbol, info in self.theory.features.items()
                if info.containment
                for pair in self.links[symbol]
            }
        if atom.closure:
            if pairs is None:
                pairs = self.rows(atom.symbol)  # type: ignore[assignment]
            assert pairs is not None
            seen: set[int] = set()
            waiting = [args[0]]
            while waiting:
                node = waiting.pop()
                for source, target in pairs:
                    if source == node and target not in seen:
                        seen.add(target)
                        waiting.append(target)
            return args[1] in seen
        if pairs is not None:
            return args in pairs
        return self.holds(atom.symbol, args)

    def value(self, expression: Any, binding: dict[str, int]) -> Any:
        if isinstance(expression, Constant):
            return expression.value
        if isinstance(expression, Var):
            return binding[expression.name]
        if isinstance(expression, AttributeOf):
            assert isinstance(expression.of, Var)
            node = binding[expression.of.name]
            info = self.theory.features[expression.attribute]
            if not self.is_a(node, info.owner):
                return None
            default = False if info.target == "boolean" else None
            return self.values.get((expression.attribute, node), default)
        if isinstance(expression, Count):
            return self.number(expression.atom, binding)
        left, right = self.value(expression.left, binding), self.value(expression.right, binding)
        if left is None or right is None:
            return None
        return {"+": operator.add, "-": operator.sub, "*": operator.mul}[expression.op](left, right)
