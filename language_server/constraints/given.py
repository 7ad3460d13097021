"""What holds from the start: the given objects of a theory, and assertions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from language_server.constraints.theory import Assertion, Constant, Individual
from language_server.partial_model import (
    NEW,
    Cell,
    ClassInfo,
    Draft,
    Node,
    ObjectId,
    identity_of,
)

if TYPE_CHECKING:
    from language_server.constraints.constraint_set import ConstraintSet


def state_given(draft: Draft, constraints: ConstraintSet, given: Iterable[Assertion]) -> None:
    """Put the given objects and asserted facts into an empty draft."""
    schema = constraints.schema
    given = tuple(given)
    for name, number in schema.individuals.items():
        kinds = sorted(
            constraints.kinds_of_individual(name),
            key=lambda kind: len(schema.classes[kind].ancestors),
        )
        plain = name.rsplit("::", 1)[-1]
        node = Node(frozenset(kinds[-1:]), plain, False, "individual")
        added = draft.add_node(node, kinds[-1] if kinds else None)
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
            draft.nodes[number] = Node(exact, f"{cls}{NEW}", True, "new")
    named = _add_objects(draft, given)
    for assertion in (*constraints.theory.assertions, *given):
        if assertion.value == "true" and not assertion.default:
            _state_fact(draft, assertion, named)


def _add_objects(draft: Draft, given: Iterable[Assertion]) -> dict[str, ObjectId]:
    """The objects that only ``given`` names, by name.

    Keyed ones are there, and text may mention them; the others it has yet to declare, as if a
    reference had mentioned them.
    """
    schema = draft.schema
    found: dict[str, ObjectId] = {}
    for assertion in given:
        info = schema.classes.get(assertion.symbol)
        if info is None or assertion.value != "true":
            continue
        for argument in assertion.args:
            if not isinstance(argument, Individual) or argument.name in schema.individuals:
                continue
            name = argument.name
            if name in found:
                continue
            if info.key:
                found[name] = _add_keyed(draft, info, name)
            else:
                mention = Node(info.kinds, name, True, "mentioned", rule=info.name)
                found[name] = draft.add_node(mention, info.name)
                draft.pending = draft.pending.set((info.name, name), found[name])
                draft.refer_from_outside(name, info.name)
                _add_to(draft, ("given", info.name), name)
    return found


def _add_keyed(draft: Draft, info: ClassInfo, name: str) -> ObjectId:
    number = draft.add_node(Node(info.exact, name, True, "keyed"), info.name)
    draft.bear(name, number)
    feature = info.features[info.key[0]]
    value: int | str = int(name) if feature.target == "int" else name
    draft.assign(feature, number, value)
    draft.facts = draft.facts.set(identity_of(draft.schema, info, (value,)), number)
    return number


def _add_to(draft: Draft, cell: Cell, name: str) -> None:
    draft.facts = draft.facts.set(cell, draft.facts.get(cell, frozenset()) | {name})


def _state_fact(draft: Draft, assertion: Assertion, named: dict[str, ObjectId]) -> None:
    schema = draft.schema
    known: dict[str, ObjectId] = {**schema.individuals, **named}
    feature = schema.features.get(assertion.symbol)
    objects: list[ObjectId] = [
        known[argument.name]
        for argument in assertion.args
        if isinstance(argument, Individual) and argument.name in known
    ]
    if feature is not None and feature.attribute:
        value = assertion.args[-1]
        if isinstance(value, Constant) and objects:
            draft.assign(feature, objects[0], value.value)
    elif feature is not None and len(objects) == 2:
        draft.link(feature, objects[0], objects[1])
    elif assertion.symbol not in schema.classes and len(objects) == len(assertion.args):
        cell = ("base", assertion.symbol)
        draft.facts = draft.facts.set(cell, draft.facts.get(cell, frozenset()) | {tuple(objects)})
        draft.touched.append(cell)
