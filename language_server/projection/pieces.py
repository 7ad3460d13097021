"""What stands where in a text: its objects, references and values, and the facts they state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from language_server.constraints.explanation import Fact
from language_server.partial_model import FeatureInfo, ObjectId, PartialModel, identity_of
from language_server.syntax import Assign, Close, Event, Open, Refer


class Piece(NamedTuple):
    """An object, a reference or a value as it stands in a text.

    Attributes:
        number: its place among the pieces of the text.
        event: what it was read as.
        start, end: its span.
        around: number of the object it stands in, -1 for the whole.
    """

    number: int
    event: Open | Assign | Refer
    start: int
    end: int
    around: int


class Pieces:
    """The pieces of a text and the objects of its model that they are about.

    Args:
        events: what was read of the text.
        model: what it means.
    """

    def __init__(self, events: Iterable[Event], model: PartialModel) -> None:
        self.all: list[Piece] = []
        self._model = model
        self._inside: dict[int, list[int]] = defaultdict(list)
        self._nodes: dict[int, ObjectId] = {}  # of the pieces that are objects
        self._of: dict[ObjectId, list[int]] = defaultdict(list)
        self._read(events)
        self._identify()

    def of(self, node: ObjectId | None) -> list[Piece]:
        """Where an object stands: of a keyed one all its mentions that are objects of the text."""
        return [self.all[number] for number in self._of.get(node, ())] if node is not None else []

    def node(self, piece: Piece) -> ObjectId | None:
        """The object that a piece is, None for other pieces."""
        return self._nodes.get(piece.number)

    def inside(self, piece: Piece) -> list[Piece]:
        """What an object is made of."""
        return [self.all[number] for number in self._inside.get(piece.number, ())]

    def around(self, piece: Piece) -> Piece | None:
        """The object that a piece stands in."""
        return self.all[piece.around] if piece.around >= 0 else None

    def feature(self, piece: Piece) -> FeatureInfo | None:
        """The feature of the metamodel that a piece fills."""
        holder = self.around(piece)
        if holder is None or not isinstance(holder.event, Open) or piece.event.feature is None:
            return None
        return self._model.schema.feature_map.get((holder.event.cls, piece.event.feature))

    def stating(self, fact: Fact) -> Iterator[Piece]:
        """The pieces by which the text states a fact, at either of its ends."""
        if not fact.stated or not fact.row:
            return
        ends = [(fact.row[0], fact.row[-1] if len(fact.row) > 1 else None, False)]
        if len(fact.row) == 2:
            ends.append((fact.row[1], fact.row[0], True))
        for owner, other, reverse in ends:
            for holder in self.of(owner):
                for piece in self.inside(holder):
                    feature = self.feature(piece)
                    if feature is None or not self._is_about(piece, other):
                        continue
                    symbols = (feature.opposite,) if reverse else (feature.symbol,)
                    if fact.symbol in (*symbols, *(() if reverse else feature.supersets)):
                        yield piece

    def _is_about(self, piece: Piece, node: ObjectId | None) -> bool:
        """Whether what a piece says is, or may be, about an object; of a value anything is."""
        if node is None:
            return True
        if isinstance(piece.event, Open):
            return self._nodes.get(piece.number) == node
        said = piece.event.name if isinstance(piece.event, Refer) else piece.event.value
        name = self._model.name_of(node)
        return name is None or str(said).casefold().endswith(name.casefold())

    def _read(self, events: Iterable[Event]) -> None:
        around: list[int] = [-1]
        for event in events:
            if isinstance(event, Close):
                if len(around) > 1:
                    self._end(around.pop(), event.end)
                continue
            end = event.start if isinstance(event, Open) else event.end
            piece = Piece(len(self.all), event, event.start, end, around[-1])
            self.all.append(piece)
            self._inside[piece.around].append(piece.number)
            if isinstance(event, Open):
                around.append(piece.number)
        for number in reversed(around[1:]):  # a broken text leaves objects open
            self._end(number, max((each.end for each in self.inside(self.all[number])), default=0))

    def _end(self, number: int, end: int) -> None:
        self.all[number] = self.all[number]._replace(end=max(end, self.all[number].start))

    def _identify(self) -> None:
        model = self._model
        places = {
            (model.place(record.start), record.rule): node
            for node, record in model.nodes.items()
            if record.start >= 0 and record.role != "mentioned"
        }
        for piece in self.all:
            if not isinstance(piece.event, Open):
                continue
            info = model.schema.rules.get(piece.event.cls)
            if info is None:
                continue
            node = places.get((piece.start, piece.event.cls))
            if info.key:
                said = {each.event.feature: _said(each) for each in self.inside(piece)}
                key = tuple(said.get(feature) for feature in info.key)
                node = model.facts.get(identity_of(model.schema, info, key), node)
            if node is not None:
                self._nodes[piece.number] = node
                self._of[node].append(piece.number)


def _said(piece: Piece) -> Any:
    return piece.event.value if isinstance(piece.event, Assign) else None
