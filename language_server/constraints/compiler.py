"""Compiles predicates to Python: nested loops over the indexes of the model, cheapest part first.

A query is a predicate with some parameters bound, under one of three views:

- ``now``: what holds if the text ended here (two-valued, everything not stated is false);
- ``must``: what holds in every completion; a negated part asks ``may`` and vice versa;
- ``may``: what holds in some completion as far as single facts tell; ``C::new`` objects stand for
  what the text may still add.

``now`` and ``must`` queries compute all their rows and note every cell that they read. ``may``
queries stop at their first row (the witness) and note the cells that it rests on: further text
only takes possibilities away, so an answer *no* is final, and *yes* holds while the witness does.
What a ``now`` query reads of its only argument is known beforehand (``Compiler.own``), not noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from language_server.constraints.clauses import (
    ALL,
    EXACT,
    Definition,
    conclusion_clause,
    definition,
    rounds_to_fixed_point,
    term_variables,
)
from language_server.constraints.query import Closure, Pattern, Query, Row, View
from language_server.constraints.query_code import QueryCode
from language_server.constraints.theory import Atom, PropagationRule, Theory, Var
from language_server.constraints.theory import Literal as AtomLiteral
from language_server.partial_model import NEW, Schema


class Compiler:
    """All queries of one theory; each is compiled when it is first asked for."""

    def __init__(self, theory: Theory, schema: Schema) -> None:
        self.theory = theory
        self.schema = schema
        self.definitions: dict[str, Definition] = {
            predicate.name: definition(
                theory, predicate.name, predicate.parameters, predicate.clauses
            )
            for predicate in theory.predicates.values()
            if predicate.clauses is not None
        }
        self._concluded: dict[str, list[tuple[PropagationRule, AtomLiteral]]] = {}
        for rule in theory.rules:
            name = f"rule {rule.name}"
            self.definitions[name] = definition(theory, name, rule.parameters, rule.clauses)
            for conclusion in rule.conclusions:
                self._concluded.setdefault(conclusion.atom.symbol, []).append((rule, conclusion))
        self.rounds = rounds_to_fixed_point(theory.rules, self.definitions)
        self.extents: dict[tuple[str, View], Query] = {}
        self.sealed = False  # no further extents: the queries to keep up to date are settled
        #: The queries that read what is stated of their only argument at some end of a feature.
        self.own: dict[str, tuple[Query, ...]] = {}
        self.asked: set[Query] = set()  # by other queries
        self._queries: dict[tuple[str, Pattern, View], Query] = {}
        self._closures: dict[tuple[str, View, bool], Closure] = {}

    def query(self, name: str, pattern: Pattern, view: View) -> Query:
        """The compiled query for a predicate of the theory or of the compiler's own making."""
        known = self._queries.get((name, pattern, view))
        if known is None:
            known = self._queries[name, pattern, view] = Query(name, pattern, view)
            if name in self.definitions:
                QueryCode(self, self.definitions[name], known).compile()
            else:
                is_open = view == "may" and self.is_concluded_only(name)
                known.run = _anything(pattern) if is_open else _base_predicate(name, pattern, view)
        return known

    def reads_own(self, query: Query, key: str) -> None:
        """Note that a query reads what is stated of its only argument at an end of a feature."""
        known = self.own.get(key, ())
        if query not in known:
            self.own[key] = (*known, query)

    def extent(self, name: str, view: View) -> Query:
        """The query by which the whole extent of a predicate is maintained, anchor by anchor."""
        known = self.extents.get((name, view))
        if known is None:
            arity = len(self.parameters(name))
            pattern = tuple(position == 0 for position in range(arity))
            known = self.query(name, pattern, view)
            self.extents[name, view] = known
        return known

    def keeps(self, name: str, view: View) -> bool:
        """Whether the whole extent is, or can still be decided to be, kept up to date."""
        return not self.sealed or (name, view) in self.extents

    def closure(self, symbol: str, view: View, forward: bool, rounds: int) -> Closure:
        """The closure of a reference or a binary predicate."""
        name = self.wrapped(symbol, rounds)
        known = self._closures.get((name, view, forward))
        if known is None:
            pattern = (True, False) if forward else (False, True)
            step = self.query(name, pattern, view)
            check = self.query(name, (True, True), view) if view == "may" else step
            known = Closure(symbol, view, forward, step, check)
            self._closures[name, view, forward] = known
        return known

    @property
    def closures(self) -> Iterable[Closure]:
        """All closures that are asked for."""
        return self._closures.values()

    def parameters(self, name: str) -> tuple[str, ...]:
        """The parameters of a predicate."""
        if name in self.definitions:
            return self.definitions[name].parameters
        return tuple(parameter.var.name for parameter in self.theory.predicates[name].parameters)

    def wrapped(self, symbol: str, rounds: int = ALL) -> str:
        """A predicate that says the same as a class, a reference or a predicate."""
        if symbol in self.theory.predicates or symbol in self.definitions:
            return symbol
        arity = 1 if symbol in self.theory.classes or symbol == "exists" else 2
        variables = tuple(Var(f"p{position}") for position in range(arity))
        return self.auxiliary(Atom(symbol, variables), tuple(v.name for v in variables), rounds)

    def refined(self, symbol: str, view: View, rounds: int = ALL) -> str:
        """What the symbol means together with what propagation rules conclude of it.

        Under ``must`` that is also what rules demand, under ``may`` not what they exclude. In the
        bodies of these rules one round less has been applied. Of what is neither stated in texts
        nor defined, rules decide ``now`` as well.
        """
        if rounds == EXACT:
            return symbol
        rounds = min(rounds, self.rounds)
        decide = view != "now" or self.is_concluded_only(symbol)
        found = self._concluded.get(symbol, ()) if rounds and decide else ()
        wanted = [(rule, atom) for rule, atom in found if atom.negated == (view == "may")]
        itself = self._after(symbol, rounds)
        if not wanted:
            return itself
        name = f"{itself} {view} after {rounds}"
        if name not in self.definitions:
            parameters = tuple(f"p{i}" for i in range(len(wanted[0][1].atom.args)))
            stated = AtomLiteral(Atom(itself, tuple(Var(p) for p in parameters)))
            concluded = []
            for rule, conclusion in wanted:
                names = tuple(parameter.var.name for parameter in rule.parameters)
                body = self._after(f"rule {rule.name}", rounds - 1)
                concluded.append(conclusion_clause(body, names, conclusion.atom))
            if view != "may":
                clauses = ((stated,), *concluded)
            else:
                excluded = f"{symbol} excluded after {rounds}"
                self.definitions[excluded] = Definition(
                    excluded, parameters, tuple(concluded), EXACT
                )
                never = AtomLiteral(Atom(excluded, stated.atom.args), negated=True)
                clauses = ((stated, never),)
            self.definitions[name] = Definition(name, parameters, clauses, EXACT)
        return name

    def is_concluded_only(self, symbol: str) -> bool:
        """Whether it is a predicate without a definition that rules demand."""
        return symbol not in self.definitions and any(
            symbol in self.theory.predicates and not conclusion.negated
            for _, conclusion in self._concluded.get(symbol, ())
        )

    def _after(self, symbol: str, rounds: int) -> str:
        """A predicate with that many rounds of rules applied to what its definition rests on."""
        meaning = self.definitions.get(symbol)
        if meaning is None or meaning.rounds != ALL or rounds == self.rounds:
            return symbol
        name = f"{symbol} after {rounds}"
        if name not in self.definitions:
            self.definitions[name] = replace(meaning, name=name, rounds=rounds)
        return name

    def auxiliary(self, atom: Atom, parameters: tuple[str, ...], rounds: int = ALL) -> str:
        """A predicate of its own for an atom, with the given variables as parameters."""
        names: dict[str, str] = {}
        for name in (*parameters, *term_variables(atom.args)):
            names.setdefault(name, f"p{len(names)}")
        renamed = Atom(
            atom.symbol,
            tuple(Var(names[t.name]) if isinstance(t, Var) else t for t in atom.args),
            atom.closure,
        )
        plus = "+" if atom.closure else ""
        inside = ", ".join(getattr(t, "name", None) or repr(t) for t in renamed.args)
        level = "" if rounds >= self.rounds else f"{rounds}: "
        name = f"{level}{atom.symbol}{plus}({inside})/{len(parameters)}"
        if name not in self.definitions:
            self.definitions[name] = Definition(
                name,
                tuple(names[parameter] for parameter in parameters),
                ((AtomLiteral(renamed),),),
                ALL if rounds >= self.rounds else rounds,
            )
        return name

    def is_derived(self, symbol: str) -> bool:
        """Whether the symbol is a predicate (the theory's or an auxiliary one)."""
        return symbol in self.definitions or symbol in self.theory.predicates

    def object_number(self, name: str) -> int:
        """The object that an individual's name stands for."""
        if name in self.schema.individuals:
            return self.schema.individuals[name]
        if name.endswith(NEW) and name[: -len(NEW)] in self.schema.new:
            return self.schema.new[name[: -len(NEW)]]
        raise KeyError(name)


def _base_predicate(name: str, pattern: Pattern, view: View) -> Callable[..., Any]:
    """A predicate without definition: what is asserted or concluded of it."""

    def run(state: Any, *bound: Any) -> Any:
        rows = state.base_rows(name, pattern, view, bound)
        return rows if view == "may" else frozenset(rows)

    return run


def _anything(pattern: Pattern) -> Callable[..., Iterator[Row]]:
    """A predicate of which everything may hold."""
    free = pattern.count(False)

    def run(state: Any, *_: Any) -> Iterator[Row]:
        return product(state.everything("may"), repeat=free)

    return run
