"""Values of features as textX reads and converts them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from language_server.syntax.events import Assign, Event, Refer, Trail
from language_server.syntax.slots import Part, Sink

OPEN, TEXT, CLOSE = 0, 1, 2

#: Objects that have begun in the grammar but not yet in the text: ``(outer, class, feature,
#: many)``.
Pending = tuple[Any, str, "str | None", bool]


def convert(value: Any, rule: str) -> Any:
    """A value of a base type as textX converts it; other values unchanged."""
    converter = _CONVERTERS.get(rule)
    if converter is None:
        return value
    try:
        return converter(value)
    except (ValueError, AttributeError, TypeError):
        return value


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "BOOL": lambda text: text == "1" or text.lower() == "true",
    "INT": int,
    "FLOAT": float,
    "STRICTFLOAT": float,
    "STRING": lambda text: text[1:-1].replace(r"\"", r'"').replace(r"\'", "'"),
}


def fill(trail: Trail, sink: Sink, value: Any, start: int, end: int) -> Trail:
    """``trail`` with the event of ``value`` going to ``sink``; the same without a value."""
    feature = sink.feature
    if feature is None or value is None:
        return trail
    event: Event
    if sink.flag:
        event = Assign(feature, False, True, sink.rule, start, end)
    elif sink.target is not None:
        event = Refer(feature, sink.many, sink.target, str(value), sink.rule, start, end)
    else:
        event = Assign(feature, sink.many, value, sink.rule, start, end)
    return Trail(trail, event)


def fold(part: Part | None) -> tuple[Any, int, int, Part | None]:
    """The last value of a chain of parts.

    Returns:
        The value as textX converts it (None where a part of it is missing), its span, and the chain
        before it.
    """
    newest_first: list[Part] = []
    depth = 0
    while part is not None:
        newest_first.append(part)
        kind = part[1]
        depth += (kind == CLOSE) - (kind == OPEN)
        part = part[0]
        if depth == 0:
            break
    texts = [p for p in newest_first if p[1] == TEXT]
    if not texts or any(p[2] is None for p in texts):
        return None, 0, 0, part
    stack: list[tuple[str, list[Any]]] = [("", [])]
    for _, kind, text, rule, _, _ in reversed(newest_first):
        if kind == OPEN:
            stack.append((rule, []))
        elif kind == TEXT:
            stack[-1][1].append(convert(text, rule))
        else:
            name, values = stack.pop()
            stack[-1][1].append(convert(_joined(values), name))
    return _joined(stack[0][1]), texts[-1][4], texts[0][5], part


def join_texts(part: Part | None) -> tuple[Any, int, int]:
    """The value of an abstract rule that read terminals only: converted, or several joined."""
    texts: list[Part] = []
    while part is not None:
        texts.append(part)
        part = part[0]
    texts.reverse()
    if any(text[2] is None for text in texts):
        return None, 0, 0
    if len(texts) == 1:
        return convert(texts[0][2], texts[0][3]), texts[0][4], texts[0][5]
    return "".join(text[2] for text in texts), texts[0][4], texts[-1][5]


def begun(part: Part | None) -> tuple[int, str] | None:
    """Start and text of a value that is being read; None if nothing of it is there."""
    texts = []
    start = 0
    while part is not None:
        if part[1] == TEXT and part[2] is not None:
            texts.append(part[2])
            start = part[4]
        part = part[0]
    return (start, "".join(reversed(texts))) if texts else None


def _joined(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else "".join(str(value) for value in values)
