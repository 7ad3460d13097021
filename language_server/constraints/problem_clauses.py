"""Second pass over a problem: predicates, rules, facts and scopes in terms of the declarations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from language_server.constraints.clauses import recursive_predicates
from language_server.constraints.problem_annotations import predicate_annotations
from language_server.constraints.problem_error import Collector, place_of
from language_server.constraints.problem_facts import FactReader
from language_server.constraints.problem_symbols import Symbol, Symbols, clean
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
    Modality,
    Parameter,
    Predicate,
    PropagationRule,
    Term,
    Theory,
    Var,
)

_NUMERIC = ("int", "real")


class ClauseReader:
    """Translates the statements of a problem; mistakes go to the collector."""

    def __init__(self, symbols: Symbols, collector: Collector) -> None:
        self._symbols = symbols
        self._collector = collector
        self._predicates: dict[str, Predicate] = {}
        self._fresh = 0

    def read(self, statements: Sequence[Any]) -> Theory:
        """The theory of the statements."""
        rules: list[PropagationRule] = []
        for statement in statements:
            if statement.__class__.__name__ == "PredicateDeclaration":
                self._read_predicate(statement)
            elif statement.__class__.__name__ == "RuleDeclaration":
                rules.extend(self._read_rule(statement))
        # Facts come last: the nodes they bring in are no names of individuals in clauses.
        facts = FactReader(self._symbols, self._collector)
        for statement in statements:
            if statement.__class__.__name__ == "Assertion":
                facts.read_assertion(statement)
            elif statement.__class__.__name__ == "ScopeDeclaration":
                facts.read_scope(statement)
        self._refuse_recursion(statements)
        return Theory(
            classes=self._symbols.classes,
            features=self._symbols.features,
            predicates=self._predicates,
            rules=tuple(rules),
            assertions=tuple(facts.assertions),
            individuals=dict(self._symbols.individuals),
            scopes=tuple(facts.scopes),
        )

    def _refuse_recursion(self, statements: Iterable[Any]) -> None:
        """A predicate must not be defined by itself: there is no order to evaluate it in."""
        recursive = recursive_predicates(self._predicates)
        for statement in statements if recursive else ():
            if statement.__class__.__name__ == "PredicateDeclaration":
                name = clean(statement.name)
                if name in recursive:
                    self._collector.add(
                        statement,
                        f"predicate '{name}' is defined by itself",
                        cure="use a transitive closure, as in step+(a, b)",
                    )

    # ---- predicates and rules ---------------------------------------------------------------

    def _read_predicate(self, node: Any) -> None:
        name = clean(node.name)
        parameters = self._parameters(node)
        error = node.kind.startswith("error")
        stated = predicate_annotations(
            node,
            [parameter.var.name for parameter in parameters],
            self._symbols.annotations,
            self._collector,
        )
        clauses = self._clauses(node.body, parameters) if node.body is not None else None
        if error and clauses is None:
            self._collector.add(node, "an error predicate needs a definition", cure="<-> ...")
        self._predicates[name] = Predicate(
            name=name,
            parameters=parameters,
            clauses=clauses,
            error=error,
            subsets=tuple(self._subsets(node, len(parameters))),
            shadow=node.kind.startswith("shadow"),
            message=stated.message,
            place=place_of(node),
            severity=stated.severity,
            lookahead=stated.lookahead,
        )

    def _subsets(self, node: Any, arity: int) -> Iterable[str]:
        for name in node.subsets:
            symbol = self._symbols.resolve(node, name, self._collector)
            if symbol is not None:
                if symbol.arity != arity:
                    self._collector.add(
                        node, f"'{symbol.name}' takes {symbol.arity} arguments, not {arity}"
                    )
                yield symbol.name

    def _read_rule(self, node: Any) -> Iterable[PropagationRule]:
        if not node.kind.startswith("propagation"):
            self._collector.add(
                node,
                "only propagation rules are supported",
                cure="write 'propagation rule', or leave the rule out",
            )
            return
        parameters = self._parameters(node)
        names = [parameter.var.name for parameter in parameters]
        stated = predicate_annotations(node, names, self._symbols.annotations, self._collector)
        clauses = self._clauses(node.body, parameters) if node.body is not None else ((),)
        bound = {parameter.var.name for parameter in parameters}
        conclusions = []
        for conclusion in node.conclusions:
            if conclusion.value in ("unknown", "error"):
                self._collector.add(conclusion, f"a rule cannot conclude '{conclusion.value}'")
            if conclusion.value and conclusion.negated:
                self._collector.add(conclusion, "write either '!' or a value")
            atom = self._atom(conclusion.atom, None)
            if atom is None:
                continue
            for term in atom.args:
                if isinstance(term, Var) and term.name not in bound:
                    self._collector.add(conclusion, f"'{term.name}' is no parameter of the rule")
            conclusions.append(Literal(atom, conclusion.negated or conclusion.value == "false"))
        yield PropagationRule(
            name=clean(node.name),
            parameters=parameters,
            clauses=clauses,
            conclusions=tuple(conclusions),
            place=place_of(node),
            message=stated.message,
        )

    def _parameters(self, node: Any) -> tuple[Parameter, ...]:
        parameters: list[Parameter] = []
        for parameter in node.parameters:
            name = clean(parameter.name)
            if any(name == other.var.name for other in parameters):
                self._collector.add(parameter, f"parameter '{name}' stands twice")
            typed = None
            if parameter.type:
                typed = self._symbols.class_or_predicate(parameter, parameter.type, self._collector)
            parameters.append(Parameter(Var(name), typed))
        return tuple(parameters)

    # ---- clauses ----------------------------------------------------------------------------

    def _clauses(self, condition: Any, parameters: tuple[Parameter, ...]) -> tuple[Clause, ...]:
        bound = {parameter.var.name for parameter in parameters}
        clauses = []
        for conjunction in condition.clauses:
            clause = tuple(self._clause(conjunction))
            self._check_bound(conjunction, clause, bound)
            clauses.append(clause)
        return tuple(clauses)

    def _clause(self, conjunction: Any) -> Iterable[Literal | Comparison]:
        for node in conjunction.literals:
            read = (
                self._comparison(node)
                if node.__class__.__name__ == "Comparison"
                else self._literal(node)
            )
            if read is not None:
                yield read

    def _check_bound(self, node: Any, clause: Clause, bound: set[str]) -> None:
        """A variable of a comparison must be a parameter or stand in a positive atom."""
        known = set(bound)
        for part in clause:
            if isinstance(part, Literal) and not part.negated:
                known |= {term.name for term in part.atom.args if isinstance(term, Var)}
        for part in clause:
            if isinstance(part, Comparison):
                for name in _variables(part.left) | _variables(part.right):
                    if name not in known:
                        self._collector.add(
                            node,
                            f"variable '{name}' is not bound",
                            cure="use it in a positive atom or make it a parameter",
                        )
                        known.add(name)

    def _literal(self, node: Any) -> Literal | Comparison | None:
        outer, inner = (self._modality(node, word) for word in (node.outer, node.inner))
        if outer and inner:
            self._collector.add(node, "two modalities at one atom", cure="write one of them")
        symbol = self._symbols.resolve(node.atom, node.atom.symbol, self._collector)
        if symbol is None:
            return None
        if self._is_attribute(symbol) and len(node.atom.arguments) == 1:
            return self._boolean_attribute(node, symbol, outer or inner)
        atom = self._atom(node.atom, inner if node.negated else None)
        if atom is None:
            return None
        return Literal(atom, node.negated, outer or (None if node.negated else inner))

    def _modality(self, node: Any, word: str) -> Modality | None:
        if word == "candidate":
            self._collector.add(
                node, "the modality 'candidate' is not supported", cure="use must or may"
            )
            return None
        return cast(Modality, word) if word else None

    def _boolean_attribute(
        self, node: Any, symbol: Symbol, modality: Modality | None
    ) -> Comparison | None:
        feature = self._symbols.features[symbol.name]
        if feature.target != "boolean":
            self._collector.add(
                node.atom,
                f"'{feature.name}' is of type {feature.target} and says nothing alone",
                cure=f"compare it: {feature.name}(x) == ...",
            )
            return None
        if modality or node.atom.closure:
            self._collector.add(node, "an attribute takes neither modality nor closure")
        of = self._term(node.atom.arguments[0])
        if isinstance(of, Constant):
            self._collector.add(node.atom, "an object is expected here, not a value")
            return None
        value = Constant(not node.negated)
        return Comparison("==", AttributeOf(symbol.name, of), value, place_of(node))

    def _atom(self, node: Any, modality: Modality | None) -> Atom | None:
        symbol = self._symbols.resolve(node, node.symbol, self._collector)
        if symbol is None:
            return None
        if len(node.arguments) != symbol.arity:
            self._collector.add(
                node,
                f"'{clean(node.symbol)}' takes {symbol.arity} "
                f"argument{'s' if symbol.arity != 1 else ''}, not {len(node.arguments)}",
            )
            return None
        if node.closure == "*":
            self._collector.add(
                node,
                "the reflexive closure is not supported",
                cure=f"write {clean(node.symbol)}+(x, y) ; equals(x, y)",
            )
        if node.closure and symbol.arity != 2:
            self._collector.add(node, "only a relation of two arguments has a closure")
        if self._is_attribute(symbol):
            self._collector.add(
                node,
                "an attribute cannot be used as an atom",
                cure=f"compare it: {clean(node.symbol)}(x) == ...",
            )
            return None
        args = tuple(self._term(argument) for argument in node.arguments)
        for argument, term in zip(node.arguments, args, strict=True):
            if isinstance(term, Constant):
                self._collector.add(argument, "an object is expected here, not a value")
        return Atom(symbol.name, args, bool(node.closure), modality, place_of(node))

    def _is_attribute(self, symbol: Symbol) -> bool:
        return symbol.kind == "feature" and self._symbols.features[symbol.name].is_attribute

    def _term(self, node: Any) -> Term:
        match node.__class__.__name__:
            case "Wildcard":
                self._fresh += 1
                return Var(f"_{self._fresh}")
            case "ConstantTerm":
                return Constant(constant_value(node))
        individual = self._symbols.individual(node.name)
        if individual is not None:
            return Individual(individual)
        if "::" in node.name:
            self._collector.add(node, f"individual '{clean(node.name)}' is not declared")
        return Var(clean(node.name))

    # ---- expressions ------------------------------------------------------------------------

    def _comparison(self, node: Any) -> Comparison | None:
        left, left_type = self._sum(node.left)
        right, right_type = self._sum(node.right)
        if left is None or right is None:
            return None
        kinds = {("number" if kind in _NUMERIC else kind) for kind in (left_type, right_type)}
        if len(kinds) > 1:
            self._collector.add(
                node, f"{_article(left_type)} cannot be compared with {_article(right_type)}"
            )
        elif node.operator not in ("==", "!=") and kinds & {"object", "boolean"}:
            self._collector.add(node, f"'{node.operator}' does not order {_plural(left_type)}")
        return Comparison(node.operator, left, right, place_of(node))

    def _sum(self, node: Any) -> tuple[Expression | None, str]:
        return self._chain(node, self._product)

    def _product(self, node: Any) -> tuple[Expression | None, str]:
        return self._chain(node, self._factor)

    def _chain(self, node: Any, operand: Any) -> tuple[Expression | None, str]:
        value, kind = operand(node.operands[0])
        for operator, other in zip(node.operators, node.operands[1:], strict=True):
            right, right_kind = operand(other)
            if value is None or right is None:
                return None, kind
            if kind not in _NUMERIC or right_kind not in _NUMERIC:
                wrong = kind if kind not in _NUMERIC else right_kind
                self._collector.add(node, f"'{operator}' takes numbers, not {_article(wrong)}")
            kind = "real" if "real" in (kind, right_kind) or operator == "/" else "int"
            value = Arithmetic(operator, value, right)
        return value, kind

    def _factor(self, node: Any) -> tuple[Expression | None, str]:
        match node.__class__.__name__:
            case "CountExpression":
                return self._count(node), "int"
            case "Parenthesis":
                return self._sum(node.inner)
            case "ConstantTerm":
                value = constant_value(node)
                return Constant(value), _primitive_of(value)
            case "AttributeAccess":
                return self._attribute(node)
        return self._term(node), "object"

    def _attribute(self, node: Any) -> tuple[Expression | None, str]:
        symbol = self._symbols.resolve(node, node.symbol, self._collector)
        if symbol is None:
            return None, "object"
        if not self._is_attribute(symbol) or len(node.arguments) != 1:
            self._collector.add(
                node,
                f"only an attribute of an object has a value, not '{clean(node.symbol)}'",
            )
            return None, "object"
        of = self._term(node.arguments[0])
        if isinstance(of, Constant):
            self._collector.add(node, "an object is expected here, not a value")
            return None, "object"
        return AttributeOf(symbol.name, of), self._symbols.features[symbol.name].target

    def _count(self, node: Any) -> Count | None:
        """A count over one atom; a longer condition becomes a predicate of its own.

        In a longer condition wild cards are existential: only named variables are counted.
        """
        clauses = node.body.clauses
        literals = clauses[0].literals
        if len(clauses) == 1 and len(literals) == 1:
            read = (
                None
                if literals[0].__class__.__name__ == "Comparison"
                else self._literal(literals[0])
            )
            if isinstance(read, Literal) and not read.negated and read.modality is None:
                return Count(read.atom)
        translated = tuple(tuple(self._clause(conjunction)) for conjunction in clauses)
        names = sorted(
            {
                name
                for clause in translated
                for part in clause
                for name in _variables_of_part(part)
                if not name.startswith("_")
            }
        )
        self._fresh += 1
        helper = f"count#{self._fresh}"
        parameters = tuple(Parameter(Var(name)) for name in names)
        self._predicates[helper] = Predicate(helper, parameters, translated, place=place_of(node))
        return Count(Atom(helper, tuple(Var(name) for name in names), place=place_of(node)))


def constant_value(node: Any) -> int | float | str | bool:
    """The value of a constant of the parse."""
    if node.truth:
        return bool(node.truth == "true")
    if node.real:
        return float(node.real)
    if node.integer:
        return int(node.integer)
    return str(node.text)


def _primitive_of(value: int | float | str | bool) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "int"
    return "real" if isinstance(value, float) else "string"


def _variables(expression: Expression) -> set[str]:
    match expression:
        case Var(name):
            return {name}
        case AttributeOf(_, Var(name)):
            return {name}
        case Arithmetic(_, left, right):
            return _variables(left) | _variables(right)
    return set()


def _variables_of_part(part: Literal | Comparison) -> set[str]:
    if isinstance(part, Comparison):
        return _variables(part.left) | _variables(part.right)
    return {term.name for term in part.atom.args if isinstance(term, Var)}


def _article(kind: str) -> str:
    return {"int": "an integer", "object": "an object"}.get(kind, f"a {kind}")


def _plural(kind: str) -> str:
    return {"object": "objects", "boolean": "boolean values"}.get(kind, kind)
