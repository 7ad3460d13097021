"""Which tokens may follow: lazily, in full, and drawn from."""

from __future__ import annotations

import random
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from language_server.decoding import LayoutPolicy, Sampling, Session, Vocabulary
from language_server.decoding.sampling import Sampler
from language_server.decoding.token_filter import Search, TokenFilter
from language_server.decoding.vocabulary import byte_vocabulary
from language_server.languages import load_language
from language_server.projection import Prefix
from tests.decoding.guides import BracketGuide, FiniteGuide

FREE = LayoutPolicy.free()
BYTES = byte_vocabulary()


def ranked(token_filter: TokenFilter, session: Session, keys: np.ndarray) -> list[int]:
    return [token for token, _ in Search(token_filter, session.state, keys)]


def tokenisations(vocabulary: Vocabulary, text: str, seed: int) -> list[int]:
    """A random spelling of ``text``."""
    rng = random.Random(seed)
    data, tokens = text.encode(), []
    while data:
        tokens.append(rng.choice(vocabulary.trie.prefixes(data)))
        data = data[len(vocabulary.token_bytes[tokens[-1]] or b"") :]
    return tokens


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_d1_every_tokenisation_of_a_valid_text_is_allowed(seed: int) -> None:
    texts = ("(a (word) é日本)", "x😀 state 12")
    for text in texts:
        session = Session(FiniteGuide(texts), TEST_PIECES, FREE)
        for token in tokenisations(TEST_PIECES, text, seed):
            assert session.allowed()[token]
            assert session.admits(token)
            session.commit(token)
        assert session.text == text


def test_d2_tokens_with_white_space_around_are_allowed_where_white_space_is(
    pieces: Vocabulary,
) -> None:
    session = Session(BracketGuide(9, 0), pieces, FREE)
    session.commit(pieces.encode("(")[0])
    allowed = {pieces.token_bytes[token] for token in np.flatnonzero(session.allowed())}
    assert {b" a", b" word", b" (", b") ", b"c ", b" \n", b"\n\n"} <= allowed


def test_d4_half_a_code_point_is_pending_not_an_error(pieces: Vocabulary) -> None:
    session = Session(FiniteGuide(("a😀!",)), pieces, FREE)
    half = pieces.token_bytes.index("a😀".encode()[:3])
    rest = pieces.token_bytes.index("😀".encode()[2:])
    session.commit(half)
    assert session.text == "a"
    assert session.state.pending == "😀".encode()[:2]
    assert session.admits(rest)
    assert not any(session.admits(end) for end in pieces.end_tokens)
    session.commit(rest)
    assert session.text == "a😀"


def test_d4_half_a_code_point_that_no_whole_one_fits_is_refused(pieces: Vocabulary) -> None:
    session = Session(FiniteGuide(("ab", "é")), pieces, FREE)
    allowed = {pieces.token_bytes[token] for token in np.flatnonzero(session.allowed())}
    assert allowed == {b"a", b"ab", "é".encode(), b"\xc3"}


def test_d5_control_tokens_are_never_allowed(pieces: Vocabulary) -> None:
    control = len(pieces) - 3
    session = Session(BracketGuide(9, 0), pieces, FREE)
    assert not session.allowed()[control]
    assert not session.admits(control)


def test_d6_ids_outside_the_vocabulary_are_refused(pieces: Vocabulary) -> None:
    session = Session(BracketGuide(9, 0), pieces, FREE)
    assert not session.admits(len(pieces) + 5)
    with pytest.raises(ValueError, match="not allowed"):
        session.commit(len(pieces) + 5)


