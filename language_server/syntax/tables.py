"""What can be read next from a slot, computed once per slot and indexed by the next character.

From a slot one comes, without reading anything, to terminals or to the end of the rule. Each such
way is a ``Path``; a ``Table`` holds the paths of a slot in the order of preference. Most texts need
only these: where one path fits the next character, nothing else is tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from language_server.syntax.slots import (
    AssignSlot,
    CallSlot,
    ChoiceSlot,
    CloseSlot,
    Layout,
    MatchSlot,
    PredicateSlot,
    Result,
    ReturnSlot,
    Slot,
)

#: Slots with more paths than this get no table.
MOST_PATHS = 2000


@dataclass(frozen=True, slots=True)
class Turn:
    """A branch taken at a choice, in the rules ``calls``; ``closed`` if it was left again."""

    choice: ChoiceSlot
    branch: int
    closed: bool
    calls: Any


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A way from a slot to a terminal (``match``) or to the end of the rule with ``result``.

    Attributes:
        calls: the rules entered on the way.
        looks: the predicates met on the way, all to be asked at the slot's position.
        turns: the branches taken on the way.
        leaves: whether a branch taken before the slot has succeeded on the way.
    """

    calls: tuple[CallSlot, ...]
    looks: tuple[PredicateSlot, ...]
    match: MatchSlot | None
    result: Result
    turns: tuple[Turn, ...]
    leaves: bool
    _beaten: dict[Path, bool]

    def passes_by(self, later: Path) -> bool:
        """Whether the branch that ``later`` is an alternative to has succeeded on this way."""
        for turn, other in zip(self.turns, later.turns, strict=False):
            if other.choice is not turn.choice:
                return False
            if other.branch != turn.branch:
                return turn.closed and not turn.choice.moving
        return False

    def beats(self, later: Path) -> bool:
        """Whether reading this path's terminal alone rules out ``later``, a less preferred path."""
        known = self._beaten.get(later)
        if known is None:
            known = self._beaten[later] = self._settles_before(later)
        return known

    def _settles_before(self, later: Path) -> bool:
        for index, turn in enumerate(self.turns):
            other = later.turns[index] if index < len(later.turns) else None
            if other is None or other.choice is not turn.choice:
                return False
            if other.branch != turn.branch:
                return not turn.choice.moving and (turn.closed or index in self._left())
        return False

    def _left(self) -> set[int]:
        """The turns whose branches have succeeded as soon as the terminal is read."""
        left: set[int] = set()
        if self.match is None or self.match.terminal.width == 0:
            return left
        slot, calls = self.match.after, list(self.calls)
        while True:
            if isinstance(slot, CloseSlot):
                for index in range(len(self.turns) - 1, -1, -1):
                    turn = self.turns[index]
                    if index not in left and not turn.closed and _closes(slot, turn):
                        left.add(index)
                        break
                slot = slot.next
            elif isinstance(slot, AssignSlot):
                slot = slot.next
            elif isinstance(slot, ReturnSlot) and calls:
                slot = calls.pop().to(slot.result)
            else:
                return left


def _closes(slot: CloseSlot, turn: Turn) -> bool:
    return slot.choice is turn.choice and slot.branch == turn.branch


class Table:
    """The paths of one slot.

    Attributes:
        by_char: the paths that fit a next character, as far as somebody has asked (see ``at``).
        layout: what is skipped before all its terminals; None if they differ.
        plain: False if some way is too intricate for paths, so that the table must not be used.
        reads: whether some terminal stands here that nothing but the text decides on.
        passes: whether the end of the rule is all there is to reach.
    """

    __slots__ = ("_branches", "by_char", "layout", "passes", "paths", "plain", "reads")

    def __init__(self, slot: Slot) -> None:
        self.by_char: dict[str, tuple[Path, ...]] = {}
        self._branches: dict[tuple[str, bool], tuple[int, ...]] = {}
        paths: list[Path] = []
        self.plain = _Walk(paths).run(slot) and _without_unreachable(paths)
        if self.plain:
            _without_repeated(paths)
        self.paths = tuple(paths)
        self.reads = any(path.match is not None and not path.looks for path in paths)
        layouts = {path.match.layout for path in paths if path.match is not None}
        self.layout: Layout | None = layouts.pop() if len(layouts) == 1 else None
        self.passes = len(paths) == 1 and paths[0].match is None and not paths[0].looks

    def at(self, char: str) -> tuple[Path, ...]:
        """The paths that fit the next character (behind what is skipped)."""
        known = self.by_char.get(char)
        if known is None:
            known = self.by_char[char] = tuple(
                path
                for path in self.paths
                if path.match is None or path.match.terminal.can_start(char)
            )
        return known

    def branches(self, choice: ChoiceSlot, char: str, guarded: bool) -> tuple[int, ...]:
        """The branches of ``choice``, whose table this is, that fit the next character.

        Args:
            choice: the slot.
            char: the next character.
            guarded: whether the thread is in branches that others wait for; then a branch on which
                such a branch succeeds fits, too, even if nothing can follow.
        """
        known = self._branches.get((char, guarded))
        if known is None:
            fitting = []
            for index, branch in enumerate(choice.branches):
                table = table_of(branch)
                leaving = [path for path in table.paths if path.leaves]
                if table.at(char) or (leaving and (guarded or any(p.looks for p in leaving))):
                    fitting.append(index)
                if any(not path.looks for path in leaving):
                    break  # this branch never fails
            known = self._branches[char, guarded] = tuple(fitting)
        return known


