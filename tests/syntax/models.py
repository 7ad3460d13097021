"""Models as plain data: what textX reads, and what the events of a parse say, in one form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from language_server.syntax import Assign, Close, Event, Open, Refer


@dataclass
class Node:
    """An object of a model with its span and the features that have a value."""

    cls: str
    start: int
    end: int
    features: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Name:
    """A reference by the name it is looked up with."""

    name: str
    start: int


class _Stop(Exception):
    """The model has been captured."""


def from_textx(metamodel: Any, text: str) -> Any:
    """The model of ``text`` before its references are resolved, as textX builds it."""
    parser = metamodel._parser_blueprint.clone()
    captured: list[Any] = []

    def capture(model: Any) -> None:
        names: dict[tuple[int, str], list[Name]] = {}
        for owner, attribute, reference in parser._crossrefs:
            names.setdefault((id(owner), attribute.name), []).append(
                Name(str(reference.obj_name), reference.position)
            )
        captured.append(_node(model, names))
        raise _Stop

    try:
        parser.get_model_from_str(text, pre_ref_resolution_callback=capture)
    except _Stop:
        return captured[0]
    return None


def _node(value: Any, names: dict[tuple[int, str], list[Name]]) -> Any:
    if isinstance(value, list):
        return [_node(item, names) for item in value]
    if not hasattr(type(value), "_tx_attrs"):
        return value
    node = Node(type(value).__name__, value._tx_position, value._tx_position_end)
    for attribute in type(value)._tx_attrs.values():
        content = getattr(value, attribute.name)
        if attribute.ref and not attribute.cont:
            content = names.get((id(value), attribute.name), [])
            if attribute.mult not in ("1..*", "0..*"):
                content = content[0] if content else None
        else:
            content = _node(content, names)
        node.features[attribute.name] = content
    return node


def from_events(events: Iterable[Event]) -> Node | None:
    """The model that the events of a parse describe."""
    root: Node | None = None
    stack: list[Node] = []
    for event in events:
        if isinstance(event, Open):
            node = Node(event.cls, event.start, -1)
            if event.feature is None:
                root = node
            else:
                _put(stack[-1], event.feature, event.many, node)
            stack.append(node)
        elif isinstance(event, Close):
            stack.pop().end = event.end
        elif isinstance(event, Refer):
            _put(stack[-1], event.feature, event.many, Name(event.name, event.start))
        elif isinstance(event, Assign):
            _put(stack[-1], event.feature, event.many, event.value)
    assert not stack
    return root


def is_read_twice(metamodel: Any, text: str) -> bool:
    """Whether textX's parse tree has some text twice.

    A repetition keeps the separator behind its last item although it goes back to where that
    begins, and so the separator is part of the values and spans that end with the repetition as
    well as of what follows, be it white space. Our values and spans end with the last item.
    """
    parser = metamodel._parser_blueprint.clone()
    leaves = list(_leaves(parser.parse(text)))
    if any(leaf.value and set(leaf.value) <= set(parser.ws) for leaf in leaves):
        return True
    return any(leaf.position >= following.position for leaf, following in pairwise(leaves))


def _leaves(node: Any) -> Iterator[Any]:
    if isinstance(node, list):
        for child in node:
            yield from _leaves(child)
    else:
        yield node


def _put(node: Node, feature: str, many: bool, value: Any) -> None:
    if many:
        node.features.setdefault(feature, []).append(value)
    else:
        node.features[feature] = value


def differences(theirs: Any, ours: Any, path: str = "model") -> list[str]:
    """Where two models differ; a feature without a value equals textX's default."""
    if isinstance(theirs, Node) and isinstance(ours, Node):
        found = []
        for what in ("cls", "start", "end"):
            if getattr(theirs, what) != getattr(ours, what):
                found.append(f"{path}.{what}: {getattr(theirs, what)} {getattr(ours, what)}")
        for feature in {**theirs.features, **ours.features}:
            one, other = theirs.features.get(feature), ours.features.get(feature)
            if feature not in ours.features and not one:
                continue
            found += differences(one, other, f"{path}.{feature}")
        return found
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        return [
            difference
            for index, (one, other) in enumerate(zip(theirs, ours, strict=True))
            for difference in differences(one, other, f"{path}[{index}]")
        ]
    return [] if theirs == ours and type(theirs) is type(ours) else [f"{path}: {theirs!r} {ours!r}"]
