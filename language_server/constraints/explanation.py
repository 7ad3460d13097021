"""Why an error predicate holds: the facts that a violation rests on, and how far off it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from language_server.constraints.clauses import (
    Definition,
    Part,
    counts,
    is_object,
    occurrences,
    required,
    term_variables,
)
from language_server.constraints.state import State
from language_server.constraints.theory import (
    Arithmetic,
    Atom,
    AttributeOf,
    Clause,
    Comparison,
    Constant,
    Expression,
    Individual,
    Term,
    Var,
)
from language_server.constraints.values import calculate, holds
from language_server.partial_model import ObjectId

if TYPE_CHECKING:
    from language_server.constraints.constraint_set import ConstraintSet

Binding = dict[str, Any]
_DEEPEST = 6  # levels of predicates within predicates that an explanation goes down


class Explanation:
    """Explains rows of predicates over one model as it stands.

    Args:
        constraints: whose predicates are explained.
        state: of the evaluation.
    """

    def __init__(self, constraints: ConstraintSet, state: State) -> None:
        self._constraints = constraints
        self._compiler = constraints.compiler
        self._state = state
        self._model = state.model

    def facts(self, predicate: str, row: tuple[Any, ...]) -> tuple[str, ...]:
        """The facts (and absences of facts) by which the predicate holds for the row."""
        return tuple(dict.fromkeys(self._of_predicate(predicate, row, _DEEPEST)))

    def degree(self, predicate: str, row: tuple[Any, ...]) -> int:
        """How far the numbers that the predicate compares are apart, at least 1."""
        meaning = self._compiler.definitions[predicate]
        witness = self._witness(meaning, row)
        if witness is None:
            return 1
        clause, binding = witness
        return max([1, *(self._distance(part, binding) for part in clause)])

    def _distance(self, part: Part, binding: Binding) -> int:
        if not isinstance(part, Comparison):
            return 0
        if not any((*counts(part.left), *counts(part.right))):
            return 0
        left, right = self._value(part.left, binding), self._value(part.right, binding)
        if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
            return 0
        return int(abs(left - right)) + (part.op in ("==", "<=", ">="))

    # ---- witnesses ---------------------------------------------------------------------------

    def _witness(self, meaning: Definition, row: tuple[Any, ...]) -> tuple[Clause, Binding] | None:
        for clause in meaning.clauses:
            places = occurrences(meaning.parameters, clause)
            start = dict(zip(meaning.parameters, row, strict=True))
            for binding in self._solutions(list(clause), start, places):
                return clause, binding
        return None

    def _solutions(
        self, parts: list[Part], binding: Binding, places: Counter[str]
    ) -> Iterator[Binding]:
        if not parts:
            yield binding
            return
        part = min(parts, key=lambda part: self._rank(part, binding, places))
        rest = [other for other in parts if other is not part]
        if isinstance(part, Comparison):
            for extended in self._compared(part, binding, places):
                yield from self._solutions(rest, extended, places)
        elif part.negated:
            if not any(True for _ in self._matches(part.atom, binding)):
                yield from self._solutions(rest, binding, places)
        else:
            for extended in self._matches(part.atom, binding):
                yield from self._solutions(rest, extended, places)

    def _rank(self, part: Part, binding: Binding, places: Counter[str]) -> tuple[int, int]:
        unbound = len(required(part, places) - binding.keys())
        if isinstance(part, Comparison) or part.negated:
            return (0, 0) if not unbound else (2, unbound)
        of_class = part.atom.symbol in self._constraints.schema.classes
        return (1 if unbound == 0 or not of_class else 2, unbound)

    def _compared(
        self, part: Comparison, binding: Binding, places: Counter[str]
    ) -> Iterator[Binding]:
        unbound = sorted(required(part, places) - binding.keys())
        if unbound:
            for node in self._model.objects():
                yield from self._compared(part, {**binding, unbound[0]: node}, places)
            return
        if self._compare(part, binding):
            yield binding

    def _compare(self, part: Comparison, binding: Binding) -> bool:
        left, right = self._value(part.left, binding), self._value(part.right, binding)
        if is_object(part.left) and is_object(part.right):
            return bool((left == right) == (part.op == "=="))
        return holds(part.op, left, right)

    def _matches(self, atom: Atom, binding: Binding) -> Iterator[Binding]:
        """The bindings of the free variables under which an atom holds."""
        variables = tuple(dict.fromkeys(term_variables(atom.args)))
        name = self._compiler.auxiliary(Atom(atom.symbol, atom.args, atom.closure), variables)
        pattern = tuple(variable in binding for variable in variables)
        query = self._compiler.query(name, pattern, "now")
        bound = tuple(binding[variable] for variable in variables if variable in binding)
        free = [variable for variable in variables if variable not in binding]
        for row in sorted(self._state.rows(query, bound)):
            yield {**binding, **dict(zip(free, row, strict=True))}

    def _value(self, expression: Expression, binding: Binding) -> Any:
        if isinstance(expression, Constant):
            return expression.value
        if isinstance(expression, (Var, Individual)):
            return self._object(expression, binding)
        if isinstance(expression, AttributeOf):
            feature = self._constraints.schema.features[expression.attribute]
            return self._state.now_value(feature, self._object(expression.of, binding))
        if isinstance(expression, Arithmetic):
            left, right = (
                self._value(side, binding) for side in (expression.left, expression.right)
            )
            return calculate(expression.op, left, right)
        return sum(1 for _ in self._matches(expression.atom, binding))

    def _object(self, term: Term, binding: Binding) -> Any:
        if isinstance(term, Var):
            return binding[term.name]
        return self._compiler.object_number(term.name) if isinstance(term, Individual) else None

    # ---- facts -------------------------------------------------------------------------------

    def _of_predicate(self, predicate: str, row: tuple[Any, ...], depth: int) -> Iterator[str]:
        meaning = self._compiler.definitions.get(predicate)
        witness = None if meaning is None or depth == 0 else self._witness(meaning, row)
        if witness is None:
            yield f"{_plain(predicate)}({', '.join(map(self._label, row))})"
            return
        clause, binding = witness
        for part in clause:
            if isinstance(part, Comparison):
                yield from self._of_comparison(part, binding, depth)
            elif part.negated:
                yield f"no {self._written(part.atom, binding)}"
            else:
                yield from self._of_atom(part.atom, binding, depth)

    def _of_atom(self, atom: Atom, binding: Binding, depth: int) -> Iterator[str]:
        if atom.symbol in self._constraints.schema.classes:
            return  # of what class an object is need not be explained
        row = tuple(self._object(term, binding) for term in atom.args)
        if atom.closure:
            path = self._path(atom.symbol, row[0], row[1])
            for step in pairwise(path):
                yield from self._of_step(atom.symbol, step, depth)
        else:
            yield from self._of_step(atom.symbol, row, depth)

    def _of_step(self, symbol: str, row: tuple[Any, ...], depth: int) -> Iterator[str]:
        if symbol in self._compiler.definitions:
            yield from self._of_predicate(symbol, row, depth - 1)
        else:
            yield f"{_plain(symbol)}({', '.join(map(self._label, row))})"

    def _path(self, symbol: str, source: ObjectId, target: ObjectId) -> list[ObjectId]:
        """A shortest path from the source to the target, both included."""
        name = self._compiler.wrapped(symbol)
        step = self._compiler.query(name, (True, False), "now")
        came: dict[ObjectId, ObjectId] = {}
        waiting = [source]
        for node in waiting:
            for (after,) in sorted(self._state.rows(step, (node,))):
                if after not in came:
                    came[after] = node
                    waiting.append(after)
            if target in came:
                break
        path = [target]
        while target in came:
            path.append(came[path[-1]])
            if path[-1] == source:
                break
        return path[::-1]

    def _of_comparison(self, part: Comparison, binding: Binding, depth: int) -> Iterator[str]:
        for side in (part.left, part.right):
            for attribute in _attributes(side):
                node = self._object(attribute.of, binding)
                value = self._value(attribute, binding)
                yield f"{_plain(attribute.attribute)}({self._label(node)}): {value!r}"
            for count in counts(side):
                for match in self._matches(count.atom, binding):
                    yield from self._of_atom(count.atom, match, depth)
                if not any(True for _ in self._matches(count.atom, binding)):
                    yield f"no {self._written(count.atom, binding)}"

    def _written(self, atom: Atom, binding: Binding) -> str:
        words = []
        for term in atom.args:
            if isinstance(term, Var):
                words.append(self._label(binding[term.name]) if term.name in binding else "_")
            else:
                words.append(self._label(self._object(term, binding)))
        return f"{_plain(atom.symbol)}{'+' if atom.closure else ''}({', '.join(words)})"

    def _label(self, value: Any) -> str:
        return self._model.label(value) if value in self._model.nodes else str(value)


def _attributes(expression: Expression) -> Iterator[AttributeOf]:
    if isinstance(expression, AttributeOf):
        yield expression
    elif isinstance(expression, Arithmetic):
        yield from _attributes(expression.left)
        yield from _attributes(expression.right)


def _plain(symbol: str) -> str:
    return symbol.rsplit("::", 1)[-1]
