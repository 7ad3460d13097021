"""Strategy ``retry``: checks at the ends of units, fifty returns, then the grammar alone."""

from __future__ import annotations

import pytest

from language_server.decoding import (
    Event,
    Limits,
    Prompt,
    ReplayModel,
    Vocabulary,
    generate,
    generate_with,
)
from language_server.decoding.generation import Generation
from language_server.languages import load_language
from tests.decoding.guides import BracketGuide
from tests.decoding.models import Closing


class ByBrackets(BracketGuide):
    """Rules the brackets alone; how many words and groups there are is judged on demand."""

    @property
    def alive(self) -> bool:
        return not self.dead

    @property
    def complete(self) -> bool:
        return self.started and self.depth == 0 and not self.dead

    @property
    def judged(self) -> BracketGuide:
        return BracketGuide(**self.__dict__)

    def _step(self, c: str) -> ByBrackets:
        return ByBrackets(**super()._step(c).__dict__)


def run(
    guide: ByBrackets, vocabulary: Vocabulary, seed: int, max_tokens: int = 60
) -> tuple[Generation, list[Event]]:
    events: list[Event] = []
    result = generate_with(
        guide,
        Prompt(()),
        Closing(vocabulary),
        strategy="retry",
        seed=seed,
        limits=Limits(max_tokens),
        on_event=events.append,
    )
    return result, events


def fell_back(events: list[Event]) -> bool:
    return any(event.detail.startswith("50 checks have failed") for event in events)


def test_what_ended_without_fifty_failures_is_consistent(pieces: Vocabulary) -> None:
    ended = 0
    for seed in range(60):
        result, events = run(ByBrackets(4, 2), pieces, seed)
        if result.finish == "end" and not fell_back(events):
            ended += 1
            assert BracketGuide(4, 2).advance(result.text).complete
    assert ended >= 5


def test_every_snapshot_is_consistent_and_every_return_leads_to_one(pieces: Vocabulary) -> None:
    for seed in range(60):
        _, events = run(ByBrackets(3, 2), pieces, seed)
        text, snapshots, returns = "", {0}, 0
        for event in events:
            if event.kind in ("token", "forced"):
                text += event.text
            elif event.kind == "snapshot":
                assert BracketGuide(3, 2).advance(text).alive
                snapshots.add(len(text))
            elif event.kind == "backtrack":
                returns += 1
                # Text forced at the start stands before the first unit.
                assert event.length in snapshots or event.length == 1
                text = text[: event.length]
    assert returns


def test_after_fifty_failures_the_grammar_alone_goes_on(pieces: Vocabulary) -> None:
    """No text has a negative number of words: every check fails."""
    for seed in range(20):
        result, events = run(ByBrackets(-1, 0), pieces, seed)
        assert ByBrackets(-1, 0).advance(result.text).alive
        assert not any(event.kind == "snapshot" for event in events)
        assert fell_back(events) or result.finish == "budget"
        if fell_back(events):
            assert sum(event.kind == "backtrack" for event in events) == 50


@pytest.mark.parametrize("name", ["statechart", "clevr"])
def test_a_consistent_text_that_the_model_wants_is_written(name: str) -> None:
    language = load_language(name)
    example = language.examples[0].text
    model = ReplayModel(example)
    result = generate(language, "", model, "retry", max_tokens=2 * len(example))
    assert (result.text, result.finish, result.backtracks) == (example, "end", 0)


def test_a_model_that_insists_gets_its_way_after_fifty_returns() -> None:
    """A final state must not have transitions."""
    statechart = load_language("statechart")
    valid = "statechart S\nevent e\ninitial state A { on e -> B }\nfinal state B "
    wanted = valid + "{ on e -> A }\n"
    events: list[Event] = []
    result = generate(
        statechart, "", ReplayModel(wanted), "retry", max_tokens=120, on_event=events.append
    )
    returns = [event for event in events if event.kind == "backtrack"]
    assert [event.detail for event in returns] == ["the unit leads to no consistent model"] * 50
    assert {wanted[: event.length].strip() for event in returns} == {
        valid[: -len("final state B ")].strip()
    }
    assert fell_back(events)
    assert result.text == wanted
