"""Which features the objects under construction can still get, by the grammar alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from language_server.syntax.readings import Reading
from language_server.syntax.slots import (
    AssignSlot,
    CallSlot,
    ChoiceSlot,
    CloseSlot,
    MatchSlot,
    Mode,
    PredicateSlot,
    Result,
    ReturnSlot,
    Slot,
)


class Rest(NamedTuple):
    """What a rule may do behind one of its slots: features it names, results it may return."""

    features: frozenset[str]
    results: frozenset[Result]


_KNOWN: dict[Slot, Rest] = {}


def fillable(reading: Reading) -> tuple[tuple[frozenset[str], str | None], ...]:
    """What may still be filled, for each object under construction, the innermost first.

    Returns:
        The features that the rest of the object's rule names, and the feature that the object
        inside of it fills (None for the innermost one).
    """
    found: list[tuple[frozenset[str], str | None]] = []
    features, results = rest_behind(reading.thread.slot)
    inner: str | None = None
    for frame, edge in reading.way_down():
        if frame.body is not None and frame.body.mode is Mode.OBJECT:
            found.append((features, inner))
            features, inner = frozenset(), None
        if edge.call is not None:
            # What the caller would try had the rule failed is no way on from within the rule.
            ways = [rest_behind(edge.call.to(result)) for result in results]
            features = features.union(*(way.features for way in ways))
            results = frozenset[Result]().union(*(way.results for way in ways))
            if edge.call.sink is not None:
                inner = edge.call.sink.feature
            elif edge.call.opens is not None and edge.call.opens[1] is not None:
                inner = edge.call.opens[1]
    return tuple(found)


def rest_behind(slot: Slot) -> Rest:
    """What the rest of a rule behind a slot may do."""
    known = _KNOWN.get(slot)
    if known is None:
        found: set[str] = set()
        results: set[Result] = set()
        seen: set[Slot] = set()
        waiting = [slot]
        while waiting:
            at = waiting.pop()
            if at not in seen:
                seen.add(at)
                found.update(_features_at(at))
                waiting.extend(_following(at))
                if isinstance(at, ReturnSlot):
                    results.add(at.result)
        known = _KNOWN[slot] = Rest(frozenset(found), frozenset(results))
    return known


def _features_at(slot: Slot) -> Iterator[str]:
    if isinstance(slot, (MatchSlot, CallSlot, AssignSlot)):
        if slot.sink is not None and slot.sink.feature is not None:
            yield slot.sink.feature
        if isinstance(slot, CallSlot) and slot.opens is not None and slot.opens[1] is not None:
            yield slot.opens[1]


def _following(slot: Slot) -> Iterator[Slot]:
    if isinstance(slot, MatchSlot):
        yield slot.after
        yield slot.after_empty
    elif isinstance(slot, ChoiceSlot):
        yield from slot.branches
    elif isinstance(slot, CallSlot):
        for result in Result:
            yield slot.to(result)
    elif isinstance(slot, (CloseSlot, PredicateSlot, AssignSlot)):
        yield slot.next
