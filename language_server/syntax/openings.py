"""What the end of a prefix leaves open, without the place and the text: equal openings, equal ways.

Two prefixes with equal openings are read alike by every text behind which no terminal has ended
yet. Whoever asks the same of many texts behind many prefixes can therefore keep the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from language_server.syntax.agenda import DECIDED, IN_COMMENT, Waiting
from language_server.syntax.frames import OPEN_END, UNDECIDED, Frame, Guard, Thread
from language_server.syntax.lexers import LexicalState, lexer_of
from language_server.syntax.readings import MOST_READINGS, is_live
from language_server.syntax.slots import MatchSlot
from language_server.syntax.terminals import Terminal

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
        readings: lists the readings of the prefix that depend on it, and None for any more.
    """

    lexical: LexicalState
    white: str
    begun: bool
    readings: Callable[[], Iterator[Expected | None]] = field(compare=False, repr=False)


def openings(state: ParseState, explored: Machine) -> tuple[Opening, ...] | None:
    """The openings at the end of a prefix.

    Returns:
        None where what follows hangs on more than them: a predicate that looks ahead, a terminal
        that looks back, branches of which one has succeeded already if another fails.
    """
    sides = _sides(explored)
    if sides is None or _has_read_under_terms(explored):
        return None
    if any(False in _kinds(thread) for thread in explored.looks):
        return None
    waiting, won = sides[0], explored.won
    if all(each.comment == DECIDED for each in waiting):
        return tuple(_terminal(state, w, won, state.text_from(w.start)) for w in waiting) or None
    if all(each.comment != DECIDED for each in waiting):
        return tuple(_comment(state, waiting, won)) or None
    return None


def openings_behind(state: ParseState, explored: Machine) -> tuple[Opening, ...] | None:
    """What is open at the end of a prefix if the terminals that are whole there end there.

    Returns:
        None as for ``openings``.
    """
    winning, sides = _won_at_the_end(explored), _sides(explored)
    if explored.looks or winning is None or sides is None:
        return None
    won = explored.won | winning
    waiting = [each for each in sides[1] if winning.isdisjoint(each.thread.conditions)]
    if any(each.comment != DECIDED or each.start != state.length for each in waiting):
        return None
    return (
        tuple(_terminal(state, each, won, "") for each in waiting if is_live(each.thread, won))
        or None
    )


def begun(
    state: ParseState, explored: Machine, to_the_letter: bool
) -> tuple[list[Waiting], Hashable] | None:
    """The waiting threads at the end of a prefix, and what is there of the terminal before them.

    Args:
        to_the_letter: whether texts of a terminal that it cannot tell apart are different all the
            same.

    Returns:
        None where the threads are not all at the beginning of the same terminal or comment.
    """
    sides = _sides(explored)
    if sides is None or explored.looks or not sides[0]:
        return None
    here = sides[0]
    first = here[0]
    if any(each.start != first.start or each.comment != first.comment for each in here):
        return None
    if first.comment == DECIDED:
        text = state.text_from(first.start)
        terminals = {each.thread.slot.terminal for each in here}  # type: ignore[attr-defined]
        return here, text if to_the_letter else _lexical(text, terminals)
    if first.comment == IN_COMMENT and (text := state.comment_begun()):
        open_there = (
            t for t in state.comment_terminals() if t.undecided(text, 0, t.match(text, 0))
        )
        return here, _lexical(text, set(open_there))
    return None


def _lexical(text: str, terminals: set[Terminal]) -> Hashable:
    """A text as some terminals read it: what it may become, if that is all that counts of it."""
    states = frozenset(lexer_of(terminal).read(text) for terminal in terminals)
    return states if text and all(state.tells_all for state in states) else text


def _sides(explored: Machine) -> tuple[list[Waiting], list[Waiting]] | None:
    """The waiting threads at the end of the text, and those behind a terminal that may go on.

    The latter begin only when that terminal has ended. None if a thread is both, or if a terminal
    asks for what stands before it.
    """
    here: list[Waiting] = []
    behind: list[Waiting] = []
    for waiting in explored.waiting:
        slot = waiting.thread.slot
        assert isinstance(slot, MatchSlot)
        if slot.terminal.looks_back:
            return None
        kinds = _kinds(waiting.thread)
        if kinds == {True}:
            behind.append(waiting)
        elif kinds == {False}:
            here.append(waiting)
        else:
            return None
    return here, behind


def _kinds(thread: Thread) -> set[bool]:
    """For all readings of a thread, whether it is behind what the end of the text leaves open."""
    return {True} if UNDECIDED in thread.conditions else _kinds_of_ways(thread.frame)


def _kinds_of_ways(frame: Frame) -> set[bool]:
    if frame.clean or frame.parent is None:
        return {False}
    kinds: set[bool] = set()
    for edge in frame.edges():
        if UNDECIDED in edge.conditions:
            kinds.add(True)
        elif edge.parent is not None:
            kinds |= _kinds_of_ways(edge.parent)
    return kinds


def _has_read_under_terms(explored: Machine) -> bool:
    """Whether a branch has been read already that succeeds if another fails.

    What is read only if a terminal ends here does not count: behind it nothing of what is open
    goes on.
    """
    return any(
        UNDECIDED not in conditions
        for alternatives in explored.open.values()
        for conditions in alternatives
    )


def _won_at_the_end(explored: Machine) -> frozenset[Guard] | None:
    """The branches that succeed if the whole terminals end; None if others succeed under terms."""
    winning = set()
    for guard, alternatives in explored.open.items():
        for conditions in alternatives:
            if conditions != OPEN_END:
                return None
            winning.add(guard)
    return frozenset(winning)


def _terminal(state: ParseState, waiting: Waiting, won: frozenset[Guard], typed: str) -> Opening:
    slot = waiting.thread.slot
    assert isinstance(slot, MatchSlot)
    return Opening(
        lexer_of(slot.terminal).read(typed),
        slot.layout.white,
        typed != "",
        lambda: _readings(state, [waiting], won),
    )


def _readings(
    state: ParseState, waiting: Sequence[Waiting], won: frozenset[Guard]
) -> Iterator[Expected | None]:
    for each in waiting:
        found = 0
        for reading in state.each_reading_of(each, won):
            found += 1
            yield reading
        if found >= MOST_READINGS:
            yield None


def _comment(state: ParseState, waiting: Sequence[Waiting], won: frozenset[Guard]) -> list[Opening]:
    """The comments that may have begun, and the terminals that the text may be instead."""
    text = state.comment_begun()
    instead = [each for each in waiting if each.end >= 0]
    if any(each.end != state.length for each in instead):
        return []  # something has begun behind such a terminal

    def readings() -> Iterator[Expected | None]:
        return _readings(state, waiting, won)

    found = []
    for terminal in state.comment_terminals() if text else ():
        end = terminal.match(text, 0)
        if terminal.undecided(text, 0, end):
            found.append(Opening(lexer_of(terminal).read(text), "", True, readings))
        elif end >= 0:
            break  # the comments behind it are not tried
    return [*found, *(_terminal(state, each, won, text) for each in instead)] if found else []
