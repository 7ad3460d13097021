"""The strategies: ways to turn a model's preferences into a text.

Each is one function over a :class:`~language_server.decoding.run.Run`; a new one is a module here
and an entry in ``STRATEGIES``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from language_server.decoding.generation import Finish
from language_server.decoding.run import Run
from language_server.decoding.strategies.assured import assured
from language_server.decoding.strategies.mask import mask
from language_server.decoding.strategies.retry import retry

GuideKind = Literal["none", "grammar", "language"]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A named strategy.

    Attributes:
        guide: what the run is guided by: nothing, the grammar, or grammar and constraints.
        run: grows the text and says why it stopped.
    """

    name: str
    summary: str
    guide: GuideKind
    run: Callable[[Run], Finish]


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("free", "no guidance", "none", mask),
        Strategy("grammar", "every token keeps the syntax completable", "grammar", mask),
        Strategy("mask", "every token keeps the partial model completable", "language", mask),
        Strategy("retry", "the grammar, with a check at each syntactic unit", "grammar", retry),
        Strategy("assured", "mask, with a known completion in reserve", "language", assured),
    )
}
DEFAULT_STRATEGY = "assured"
