"""D17 with real languages: to accept, roll back and go on equals a fresh replay, the end too."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from language_server.decoding import LayoutPolicy, Session, Vocabulary
from language_server.languages import load_language
from language_server.projection import Prefix
from tests.decoding.test_masks import PIECES

TABLE: list[bytes | None] = [bytes([value]) for value in range(256)]
TABLE += [piece.encode() for piece in PIECES]
VOCABULARY = Vocabulary([*TABLE, None], end_tokens=[len(TABLE)])
TEXTS = {
    "statechart": "statechart A\nevent go\ninitial state B { on go -> B }",
    "taxonomy": "b is the child of a\nc is the child of b",
}


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(sorted(TEXTS)))
def test_d17_a_session_gone_back_and_on_equals_a_fresh_one(seed: int, name: str) -> None:
    rng = random.Random(seed)
    start, text = Prefix.start(load_language(name)), TEXTS[name].encode()
    session = Session(start, VOCABULARY, LayoutPolicy.free())
    kept: list[int] = []
    for _ in range(25):
        said = VOCABULARY.decode(kept)
        ended = bool(kept) and kept[-1] in VOCABULARY.end_tokens
        options = [] if ended else VOCABULARY.trie.prefixes(text[len(said) :])
        if not ended and said == text:
            options = list(VOCABULARY.end_tokens)
        if not options or rng.random() < 0.25:
            count = rng.randint(0, min(6, len(kept)))
            session.rollback(count)
            del kept[len(kept) - count :]
        else:
            kept.append(max(rng.sample(options, min(2, len(options)))))
            session.commit(kept[-1])
    fresh = Session(start, VOCABULARY, LayoutPolicy.free())
    for token in kept:
        fresh.commit(token)
    assert session.tokens == tuple(kept) == fresh.tokens
    assert session.text == fresh.text
    assert session.state.ended == fresh.state.ended
    assert np.array_equal(session.allowed(), fresh.allowed())


def test_d17_behind_the_end_token_nothing_is_allowed_and_it_can_be_taken_back() -> None:
    start = Prefix.start(load_language("taxonomy"))
    session = Session(start, VOCABULARY, LayoutPolicy.free())
    for byte in TEXTS["taxonomy"].encode():
        session.commit(byte)
    before = session.allowed()
    (end,) = VOCABULARY.end_tokens
    assert before[end]
    session.commit(end)
    assert not session.allowed().any()
    session.rollback(1)
    assert np.array_equal(session.allowed(), before)
