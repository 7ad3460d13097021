"""Syntax faults, and how reading goes on behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from language_server.syntax.agenda import Agenda
from language_server.syntax.edits import thorough
from language_server.syntax.events import Trail
from language_server.syntax.lexemes import View
from language_server.syntax.machine import Machine
from language_server.syntax.repairs import Repairs
from language_server.syntax.slots import MatchSlot
from language_server.syntax.state import LOOK_BEHIND

#: Characters behind a fault that are looked at first; more only if no repair is found in them.
SIGHT = 4000


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """A place where the text cannot be read as the grammar asks.

    Attributes:
        start, end: the text that does not fit (empty where something is missing at the end). Where
            a predicate fails it begins with the white space before ``found``, as for textX.
        message: one sentence for a person.
        expected: what could stand here, in the grammar's words.
        found: the text that does not fit, ``""`` at the end of the text.
    """

    start: int
    end: int
    message: str
    expected: tuple[str, ...]
    found: str


class Repaired(NamedTuple):
    """A fault, and how reading goes on behind it.

    Attributes:
        fault: what is wrong.
        agenda: where to go on, None if nothing of the rest can be read.
        trail: what was read before the fault.
        seen: the end of the text that was looked at to find out.
        short: whether more of the text before would have been looked at than ``past`` holds.
    """

    fault: SyntaxFault
    agenda: Agenda | None
    trail: Trail
    seen: int
    short: bool


def repair(
    failed: Machine,
    past: Sequence[Agenda],
    text: str,
    moved: int,
    last: SyntaxFault | None = None,
) -> Repaired:
    """How to go on where a run has failed.

    The answer depends on no more of the text than was seen, so that a change behind it leaves the
    answer as it is.

    Args:
        failed: a run over some of the text that no thread has survived.
        past: what that run, and those before it, began with, the oldest first.
        text: the document; ``seen`` counts in it.
        moved: what to add to an offset of the run for the offset in the document.
        last: the fault before. Where it is in the same place its repair has led nowhere.
    """
    again = thorough(failed)
    tried = max(again.furthest, again.sure_start.first())
    first = max(min(past[0].first(), tried, _blamed(again)) + moved - LOOK_BEHIND, 0)
    sight = SIGHT
    while True:
        seen = min(tried + moved + sight, len(text))
        view = View(text[first:seen], first - moved, seen == len(text), again.skipper)
        fault = _fault(again, view)
        stuck = last is not None and last.start == fault.start
        repairs = Repairs(again, past, fault.start, view, stuck)
        if repairs.confident or view.closed:
            break
        sight *= 8
    trail = again.tried[0].thread.trail if again.tried else Trail.root()
    return Repaired(fault, repairs.best, trail, seen, repairs.short)


def _fault(machine: Machine, view: View) -> SyntaxFault:
    first = max(machine.furthest, machine.sure_start.first()) - view.start
    end = view.lexeme(first)
    found = view.text[first:end]
    slots = [waiting.thread.slot for waiting in machine.tried]
    expected = tuple(
        dict.fromkeys(slot.terminal.describe() for slot in slots if isinstance(slot, MatchSlot))
    )
    start = _blamed(machine)
    return SyntaxFault(start, end + view.start, _message(expected, found), expected, found)


def _blamed(machine: Machine) -> int:
    return max(machine.blamed, machine.sure_start.first())


def _message(expected: tuple[str, ...], found: str) -> str:
    shown = f"'{found if len(found) <= 40 else found[:37] + '...'}'"
    if not expected:
        return f"{shown} cannot stand here" if found else "the text ends too early"
    what = f"found {shown}" if found else "the text ends"
    return f"expected {_enumerate(expected)} but {what}"


def _enumerate(words: tuple[str, ...]) -> str:
    if len(words) <= 1:
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"
