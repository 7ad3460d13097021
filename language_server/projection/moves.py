"""The model-level steps a prefix allows: a keyword, a reference, a new name, a value, the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, tee
from typing import TYPE_CHECKING, Any, Literal

from language_server.partial_model import ObjectId, PartialModel, names_for, undeclared_names
from language_server.projection.attribute_values import attribute_value
from language_server.projection.names import new_names
from language_server.projection.spelling import is_free, may_become, spelt
from language_server.syntax import Assign, Expected, Open, Refer, Trail

if TYPE_CHECKING:
    from language_server.projection.prefix import Prefix, Reading

Kind = Literal["keyword", "reference", "declaration", "value", "end"]


@dataclass(frozen=True, slots=True)
class Move:
    """One step from a prefix.

    Attributes:
        text: the whole terminal (or value) that the step writes.
        insert: what to append to the prefix, with the white space it needs.
        start: offset in the prefix where the part already typed of it begins.
        cls, feature, target: what it fills: a feature of an object of class `cls`; a reference to
            a `target`.
        element: the object referred to, where there is one.
        remaining: least number of characters behind it that the grammar asks for.
    """

    kind: Kind
    text: str
    insert: str
    start: int
    cls: str | None = None
    feature: str | None = None
    target: str | None = None
    element: Any = None
    remaining: int = 0


def moves(prefix: Prefix) -> tuple[Move, ...]:
    """All steps from `prefix` that syntax and propagation allow, each text once.

    Readings come in textX's order; for one reading: existing names, then a new one, then values.
    What would be read as something else is left out: a keyword that a name swallows, a name that
    is taken for a keyword.
    """
    found: dict[tuple[str, str], Move] = {}
    for reading in prefix.readings:
        for move in moves_of(prefix, reading):
            found.setdefault((move.kind, move.insert), move)
    return tuple(found.values())


def moves_of(prefix: Prefix, reading: Reading) -> Iterator[Move]:
    """The steps of one reading; what is there already is none, nor what is read otherwise."""
    for move in _steps(prefix, reading):
        if (move.insert or move.kind == "end") and _is_read_so(prefix, reading.expected, move):
            yield move


def _is_read_so(prefix: Prefix, expected: Expected, move: Move) -> bool:
    """Whether some reading of the prefix with a move takes it for what it is meant to be."""
    kind, whole = expected.terminal.kind, len(move.text)
    rivals = (rival.terminal for rival in prefix.state.expected())
    reads = [(rival.kind, rival.match(move.text, 0)) for rival in rivals if rival.kind != "end"]
    # One of two is a keyword, and the other one can read it as well.
    contested = kind != "end" and any(end == whole and kind != other for other, end in reads)
    if not contested and not any(0 < end < whole for _, end in reads):
        return True
    state = prefix.state.advance(move.insert)
    if not state.alive:
        return False  # the grammar takes less of it, and does not come back
    if not contested:
        return True
    start, white = state.length - len(move.text), state.skips()
    if white and any(behind.typed for behind in state.expected()):
        state = state.advance(" " if " " in white else white[0])
    behind = state.expected()
    if not behind or any(each.typed for each in behind):
        return True  # nothing is known: it may go on
    return any(
        _says(each.trail, start, move)
        or bool(each.value_begun and each.value_start <= start and each.feature == move.feature)
        for each in behind
    )


def is_meant(whole: Prefix, start: int, move: Move) -> bool:
    """Whether a complete text that goes on with a move takes it for what it is meant to be.

    Args:
        start: where the move's text begins.
    """
    trail = whole.state.finish()
    return trail is not None and _says(trail, start, move)


def _says(trail: Trail, start: int, meant: Move) -> bool:
    """Whether a reading takes what begins at a place for what was meant."""
    at: Trail | None = trail
    while at is not None and at.parent is not None:
        event = at.event
        if isinstance(event, (Assign, Refer)):
            if event.start <= start < event.end:
                same = isinstance(event, Refer) == (meant.target is not None)
                return same and event.feature == meant.feature
            if event.end <= start:
                break
        elif isinstance(event, Open) and event.start < start:
            break
        at = at.parent
    return meant.kind == "keyword"


def _steps(prefix: Prefix, reading: Reading) -> Iterator[Move]:
    expected = reading.expected
    if expected.terminal.kind == "end":
        if prefix.complete:
            yield _move(prefix, expected, "end", "")
    elif expected.terminal.kind == "keyword":
        yield _move(prefix, expected, "keyword", expected.terminal.text)
    elif expected.target is not None:
        yield from _references(prefix, reading, expected.target)
        yield from _new_names(prefix, reading, expected.target)
    elif _identifies(prefix, expected):
        assert expected.cls is not None
        yield from _mentions(prefix, reading, expected.cls)
        yield from _undeclared(prefix, reading, expected.cls)
        yield from _new_names(prefix, reading, expected.cls)
    else:
        value = attribute_value(prefix, expected)
        if value is not None:
            yield _move(prefix, expected, "value", value)


def _references(prefix: Prefix, reading: Reading, target: str) -> Iterator[Move]:
    expected, model = reading.expected, reading.evaluation.model
    inside = set(under_construction(model))
    first, last = tee(names_for(model, expected.feature, target))
    others = (each for each in first if each[1] not in inside)
    # An object seldom refers to itself.
    for name, element in chain(others, (each for each in last if each[1] in inside)):
        if may_become(expected, name) and prefix.allows_reference(reading, name):
            text = spelt(expected, name)
            if text is not None:
                yield _move(prefix, expected, "reference", text, element)
            elif not is_free(expected):
                # A name of several terminals.
                rest = name[len(expected.value_begun) :]
                move = _move(prefix, expected, "reference", rest, element)
                if prefix.state.advance(move.insert).alive:
                    yield move


def under_construction(model: PartialModel) -> Iterator[ObjectId]:
    """The objects that the text is in the middle of."""
    frame = model.frame
    while frame is not None:
        if frame.node is not None:
            yield frame.node
        frame = frame.parent


def _mentions(prefix: Prefix, reading: Reading, cls: str) -> Iterator[Move]:
    """Objects of a keyed class may be mentioned again by their key."""
    expected = reading.expected
    if prefix.language.theory.classes[cls].key:
        for name, element in reading.evaluation.model.candidates(cls):
            text = spelt(expected, str(name)) or str(name)
            if text.startswith(expected.typed):
                yield _move(prefix, expected, "reference", text, element)


def _undeclared(prefix: Prefix, reading: Reading, cls: str) -> Iterator[Move]:
    """Names that a reference uses and nothing declares so far."""
    expected = reading.expected
    for name, element in reading.evaluation.model.candidates(cls):
        mentioned = reading.evaluation.model.nodes[element].role == "mentioned"
        text = spelt(expected, name) or name
        if mentioned and text.startswith(expected.typed):
            yield _move(prefix, expected, "declaration", text, element)
    for name in undeclared_names(reading.evaluation.model):
        text = spelt(expected, name) or name
        if text.startswith(expected.typed):
            yield _move(prefix, expected, "declaration", text)


def _new_names(prefix: Prefix, reading: Reading, cls: str) -> Iterator[Move]:
    expected = reading.expected
    model = reading.evaluation.model
    new = model.schema.new.get(cls)
    if new is not None and new not in model.nodes:
        return  # all its objects are given
    taken = {str(name) for name, _ in model.candidates(cls)}
    keywords = prefix.language.grammar.keywords
    names = new_names(expected, cls, taken, keywords)
    name = next(names, None)
    if name == expected.typed and not prefix.settled.alive:
        name = next(names, None)  # what is there may not be all of it
    if name is not None:
        yield _move(prefix, expected, "declaration", name)


def _identifies(prefix: Prefix, expected: Expected) -> bool:
    """Whether the terminal gives an object its identity: its name, or the key of its class."""
    if expected.cls is None or expected.value_begun:
        return False
    symbol = prefix.language.theory.classes.get(expected.cls)
    if symbol is not None and symbol.key:
        return expected.feature in symbol.key
    return expected.feature == "name"


def _move(prefix: Prefix, expected: Expected, kind: Kind, text: str, element: Any = None) -> Move:
    if expected.typed:
        insert = text[len(expected.typed) :]
    else:
        insert = prefix.joint(text) + text if text else ""
    return Move(
        kind=kind,
        text=text,
        insert=insert,
        start=expected.start if expected.typed else prefix.state.length,
        cls=expected.cls,
        feature=expected.feature,
        target=expected.target,
        element=element,
        remaining=expected.remaining,
    )
