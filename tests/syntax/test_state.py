"""Parse states: persistence, what is expected, and how terminals are joined."""

from __future__ import annotations

import random
from itertools import product

import pytest
import textx

from language_server.syntax import Assign, Grammar, Open, joint
from tests.syntax.brute import SMALL, Small, grammar_of, textx_reads

CHART = Grammar.of(
    textx.metamodel_from_str(
        r"""
        Chart: 'chart' name=ID states*=State;
        State: initial?='initial' 'state' name=ID ('{' moves*=Move '}')?;
        Move: on=[State] '->' to=FQN weight=NUMBER? ';';
        FQN: ID ('.' ID)*;
        Comment: /\/\/.*$/ | /\/\*(.|\n)*?\*\//;
        """
    )
)
TEXT = "chart c initial state s { x -> b . c 2.5; } // end\nstate q"


def test_states_are_values() -> None:
    """Going on from a state in two ways leaves it as it was."""
    state = CHART.start().advance("chart c state s {")
    before = [(e.terminal, e.typed) for e in state.expected()]
    one, other = state.advance(" a -> b;"), state.advance("}")
    assert [(e.terminal, e.typed) for e in state.expected()] == before
    assert one.alive
    assert other.finish() is not None
    assert state.advance("}").finish() is not None
    assert (state.text, one.text) == ("chart c state s {", "chart c state s { a -> b;")


def test_rolled_back_equals_fresh() -> None:
    """A state reached after going back equals one reached directly."""
    source = random.Random(7)
    states = [CHART.start()]
    for at, char in enumerate(TEXT):
        states.append(states[at].advance(char))
    for _ in range(60):
        low = source.randrange(len(TEXT))
        high = source.randrange(low, len(TEXT) + 1)
        jumped = states[low].advance(TEXT[low:high])
        assert _view(jumped) == _view(states[high]) == _view(CHART.start().advance(TEXT[:high]))


def _view(state: object) -> object:
    assert hasattr(state, "expected")
    finished = state.finish()
    return (
        state.alive,
        state.in_comment,
        [(e.terminal, e.typed, e.start, e.remaining) for e in state.expected()],
        list(finished.events()) if finished is not None else None,
    )


@pytest.mark.parametrize("small", SMALL, ids=lambda small: small.name)
def test_random_pieces_agree_on_every_prefix(small: Small) -> None:
    """The same prefix fed in different pieces expects the same."""
    source, grammar = random.Random(small.name), grammar_of(small)
    for _ in range(12):
        text = "".join(source.choice(small.alphabet) for _ in range(small.length + 2))
        cut = source.randrange(len(text) + 1)
        at_once = grammar.start().advance(text)
        pieces = grammar.start().advance(text[:cut]).advance(text[cut:])
        assert _view(at_once) == _view(pieces)


def test_expected_says_what_a_terminal_would_do() -> None:
    """Rule, class, feature, target, span and value of the terminal to come."""
    state = CHART.start().advance("chart c state s { x -> b . ")
    (expected,) = state.expected()
    assert (expected.terminal.name, expected.rule, expected.cls) == ("ID", "FQN", "Move")
    assert (expected.feature, expected.many, expected.target) == ("to", False, None)
    assert (expected.value_begun, expected.value_start, expected.start) == ("b.", 23, 27)
    assert expected.remaining == len("c;}")
    reference = CHART.start().advance("chart c state s {").expected()[0]
    assert (reference.feature, reference.target) == ("on", "State")
    assert [type(event) for event in reference.trail.events()][-1] is Open


def test_typed_prefix_and_whole() -> None:
    """What of a terminal is there, and whether it could end here."""
    state = CHART.start().advance("chart ab")
    first = state.expected()[0]
    assert (first.typed, first.whole, first.start) == ("ab", True, 6)
    keyword = CHART.start().advance("chart c ini").expected()[0]
    assert (keyword.typed, keyword.whole, keyword.terminal.text) == ("ini", False, "initial")


def test_comments_at_the_end() -> None:
    """Inside a comment the state says so, and expects what comes behind it."""
    state = CHART.start().advance("chart c // a state")
    assert state.in_comment
    assert {e.terminal.name for e in state.expected()} == {"initial", "state", "EOF"}
    assert state.finish() is not None
    block = CHART.start().advance("chart c /* a")
    assert block.in_comment
    assert block.finish() is None
    assert not block.advance("*/").in_comment


