"""Strategies under guides whose languages are known."""

from __future__ import annotations

import itertools
import string
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from language_server.decoding import (
    Event,
    Generation,
    GenerationError,
    LanguageModel,
    LayoutPolicy,
    Limits,
    Prompt,
    RandomModel,
    ReplayModel,
    Sampling,
    Vocabulary,
    generate,
    generate_with,
)
from language_server.decoding.guide import Guide
from language_server.languages import LanguageError, load_language
from tests.decoding.guides import Answer, BracketGuide, FiniteGuide
from tests.decoding.models import Adversary, Closing, Preferring, Stuck

FREE = LayoutPolicy.free()
NO_PROMPT = Prompt(())


def run(
    guide: Guide,
    model: LanguageModel,
    strategy: str = "assured",
    seed: int = 0,
    max_tokens: int = 60,
    **limits: object,
) -> Generation:
    return generate_with(
        guide,
        NO_PROMPT,
        model,
        strategy=strategy,
        seed=seed,
        limits=Limits(max_tokens, **limits),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("budget", [13, 20, 40, 80])
def test_d11_assured_is_valid_within_any_budget_that_holds_a_completion(
    pieces: Vocabulary, budget: int
) -> None:
    closed = total = 0
    for model, seed in itertools.product((RandomModel(pieces), Adversary(pieces)), range(8)):
        result = run(BracketGuide(6, 5), model, seed=seed, max_tokens=budget)
        assert BracketGuide(6, 5).advance(result.text).complete
        assert result.complete
        assert sum(result.tokens.values()) <= budget
        if model.name == "random":
            closed += result.tokens["witness"]
            total += sum(result.tokens.values())
    if budget == 80:
        assert closed < 0.05 * total


def test_assured_says_before_it_starts_that_the_model_cannot_spell_the_witness() -> None:
    vocabulary = Vocabulary([b"y", b"n", b"o", None], end_tokens=[3])
    with pytest.raises(GenerationError, match="vocabulary cannot spell 'yes'"):
        run(FiniteGuide(("yes", "yesterday")), RandomModel(vocabulary))


@pytest.mark.parametrize("forced_text", [True, False])
def test_assured_goes_back_from_what_the_model_cannot_spell(forced_text: bool) -> None:
    """Behind "o" the text ends with a "v", which the vocabulary lacks; "no" can be written."""
    vocabulary = Vocabulary([b"n", b"o", b"r", None], end_tokens=[3])
    for seed in range(8):
        guide = FiniteGuide(("no", "o" + "r" * 40 + "v"))
        result = run(guide, RandomModel(vocabulary), seed=seed, forced_text=forced_text)
        assert result.text == "no"


def test_assured_ends_where_a_text_may_end_and_nothing_else_fits() -> None:
    """More tokens than are tried are liked better than the end, and take one token too many."""
    letters = string.ascii_lowercase + string.ascii_uppercase
    vocabulary = Vocabulary(
        [b"go", b"!!", *(letter.encode() for letter in letters), None], end_tokens=[54]
    )
    guide = FiniteGuide(("go", *(f"go{letter}!!" for letter in letters)))
    model = Preferring(vocabulary, range(2, 54))
    for seed in range(8):
        result = run(guide, model, seed=seed, max_tokens=2)
        assert (result.text, result.complete, result.finish) == ("go", True, "budget")


def test_assured_says_before_it_starts_what_it_cannot_promise(pieces: Vocabulary) -> None:
    model = RandomModel(pieces)
    with pytest.raises(GenerationError, match=r"takes \d+ tokens, the budget is 3"):
        run(BracketGuide(6, 5), model, max_tokens=3)
    with pytest.raises(GenerationError, match="no completion"):
        run(BracketGuide(6, 5, searches=False), model)
    with pytest.raises(GenerationError, match="cannot be completed"):
        run(BracketGuide(1, 0).advance("(a b"), model)
    with pytest.raises(GenerationError, match="no strategy 'magic'"):
        run(BracketGuide(1, 0), model, strategy="magic")


@pytest.mark.parametrize("reason", ["deadline", "cancelled"])
def test_what_stops_a_run_reaches_into_the_model(pieces: Vocabulary, reason: str) -> None:
    limits: dict[str, Any] = {"deadline": time.monotonic() + 0.2}
    if reason == "cancelled":
        limits = {"cancel": threading.Event()}
        threading.Timer(0.2, limits["cancel"].set).start()
    result = run(BracketGuide(3, 2), Stuck(pieces), **limits)
    assert result.finish == reason
    assert BracketGuide(3, 2).advance(result.text).complete


def test_mask_and_grammar_keep_the_guide_alive(pieces: Vocabulary) -> None:
    for strategy, seed in itertools.product(("mask", "grammar"), range(10)):
        result = run(BracketGuide(6, 5), RandomModel(pieces), strategy, seed)
        assert BracketGuide(6, 5).advance(result.text).alive
        assert result.finish in ("budget", "end", "dead-end")


def test_d12_mask_takes_a_token_back_where_none_is_allowed() -> None:
    """After ``x`` the language has only ``x1``, which the vocabulary cannot spell."""
    vocabulary = Vocabulary([b"x", b"y", None], end_tokens=[2])
    for seed in range(20):
        result = run(
            FiniteGuide(("x1", "y")), RandomModel(vocabulary), "mask", seed, forced_text=False
        )
        assert result.text == "y"
        assert result.finish == "end"


def test_d12_a_dead_end_is_named(pieces: Vocabulary) -> None:
    vocabulary = Vocabulary([b"x", None], end_tokens=[1])
    result = run(FiniteGuide(("x1",)), RandomModel(vocabulary), "mask", forced_text=False)
    assert result.finish == "dead-end"
    assert result.complete is False


@given(st.integers(0, 10**6), st.sampled_from(["mask", "assured", "grammar", "free"]))
def test_replay_gives_the_text_letter_for_letter_in_any_tokenisation(
    seed: int, strategy: str
) -> None:
    text = "(a (word (ab)) # é日本😀 note\n () 12 b)"
    model = ReplayModel(text, PIECES, seed=seed)
    result = run(BracketGuide(5, 4), model, strategy, seed, max_tokens=80)
    assert result.text == text
    assert result.finish == "end"
    assert result.tokens["witness"] == 0


def test_replay_survives_forced_text_and_a_given_beginning(pieces: Vocabulary) -> None:
    texts = ("(state (abc word) 12)", "(state (abc) no)")
    for text, start in itertools.product(texts, (0, 3, 9)):
        guide = FiniteGuide(texts).advance(text[:start])
        prompt = Prompt((), answer=text[:start])
        result = generate_with(guide, prompt, ReplayModel(text, pieces), limits=Limits(40))
        assert result.text == text
        assert result.prefix_text == text[:start]
        assert result.tokens["forced"] > 0


def test_assured_equals_grammar_where_grammar_is_consistent(pieces: Vocabulary) -> None:
    """Same seed, no forced text: no step of a consistent output of ``grammar`` is rejected."""

    class Lenient(BracketGuide):
        """The same language without the constraint that counts."""

        @property
        def alive(self) -> bool:
            return not self.dead

        def _step(self, c: str) -> Lenient:
            return Lenient(**super()._step(c).__dict__)

    pairs = 0
    for seed in range(600):
        grammar = run(Lenient(2, 2), Closing(pieces), "grammar", seed, 40, forced_text=False)
        if BracketGuide(2, 2).advance(grammar.text).complete:
            pairs += 1
            assured = run(
                BracketGuide(2, 2), Closing(pieces), "assured", seed, 40, forced_text=False
            )
            assert assured.text == grammar.text
            assert assured.tokens["witness"] == 0
    assert pairs >= 20


@pytest.mark.parametrize("grammar", ["M: 'a", "M: x=Missing;", "M: x=ID; M2: y=M3;", ""])
def test_d13_a_bad_grammar_raises(tmp_path: Path, grammar: str) -> None:
    """It is no language without texts: nothing is generated, and the grammar's file is named."""
    path = tmp_path / "bad.tx"
    path.write_text(grammar)
    with pytest.raises(LanguageError, match=r"bad\.tx|grammar"):
        generate(load_language(str(path)), "anything", RandomModel(), max_tokens=5)


def test_equal_seeds_give_equal_texts(pieces: Vocabulary) -> None:
    first, second, other = (
        run(BracketGuide(6, 5), RandomModel(pieces), seed=seed).text for seed in (3, 3, 4)
    )
    assert first == second != other


def test_unknown_verdicts_are_excursions(pieces: Vocabulary) -> None:
    """The search fails wherever a group is open inside another; the result is valid still."""

    class Forgetful(BracketGuide):
        def _step(self, c: str) -> Forgetful:
            return Forgetful(**super()._step(c).__dict__)

        def completable(self, effort: object = None) -> Answer:
            if self.depth > 1:
                return Answer("unknown", None, ("too deep",))
            return super().completable()

    for seed in range(20):
        result = run(Forgetful(4, 3), RandomModel(pieces), seed=seed, max_tokens=50)
        assert BracketGuide(4, 3).advance(result.text).complete
        assert sum(result.tokens.values()) <= 50


def test_cancelled_at_any_event_the_result_is_valid(pieces: Vocabulary) -> None:
    for moment in range(0, 60, 3):
        cancel = threading.Event()
        seen = itertools.count()

        def stop(event: Event, cancel: threading.Event = cancel, seen: itertools.count[int] = seen,
                 moment: int = moment) -> None:  # fmt: skip
            if next(seen) >= moment:
                cancel.set()

        result = generate_with(
            BracketGuide(6, 5),
            NO_PROMPT,
            RandomModel(pieces),
            seed=moment,
            limits=Limits(60, cancel=cancel),
            on_event=stop,
        )
        assert BracketGuide(6, 5).advance(result.text).complete
        assert result.finish == "cancelled"


def test_once_cancelled_the_guide_is_asked_next_to_nothing(pieces: Vocabulary) -> None:
    """Wherever in the work it happens: what is left is to put prefix and witness together."""
    for moment in range(20, 900, 40):
        cancel, asked = threading.Event(), itertools.count()
        later = 0

        class Counting(BracketGuide):
            def _step(self, c: str) -> Counting:
                return Counting(**super()._step(c).__dict__)

            def may_follow(self, char: str) -> bool:
                return self._step(char).alive  # a first look, which takes no time

            def advance(self, text: str) -> BracketGuide:
                nonlocal later
                later += cancel.is_set()  # noqa: B023
                if next(asked) == moment:  # noqa: B023
                    cancel.set()  # noqa: B023
                return super().advance(text)

        result = run(Counting(6, 5), RandomModel(pieces), seed=moment, cancel=cancel)
        assert BracketGuide(6, 5).advance(result.text).complete
        if result.finish == "cancelled":
            assert later <= 2
            assert sum(result.tokens.values()) <= 60


def test_at_the_deadline_the_witness_is_written(pieces: Vocabulary) -> None:
    result = run(BracketGuide(6, 5), RandomModel(pieces), deadline=time.monotonic() - 1)
    assert result.finish == "deadline"
    assert BracketGuide(6, 5).advance(result.text).complete
    assert result.tokens["model"] == 0
    assert result.model_calls == 0


def test_events_tell_the_text_as_it_grows(pieces: Vocabulary) -> None:
    kinds: set[str] = set()
    for seed in range(6):
        _check_shown(pieces, seed, kinds)
    assert kinds == {"token", "forced", "witness", "unit", "snapshot", "rejection", "backtrack"}


def _check_shown(pieces: Vocabulary, seed: int, kinds: set[str]) -> None:
    """The text put together from the events is the result's, and at each of them of its length."""
    shown = ""

    def show(event: Event) -> None:
        nonlocal shown
        kinds.add(event.kind)
        if event.kind == "backtrack":
            shown = shown[: event.length]
        elif event.kind in ("token", "forced", "witness"):
            shown += event.text
        elif event.kind == "unit":
            assert ")" in shown
        assert len(shown) == event.length

    result = generate_with(
        BracketGuide(6, 5), NO_PROMPT, RandomModel(pieces),
        seed=seed, limits=Limits(40), on_event=show,
    )  # fmt: skip
    assert shown == result.generated


def test_forced_text_costs_no_model_call(pieces: Vocabulary) -> None:
    guide = FiniteGuide(("state word yes", "state word no"))
    result = run(guide, RandomModel(pieces), "mask")
    assert result.tokens["forced"] > 3
    assert result.model_calls < 4


def test_free_is_not_guided(pieces: Vocabulary) -> None:
    from language_server.decoding.guide import Unguided

    result = run(Unguided(), RandomModel(pieces), "free", max_tokens=30)
    assert result.complete is None
    assert result.rejections < 30
    assert result.finish in ("budget", "end")


def test_sampling_parameters_are_checked() -> None:
    for wrong in ({"temperature": -1}, {"top_k": 0}, {"top_p": 0.0}, {"min_p": 1.5}):
        with pytest.raises(ValueError):
            Sampling(**wrong)  # type: ignore[arg-type]


def _pieces() -> Vocabulary:
    table: list[bytes | None] = [bytes([value]) for value in range(256)]
    table += [
        piece.encode() for piece in ("(a", " (", "word", " wo", "rd", "ab)", ") ", "é日", "()")
    ]
    table += ["😀".encode()[:3], None]
    return Vocabulary(table, end_tokens=[len(table) - 1])


PIECES = _pieces()
