"""Thinking aloud, and ``cascade``: a free draft that is kept if it passes."""

from __future__ import annotations

import threading

import pytest

from language_server.decoding import (
    Event,
    GenerationError,
    LanguageModel,
    Prompt,
    RandomModel,
    ReplayModel,
    generate,
)
from language_server.decoding.draft import artefact
from language_server.decoding.language_model import Context, Stop, go_on
from language_server.languages import Language, load_language

VALID = "statechart Door\nevent open\ninitial state Closed { on open -> Open }\nstate Open\n"
DANGLING = VALID.replace("state Open\n", "")
THOUGHTS = "<think>\nTwo states.\n</think>\n"


@pytest.fixture(scope="module")
def statechart() -> Language:
    return load_language("statechart")


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("state A\n", "state A\n"),
        ("Here it is:\n```statechart\nstate A\n```\nEnjoy!", "state A\n"),
        ("```\nstate A\n", "state A\n"),
        ("  ```\nA\n  ```\n```\nB\n```\n", "A\n"),
        ('1["a ``` b"]', '1["a ``` b"]'),
    ],
)
def test_what_of_an_answer_is_the_artefact(answer: str, wanted: str) -> None:
    assert artefact(answer) == wanted


@pytest.mark.parametrize("fence", ["{}", "```\n{}```\nThat is all."])
def test_a_draft_that_passes_is_kept(statechart: Language, fence: str) -> None:
    model = ReplayModel(fence.format(VALID))
    result = generate(statechart, "", model, "cascade", max_tokens=200)
    assert (result.text, result.strategy) == (VALID, "cascade")
    assert result.refused_draft is None
    assert result.complete


@pytest.mark.parametrize("strategy", ["cascade", "cascade:mask", "cascade:retry"])
def test_a_draft_that_does_not_pass_is_written_again_under_guidance(
    statechart: Language, strategy: str
) -> None:
    events: list[Event] = []
    result = generate(
        statechart,
        "",
        ReplayModel(DANGLING),
        strategy,
        max_tokens=200,
        on_event=events.append,
    )
    assert result.strategy == strategy
    assert result.refused_draft == DANGLING
    # It is the draft again, as far as that goes.
    assert result.text.startswith(DANGLING.rstrip())
    returns = [event.detail for event in events if event.kind == "backtrack" and event.length == 0]
    assert returns[0].startswith("the draft does not pass: ")
    assert "Open" in returns[0]
    if strategy == "cascade":
        assert statechart.judge(result.text) == ()
        alone = generate(statechart, "", ReplayModel(DANGLING), "assured", max_tokens=200)
        assert result.text == alone.text
        assert result.model_calls > alone.model_calls


def test_cascade_is_valid_with_a_model_that_knows_nothing(statechart: Language) -> None:
    result = generate(statechart, "", RandomModel(), "cascade", seed=3, max_tokens=60)
    assert statechart.judge(result.text) == ()
    assert result.refused_draft is not None


def test_a_cancelled_cascade_is_valid(statechart: Language) -> None:
    cancel = threading.Event()
    cancel.set()
    result = generate(
        statechart, "", RandomModel(), "cascade", cancel=cancel, max_tokens=60, reasoning=20
    )
    assert result.finish == "cancelled"
    assert statechart.judge(result.text) == ()


@pytest.mark.parametrize("strategy", ["cascade:cascade", "cascade:magic", "mask:free", "cascade:"])
def test_what_is_no_strategy(statechart: Language, strategy: str) -> None:
    with pytest.raises(GenerationError, match=f"no strategy '{strategy}'"):
        generate(statechart, "", RandomModel(), strategy)


@pytest.mark.parametrize("strategy", ["free", "grammar", "mask", "retry", "assured", "cascade"])
def test_thoughts_come_first_and_are_no_part_of_the_text(
    statechart: Language, strategy: str
) -> None:
    events: list[Event] = []
    result = generate(
        statechart,
        "",
        ReplayModel(THOUGHTS + VALID),
        strategy,
        max_tokens=200,
        reasoning=100,
        on_event=events.append,
    )
    assert result.text == VALID
    assert result.thoughts == THOUGHTS
    assert events[0] == Event("thought", "Two states.", 0, 0, events[0].detail)
    assert result.to_json()["thoughts"] == THOUGHTS


def test_thoughts_are_closed_where_their_budget_ends(statechart: Language) -> None:
    """Single bytes: twelve of them are spent on 'Two states.' and the line's end."""
    wanted = THOUGHTS + VALID
    result = generate(statechart, "", ReplayModel(wanted), max_tokens=200, reasoning=11)
    assert result.thoughts == THOUGHTS
    assert result.text == VALID


def test_a_model_is_asked_to_think(statechart: Language) -> None:
    prompts: list[Prompt] = []

    class Listening(ReplayModel):
        def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
            prompts.append(prompt)
            return super().start(prompt, stop, seed)

    model: LanguageModel = Listening(THOUGHTS + VALID)
    generate(statechart, "a door", model, max_tokens=200, reasoning=50, prefix_text="")
    first, second = prompts
    assert first.messages == second.messages
    assert first.messages[-1].content.startswith("a door")
    assert "<think>" in first.messages[-1].content
    assert (first.answer, second.answer) == ("<think>\n", THOUGHTS)
