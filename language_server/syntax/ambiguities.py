"""Grammars that textX loads and that do not read what their author meant.

Ordered choice commits and repetition is greedy, so a terminal that reads another's text at the same
place keeps the other from ever being read there.
"""

from __future__ import annotations

from collections.abc import Iterator

from language_server.syntax.finding import GrammarFinding, GrammarPlace
from language_server.syntax.places import Places
from language_server.syntax.slots import (
    AssignSlot,
    Body,
    CallSlot,
    ChoiceSlot,
    CloseSlot,
    MatchSlot,
    PredicateSlot,
    Result,
    ReturnSlot,
    Slot,
)
from language_server.syntax.tables import Path, Table, Turn, table_of
from language_server.syntax.terminals import Terminal

#: Slots looked at; groups of many elements have more.
MOST_SLOTS = 4000
#: Ways on at one slot that are compared with each other.
MOST_PATHS = 120

_FIRST_CHARACTERS = "xtfTFaA_0.-+\"'/#([{<!"

#: What may stand behind a keyword, for regexes that look ahead.
_BEHIND = ("", "x", "1", "_", ".", ",", ";", ":", "=", "(", "[", "{", " ", "\n", " x", " =", " (")

_BASE_TYPES = frozenset(
    ("ID", "BOOL", "INT", "FLOAT", "STRICTFLOAT", "STRING", "NUMBER", "BASETYPE")
)


def ambiguities(start: Body, places: Places) -> Iterator[GrammarFinding]:
    """Findings about the grammar compiled from ``start`` on, each once."""
    found: set[tuple[object, ...]] = set()
    for slot in _slots(start):
        table = table_of(slot)
        if table.plain and len(table.paths) <= MOST_PATHS and slot.home.name not in _BASE_TYPES:
            for finding in _shadowed(table, places):
                key = (finding.code, finding.place or finding.rules, finding.message)
                if key not in found:
                    found.add(key)
                    yield finding


def _slots(start: Body) -> Iterator[Slot]:
    """The slots at which a thread may stand between two terminals."""
    seen: set[Slot] = set()
    waiting: list[tuple[Slot, bool]] = [(start.start, True)]
    while waiting and len(seen) < MOST_SLOTS:
        slot, is_place = waiting.pop()
        if slot in seen:
            continue
        seen.add(slot)
        if is_place and not isinstance(slot, (CloseSlot, AssignSlot)):
            yield slot
        waiting.extend(_following(slot, is_place))


def _following(slot: Slot, is_place: bool) -> Iterator[tuple[Slot, bool]]:
    if isinstance(slot, MatchSlot):
        yield slot.after, True
    elif isinstance(slot, ChoiceSlot):
        for branch in slot.branches:
            yield branch, False
    elif isinstance(slot, CallSlot):
        yield slot.body.start, False
        yield slot.to(Result.NODE if slot.home.mode.name == "ABSTRACT" else Result.TEXT), True
    elif isinstance(slot, (CloseSlot, AssignSlot)):
        yield slot.next, is_place
    elif isinstance(slot, PredicateSlot):
        yield slot.next, False


def _shadowed(table: Table, places: Places) -> Iterator[GrammarFinding]:
    """Terminals that a preferred one always reads instead."""
    for index, later in enumerate(table.paths):
        if later.match is None or later.match.terminal.kind == "end":
            continue
        for earlier in table.paths[:index]:
            if (
                earlier.match is not None
                and not earlier.looks
                and earlier.match.layout is later.match.layout
                and earlier.match.home.name not in _BASE_TYPES
                and earlier.beats(later)
            ):
                text = _lost_text(earlier.match.terminal, later.match.terminal)
                if text is not None:
                    yield _Shadow(table, earlier, later, places).finding(text)
                    break


def _lost_text(one: Terminal, other: Terminal) -> str | None:
    """A text of ``other`` that ``one`` keeps it from reading; None if none was found.

    A regex reads a whole keyword, or a keyword or regex reads the beginning of another such.
    """
    if one is other or (one.kind, other.kind) == ("keyword", "regex"):
        return None
    for text in sorted(_samples(other), key=lambda text: (len(text), text)):
        if 0 < one.match(text, 0) < len(text):
            return text
    if one.kind == "regex" and other.kind == "keyword" and _always_reads(one, other):
        return other.text
    return None


