"""Where the text behind a prefix begins: what is said so far, and what is still under way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from language_server.constraints.goal import Begun
from language_server.constraints.violation import broken_imports
from language_server.partial_model import PartialModel
from language_server.partial_model.model import Frame
from language_server.projection.cases import Slot, can_be_split, refutation
from language_server.syntax import Assign, Close, Event, Expected, Open, Refer, Trail

if TYPE_CHECKING:
    from language_server.constraints import Evaluation, Violation
    from language_server.projection.prefix import Prefix


@dataclass(frozen=True, slots=True)
class Base:
    """Where writing may begin: a prefix, what one reading says of it, and what is under way."""

    prefix: Prefix
    trail: Trail
    model: PartialModel
    begun: tuple[Begun, ...]

    def says(self) -> object:
        """Equal where the text says the same and what is under way can get the same."""
        events = tuple(_without_places(event) for event in self.trail.events())
        return events, tuple(begun.features for begun in self.begun)


def what_each_contradicts(start: Prefix) -> tuple[Violation, ...]:
    """What is violated in every reading, by what the grammar has no place for any more.

    Returns:
        For each reading a violation that holds in every completion; () where not all have one.
    """
    return _refuted(start, lambda _, evaluation: next(iter(evaluation.contradictions), None))


def what_refutes_each(
    start: Prefix, stop: Callable[[], bool] = lambda: False
) -> tuple[Violation, ...]:
    """As `what_each_contradicts`, by a proof by cases, which is given up once ``stop`` is true."""
    return _refuted(start, lambda base, each: refutation(each, tuple(_slots(base, each)), stop))


def _refuted(
    start: Prefix, refute: Callable[[Base, Evaluation], Violation | None]
) -> tuple[Violation, ...]:
    if not start.state.exhaustive or not start.settled.state.exhaustive:
        return ()
    found: list[Violation] = []
    for base in _every_reading(start):
        lost = {
            begun.frame.node: _features_of(begun.frame) - begun.features
            for begun in base.begun
            if begun.frame.node is not None and base.model.nodes[begun.frame.node].role != "keyed"
        }
        evaluation = start.behind(base.trail)
        violation = (
            next(iter(broken_imports(base.model)), None)
            or refute(base, evaluation.shut(lost))
            or next(_too_late(base, evaluation), None)
        )
        if violation is None:
            return ()
        found.append(violation)
    return tuple(found)


def _every_reading(start: Prefix) -> Iterator[Base]:
    """Readings of which every completion of the prefix goes on from one.

    A terminal at the end either ends there, and then white space may follow it, or it goes on as
    something that is not known yet: what was said before it is said then too.
    """
    if start.settled is not start:
        yield from _readings(start, _goes_on)
    yield from _readings(start.settled, _any)


def _goes_on(expected: Expected) -> bool:
    """Whether the terminal at the end may be another one than what stands there and is ended."""
    typed, terminal = expected.typed, expected.terminal
    if not typed:
        return False
    ends = expected.whole and terminal.match(typed + " ", 0) == len(typed)
    return not ends or terminal.may_grow(typed)


def _any(expected: Expected) -> bool:
    return True


def _slots(base: Base, evaluation: Evaluation) -> Iterator[Slot]:
    for begun in reversed(base.begun):
        node = begun.frame.node
        for feature in begun.frame.info.features.values() if begun.frame.info is not None else ():
            if (
                node is not None
                and feature.symbol in begun.features
                and can_be_split(evaluation, feature, node)
            ):
                yield Slot(feature, node)


def _too_late(base: Base, evaluation: Evaluation) -> Iterator[Violation]:
    """Names that the text refers to and has no place to declare any more.

    That is known where the metamodel is what the grammar implies, and the text is all there is.
    """
    language, model = base.prefix.language, base.model
    elsewhere = model.scopes is not None or model.surroundings is not None
    if language.definition.problem is not None or language.own_rules is not None or elsewhere:
        return
    if not base.begun or any(begun.frame.node is None for begun in base.begun):
        return
    classes = _may_get_names(base)
    lost = {
        reference.start
        for reference in model.unresolved()
        if classes.isdisjoint(model.schema.classes[reference.target_class].descendants)
    }
    for violation in evaluation.obligations if lost else ():
        if violation.code == "unresolved-reference" and violation.start in lost:
            yield violation


def _may_get_names(base: Base) -> set[str]:
    """The classes of objects that may still begin, and of those that may still get a name."""
    schema = base.model.schema
    named: set[str] = set()
    waiting: list[str] = []
    for begun in base.begun:
        features = [schema.features[symbol] for symbol in begun.features]
        waiting += (name for each in features if each.containment for name in each.targets)
        if begun.frame.info is not None and any(each.name == "name" for each in features):
            named.add(begun.frame.info.name)
    new: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in new:
            new.add(name)
            for each in schema.classes[name].containments:
                waiting.extend(each.targets)
    return {name for name in named | new if schema.classes[name].named or schema.classes[name].key}


def _features_of(frame: Frame) -> frozenset[str]:
    features = frame.info.features.values() if frame.info is not None else ()
    return frozenset(feature.symbol for feature in features)


def _without_places(event: Event) -> object:
    match event:
        case Open(cls, feature):
            return cls, feature
        case Assign(feature, _, value):
            return feature, value
        case Refer(feature, _, target, name):
            return feature, target, name
    return None


def bases(start: Prefix, terminals: int = 3) -> Iterator[Base]:
    """The prefix in each of its readings; where it ends within a value, with that completed."""
    yield from _readings(start)
    expected = start.state.expected()
    if terminals == 0 or not any(e.typed or e.value_begun for e in expected):
        return
    within = all(e.typed or e.value_begun for e in expected)
    for move in sorted(start.moves(), key=lambda move: move.remaining):
        if move.insert and (within or move.start < start.state.length):
            after = start.advance(move.insert)
            if after.alive:
                yield from bases(after, terminals - 1)


def _is_between(expected: Expected) -> bool:
    """Whether the prefix ends between two values."""
    return not expected.typed and not expected.value_begun


def _readings(prefix: Prefix, which: Callable[[Expected], bool] = _is_between) -> Iterator[Base]:
    """What the readings of a prefix say, without objects that need not begin or end here.

    Of a terminal that is under way only what is said before it.
    """
    groups: dict[Trail, list[tuple[Expected, list[Trail]]]] = {}
    for expected in prefix.state.expected():
        if not which(expected):
            continue
        opened: list[Trail] = []
        trail = expected.trail
        while isinstance(trail.event, Open) and trail.event.start >= prefix.state.length:
            opened.append(trail)
            assert trail.parent is not None
            trail = trail.parent
        groups.setdefault(trail, []).append((expected, opened[::-1]))
    may_end = prefix.state.finish() is not None
    for trail, members in groups.items():
        if any(at in groups for at in _before(trail)):
            continue
        # An object that may end here need not get anything more.
        may_close = may_end or any(trail in _before(other) for other in groups)
        common = [] if may_close else _common([opened for _, opened in members])
        at = common[-1] if common else trail
        evaluation = prefix.behind(at)
        if not evaluation.contradictions:
            further = [(expected, len(opened) - len(common)) for expected, opened in members]
            begun = _begun(evaluation.model, further, may_close)
            yield Base(prefix, at, evaluation.model, begun)


def _common(readings: list[list[Trail]]) -> list[Trail]:
    """The objects that begin in every reading, as trails of the first one."""
    common = []
    for at_once in zip(*readings, strict=False):
        if any(each.event != at_once[0].event for each in at_once):
            break
        common.append(at_once[0])
    return common


def _begun(
    model: PartialModel, readings: list[tuple[Expected, int]], may_close: bool
) -> tuple[Begun, ...]:
    """The objects under construction with the features they can get.

    Args:
        readings: terminals that may follow, with how many objects begin with them that need not.
        may_close: whether the innermost object may also end here.
    """
    frames = []
    frame = model.frame
    while frame is not None:
        frames.append(frame)
        frame = frame.parent
    names: list[set[str]] = [set() for _ in frames]
    for expected, skipped in readings:
        for depth, (features, inner) in enumerate(expected.fillable[skipped:]):
            if depth < len(names):
                names[depth] |= features
                # What an object inside fills is not stated as long as that one is not there.
                is_open = frames[depth - 1].node is None if depth else skipped > 0
                if is_open and inner is not None:
                    names[depth].add(inner)
    mapped = model.schema.feature_map

    def symbols(frame: Frame, found: set[str]) -> frozenset[str]:
        return frozenset(mapped[frame.rule, n].symbol for n in found if (frame.rule, n) in mapped)

    filled = {_filled(expected, skipped) for expected, skipped in readings}
    following = {name for name in filled if name is not None}
    required = following if len(filled) == 1 and not may_close else set()
    innermost = frames[0] if frames else None
    return tuple(
        Begun(
            frame,
            symbols(frame, found),
            symbols(frame, required if frame is innermost else set()),
            symbols(frame, following if frame is innermost else set()),
        )
        for frame, found in zip(frames[::-1], names[::-1], strict=True)
    )


def _filled(expected: Expected, skipped: int) -> str | None:
    """What of the innermost object a terminal fills, where so many objects need not begin."""
    if not skipped:
        return expected.feature
    # The end of a text may come before any object has begun.
    behind = expected.fillable[skipped : skipped + 1]
    return behind[0][1] if behind else None


def _before(trail: Trail) -> Iterator[Trail]:
    """The trails that one goes on from by ends of objects alone."""
    while isinstance(trail.event, Close) and trail.parent is not None:
        trail = trail.parent
        yield trail
