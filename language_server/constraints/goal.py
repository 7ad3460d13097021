"""What the solver is asked for, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from language_server.partial_model import ObjectId
from language_server.partial_model.model import Frame


@dataclass(frozen=True, slots=True)
class Goal:
    """A consistent model, as far as objects and their features go.

    Attributes:
        kinds: the class of each object; numbers from ``PartialModel.next_id`` on are new ones.
        links: all references that hold, those of the partial model included.
        values: attributes to be stated: (symbol, object) to True for a flag, None for some value.
        price: what it takes to write, by the prices of the wish.
    """

    kinds: dict[ObjectId, str]
    links: frozenset[tuple[str, ObjectId, ObjectId]]
    values: dict[tuple[str, ObjectId], bool | None]
    price: int = 0


@dataclass(frozen=True, slots=True)
class Begun:
    """An object under construction, in its place.

    Attributes:
        frame: of the model; its node is None as long as its identity is not known.
        features: symbols of the features that its text can still state.
        required: those that it must state next, whatever follows.
        next: those whose values may stand right behind what is written.
    """

    frame: Frame
    features: frozenset[str]
    required: frozenset[str] = frozenset()
    next: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Prices:
    """What a goal takes to write, to be kept low.

    Attributes:
        objects: of an object by its class, without its features; 3 where nothing is said.
        first: of the first target of a feature, or of its value; 1 where nothing is said.
        further: of each further target; 1 where nothing is said.
    """

    objects: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, int] = field(default_factory=dict)
    further: Mapping[str, int] = field(default_factory=dict)


# By class and feature of an object, the features that it then has too.
Companions = Mapping[tuple[str, str], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Wish:
    """What the goal must fit.

    Attributes:
        pool: new objects at most, of each class or by class.
        root: class of the model's root where the text has not begun it yet.
        begun: the objects under construction, the outermost first.
        forbidden: further features of objects that the text has no place for.
        prices: what to keep low.
        companions: what is stated together or not at all.
        below: the price has to be lower, None for any price.
    """

    pool: int | Mapping[str, int]
    root: str | None = None
    begun: tuple[Begun, ...] = ()
    forbidden: frozenset[tuple[str, ObjectId]] = field(default_factory=frozenset)
    prices: Prices = Prices()
    companions: Companions = field(default_factory=dict)
    below: int | None = None
