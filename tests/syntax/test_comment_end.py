"""Out of a comment in the shortest way: judged by textX, and by trying all shorter texts."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import textx

from language_server.languages import load_language
from language_server.syntax import Grammar, comment_end

WORDS = "M: 'm' xs*=ID;"
LINES = WORDS + r"Comment: /\/\/[^\n]*/;"
BLOCKS = WORDS + r"Comment: /\/\*(.|\n)*?\*\//;"
BOTH = WORDS + r"Comment: /\/\/.*$/ | /\/\*(.|\n)*?\*\//;"
ONE = WORDS + r"Comment: /\/\/[^\n]*|\/\*(.|\n)*?\*\//;"
PERCENT = r"M[ws=' \t']: LB* 'm' (LB+ xs+=ID)* LB*; LB: /\n/; Comment: /%%[^\n]*/;"
PASCAL = WORDS + r"Comment: /\(\*(.|\n)*?\*\)/ | /\{[^}]*\}/;"
LUA = WORDS + r"Comment: /--\[\[(.|\n)*?\]\]/ | /--[^\n]*/;"
MARKUP = WORDS + r"Comment: /<!--(.|\n)*?-->/;"
DIVISION = r"M: l=INT ('/' r+=INT)*; Comment: /\/\*(.|\n)*?\*\//;"


@pytest.mark.parametrize(
    ("grammar", "text", "ending"),
    [
        (LINES, "m // why", "\n"),
        (LINES, "m //", "\n"),
        (LINES, "m // a\n// b", "\n"),
        (LINES, "// m", "\n"),
        (BLOCKS, "m /* why", "*/"),
        (BLOCKS, "m /* why *", "/"),
        (BLOCKS, "m /*", "*/"),
        (BLOCKS, "m /*/", "*/"),
        (BLOCKS, "m /* a\n * b\n ", "*/"),
        (BLOCKS, "m /**/ a /* b", "*/"),
        (BLOCKS, "m /**/ /* b", "*/"),
        (BLOCKS, "m /", "**/"),
        (BOTH, "m // why /* not", "\n"),
        (BOTH, "m /* why // not", "*/"),
        (BOTH, "m /* why\n", "*/"),
        (BOTH, "m /* a */ /* c", "*/"),
        (BOTH, "m // a\n/* c *", "/"),
        (BOTH, "m /", "/\n"),
        (PERCENT, "m %% why", "\n"),
        (PERCENT, "%", "%\n"),
        (PERCENT, "m \n %% why %%", "\n"),
        (PASCAL, "m { a (*", "}"),
        (PASCAL, "m (* a }", "*)"),
        (PASCAL, "m (* a *", ")"),
        (ONE, "m /* why", "*/"),
        (ONE, "m /* a */ /* why *", "/"),
        (ONE, "m // a\n// why", "\n"),
        (LUA, "m --[[ a\n", "]]"),
        (LUA, "m --[[ a\n]", "]"),
        (LUA, "m -- a", "\n"),
        (LUA, "m --[ a", "\n"),
        (MARKUP, "m <!-- a", "-->"),
        (MARKUP, "m <!-- a -", "->"),
        (MARKUP, "m <!", "---->"),
        (MARKUP, "m <!-- a " + "long " * 99, "-->"),
    ],
)
def test_leads_out_in_the_shortest_way(grammar: str, text: str, ending: str) -> None:
    state = grammar_of(grammar).start().advance(text)
    assert state.in_comment
    found = comment_end(state)
    assert found is not None
    assert (len(found), found) == (len(ending), ending)
    behind = state.advance(found)
    assert behind.alive and not behind.in_comment


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        (LINES, "m // why"),
        (BLOCKS, "m /* why *"),
        (BLOCKS, "m /"),
        (BOTH, "m /"),
        (PASCAL, "m (* a *"),
        (LUA, "m -- a"),
        (PERCENT, "m \n%"),
        (DIVISION, "8 /*/"),
    ],
)
def test_no_shorter_text_ends_it(grammar: str, text: str) -> None:
    """What stands behind a comment is read by textX: a word, or a number, that it must find."""
    found = comment_end(grammar_of(grammar).start().advance(text))
    assert found is not None
    assert reads_on(grammar, text + found)
    for length in range(len(found)):
        for shorter in product("*/)}%-\n a", repeat=length):
            assert not reads_on(grammar, text + "".join(shorter)), shorter


def reads_on(grammar: str, text: str) -> bool:
    """Whether textX reads, directly behind a text, what is not part of a comment any more."""
    metamodel = textx.metamodel_from_str(grammar)
    try:
        first, more = (count(metamodel.model_from_str(text + tail)) for tail in tails(grammar))
    except textx.TextXSyntaxError:
        return False
    return more > first


def tails(grammar: str) -> tuple[str, str]:
    """Two texts, of which the second says more unless both are swallowed."""
    if grammar == DIVISION:
        return "/ 2", "/ 2 / 2"
    return " q", " q q"


def count(model: Any) -> int:
    """How much a model says."""
    return len(model.r if hasattr(model, "r") else model.xs)


def grammar_of(grammar: str) -> Grammar:
    return Grammar.of(textx.metamodel_from_str(grammar))


@pytest.mark.parametrize("text", ["", "m", "m a", "m a b "])
@pytest.mark.parametrize("grammar", [WORDS, LINES, BLOCKS])
def test_outside_of_comments_there_is_nothing_to_end(grammar: str, text: str) -> None:
    state = grammar_of(grammar).start().advance(text)
    assert not state.in_comment
    assert state.comment_begun() == ""


def test_a_slash_that_may_be_a_division_is_no_comment_yet() -> None:
    state = grammar_of(DIVISION).start().advance("8 /")
    assert not state.in_comment
    assert state.advance("*").in_comment


def test_some_comments_end_only_with_the_text() -> None:
    """Where a line break is neither white space nor anything else."""
    metamodel = textx.metamodel_from_str(r"M: 'm'; Comment: /%%[^\n]*/;", ws=" ")
    state = Grammar.of(metamodel).start().advance("m %%")
    assert state.in_comment
    assert comment_end(state) is None
    assert state.finish() is not None


@pytest.mark.parametrize(
    ("text", "begun"),
    [
        ("m // why", "// why"),
        ("m // a\n// b", "// b"),
        ("m /* a // b", "/* a // b"),
        ("m /* a */ b /* c", "/* c"),
        ("m /* a */ /* c", "/* c"),
        ("m /* a */ // c", "// c"),
        ("m /", "/"),
        ("m // a\n b", ""),
        ("m // a\n", ""),
        ("m /* a */", ""),
    ],
)
def test_what_is_there_of_a_comment(text: str, begun: str) -> None:
    assert grammar_of(BOTH).start().advance(text).comment_begun() == begun


@pytest.mark.parametrize("grammar", [BLOCKS, BOTH, ONE])
@pytest.mark.parametrize("text", ["m /* " + "long " * 400, "m " + "/* a */ b " * 300 + "/* c"])
def test_long_texts(grammar: str, text: str) -> None:
    assert comment_end(grammar_of(grammar).start().advance(text)) == "*/"


@pytest.mark.parametrize(
    ("language", "text", "ending"),
    [
        ("clevr", "%% How many", "\n"),
        ("clevr", 'graph LR\n1["scene"] --> 2 %', "%\n"),
        ("flowchart", "%", "%\n"),
        ("statechart", "// A door", "\n"),
        ("statechart", "statechart A /* b", "*/"),
        ("statechart", "/", "/\n"),
        ("taxonomy", "// Dogs", "\n"),
        ("taxonomy_ccs", "// Dogs", "\n"),
    ],
)
def test_shipped_languages(language: str, text: str, ending: str) -> None:
    state = load_language(language).grammar.start().advance(text)
    assert comment_end(state) == ending
    assert not state.advance(ending).in_comment