def table_of(slot: Slot) -> Table:
    """The table of ``slot``, computed at most once."""
    table = slot.table
    if table is None:
        table = slot.table = Table(slot)
    return table


class _Walk:
    """A depth-first walk from a slot, in the order of preference."""

    def __init__(self, paths: list[Path]) -> None:
        self._paths = paths

    def run(self, slot: Slot) -> bool:
        """Collect the paths; False if they are too many or go round in a circle."""
        stack: list[_Step] = [_Step(slot, None, (), (), False, 0)]
        while stack:
            step = stack.pop()
            at, calls, looks, turns, leaves, depth = step
            if depth > MOST_PATHS or len(self._paths) > MOST_PATHS:
                return False
            if _goes_round(at, calls, turns):
                return False
            if isinstance(at, MatchSlot):
                self._paths.append(Path(_calls(calls), looks, at, Result.NONE, turns, leaves, {}))
            elif isinstance(at, ChoiceSlot):
                for index in range(len(at.branches) - 1, -1, -1):
                    taken = (*turns, Turn(at, index, False, calls))
                    stack.append(_Step(at.branches[index], calls, looks, taken, leaves, depth + 1))
            elif isinstance(at, CloseSlot):
                closed = _closed(at, turns)
                leaves = leaves or closed is turns
                stack.append(_Step(at.next, calls, looks, closed, leaves, depth + 1))
            elif isinstance(at, CallSlot):
                stack.append(_Step(at.body.start, (calls, at), looks, turns, leaves, depth + 1))
            elif isinstance(at, ReturnSlot):
                if calls is None:
                    self._paths.append(Path((), looks, None, at.result, turns, leaves, {}))
                else:
                    after = calls[1].to(at.result)
                    stack.append(_Step(after, calls[0], looks, turns, leaves, depth))
            elif isinstance(at, PredicateSlot):
                stack.append(_Step(at.next, calls, (*looks, at), turns, leaves, depth + 1))
            elif isinstance(at, AssignSlot):
                return False
        return True


def _goes_round(at: Slot, calls: Any, turns: tuple[Turn, ...]) -> bool:
    """Whether the way has come to ``at`` before, without anything read."""
    if isinstance(at, ChoiceSlot):
        return any(turn.choice is at and turn.calls is calls for turn in turns)
    if isinstance(at, CallSlot):
        while calls is not None:
            if calls[1].body is at.body:
                return True
            calls = calls[0]
    return False


class _Step(NamedTuple):
    slot: Slot
    calls: Any
    looks: tuple[PredicateSlot, ...]
    turns: tuple[Turn, ...]
    leaves: bool
    depth: int


def _closed(slot: CloseSlot, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        if not turn.closed and _closes(slot, turn):
            closed = Turn(turn.choice, turn.branch, True, turn.calls)
            return (*turns[:index], closed, *turns[index + 1 :])
    return turns


def _without_unreachable(paths: list[Path]) -> bool:
    """Remove the paths behind a branch that never fails, because it may read nothing.

    Returns:
        False if a predicate decides whether such a branch fails.
    """
    kept: list[Path] = []
    passing: list[Path] = []
    for path in paths:
        passed = [earlier for earlier in passing if earlier.passes_by(path)]
        if any(earlier.looks for earlier in passed):
            return False
        if not passed:
            kept.append(path)
            if any(turn.closed for turn in path.turns):
                passing.append(path)
    paths[:] = kept
    return True


def _without_repeated(paths: list[Path]) -> None:
    """Remove the paths that enter a rule on whose failure at this very place they depend.

    ``(items+=Item | others+=Other)*`` reads the next item in another round of the inner repetition,
    never in one of the outer: that is tried only where the inner round, an item, has failed.
    """
    kept: list[Path] = []
    for path in paths:
        if not any(_fails_before(earlier, path) for earlier in kept):
            kept.append(path)
    paths[:] = kept


def _fails_before(earlier: Path, later: Path) -> bool:
    """Whether ``later`` needs a rule to fail here, for ``earlier`` to fail, that it enters here."""
    for index, (turn, other) in enumerate(zip(earlier.turns, later.turns, strict=False)):
        if turn.choice is not other.choice or turn.calls is not other.calls:
            return False
        if turn.branch == other.branch:
            continue
        depth = _depth(turn.calls)
        if turn.choice.moving or len(earlier.calls) <= depth:
            return False
        call = earlier.calls[depth]
        further = earlier.turns[index + 1 : index + 2]
        return (
            not any(following.calls is turn.calls for following in further)
            and call.body.least > 0
            and set(earlier.looks) <= set(later.looks)
            and any(entered.body is call.body for entered in later.calls[depth:])
            and all(_leaves_at_once(call.to(result), turn) for result in Result if result)
        )
    return False


def _depth(linked: Any) -> int:
    depth = 0
    while linked is not None:
        linked, depth = linked[0], depth + 1
    return depth


def _leaves_at_once(slot: Slot, turn: Turn) -> bool:
    while isinstance(slot, AssignSlot):
        slot = slot.next
    return isinstance(slot, CloseSlot) and _closes(slot, turn)


def _calls(linked: Any) -> tuple[CallSlot, ...]:
    calls = []
    while linked is not None:
        calls.append(linked[1])
        linked = linked[0]
    return tuple(reversed(calls))
