"""Tokens as bytes, for every family of tokenizers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from language_server.decoding import GenerationError, Vocabulary
from language_server.decoding.vocabulary import byte_vocabulary, vocabulary_from_backend


def byte_level_tokenizer() -> Tokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = {name: place for place, name in enumerate([*alphabet, "Ġs", "Ġst"])}
    tokenizer = Tokenizer(models.BPE(vocab=names, merges=[("Ġ", "s"), ("Ġs", "t")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens([AddedToken("    ", normalized=False)])
    return tokenizer


def sentencepiece_tokenizer() -> Tokenizer:
    byte_tokens = [f"<0x{value:02X}>" for value in range(256)]
    names = ["<unk>", "<s>", "</s>", *byte_tokens, "▁", "a", "▁a", "état"]
    tokenizer = Tokenizer(
        models.BPE(
            vocab={name: place for place, name in enumerate(names)},
            merges=[("▁", "a")],
            byte_fallback=True,
            unk_token="<unk>",
        )
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    return tokenizer


def test_d3_byte_level_tokens_are_exact_bytes() -> None:
    backend = byte_level_tokenizer()
    vocabulary = vocabulary_from_backend(backend)
    assert vocabulary.token_bytes[backend.token_to_id("Ġst")] == b" st"
    assert vocabulary.token_bytes[backend.token_to_id("Ċ")] == b"\n"
    assert vocabulary.token_bytes[backend.token_to_id("    ")] == b"    "
    covered = {data for data in vocabulary.token_bytes if data and len(data) == 1}
    assert covered == {bytes([value]) for value in range(256)}


def test_d3_sentencepiece_and_byte_fallback_tokens_are_exact_bytes() -> None:
    backend = sentencepiece_tokenizer()
    vocabulary = vocabulary_from_backend(backend, end_tokens=[2])
    assert vocabulary.token_bytes[backend.token_to_id("▁a")] == b" a"
    assert vocabulary.token_bytes[backend.token_to_id("<0x0A>")] == b"\n"
    assert vocabulary.token_bytes[backend.token_to_id("<0xE9>")] == b"\xe9"
    assert vocabulary.token_bytes[backend.token_to_id("état")] == "état".encode()
    assert vocabulary.token_bytes[backend.token_to_id("<s>")] is None


def test_d5_text_equal_to_a_control_token_is_spelt_with_ordinary_tokens() -> None:
    backend = byte_level_tokenizer()
    vocabulary = vocabulary_from_backend(backend)
    tokens = vocabulary.encode("<|im_end|>")
    assert vocabulary.decode(tokens) == b"<|im_end|>"
    assert backend.token_to_id("<|im_end|>") not in tokens


def test_d6_ids_beyond_the_vocabulary_are_dropped_and_missing_ones_ruled_out() -> None:
    vocabulary = byte_vocabulary()
    longer = np.arange(300, dtype=np.float32)
    assert vocabulary.fit(longer).tolist() == list(range(257))
    shorter = vocabulary.fit(np.zeros(200, dtype=np.float32))
    assert len(shorter) == 257
    assert np.all(np.isneginf(shorter[200:]))


def test_d9_ends_of_configuration_and_chat_turn_all_count() -> None:
    backend = byte_level_tokenizer()
    other = backend.token_to_id("<|im_start|>")
    vocabulary = vocabulary_from_backend(backend, end_tokens=[other])
    assert vocabulary.end_tokens == {other, backend.token_to_id("<|im_end|>")}


@given(st.text())
def test_any_text_is_spelt_exactly(text: str) -> None:
    for vocabulary in (byte_vocabulary(), BYTE_LEVEL, SENTENCEPIECE):
        tokens = vocabulary.encode(text)
        assert vocabulary.decode(tokens) == text.encode()
        assert not vocabulary.end_tokens.intersection(tokens)


BYTE_LEVEL = vocabulary_from_backend(byte_level_tokenizer())
SENTENCEPIECE = vocabulary_from_backend(sentencepiece_tokenizer(), end_tokens=[2])


def test_the_trie_finds_exactly_the_tokens_that_begin_a_text(pieces: Vocabulary) -> None:
    for text in (b"abc)", b"  \n", "😀".encode(), b"state x", b"\xff\xff"):
        expected = {
            token for token, data in enumerate(pieces.token_bytes) if data and text.startswith(data)
        }
        assert set(pieces.trie.prefixes(text)) == expected


def test_what_cannot_be_spelt_is_told() -> None:
    vocabulary = Vocabulary([b"a", b"bc", None], end_tokens=[2])
    assert vocabulary.encode("abc") == [0, 1]
    with pytest.raises(GenerationError, match="vocabulary cannot spell 'ab'"):
        vocabulary.encode("ab")
