"""The code of a query: nested loops over the indexes of the model, cheapest part first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from language_server.constraints.clauses import (
    Definition,
    Part,
    direct_variables,
    is_object,
    occurrences,
    required,
    term_variables,
)
from language_server.constraints.query import DUAL, Closure, Query, View
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
from language_server.constraints.theory import Literal as AtomLiteral
from language_server.constraints.values import ABSENT, calculate, decided, holds
from language_server.partial_model import UNSAID

if TYPE_CHECKING:
    from language_server.constraints.compiler import Compiler


class QueryCode:
    """The code of one query: nested loops over the indexes of the model, cheapest part first."""

    def __init__(self, compiler: Compiler, meaning: Definition, query: Query) -> None:
        self._compiler = compiler
        self._theory = compiler.theory
        self._schema = compiler.schema
        self._meaning = meaning
        self._query = query
        self._view: View = query.view
        self._rounds = meaning.rounds
        self._lines: list[str] = []
        self._depth = 1
        self._constants: dict[str, Any] = {
            "NONE": frozenset(),
            "UNSAID": UNSAID,
            "ABSENT": ABSENT,
            "holds": holds,
            "decided": decided,
            "calculate": calculate,
            "islice": islice,
        }
        self._names: dict[int, str] = {}
        self._stratum = 0
        self._places: Counter[str] = Counter()
        self._fresh = 0
        #: The code of the only argument of a ``now`` query.
        self._anchor = "a0" if query.view == "now" and sum(query.pattern) == 1 else None

    # ---- the whole function ------------------------------------------------------------------

    def compile(self) -> None:
        """Fill in the query's ``run`` and ``stratum``."""
        parameters = self._meaning.parameters
        bound = [
            name for name, is_bound in zip(parameters, self._query.pattern, strict=True) if is_bound
        ]
        free = [name for name in parameters if name not in bound]
        arguments = {name: f"a{position}" for position, name in enumerate(bound)}
        self._emit("deps = state.deps")
        self._emit("nodes = state.nodes")
        self._emit("stated = state.stated")
        if self._anchor is not None:
            self._emit(f"own = stated.get({self._anchor}, UNSAID)")
        self._emit("mark = len(deps)" if self._view == "may" else "rows = set()")
        for clause in self._meaning.clauses:
            self._clause(clause, dict(arguments), free)
            self._depth = 1
            if self._view == "may":
                self._emit("del deps[mark:]")
        if self._view == "may":
            self._emit("return")
            self._emit("yield")
        else:
            self._emit("return frozenset(rows) if rows else NONE")
        head = f"def run(state, {', '.join(arguments.values())}):"
        source = "\n".join((head, *self._lines))
        namespace = dict(self._constants)
        exec(compile(source, f"<{self._query!r}>", "exec"), namespace)
        self._query.run = namespace["run"]
        self._query.stratum = self._stratum + 1

    def _clause(self, clause: Clause, names: dict[str, str], free: list[str]) -> None:
        self._places = occurrences(self._meaning.parameters, clause)
        waiting: list[Part] = list(clause)
        while waiting:
            part = min(waiting, key=lambda part: self._cost(part, names))
            waiting.remove(part)
            self._part(part, names)
        for name in free:
            if name not in names:
                self._loop_all(name, names)
        row = f"({''.join(names[name] + ', ' for name in free)})"
        self._emit(f"yield {row}" if self._view == "may" else f"rows.add({row})")

    def _emit(self, line: str) -> None:
        self._lines.append("    " * self._depth + line)

    def _block(self, line: str) -> None:
        self._emit(line)
        self._depth += 1

    def _constant(self, value: Any) -> str:
        """A name for a value in the compiled function."""
        if value is True or value is False or isinstance(value, (int, str)):
            return repr(value)
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"k{len(self._names)}"
            self._constants[name] = value
        return name

    def _ask(self, query: Query | Closure) -> str:
        self._stratum = max(self._stratum, query.stratum)
        self._compiler.asked.add(query.step if isinstance(query, Closure) else query)
        return self._constant(query)

    def _new_name(self) -> str:
        self._fresh += 1
        return f"v{self._fresh}"

    # ---- order -------------------------------------------------------------------------------

    def _cost(self, part: Part, names: Mapping[str, str]) -> float:
        unbound = required(part, self._places) - names.keys()
        if isinstance(part, Comparison):
            if not unbound:
                return 1.5 if any(isinstance(e, Count) for e in (part.left, part.right)) else 0.5
            if self._binding(part, names) is not None:
                return 0.1
            return 2.5 if self._indexed(part, names) is not None else 200.0
        if part.negated:
            return 1.2 if not unbound else 100.0
        atom = part.atom
        view, _ = self._effective(part)
        if not unbound:
            if atom.closure:
                return 2.2
            return 0.3 if atom.symbol in self._theory.classes else 1.0
        if atom.symbol == "exists":
            return 60.0
        if atom.symbol in self._theory.classes:
            info = self._schema.classes[atom.symbol]
            return 9.5 if view == "may" or not info.individuals else 3.5
        some_bound = any(not isinstance(t, Var) or t.name in names for t in atom.args)
        if atom.closure:
            return 9.0 if some_bound else 30.0
        feature = self._schema.features.get(atom.symbol)
        if feature is not None:
            if not some_bound:
                return 10.0
            first = atom.args[0]
            if not isinstance(first, Var) or first.name in names:
                return 2.0 if feature.upper == 1 else 3.0
            return 4.0
        return 5.0 if some_bound else 8.5

    def _binding(self, part: Comparison, names: Mapping[str, str]) -> tuple[str, Term] | None:
        """``x == y`` with one side bound gives the other."""
        if part.op != "==":
            return None
        for one, other in ((part.left, part.right), (part.right, part.left)):
            if isinstance(one, Var) and one.name not in names and is_object(other):
                if self._view != "now":
                    return None  # objects not told apart so far may be equal
                if not isinstance(other, Var) or other.name in names:
                    return one.name, other  # type: ignore[return-value]
        return None

    def _indexed(
        self, part: Comparison, names: Mapping[str, str]
    ) -> tuple[AttributeOf, Expression] | None:
        """``attribute(x) == value`` with only ``x`` unbound can be looked up."""
        if part.op != "==" or self._view == "may":
            return None
        for one, other in ((part.left, part.right), (part.right, part.left)):
            if (
                isinstance(one, AttributeOf)
                and isinstance(one.of, Var)
                and one.of.name not in names
                and self._schema.features[one.attribute].looked_up
                and (
                    self._schema.features[one.attribute].target != "boolean"
                    or other == Constant(True)  # a false one need not be stated
                )
                and not isinstance(other, Count)
                and all(name in names for name in direct_variables(other))
            ):
                return one, other
        return None

    # ---- parts -------------------------------------------------------------------------------

    def _effective(self, part: AtomLiteral) -> tuple[View, bool]:
        """Under which view the atom is asked, and whether that view was written explicitly."""
        if self._view == "now":
            return "now", False
        outer, inner = part.modality, part.atom.modality
        if not part.negated:
            asked = outer or inner
            return (asked, True) if asked else (self._view, False)
        if inner is not None:
            return inner, True
        if outer is not None:
            return DUAL[outer], True
        return DUAL[self._view], False

    def _part(self, part: Part, names: dict[str, str]) -> None:
        if isinstance(part, Comparison):
            self._comparison(part, names)
            return
        view, _ = self._effective(part)
        atom = self._meant(part.atom, view)
        if part.negated:
            self._negated(atom, view, names)
        else:
            self._positive(atom, view, names)

    def _meant(self, atom: Atom, view: View) -> Atom:
        """The atom with what the rounds of propagation rules conclude of its symbol."""
        symbol = self._compiler.refined(atom.symbol, view, self._rounds)
        return atom if symbol == atom.symbol else replace(atom, symbol=symbol)

    def _positive(self, atom: Atom, view: View, names: dict[str, str]) -> None:
        if view == "may" and self._view == "must":
            # Possible rows inside of a certain query: enumerated as a predicate of its own.
            self._possible(atom, names)
        elif atom.closure:
            self._closure(atom, view, names)
        elif atom.symbol == "exists":
            self._exists(atom, view, names)
        elif atom.symbol in self._theory.classes:
            self._class(atom, view, names)
        elif self._compiler.is_derived(atom.symbol):
            self._rows(atom.symbol, atom, view, names)
        else:
            self._reference(atom, view, names)

    def _possible(self, atom: Atom, names: dict[str, str]) -> None:
        variables = tuple(dict.fromkeys(term_variables(atom.args)))
        if self._compiler.is_derived(atom.symbol) and len(variables) == len(atom.args):
            self._rows(atom.symbol, atom, "may", names)
        else:
            name = self._compiler.auxiliary(atom, variables, self._rounds)
            self._rows(name, Atom(name, tuple(Var(v) for v in variables)), "may", names)

    def _value(self, term: Term, names: Mapping[str, str]) -> str | None:
        """The Python expression of a term, None for an unbound variable."""
        if isinstance(term, Var):
            return names.get(term.name)
        if isinstance(term, Individual):
            return str(self._compiler.object_number(term.name))
        return self._constant(term.value)

    def _loop_all(self, name: str, names: dict[str, str]) -> None:
        names[name] = self._new_name()
        self._block(f"for {names[name]} in state.everything({self._view!r}):")

    def _exists(self, atom: Atom, view: View, names: dict[str, str]) -> None:
        term = atom.args[0]
        value = self._value(term, names)
        if value is None:
            assert isinstance(term, Var)
            self._loop_all(term.name, names)
        else:
            self._block(f"if state.exists({value}, {view!r}):")

    def _class(self, atom: Atom, view: View, names: dict[str, str]) -> None:
        info = self._schema.classes[atom.symbol]
        term = atom.args[0]
        value = self._value(term, names)
        kinds = self._constant(info.descendants)
        if value is not None:
            self._block(f"if {self._is_of(value, kinds, view)}:")
            return
        assert isinstance(term, Var)
        names[term.name] = self._new_name()
        which = "possible" if view == "may" else "certain"
        self._block(f"for {names[term.name]} in state.{which}({self._constant(info)}):")

    def _is_of(self, node: str, kinds: str, view: View) -> str:
        if view == "may":
            return f"state.may_be({node}, {kinds})"
        known = f"(known := nodes[{node}].kinds)"  # an object that is declared is of one
        certain = f"known <= {kinds} if len{known} == 1 else state.must_be({node}, {kinds})"
        return f"({node} >= 0 and ({certain}))"

    def _reference(self, atom: Atom, view: View, names: dict[str, str]) -> None:
        source, target = (self._value(term, names) for term in atom.args)
        first, second = atom.args
        if source is None and target is None:
            assert isinstance(first, Var)
            owner = "builtin" if atom.symbol == "contains" else atom.symbol
            if owner == "builtin":
                self._loop_all(first.name, names)
            else:
                feature = self._schema.features[atom.symbol]
                self._class(Atom(feature.owner, (first,)), view, names)
            source = names[first.name]
            target = self._value(second, names)  # the same variable twice
        symbol = atom.symbol
        handle = (
            repr(symbol)
            if view == "now" or symbol == "contains"
            else self._constant(self._schema.features[symbol])
        )
        stem = "contains" if symbol == "contains" and view != "now" else "link"
        if view == "now":
            self._reference_now(symbol, source, target, first, second, names)
        elif source is not None and target is not None:
            self._block(f"if state.{view}_{stem}({handle}, {source}, {target}):")
        elif source is not None:
            self._members(f"state.{view}_{stem}_targets({handle}, {source})", second, names)
        else:
            self._members(f"state.{view}_{stem}_sources({handle}, {target})", first, names)

    def _members(self, members: str, unbound: Term, names: dict[str, str]) -> None:
        """Run through the members; only ask whether there are any if nothing depends on which."""
        assert isinstance(unbound, Var)
        if self._places[unbound.name] == 1:
            self._block(f"for _ in islice({members}, 1):")
        else:
            names[unbound.name] = self._new_name()
            self._block(f"for {names[unbound.name]} in {members}:")

    def _reference_now(
        self,
        symbol: str,
        source: str | None,
        target: str | None,
        first: Term,
        second: Term,
        names: dict[str, str],
    ) -> None:
        if source is not None and target is not None:
            # Ask at the end where fewer links come in later.
            info = self._schema.features.get(symbol)
            if info is not None and info.upper == 1:
                self._block(f"if {target} in {self._targets(symbol, source)}:")
            else:
                self._block(f"if {source} in {self._sources(symbol, target)}:")
        elif source is not None and symbol == "contains":
            self._members(f"state.must_contains_targets('contains', {source})", second, names)
        elif source is not None:
            self._members(self._targets(symbol, source), second, names)
        else:
            assert target is not None
            self._members(self._sources(symbol, target), first, names)

    def _targets(self, symbol: str, source: str) -> str:
        return self._read(self._schema.features[symbol].forward, source)

    def _sources(self, symbol: str, target: str) -> str:
        contains = symbol == "contains"
        end = "<contains" if contains else self._schema.features[symbol].backward
        return self._read(end, target)

    def _read(self, key: str, node: str, default: str = "NONE") -> str:
        """The expression for what is stated of an object now; that it is read is noted."""
        if node == self._anchor:
            self._compiler.reads_own(self._query, key)
            return f"own.get({key!r}, {default})"
        self._emit(f"deps.append(({key!r}, {node}))")
        return f"stated.get({node}, UNSAID).get({key!r}, {default})"

    def _closure(self, atom: Atom, view: View, names: dict[str, str]) -> None:
        source, target = (self._value(term, names) for term in atom.args)
        first, second = atom.args
        if source is None and target is None:
            assert isinstance(first, Var)
            self._loop_all(first.name, names)
            source = names[first.name]
            target = self._value(second, names)
        forward = source is not None
        closure = self._ask(self._compiler.closure(atom.symbol, view, forward, self._rounds))
        if source is not None and source == target:
            self._block(f"if state.on_cycle({closure}, {source}):")
            return
        if source is not None and target is not None:
            self._block(f"if state.connected({closure}, {source}, {target}):")
            return
        unbound = second if forward else first
        assert isinstance(unbound, Var)
        names[unbound.name] = self._new_name()
        start = source if forward else target
        self._block(f"for {names[unbound.name]} in state.reached({closure}, {start}):")

    def _rows(self, name: str, atom: Atom, view: View, names: dict[str, str]) -> None:
        """A positive atom of a predicate: check it, or run through its rows."""
        values = [self._value(term, names) for term in atom.args]
        pattern = tuple(value is not None for value in values)
        bound = [value for value in values if value is not None]
        arguments = "".join(f"{value}, " for value in bound)
        if view == "may":
            query = self._ask(self._compiler.query(name, pattern, view))
            if all(pattern) or not self._needed(atom, names):
                self._block(f"if state.possible_row({query}, ({arguments})):")
                return
            gather = "gathered" if self._view == "must" else "possible_rows"
            self._loop_rows(f"state.{gather}({query}, ({arguments}))", atom, names)
            return
        if not any(pattern) and pattern and self._compiler.keeps(name, view):
            self._ask(self._compiler.extent(name, view))
            self._loop_rows(f"state.extent_rows({name!r}, {view!r})", atom, names)
            return
        if all(pattern):
            anchored = tuple(position == 0 for position in range(len(pattern)))
            query = self._ask(self._compiler.query(name, anchored, view))
            anchor = f"({bound[0]},)" if bound else "()"
            rest = "".join(f"{value}, " for value in bound[1:])
            self._block(f"if ({rest}) in state.rows({query}, {anchor}):")
            return
        query = self._ask(self._compiler.query(name, pattern, view))
        self._loop_rows(f"state.rows({query}, ({arguments}))", atom, names)

    def _needed(self, atom: Atom, names: Mapping[str, str]) -> bool:
        """Whether an unbound variable of the atom is used anywhere else."""
        unbound = [name for name in term_variables(atom.args) if name not in names]
        return any(self._places[name] > 1 for name in unbound) or len(set(unbound)) < len(unbound)

    def _loop_rows(self, rows: str, atom: Atom, names: dict[str, str]) -> None:
        positions: list[str] = []
        checks: list[str] = []
        for term in atom.args:
            if not isinstance(term, Var):
                continue
            known = names.get(term.name)
            if known is None:
                names[term.name] = self._new_name()
                positions.append(names[term.name])
            elif known in positions:
                twin = self._new_name()
                positions.append(twin)
                checks.append(f"{twin} == {known}")
        self._block(f"for ({''.join(f'{p}, ' for p in positions)}) in {rows}:")
        for check in checks:
            self._block(f"if {check}:")

    def _negated(self, atom: Atom, view: View, names: dict[str, str]) -> None:
        values = [self._value(term, names) for term in atom.args]
        if None not in values and not atom.closure:
            check = self._simple_check(atom, view, [v for v in values if v is not None])
            if check is not None:
                self._block(f"if not {check}:")
                return
        if view == "now" and not atom.closure and atom.symbol in self._schema.features:
            source, target = values
            if source is not None and target is None:
                self._block(f"if not {self._targets(atom.symbol, source)}:")
                return
            if target is not None and source is None:
                self._block(f"if not {self._sources(atom.symbol, target)}:")
                return
        name, arguments = self._projected(atom, names)
        query = self._ask(self._compiler.query(name, (True,) * len(arguments), view))
        ask = "possible_row" if view == "may" else "rows"
        self._block(f"if not state.{ask}({query}, ({''.join(f'{a}, ' for a in arguments)})):")

    def _simple_check(self, atom: Atom, view: View, values: list[str]) -> str | None:
        if atom.symbol in self._theory.classes:
            kinds = self._constant(self._schema.classes[atom.symbol].descendants)
            return self._is_of(values[0], kinds, view)
        if atom.symbol == "exists":
            return f"state.exists({values[0]}, {view!r})"
        feature = self._schema.features.get(atom.symbol)
        if feature is not None:
            return f"state.{view}_link({self._constant(feature)}, {values[0]}, {values[1]})"
        return None

    def _projected(self, atom: Atom, names: Mapping[str, str]) -> tuple[str, list[str]]:
        """A predicate for the atom with only its bound variables as parameters."""
        bound = list(dict.fromkeys(name for name in term_variables(atom.args) if name in names))
        variables = list(term_variables(atom.args))
        if (
            len(bound) == len(variables) == len(atom.args)
            and not atom.closure
            and self._compiler.is_derived(atom.symbol)
        ):
            return atom.symbol, [names[name] for name in variables]
        auxiliary = self._compiler.auxiliary(atom, tuple(bound), self._rounds)
        return auxiliary, [names[name] for name in bound]

    # ---- comparisons -------------------------------------------------------------------------

    def _comparison(self, part: Comparison, names: dict[str, str]) -> None:
        binding = self._binding(part, names)
        if binding is not None:
            value = self._value(binding[1], names)
            assert value is not None
            names[binding[0]] = value
            return
        for expression in (part.left, part.right):  # objects compared under may: enumerate them
            if isinstance(expression, Var) and expression.name not in names:
                self._loop_all(expression.name, names)
        indexed = self._indexed(part, names)
        if indexed is not None:
            self._look_up(*indexed, names)
            return
        for name in required(part, self._places) - names.keys():
            self._loop_all(name, names)
        left, right = (self._expression(e, names) for e in (part.left, part.right))
        if is_object(part.left) and is_object(part.right):
            self._object_comparison(part.op, left, right)
        elif self._view == "now":
            self._block(f"if holds({part.op!r}, {left}, {right}):")
        elif self._view == "must":
            self._block(f"if decided({part.op!r}, {left}, {right}) is True:")
        else:
            self._block(f"if decided({part.op!r}, {left}, {right}) is not False:")

    def _object_comparison(self, op: str, left: str, right: str) -> None:
        if self._view == "now":
            self._block(f"if {left} {op} {right}:")
        elif op == "==":
            self._block(f"if state.{self._view}_equal({left}, {right}):")
        else:
            self._block(f"if not state.{DUAL[self._view]}_equal({left}, {right}):")

    def _look_up(self, attribute: AttributeOf, other: Expression, names: dict[str, str]) -> None:
        assert isinstance(attribute.of, Var)
        value = self._new_name()
        self._emit(f"{value} = {self._expression(other, names)}")
        names[attribute.of.name] = self._new_name()
        feature = self._constant(self._schema.features[attribute.attribute])
        self._block(
            f"for {names[attribute.of.name]} in"
            f" state.with_value({feature}, {value}, {self._view!r}):"
        )

    def _expression(self, expression: Expression, names: dict[str, str]) -> str:
        if isinstance(expression, AttributeOf):
            of = self._value(expression.of, names)
            info = self._schema.features[expression.attribute]
            if self._view == "now" and info.target != "boolean":
                assert of is not None
                return self._read(info.forward, of, "ABSENT")
            feature = self._constant(info)
            return f"state.{'now' if self._view == 'now' else 'known'}_value({feature}, {of})"
        if isinstance(expression, Arithmetic):
            left = self._expression(expression.left, names)
            right = self._expression(expression.right, names)
            return f"calculate({expression.op!r}, {left}, {right})"
        if isinstance(expression, Count):
            return self._count(expression.atom, names)
        value = self._value(expression, names)
        assert value is not None
        return value

    def _count(self, atom: Atom, names: dict[str, str]) -> str:
        values = [self._value(term, names) for term in atom.args]
        if self._view == "now":
            if not atom.closure and atom.symbol in self._schema.features:
                source, target = values
                if source is not None and target is None:
                    return f"len({self._targets(atom.symbol, source)})"
                if target is not None and source is None:
                    return f"len({self._sources(atom.symbol, target)})"
            name, pattern, inside = self._counted(self._meant(atom, "now"), names)
            if pattern and not any(pattern) and self._compiler.keeps(name, "now"):
                self._ask(self._compiler.extent(name, "now"))
                return f"state.extent_size({name!r}, 'now')"
            query = self._ask(self._compiler.query(name, pattern, "now"))
            return f"len(state.rows({query}, ({inside})))"
        name, pattern, inside = self._counted(self._meant(atom, "may"), names)
        possible = self._ask(self._compiler.query(name, pattern, "may"))
        name, pattern, inside = self._counted(self._meant(atom, "must"), names)
        if pattern and not any(pattern) and self._compiler.keeps(name, "must"):
            self._ask(self._compiler.extent(name, "must"))
            return f"state.extent_range({name!r}, {possible})"
        certain = self._ask(self._compiler.query(name, pattern, "must"))
        return f"state.count_range({certain}, {possible}, ({inside}))"

    def _counted(self, atom: Atom, names: Mapping[str, str]) -> tuple[str, tuple[bool, ...], str]:
        """The predicate to count, its pattern and the code of its bound arguments."""
        values = [self._value(term, names) for term in atom.args]
        variables = list(term_variables(atom.args))
        bound = [name for name in dict.fromkeys(variables) if name in names]
        counted = [name for name in dict.fromkeys(variables) if name not in names]
        whole = len(set(variables)) == len(atom.args) and not atom.closure
        if whole and self._compiler.is_derived(atom.symbol):
            pattern = tuple(value is not None for value in values)
            arguments = [value for value in values if value is not None]
            return atom.symbol, pattern, "".join(f"{a}, " for a in arguments)
        name = self._compiler.auxiliary(atom, (*bound, *counted), self._rounds)
        pattern = (True,) * len(bound) + (False,) * len(counted)
        return name, pattern, "".join(f"{names[n]}, " for n in bound)
