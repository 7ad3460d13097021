"""Timing on a machine that does other things too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from gc import collect, disable, enable
from time import thread_time


def best_of(rounds: int, *contenders: Callable[[], object]) -> tuple[float, ...]:
    """The least seconds of the processor that each contender took, their turns interleaved.

    Interleaving lets a slow phase of the machine meet all contenders alike; the least time is the
    one that least was disturbed.
    """
    best = [math.inf] * len(contenders)
    for _ in range(rounds):
        for number, contender in enumerate(contenders):
            with undisturbed():
                began = thread_time()
                contender()
                best[number] = min(best[number], thread_time() - began)
    return tuple(best)


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, by nearest rank.

    Raises:
        ValueError: There are no values.
    """
    if not values:
        raise ValueError("no values were measured")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Collects garbage now, and not while the body runs."""
    collect()
    disable()
    try:
        yield
    finally:
        enable()
