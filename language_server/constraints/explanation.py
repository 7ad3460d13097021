"""Why an error predicate holds: the facts that a violation rests on, and how far off it is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

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
    Count,
    Expression,
    Individual,
    Term,
    Var,
)
from language_server.constraints.values import calculate, holds, inverse, near
from language_server.partial_model import ObjectId

if TYPE_CHECKING:
    from language_server.constraints.constraint_set import ConstraintSet

Binding = dict[str, Any]
_WITNESSES = 30  # ways in which a predicate holds that are compared
_DEEPEST = 6  # levels of predicates within predicates that an explanation goes down


class Fact(NamedTuple):
    """A fact that a violation rests on, or that there is none.

    Attributes:
        text: as a person reads it.
        symbol: the feature (or the predicate) it is about; '' where it is about a built-in.
        row: the objects; None for those of which an absence says that there is none.
        stated: whether it is a fact, and not an absence.
        instead: values of an attribute with which what compares it would not hold, or nearly so.
    """

    text: str
    symbol: str
    row: tuple[ObjectId | None, ...]
    stated: bool = True
    instead: tuple[Any, ...] = ()


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

    def core(self, predicate: str, row: tuple[Any, ...]) -> tuple[Fact, ...]:
        """The facts (and absences of facts) by which the predicate holds for the row.

        It follows from them alone, and of what is counted only as many are named as it takes.
        """
        found = self._of_predicate(predicate, row, _DEEPEST)
        return tuple({fact.text: fact for fact in found}.values())

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
        """A clause that holds, and for which objects: of the first ones that with fewest facts."""
        ways = (
            (clause, binding)
            for clause in meaning.clauses
            for binding in self._solutions(
                list(clause),
                dict(zip(meaning.parameters, row, strict=True)),
                occurrences(meaning.parameters, clause),
            )
        )
        return min(islice(ways, _WITNESSES), key=lambda way: self._weight(*way), default=None)

    def _weight(self, clause: Clause, binding: Binding) -> int:
        """How many facts a clause names for these objects, what is counted or derived as one."""
        steps: set[tuple[Any, ...]] = set()
        others = 0
        for part in clause:
            if isinstance(part, Comparison) or part.negated:
                others += 1
            elif part.atom.symbol not in self._constraints.schema.classes:
                row = tuple(self._object(term, binding) for term in part.atom.args)
                path = self._path(part.atom.symbol, *row) if part.atom.closure else []
                rows = list(pairwise(path)) if part.atom.closure else [row]
                steps.update((part.atom.symbol, *each) for each in rows)
        return others + len(steps)

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
            return (0, 0) if not unbound else (3, unbound)  # other parts bind it first
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
        for row in self._in_order(self._state.rows(query, bound)):
            yield {**binding, **dict(zip(free, row, strict=True))}

    def _in_order(self, rows: Iterable[tuple[ObjectId, ...]]) -> list[tuple[ObjectId, ...]]:
        return sorted(rows, key=lambda row: [self._model.turn(node) for node in row])

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

    def _of_predicate(self, predicate: str, row: tuple[Any, ...], depth: int) -> Iterator[Fact]:
        meaning = self._compiler.definitions.get(predicate)
        witness = None if meaning is None or depth == 0 else self._witness(meaning, row)
        if witness is None:
            yield self._stated(predicate, row)
            return
        clause, binding = witness
        for part in clause:
            if isinstance(part, Comparison):
                yield from self._of_comparison(part, binding, depth)
            elif part.negated:
                yield self._absent(part.atom, binding)
            else:
                yield from self._of_atom(part.atom, binding, depth)

    def _of_atom(self, atom: Atom, binding: Binding, depth: int) -> Iterator[Fact]:
        if atom.symbol in self._constraints.schema.classes:
            return  # of what class an object is need not be explained
        row = tuple(self._object(term, binding) for term in atom.args)
        if atom.closure:
            path = self._path(atom.symbol, row[0], row[1])
            for step in pairwise(path):
                yield from self._of_step(atom.symbol, step, depth)
        else:
            yield from self._of_step(atom.symbol, row, depth)

    def _of_step(self, symbol: str, row: tuple[Any, ...], depth: int) -> Iterator[Fact]:
        if symbol in self._compiler.definitions:
            yield from self._of_predicate(symbol, row, depth - 1)
        else:
            yield self._stated(symbol, row)

    def _stated(self, symbol: str, row: tuple[Any, ...]) -> Fact:
        return Fact(f"{_plain(symbol)}({', '.join(map(self._label, row))})", symbol, row)

    def _absent(self, atom: Atom, binding: Binding, but: str = "") -> Fact:
        row = tuple(
            self._object(term, binding)
            if not isinstance(term, Var) or term.name in binding
            else None
            for term in atom.args
        )
        return Fact(f"no {self._written(atom, binding)}{but}", atom.symbol, row, stated=False)

    def _path(self, symbol: str, source: ObjectId, target: ObjectId) -> list[ObjectId]:
        """A shortest path from the source to the target, both included."""
        name = self._compiler.wrapped(symbol)
        step = self._compiler.query(name, (True, False), "now")
        came: dict[ObjectId, ObjectId] = {}
        waiting = [source]
        for node in waiting:
            for (after,) in self._in_order(self._state.rows(step, (node,))):
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

    def _of_comparison(self, part: Comparison, binding: Binding, depth: int) -> Iterator[Fact]:
        """The values that are compared, of counts what makes them as large or as small."""
        op, left, right = part.op, part.left, part.right
        values = [self._value(side, binding) for side in (left, right)]
        if op == "!=" and all(isinstance(value, (int, float)) for value in values):
            op = "<" if values[0] < values[1] else ">"
        if op in ("<", "<="):
            op, left, right = ">" if op == "<" else ">=", right, left
            values.reverse()
        value, other = values
        if op in (">", ">="):
            least = math.floor(other) + 1 if op == ">" else math.ceil(other)
            yield from self._of_number(left, binding, depth, least, False, other)
            yield from self._of_number(right, binding, depth, 0, True, value)
        else:
            yield from self._of_number(left, binding, depth, None, True, other)
            yield from self._of_number(right, binding, depth, None, True, value)

    def _of_number(
        self,
        side: Expression,
        binding: Binding,
        depth: int,
        least: int | None,
        bounded: bool,
        wanted: Any,
    ) -> Iterator[Fact]:
        """What makes a side of a comparison as large or as small as it is.

        Args:
            least: how many of what is counted it takes; None for all.
            bounded: whether there must not be more.
            wanted: the value with which both sides would be equal, None where there is none.
        """
        if isinstance(side, Arithmetic):
            left, right = (self._value(part, binding) for part in (side.left, side.right))
            ways = (
                (side.left, inverse(side.op, wanted, right=right)),
                (side.right, inverse(side.op, wanted, left=left)),
            )
            for part, instead in ways:
                yield from self._of_number(part, binding, depth, None, True, instead)
        elif isinstance(side, AttributeOf):
            node, value = self._object(side.of, binding), self._value(side, binding)
            text = f"{_plain(side.attribute)}({self._label(node)}): {value!r}"
            yield Fact(text, side.attribute, (node,), True, near(value, wanted))
        elif isinstance(side, Count):
            matches = list(self._matches(side.atom, binding))
            for match in matches[: None if least is None else max(least, 0)]:
                yield from self._of_atom(side.atom, match, depth)
            if bounded:
                others = ", ".join(self._written(side.atom, match) for match in matches)
                but = f" but {others}" if others else ""
                yield self._absent(side.atom, binding, but)

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


def _plain(symbol: str) -> str:
    return symbol.rsplit("::", 1)[-1]
