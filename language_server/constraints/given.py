"""What holds from the start: the given objects of a theory, and assertions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from language_server.constraints.theory import Assertion, Constant, Individual
from language_server.partial_model import NEW, Draft, Node, ObjectId

if TYPE_CHECKING:
    from language_server.constraints.constraint_set import ConstraintSet


def state_given(draft: Draft, constraints: ConstraintSet, given: Iterable[Assertion]) -> None:
    """Put the given objects and asserted facts into an empty draft."""
    schema = constraints.schema
    for name, number in schema.individuals.items():
        kinds = constraints.kinds_of_individual(name)
        home = kinds[0] if kinds else None
        plain = name.rsplit("::", 1)[-1]
        node = Node(frozenset(kinds[:1]), plain, False, "individual")
        added = draft.add_node(node, home)
        assert added == number
    excluded = {
        assertion.args[0].name
        for assertion in (*constraints.theory.assertions, *given)
        if assertion.symbol == "exists"
        and assertion.value == "false"
        and isinstance(assertion.args[0], Individual)
    }
    for cls, number in schema.new.items():
        if cls + NEW not in excluded:
            exact = schema.classes[cls].exact
            draft.nodes = draft.nodes.set(number, Node(exact, f"{cls}{NEW}", True, "new"))
    for assertion in (*constraints.theory.assertions, *given):
        if assertion.value == "true" and not assertion.default:
            _state_fact(draft, assertion)


def _state_fact(draft: Draft, assertion: Assertion) -> None:
    schema = draft.schema
    feature = schema.features.get(assertion.symbol)
    objects: list[ObjectId] = [
        schema.individuals[argument.name]
        for argument in assertion.args
        if isinstance(argument, Individual) and argument.name in schema.individuals
    ]
    if feature is not None and feature.attribute:
        value = assertion.args[-1]
        if isinstance(value, Constant) and objects:
            draft.assign(feature, objects[0], value.value)
    elif feature is not None and len(objects) == 2:
        draft.link(feature, objects[0], objects[1])
    elif assertion.symbol not in schema.classes and len(objects) == len(assertion.args):
        cell = ("base", assertion.symbol)
        known = draft.facts.get(cell, frozenset())
        draft.facts = draft.facts.set(cell, known | {tuple(objects)})
        draft.touched.append(cell)
