"""Search over branches: what it returns, in which order it grows them, and what it tells."""

from __future__ import annotations

import threading
import time

import pytest

from language_server.decoding import (
    Event,
    GenerationError,
    LayoutPolicy,
    Limits,
    Prompt,
    RandomModel,
    ReplayModel,
    Sampling,
    Vocabulary,
    alternatives,
    generate,
)
from language_server.decoding.search import SEARCHES, Branch, Growth, Search, fewest_obligations
from language_server.decoding.task import Task
from language_server.languages import Language, load_language
from tests.decoding.guides import BracketGuide
from tests.decoding.models import Closing

VALID = "statechart Door\nevent open\ninitial state Closed { on open -> Open }\nstate Open\n"
NAMES = sorted(SEARCHES)
CONSTRAINED = ["assured", "retry", "mask", "grammar"]


@pytest.fixture(scope="module")
def statechart() -> Language:
    return load_language("statechart")


def task(pieces: Vocabulary, strategy: str = "assured", **changes: object) -> Task:
    limits = Limits(40, forced_text=False)
    chosen = {"limits": limits, "policy": LayoutPolicy.free(), **changes}
    return Task(BracketGuide(3, 3), Prompt(()), Closing(pieces), strategy, **chosen)  # type: ignore[arg-type]


@pytest.mark.parametrize("search", NAMES)
@pytest.mark.parametrize("strategy", CONSTRAINED)
def test_the_best_comes_first_and_none_twice(
    pieces: Vocabulary, search: str, strategy: str
) -> None:
    events: list[Event] = []
    looking = Search(SEARCHES[search], 3)
    best = looking(task(pieces, strategy, on_event=events.append))
    found = looking.found
    assert found[0] == best
    assert len({made.text for made in found}) == len(found) <= 3
    for made in found:
        assert made.complete == BracketGuide(3, 3).advance(made.text).complete
        assert sum(made.tokens.values()) <= 40
    if strategy == "assured":
        assert all(made.complete for made in found)
        scores = [made.likelihood or 0.0 for made in found]
        assert scores == sorted(scores, reverse=True)
    # The events tell one text: at the end the one that is returned.
    shown = ""
    for event in events:
        if event.kind == "backtrack":
            shown = shown[: event.length]
        elif event.kind in ("token", "forced", "witness"):
            shown += event.text
        assert len(shown) == event.length
    assert shown == best.text


def test_a_beam_finds_likelier_texts_than_one_draw(pieces: Vocabulary) -> None:
    """Mean over seeds; the score is what the beam selects by."""
    once, searched = [], []
    for seed in range(12):
        once.append(task(pieces, seed=seed).write().likelihood or 0.0)
        found = Search(SEARCHES["beam"], 3)(task(pieces, seed=seed))
        searched.append(found.likelihood or 0.0)
    assert sum(searched) > sum(once)


def test_a_beam_of_one_child_is_the_strategy_itself(pieces: Vocabulary) -> None:
    """The first branch is drawn with the task's own seed."""
    growth = Growth(task(pieces, "mask", seed=5))
    branch = growth.child(None)
    while not branch.finished:
        growth._drawn = 0  # the same noise again
        branch = growth.child(branch)
    assert branch.made.text == task(pieces, "mask", seed=5).write().text


def test_what_owes_least_is_grown_first(pieces: Vocabulary) -> None:
    grown: list[tuple[int, list[int]]] = []
    waiting: list[Branch] = []

    class Watched(Growth):
        def child(self, parent: Branch | None) -> Branch:
            if parent is not None and parent in waiting:
                grown.append((parent.owed, [branch.owed for branch in waiting]))
                waiting.remove(parent)
            child = super().child(parent)
            if not child.finished:
                waiting.append(child)
            return child

    fewest_obligations(Watched(task(pieces, "mask")), 3)
    assert len(grown) >= 3
    assert all(owed == min(others) for owed, others in grown)
    assert any(owed < max(others) for owed, others in grown)


@pytest.mark.parametrize("search", [*NAMES, "aligned"])
def test_a_model_that_wants_one_text_gets_it(statechart: Language, search: str) -> None:
    best, *_ = alternatives(statechart, "", ReplayModel(VALID), 2, search=search, max_tokens=200)
    assert best.text == VALID
    assert best.finish == "end"


@pytest.mark.parametrize("search", NAMES)
def test_a_search_that_is_stopped_returns_valid_texts(statechart: Language, search: str) -> None:
    for moment in (0, 20, 60, 110):
        cancel = threading.Event()
        seen: list[Event] = []

        def hear(
            event: Event, seen: list[Event] = seen, cancel: threading.Event = cancel,
            moment: int = moment,
        ) -> None:  # fmt: skip
            seen.append(event)
            if len(seen) > moment:
                cancel.set()

        found = alternatives(
            statechart, "", RandomModel(), 2, search=search, max_tokens=40, cancel=cancel,
            on_event=hear,
        )  # fmt: skip
        assert moment or found[0].finish == "cancelled"
        assert all(statechart.judge(made.text) == () for made in found)
    late = alternatives(
        statechart, "", RandomModel(), 3, search=search, max_tokens=40, deadline=0.0
    )
    assert statechart.judge(late[0].text) == ()
    assert late[0].finish == "deadline"


def test_a_search_keeps_the_beginning_and_the_draft(statechart: Language) -> None:
    begun = VALID[:40]
    made, *_ = alternatives(
        statechart, "", RandomModel(), 2, search="beam", max_tokens=40, prefix_text=begun
    )
    assert made.text.startswith(begun)
    assert statechart.judge(made.text) == ()
    (draft,) = alternatives(
        statechart, "", ReplayModel(VALID), 2, search="beam", strategy="cascade", max_tokens=200
    )
    assert draft.text == VALID
    assert draft.refused_draft is None


def test_there_is_no_other_search(statechart: Language) -> None:
    with pytest.raises(GenerationError, match="no search 'depth': best, aligned, beam"):
        alternatives(statechart, "", RandomModel(), 2, search="depth")
    with pytest.raises(GenerationError, match="whole distribution"):
        alternatives(statechart, "", RandomModel(), 2, search="aligned", sampling=Sampling(top_k=2))
    with pytest.raises(GenerationError, match="budget"):
        alternatives(statechart, "", RandomModel(), 2, search="beam", max_tokens=1)


def test_the_time_of_all_branches_is_told(statechart: Language) -> None:
    began = time.perf_counter()
    made, *_ = alternatives(statechart, "", RandomModel(), 2, search="beam", max_tokens=40)
    assert 0 < made.seconds["total"] <= time.perf_counter() - began
    alone = generate(statechart, "", RandomModel(), max_tokens=40)
    assert made.model_calls > alone.model_calls
