"""By which names a reference could mean each object, for whoever writes on at a text's end."""

from __future__ import annotations

from collections.abc import Iterator

from language_server.partial_model.linking import gathered
from language_server.partial_model.model import ObjectId, PartialModel
from language_server.partial_model.objects import OutOfSight, Place, Waiting
from language_server.partial_model.resolution import Resolution
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
    units, _ = gathered(scopes.referring(feature), model.surroundings)
    resolution = Resolution(units)
    objects, classes = resolution.objects, scopes.rules.fitting[target]
    for unit in (0, *objects.visible(0)):
        seen = objects.units[unit].scopes
        for thing in seen.named():
            if not objects.is_one_of((unit, thing), classes):
                continue
            for name in _names(seen.names_down_to(thing), way):
                if _means(resolution, scopes.top, feature, target, name) == (unit, thing):
                    yield name, scopes.node(thing) if unit == 0 else None
                    break
    for name, (cls, (number, thing)) in scopes.rules.builtins.items():
        place = objects.units[0].given + number, thing
        if cls in classes and _means(resolution, scopes.top, feature, target, name) == place:
            yield name, None


def undeclared_names(model: PartialModel) -> Iterator[str]:
    """Parts of names that references with scope rules of their own use and nothing bears so far."""
    scopes = model.scopes
    if scopes is None:
        return
    seen: set[str] = set()
    for mention in scopes.mentions():
        way = scopes.rules.way(scopes.things[mention.source].cls, mention.feature)
        if way.plain or isinstance(way.scope, Own):
            continue
        for part in mention.name.split(_separator(way)):
            if part not in seen and part and not scopes.is_known(part):
                yield part
            seen.add(part)


def closed_names(model: PartialModel, rule: str, feature: str) -> frozenset[str] | None:
    """The names that a text can give an object here; None where it may be any one.

    That is where all objects of a class are given. Names in any case stand here in lower case.

    Args:
        model: the model of a text that goes on.
        rule: the class of the grammar that the object is of.
        feature: the feature that is being read.
    """
    info = model.schema.rules.get(rule)
    if info is None or feature not in (info.key or ("name",)) or len(info.key) > 1:
        return None
    new = model.schema.new.get(info.name)
    if new is None or new in model.nodes or info.features[feature].target != "string":
        return None
    if not info.key:
        waiting = (name for (_, name), node in model.pending.items() if node in model.nodes)
        return model.given_names(info.name) & frozenset(waiting)
    names = (model.nodes[node].name or "" for node in model.objects(info.name))
    if info.name in model.schema.case_insensitive:
        return frozenset(name.casefold() for name in names)
    return frozenset(names)


def _names(parts: list[str], way: Way) -> Iterator[str]:
    """The names of an object, shortest first."""
    if not isinstance(way.scope, Qualified | Expression):
        parts = parts[-1:]
    for at in reversed(range(len(parts))):
        yield _separator(way).join(parts[at:])


def _separator(way: Way) -> str:
    """What stands between the parts of a name."""
    return way.scope.split if isinstance(way.scope, Expression) else "."


def _means(
    resolution: Resolution, source: int, feature: str, target: str, name: str
) -> Place | None:
    try:
        return resolution.look_up(source, feature, target, name)
    except (Ambiguous, Circular, OutOfSight, Waiting):
        return None
