"""What references mean, by textX and by our linker, in one notation to compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textx import get_model
from textx.exceptions import TextXError
from textx.metamodel import TextXMetaModel
from textx.scoping.rrel import ReferenceProxy

from language_server.languages.references import link_rules
from language_server.partial_model import Scopes, Unit
from language_server.partial_model.objects import Place
from language_server.partial_model.resolution import Fault, Resolution
from language_server.syntax import Grammar

#: path of each object, feature -> paths of the objects it refers to, in order
Links = dict[tuple[str, str], list[str]]


class Refused(Exception):
    """A model does not load.

    Attributes:
        offset: where textX sees the fault, None where it gives no place.
    """

    def __init__(self, message: str, offset: int | None) -> None:
        super().__init__(message)
        self.offset = offset


def by_textx(
    metamodel: TextXMetaModel, text: str, path: Path | None = None, **parameters: str
) -> Links:
    """The links of a model as textX resolves them.

    Args:
        metamodel: the language.
        text: the model's text.
        path: its file.
        parameters: of the model, for textX.

    Raises:
        Refused: it does not load.
    """
    try:
        model = metamodel.model_from_str(text, str(path) if path else None, **parameters)
    except TextXError as error:
        offset = None
        if error.line is not None:
            before = text.split("\n")[: error.line - 1]
            offset = sum(len(line) + 1 for line in before) + (error.col or 1) - 1
        raise Refused(str(error), offset) from None
    except (OSError, AttributeError, RecursionError, AssertionError, KeyError) as error:
        raise Refused(repr(error), None) from None
    return links_of(model)


def links_of(model: Any) -> Links:
    """The links of a textX model."""
    found: Links = {}
    waiting = [(model, _path(model, model))] if hasattr(type(model), "_tx_attrs") else []
    while waiting:
        thing, place = waiting.pop()
        for attribute in type(thing)._tx_attrs.values():
            value = getattr(thing, attribute.name)
            values = value if isinstance(value, list) else [value]
            values = [each for each in values if hasattr(type(each), "_tx_attrs") or _proxy(each)]
            if attribute.ref and not attribute.cont:
                if values:
                    found[place, attribute.name] = [_path(each, model) for each in values]
            elif attribute.cont:
                for number, each in enumerate(values):
                    waiting.append((each, f"{place}/{attribute.name}{number}"))
    return found


def by_linker(metamodel: TextXMetaModel, text: str) -> tuple[Links, list[Fault]]:
    """The links and faults of a text without other files, as our linker sees them."""
    rules = link_rules(metamodel)
    parse = Grammar.of(metamodel).parse(text)
    assert not parse.faults, (text, parse.faults)
    return resolved(Resolution((Unit("", Scopes.of(rules, parse.events())),)))


def resolved(resolution: Resolution, name: str = "") -> tuple[Links, list[Fault]]:
    """The links of the first unit of a resolution, whose file has a name, and its faults."""
    scopes = resolution.units[0].scopes
    found: Links = {}
    for mention in scopes.mentions():
        if (0, mention.number) in resolution.targets:
            values = resolution.objects.values((0, mention.source), mention.feature)
            place = _place(resolution, (0, mention.source), name)
            found[place, mention.feature] = [_place(resolution, value, name) for value in values]
    return found, [fault for unit, fault in resolution.faults if unit == 0]


def _proxy(value: Any) -> bool:
    return type(value) is ReferenceProxy


def _path(thing: Any, model: Any) -> str:
    if _proxy(thing):
        thing = thing._tx_obj
    parts = []
    root = get_model(thing)
    if root is not model and not root._tx_filename:
        return f"builtin {thing.name}"
    while hasattr(thing, "parent"):
        parent = thing.parent
        for attribute in type(parent)._tx_attrs.values():
            value = getattr(parent, attribute.name)
            values = value if isinstance(value, list) else [value]
            places = [n for n, each in enumerate(values) if each is thing]
            if attribute.cont and places:
                parts.append(f"/{attribute.name}{places[0]}")
                break
        thing = parent
    name = Path(root._tx_filename).name if root._tx_filename else ""
    return name + "".join(reversed(parts))


def _place(resolution: Resolution, at: Place, name: str) -> str:
    unit = resolution.units[at[0]]
    if unit.scopes.things[at[1]].start < 0:
        return f"builtin {resolution.objects.name(at)}"
    parts = []
    number = at[1]
    while number > 0:
        thing = unit.scopes.things[number]
        position = unit.scopes.contained(thing.parent, thing.feature).index(number)
        parts.append(f"/{thing.feature}{position}")
        number = thing.parent
    return (name if at[0] == 0 else Path(unit.path).name) + "".join(reversed(parts))
