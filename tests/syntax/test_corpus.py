"""Public languages: every model is read as textX reads it, in whatever pieces it comes."""

from __future__ import annotations

import random

import pytest

from language_server.syntax import ParseState
from tests.syntax import models
from tests.syntax.corpus import Case, cases, tokens

CASES = cases()
SHORT = [case for case in CASES if case.model.stat().st_size <= 700]
LONGER = [case for case in CASES if case not in SHORT]

needs_corpus = pytest.mark.skipif(not CASES, reason="the corpus is not beside the project")


@needs_corpus
def test_the_corpus_is_whole() -> None:
    """No language and no model is left out: what is not read here would be counted as read."""
    assert (len({case.language for case in CASES}), len(CASES)) == (23, 87)


@needs_corpus
@pytest.mark.parametrize("case", CASES, ids=str)
def test_document_reads_as_textx(case: Case) -> None:
    """No fault, and object by object, feature by feature, the model textX builds."""
    parse = case.ours().parse(case.text)
    assert parse.complete, parse.faults
    ours = models.from_events(parse.events())
    assert models.differences(models.from_textx(case.metamodel(), case.text), ours) == []


@needs_corpus
@pytest.mark.parametrize("case", SHORT, ids=str)
def test_pieces_agree(case: Case) -> None:
    """At once, in random pieces and token by token the events are the same."""
    check_pieces(case)


@needs_corpus
@pytest.mark.long
@pytest.mark.parametrize("case", LONGER, ids=str)
def test_pieces_of_long_models_agree(case: Case) -> None:
    """The same for the longer models."""
    check_pieces(case)


def check_pieces(case: Case) -> None:
    """Assert that a text read in pieces has the events of the document, and the same text."""
    text, start = case.text, case.ours().start()
    document = list(case.ours().parse(text).events())
    for pieces in (
        [text],
        random_pieces(text, random.Random(len(text))),
        token_pieces(case),
    ):
        state = start
        for piece in pieces:
            state = state.advance(piece)
        finished = state.finish()
        assert finished is not None
        assert list(finished.events()) == document
        assert state.text == text


@needs_corpus
@pytest.mark.parametrize("case", SHORT, ids=str)
def test_next_token_is_expected(case: Case) -> None:
    """After every token the next one is among what may come."""
    check_recall(case)


@needs_corpus
@pytest.mark.long
@pytest.mark.parametrize("case", LONGER, ids=str)
def test_next_token_is_expected_in_long_models(case: Case) -> None:
    """The same for the longer models."""
    check_recall(case)


def check_recall(case: Case) -> None:
    """Assert that after each token some expected terminal reads the next one."""
    text = case.text
    state, at = case.ours().start(), 0
    for start, end in tokens(case.metamodel(), text):
        assert state.alive
        assert expects(state, text[start:end]), (text[:at][-40:], text[start:end])
        state = state.advance(text[at:end])
        at = end
    assert any(e.terminal.kind == "end" for e in state.expected())


def expects(state: ParseState, token: str) -> bool:
    """Whether ``token`` may be the next terminal."""
    return any(
        e.typed == "" and e.terminal.matches_prefix(token)
        for e in state.expected()
        if e.terminal.kind != "end"
    )


def random_pieces(text: str, source: random.Random) -> list[str]:
    """``text`` cut at random."""
    pieces, at = [], 0
    while at < len(text):
        size = source.choice((1, 2, 3, 7, 20))
        pieces.append(text[at : at + size])
        at += size
    return pieces


def token_pieces(case: Case) -> list[str]:
    """The text cut behind each token."""
    pieces, at = [], 0
    for _, end in tokens(case.metamodel(), case.text):
        pieces.append(case.text[at:end])
        at = end
    return [*pieces, case.text[at:]]
