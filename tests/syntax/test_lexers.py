"""Lexical states: texts that share one have one future, as the terminal itself tells it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from language_server.syntax import Lexer, Outcome, Terminal

PATTERNS = (
    r"[^\d\W]\w*\b",
    r"(?!(on|state)\b)[a-z_]\w*",
    r'("(\\"|[^"])*")|(\'(\\\'|[^\'])*\')',
    r"[-+]?[0-9]+\b",
    r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(?<=[\w\.])(?![\w\.])",
    r"//.*?$|/\*(.|\n)*?\*/",
    r"a(b*c)?|ab{1,3}",
    r"[^\s]+([ \t]+(?!is the child of\b)[^\s]+)*",
    r"(must|may)\b(?!\s*\()",
)


def terminal(pattern: str) -> Terminal:
    return Terminal("regex", "T", pattern=pattern, matcher=re.compile(pattern, re.MULTILINE))


def outcome(of: Terminal, text: str) -> Outcome:
    """What the terminal itself says of just this text."""
    end = of.match(text, 0)
    if of.undecided(text, 0, end):
        return Outcome.OPEN
    return Outcome.ENDED if end >= 0 else Outcome.FAILED


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=50)
@given(text=st.text(alphabet="aonstbce019 .\"'\\/*\n_+-(é٣", max_size=12))
def test_a_text_fares_as_the_one_that_stands_for_its_state(pattern: str, text: str) -> None:
    lexer = Lexer(terminal(pattern))
    state = lexer.start
    for length in range(1, len(text) + 1):
        state = state.then(text[length - 1])
        end = lexer.terminal.match(text[:length], 0)
        assert state.outcome is outcome(lexer.terminal, text[:length])
        if state.outcome is not Outcome.OPEN:
            break
        assert state.whole == (end == length)


def test_states_are_few_where_the_expression_is_regular() -> None:
    lexer = Lexer(terminal(r"(?!(on|state)\b)[a-z_]\w*"))
    words = ("door", "close", "nost", "statechart", "opened_at_night", "x1", "onward")
    assert len({id(lexer.read(word)) for word in words}) <= 3


def test_what_cannot_be_run_is_told_apart_by_its_text() -> None:
    lexer = Lexer(terminal(r"(a|b)\1*c"))
    assert lexer.read("aa") is not lexer.read("ab")
    assert lexer.read("aaac").outcome is Outcome.ENDED
