"""What can be read next from a slot, computed once per slot and indexed by the next character.

From a slot one comes, without reading anything, to terminals or to the end of the rule. Each such
way is a ``Path``; a ``Table`` holds the paths of a slot in the order of preference. Most texts need
only these: where one path fits the next character, nothing else is tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
class Path:
    """A way from a slot to a terminal (``match``) or to the end of the rule with ``result``.

    Attributes:
        calls: the rules entered on the way.
        looks: the predicates met on the way, all to be asked at the slot's position.
    """

    calls: tuple[CallSlot, ...]
    looks: tuple[PredicateSlot, ...]
    match: MatchSlot | None
    result: Result


class Table:
    """The paths of one slot.

    Attributes:
        layout: what is skipped before all its terminals; None if they differ.
        plain: False if some way is too intricate for paths, so that the table must not be used.
        reads: whether some terminal stands here that nothing but the text decides on.
        passes: whether the end of the rule is all there is to reach.
    """

    __slots__ = ("_branches", "_by_char", "layout", "passes", "paths", "plain", "reads")

    def __init__(self, slot: Slot) -> None:
        self._by_char: dict[str, tuple[Path, ...]] = {}
        self._branches: dict[str, tuple[int, ...]] = {}
        paths: list[Path] = []
        self.plain = _Walk(paths).run(slot)
        self.paths = tuple(paths)
        self.reads = any(path.match is not None and not path.looks for path in paths)
        layouts = {path.match.layout for path in paths if path.match is not None}
        self.layout: Layout | None = layouts.pop() if len(layouts) == 1 else None
        self.passes = len(paths) == 1 and paths[0].match is None and not paths[0].looks

    def at(self, char: str) -> tuple[Path, ...]:
        """The paths that fit the next character (behind what is skipped)."""
        known = self._by_char.get(char)
        if known is None:
            known = self._by_char[char] = tuple(
                path
                for path in self.paths
                if path.match is None or path.match.terminal.can_start(char)
            )
        return known

    def branches(self, choice: ChoiceSlot, char: str) -> tuple[int, ...]:
        """The branches of ``choice``, whose table this is, that fit the next character."""
        known = self._branches.get(char)
        if known is None:
            known = self._branches[char] = tuple(
                index for index, branch in enumerate(choice.branches) if table_of(branch).at(char)
            )
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
        stack: list[tuple[Slot, Any, tuple[PredicateSlot, ...], int]] = [(slot, None, (), 0)]
        while stack:
            at, calls, looks, depth = stack.pop()
            if depth > MOST_PATHS or len(self._paths) > MOST_PATHS:
                return False
            if isinstance(at, MatchSlot):
                self._paths.append(Path(_calls(calls), looks, at, Result.NONE))
            elif isinstance(at, ChoiceSlot):
                for branch in reversed(at.branches):
                    stack.append((branch, calls, looks, depth + 1))
            elif isinstance(at, CloseSlot):
                stack.append((at.next, calls, looks, depth + 1))
            elif isinstance(at, CallSlot):
                stack.append((at.body.start, (calls, at), looks, depth + 1))
            elif isinstance(at, ReturnSlot):
                if calls is None:
                    self._paths.append(Path((), looks, None, at.result))
                else:
                    stack.append((calls[1].to(at.result), calls[0], looks, depth + 1))
            elif isinstance(at, PredicateSlot):
                stack.append((at.next, calls, (*looks, at), depth + 1))
            elif isinstance(at, AssignSlot):
                return False
        return True


def _calls(linked: Any) -> tuple[CallSlot, ...]:
    calls = []
    while linked is not None:
        calls.append(linked[1])
        linked = linked[0]
    return tuple(reversed(calls))