def test_d7_d8_runs_are_capped_but_caps_never_decide(pieces: Vocabulary) -> None:
    policy = LayoutPolicy(spaces=2, newlines=1, digits=2, word=3, comment=4)
    token_filter = TokenFilter(pieces, policy)
    session = Session(BracketGuide(9, 0).advance("(  "), pieces, policy)
    texts = {pieces.token_bytes[t] for t in np.flatnonzero(session.allowed())}
    assert b" " not in texts
    assert b" (" not in texts
    assert b"\n" in texts
    session = Session(BracketGuide(9, 0).advance("(12"), pieces, policy)
    texts = {pieces.token_bytes[t] for t in np.flatnonzero(session.allowed())}
    assert b"3" not in texts
    assert b")" in texts
    only_spaces = Session(FiniteGuide(("     x",)).advance("  "), pieces, policy)
    texts = {pieces.token_bytes[t] for t in np.flatnonzero(only_spaces.allowed())}
    assert texts == {b" ", b"  "}
    keys = np.zeros(len(pieces), dtype=np.float32)
    assert len(ranked(token_filter, only_spaces, keys)) == 2


def test_d10_once_nothing_can_follow_only_the_end_is_allowed(pieces: Vocabulary) -> None:
    session = Session(FiniteGuide(("no", "noon")), pieces, FREE)
    session.commit(pieces.encode("no")[0])
    both = set(np.flatnonzero(session.allowed()))
    assert pieces.end_tokens < both
    session.commit(pieces.encode("on")[0])
    assert set(np.flatnonzero(session.allowed())) == set(pieces.end_tokens)


def test_d12_an_empty_mask_is_empty(pieces: Vocabulary) -> None:
    session = Session(FiniteGuide(()), pieces, FREE)
    assert not session.allowed().any()
    keys = np.zeros(len(pieces), dtype=np.float32)
    assert ranked(TokenFilter(pieces, FREE), session, keys) == []


def test_d16_the_work_of_a_mask_does_not_grow_with_the_text() -> None:
    """Counted in calls of functions; and a long text is no deep stack."""

    def calls(events: int) -> int:
        text = "statechart T\n" + "".join(f"event e{number}\n" for number in range(events))
        session = Session(Prefix.start(load_language("statechart")).advance(text), BYTES)
        count = 0

        def called(frame: object, kind: str, argument: object) -> None:
            nonlocal count
            count += kind == "call"

        session.allowed()  # the text itself is read, once
        session.commit(ord("\n"))
        sys.setprofile(called)
        try:
            session.allowed()
        finally:
            sys.setprofile(None)
        return count

    calls(10)  # what is remembered of the vocabulary is remembered
    assert calls(400) < 1.2 * calls(10)


def test_d8_a_number_ends_before_it_overflows() -> None:
    """A node of clevr is a number of any length, in any digits; the policy leaves nine bytes."""
    start = Prefix.start(load_language("clevr"))
    session = Session(start.advance('graph LR\n1["scene"] --> 123456789'), BYTES)
    allowed = {bytes([token]) for token in np.flatnonzero(session.allowed()[:256])}
    assert b"[" in allowed and b"\n" in allowed
    assert not allowed & {b"%d" % digit for digit in range(10)}
    assert not allowed & {bytes([lead]) for lead in range(0x80, 0x100)}
    free = Session(start.advance('graph LR\n1["scene"] --> 123456789'), BYTES, FREE)
    assert free.allowed()[ord("0")] and free.allowed()["\uff11".encode()[0]]


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_d17_accept_roll_back_mask_equals_a_fresh_replay(seed: int) -> None:
    rng = random.Random(seed)
    texts = ("no", "noon", "yes", "(a b)", "é日本 😀")
    session = Session(FiniteGuide(texts), TEST_PIECES)
    kept: list[int] = []
    for _ in range(30):
        options = np.flatnonzero(session.allowed())
        if len(options) == 0 or rng.random() < 0.35:
            count = rng.randint(0, len(kept))
            session.rollback(count)
            kept = kept[: len(kept) - count]
        else:
            kept.append(int(rng.choice(options)))
            session.commit(kept[-1])
        fresh = Session(FiniteGuide(texts), TEST_PIECES)
        for token in kept:
            fresh.commit(token)
        assert np.array_equal(session.allowed(), fresh.allowed())
        assert session.text == fresh.text
        assert session.state.pending == fresh.state.pending


