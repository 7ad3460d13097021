"""Objects that a language is given in code, ready made: builtins, builtin models, added models.

For the linker their models are further texts, whose references are known already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from textx.metamodel import TextXMetaModel

from language_server.partial_model import LinkRules, Scopes, Unit
from language_server.partial_model.objects import Place
from language_server.syntax import Assign, Close, Event, Open


class GivenModels:
    """Models as texts for the linker, with all those that they refer to.

    Args:
        metamodel: of the language that they are given to.
        roots: the models, those that every text sees first.
        always: how many these are.

    Attributes:
        units: a text for each model.
    """

    def __init__(self, metamodel: TextXMetaModel, roots: Iterable[Any], always: int = 0) -> None:
        self._metamodel = metamodel
        self._roots: dict[int, Any] = {id(root): root for root in roots}
        self._places: dict[int, Place] = {}
        read = []
        for unit, root in enumerate(_growing(self._roots)):
            things: list[Any] = []
            events = list(_said(root, None, False, things))
            self._places.update((id(thing), (unit, at)) for at, thing in enumerate(things))
            read.append((root, things, events))
            for further in _mentioned(root, things):
                self._roots.setdefault(id(further), further)
        self.units = tuple(self._unit(*each, range(always)) for each in read)

    def place(self, thing: Any) -> Place:
        """Where an object is: its model's position among the units, its number there."""
        return self._places[id(thing)]

    def _unit(self, root: Any, things: list[Any], events: list[Event], always: range) -> Unit:
        classes = {type(thing).__name__: type(thing) for thing in things}
        rules = LinkRules(
            ways={},
            features={name: features_of(cls) for name, cls in classes.items()},
            identity={name: identity_of(cls) for name, cls in classes.items()},
            fitting={},
            always=tuple(always),
        )
        number = self._numbers
        return Unit(
            path="",
            scopes=Scopes.of(rules, iter(events)),
            visible=tuple(number(_visible(root))),
            loaded={
                at: tuple(number(thing._tx_loaded_models))
                for at, thing in enumerate(things)
                if hasattr(thing, "_tx_loaded_models")
            },
            opaque=not all(map(_is_plain, things)) or self._sees_others(root),
            known={
                (at, name): tuple(self.place(each) for each in values)
                for at, thing in enumerate(things)
                for name, values in _references(thing)
            },
        )

    def _numbers(self, roots: Iterable[Any]) -> Iterator[int]:
        return (~self._places[id(root)][0] for root in roots)

    def _sees_others(self, root: Any) -> bool:
        """Whether a model is of another language that is given models of its own."""
        metamodel = getattr(root, "_tx_metamodel", self._metamodel)
        return metamodel is not self._metamodel and bool(metamodel.builtin_models)


def root_of(thing: Any) -> Any:
    """The model of an object; the object itself if it is of none."""
    while getattr(thing, "parent", None) is not None:
        thing = thing.parent
    return thing


def features_of(cls: Any) -> tuple[str, ...]:
    """The features of a class that hold objects, in the grammar's order."""
    attributes = getattr(cls, "_tx_attrs", {}).values()
    return tuple(attribute.name for attribute in attributes if attribute.ref)


def identity_of(cls: Any) -> str:
    """The name of a class that is equal for equal classes of two languages."""
    return str(getattr(cls, "_tx_fqn", f"{cls.__module__}.{cls.__name__}"))


def _growing(roots: dict[int, Any]) -> Iterator[Any]:
    """The values of a dictionary that gets more of them on the way."""
    at = 0
    while at < len(roots):
        yield list(roots.values())[at]
        at += 1


def _said(thing: Any, feature: str | None, many: bool, things: list[Any]) -> Iterator[Event]:
    """What a text would say of an object and all that it contains."""
    things.append(thing)
    yield Open(type(thing).__name__, feature, many, -1)
    name = getattr(thing, "name", None)
    if isinstance(name, str):
        yield Assign("name", False, name, "", -1, -1)
    for attribute in getattr(type(thing), "_tx_attrs", {}).values():
        if attribute.cont and attribute.ref:
            for each, several in _objects_in(thing, attribute.name):
                yield from _said(each, attribute.name, several, things)
    yield Close(-1)


def _references(thing: Any) -> Iterator[tuple[str, list[Any]]]:
    for attribute in getattr(type(thing), "_tx_attrs", {}).values():
        if attribute.ref and not attribute.cont:
            values = [each for each, _ in _objects_in(thing, attribute.name)]
            if values:
                yield attribute.name, values


def _objects_in(thing: Any, feature: str) -> Iterator[tuple[Any, bool]]:
    """The objects that a feature holds, each with whether it is one of a list."""
    value = getattr(thing, feature, None)
    for each in value if isinstance(value, list) else [value]:
        if each is not None and not isinstance(each, (str, int, float)):
            yield getattr(each, "_tx_obj", each), isinstance(value, list)


def _mentioned(root: Any, things: list[Any]) -> Iterator[Any]:
    """The models that a model refers to, loads or sees."""
    yield from _visible(root)
    for thing in things:
        yield from getattr(thing, "_tx_loaded_models", ())
        for _, values in _references(thing):
            yield from map(root_of, values)


def _visible(root: Any) -> Iterator[Any]:
    repository = getattr(root, "_tx_model_repository", None)
    return iter(()) if repository is None else iter(repository.local_models)


def _is_plain(thing: Any) -> bool:
    """Whether an object holds just what its grammar says, and code has added nothing to it."""
    features = getattr(type(thing), "_tx_attrs", None)
    held = getattr(thing, "__dict__", None)
    if features is None or held is None:
        return False
    own = {name for name in held if not name.startswith(("__", "_tx_"))} - {"parent"}
    return own == set(features)
