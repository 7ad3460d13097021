"""The question "can this prefix be completed?": its answer, and what may be spent on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Answer = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to spend on each of a series of questions.

    Attributes:
        texts: how many texts may be judged before the answer is "unknown".
        pools: how many new objects of each class the solver may use, in the order to try;
            what the shortest closing violates adds to it; where there are many classes, 1 is first.
        conflicts: how many conflicts the solver may run into for each of them.
        stop: asked now and then; once it is true the answer is "unknown".
        vain: what was found to have no goal within this effort; it is not asked again.
    """

    texts: int = 600
    pools: tuple[int, ...] = (2, 6, 12)
    conflicts: int = 6000
    stop: Callable[[], bool] = field(default=lambda: False)
    vain: set[object] = field(default_factory=set, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to "can this prefix be completed?".

    Attributes:
        witness: text to append (answer "yes" only).
        reasons: why not (answer "no"), or what was still open (answer "unknown").
        spent: number of closed texts that were judged.
    """

    answer: Answer
    witness: str | None
    reasons: tuple[str, ...] = ()
    spent: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """A whole consistent text that an earlier prefix of this text was completed to.

    ``cuts`` are the offsets in the text at which the search's units began.
    """

    text: str
    cuts: tuple[int, ...]
