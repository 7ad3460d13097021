"""The constraints of a language, compiled once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from language_server.constraints.clauses import Definition, counts, definition
from language_server.constraints.compiler import Compiler
from language_server.constraints.mapping import Mapping, kinds_of_individuals, schema_of
from language_server.constraints.query import Query, View
from language_server.constraints.theory import (
    Assertion,
    Atom,
    Comparison,
    Literal,
    Predicate,
    PropagationRule,
    Theory,
    Var,
)
from language_server.partial_model import Schema, Surroundings

if TYPE_CHECKING:
    from language_server.constraints.evaluation import Evaluation


class ErrorQuery:
    """An error predicate: its violations now, and those that hold in every completion."""

    __slots__ = ("must", "now", "predicate")

    def __init__(self, predicate: Predicate, now: Query, must: Query) -> None:
        self.predicate = predicate
        self.now = now
        self.must = must


class ConstraintSet:
    """A theory with its mapping, compiled to queries.

    Attributes:
        errors: the error predicates by their ``now`` query.
        rules: the propagation rules by the query for what contradicts a conclusion of theirs.
        checks: all of both: what is looked at for each object.
        extents: queries by which whole predicates are kept, with name and view.
        own: for each end of a feature the queries that read what is stated there of their only
            argument: those that others ask, and the error predicates.
    """

    def __init__(self, theory: Theory, mapping: Mapping) -> None:
        self.theory = theory
        self.mapping = mapping
        self.schema: Schema = schema_of(theory, mapping)
        self.compiler = Compiler(theory, self.schema)
        self.errors: dict[Query, ErrorQuery] = {}
        self.rules: dict[Query, PropagationRule] = {}
        self._compile()

    @staticmethod
    def of(theory: Theory, mapping: Mapping | None = None) -> ConstraintSet:
        """Compile a theory; without a mapping, classes and features are mapped by name."""
        return ConstraintSet(theory, mapping or Mapping.by_name(theory))

    def initial(
        self, given: Iterable[Assertion] = (), surroundings: Surroundings | None = None
    ) -> Evaluation:
        """The model of the empty text, with what the theory and ``given`` assert.

        Args:
            given: what holds from the start.
            surroundings: the files around the text, where its references may lead.
        """
        from language_server.constraints.evaluation import Evaluation

        return Evaluation.initial(self, tuple(given), surroundings)

    def checks_of(self, kind: str) -> tuple[Query, ...]:
        """What is looked at for an object of the class."""
        return self._checks[kind]

    def extents_of(self, kind: str) -> tuple[Query, ...]:
        """The queries for rows of whole predicates that begin with an object of the class."""
        return self._extents[kind]

    def kinds_of_individual(self, name: str) -> tuple[str, ...]:
        """The classes asserted of a given object."""
        return self._kinds_of_individuals[name]

    def compares_counts(self, predicate: str) -> bool:
        """Whether the predicate compares how many there are of something."""
        return predicate in self._counting

    def _compile(self) -> None:
        compiler = self.compiler
        scopes = self.theory.scope_predicates.values()
        for predicate in scopes:
            compiler.definitions[predicate.name] = definition(
                self.theory, predicate.name, (), predicate.clauses or ()
            )
        for predicate in (*self.theory.predicates.values(), *scopes):
            if predicate.clauses is None:
                continue
            pattern = tuple(position == 0 for position in range(len(predicate.parameters)))
            now = compiler.query(predicate.name, pattern, "now")
            must = compiler.query(predicate.name, pattern, "must")
            if predicate.error:
                self.errors[now] = ErrorQuery(predicate, now, must)
        self._compile_rules()
        self.extents: dict[Query, tuple[str, View]] = {}
        while len(self.extents) < len(compiler.extents):
            for place, query in list(compiler.extents.items()):
                self.extents[query] = place
        compiler.sealed = True
        self.own = {
            end: (
                tuple(query for query in queries if query in compiler.asked),
                tuple(query for query in queries if query in self.errors),
            )
            for end, queries in compiler.own.items()
        }
        self._counting = frozenset(
            name
            for name, meaning in compiler.definitions.items()
            if any(
                isinstance(part, Comparison) and any((*counts(part.left), *counts(part.right)))
                for clause in meaning.clauses
                for part in clause
            )
        )
        self.checks = frozenset((*self.errors, *self.rules))
        self.unanchored = tuple(q for q in (*self.errors, *self.rules) if not q.pattern)
        self._checks = self._by_class((*self.errors, *self.rules))
        self._extents = self._by_class(self.extents)
        self._kinds_of_individuals = kinds_of_individuals(self.theory)

    def _by_class(self, queries: Iterable[Query]) -> dict[str, tuple[Query, ...]]:
        """For each class those of which its objects can be the first argument."""
        anchored: dict[str, list[Query]] = {kind: [] for kind in self.schema.classes}
        for query in queries:
            if query.pattern:
                meaning = self.compiler.definitions.get(query.name)
                kinds = (
                    None
                    if meaning is None
                    else self._anchor_kinds(meaning, meaning.parameters[0], frozenset())
                )
                for kind in self.schema.classes if kinds is None else kinds:
                    anchored[kind].append(query)
        return {kind: tuple(found) for kind, found in anchored.items()}

    def _compile_rules(self) -> None:
        """What a rule demands must be possible, and what it excludes must not be certain."""
        compiler = self.compiler
        for rule in self.theory.rules:
            for position, conclusion in enumerate(rule.conclusions):
                name = f"rule {rule.name} {position}"
                broken = Literal(conclusion.atom, not conclusion.negated)
                clauses = tuple((*clause, broken) for clause in rule.clauses)
                compiler.definitions[name] = definition(self.theory, name, rule.parameters, clauses)
                pattern = tuple(place == 0 for place in range(len(rule.parameters)))
                query = compiler.query(name, pattern, "must")
                self.rules[query] = rule

    def _anchor_kinds(
        self, meaning: Definition, parameter: str, seen: frozenset[str]
    ) -> frozenset[str] | None:
        """The classes whose objects can stand at a parameter; None for all."""
        union: frozenset[str] = frozenset()
        for clause in meaning.clauses:
            kinds: frozenset[str] | None = None
            for part in clause:
                if isinstance(part, Literal) and not part.negated:
                    for position, term in enumerate(part.atom.args):
                        if isinstance(term, Var) and term.name == parameter:
                            found = self._argument_kinds(part.atom, position, seen)
                            if found is not None:
                                kinds = found if kinds is None else kinds & found
            if kinds is None:
                return None
            union |= kinds
        return union

    def _argument_kinds(
        self, atom: Atom, position: int, seen: frozenset[str]
    ) -> frozenset[str] | None:
        if atom.symbol in self.schema.classes:
            return self.schema.classes[atom.symbol].descendants
        feature = self.schema.features.get(atom.symbol)
        if feature is not None:
            return feature.sources if position == 0 else feature.targets or None
        meaning = self.compiler.definitions.get(atom.symbol)
        if meaning is None or atom.symbol in seen:
            return None
        return self._anchor_kinds(meaning, meaning.parameters[position], seen | {atom.symbol})
