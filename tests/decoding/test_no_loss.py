"""No consistent output of ``grammar`` is lost by ``assured``: pairs with one seed.

The pairs have forced text and drift control switched off; with a uniform random model hardly any
text of the grammar is consistent, so that the model is one that leans towards an example.
``LANGWRIGHT_PAIRS`` sets how many pairs the long test looks for (50).
"""

from __future__ import annotations

import os

import pytest

from language_server.decoding import LanguageModel, Limits, Prompt, ReplayModel
from language_server.decoding.generate import generate_with
from language_server.decoding.generation import Generation
from language_server.decoding.layout import LayoutPolicy
from language_server.decoding.sampling import Sampling
from language_server.languages import Language, load_language
from language_server.projection import Effort, Prefix

LANGUAGES = ("clevr", "statechart", "flowchart", "taxonomy", "taxonomy_ccs", "blocks")


def write(
    language: Language, strategy: str, model: LanguageModel, seed: int, heat: float
) -> Generation:
    limits = Limits(400, forced_text=False, drift_control=False)
    limits.effort = Effort(60, (2, 6), 1500)
    grammar = strategy == "grammar"
    return generate_with(
        Prefix.of_grammar(language) if grammar else Prefix.start(language),
        Prompt(()),
        model,
        strategy=strategy,
        seed=seed,
        limits=limits,
        policy=LayoutPolicy().widened_to(example.text for example in language.examples),
        sampling=Sampling(temperature=heat),
    )


def pairs(language: Language, wanted: int, most: int) -> tuple[int, int, list[str]]:
    """Consistent outputs of ``grammar``, how many runs that took, and those that were lost."""
    found, lost = 0, []
    for seed in range(most):
        example = language.examples[seed % len(language.examples)]
        # Heat makes the model leave the example now and then.
        heat = (1.0, 2.0, 3.0)[seed % 3]
        model = ReplayModel(example.text, seed=seed)
        free = write(language, "grammar", model, seed, heat)
        if free.finish == "end" and not language.judge(free.text):
            found += 1
            if write(language, "assured", model, seed, heat).text != free.text:
                lost.append(free.text)
        if found == wanted:
            return found, seed + 1, lost
    return found, most, lost


@pytest.mark.parametrize("name", ["clevr", "statechart"])
def test_a_consistent_text_of_the_grammar_is_written_by_assured_too(name: str) -> None:
    found, _, lost = pairs(load_language(name), wanted=1, most=3)
    assert found == 1
    assert lost == []


@pytest.mark.long
@pytest.mark.parametrize("name", LANGUAGES)
def test_no_consistent_text_of_the_grammar_is_lost(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = int(os.environ.get("LANGWRIGHT_PAIRS", "50"))
    found, runs, lost = pairs(load_language(name), wanted, most=20 * wanted)
    with capsys.disabled():
        print(f"\n{name}: {found} pairs from {runs} runs, {len(lost)} lost")
    assert lost == []
    assert found == wanted
