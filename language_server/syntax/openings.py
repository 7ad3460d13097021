"""What the end of a prefix leaves open, without the place and the text: equal openings, equal ways.

Two prefixes with equal openings are read alike by every text behind which no terminal has ended
yet. Whoever asks the same of many texts behind many prefixes can therefore keep the answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from language_server.syntax.agenda import DECIDED, Waiting
from language_server.syntax.frames import OPEN_END, UNDECIDED, Frame, Guard
from language_server.syntax.lexers import LexicalState, lexer_of
from language_server.syntax.readings import MOST_READINGS
from language_server.syntax.slots import MatchSlot

if TYPE_CHECKING:
    from language_server.syntax.machine import Machine
    from language_server.syntax.state import Expected, ParseState


@dataclass(frozen=True, slots=True)
class Opening:
    """A terminal, or a comment, that may go on at the end of a prefix.

    Attributes:
        lexical: what it can become.
        white: characters that are skipped before it, as long as nothing of it is there.
        begun: whether something of it is there.
        readings: the readings of the prefix that depend on it.
    """

    lexical: LexicalState
    white: str
    begun: bool
    readings: tuple[Expected, ...] = field(compare=False)


def openings(state: ParseState, explored: Machine) -> tuple[Opening, ...] | None:
    """The openings at the end of a prefix.

    Returns:
        None where what follows hangs on more than them: a predicate that looks ahead, readings
        too many to list, branches of which one has succeeded if another fails.
    """
    sides = _sides(explored)
    if explored.looks or sides is None or _won_at_the_end(explored) is None:
        return None
    waiting, _ = sides
    if all(each.comment == DECIDED for each in waiting):
        return _listed([_terminal(state, each, explored.won) for each in waiting])
    if all(each.comment != DECIDED for each in waiting):
        return _listed(_comment(state, waiting, explored.won))
    return None


def openings_behind(state: ParseState, explored: Machine) -> tuple[Opening, ...] | None:
    """What is open at the end of a prefix if the terminals that are whole there end there.

    Returns:
        None as for ``openings``.
    """
    winning, sides = _won_at_the_end(explored), _sides(explored)
    if explored.looks or explored.looks_behind or winning is None or sides is None:
        return None
    won = explored.won | winning
    waiting = [each for each in sides[1] if winning.isdisjoint(each.thread.conditions)]
    if any(each.comment != DECIDED or each.start != state.length for each in waiting):
        return None
    found = [_terminal(state, each, won) for each in waiting]
    return _listed([opening for opening in found if opening.readings])


def _sides(explored: Machine) -> tuple[list[Waiting], list[Waiting]] | None:
    """The waiting threads at the end of the text, and those behind a terminal that may go on.

    The latter begin only when that terminal has ended. None if a thread is both.
    """
    here: list[Waiting] = []
    behind: list[Waiting] = []
    for waiting in explored.waiting:
        kinds = _kinds(waiting.thread.frame)
        if UNDECIDED in waiting.thread.conditions or kinds == {True}:
            behind.append(waiting)
        elif kinds == {False}:
            here.append(waiting)
        else:
            return None
    return here, behind


def _kinds(frame: Frame) -> set[bool]:
    """For all ways down the stack, whether one goes through what the end leaves open."""
    if frame.clean or frame.parent is None:
        return {False}
    kinds: set[bool] = set()
    for edge in frame.edges():
        if UNDECIDED in edge.conditions:
            kinds.add(True)
        elif edge.parent is not None:
            kinds |= _kinds(edge.parent)
    return kinds


def _won_at_the_end(explored: Machine) -> frozenset[Guard] | None:
    """The branches that succeed if the whole terminals end; None if others succeed under terms."""
    winning = set()
    for guard, alternatives in explored.open.items():
        for conditions in alternatives:
            if conditions != OPEN_END:
                return None
            winning.add(guard)
    return frozenset(winning)


def _listed(found: list[Opening]) -> tuple[Opening, ...] | None:
    many = any(len(opening.readings) >= MOST_READINGS for opening in found)
    return None if many or not found else tuple(found)


def _terminal(state: ParseState, waiting: Waiting, won: frozenset[Guard]) -> Opening:
    slot = waiting.thread.slot
    assert isinstance(slot, MatchSlot)
    typed = state.text_from(waiting.start)
    return Opening(
        lexer_of(slot.terminal).read(typed),
        slot.layout.white,
        typed != "",
        state.readings_of(waiting, won),
    )


def _comment(state: ParseState, waiting: Iterable[Waiting], won: frozenset[Guard]) -> list[Opening]:
    text = state.comment_begun()
    for terminal in state.comment_terminals():
        if text and terminal.can_start(text[0]):
            if not terminal.undecided(text, 0, terminal.match(text, 0)):
                break
            readings = tuple(e for each in waiting for e in state.readings_of(each, won))
            return [Opening(lexer_of(terminal).read(text), "", True, readings)]
    return []
