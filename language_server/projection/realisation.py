"""Writes a goal down: finds text behind a prefix that states a given consistent model.

A depth-first search over terminals that keeps to the goal: what it writes must be part of it, and
an object may only end when all that the goal says of it is stated. Little is left to choose then.
"""

from __future__ import annotations

from collections import defaultdict
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
    said_since,
)
from language_server.partial_model.model import Frame
from language_server.projection.attribute_values import attribute_value
from language_server.projection.names import new_names
from language_server.projection.spelling import read, spelt
from language_server.syntax import Close, Event, Expected, Open, Trail

if TYPE_CHECKING:
    from language_server.projection.prefix import Prefix

# Terminals the search may write in all, and in one text.
_STEPS = 1500
_DEPTH = 400
_Names = dict[ObjectId, str]
_Fact = tuple[str, ObjectId | None]


@dataclass(frozen=True, slots=True)
class _Embedding:
    """Which object of the goal each object of the model is, and what is not stated yet."""

    of: dict[ObjectId, ObjectId]
    missing: dict[ObjectId, set[_Fact]]


@dataclass(frozen=True, slots=True)
class _Option:
    """A terminal to write next."""

    text: str
    insert: str
    names: _Names
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
        self._supposed = supposition.nodes
        self._steps = 0
        self._models: dict[Trail, PartialModel] = {}
        self._seen: set[object] = set()
        self._facts: dict[ObjectId, set[_Fact]] = defaultdict(set)
        self._open_in_base = {
            node for node, record in model.nodes.items() if record.open and record.role != "new"
        }
        self._mentioned = [
            node
            for node, record in supposition.nodes.items()
            if record.role == "mentioned" and not is_foreign(record)
        ]

        def _is_supposed(symbol: str, source: ObjectId, target: ObjectId) -> bool:
            place = (symbol, ">", source)
            is_said = target in supposition.facts.get(place, ())
            return is_said and target not in model.facts.get(place, ())

        # What no text writes follows from its opposite.
        self._written = {feature.symbol for feature in model.schema.feature_map.values()}
        for symbol, source, target in goal.links:
            if symbol in self._written and not _is_supposed(symbol, source, target):
                self._facts[source].add((symbol, target))
        for symbol, node in goal.values:
            self._facts[node].add((symbol, None))
        self.stuck: set[tuple[str, ObjectId]] = set()
        self._fewest: int | None = None

    def text(self) -> str | None:
        """What to write behind the prefix, None if nothing was found."""
        found = self._write(self._start, {}, 0)
        return found.text[self._start.state.length :] if found is not None else None

    # ---- search ------------------------------------------------------------------------------

    def _write(self, prefix: Prefix, names: _Names, depth: int) -> Prefix | None:
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

    def _is_reached(self, trail: Trail, names: _Names) -> bool:
        if isinstance(trail.event, Close) and trail.parent is not None:
            trail = trail.parent  # the root ends with the text
        embedding = self._embed(self._model(trail), names)
        return embedding is not None and not any(embedding.missing.values())

    def _signature(self, prefix: Prefix) -> object:
        """Equal for two texts behind which the same may follow and that state as much."""
        return frozenset(
            (id(e.terminal), e.feature, e.typed, e.trail.size, _last_value(e.trail), e.remaining)
            for e in prefix.state.expected()
        )

    def _options(self, prefix: Prefix, names: _Names) -> list[_Option]:
        options: dict[str, _Option] = {}
        known: dict[object, _Embedding | None] = {}
        for place, expected in enumerate(prefix.state.expected()):
            if expected.terminal.kind == "end" or (expected.typed and prefix is not self._start):
                continue  # a terminal that the search wrote is as long as it meant it to be
            model = self._model(expected.trail)
            says = _says(expected.trail, prefix.state.length)
            if says not in known:
                known[says] = self._embed(model, names)
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

    def _lacks(self, frame: Frame | None, embedding: _Embedding) -> bool:
        """Whether an object under construction has not got all that it may be in the goal."""
        if frame is None or frame.info is None:
            return any(embedding.missing.values())
        return any(self._missing(node, embedding) for node in self._objects(frame, embedding))

    def _note(self, model: PartialModel, embedding: _Embedding) -> None:
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
        embedding: _Embedding,
        names: _Names,
    ) -> Iterator[tuple[str, _Names, bool]]:
        """Terminals that state a part of the goal, or nothing at all.

        Yields text, the names with a new one it may give, and whether it is wanted.
        """
        frame = model.frame
        begins = isinstance(expected.trail.event, Open)
        if frame is None or frame.info is None or expected.feature is None:
            yield from ((text, names, begins) for text in _some_text(expected))
            return
        objects = self._objects(frame, embedding)
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
        wanted = [fact for node in objects for fact in self._missing(node, embedding)]
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
        names: _Names,
    ) -> Iterator[tuple[str, _Names, bool]]:
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
        wanted: list[_Fact],
        names: _Names,
    ) -> Iterator[tuple[str, _Names, bool]]:
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
            record = self._supposed.get(target)
            if record is not None and record.role == "individual" and expected.target is None:
                yield from self._spellings(expected, record.name or "", names)
            else:
                for name, named in self._names(target, expected, model, names):
                    yield name, named, True

    def _spellings(
        self, expected: Expected, name: str, names: _Names
    ) -> Iterator[tuple[str, _Names, bool]]:
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
        self, target: ObjectId, expected: Expected, model: PartialModel, names: _Names
    ) -> Iterator[tuple[str, _Names]]:
        """The name of an object as it may stand here; a new one where it has none yet."""
        name = self._name(target, names)
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

    def _name(self, target: ObjectId, names: _Names) -> str | None:
        record = self._supposed.get(target)
        return names.get(target, record.name if record is not None else None)

    def _name_from_here(
        self, target: ObjectId, name: str, expected: Expected, model: PartialModel
    ) -> str:
        """The name, as long as it takes to mean that object; as it is where nothing does so far."""
        assert expected.target is not None
        for longer, node in names_for(model, expected.feature, expected.target):
            if node == target or (node is None and _is_called(longer, name)):
                return longer
        return name

    def _objects(self, frame: Frame, embedding: _Embedding) -> list[ObjectId]:
        """The objects of the goal that the one under construction can be."""
        if frame.node is not None and frame.node in embedding.of:
            return [embedding.of[frame.node]]
        return self._unwritten(frame, embedding)

    def _unwritten(self, frame: Frame, embedding: _Embedding) -> list[ObjectId]:
        """Objects of the goal that may begin at a frame whose identity is not known yet."""
        assert frame.info is not None
        if frame.parent is None or frame.parent.info is None or frame.feature is None:
            written = set(embedding.of.values())
            return [
                node
                for node, kind in self._goal.kinds.items()
                if kind == frame.info.name and node >= self._base.next_id and node not in written
            ]
        return [
            target
            for source in self._objects(frame.parent, embedding)
            for symbol, target in self._missing(source, embedding)
            if symbol == frame.feature.symbol
            and target is not None
            and self._goal.kinds.get(target) == frame.info.name
        ]

    def _missing(self, node: ObjectId, embedding: _Embedding) -> list[_Fact]:
        """What the goal says of an object that is not stated yet, in a fixed order."""
        facts = embedding.missing.get(node)
        if facts is None:
            facts = self._facts.get(node, set())
        return sorted(facts, key=lambda fact: (fact[0], -1 if fact[1] is None else fact[1]))

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

    def _embed(self, model: PartialModel, names: _Names) -> _Embedding | None:
        """The model as a part of the goal; None if it is none, or cannot become all of it."""
        base, goal = self._base, self._goal
        if len(model.ambiguous) > len(base.ambiguous) or len(model.conflicts) > len(base.conflicts):
            return None
        # A mentioned object that a declaration with another number has taken over is told by name.
        gone = (n for n in self._mentioned if n not in model.nodes or n not in base.nodes)
        by_name = {self._supposed[node].name: node for node in gone}
        by_name.update((name, node) for node, name in names.items())
        of: dict[ObjectId, ObjectId] = {}
        unnamed = []
        said = said_since(model, base)
        for node, record in model.nodes.items():
            if node in base.nodes:
                of[node] = node
            elif record.name is None:
                unnamed.append(node)
            elif record.name in by_name:
                of[node] = by_name[record.name]
            else:
                return None
        for node in sorted(unnamed):
            if model.nodes[node].role == "keyed":
                continue  # its key is not known yet
            target = self._match(model, node, of, said.get(node, []), names)
            if target is None:
                return None
            of[node] = target
        missing: dict[ObjectId, set[_Fact]] = {}
        # An object that is mentioned and now being declared is two as long as it has no name.
        for node, target in of.items():
            if target in base.nodes and target not in self._open_in_base:
                continue
            record = model.nodes[node]
            if record.kinds.isdisjoint((goal.kinds.get(target, ""),)):
                return None
            stated = self._stated(model, node, of)
            meant = self._meant(target, said.get(node, []), names)
            if stated is None or meant is None or not stated <= self._facts[target]:
                return None
            stated |= meant
            missing[target] = missing.get(target, self._facts[target]) - stated
            if missing[target] and not record.open:
                return None
        for node in goal.kinds:
            if node >= base.next_id and node not in missing:
                missing[node] = set(self._facts[node])
        embedding = _Embedding(of, missing)
        frame = model.frame
        while frame is not None:
            unknown = frame.node is None and frame.info is not None
            if unknown and not self._unwritten(frame, embedding):
                return None
            frame = frame.parent
        return embedding

    def _match(
        self,
        model: PartialModel,
        node: ObjectId,
        of: dict[ObjectId, ObjectId],
        said: list[tuple[str, str]],
        names: _Names,
    ) -> ObjectId | None:
        """The object of the goal that an unnamed one of the model can be: the first that fits."""
        containers = model.facts.get(("contains", "<", node), ())
        taken = {of[other] for other in of if model.nodes[other].role != "mentioned"}
        kind = model.cls_of(node)
        places = {
            (symbol, of[source])
            for source in containers
            if source in of
            for symbol in self._containments(model, source, node)
        }
        stated = self._stated(model, node, of)
        if stated is None:
            return None
        for target, target_kind in sorted(self._goal.kinds.items()):
            if target_kind != kind or target in taken or target < 0:
                continue
            record = self._base.nodes.get(target)
            if record is not None and record.role != "mentioned":
                continue
            if places and not any((s, target) in self._facts[source] for s, source in places):
                continue
            if stated <= self._facts[target] and self._meant(target, said, names) is not None:
                return target
        return None

    def _meant(
        self, node: ObjectId, said: list[tuple[str, str]], names: _Names
    ) -> set[_Fact] | None:
        """What references by name state of an object of the goal; None if it has no such thing.

        What they mean is known when the text has ended: here the name counts.
        """
        found: set[_Fact] = set()
        for symbol, said_name in said:
            for fact in self._facts[node] - found:
                name = self._name(fact[1], names) if fact[1] is not None else None
                if fact[0] == symbol and name is not None and _is_called(said_name, name):
                    found.add(fact)
                    break
            else:
                return None
        return found

    def _containments(self, model: PartialModel, source: ObjectId, node: ObjectId) -> Iterator[str]:
        for feature in model.schema.classes[model.cls_of(source)].features.values():
            if feature.containment and node in model.facts.get((feature.symbol, ">", source), ()):
                yield feature.symbol

    def _stated(
        self, model: PartialModel, node: ObjectId, of: dict[ObjectId, ObjectId]
    ) -> set[_Fact] | None:
        """What the model says of an object, in the goal's objects; None if it has no such thing.

        Objects that are not matched yet are left out.
        """
        facts: set[_Fact] = set()
        for kind in model.nodes[node].kinds:
            for feature in model.schema.classes[kind].features.values():
                if feature.symbol not in self._written:
                    continue
                if not feature.attribute:
                    for target in model.facts.get((feature.symbol, ">", node), ()):
                        if target in of:
                            facts.add((feature.symbol, of[target]))
                elif self._is_news(model, node, feature, of.get(node)):
                    facts.add((feature.symbol, None))
        return facts

    def _is_news(
        self, model: PartialModel, node: ObjectId, feature: FeatureInfo, target: ObjectId | None
    ) -> bool:
        """Whether an attribute has a value that the goal must speak of."""
        value = model.facts.get((feature.symbol, "=", node))
        if value is None or value is False:
            return False
        if target is not None and (feature.symbol, target) in self._goal.values:
            return True
        if node in self._base.nodes and value == self._base.facts.get((feature.symbol, "=", node)):
            return False
        # Names and keys tell which object it is.
        info = model.schema.classes[model.cls_of(node)]
        return feature.name != "name" and feature.name not in info.key


def _is_called(said: str, name: str) -> bool:
    """Whether a name, which may be qualified, ends with that of an object."""
    rest = said.removesuffix(name)
    return said.endswith(name) and (not rest or not rest[-1].isalnum())


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
