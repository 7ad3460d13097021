"""All texts over small alphabets: complete iff textX reads them, and never a false rejection."""

from __future__ import annotations

import pytest

from language_server.syntax import ParseState
from tests.syntax.brute import CONSTRUCTS, SMALL, Small, constructs, grammar_of, textx_reads

#: Texts tried in the default run; ``long`` tries all.
FEW = 160


def test_every_construct_is_used() -> None:
    """The grammars use all of textX between them."""
    assert set().union(*map(constructs, SMALL)) >= CONSTRUCTS


@pytest.mark.parametrize("small", SMALL, ids=lambda small: small.name)
def test_all_short_texts(small: Small) -> None:
    """The texts up to the length the default run has time for."""
    check(small, small.texts()[:FEW])


@pytest.mark.long
@pytest.mark.parametrize("small", SMALL, ids=lambda small: small.name)
def test_all_texts(small: Small) -> None:
    """All texts up to the grammar's length."""
    check(small, small.texts())


def check(small: Small, texts: list[tuple[str, ...]]) -> None:
    """Compare every text with textX; a text comes after its prefixes."""
    parser = small.metamodel()._parser_blueprint
    grammar = grammar_of(small)
    states: dict[tuple[str, ...], ParseState] = {(): grammar.start()}
    dead: set[tuple[str, ...]] = set()
    for pieces in texts:
        text = "".join(pieces)
        reads = textx_reads(parser, text)
        if pieces[:-1] in dead:
            dead.add(pieces)
            assert not reads, f"{text!r} was rejected"
            continue
        if pieces:
            states[pieces] = states[pieces[:-1]].advance(pieces[-1])
        state = states[pieces]
        if not state.alive:
            dead.add(pieces)
        finished = state.finish()
        assert (finished is not None) == reads, text
        if finished is not None:
            parse = grammar.parse(text)
            assert parse.complete
            assert list(parse.events()) == list(finished.events())
            at_once = grammar.start().advance(text).finish()
            assert at_once is not None
            assert list(at_once.events()) == list(finished.events())
