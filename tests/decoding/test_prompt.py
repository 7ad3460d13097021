"""The prompt: which examples, and how many."""

from __future__ import annotations

from dataclasses import dataclass

from language_server.decoding import RandomModel
from language_server.decoding.prompt import build_prompt, nearest


@dataclass(frozen=True)
class Shot:
    description: str
    text: str


SHOTS = (
    Shot("A door that opens and closes", "door"),
    Shot("A traffic light with three colours", "light"),
    Shot("A coffee machine that grinds and brews", "coffee"),
    Shot("A lift that moves between floors", "lift"),
    Shot("A lamp with a switch", "lamp"),
)


def test_the_nearest_examples_come_first() -> None:
    assert nearest(SHOTS, "machine for coffee", 2)[0].text == "coffee"
    assert nearest(SHOTS, "a lift with floors", 1)[0].text == "lift"
    assert [shot.text for shot in nearest(SHOTS, "zzz", 2)] == ["door", "light"]
    assert nearest((), "anything", 3) == []


def test_a_prompt_ends_with_the_description_and_the_nearest_example_before_it() -> None:
    prompt = build_prompt(RandomModel(), "toy", "One word.", SHOTS, "coffee, please", "cof")
    assert [turn.role for turn in prompt.messages[:3]] == ["system", "user", "assistant"]
    assert prompt.messages[0].content == "One word."
    assert prompt.messages[-1].content == "coffee, please"
    assert prompt.messages[-2].content == "coffee"
    assert prompt.answer == "cof"


def test_examples_are_left_out_to_keep_the_budget_the_farthest_first() -> None:
    model = RandomModel()
    prompt = build_prompt(model, "toy", "", SHOTS, "coffee", max_tokens=40)
    assert model.count_tokens(prompt) <= 40
    assert prompt.messages[-2].content == "coffee"
    bare = build_prompt(model, "toy", "", SHOTS, "coffee", max_tokens=1)
    assert len(bare.messages) == 2
    assert "toy" in bare.messages[0].content
