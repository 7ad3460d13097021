"""What a problem file says that texts of a language give no meaning to.

The problem language speaks of models that a solver fills in. Here a text does: what it does not
state is false when it ends, and the objects that the problem file names are what the file makes
them. An assertion that would say something else is refused, never ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from language_server.constraints.theory import (
    Assertion,
    Atom,
    Individual,
    Literal,
    PropagationRule,
    Theory,
)
from language_server.languages.agreement import Mismatch
from language_server.partial_model import NEW


def without_meaning(theory: Theory) -> Iterator[Mismatch]:
    """What of a metamodel means nothing for a text, as errors at their places."""
    for feature in theory.features.values():
        if feature.target in theory.predicates:
            yield Mismatch(
                "error",
                f"'{feature.target}' is a predicate; a feature holds objects of a class",
                feature.place,
                cure="name the class, and require the predicate with an error predicate",
            )
    for assertion in theory.assertions:
        told = _objection(theory, assertion)
        if told is not None:
            yield Mismatch("error", told[0], assertion.place, cure=told[1])


def with_subset_rules(theory: Theory) -> Theory:
    """The theory with a rule for each predicate that is a part of another one."""
    rules = []
    for predicate in theory.predicates.values():
        names = tuple(parameter.var for parameter in predicate.parameters)
        itself = Literal(Atom(predicate.name, names, place=predicate.place))
        for whole in predicate.subsets:
            shown = ", ".join(f"{{{name.name}}}" for name in names)
            plain = whole.rpartition("::")[2]
            rules.append(
                PropagationRule(
                    f"{predicate.name} subsets {plain}",
                    predicate.parameters,
                    ((itself,),),
                    (Literal(Atom(whole, names, place=predicate.place)),),
                    predicate.place,
                    f"{predicate.name}({shown}) holds, so {plain}({shown}) has to",
                )
            )
    return replace(theory, rules=(*theory.rules, *rules)) if rules else theory


def _objection(theory: Theory, assertion: Assertion) -> tuple[str, str] | None:
    """What is wrong with an assertion and what to do about it; None if it has a meaning."""
    symbol, value = assertion.symbol, assertion.value
    named = [each.name for each in assertion.args if isinstance(each, Individual)]
    if symbol == "exists" and value == "false" and all(name.endswith(NEW) for name in named):
        return None if named else ("'*' excludes no class", "write !exists(C::new)")
    if assertion.default and value == "false":
        return None  # what is not stated is false
    if assertion.default:
        return f"a default that is {value} has no meaning for texts", "assert it of single objects"
    if value != "true":
        return (
            f"an assertion that is {value} has no meaning for texts",
            "write an error predicate; !exists(C::new) says that all objects of C are given",
        )
    multi = [name for name in named if theory.individuals.get(name) == "multi"]
    if multi:
        return f"'{multi[0]}' stands for many objects, which no text can state", "use atom"
    predicate = theory.predicates.get(symbol)
    if predicate is not None and predicate.clauses is not None:
        return f"'{symbol}' is defined, so it cannot be asserted", "assert what it is defined by"
    if predicate is None and symbol not in theory.classes and symbol not in theory.features:
        return f"'{symbol}' cannot be asserted", ""
    if any(argument is None for argument in assertion.args):
        return "an assertion about texts names single objects", "write it once for each"
    return None
