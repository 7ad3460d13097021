"""Faults of documents: all of them, in the right place, and a model of what can be read."""

from __future__ import annotations

import random

import pytest
import textx
from textx.exceptions import TextXSyntaxError

from language_server.syntax import Assign, Grammar, Open, Parse
from tests.syntax.corpus import Case, cases, tokens

CHART = Grammar.of(
    textx.metamodel_from_str(
        r"""
        Chart: 'chart' name=ID states*=State;
        State: initial?='initial' 'state' name=ID ('{' moves*=Move '}')?;
        Move: on=ID '->' to=[State] ';';
        Comment: /\/\/.*$/;
        """
    )
)
CASES = [case for case in cases() if case.model.stat().st_size < 2500]

needs_corpus = pytest.mark.skipif(not CASES, reason="the corpus is not beside the project")


def marked(parse: Parse) -> list[tuple[int, str]]:
    """Start and found text of each fault."""
    return [(fault.start, fault.found) for fault in parse.faults]


def names(parse: Parse) -> list[str]:
    """Names given to objects."""
    return [
        event.value
        for event in parse.trail.events()
        if isinstance(event, Assign) and event.feature == "name"
    ]


def test_missing_terminal() -> None:
    """A missing terminal is one fault, and everything behind it is read."""
    parse = CHART.parse("chart c state a { x -> a } state b")
    assert marked(parse) == [(25, "}")]
    assert parse.faults[0].message == "expected ';' but found '}'"
    assert parse.faults[0].expected == ("';'",)
    assert names(parse) == ["c", "a", "b"]
    assert not parse.complete


def test_superfluous_text() -> None:
    """A lexeme too many is one fault."""
    parse = CHART.parse("chart c state a } state b { x -> a; }")
    assert marked(parse) == [(16, "}")]
    assert names(parse) == ["c", "a", "b"]


def test_misspelt_keyword() -> None:
    """A misspelt keyword is replaced."""
    parse = CHART.parse("chart c staet a { x -> a; } state b")
    assert marked(parse) == [(8, "staet")]
    assert parse.faults[0].message == (
        "expected 'initial', 'state' or the end of the text but found 'staet'"
    )
    assert "b" in names(parse)


def test_three_faults_are_three() -> None:
    """Separate faults are all reported, each in its place."""
    text = "chart c state a { x > a; } state { y -> a; } state d { z -> a }"
    parse = CHART.parse(text)
    assert [text[start : start + len(found)] for start, found in marked(parse)] == [">", "{", "}"]


def test_missing_value_leaves_a_hole() -> None:
    """What is missing is not made up."""
    parse = CHART.parse("chart c state { x -> a; }")
    assert names(parse) == ["c"]
    assert [event.cls for event in parse.trail.events() if isinstance(event, Open)] == [
        "Chart",
        "State",
        "Move",
    ]


def test_cut_text() -> None:
    """A text that ends too early is faulted at its end, and what is there is kept."""
    parse = CHART.parse("chart c state a { x -> ")
    assert marked(parse) == [(23, "")]
    assert parse.faults[0].message == "expected ID but the text ends"
    assert names(parse) == ["c", "a"]


def test_rubbish_is_skipped() -> None:
    """Text that is nothing is skipped up to where a rule around can go on."""
    parse = CHART.parse("chart c state a { ?? !! 12 ** x } state b state d")
    assert parse.faults[0].start == 18
    assert names(parse)[-2:] == ["b", "d"]


@pytest.mark.parametrize("text", ["", "\x00", "chart", "}" * 50, "chart c " + "state {" * 60, "😀"])
def test_never_raises(text: str) -> None:
    """Whatever the text, there is an answer."""
    parse = CHART.parse(text)
    assert parse.faults
    assert not parse.complete


@needs_corpus
def test_mutations_are_faults_as_for_textx() -> None:
    """Models with one token deleted, inserted or replaced: a fault iff textX has one, there."""
    check_mutations(random.Random(3), 60)


@needs_corpus
@pytest.mark.long
def test_many_mutations_are_faults_as_for_textx() -> None:
    """The same, more often."""
    check_mutations(random.Random(4), 4000)


def check_mutations(source: random.Random, count: int) -> None:
    """Assert the verdict of every mutation, and the place of the first fault for 95 %."""
    faulty = exact = 0
    for _ in range(count):
        case = source.choice(CASES)
        text = mutated(case, source)
        expected = textx_fault(case, text)
        parse = case.ours().parse(text)
        assert parse.complete == (expected is None), (str(case), text)
        if expected is not None:
            faulty += 1
            exact += parse.faults[0].start == expected
    assert exact >= 0.95 * faulty > 0


def mutated(case: Case, source: random.Random) -> str:
    """The case's text with one token deleted, inserted or replaced."""
    text = case.text
    spans = tokens(case.metamodel(), text)
    start, end = source.choice(spans)
    first, last = source.choice(spans)
    other = text[first:last]
    return source.choice(
        (
            text[:start] + text[end:],
            text[:start] + other + " " + text[start:],
            text[:start] + other + text[end:],
        )
    )


def textx_fault(case: Case, text: str) -> int | None:
    """Where textX reports a syntax error; None if it reads the text."""
    try:
        case.metamodel()._parser_blueprint.clone().parse(text)
    except TextXSyntaxError as error:
        before = text.split("\n")[: error.line - 1]
        return sum(len(line) + 1 for line in before) + error.col - 1
    return None
