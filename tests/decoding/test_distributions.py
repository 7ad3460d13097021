"""Which distribution a strategy draws from, on languages small enough to list (KL in nats)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from language_server.decoding import (
    GenerationError,
    Limits,
    Prompt,
    Sampling,
)
from language_server.decoding.aligned import Aligned
from language_server.decoding.task import Task
from language_server.projection import Prefix
from tests.decoding.enumerable import (
    LANGUAGES,
    UNITS,
    UNITS_PROBLEM,
    LetterModel,
    conditional,
    divergence,
    locally_masked,
    sampling_error,
    texts_of,
    toy,
    written,
)
from tests.decoding.models import Preferring

Draw = Callable[[int, str], Task]
DRAWS = 500


@pytest.fixture(scope="module", params=sorted(LANGUAGES))
def listed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[str], Draw]:
    """All texts of a language, and the task of a draw with a seed under a strategy."""
    language = toy(request.param, tmp_path_factory.mktemp("toy"))
    model, start = LetterModel(), Prefix.start(language)

    def task(seed: int, strategy: str) -> Task:
        return Task(
            start,
            Prompt(()),
            model,
            strategy,
            seed,
            Limits(6, forced_text=False, drift_control=False),
            sampling=Sampling(temperature=1.0),
        )

    return texts_of(language), task


@pytest.mark.parametrize("strategy", ["mask", "assured"])
def test_constrained_strategies_draw_from_the_locally_masked_distribution(
    listed: tuple[list[str], Draw], strategy: str
) -> None:
    texts, task = listed
    local, valid = (exact(texts, LetterModel()) for exact in (locally_masked, conditional))
    drawn = [task(seed, strategy).write() for seed in range(DRAWS)]
    assert all(made.text in texts for made in drawn)
    to_local, to_valid = (divergence([m.text for m in drawn], exact) for exact in (local, valid))
    error = sampling_error(local, DRAWS)
    print(f"{strategy}: {to_local:.4f} to local (error {error:.4f}), {to_valid:.4f} to valid")
    assert to_local < error
    # Which is another one: the difference is not a matter of chance.
    assert to_valid > 10 * sampling_error(valid, DRAWS)


@pytest.mark.parametrize("drift_control", [True, False])
def test_units_are_drawn_again_that_constraints_turn_down(
    tmp_path: Path, drift_control: bool
) -> None:
    """What comes out is what ``grammar`` writes where that is consistent, and as often."""
    language = written("units", UNITS, UNITS_PROBLEM, tmp_path)
    start, prompt = Prefix.start(language).advance("b"), Prompt((), "b")
    assert start.forced() == "b"  # which makes up for a choice of the model that is taken back
    texts = texts_of(language)
    assert texts == ["bba", "bbab", "bbba", "bbbb"]

    def draw(seed: int) -> str:
        limits = Limits(6, drift_control=drift_control)
        sampling = Sampling(temperature=1.0)
        task = Task(start, prompt, LetterModel(), "assured", seed, limits, sampling=sampling)
        return task.write().text

    masked = locally_masked(texts, LetterModel(), "bb")
    by_grammar = locally_masked([*texts, "bbaa"], LetterModel(), "bb")
    consistent = {text: by_grammar[text] / (1 - by_grammar["bbaa"]) for text in texts}
    wanted, other = (consistent, masked) if drift_control else (masked, consistent)
    drawn = [draw(seed) for seed in range(DRAWS)]
    error = sampling_error(wanted, DRAWS)
    print(f"{divergence(drawn, wanted):.4f} (error {error:.4f}), {divergence(drawn, other):.4f}")
    assert divergence(drawn, wanted) < error
    assert divergence(drawn, other) > 4 * error


def test_a_text_is_wound_up_by_what_meets_an_obligation(tmp_path: Path) -> None:
    """The grammar has nothing open behind "a", nor behind "aab", which the constraint asks for."""
    vocabulary = LetterModel().vocabulary
    (end,) = vocabulary.end_tokens
    model = Preferring(vocabulary, [end, vocabulary.token_bytes.index(b"ab")])
    start = Prefix.start(toy("sets", tmp_path)).advance("a")
    task = Task(start, Prompt((), "a"), model, "assured", limits=Limits(20))
    assert task.write().text == "aab"


def test_aligned_draws_come_to_the_distribution_of_valid_texts(
    listed: tuple[list[str], Draw],
) -> None:
    texts, task = listed
    valid = conditional(texts, LetterModel())
    aligned = Aligned()
    drawn = [aligned(task(seed, "mask")) for seed in range(DRAWS)]
    assert all(made.text in texts for made in drawn)
    later = [made.text for made in drawn[DRAWS // 5 :]]
    to_valid, error = divergence(later, valid), sampling_error(valid, len(later))
    print(f"aligned: {to_valid:.4f} to valid (error {error:.4f})")
    assert to_valid < error


def test_aligned_draws_come_nearer_the_more_there_were(listed: tuple[list[str], Draw]) -> None:
    """The first draws of many beginnings from nothing, and those that twenty came before."""
    texts, task = listed
    valid, local = (exact(texts, LetterModel()) for exact in (conditional, locally_masked))
    first: list[str] = []
    later: list[str] = []
    for beginning in range(20):
        aligned = Aligned()
        drawn = [aligned(task(1000 * beginning + number, "mask")).text for number in range(24)]
        first.append(drawn[0])
        later += drawn[20:]
    print(f"aligned: {divergence(first, valid):.3f} at the first, {divergence(later, valid):.3f}")
    assert divergence(first, local) < sampling_error(local, len(first))
    assert divergence(later, valid) < divergence(first, valid) / 4


def test_texts_beyond_the_budget_are_unlearnt(listed: tuple[list[str], Draw]) -> None:
    """Of two tokens, what needs more is tried once for each way there, and then no more."""
    _, task = listed
    aligned = Aligned()
    complete = []
    for seed in range(60):
        one = task(seed, "mask")
        one.limits.max_tokens = 2
        complete.append(aligned(one).complete)
    assert not all(complete)
    assert all(complete[30:])


def test_aligned_draws_take_no_truncation(listed: tuple[list[str], Draw]) -> None:
    _, task = listed
    for wrong in (Sampling(top_k=3), Sampling(top_p=0.9), Sampling(temperature=0)):
        with pytest.raises(GenerationError, match="whole distribution"):
            Aligned()(replace(task(0, "mask"), sampling=wrong))
