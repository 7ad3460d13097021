"""The model of a whole text, changed by what an edit of the text changes.

A text is read into a model event by event (`refinement`). After an edit most events are the same
as before. What the others stated is taken back (`retraction`), what stands there now is added, and
references by name are resolved again where it matters; the events behind are passed over as soon as
they speak of the same objects as before. The result is, but for the numbers of the objects, the
model of the new text read from its beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, takewhile
from typing import Any

from immutables import Map, MapMutation

from language_server.partial_model.draft import Draft
from language_server.partial_model.model import Frame, ObjectId, PartialModel
from language_server.partial_model.refinement import end, extend, present
from language_server.partial_model.retraction import Begun, Number, Retraction
from language_server.partial_model.schema import Schema
from language_server.syntax.document import Parse, Segment
from language_server.syntax.events import Assign, Close, Event, Open, Refer

Objects = Map[Number, Begun] | MapMutation[Number, Begun]


class Reading:
    """How a model was read from a text; a persistent value.

    Attributes:
        segments: of the text.
        tops: the innermost object that is open before each segment and at the end, -1 for none.
        objects: the objects of the text.
        numbers: number of the object that begins at a place, by place and class, and of the
            reference there, by place and ''.
        count: of objects so far.
        final: whether the model cannot be changed, since it does not tell what else was stated.
    """

    __slots__ = ("count", "final", "numbers", "objects", "segments", "tops")

    def __init__(
        self,
        segments: tuple[Segment, ...],
        tops: tuple[Number, ...],
        objects: Map[Number, Begun],
        numbers: Map[tuple[int, str], Number],
        count: int,
        final: bool,
    ) -> None:
        self.segments = segments
        self.tops = tops
        self.objects = objects
        self.numbers = numbers
        self.count = count
        self.final = final

    @staticmethod
    def of(draft: Draft, parse: Parse) -> Reading:
        """Read a text into the model of the empty text; the model is closed then."""
        nothing: Any = Map()
        draft.place = parse.anchors
        if draft.scopes is not None:
            draft.scopes = draft.scopes.placed(parse.anchors, -1)
        change = _Change(draft, Reading((), (), nothing, nothing, 0, not changeable(draft)))
        tops = []
        for segment in parse.segments:
            tops.append(change.top)
            for event in segment.anchored():
                change.add(event)
        tops.append(change.top)
        change.finish()
        end(draft)
        return change.reading(parse.segments, tuple(tops))

    def edited(self, draft: Draft, parse: Parse) -> Reading | None:
        """Change the model of this reading to that of the edited text.

        Returns:
            The reading of that text; None, and a draft of no use, where that is not possible.
        """
        if self.final:
            return None
        return _Change(draft, self).edit(parse)

    def reopened(self, model: PartialModel) -> PartialModel:
        """The model of the text as it was before the last object and those around it ended.

        Args:
            model: that of the text, closed.
        """
        draft = Draft(model)
        draft.closed = False
        draft.frame = frame = frame_of(model.schema, self.objects, self._last_top())
        while frame is not None:
            if frame.node is not None:
                draft.nodes[frame.node] = draft.nodes[frame.node]._replace(open=True, end=-1)
            frame = frame.parent
        late = {
            key
            for each in model.schema.features.values()
            if each.late
            for key in (each.forward, each.backward)
        }
        reopened = draft.commit()
        if late:
            stated: Any = _Unlinked(reopened.stated, late)
            reopened.stated = stated
        return reopened

    def _last_top(self) -> Number:
        """The object that the last event belongs to; what it closes counts as open."""
        at = len(self.segments) - 1
        while at > 0 and not self.segments[at].events:
            at -= 1
        last = top = self.tops[at]
        for event in self.segments[at].anchored():
            if isinstance(event, Open):
                top = self.numbers[event.start, event.cls]
            last = top
            if isinstance(event, Close) and top >= 0:
                top = self.objects[top].parent
        return last


class _Unlinked:
    """What is stated, without the references that are known only when the text has ended."""

    def __init__(self, stated: Map[ObjectId, Mapping[str, Any]], late: set[str]) -> None:
        self._stated = stated
        self._late = late

    def get(self, node: ObjectId, default: Mapping[str, Any]) -> Mapping[str, Any]:
        said = self._stated.get(node, default)
        return {key: value for key, value in said.items() if key not in self._late}


def changeable(draft: Draft) -> bool:
    """Whether a model keeps what is needed to take back what a text states.

    Where several mentions make one object (keys), the facts do not tell which of them stated what;
    and what other files declare is looked up anew for each version of a text.
    """
    if draft.scopes is not None and draft.scopes.rules.imports:
        return False
    return not any(info.key for info in draft.schema.classes.values())


def frame_of(schema: Schema, objects: Objects, top: Number) -> Frame | None:
    """The objects under construction where ``top`` is the innermost one."""
    numbers = []
    while top >= 0:
        numbers.append(top)
        top = objects[top].parent
    frame: Frame | None = None
    for number in reversed(numbers):
        _, event, node = objects[number]
        feature = None
        if frame is not None and event.feature is not None:
            feature = schema.feature_map.get((frame.rule, event.feature))
        info = schema.rules.get(event.cls)
        frame = Frame(frame, node, event.cls, info, feature, event.start)
    return frame


class _Change:
    """A model and its reading while they are being changed."""

    def __init__(self, draft: Draft, before: Reading) -> None:
        self.draft = draft
        self.top = -1
        self._before = before
        self._objects = before.objects.mutate()
        self._numbers = before.numbers.mutate()
        self._count = before.count

    def reading(self, segments: tuple[Segment, ...], tops: tuple[Number, ...]) -> Reading:
        """The reading that belongs to the changed model."""
        objects, numbers = self._objects.finish(), self._numbers.finish()
        final = self._before.final or self.draft.revised
        return Reading(segments, tops, objects, numbers, self._count, final)

    # ---- what a text states --------------------------------------------------------------------

    def add(self, event: Event) -> None:
        """Refine the model, and keep which objects are in it."""
        draft = self.draft
        if isinstance(event, Open):
            place = (event.start, event.cls)
            if place in self._numbers:
                draft.revised = True  # two objects that cannot be told apart
            self._numbers[place] = self._count
            self._objects[self._count] = Begun(self.top, event, None)
            self.top = self._count
            self._count += 1
        elif isinstance(event, Close):
            if self.top < 0 or draft.frame is None:
                return
            frame = draft.frame = present(draft, draft.frame)
            parent, begin, _ = self._objects[self.top]
            if frame.node is not None:
                self._objects[self.top] = Begun(parent, begin, frame.node)
            self.top = parent
        elif isinstance(event, Refer):
            if draft.scopes is not None and self.top >= 0:
                self._numbers[event.start, ""] = draft.scopes.said
        elif draft.scopes is not None and event.feature == "name":
            draft.revised |= self.top >= 0 and draft.scopes.name(self.top) is not None
        extend(draft, event)

    def finish(self) -> None:
        """The text ends here: all objects under construction end with it."""
        while self.top >= 0:
            self.add(Close(-1))

    # ---- an edit -------------------------------------------------------------------------------

    def edit(self, parse: Parse) -> Reading | None:
        """Change the model to that of another text."""
        draft, before = self.draft, self._before
        old, new = before.segments, parse.segments
        head = _shared(old, new)
        tail = _shared(old[head:][::-1], new[head:][::-1])
        parts = [list(segment.anchored()) for segment in new[head : len(new) - tail]]
        old_events = [e for each in old[head : len(old) - tail] for e in each.anchored()]
        new_events = list(chain.from_iterable(parts))
        first = _same(old_events, new_events)
        last = _same(old_events[first:][::-1], new_events[first:][::-1])
        gone = old_events[first : len(old_events) - last]
        come = new_events[first : len(new_events) - last]

        retraction = Retraction(draft, self._objects, self._numbers, before.count)
        for event in chain(gone, come):
            retraction.expect(event)
        begin = before.tops[head]
        top = retraction.past(old_events[:first], begin)
        behind = retraction.take_back(gone, top)
        pairs = zip(old_events, new_events[:first], strict=False)
        retraction.move(pairs, begin)
        pairs = zip(old_events[len(old_events) - last :], new_events[-last:], strict=True)
        retraction.move(pairs if last else (), behind)

        draft.place = parse.anchors
        draft.held = []
        if draft.scopes is not None:
            draft.scopes = draft.scopes.placed(parse.anchors, top)
        draft.frame = frame_of(draft.schema, self._objects, top)
        self.top = top
        self._add_all(come, retraction)
        rest = iter(new_events[len(new_events) - last :])
        passed = 0  # segments behind the change whose events are added again
        while self.top != behind and not draft.revised:
            following = next(rest, None)
            if following is not None:
                behind = retraction.take_back((following,), behind)
                self._add_all((following,), retraction)
            elif passed < tail:
                parts.append(list(new[len(new) - tail + passed].anchored()))
                rest = iter(parts[-1])
                passed += 1
            else:
                break
        if draft.revised:
            return None
        tops = [*before.tops[:head], *self._tops(parts, begin)]
        if self.top == behind:
            tops += before.tops[len(old) - tail + passed :]
        else:
            tops.append(self.top)
            self.finish()
        draft.frame = None
        retraction.finish(draft.held, parse)
        if draft.revised:
            return None
        draft.held = None
        return self.reading(new, tuple(tops))

    def _add_all(self, events: Iterable[Event], retraction: Retraction) -> None:
        for event in events:
            if self.draft.revised:
                return
            retraction.expect(event)
            retraction.make_room(event, self.top)
            self.add(event)
            retraction.added(event, self.top)

    def _tops(self, parts: Iterable[Iterable[Event]], top: Number) -> Iterator[Number]:
        """The innermost object before each part of the text, which begins within ``top``."""
        for part in parts:
            yield top
            for event in part:
                if isinstance(event, Open):
                    top = self._numbers[event.start, event.cls]
                elif isinstance(event, Close) and top >= 0:
                    top = self._objects[top].parent


def _shared(one: tuple[Segment, ...], other: tuple[Segment, ...]) -> int:
    """How many segments two texts share at their beginning."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))


def _same(one: list[Event], other: list[Event]) -> int:
    """How many events at the beginning say the same, wherever they stand."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: _says(pair[0]) == _says(pair[1]), pairs))


def _says(event: Event) -> tuple[Any, ...]:
    if isinstance(event, Open):
        return event[:3]
    if isinstance(event, Assign):
        return (*event[:4], type(event.value))  # True is no 1
    return event[:5] if isinstance(event, Refer) else ()
