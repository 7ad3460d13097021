"""Compiles predicates to Python: nested loops over the indexes of the model, cheapest part first.

A query is a predicate with some parameters bound, under one of three views:

- ``now``: what holds if the text ended here (two-valued, everything not stated is false);
- ``must``: what holds in every completion; a negated part asks ``may`` and vice versa;
- ``may``: what holds in some completion as far as single facts tell; ``C::new`` objects stand for
  what the text may still add.

``now`` and ``must`` queries compute all their rows and note every cell that they read. ``may``
queries stop at their first row (the witness) and note the cells that it rests on: further text
only takes possibilities away, so an answer *no* is final, and *yes* holds while the witness does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from language_server.constraints.clauses import (
    Definition,
    conclusion_clause,
    definition,
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
        self.extents: dict[tuple[str, View], Query] = {}
        self.sealed = False  # no further extents: the queries to keep up to date are settled
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
                known.run = _base_predicate(name, pattern, view)
        return known

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

    def closure(self, symbol: str, view: View, forward: bool, plain: bool) -> Closure:
        """The closure of a reference or a binary predicate."""
        name = self.wrapped(symbol, plain)
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

    def wrapped(self, symbol: str, plain: bool) -> str:
        """A predicate that says the same as a class, a reference or a predicate."""
        if symbol in self.theory.predicates or symbol in self.definitions:
            return symbol
        arity = 1 if symbol in self.theory.classes or symbol == "exists" else 2
        variables = tuple(Var(f"p{position}") for position in range(arity))
        return self.auxiliary(Atom(symbol, variables), tuple(v.name for v in variables), plain)

    def plain(self, symbol: str) -> str:
        """What the symbol means without what propagation rules conclude."""
        if not self._concluded or symbol not in self.definitions or symbol.startswith("plain "):
            return symbol
        name = f"plain {symbol}"
        if name not in self.definitions:
            meaning = self.definitions[symbol]
            self.definitions[name] = Definition(name, meaning.parameters, meaning.clauses, True)
        return name

    def refined(self, symbol: str, view: View) -> str:
        """What the symbol means together with what propagation rules conclude of it.

        Under ``must`` that is also what rules demand, under ``may`` not what they exclude. The
        bodies of rules mean what is stated and defined.
        """
        rules = self._concluded.get(symbol, ())
        wanted = [(r, c) for r, c in rules if c.negated == (view == "may")]
        if view == "now" or not wanted:
            return symbol
        name = f"{symbol} {view}"
        if name not in self.definitions:
            raw = self.plain(symbol)
            parameters = tuple(f"p{i}" for i in range(len(wanted[0][1].atom.args)))
            itself = AtomLiteral(Atom(raw, tuple(Var(p) for p in parameters)))
            concluded = []
            for rule, conclusion in wanted:
                names = tuple(parameter.var.name for parameter in rule.parameters)
                body = self.plain(f"rule {rule.name}")
                concluded.append(conclusion_clause(body, names, conclusion.atom))
            if view == "must":
                clauses = ((itself,), *concluded)
            else:
                excluded = f"{symbol} excluded"
                self.definitions[excluded] = Definition(
                    excluded, parameters, tuple(concluded), True
                )
                never = AtomLiteral(Atom(excluded, itself.atom.args), negated=True)
                clauses = ((itself, never),)
            self.definitions[name] = Definition(name, parameters, clauses, True)
        return name

    def auxiliary(self, atom: Atom, parameters: tuple[str, ...], plain: bool = False) -> str:
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
        name = f"{'plain ' if plain else ''}{atom.symbol}{plus}({inside})/{len(parameters)}"
        if name not in self.definitions:
            self.definitions[name] = Definition(
                name,
                tuple(names[parameter] for parameter in parameters),
                ((AtomLiteral(renamed),),),
                plain,
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


def _base_predicate(name: str, pattern: Pattern, view: View) -> Callable[..., Iterator[Row]]:
    """A predicate without definition: what is asserted or concluded of it."""

    def run(state: Any, *bound: Any) -> Iterator[Row]:
        return state.base_rows(name, pattern, view, bound)  # type: ignore[no-any-return]

    return run
