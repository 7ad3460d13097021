"""Facts for one request, in the words of a metamodel: a problem file with assertions alone.

What can be given is what a text can take up: objects that it names, that there are no others, and
facts about objects that it mentions by a key. All else the text has to state itself, and is
refused here at its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from language_server.constraints.mapping import features_of, inherited_key
from language_server.constraints.problem_error import Collector
from language_server.constraints.problem_facts import FactReader
from language_server.constraints.problem_symbols import BUILT_IN, Symbols, clean
from language_server.constraints.theory import Assertion, Individual, Theory
from language_server.partial_model import NEW


class GivenReader:
    """Reads given facts; mistakes go to the collector."""

    def __init__(self, theory: Theory, collector: Collector) -> None:
        self._theory = theory
        self._collector = collector
        self._classes: dict[str, str] = {}  # of the given objects
        symbols = Symbols(
            classes=dict(theory.classes),
            features=dict(theory.features),
            arities={name: len(p.parameters) for name, p in theory.predicates.items()},
            individuals=dict(theory.individuals),
        )
        self._facts = FactReader(symbols, collector)

    def read(self, statements: Iterable[Any]) -> tuple[Assertion, ...]:
        """The assertions among the statements of a problem; there must be nothing else."""
        read: list[tuple[Any, Assertion]] = []
        for statement in statements:
            if statement.__class__.__name__ != "Assertion":
                self._refuse(statement, "only facts can be given", "move it to the metamodel")
                continue
            before = len(self._facts.assertions)
            self._facts.read_assertion(statement)
            read += [(statement, each) for each in self._facts.assertions[before:]]
        for node, assertion in read:
            if assertion.symbol in self._theory.classes and assertion.value == "true":
                self._check_object(node, assertion)
        for node, assertion in read:
            self._check(node, assertion)
        return tuple(assertion for _, assertion in read)

    def _refuse(self, node: Any, message: str, cure: str = "") -> None:
        self._collector.add(node, message, cure)

    def _check_object(self, node: Any, assertion: Assertion) -> None:
        """``C(a)``: a text must be able to tell which of its objects is meant."""
        cls = self._theory.classes[assertion.symbol]
        key = inherited_key(self._theory, cls.name)
        (argument,) = assertion.args
        name = argument.name if isinstance(argument, Individual) else ""
        if not name:
            self._refuse(node, "'*' gives no object", "name each object")
        elif name in self._theory.individuals or name.endswith(NEW):
            self._refuse(node, f"'{name}' belongs to the metamodel: it is there", "leave this out")
        elif cls.literals is not None:
            self._refuse(node, f"{cls.name} is an enum and has all its literals already")
        elif self._classes.setdefault(name, cls.name) != cls.name:
            self._refuse(node, f"'{name}' is given as {self._classes[name]} already")
        elif key and cls.abstract:
            self._refuse(node, f"{cls.name} is abstract", "give the class the object has")
        elif len(key) > 1:
            self._refuse(node, f"the key of {cls.name} has several parts, a name is but one")
        elif not key and all(each.name != "name" for each in features_of(self._theory, cls.name)):
            self._refuse(
                node, f"a text has no name for objects of class {cls.name}, so none can be given"
            )
        elif key and self._target(cls.name, key[0]) == "int" and not name.isdecimal():
            self._refuse(node, f"'{name}' is no number, as {key[0]} of {cls.name} is")

    def _check(self, node: Any, assertion: Assertion) -> None:
        symbol, arguments = assertion.symbol, assertion.args
        if assertion.default:
            self._refuse(node, "a default is no fact", "leave out 'default'")
        elif symbol == "exists" and assertion.value == "false":
            argument = arguments[0]
            if not isinstance(argument, Individual) or not argument.name.endswith(NEW):
                self._refuse(
                    node, "only new objects can be excluded", "write !exists(C::new) for a class C"
                )
        elif assertion.value != "true":
            self._refuse(
                node,
                "only what is true can be given",
                "!exists(C::new) says that there are no other objects of class C",
            )
        elif symbol in BUILT_IN:
            self._refuse(node, f"'{symbol}' cannot be given")
        elif symbol not in self._theory.classes:
            self._check_fact(node, assertion)

    def _check_fact(self, node: Any, assertion: Assertion) -> None:
        """A feature or a relation of given objects that the text mentions by their key."""
        predicate = self._theory.predicates.get(assertion.symbol)
        feature = self._theory.features.get(assertion.symbol)
        if predicate is not None and predicate.clauses is not None:
            self._refuse(node, f"'{predicate.name}' is defined, so it cannot be given")
            return
        subjects = assertion.args if feature is None else assertion.args[:1]
        for argument in assertion.args if feature is None else assertion.args[:2]:
            if argument is None:
                self._refuse(node, "a fact is given of single objects", "name each object")
                return
            if not isinstance(argument, Individual):
                continue
            name, cls = argument.name, self._classes.get(argument.name)
            if cls is None and argument in subjects and name in self._theory.individuals:
                self._refuse_of_metamodel(node, clean(name), assertion)
                return
            if cls is None and (argument in subjects or name not in self._theory.individuals):
                self._refuse(node, f"'{name}' is not given", f"say what it is: Class({name}).")
                return
            if cls is not None and not inherited_key(self._theory, cls):
                self._refuse(
                    node,
                    f"a text states itself what holds of {name}: only that there is such a "
                    f"{cls} can be given",
                )
                return
        if feature is not None and isinstance(subjects[0], Individual):
            owner = self._classes[subjects[0].name]
            if feature.name in inherited_key(self._theory, owner):
                self._refuse(node, f"'{clean(subjects[0].name)}' is its {feature.name} already")

    def _refuse_of_metamodel(self, node: Any, name: str, assertion: Assertion) -> None:
        named = {each.name for each in assertion.args if isinstance(each, Individual)}
        cure = "write this one there" if named <= self._theory.individuals.keys() else ""
        self._refuse(node, f"'{name}' belongs to the metamodel, as all facts about it do", cure)

    def _target(self, cls: str, name: str) -> str:
        return next(f.target for f in features_of(self._theory, cls) if f.name == name)