@pytest.mark.parametrize(
    ("before", "text", "appended"),
    [
        ("", "chart", "chart"),
        ("chart", "a", "a"),
        ("chart a", "state", " state"),
        ("chart a ", "state", "state"),
        ("chart a // why", "state", "\nstate"),
        ("chart a /* why", "state", "*/state"),
        ("chart a state b", "{", "{"),
        ("chart a state b {x->y.z", "1", " 1"),
        ("chart a state b {x->y 1", ";", ";"),
        ("chart a state b {x->y", ".", "."),
    ],
)
def test_joint_adds_the_least_white_space(before: str, text: str, appended: str) -> None:
    """Words are kept apart, other terminals need nothing between them."""
    assert joint(CHART.start().advance(before), text) == appended


def test_joint_uses_the_grammars_white_space() -> None:
    """Where a blank is no white space, a line end serves."""
    grammar = Grammar.of(textx.metamodel_from_str("M[ws='\\n']: xs+=ID;"))
    assert joint(grammar.start().advance("a"), "b") == "\nb"


def test_joint_leads_to_an_accepted_text() -> None:
    """Feeding expected terminals one after the other through ``joint`` makes a text."""
    for seed in range(20):
        source, state = random.Random(seed), CHART.start()
        for _ in range(25):
            choices = [e for e in state.expected() if e.terminal.kind != "end" and e.typed == ""]
            if not choices:
                break
            example = source.choice(choices).terminal.example()
            assert example is not None
            state = state.advance(joint(state, example))
            assert state.alive
        assert list(CHART.parse(state.text).events())


def test_readings_that_share_a_stack_are_told_apart() -> None:
    """A terminal that serves two callers is expected once for each, with its own trail."""
    grammar = Grammar.of(
        textx.metamodel_from_str("M: x=S; S: A | C; A: l=V '='; C: r=V '('; V: n=ID;")
    )
    state = grammar.start().advance("foo")
    names = [e for e in state.expected() if e.terminal.name == "ID"]
    opened = [[(o.cls, o.feature) for o in e.trail.events() if isinstance(o, Open)] for e in names]
    assert opened == [
        [("M", None), ("A", "x"), ("V", "l")],
        [("M", None), ("C", "x"), ("V", "r")],
    ]
    assert state.exhaustive


def test_a_repetition_in_a_repetition_is_read_in_one_way() -> None:
    """The next item is one more of the inner repetition; the outer one starts where that fails."""
    grammar = Grammar.of(
        textx.metamodel_from_str(
            "M: (items+=Item | others+=Other)*; Item: 'item' name=ID; Other: 'other' name=ID;"
        )
    )
    state = grammar.start().advance("item a item b")
    assert [e.terminal.name for e in state.expected() if e.typed == "b"] == ["ID"]
    (thread,) = next(iter(state.agenda.threads.values())).values() if state.agenda else ()
    assert thread.frame.alone()


@pytest.mark.parametrize(
    "rules",
    (
        "M: (a+=A | b+=B)* 'x'?; A: 'a' n?='b'; B: 'a' 'c' | 'b';",
        "M: (a+=A | 'x')+; A: !'b' /[abc]/ 'c'?;",
        "M: (a+=A b+=A)* c=A?; A: 'a' 'b'? | 'c' 'x';",
        "M: ((a+=A)+ | 'b')* 'c'; A: 'a'+ 'x'?;",
    ),
)
def test_repetitions_in_repetitions_read_what_textx_reads(rules: str) -> None:
    """What may follow a rule that an inner and an outer repetition read: all texts of five."""
    metamodel = textx.metamodel_from_str(rules)
    grammar = Grammar.of(metamodel)
    for length in range(6):
        for letters in product("abcx", repeat=length):
            text = "".join(letters)
            assert grammar.parse(text).complete == textx_reads(metamodel._parser_blueprint, text)


def test_values_are_converted_as_textx_does() -> None:
    """Base types, match rules of base types, and flags."""
    grammar = Grammar.of(
        textx.metamodel_from_str(
            "M: i=INT f=FLOAT s=STRING b=BOOL t?='yes' n=N p=P; N: INT | ID; P: '-' INT;"
        )
    )
    text = r"""1 2.5 "a\"b" true yes 7 - 3"""
    values = [e.value for e in grammar.parse(text).events() if isinstance(e, Assign)]
    model = textx.metamodel_from_str(
        "M: i=INT f=FLOAT s=STRING b=BOOL t?='yes' n=N p=P; N: INT | ID; P: '-' INT;"
    ).model_from_str(text)
    assert values == [model.i, model.f, model.s, model.b, model.t, model.n, model.p]
