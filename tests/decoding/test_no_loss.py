"""No consistent output of ``grammar`` is lost by ``assured``: pairs with one seed.

The pairs have forced text and drift control switched off. With a uniform random model hardly any
text of the grammar is consistent, so that the model is one that mixes the language's examples; only
texts count that are no example and were not seen before. ``LANGWRIGHT_PAIRS`` sets how many pairs
the long test looks for (50).
"""

from __future__ import annotations

import os

import pytest

from language_server.decoding import LanguageModel, Limits, Prompt
from language_server.decoding.generate import generate_with
from language_server.decoding.generation import Generation
from language_server.decoding.layout import LayoutPolicy
from language_server.decoding.sampling import Sampling
from language_server.languages import Language, load_language
from language_server.languages.imports import Disk, Library
from language_server.projection import Effort, Prefix
from tests.decoding.models import Markov
from tests.projection.test_cases import LANGUAGES

ORDERS = (10, 24, 40)
"""How many bytes the model looks back: the fewer, the newer the texts and the fewer consistent."""


def write(language: Language, strategy: str, model: LanguageModel, seed: int) -> Generation:
    limits = Limits(800, forced_text=False, drift_control=False)
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
        sampling=Sampling(temperature=1),
    )


def pairs(language: Language, wanted: int, most: int) -> tuple[int, int, list[str]]:
    """New consistent outputs of ``grammar``, how many runs that took, and those that were lost."""
    texts = [example.text for example in language.examples]
    models = [Markov(texts, order) for order in ORDERS]
    seen = set(texts)
    found, lost = 0, []
    for seed in range(most):
        example = language.examples[seed % len(language.examples)]
        home = language.at(example.path, Library(Disk()))  # what is imported is there
        model = models[seed % len(models)]
        free = write(home, "grammar", model, seed)
        if free.finish == "end" and free.text not in seen and not home.judge(free.text):
            found += 1
            if write(home, "assured", model, seed).text != free.text:
                lost.append(free.text)
        seen.add(free.text)
        if found == wanted:
            return found, seed + 1, lost
    return found, most, lost


@pytest.mark.parametrize("name", ["taxonomy", "blocks"])
def test_a_consistent_text_of_the_grammar_is_written_by_assured_too(name: str) -> None:
    found, _, lost = pairs(load_language(name), wanted=2, most=40)
    assert found == 2
    assert lost == []


@pytest.mark.long
@pytest.mark.parametrize("name", LANGUAGES)
def test_no_consistent_text_of_the_grammar_is_lost(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = int(os.environ.get("LANGWRIGHT_PAIRS", "50"))
    found, runs, lost = pairs(load_language(name), wanted, most=60 * wanted)
    with capsys.disabled():
        print(f"\n{name}: {found} pairs from {runs} runs, {len(lost)} lost")
    assert lost == []
    assert found == wanted
