"""What ``assured`` makes of models of any kind: validity, whose text it is, what it costs.

Each language is written by a model without any preference (``random``), by one that prefers what
will be refused (``contrary``) and by the embedded one, with budgets of 1, 2 and 5 times the tokens
of the cheapest completion known. ``LANGWRIGHT_SEEDS`` sets the runs for each budget (3 where it is
not set; a hundred are what the bar asks for), ``LANGWRIGHT_LANGUAGES`` the languages by comma,
``LANGWRIGHT_MODELS`` the models.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np

from benchmarks.report import Table, Value
from benchmarks.timing import quantile
from language_server.decoding import (
    Context,
    Generation,
    LanguageModel,
    LayoutPolicy,
    Prompt,
    Session,
    generate,
    load_model,
)
from language_server.decoding.language_model import Logits, Stop, go_on
from language_server.languages import Language, load_language
from language_server.projection import Prefix

EIGHT = "statechart,requirements,clevr,flowchart,taxonomy,taxonomy_ccs,blocks,minizinc"
SEEDS = int(os.environ.get("LANGWRIGHT_SEEDS", "3"))
LANGUAGES = os.environ.get("LANGWRIGHT_LANGUAGES", EIGHT).split(",")
MODELS = os.environ.get("LANGWRIGHT_MODELS", "random,contrary,default").split(",")
FACTORS = (1, 2, 5)
ORIGINS = ("model", "forced", "witness")


def run() -> Iterator[Table]:
    """One table for each language."""
    for name in LANGUAGES:
        language = load_language(name)
        shortest = _shortest(language)
        rows: list[tuple[Value, ...]] = []
        for model_name in MODELS:
            model = _model(model_name, language)
            cheapest = len(model.vocabulary.encode(shortest))
            for factor in FACTORS:
                outcomes = [
                    outcome(language, model, seed, factor * cheapest) for seed in range(SEEDS)
                ]
                rows.append((model_name, factor, factor * cheapest, *summary(outcomes)))
        yield Table(
            title=f"{name} under assured",
            columns=(
                "model",
                "times the cheapest",
                "budget",
                "runs",
                "valid",
                "truncated",
                *(f"{origin}, %" for origin in ORIGINS),
                "calls a token",
                "median, CPU s",
                "most, CPU s",
            ),
            rows=tuple(rows),
            note="Shares are of all tokens; textX and the constraints judge the text.",
        )


@dataclass(frozen=True)
class Outcome:
    """One generation, what textX and the constraints say of it, and seconds of the processor."""

    generation: Generation
    valid: bool
    seconds: float


def outcome(language: Language, model: LanguageModel, seed: int, budget: int) -> Outcome:
    """One run."""
    began = process_time()
    made = generate(language, f"Number {seed}", model, "assured", seed, max_tokens=budget)
    seconds = process_time() - began
    within = sum(made.tokens.values()) <= budget
    return Outcome(made, within and is_valid(language, made.text), seconds)


def is_valid(language: Language, text: str) -> bool:
    """Whether textX loads a text and it violates no constraint; a warning is no violation."""
    return all(found.severity != "error" for found in language.judge(text))


def _shortest(language: Language) -> str:
    """The cheapest completion of nothing that says something: some languages have an empty text."""
    start = Prefix.start(language)
    begun = [start, *(start.advance(move.insert) for move in start.moves())]
    found = [
        prefix.text + witness
        for prefix in begun
        if (witness := prefix.completable().witness) is not None and prefix.text + witness
    ]
    return min(found, key=len)


def summary(outcomes: Sequence[Outcome]) -> tuple[Value, ...]:
    """Runs, valid ones, truncated ones, shares of the tokens, calls a token, seconds."""
    made = [outcome.generation for outcome in outcomes]
    tokens = [sum(each.tokens[origin] for each in made) for origin in ORIGINS]
    seconds = [outcome.seconds for outcome in outcomes]
    return (
        len(outcomes),
        sum(outcome.valid for outcome in outcomes),
        sum(not each.complete for each in made),
        *(100 * count / sum(tokens) for count in tokens),
        sum(each.model_calls for each in made) / sum(tokens),
        quantile(seconds, 0.5),
        max(seconds),
    )


def _model(name: str, language: Language) -> LanguageModel:
    return Contrary(language) if name == "contrary" else load_model(name)


class Contrary(LanguageModel):
    """Prefers what the grammar allows and the constraints refuse, then what neither allows."""

    def __init__(self, language: Language) -> None:
        self.name = "contrary"
        self.vocabulary = load_model("random").vocabulary
        self._language = language

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        free = LayoutPolicy.free()
        return _ContraryContext(
            Session(Prefix.of_grammar(self._language), self.vocabulary, free),
            Session(Prefix.start(self._language), self.vocabulary, free),
            np.asarray(np.random.default_rng(seed).normal(size=len(self.vocabulary)), np.float32),
        )


class _ContraryContext(Context):
    def __init__(self, grammar: Session, language: Session, whims: Logits) -> None:
        self._grammar = grammar
        self._language = language
        self._whims = whims

    def append(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            self._grammar.commit(token)
            self._language.commit(token)

    def rewind(self, count: int) -> None:
        self._grammar.rollback(count)
        self._language.rollback(count)

    def logits(self) -> Logits:
        self.calls += 1
        allowed = self._language.allowed()
        refused = self._grammar.allowed() & ~allowed
        preferred = 40.0 * refused + 20.0 * ~allowed
        return np.asarray(self._whims + preferred, dtype=np.float32)
