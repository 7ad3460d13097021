"""The strategies side by side: the same prompts, seeds and model, what they cost, what comes out.

``LANGWRIGHT_TASKS`` sets the number of texts for each language (3 where it is not set), and
``LANGWRIGHT_LANGUAGES`` the languages, by comma. genlm-control's sampler runs beside ours where it
is installed (``pip install genlm-control``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from time import process_time
from typing import NamedTuple

from benchmarks import awrs
from benchmarks.report import Table, Value
from benchmarks.tasks import TASKS
from language_server.decoding import generate, load_model
from language_server.decoding.language_model import Message, Prompt
from language_server.decoding.prompt import build_prompt
from language_server.decoding.transformers_model import TransformersModel
from language_server.languages import Language, load_language

RUNS = int(os.environ.get("LANGWRIGHT_TASKS", "3"))
LANGUAGES = os.environ.get("LANGWRIGHT_LANGUAGES", ",".join(TASKS)).split(",")
MAX_TOKENS = 200
STRATEGIES = ("free", "grammar", "mask", "retry", "cascade", "assured")


class Written(NamedTuple):
    """One run.

    Attributes:
        consistent: whether the language has nothing against the text.
        reading: seconds of the processor that the prompt took.
        writing: those that the text took.
        checking: those of the latter that syntax and semantics took; None if not known.
    """

    consistent: bool
    tokens: int
    calls: int
    reading: float
    writing: float
    checking: float | None

    @property
    def seconds(self) -> float:
        """Of the processor, altogether."""
        return self.reading + self.writing


Way = Callable[[Language, str, int], Written]


def run() -> Iterator[Table]:
    """One table a language."""
    model = load_model()
    assert isinstance(model, TransformersModel)
    ways: dict[str, Way] = {name: by_strategy(model, name) for name in STRATEGIES}
    if awrs.is_there():
        ways["AWRS"] = by_awrs(model)
    for name in LANGUAGES:
        language = load_language(name)
        written: dict[str, list[Written]] = {way: [] for way in ways}
        for seed, task in enumerate(islice(TASKS[name], RUNS)):
            for way, write in ways.items():
                written[way].append(write(language, task, seed))
        free = sum(one.writing for one in written["free"]) / sum(
            one.tokens for one in written["free"]
        )
        yield Table(
            title=f"{name}: {model.name}, at most {MAX_TOKENS} tokens",
            columns=(
                "strategy",
                "texts",
                "consistent",
                "CPU s",
                "prompt, s",
                "CPU s per consistent one",
                "tokens",
                "calls per token",
                "ms per token",
                "of free's",
                "checks, %",
            ),
            rows=tuple((way, *summary(runs, free)) for way, runs in written.items()),
            note="Consistent: when the budget ends textX loads the text and no constraint "
            "is violated. CPU s include the reading of the prompt (which no run finds read "
            "already); ms per token do not. Checks: the share of writing that syntax and semantics "
            "take. AWRS is genlm-control's, with one particle, our model and our completability as "
            "its condition.",
        )


def summary(runs: list[Written], free: float) -> tuple[Value, ...]:
    """A row behind the strategy's name; ``free`` is the seconds a token took without guidance."""
    consistent = sum(one.consistent for one in runs)
    seconds, tokens = sum(one.seconds for one in runs), sum(one.tokens for one in runs)
    reading, writing = sum(one.reading for one in runs), sum(one.writing for one in runs)
    checking = [one.checking for one in runs if one.checking is not None]
    return (
        len(runs),
        consistent,
        seconds,
        reading,
        seconds / consistent if consistent else None,
        tokens,
        sum(one.calls for one in runs) / tokens,
        1000 * writing / tokens,
        writing / tokens / free,
        100 * sum(checking) / writing if checking else None,
    )


def by_strategy(model: TransformersModel, strategy: str) -> Way:
    """One of ours."""

    def write(language: Language, task: str, seed: int) -> Written:
        reading = read_prompt(model, build_prompt(model, language, task))
        began = process_time()
        made = generate(language, task, model, strategy, seed, max_tokens=MAX_TOKENS)
        writing = process_time() - began
        # The clock of a run is not the processor's: other programs take some of it.
        checking = made.seconds["syntax"] + made.seconds["semantics"]
        checking *= writing / made.seconds["total"]
        consistent = not language.judge(made.text)
        tokens = sum(made.tokens.values())
        return Written(consistent, tokens, made.model_calls, reading, writing, checking)

    return write


def by_awrs(model: TransformersModel) -> Way:
    """Adaptive weighted rejection sampling, from the same prompts."""

    def write(language: Language, task: str, seed: int) -> Written:
        prompt = build_prompt(model, language, task)
        reading = read_prompt(model, prompt)
        drawn = awrs.draw(model, prompt, language, seed, MAX_TOKENS)
        consistent = drawn.text is not None and not language.judge(drawn.text)
        return Written(consistent, drawn.tokens, drawn.calls, reading, drawn.seconds, None)

    return write


def read_prompt(model: TransformersModel, prompt: Prompt) -> float:
    """Read a prompt into the model's cache, nothing of it there before; seconds that took."""
    model.start(Prompt((Message("user", "."),))).logits()
    began = process_time()
    model.start(prompt).logits()
    return process_time() - began
