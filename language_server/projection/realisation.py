"""Writes a goal down: finds text behind a prefix that states a given consistent model.

A depth-first search over terminals that keeps to the goal: what it writes must be part of it, and
an object may only end when all that the goal says of it is stated. Little is left to choose then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from language_server.constraints.goal import Goal
from language_server.partial_model import (
    Draft,
    FeatureInfo,
    ObjectId,
    PartialModel,
    is_foreign,
    names_for,
    refine,
)
from language_server.partial_model.model import Frame
from language_server.projection.attribute_values import attribute_value
from language_server.projection.embedding import Embedding, Fact, Names, Parts, is_called
from language_server.projection.names import new_names
from language_server.projection.spelling import read, spelt
from language_server.syntax import Close, Event, Expected, Open, Trail

if TYPE_CHECKING:
    from language_server.projection.prefix import Prefix

# Terminals the search may write in all, and in one text.
_STEPS = 1500
_DEPTH = 400


@dataclass(frozen=True, slots=True)
class _Option:
    """A terminal to write next."""

    text: str
    insert: str
    names: Names
    rank: tuple[int, int]


class Realisation:
    """One attempt to write a goal.

    Args:
        model: what the start says.
        supposition: that with its references linked as if it ended here; the goal was found for it.

    Attributes:
        stuck: (feature, object) of the partial model that no text was found for; these keep the
            innermost object that is under construction from ending.
    """

    def __init__(
        self, start: Prefix, model: PartialModel, supposition: PartialModel, goal: Goal
    ) -> None:
        self._start = start
        self._goal = goal
        self._base = model
        self._parts = Parts(model, supposition, goal)
        self._steps = 0
        self._models: dict[Trail, PartialModel] = {}
        self._seen: set[object] = set()
        self.stuck: set[tuple[str, ObjectId]] = set()
        self._fewest: int | None = None

    def text(self) -> str | None:
        """What to write behind the prefix, None if nothing was found."""
        found = self._write(self._start, {}, 0)
        return found.text[self._start.state.length :] if found is not None else None

    # ---- search ------------------------------------------------------------------------------

    def _write(self, prefix: Prefix, names: Names, depth: int) -> Prefix | None:
        self._steps += 1
        if self._steps > _STEPS or depth > _DEPTH:
            return None
        trail = prefix.state.finish()
        if trail is not None and self._is_reached(trail, names):
            return prefix
        for option in self._options(prefix, names):
            after = prefix.advance(option.insert)
            if not after.state.alive:
                continue
            signature = self._signature(after)
            if signature in self._seen:
                continue
            self._seen.add(signature)
            found = self._write(after, option.names, depth + 1)
            if found is not None:
                return found
        return None

    def _is_reached(self, trail: Trail, names: Names) -> bool:
        if isinstance(trail.event, Close) and trail.parent is not None:
            trail = trail.parent  # the root ends with the text
        embedding = self._parts.embed(self._model(trail), names)
        return embedding is not None and not any(embedding.missing.values())

    def _signature(self, prefix: Prefix) -> object:
        """Equal for two texts behind which the same may follow and that state as much."""
        return frozenset(
            (id(e.terminal), e.feature, e.typed, e.trail.size, _last_value(e.trail), e.remaining)
            for e in prefix.state.expected()
        )

    def _options(self, prefix: Prefix, names: Names) -> list[_Option]:
        options: dict[str, _Option] = {}
        known: dict[object, Embedding | None] = {}
        for place, expected in enumerate(prefix.state.expected()):
            if expected.terminal.kind == "end" or (expected.typed and prefix is not self._start):
                continue  # a terminal that the search wrote is as long as it meant it to be
            model = self._model(expected.trail)
            says = _says(expected.trail, prefix.state.length)
            if says not in known:
                known[says] = self._parts.embed(model, names)
            embedding = known[says]
            if embedding is None:
                continue
            self._note(model, embedding)
            for text, named, wanted in self._texts(prefix, expected, model, embedding, names):
                if expected.typed:
                    if not text.startswith(expected.typed):
                        continue
                    insert = text[len(expected.typed) :]
                else:
                    insert = prefix.joint(text) + text
                if not insert:
                    continue
                # What is wanted comes first; else, where the object has not all, the grammar's
                # order, and where it has, the shortest way to its end.
                busy = self._lacks(model.frame, embedding)
                rank = (
                    0 if wanted and not text.isspace() else 1,
                    place if busy else expected.remaining,
                )
                options.setdefault(insert, _Option(text, insert, named, rank))
        return sorted(options.values(), key=lambda option: option.rank)

    def _lacks(self, frame: Frame | None, embedding: Embedding) -> bool:
        """Whether an object under construction has not got all that it may be in the goal."""
        if frame is None or frame.info is None:
            return any(embedding.missing.values())
        return any(
            self._parts.missing(node, embedding) for node in self._parts.objects(frame, embedding)
        )

    def _note(self, model: PartialModel, embedding: Embedding) -> None:
        """Remember what is missing where most of the goal is written."""
        count = sum(len(facts) for facts in embedding.missing.values())
        if self._fewest is not None and count >= self._fewest:
            return
        self._fewest = count
        self.stuck = set()
        frame = model.frame
        while frame is not None and not self.stuck:
            node = frame.node
            if node is not None and node in self._base.nodes:
                self.stuck = {(symbol, node) for symbol, _ in embedding.missing.get(node, ())}
            frame = frame.parent

    # ---- what may be written -----------------------------------------------------------------

    def _texts(
        self,
        prefix: Prefix,
        expected: Expected,
        model: PartialModel,
        embedding: Embedding,
        names: Names,
    ) -> Iterator[tuple[str, Names, bool]]:
        """Terminals that state a part of the goal, or nothing at all.

        Yields text, the names with a new one it may give, and whether it is wanted.
        """
        frame = model.frame
        begins = isinstance(expected.trail.event, Open)
        if frame is None or frame.info is None or expected.feature is None:
            yield from ((text, names, begins) for text in _some_text(expected))
            return
        objects = self._parts.objects(frame, embedding)
        key = frame.info.key
        if expected.feature in key or (expected.feature == "name" and not key):
            for target in objects:
                for name, named in self._names(target, expected, model, names):
                    yield name, named, True
            return
        feature = model.schema.feature_map.get((frame.rule, expected.feature))
        if feature is None:
            yield from ((text, names, False) for text in _some_text(expected))
            return
        wanted = [fact for node in objects for fact in self._parts.missing(node, embedding)]
        yield from self._values(prefix, expected, feature, model, wanted, names)
        if key and frame.node is not None and not any(s == feature.symbol for s, _ in wanted):
            yield from self._again(prefix, expected, feature, model, frame.node, names)

    def _again(
        self,
        prefix: Prefix,
        expected: Expected,
        feature: FeatureInfo,
        model: PartialModel,
        node: ObjectId,
        names: Names,
    ) -> Iterator[tuple[str, Names, bool]]:
        """What a keyed object has already, stated again."""
        if feature.attribute:
            if expected.terminal.kind == "keyword":
                yield expected.terminal.text, names, False
                return
            value = model.value(node, feature.symbol)
            rest = value[len(expected.value_begun) :] if isinstance(value, str) else ""
            if rest and expected.terminal.match(rest, 0) == len(rest):
                yield rest, names, False
            return
        facts = [(feature.symbol, target) for target in model.targets(node, feature.symbol)]
        for text, named, _ in self._values(prefix, expected, feature, model, list(facts), names):
            yield text, named, False

    def _values(
        self,
        prefix: Prefix,
        expected: Expected,
        feature: FeatureInfo,
        model: PartialModel,
        wanted: list[Fact],
        names: Names,
    ) -> Iterator[tuple[str, Names, bool]]:
        targets = [target for symbol, target in wanted if symbol == feature.symbol]
        if not targets:
            return
        if feature.attribute:
            value = attribute_value(prefix, expected)
            if value is not None:
                yield value, names, True
            return
        for target in targets:
            if target is None:
                continue
            record = self._parts.record(target)
            if record is not None and record.role == "individual" and expected.target is None:
                yield from self._spellings(expected, record.name or "", names)
            else:
                for name, named in self._names(target, expected, model, names):
                    yield name, named, True

    def _spellings(
        self, expected: Expected, name: str, names: Names
    ) -> Iterator[tuple[str, Names, bool]]:
        """How a given object may be written as a value, whole or the next terminal of it."""
        terminal = expected.terminal
        begun = expected.value_begun
        if terminal.kind == "keyword":
            # Brackets and the like may belong to the value, or stand around it.
            written = (begun + terminal.text).strip("'\"").casefold()
            is_word = any(character.isalnum() for character in terminal.text)
            if not is_word or name.casefold().startswith(written):
                yield terminal.text, names, True
            return
        rest = name[len(begun) :]
        for text in (rest, f'"{rest}"', f"'{rest}'"):
            if terminal.match(text, 0) == len(text):
                yield text, names, True

    def _names(
        self, target: ObjectId, expected: Expected, model: PartialModel, names: Names
    ) -> Iterator[tuple[str, Names]]:
        """The name of an object as it may stand here; a new one where it has none yet."""
        name = self._parts.name(target, names)
        if name is not None:
            if expected.target is not None and model.scopes is not None:
                name = self._name_from_here(target, name, expected, model)
            text = spelt(expected, name) if name.startswith(expected.value_begun) else None
            if text is not None:
                yield text, names
            return
        kind = self._goal.kinds[target]
        keywords = self._start.language.grammar.keywords
        taken = {*names.values(), *(str(name) for name, _ in model.candidates(kind))}
        fresh = next(new_names(expected, kind, taken, keywords), None)
        if fresh is not None:
            yield fresh, {**names, target: expected.value_begun + read(expected, fresh)}

    def _name_from_here(
        self, target: ObjectId, name: str, expected: Expected, model: PartialModel
    ) -> str:
        """The name, as long as it takes to mean that object; as it is where nothing does so far."""
        assert expected.target is not None
        record = self._parts.record(target)
        foreign = record is not None and is_foreign(record)
        if not foreign and target not in self._base.nodes:
            return name  # its declaration is still to come, or has another number here
        for longer, node in names_for(model, expected.feature, expected.target):
            if node == target or (foreign and node is None and is_called(longer, name)):
                return longer
        return name

    # ---- what is written ---------------------------------------------------------------------

    def _model(self, trail: Trail) -> PartialModel:
        """The model behind a trail, without the constraints."""
        unread: list[Trail] = []
        at = trail
        while at.memo is None and at not in self._models and at.parent is not None:
            unread.append(at)
            at = at.parent
        model = self._models[at] if at in self._models else self._start.behind(at).model
        for at in reversed(unread):
            if at.event is not None:
                draft = Draft(model)
                refine(draft, at.event)
                model = draft.commit()
            self._models[at] = model
        return model


def _some_text(expected: Expected) -> Iterator[str]:
    """A text of the expected terminal, if one is known."""
    terminal = expected.terminal
    text = terminal.text if terminal.kind == "keyword" else terminal.example(expected.typed)
    if text is not None:
        yield text


def _says(trail: Trail, length: int) -> object:
    """Equal for the trails of one prefix that say the same."""
    opened = []
    while isinstance(trail.event, Open) and trail.event.start >= length and trail.parent:
        opened.append((trail.event.cls, trail.event.feature))
        trail = trail.parent
    return trail, tuple(opened)


def _last_value(trail: Trail) -> object:
    """The last thing that a trail states."""
    at: Trail | None = trail
    while at is not None and isinstance(at.event, Open | Close):
        at = at.parent
    event: Event | None = at.event if at is not None else None
    return getattr(event, "name", getattr(event, "value", None))
