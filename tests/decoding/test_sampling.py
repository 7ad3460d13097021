"""How tokens are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from language_server.decoding.sampling import Sampler, Sampling

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
