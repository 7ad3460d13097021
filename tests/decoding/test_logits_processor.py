"""The ``LogitsProcessor`` inside ``model.generate``, with a small network of random weights."""

from __future__ import annotations

from typing import Any

import pytest

from language_server.decoding import GenerationError, Vocabulary
from language_server.languages import load_language
from language_server.projection import Prefix
from tests.decoding.guides import BracketGuide, FiniteGuide

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def network() -> Any:
    """A Llama of two layers; its output is wider than the vocabulary it is used with."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    configuration = LlamaConfig(
        vocab_size=320,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
    )
    return LlamaForCausalLM(configuration).eval()


def generated(network: Any, guide: Any, vocabulary: Vocabulary, **options: Any) -> list[list[int]]:
    import torch

    from language_server.decoding.logits_processor import GuidedLogitsProcessor

    end = min(vocabulary.end_tokens)
    prompt = torch.tensor([[40, 41, 42], [5, 6, 7]])
    processor = GuidedLogitsProcessor(
        guide, vocabulary, prompt.shape[1], options.get("num_beams", 1)
    )
    torch.manual_seed(1)
    answer = network.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        logits_processor=[processor],
        eos_token_id=list(vocabulary.end_tokens),
        pad_token_id=end,
        max_new_tokens=40,
        **options,
    )
    rows = answer[:, prompt.shape[1] :].tolist()
    return [row[: row.index(end)] if end in row else row for row in rows]


@pytest.mark.parametrize(
    "options",
    [
        {"do_sample": False},
        {"do_sample": True, "top_k": 0, "num_return_sequences": 3},
        {"do_sample": False, "num_beams": 4, "num_return_sequences": 2},
        {"do_sample": True, "num_beams": 3, "top_k": 0},
    ],
    ids=["greedy", "sampling", "beams", "sampled-beams"],
)
def test_what_is_generated_stays_completable(
    network: Any, pieces: Vocabulary, options: dict[str, Any]
) -> None:
    rows = generated(network, BracketGuide(3, 2), pieces, **options)
    assert len(rows) == 2 * options.get("num_return_sequences", 1)
    for tokens in rows:
        text = pieces.decode(tokens).decode(errors="ignore")
        guide = BracketGuide(3, 2).advance(text)
        assert guide.alive, text
        assert guide.complete or len(tokens) == 40, text


def test_only_texts_of_a_finite_language_come_out(network: Any, pieces: Vocabulary) -> None:
    texts = ("(state)", "(state (no))", "no")
    options = {"do_sample": True, "top_k": 0, "num_return_sequences": 8}
    found = {
        pieces.decode(row).decode()
        for row in generated(network, FiniteGuide(texts), pieces, **options)
    }
    assert found <= set(texts)
    assert len(found) > 1


def test_a_language_guides_as_well(network: Any, pieces: Vocabulary) -> None:
    clevr = load_language("clevr")
    begun = 'graph LR\n1["scene"] --> 2["filter_color_gray"]\n2 --> 3["'
    guide = Prefix.start(clevr).advance(begun)
    for tokens in generated(network, guide, pieces, do_sample=True, top_k=0):
        text = pieces.decode(tokens).decode(errors="ignore")
        assert guide.advance(text).alive, text


def test_d12_a_dead_end_is_an_error(network: Any) -> None:
    """The vocabulary cannot spell what must come."""
    vocabulary = Vocabulary([b"x", b"y", None], end_tokens=[2])
    with pytest.raises(GenerationError, match="no token of the model may follow 'x'"):
        generated(network, FiniteGuide(("x1",)), vocabulary, do_sample=False)


def test_a_beam_without_a_way_on_leaves_room_for_the_others(network: Any) -> None:
    vocabulary = Vocabulary([b"x", b"y", None], end_tokens=[2])
    guide = FiniteGuide(("x1", "yy"))
    for row in generated(network, guide, vocabulary, do_sample=False, num_beams=2):
        assert vocabulary.decode(row) == b"yy"
