"""By which names a reference could mean each object, for whoever writes on at a text's end."""

from __future__ import annotations

from collections.abc import Iterator

from language_server.partial_model.linking import Resolution, gathered
from language_server.partial_model.model import ObjectId, PartialModel
from language_server.partial_model.objects import OutOfSight, Place, Waiting
from language_server.partial_model.search import Ambiguous, Circular
from language_server.partial_model.ways import Expression, Own, Qualified, Way


def names_for(
    model: PartialModel, feature: str | None, target: str
) -> Iterator[tuple[str, ObjectId | None]]:
    """Names that a reference of the innermost open object could take, with what each would mean.

    Args:
        model: the model of a text that goes on.
        feature: the feature of the grammar that the reference fills.
        target: the class of the grammar that it refers to.

    Returns:
        For each object the shortest of its names that leads to it from here; objects of other
        files have no number here.
    """
    scopes = model.scopes
    if scopes is None or scopes.top < 0 or feature is None:
        yield from model.candidates(target)
        return
    way = scopes.rules.way(scopes.things[scopes.top].cls, feature)
    if way.plain or isinstance(way.scope, Own):
        yield from model.candidates(target)
        return
    units, _ = gathered(scopes, model.surroundings)
    resolution = Resolution(units)
    for unit in (0, *units[0].visible):
        for thing in units[unit].scopes.named():
            if not resolution.objects.is_one_of((unit, thing), scopes.rules.fitting[target]):
                continue
            for name in _names(units[unit].scopes.names_down_to(thing), way):
                if _means(resolution, scopes.top, feature, target, name) == (unit, thing):
                    yield name, scopes.node(thing) if unit == 0 else None
                    break


def _names(parts: list[str], way: Way) -> Iterator[str]:
    """The names of an object, shortest first."""
    if isinstance(way.scope, Qualified):
        split = "."
    elif isinstance(way.scope, Expression):
        split = way.scope.split
    else:
        yield parts[-1]
        return
    for at in reversed(range(len(parts))):
        yield split.join(parts[at:])


def _means(
    resolution: Resolution, source: int, feature: str, target: str, name: str
) -> Place | None:
    try:
        return resolution.look_up(source, feature, target, name)
    except (Ambiguous, Circular, OutOfSight, Waiting):
        return None
