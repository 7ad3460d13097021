"""How tokens are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from language_server.decoding import LayoutPolicy, Vocabulary
from language_server.decoding.guide import Unguided
from language_server.decoding.sampling import Sampler, Sampling
from language_server.decoding.token_filter import TokenFilter

VOCABULARY = 49_152


@pytest.mark.parametrize("seed", [0, 1, 15_485_863])
def test_no_draw_lifts_a_token_over_a_certain_one(seed: int) -> None:
    """A token that is e^-60 as likely as another is not drawn before it in a few hundred places.

    With noise in single precision it was: a uniform draw can be exactly 0 there.
    """
    sampler = Sampler(Sampling(temperature=1.0), seed)
    logits = np.zeros(VOCABULARY, dtype=np.float32)
    logits[7] = 60.0
    for place in range(300):
        keys = sampler.keys(logits, place, attempt=0)
        assert np.isfinite(keys).all()
        assert int(np.argmax(keys)) == 7


def test_the_noise_is_gumbel() -> None:
    """Mean and deviation of the standard Gumbel distribution: 0.5772 and pi / sqrt(6)."""
    keys = Sampler(Sampling(temperature=1.0), 3).keys(np.zeros(VOCABULARY, np.float32), 0, 0)
    assert abs(float(keys.mean()) - 0.5772) < 0.03
    assert abs(float(keys.std()) - np.pi / np.sqrt(6)) < 0.03


def test_the_penalty_divides_what_is_likely_and_multiplies_what_is_not() -> None:
    """Keskar et al. 2019, as transformers has it: tokens that were written, once each."""
    everything = Vocabulary([b"a", b"b", b"c", b"d", None], end_tokens=[4])
    state = TokenFilter(everything, LayoutPolicy.free()).start(Unguided())
    logits = np.array([3.0, 2.5, -1.0, -1.5, -9.0], dtype=np.float32)

    def order(penalty: float, written: list[int]) -> list[int]:
        sampler = Sampler(Sampling(temperature=0, repetition_penalty=penalty), 0)
        draw = sampler.draw(TokenFilter(everything), state, logits, written, attempt=0)
        return [token for token, _ in draw]

    assert order(1.0, [0, 2]) == [0, 1, 2, 3, 4]
    assert order(2.0, []) == [0, 1, 2, 3, 4]
    assert order(2.0, [0, 2, 0]) == [1, 0, 3, 2, 4]  # 3 becomes 1.5, -1 becomes -2
    assert order(1.1, [0, 0, 0]) == [0, 1, 2, 3, 4]  # 2.73, however often it was written


@pytest.mark.parametrize("temperature", [0, 0.5, 2])
def test_the_likelihood_of_one_token_is_what_it_is_among_all(temperature: float) -> None:
    logits = np.array([1.5, -2, 0, -np.inf], dtype=np.float32)
    sampler = Sampler(Sampling(temperature=temperature, repetition_penalty=1.5), 0)
    alone = [sampler.likelihood(logits, token, [1]) for token in range(4)]
    assert np.allclose(alone, sampler.likelihoods(logits, [1]))
    assert np.isclose(sum(alone), 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": -1},
        {"top_k": 0},
        {"top_p": 0},
        {"top_p": 1.5},
        {"min_p": -0.1},
        {"repetition_penalty": 0},
    ],
)
def test_parameters_without_meaning_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Sampling(**wrong)  # type: ignore[arg-type]
