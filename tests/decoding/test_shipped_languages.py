"""The decoder under the shipped languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from language_server.decoding import RandomModel, ReplayModel, generate
from language_server.decoding.generation import Generation
from language_server.languages import Language, load_language
from language_server.projection import Prefix
from tests.languages.corpus import clevr_text, rows


@pytest.fixture(scope="module", params=["statechart", "clevr"])
def language(request: pytest.FixtureRequest) -> Language:
    return load_language(request.param)


def replayed(language: Language, text: str, strategy: str, seed: int) -> Generation:
    model = ReplayModel(text, seed=seed)
    return generate(language, "", model, strategy, seed, max_tokens=2 * len(text.encode()) + 400)


@pytest.mark.parametrize("strategy", ["grammar", "mask"])
def test_replay_gives_an_example_letter_for_letter(language: Language, strategy: str) -> None:
    for example in language.examples[:2]:
        result = replayed(language, example.text, strategy, seed=0)
        assert result.text == example.text
        assert result.finish == "end"


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["grammar", "mask", "assured"])
def test_replay_gives_every_example_letter_for_letter(language: Language, strategy: str) -> None:
    for seed, example in enumerate(language.examples):
        assert replayed(language, example.text, strategy, seed).text == example.text


@pytest.mark.long
def test_replay_gives_every_gold_letter_for_letter(shared: Path) -> None:
    clevr = load_language("clevr")
    for seed, gold in enumerate(rows(shared / "benchmarks" / "clevr" / "questions.jsonl")):
        text = clevr_text(gold)
        assert replayed(clevr, text, "assured", seed).text == text


@pytest.mark.parametrize("name", ["statechart", "taxonomy"])
def test_the_model_chooses_up_to_the_end_of_a_small_budget(name: str) -> None:
    """Near its end the budget rules out nearly all tokens: of each kind of them some are asked."""
    language, model = load_language(name), RandomModel()
    witness = Prefix.start(language).completable().witness
    assert witness is not None
    budget = 5 * len(model.vocabulary.encode(witness))
    closed = total = 0
    for seed in range(2):
        result = generate(language, "", model, "assured", seed, max_tokens=budget)
        assert language.judge(result.text) == ()
        assert sum(result.tokens.values()) <= budget
        closed += result.tokens["witness"]
        total += sum(result.tokens.values())
    assert closed < 0.05 * total


@pytest.mark.long
def test_assured_with_the_random_model_is_valid(language: Language) -> None:
    own = total = 0
    for seed in range(20):
        result = generate(language, "", RandomModel(), "assured", seed, max_tokens=400)
        assert language.judge(result.text) == ()
        assert sum(result.tokens.values()) <= 400
        own += result.tokens["model"]
        total += sum(result.tokens.values())
    assert own > 0.5 * total
