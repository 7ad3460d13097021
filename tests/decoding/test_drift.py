"""Texts that circle or wander are taken back, others are left alone."""

from __future__ import annotations

import numpy as np
import pytest

from language_server.decoding import LanguageModel, Limits, Prompt, ReplayModel, Vocabulary
from language_server.decoding.drift import period_of, round_of, stutter_of
from language_server.decoding.generate import generate_with
from language_server.decoding.generation import Event, Generation
from language_server.decoding.language_model import Context, Stop, go_on
from language_server.decoding.layout import LayoutPolicy
from language_server.languages import load_language
from language_server.projection import Prefix
from tests.decoding.guides import BracketGuide
from tests.decoding.models import FixedContext


class Circling(LanguageModel):
    """Says the same word for ever."""

    name = "circling"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        logits = np.zeros(len(self.vocabulary), dtype=np.float32)
        logits[self.vocabulary.token_bytes.index(b" word")] = 30
        return FixedContext(logits)


def write(vocabulary: Vocabulary, drift_control: bool, events: list[Event]) -> Generation:
    return generate_with(
        BracketGuide(12, 3),
        Prompt(()),
        Circling(vocabulary),
        limits=Limits(60, drift_control=drift_control),
        on_event=events.append,
    )


def longest_run(text: str) -> int:
    """How often the word stands there, at most, without anything else between."""
    return max(count for count in range(60) if " word" * count in text)


def test_a_circling_model_is_made_to_say_something_else(pieces: Vocabulary) -> None:
    events: list[Event] = []
    guided = write(pieces, True, events)
    left_alone = write(pieces, False, [])
    assert BracketGuide(12, 3).advance(guided.text).complete
    assert any(event.detail == "the same passage again and again" for event in events)
    assert longest_run(guided.text) < longest_run(left_alone.text)


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("on a -> B\n" * 3, 10),
        ("x" + "on a -> B\n" * 2, None),
        ("}\n}\n}\n}\n}\n}\n", None),
        ("        " * 4, None),
        ("start abcdefgh abcdefgh abcdefgh", 9),
    ],
)
def test_the_period_of_a_text(text: str, period: int | None) -> None:
    assert period_of(text) == period


@pytest.mark.parametrize(
    "name", ["clevr", "statechart", "flowchart", "taxonomy", "taxonomy_ccs", "blocks"]
)
def test_no_example_looks_like_drift(name: str) -> None:
    examples = load_language(name).examples
    policy = LayoutPolicy().widened_to(example.text for example in examples)
    for example in examples:
        for end in range(len(example.text) + 1):
            assert period_of(example.text[:end]) is None
            assert stutter_of(example.text[:end]) is None
            assert round_of(example.text[:end], policy.rounds) is None


def test_lines_that_each_say_the_one_before_a_little_longer() -> None:
    stutter = "event failure_error\n\nevent failure_error_ok\nevent failure_error_no\n"
    text = f"initial state A\n{stutter}event failure_error_no_no\n"
    assert stutter_of(text) == text.index("event failure_error_ok")
    assert stutter_of(text[:-1]) is None
    assert stutter_of("event a\nevent b\nevent c\nevent d\nevent e\n") is None


def test_lines_that_come_round_with_other_numbers() -> None:
    lines = [f'    {number} --> {number + 1}["filter"]\n' for number in range(8, 12)]
    text = "graph LR\n" + "".join(lines)
    assert round_of(text, 3) == text.index(lines[1])
    assert round_of(text + "    ", 3) == text.index(lines[1])
    assert round_of(text, 4) is None
    assert round_of("".join(lines[:3]) + lines[3].replace("filter", "count"), 3) is None
    assert round_of("1, 2\n3, 4\n5, 6\n7, 8\n", 3) is None


def test_a_pair_of_lines_that_comes_round() -> None:
    pairs = [f"put apple {number} down\ntake {number} away\n" for number in range(4)]
    assert round_of("".join(pairs), 3) == len(pairs[0])
    assert round_of("".join(pairs[:3]), 3) is None


def test_a_text_that_comes_round_with_other_numbers_is_ended() -> None:
    """The model would go on for the whole budget, since more filters may always follow."""
    clevr = load_language("clevr")
    head = 'graph LR\n    1["scene"] --> 2["filter_color_red"]\n'
    lines = [f'    {n} --> {n + 1}["filter_color_red"]\n' for n in range(2, 60)]
    text = head + "".join(lines)
    made = generate_with(
        Prefix.start(clevr),
        Prompt(()),
        ReplayModel(text),
        limits=Limits(1000, forced_text=False),
        policy=LayoutPolicy(),
    )
    assert made.finish == "end"
    assert clevr.judge(made.text) == ()
    assert made.text.count("filter_color") <= 5


def test_where_the_model_ends_too_early_the_text_is_ended_soon() -> None:
    """The rest of the budget is not filled with what is allowed."""
    clevr = load_language("clevr")
    text = 'graph LR\n    1["scene"] --> 2["filter_color_red"]'
    begun = Prefix.start(clevr).advance(text)
    assert begun.parses
    assert not begun.complete
    model = ReplayModel(text)
    made = generate_with(
        Prefix.start(clevr), Prompt(()), model, limits=Limits(400), policy=LayoutPolicy()
    )
    witness = begun.completable().witness
    assert witness is not None
    needed = len(model.vocabulary.encode(text)) + 2 * len(model.vocabulary.encode(witness))
    assert made.finish == "end"
    assert made.text.startswith(text)
    assert clevr.judge(made.text) == ()
    assert sum(made.tokens.values()) <= needed
