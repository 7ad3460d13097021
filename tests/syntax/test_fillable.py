"""What the objects under construction can still get, by grammars whose answers are plain to see."""

from __future__ import annotations

import pytest
import textx

from language_server.syntax import Grammar

SEQUENCE = "M: 'a' a=INT 'b' b=INT 'c' c=INT;"
REPEATED = "M: 'm' head=ID (xs+=INT | ys+=STRING)* 'end' last=ID?;"
CHOICE = "M: 'm' ('l' l=INT | 'r' r=INT) z=ID;"
OPTIONAL = "M: 'm' ('o' o=INT)? f?='f' z=ID;"
ANY_ORDER = "M: 'm' (('a' a=INT) ('b' b=INT))# 'z' z=INT;"
INSIDE = "M: 'm' n=ID '{' xs*=X '}' 'z' z=ID; X: 'x' p=ID 'q' q=Y?; Y: '(' w=ID ')';"
WRAPPED = "M: 'm' x=X 'z' z=ID; X: A | B; A: 'a' k=ID 'l' l=ID; B: 'b' k=ID;"
LIST = "M: 'm' xs*=X[','] ';' z=ID; X: k=ID ':' l=ID;"

Expectation = tuple[tuple[set[str], str | None], ...]


@pytest.mark.parametrize(
    ("grammar", "text", "fillable"),
    [
        # The feature that is next counts; the one before the cursor is gone.
        (SEQUENCE, "a", (({"a", "b", "c"}, None),)),
        (SEQUENCE, "a 1 ", (({"b", "c"}, None),)),
        (SEQUENCE, "a 1 b", (({"b", "c"}, None),)),
        (SEQUENCE, "a 1 b 2 ", (({"c"}, None),)),
        # A round may come again; what stands before the repetition may not.
        (REPEATED, "m h ", (({"xs", "ys", "last"}, None),)),
        (REPEATED, "m h 1 ", (({"xs", "ys", "last"}, None),)),
        (REPEATED, 'm h 1 "s" ', (({"xs", "ys", "last"}, None),)),
        (REPEATED, "m h 1 end ", (({"last"}, None),)),
        # The other branch of a choice that is made is out.
        (CHOICE, "m", (({"l", "r", "z"}, None),)),
        (CHOICE, "m l", (({"l", "z"}, None),)),
        (CHOICE, "m r 1 ", (({"z"}, None),)),
        # What may be left out may also be written.
        (OPTIONAL, "m", (({"o", "f", "z"}, None),)),
        (OPTIONAL, "m o", (({"o", "f", "z"}, None),)),
        (OPTIONAL, "m o 1 ", (({"f", "z"}, None),)),
        (OPTIONAL, "m f ", (({"z"}, None),)),
        # The innermost object comes first; the feature it fills can be got once more in a list.
        (INSIDE, "m n {", (({"z"}, None),)),
        (INSIDE, "m n { x", (({"p", "q"}, None), ({"xs", "z"}, "xs"))),
        (INSIDE, "m n { x a ", (({"q"}, None), ({"xs", "z"}, "xs"))),
        (INSIDE, "m n { x a q (", (({"w"}, None), (set(), "q"), ({"xs", "z"}, "xs"))),
        (INSIDE, "m n { x a q (b) x", (({"p", "q"}, None), ({"xs", "z"}, "xs"))),
        (INSIDE, "m n { x a q }", (({"z"}, None),)),
        # An abstract rule stands for one of its alternatives, behind which no other comes.
        (WRAPPED, "m a", (({"k", "l"}, None), ({"z"}, "x"))),
        (WRAPPED, "m a i ", (({"l"}, None), ({"z"}, "x"))),
        (WRAPPED, "m b", (({"k"}, None), ({"z"}, "x"))),
        (LIST, "m a:", (({"l"}, None), ({"xs", "z"}, "xs"))),
        (LIST, "m a:b;", (({"z"}, None),)),
    ],
)
def test_some_terminal_that_may_follow_leaves(
    grammar: str, text: str, fillable: Expectation
) -> None:
    """Objects that only begin with the terminal are left out of the comparison."""
    state = Grammar.of(textx.metamodel_from_str(grammar)).start().advance(text)
    depth = len(fillable)
    found = {each.fillable[-depth:] for each in state.expected() if not each.typed}
    wanted = tuple((frozenset(names), inner) for names, inner in fillable)
    assert wanted in found


@pytest.mark.parametrize(
    ("grammar", "text", "terminal", "fillable"),
    [
        # A terminal that begins an object counts it as begun.
        (INSIDE, "m n { ", "x", (({"p", "q"}, None), ({"xs", "z"}, "xs"))),
        # That which ends a repetition leaves it.
        (INSIDE, "m n { ", "}", (({"z"}, None),)),
        (INSIDE, "m n { x a q ", "(", (({"w"}, None), (set(), "q"), ({"xs", "z"}, "xs"))),
        (WRAPPED, "m ", "b", (({"k"}, None), ({"z"}, "x"))),
        # Of a feature that is not a list, the way out names it no more.
        (OPTIONAL, "m ", "o", (({"o", "f", "z"}, None),)),
        (OPTIONAL, "m ", "f", (({"f", "z"}, None),)),
        (ANY_ORDER, "m b 1 a 2 ", "z", (({"z"}, None),)),
    ],
)
def test_each_terminal_has_its_own(
    grammar: str, text: str, terminal: str, fillable: Expectation
) -> None:
    state = Grammar.of(textx.metamodel_from_str(grammar)).start().advance(text)
    (expected,) = (each for each in state.expected() if each.terminal.text == terminal)
    names = [features for features, _ in expected.fillable]
    assert names == [frozenset(features) for features, _ in fillable], expected.fillable
    assert [inner for _, inner in expected.fillable] == [inner for _, inner in fillable]


@pytest.mark.parametrize("text", ["m ", "m a", "m a 1 ", "m b 1 ", "m b 1 a "])
def test_an_unordered_group_keeps_what_has_not_come(text: str) -> None:
    (expected, *_) = (
        Grammar.of(textx.metamodel_from_str(ANY_ORDER)).start().advance(text).expected()
    )
    missing = {name for name in "ab" if f"{name} 1" not in text}
    assert expected.fillable == ((frozenset({*missing, "z"}), None),)
