"""How soon a cancelled ``assured`` returns, and whether what it returns is valid.

``LANGWRIGHT_MOMENTS`` sets how many moments for each model and language (10 where it is not set).
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator

from benchmarks.report import Table, Value
from benchmarks.timing import quantile
from language_server.decoding import Generation, LanguageModel, generate, load_model
from language_server.languages import Language, load_language

MOMENTS = int(os.environ.get("LANGWRIGHT_MOMENTS", "10"))
LATEST = 10.0


def run() -> Iterator[Table]:
    """The random and the embedded model, cancelled at random moments."""
    rows: list[tuple[Value, ...]] = []
    for name in ("random", "default"):
        model = load_model(name)
        for kind in ("statechart", "clevr"):
            language, rng = load_language(kind), random.Random(0)
            waits, valid = [], 0
            for seed in range(MOMENTS):
                description = f"Something like number {seed}"
                made, wait = cancelled_after(
                    language, model, description, rng.uniform(0, LATEST), seed
                )
                valid += language.judge(made.text) == ()
                if made.finish == "cancelled":
                    waits.append(wait * 1e3)
            times = (quantile(waits, 0.5), quantile(waits, 0.95), max(waits)) if waits else ()
            rows.append((name, kind, MOMENTS, valid, len(waits), *(times or (None,) * 3)))
    yield Table(
        title="From a cancellation to the result, ms",
        columns=("model", "language", "moments", "valid", "cancelled", "p50", "95 %", "most"),
        rows=tuple(rows),
        note="Wall-clock time: other work on the machine counts.",
    )


def cancelled_after(
    language: Language, model: LanguageModel, description: str, seconds: float, seed: int
) -> tuple[Generation, float]:
    """A generation cancelled after so many seconds, and how long it went on after that.

    One that ends by itself is not cancelled.
    """
    cancel = threading.Event()
    at = [time.perf_counter()]

    def stop() -> None:
        at[0] = time.perf_counter()
        cancel.set()

    timer = threading.Timer(seconds, stop)
    timer.start()
    try:
        made = generate(language, description, model, "assured", seed, 300, cancel=cancel)
        return made, time.perf_counter() - at[0]
    finally:
        timer.cancel()
