"""The strategies: ways to turn a model's preferences into a text.

Each is one function over a :class:`~language_server.decoding.run.Run`; a new one is a module here
and an entry in ``STRATEGIES``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from language_server.decoding.generation import Finish, GenerationError
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
        heeds_judge: whether the language has the last word on the finished text.
        drafts: whether a free draft is written first, and kept if it passes the language's checks.
    """

    name: str
    summary: str
    guide: GuideKind
    run: Callable[[Run], Finish]
    heeds_judge: bool = True
    drafts: bool = False


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("free", "no guidance", "none", mask, heeds_judge=False),
        Strategy(
            "grammar",
            "every token keeps the syntax completable",
            "grammar",
            mask,
            heeds_judge=False,
        ),
        Strategy("mask", "every token keeps the partial model completable", "language", mask),
        Strategy("retry", "the grammar, with a check at each syntactic unit", "grammar", retry),
        Strategy("assured", "mask, with a known completion in reserve", "language", assured),
        Strategy(
            "cascade", "a free draft if it passes, else assured", "language", assured, drafts=True
        ),
    )
}
DEFAULT_STRATEGY = "assured"


def strategy_named(name: str) -> Strategy:
    """The strategy of a name; ``cascade:mask`` is ``cascade`` with ``mask`` behind the draft.

    Raises:
        GenerationError: there is no such strategy.
    """
    first, colon, second = name.partition(":")
    chosen, behind = STRATEGIES.get(first), STRATEGIES.get(second)
    if chosen is not None and not colon:
        return chosen
    if chosen is not None and chosen.drafts and behind is not None and not behind.drafts:
        return replace(behind, name=name, drafts=True)
    raise GenerationError(f"there is no strategy {name!r}: {', '.join(STRATEGIES)}")