def _always_reads(one: Terminal, word: Terminal) -> bool:
    """Whether a regex reads a keyword whatever stands behind it."""
    texts = (word.text + behind for behind in _BEHIND)
    return all(
        one.match(text, 0) >= len(word.text)
        for text in texts
        if word.match(text, 0) == len(word.text)
    )


def _samples(terminal: Terminal) -> set[str]:
    """Some texts of a terminal."""
    if terminal.kind == "keyword":
        return {terminal.text}
    shortest = {terminal.example(c) for c in _FIRST_CHARACTERS if terminal.can_start(c)}
    longer = {terminal.example(text + ".") for text in shortest if text is not None}
    return {text for text in shortest | longer if text}


class _Shadow:
    """A terminal and a preferred one that takes its text."""

    def __init__(self, table: Table, earlier: Path, later: Path, places: Places) -> None:
        assert earlier.match is not None and later.match is not None
        self._table, self._earlier, self._later, self._places = table, earlier, later, places
        self._taker, self._taken = earlier.match, later.match
        self._turn, self._other_turn = _parting(earlier, later)
        self._rule = self._turn.choice.home.name

    def finding(self, text: str) -> GrammarFinding:
        """What to say, where ``text`` is one that is lost."""
        one, other = self._taker.terminal.describe(), self._taken.terminal.describe()
        whole = self._taker.terminal.match(text, 0) == len(text)
        if not whole:
            return self._told(
                "dead-alternative",
                f"in rule {self._rule}, {one} comes before {other} and takes the beginning of "
                f"'{text}', which {other} therefore never reads",
                f"put {other} first",
            )
        cure = f"write !{_exactly(text)} before {one}"
        ways_on = [path for path in self._table.paths if path.match is not self._taker]
        if ways_on == [self._later] and _repeats(self._earlier, self._turn.choice):
            return self._told(
                "swallowed-terminator",
                f"in rule {self._rule}, {one} reads {other} too, so the repetition never ends",
                f"{cure}, in a rule of its own that is repeated",
            )
        return self._told(
            "swallowed-keyword",
            f"in rule {self._rule}, {one} reads {other} too where both may stand, so {other} is "
            "never read there",
            cure,
        )

    def _told(self, code: str, message: str, cure: str) -> GrammarFinding:
        taker = self._place(self._turn) or self._places.of(self._taker.node)
        taken = self._place(self._other_turn) or self._places.of(self._taken.node)
        place, other = taker, taken
        how = "this is never read"
        if code == "dead-alternative":
            place, other, how = taken, taker, "this takes the beginning of its text"
        related = ((other, how),) if other is not None and other != place else ()
        return GrammarFinding(code, (self._rule,), message, cure, place, related)

    def _place(self, turn: Turn) -> GrammarPlace | None:
        """Where the way that was taken at the choice begins, if it is a part of the choice."""
        origin = turn.choice.origin
        if origin is None:
            return None
        expression, first = origin
        return self._places.of_child(expression, first + turn.branch)


def _exactly(word: str) -> str:
    """The expression that matches a word and not the beginning of a longer one."""
    return f"/{word}\\b/" if word.isidentifier() else f"'{word}'"


def _parting(earlier: Path, later: Path) -> tuple[Turn, Turn]:
    """The branches with which two paths part at a choice."""
    for turn, other in zip(earlier.turns, later.turns, strict=False):
        if turn.branch != other.branch:
            return turn, other
    raise AssertionError("two paths of a slot part at a choice")


def _repeats(path: Path, choice: ChoiceSlot) -> bool:
    """Whether ``choice`` comes again as soon as the terminal of ``path`` is read."""
    assert path.match is not None
    slot, calls = path.match.after, list(path.calls)
    while True:
        if isinstance(slot, (CloseSlot, AssignSlot)):
            if slot.next is choice:
                return True
            slot = slot.next
        elif isinstance(slot, ReturnSlot) and calls:
            slot = calls.pop().to(slot.result)
        else:
            return False
