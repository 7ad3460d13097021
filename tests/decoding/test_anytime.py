"""Cancelled at any moment, ``assured`` returns a valid text. How soon is a matter of benchmarks."""

from __future__ import annotations

import os
import random
import threading

import pytest

from benchmarks.anytime import cancelled_after
from language_server.decoding import LanguageModel, load_model
from language_server.languages import load_language


@pytest.mark.parametrize("name", ["statechart", "clevr"])
def test_cancelled_at_a_few_moments_the_text_is_valid(name: str) -> None:
    language, model = load_language(name), load_model("random")
    for seconds in (0.0, 0.3, 1.5):
        generation, _ = cancelled_after(language, model, "", seconds, seed=1)
        assert language.judge(generation.text) == ()
    assert threading.active_count() < 20


@pytest.mark.long
@pytest.mark.model
def test_cancelled_at_many_moments_the_text_is_valid(smollm2: LanguageModel) -> None:
    """``LANGWRIGHT_MOMENTS`` (200), half of them with the embedded model, prefill included."""
    rng = random.Random(0)
    moments = int(os.environ.get("LANGWRIGHT_MOMENTS", "200"))
    for number in range(moments):
        language = load_language(("statechart", "clevr")[number // 2 % 2])
        model = smollm2 if number % 2 else load_model("random")
        # A new description each time: the model has to read it.
        description = f"A door number {number} that opens and closes"
        generation, _ = cancelled_after(
            language, model, description, rng.uniform(0, 8), seed=number
        )
        assert language.judge(generation.text) == ()
