"""Grammars that textX loads and that do not read what their author meant.

Ordered choice commits and repetition is greedy, so a terminal that reads another's text at the same
place keeps the other from ever being read there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import arpeggio

from language_server.syntax.checks import GrammarFinding
from language_server.syntax.measures import reachable
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
from language_server.syntax.tables import Path, Table, table_of
from language_server.syntax.terminals import Terminal

#: Slots looked at; groups of many elements have more.
MOST_SLOTS = 4000
#: Ways on at one slot that are compared with each other.
MOST_PATHS = 120

_FIRST_CHARACTERS = "xtfTFaA_0.-+\"'/#([{<!"

_BASE_TYPES = frozenset(
    ("ID", "BOOL", "INT", "FLOAT", "STRICTFLOAT", "STRING", "NUMBER", "BASETYPE")
)


def ambiguities(root: Any, start: Body) -> tuple[GrammarFinding, ...]:
    """Findings about the grammar with the parser model ``root``, compiled from ``start`` on."""
    found: dict[tuple[object, ...], GrammarFinding] = {}
    for finding in (*_swapping_groups(root), *_lost_line_ends(root)):
        found.setdefault((finding.code, finding.rules, finding.message), finding)
    for slot in _places(start):
        table = table_of(slot)
        if table.plain and len(table.paths) <= MOST_PATHS and slot.home.name not in _BASE_TYPES:
            for finding in _shadowed(table):
                found.setdefault((finding.code, finding.rules, finding.message), finding)
    return tuple(found.values())


def _expressions(root: Any) -> Iterator[tuple[str, Any]]:
    """All expressions with the rules they stand in."""
    for rule in reachable([root]):
        if rule.root and not rule.rule_name.startswith("__asgn"):
            waiting = [rule]
            while waiting:
                node = waiting.pop()
                yield rule.rule_name, node
                waiting.extend(
                    child
                    for child in node.nodes
                    if not child.root or child.rule_name.startswith("__asgn")
                )


def _lost_line_ends(root: Any) -> Iterator[GrammarFinding]:
    """``ws`` inside ``eolterm``: Arpeggio restores the white space without line ends."""
    for rule, node in _expressions(root):
        if getattr(node, "eolterm", False) and any(
            getattr(inner, "ws", None) is not None for inner in reachable(list(node.nodes))
        ):
            yield GrammarFinding(
                "lost-line-ends",
                (rule,),
                f"in rule {rule}, a repetition with eolterm calls a rule with its own ws; textX "
                "then takes line ends for text in all that follows",
            )


def _swapping_groups(root: Any) -> Iterator[GrammarFinding]:
    """``('x' x=INT 'y' y=INT)#``: values are taken in the order of the grammar, not of keywords."""
    for rule, node in _expressions(root):
        if not isinstance(node, arpeggio.UnorderedGroup):
            continue
        readers: dict[int, str] = {}
        for child in node.nodes:
            if child.rule_name.startswith("__asgn"):
                feature, reader = child._attr_name, id(child.nodes[0])
                other = readers.setdefault(reader, feature)
                if other != feature:
                    yield GrammarFinding(
                        "swapped-values",
                        (rule,),
                        f"in the unordered group of rule {rule}, {other} and {feature} are read "
                        "alike, so a text may give the value of one to the other; put each "
                        "into parentheses with its keyword",
                    )


def _places(start: Body) -> Iterator[Slot]:
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


def _shadowed(table: Table) -> Iterator[GrammarFinding]:
    """Terminals that a preferred one always reads instead."""
    for index, later in enumerate(table.paths):
        if later.match is None or later.match.terminal.kind == "end":
            continue
        for earlier in table.paths[:index]:
            if (
                earlier.match is not None
                and not earlier.looks
                and earlier.match.home.name not in _BASE_TYPES
                and earlier.beats(later)
                and _reads_instead(earlier.match.terminal, later.match.terminal)
            ):
                yield _finding(table, earlier, later)
                break


def _reads_instead(one: Terminal, other: Terminal) -> bool:
    """Whether ``one`` keeps ``other`` from being read.

    A regex reads a whole keyword, or a keyword or regex reads the beginning of another such.
    """
    if one is other:
        return False
    if one.kind != other.kind:
        return one.kind == "regex" and one.match(other.text, 0) == len(other.text)
    return any(0 < one.match(text, 0) < len(text) for text in _samples(other))


def _samples(terminal: Terminal) -> set[str]:
    """Some texts of a terminal."""
    if terminal.kind == "keyword":
        return {terminal.text}
    shortest = {terminal.example(c) for c in _FIRST_CHARACTERS if terminal.can_start(c)}
    longer = {terminal.example(text + ".") for text in shortest if text is not None}
    return {text for text in shortest | longer if text}


def _finding(table: Table, earlier: Path, later: Path) -> GrammarFinding:
    assert earlier.match is not None and later.match is not None
    choice = _parting(earlier, later)
    rule = choice.home.name
    one, other = earlier.match.terminal.describe(), later.match.terminal.describe()
    if later.match.terminal.kind != "keyword" or earlier.match.terminal.kind != "regex":
        return GrammarFinding(
            "dead-alternative",
            (rule,),
            f"in rule {rule}, {one} comes before {other} and reads the beginning of it, so the "
            "longer text is not read there; put the longer one first",
        )
    ways_on = [path for path in table.paths if path.match is not earlier.match]
    if ways_on == [later] and _repeats(earlier, choice):
        return GrammarFinding(
            "swallowed-terminator",
            (rule,),
            f"in rule {rule}, {one} reads {other} too, so the repetition never ends; write "
            f"!{other} before what is repeated",
        )
    return GrammarFinding(
        "swallowed-keyword",
        (rule,),
        f"in rule {rule}, {one} reads {other} too where both may stand, so {other} is never read "
        f"there; write !{other} before {one}",
    )


def _parting(earlier: Path, later: Path) -> ChoiceSlot:
    """The choice at which two paths part."""
    for turn, other in zip(earlier.turns, later.turns, strict=False):
        if turn.branch != other.branch:
            return turn.choice
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
