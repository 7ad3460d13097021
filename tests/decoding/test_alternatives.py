"""Several texts for one description, ranked by what the model thinks of them."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from language_server.decoding import (
    RandomModel,
    ReplayModel,
    alternatives,
    generate,
)
from language_server.decoding.sampling import log_probability
from language_server.languages import Language, load_language

VALID = "statechart Door\nevent open\ninitial state Closed { on open -> Open }\nstate Open\n"


@pytest.fixture(scope="module")
def statechart() -> Language:
    return load_language("statechart")


def test_the_probability_is_that_of_the_softmax() -> None:
    logits = np.log(np.array([0.5, 0.25, 0.125, 0.125], dtype=np.float32)) + 700
    for token, probability in enumerate((0.5, 0.25, 0.125, 0.125)):
        found = log_probability(logits, token)
        assert found == pytest.approx(math.log(probability), abs=1e-4)
    logits[2] = -np.inf
    assert log_probability(logits, 2) is None
    assert log_probability(logits, 0) == pytest.approx(math.log(0.5 / 0.875), abs=1e-4)
    assert log_probability(None, 0) is None


def test_likelihood_is_the_mean_over_the_tokens_the_model_chose(statechart: Language) -> None:
    """The random model gives each of its tokens one over the size of its vocabulary."""
    model = RandomModel()
    for strategy in ("free", "grammar", "mask", "retry", "assured"):
        result = generate(statechart, "", model, strategy, seed=1, max_tokens=40)
        assert result.likelihood == pytest.approx(-math.log(len(model.vocabulary)), abs=1e-4)
    replayed = generate(statechart, "", ReplayModel(VALID), max_tokens=200)
    assert replayed.likelihood == pytest.approx(0, abs=1e-4)


class Wavering(ReplayModel):
    """Names one of two events by chance, the second one more likely."""

    def logits_after(self, said: bytes) -> np.ndarray:
        logits = super().logits_after(said)
        if said.endswith(b"event "):
            logits[ord("a")], logits[ord("b")] = 0.0, 1.0
            logits[ord("o")] = -100.0
            others = [token for token in range(len(logits)) if chr(token) not in "ab"]
            logits[others] -= 200
        return logits


def test_alternatives_differ_and_the_likelier_comes_first(statechart: Language) -> None:
    found = alternatives(statechart, "", Wavering(VALID), 6, max_tokens=40)
    texts = [generation.text for generation in found]
    assert len(set(texts)) == len(texts) > 1
    assert all(statechart.judge(text) == () for text in texts)
    likelihoods = [generation.likelihood or 0.0 for generation in found]
    assert likelihoods == sorted(likelihoods, reverse=True)
    seeds = {generation.seed for generation in found}
    assert seeds <= set(range(6))


def test_what_has_errors_comes_last(statechart: Language) -> None:
    drawn = alternatives(statechart, "", RandomModel(), 4, strategy="free", max_tokens=5)
    assert len(drawn) == 4
    (only,) = alternatives(statechart, "", ReplayModel(VALID), 3, max_tokens=200)
    assert only.text == VALID


def test_one_is_returned_however_short_the_time(statechart: Language) -> None:
    cancel = threading.Event()
    cancel.set()
    (only,) = alternatives(statechart, "", RandomModel(), 5, max_tokens=40, cancel=cancel)
    assert only.finish == "cancelled"
    (only,) = alternatives(statechart, "", RandomModel(), 5, max_tokens=40, deadline=0.0)
    assert only.finish == "deadline"
    assert statechart.judge(only.text) == ()
