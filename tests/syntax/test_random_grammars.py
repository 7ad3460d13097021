"""Random grammars and texts: read iff textX reads them, as the same model, in pieces as at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import textx
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from textx.exceptions import TextXError

from language_server.syntax import Grammar
from tests.syntax import models
from tests.syntax.brute import textx_reads
from tests.syntax.random_grammars import OPTIONS, TEXTS, grammars, guided

#: Seconds after which textX or we are taken to hang.
PATIENCE = 20


@settings(max_examples=150)
@given(grammars(), OPTIONS, st.data())
def test_random_grammars(text: str, options: dict[str, Any], data: st.DataObject) -> None:
    """Some grammars, each with some texts: any, and those it leads to."""
    check(text, options, data)


@pytest.mark.long
@settings(max_examples=5000)
@given(grammars(), OPTIONS, st.data())
def test_many_random_grammars(text: str, options: dict[str, Any], data: st.DataObject) -> None:
    """Many of them."""
    check(text, options, data)


def check(text: str, options: dict[str, Any], data: st.DataObject) -> None:
    """Compare a random grammar with textX on random texts and on texts of its own terminals."""
    try:
        metamodel = textx.metamodel_from_str(text, **options)
    except TextXError:
        assume(False)
    grammar = Grammar.of(metamodel)
    assume(all(finding.code != "left-recursion" for finding in grammar.findings))
    for _ in range(5):
        compare(metamodel, grammar, data.draw(TEXTS))
        compare(metamodel, grammar, guided(data.draw, grammar))


def compare(metamodel: Any, grammar: Grammar, text: str) -> None:
    """Assert that textX and we agree on a text, whatever way it comes."""
    with within(PATIENCE, repr(text)):
        reads = textx_reads(metamodel._parser_blueprint, text)
        parse = grammar.parse(text)
        assert parse.complete == reads
        state = grammar.start()
        for char in text:
            state = state.advance(char)
            assert state.alive or not reads
        in_pieces, at_once = state.finish(), grammar.start().advance(text).finish()
        assert (in_pieces is not None) == (at_once is not None) == reads
        if in_pieces is not None and at_once is not None:
            events = list(parse.events())
            assert list(in_pieces.events()) == list(at_once.events()) == events
            # Without events the model is a mere string.
            if events and not models.is_read_twice(metamodel, text):
                theirs = models.from_textx(metamodel, text)
                assert models.differences(theirs, models.from_events(parse.events())) == []


@contextmanager
def within(seconds: int, what: str) -> Iterator[None]:
    """Fail with ``what`` if the block takes too long."""

    def give_up(*_: object) -> None:
        raise TimeoutError(what)

    previous = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
