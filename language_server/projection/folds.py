"""What the events of a prefix say of the model: remembered for all prefixes that say the same.

The partial model of a prefix is a fold over its trail. It knows the places of the text, so that two
prefixes share it only as far as they share their trails. Whether it is contradictory does not hang
on places: that is found once for all prefixes, as one node of a tree of events.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from language_server.constraints import Assertion, ConstraintSet, Evaluation
from language_server.partial_model import Surroundings
from language_server.syntax import Close, Event, Open, Refer, Trail

# So many are remembered of one beginning, a quarter of a kibibyte each, at most.
_MOST_CONTENTS = 200_000


class Content:
    """A sequence of events without their places; equal ones are one object, unless forgotten.

    Attributes:
        contradictory: whether the constraints contradict it in every completion; None as long as
            nobody has asked.
    """

    __slots__ = ("_behind", "_count", "_root", "contradictory")

    def __init__(self, root: Content | None = None) -> None:
        self._root = root or self
        self._behind: dict[Hashable, Content] = {}
        self._count = 0  # of the root: how many there are
        self.contradictory: bool | None = None

    def then(self, event: Event) -> Content:
        """The sequence with one more event."""
        key = _without_place(event)
        behind = self._behind.get(key)
        if behind is None:
            root = self._root
            root._count += 1
            if root._count > _MOST_CONTENTS:
                root._behind, root._count = {}, 0
            behind = self._behind[key] = Content(root)
        return behind


def _without_place(event: Event) -> Hashable:
    if isinstance(event, Close):
        return ()
    if isinstance(event, Open):
        return event[:3]
    if isinstance(event, Refer):
        return event[:5]
    # Values that Python takes for equal, 1 and 1.0 and True, are not the same.
    return event.feature, event.many, repr(event.value), event.rule


class Fold:
    """What a trail says of the model, kept in `Trail.memo`.

    Attributes:
        content: the events it folds.
    """

    __slots__ = ("_before", "_behind", "_evaluation", "content")

    def __init__(
        self, content: Content, evaluation: Evaluation | None, before: tuple[Fold, Event] | None
    ) -> None:
        self.content = content
        self._evaluation = evaluation
        self._before = before
        self._behind: dict[Event, Fold] = {}

    @property
    def evaluation(self) -> Evaluation:
        """The model and its constraints; made when it is asked for, from the nearest one made."""
        if self._evaluation is None:
            missing: list[tuple[Fold, Event]] = []
            at = self
            while at._evaluation is None and at._before is not None:
                missing.append((at, at._before[1]))
                at = at._before[0]
            evaluation = at._evaluation
            assert evaluation is not None
            for fold, event in reversed(missing):
                evaluation = fold._evaluation = evaluation.refine(event)
                if isinstance(event, Open):
                    at._behind[event] = fold
                fold._before = None  # so that no two refer to each other
                at = fold
        assert self._evaluation is not None
        return self._evaluation

    @property
    def contradictory(self) -> bool:
        """Whether it is violated in every completion."""
        known = self.content.contradictory
        if known is None:
            known = self.content.contradictory = bool(self.evaluation.contradictions)
        return known

    def then(self, event: Event) -> Fold:
        """The fold with one more event."""
        if self.contradictory:
            # A contradiction holds in every refinement: nothing is left to find out behind it.
            return self
        # An object that would begin here is expected anew, with a new trail, in every state until
        # it does.
        known = self._behind.get(event) if isinstance(event, Open) else None
        return known or Fold(self.content.then(event), None, (self, event))


def fold(trail: Trail, initial: Fold) -> Fold:
    """The fold of a trail; costs the events since the last trail that was folded."""
    unread = []
    at = trail
    while at.memo is None and at.parent is not None:
        unread.append(at)
        at = at.parent
    if at.memo is None:
        at.memo = initial
    known: Fold = at.memo
    for at in reversed(unread):
        if at.event is not None:
            known = known.then(at.event)
        at.memo = known
    return known


def beginning(
    constraints: ConstraintSet, given: tuple[Assertion, ...], surroundings: Surroundings | None
) -> Fold:
    """The fold of no event, where some facts are given; the files around may change any time."""
    if surroundings is None:
        return _alone(constraints, given)
    return Fold(Content(), constraints.initial(given, surroundings), None)


@lru_cache(maxsize=16)
def _alone(constraints: ConstraintSet, given: tuple[Assertion, ...]) -> Fold:
    return Fold(Content(), constraints.initial(given), None)
