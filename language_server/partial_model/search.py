"""Where a reference leads: each way to resolve one, with textX's result, by look-ups.

Textx walks through lists and models; here an index finds what has a name. What a search returns,
the order in which it tries and the objects it does not visit twice are textX's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from language_server.partial_model.objects import Objects, OutOfSight, Place
from language_server.partial_model.scopes import Mention
from language_server.partial_model.ways import (
    Chain,
    Choice,
    Element,
    Enclosing,
    Expression,
    Group,
    Plain,
    Qualified,
    Relative,
    Scope,
    Star,
    Step,
    Up,
)


class Ambiguous(Exception):
    """Several objects have a name that must be unique."""

    def __init__(self, found: list[Place]) -> None:
        super().__init__(found)
        self.found = found


class Circular(Exception):
    """The search leads back to where it was."""


def find(
    objects: Objects, scope: Scope, mention: Mention, classes: frozenset[str], at: Place
) -> Place | None:
    """The object that a reference means, None if there is none.

    Args:
        objects: all that can be walked.
        scope: the way to look.
        mention: the reference.
        classes: qualified names of the classes its target may have.
        at: the object the search begins at: the one that holds the reference, or another root.

    Raises:
        Ambiguous: several objects have the name.
        Waiting: the answer depends on references that are not resolved so far.
        OutOfSight: it depends on code of the language.
        Circular: there is no end of it.
    """
    match scope:
        case Plain():
            return _by_plain_name(objects, mention.name, classes, at)
        case Qualified():
            return _by_qualified_name(objects, scope, mention.name, classes, at)
        case Expression():
            return _ExpressionSearch(objects, scope, mention.name).first(at, classes)
        case Relative():
            return _by_relative_name(objects, scope, mention.name, classes, at)
    raise OutOfSight


def _by_plain_name(objects: Objects, name: str, classes: frozenset[str], at: Place) -> Place | None:
    found = objects.bearers(at[0], name, classes)
    if len(found) > 1:
        raise Ambiguous(found)
    return found[0] if found else None


# ---- qualified names -----------------------------------------------------------------------------


def _by_qualified_name(
    objects: Objects, scope: Qualified, name: str, classes: frozenset[str], at: Place
) -> Place | None:
    parts = name.split(".")
    outer: Place | None = at
    while outer is not None:
        found: Place | None = outer
        for part in parts:
            found = found and _member(objects, scope, found, part, at)
        if found is not None and objects.is_one_of(found, classes):
            return found
        outer = objects.parent(outer)
    return None


def _member(
    objects: Objects, scope: Qualified, within: Place, name: str, start: Place
) -> Place | None:
    """The object of a name among all that an object contains or refers to, or around it."""
    if scope.through_imports and within != start:
        for unit in objects.loaded(within):
            found = _member(objects, scope, objects.root(unit), name, start)
            if found is not None:
                return found
    for feature in objects.features(within):
        found = objects.named(within, feature, name)
        if found is not None:
            return found
    parent = objects.parent(within)  # textX keeps it in the object like any feature, as the last
    return parent if parent is not None and objects.name(parent) == name else None


# ---- lists along a path --------------------------------------------------------------------------


def _by_relative_name(
    objects: Objects, scope: Relative, name: str, classes: frozenset[str], at: Place
) -> Place | None:
    if scope.extension is None:
        holders = _follow(objects, at, scope.start)
    else:
        holders = _extended(objects, _follow(objects, at, scope.start), scope.extension)
    for holder in holders:
        for found in _list_at(objects, holder, scope.target):
            if objects.name(found) == name and objects.is_one_of(found, classes):
                return found
    return None


def _follow(objects: Objects, at: Place, path: tuple[str, ...]) -> list[Place]:
    """The objects at the end of a path, which leads through single objects."""
    found = [at]
    for position, part in enumerate(path):
        if len(found) != 1:
            return []
        if position == 0 and part.startswith("parent("):
            found = _enclosing_of_exact_class(objects, at, part[len("parent(") : -1])
        else:
            objects.require_settled(found[0], part)
            found = objects.values(found[0], part)
    return found


def _list_at(objects: Objects, at: Place, path: tuple[str, ...]) -> list[Place]:
    return _follow(objects, at, path) if path else [at]


def _enclosing_of_exact_class(objects: Objects, at: Place, cls: str) -> list[Place]:
    outer: Place | None = at
    while outer is not None and objects.cls(outer) != cls:
        outer = objects.parent(outer)
    return [outer] if outer is not None else []


def _extended(objects: Objects, start: list[Place], extension: tuple[str, ...]) -> list[Place]:
    """The objects with those that they extend, in textX's order, each once.

    Raises:
        Circular: an object extends itself; textX does not come to an end then.
    """
    found: dict[Place, None] = dict.fromkeys(start)
    done: set[Place] = set()
    around: dict[Place, Iterator[Place]] = {}  # the objects on the way here, what each extends
    ways = [iter(start)]
    while ways:
        at = next(ways[-1], None)
        if at is None:
            ways.pop()
            if around:
                done.add(around.popitem()[0])
        elif at in around:
            raise Circular
        elif at not in done:
            further = _follow(objects, at, extension)
            found.update(dict.fromkeys(further))
            around[at] = iter(further)
            ways.append(around[at])
    return list(found)


# ---- reference expressions -----------------------------------------------------------------------


class _State(NamedTuple):
    """What a search has come to: an object, how many parts of the name it took, the last one's."""

    at: Place
    taken: int
    named: Place | None


