"""How soon a cancelled ``assured`` returns, and whether what it returns is valid.

``LANGWRIGHT_MOMENTS`` sets how many moments for each model and language (10 where it is not set).
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator

from benchmarks.generation import is_valid
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
            waits: list[tuple[float, float]] = []
            valid = 0
            for seed in range(MOMENTS):
                description = f"Something like number {seed}"
                made, wait = cancelled_after(
                    language, model, description, rng.uniform(0, LATEST), seed
                )
                valid += is_valid(language, made.text)
                if made.finish == "cancelled":
                    waits.append((wait[0] * 1e3, wait[1] * 1e3))
            times = [
                value
                for each in zip(*waits, strict=True)
                for value in (quantile(each, 0.5), quantile(each, 0.95), max(each))
            ]
            rows.append((name, kind, MOMENTS, valid, len(waits), *(times or (None,) * 6)))
    yield Table(
        title="From a cancellation to the result, ms",
        columns=(
            "model",
            "language",
            "moments",
            "valid",
            "cancelled",
            "p50",
            "95 %",
            "most",
            "CPU p50",
            "CPU 95 %",
            "CPU most",
        ),
        rows=tuple(rows),
        note="By the wall clock other work on the machine counts, by the processor it does not.",
    )


def cancelled_after(
    language: Language, model: LanguageModel, description: str, seconds: float, seed: int
) -> tuple[Generation, tuple[float, float]]:
    """A generation cancelled after so many seconds, and how long it went on after that.

    One that ends by itself is not cancelled.

    Returns:
        The generation; seconds by the wall clock and of the processor.
    """
    cancel = threading.Event()
    at = [time.perf_counter(), time.process_time()]

    def stop() -> None:
        at[:] = time.perf_counter(), time.process_time()
        cancel.set()

    timer = threading.Timer(seconds, stop)
    timer.start()
    try:
        made = generate(language, description, model, "assured", seed, 300, cancel=cancel)
        return made, (time.perf_counter() - at[0], time.process_time() - at[1])
    finally:
        timer.cancel()
