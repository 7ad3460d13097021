"""What ``assured`` makes of a model without any preference: validity, whose text it is, time.

``LANGWRIGHT_SEEDS`` sets the number of seeds for each language (3 where it is not set), and
``LANGWRIGHT_LANGUAGES`` the languages, by comma.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.report import Table, Value
from benchmarks.timing import quantile
from language_server.decoding import Generation, LanguageModel, generate, load_model
from language_server.languages import Language, load_language

SEEDS = int(os.environ.get("LANGWRIGHT_SEEDS", "3"))
LANGUAGES = os.environ.get("LANGWRIGHT_LANGUAGES", "clevr,statechart").split(",")
MAX_TOKENS = 200
SHARES = ("model, %", "forced, %", "witness, %")


@dataclass(frozen=True)
class Outcome:
    """One generation and what textX and the constraints say of it."""

    generation: Generation
    valid: bool


def run() -> Iterator[Table]:
    """The uniform random model under ``assured``, one run a seed."""
    model = load_model("random")
    rows: list[tuple[Value, ...]] = []
    for name in LANGUAGES:
        language = load_language(name)
        outcomes = [outcome(language, model, seed) for seed in range(SEEDS)]
        rows.append((name, *summary(outcomes)))
    yield Table(
        title=f"The uniform random model under assured, {MAX_TOKENS} tokens",
        columns=(
            "language",
            "runs",
            "valid",
            "truncated",
            *SHARES,
            "median, s",
            "90 %, s",
            "most, s",
        ),
        rows=tuple(rows),
        note="Shares are of all tokens; the text is judged by textX and the constraints.",
    )


def outcome(language: Language, model: LanguageModel, seed: int) -> Outcome:
    """One run."""
    made = generate(language, "", model, "assured", seed, max_tokens=MAX_TOKENS)
    return Outcome(made, language.judge(made.text) == ())


def summary(outcomes: list[Outcome]) -> tuple[Value, ...]:
    """Runs, valid ones, truncated ones, shares of the tokens, seconds."""
    tokens = {
        origin: sum(outcome.generation.tokens[origin] for outcome in outcomes)
        for origin in ("model", "forced", "witness")
    }
    every = sum(tokens.values())
    seconds = [outcome.generation.seconds["total"] for outcome in outcomes]
    return (
        len(outcomes),
        sum(outcome.valid for outcome in outcomes),
        sum(not outcome.generation.complete for outcome in outcomes),
        *(100 * count / every for count in tokens.values()),
        quantile(seconds, 0.5),
        quantile(seconds, 0.9),
        max(seconds),
    )