class _ExpressionSearch:
    """One search by a reference expression; it visits an object once by each node of it."""

    def __init__(self, objects: Objects, scope: Expression, name: str) -> None:
        self._objects = objects
        self._scope = scope
        self._parts = [part for part in name.split(scope.split) if part]
        self._visited: set[tuple[Place, int, int]] = set()

    def first(self, at: Place, classes: frozenset[str]) -> Place | None:
        """The first object that the whole name leads to."""
        start = _State(at, 0, None)
        for chain in self._scope.choice.chains:
            for found in self._along(chain, start, True):
                if found.taken == len(self._parts) and self._objects.is_one_of(found.at, classes):
                    return found.named if self._scope.by_path else found.at
        return None

    def _allowed(self, state: _State, node: Element | Choice) -> bool:
        visit = (state.at, state.taken, id(node))
        if visit in self._visited:
            return False
        self._visited.add(visit)
        return True

    def _along(self, chain: Chain, start: _State, first: bool) -> Iterator[_State]:
        last = len(chain.elements) - 1
        stack = [self._through(chain.elements[0], start, first)]
        while stack:
            state = next(stack[-1], None)
            if state is None:
                stack.pop()
            elif len(stack) - 1 == last:
                yield state
            else:
                stack.append(self._through(chain.elements[len(stack)], state, False))

    def _through(self, element: Element, state: _State, first: bool) -> Iterator[_State]:
        if isinstance(element, Star):
            return self._repeatedly(element, state, first)
        if not self._allowed(state, element):
            return iter(())
        match element:
            case Group():
                return self._choosing(element.choice, state, first)
            case Step():
                return iter(self._step(element, state, first))
            case Up():
                return iter(self._upward(element, state))
        return iter(self._enclosing(element, state))

    def _choosing(self, choice: Choice, state: _State, first: bool) -> Iterator[_State]:
        if self._allowed(state, choice):
            for chain in choice.chains:
                yield from self._along(chain, state, first)

    def _repeatedly(self, star: Star, start: _State, first: bool) -> Iterator[_State]:
        """Everything that rounds of the choice lead to, nearest first along each way."""
        given: set[tuple[Place, int]] = set()
        if not self._allowed(start, star):
            return
        ways = [self._choosing(star.choice, start, first)]
        reached = []
        if star.local or not first:
            reached.append(start)
        if star.at_root and first:
            reached.append(start._replace(at=self._objects.root(start.at[0])))
        while True:
            for state in reached:
                if (state.at, state.taken) not in given:
                    given.add((state.at, state.taken))
                    yield state
            reached = []
            while ways:
                state_or_end = next(ways[-1], None)
                if state_or_end is None:
                    ways.pop()
                elif self._allowed(state_or_end, star):
                    reached = [state_or_end]
                    ways.append(self._choosing(star.choice, state_or_end, False))
                    break
            if not reached:
                return

    def _step(self, step: Step, state: _State, first: bool) -> list[_State]:
        objects = self._objects
        at = objects.root(state.at[0]) if first else state.at
        if step.takes_name and state.taken == len(self._parts):
            return []
        places = [at]
        if self._scope.across_files and objects.parent(at) is None:
            places += [objects.root(unit) for unit in objects.visible(at[0])]
        for place in places:
            objects.require_settled(place, step.feature)
            if step.takes_name or step.fixed_name is not None:
                name = step.fixed_name or self._parts[state.taken]
                found = objects.named(place, step.feature, name)
                if found is not None:
                    return [_State(found, state.taken + step.takes_name, found)]
            else:
                values = objects.values(place, step.feature)
                if values:
                    return [_State(value, state.taken, state.named) for value in values]
        return []

    def _upward(self, up: Up, state: _State) -> list[_State]:
        at: Place | None = state.at
        for _ in range(up.levels - 1):
            at = at and self._objects.parent(at)
        return [] if at is None else [state._replace(at=at)]

    def _enclosing(self, enclosing: Enclosing, state: _State) -> list[_State]:
        at = self._objects.parent(state.at)
        while at is not None and not self._objects.is_one_of(at, enclosing.classes):
            at = self._objects.parent(at)
        return [] if at is None else [state._replace(at=at)]