@given(st.integers(0, 10**6), st.sampled_from(["", "(", "(a", "(é (", "(a)", "# x"]))
def test_the_lazy_search_yields_the_full_mask_in_the_order_of_the_keys(
    seed: int, beginning: str
) -> None:
    guide = BracketGuide(3, 0).advance(beginning)
    keys = np.random.default_rng(seed).normal(size=len(TEST_PIECES)).astype(np.float32)
    session = Session(guide, TEST_PIECES, FREE)
    mask = np.asarray([session.admits(token) for token in range(len(TEST_PIECES))])
    assert np.array_equal(session.allowed(), mask)
    expected = [int(token) for token in np.argsort(-keys, kind="stable") if mask[token]]
    assert ranked(TokenFilter(TEST_PIECES, FREE), session, keys) == expected


def test_drawing_and_redrawing_has_the_distribution_of_the_full_mask(pieces: Vocabulary) -> None:
    """Chi-square against softmax over the mask, three sampling settings, 1,500 draws each."""
    texts = ("yes", "no", "noon", "abc", "a b")
    token_filter = TokenFilter(pieces, FREE)
    session = Session(FiniteGuide(texts), pieces, FREE)
    logits = np.random.default_rng(7).normal(size=len(pieces)).astype(np.float32) * 2
    mask = session.allowed()
    allowed = np.flatnonzero(mask)
    for sampling, temperature, kept in (
        (Sampling(temperature=1.0), 1.0, allowed),
        (Sampling(temperature=0.7), 0.7, allowed),
        (Sampling(temperature=1.0, top_k=3), 1.0, allowed[np.argsort(-logits[allowed])][:3]),
    ):
        weights = np.zeros(len(pieces))
        weights[kept] = np.exp(logits[kept] / temperature)
        weights /= weights.sum()
        counts: Counter[int] = Counter()
        draws = 1500
        for seed in range(draws):
            sampler = Sampler(sampling, seed)
            counts[next(iter(sampler.draw(token_filter, session.state, logits, [], 0)))[0]] += 1
        assert set(counts) <= {int(token) for token in kept}
        chi_square = sum(
            (counts[int(token)] - draws * weights[token]) ** 2 / (draws * weights[token])
            for token in kept
        )
        # 99.9 % of the distribution with as many degrees of freedom lies below this.
        freedom = len(kept) - 1
        assert chi_square < freedom + 3.3 * (2 * freedom) ** 0.5 + 6


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (Sampling(top_k=2), {0, 1}),
        (Sampling(temperature=1.0, min_p=0.3), {0, 1}),
        (Sampling(temperature=1.0, top_p=0.6), {0}),
        (Sampling(temperature=0), {0}),
    ],
)
def test_the_mask_comes_before_truncation(sampling: Sampling, expected: set[int]) -> None:
    """The likeliest token is not allowed; what is kept is counted among the allowed ones."""
    vocabulary = Vocabulary([b"a", b"b", b"c", b"x", None], end_tokens=[4])
    probabilities = np.array([0.12, 0.05, 0.01, 0.8, 0.02])
    logits = np.log(probabilities).astype(np.float32)
    session = Session(FiniteGuide(("a", "b", "c")), vocabulary, FREE)
    seen = {
        next(
            iter(
                Sampler(sampling, seed).draw(
                    TokenFilter(vocabulary, FREE), session.state, logits, [], 0
                )
            )
        )[0]
        for seed in range(200)
    }
    assert seen == expected


def _test_pieces() -> Vocabulary:
    table: list[bytes | None] = [bytes([value]) for value in range(256)]
    for piece in ("no", "on", "yes", "a ", " b", "(a", "a)", "é日", "日本", " 😀", "((", " "):
        table.append(piece.encode())
    table += ["😀".encode()[:2], "日本".encode()[1:4], None]
    return Vocabulary(table, end_tokens=[len(table) - 1])


TEST_PIECES = _test_pieces()
