"""Reading an edited document again: only from the change on, with the same result."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import textx

from language_server.syntax import Grammar, Parse, Trail

CHART = Grammar.of(
    textx.metamodel_from_str(
        r"""
        Chart: 'chart' name=ID states*=State;
        State: initial?='initial' 'state' name=ID ('{' moves*=Move '}')?;
        Move: on=ID '->' to=[State] ';';
        Comment: /\/\/.*$/ | /\/\*(.|\n)*?\*\//;
        """
    )
)
STATE = "state s%d { a -> s%d; // on\n b -> s0; }\n"


def document(size: int) -> str:
    """A chart of ``size`` states."""
    return "chart c\n" + "".join(STATE % (n, n // 2) for n in range(size))


def edited(text: str, source: random.Random) -> str:
    """``text`` with something deleted, inserted or opened somewhere."""
    at = source.randrange(len(text) + 1)
    width = source.randrange(30)
    insert = source.choice(("", ";", "x", "/*", "*/", "// ", "\n", " state q ", "}", "initial"))
    return text[:at] + insert + text[at + width :]


def view(parse: Parse) -> object:
    """What a parse says."""
    return (list(parse.trail.events()), parse.faults, parse.complete)


@pytest.mark.parametrize("seed", range(12))
def test_edits_read_as_anew(seed: int) -> None:
    """A chain of random edits, each read from the parse before it."""
    source = random.Random(seed)
    text = document(60)
    known = CHART.parse(text)
    for _ in range(4):
        text = edited(text, source)
        known = CHART.parse(text, known)
        assert view(known) == view(CHART.parse(text))


def test_what_stands_before_a_change_is_shared() -> None:
    """The trails of both versions have the events before the change in common."""
    text = document(400)
    known = CHART.parse(text)
    at = text.rindex("s0;")
    again = CHART.parse(text[:at] + "s1;" + text[at + 3 :], known)
    assert again.complete
    before = {id(trail) for trail in trails(known.trail)}
    shared = sum(id(trail) in before for trail in trails(again.trail))
    assert shared > 0.9 * known.trail.size


def trails(trail: Trail) -> list[Trail]:
    """A trail and all its beginnings."""
    found = []
    at: Trail | None = trail
    while at is not None:
        found.append(at)
        at = at.parent
    return found


def test_a_change_at_the_end_costs_little(
    count_calls: Callable[[Callable[[], object]], int],
) -> None:
    """Typing behind a long text does not read that text again."""
    text = document(3000)
    known = CHART.parse(text)
    whole = count_calls(lambda: CHART.parse(text))
    assert CHART.parse(text + "state last", known).complete
    assert count_calls(lambda: CHART.parse(text + "state last", known)) < whole / 10


def test_a_parse_of_another_grammar_is_no_help() -> None:
    """A parse is only used again by the grammar that made it."""
    other = Grammar.of(textx.metamodel_from_str("Chart: 'chart' name=ID;"))
    assert not other.parse("chart c state s", CHART.parse("chart c state s")).complete
