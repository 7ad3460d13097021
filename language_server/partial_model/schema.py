"""What the store must know of a metamodel: classes, features and how parse events map to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from language_server.partial_model.scopes import Scopes

NEW = "::new"  # suffix of the name of the object that stands for all future objects of a class


@dataclass(frozen=True, slots=True)
class FeatureInfo:
    """A feature, resolved.

    Attributes:
        symbol: ``Owner::name``.
        sources: all classes whose objects have the feature.
        targets: all classes that may stand at its end (empty for an attribute).
        supersets: symbols of the features whose subset it is.
        revisable: later text may replace a stated value (``conflict last`` of a keyed class).
        indirect: it may also be stated at its opposite or through a subset, or it is late.
        late: what the text refers to by it (or by its opposite or a subset) is known only when the
            text has ended.
        looked_up: objects are looked for by their value of the attribute.
        inverse: it is kept by its opposite: they are one relation, of which it is the other end.
        bounded: it has a lower bound or is a reference with an upper one.
        forward: where the model keeps of an object what it states by the feature.
        backward: where it keeps of an object which others refer to it by the feature.
    """

    symbol: str
    name: str
    owner: str
    target: str
    lower: int
    upper: int | None
    containment: bool
    attribute: bool
    opposite: str | None
    supersets: tuple[str, ...]
    sources: frozenset[str]
    targets: frozenset[str]
    revisable: bool = False
    indirect: bool = False
    late: bool = False
    looked_up: bool = False
    inverse: bool = False
    bounded: bool = field(init=False)
    forward: str = field(init=False)
    backward: str = field(init=False)

    def __post_init__(self) -> None:
        many = self.upper is not None and not self.attribute
        object.__setattr__(self, "bounded", self.lower > 0 or many)
        forward, backward = ("=" if self.attribute else ">") + self.symbol, "<" + self.symbol
        if self.inverse:
            forward, backward = f"<{self.opposite}", f">{self.opposite}"
        elif self.opposite == self.symbol:
            backward = forward
        object.__setattr__(self, "forward", forward)
        object.__setattr__(self, "backward", backward)


@dataclass(frozen=True, slots=True)
class ClassInfo:
    """A class with everything it inherits.

    Attributes:
        descendants: the class itself and all its subclasses.
        kinds: those of them an object can be made of (not abstract).
        ancestors: the class itself and all its superclasses.
        features: by name, inherited ones included.
        bounded: those of its features that are.
        key: names of the features that identify an object among all mentions (``@key``).
        named: whether objects have a ``name`` by which text refers to them.
        individuals: name to object for the given objects of this class (enum literals, atoms).
    """

    name: str
    abstract: bool
    descendants: frozenset[str]
    kinds: frozenset[str]
    ancestors: frozenset[str]
    features: Mapping[str, FeatureInfo]
    bounded: tuple[FeatureInfo, ...]
    containments: tuple[FeatureInfo, ...]
    key: tuple[str, ...]
    conflict: Literal["error", "first", "last"]
    named: bool
    individuals: Mapping[str, int]
    exact: frozenset[str] = field(default_factory=frozenset)  # {name}, shared


@dataclass(frozen=True)
class Schema:
    """A metamodel and the mapping from parse events to it.

    Attributes:
        classes, features: by name and by symbol.
        rules: class of the theory for each class of the grammar; what is missing is not modelled.
        feature_map: feature for each (class of the grammar, feature of the grammar).
        individuals: name to object for all given objects; ``new``: class to its ``C::new`` object.
        case_insensitive: classes whose individuals text may name in any case.
        no_scopes: the scopes of the empty text, None where all references are by plain name.
    """

    classes: Mapping[str, ClassInfo]
    features: Mapping[str, FeatureInfo]
    rules: Mapping[str, ClassInfo]
    feature_map: Mapping[tuple[str, str], FeatureInfo]
    individuals: Mapping[str, int]
    new: Mapping[str, int]
    case_insensitive: frozenset[str] = frozenset()
    no_scopes: Scopes | None = None

    @cached_property
    def entailed(self) -> Mapping[str, tuple[tuple[FeatureInfo, bool], ...]]:
        """What a statement of each reference says: the relations that are kept, itself the first.

        By its opposite, by what it is a subset of, by what those are; each once, and with whether
        the ends are exchanged.
        """
        found = {}
        for feature in self.features.values():
            if not feature.attribute:
                found[feature.symbol] = tuple(
                    (each, exchanged)
                    for each, exchanged in entailments(self.features, feature)
                    # A reference that is its own opposite says the same with its ends exchanged.
                    if not each.inverse and not (exchanged and each.opposite == each.symbol)
                )
        return found


def entailments(
    features: Mapping[str, FeatureInfo], feature: FeatureInfo
) -> Sequence[tuple[FeatureInfo, bool]]:
    """What a statement of a feature entails, itself the first; whether the ends are exchanged."""
    found = [(feature, False)]
    for each, exchanged in found:  # which grows meanwhile
        follow = [(features[above], exchanged) for above in each.supersets]
        if each.opposite is not None:
            follow.append((features[each.opposite], not exchanged))
        found += (one for one in dict.fromkeys(follow) if one not in found)
    return found
