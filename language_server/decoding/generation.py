"""What a generation is: its request limits, its events and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

#: Who chose a token: the model; nobody, where there is no other one (by the language, or because
#: no other one is known to lead to an end within the budget); the text that is kept in reserve.
Origin = Literal["model", "forced", "witness"]
EventKind = Literal[
    "thought", "token", "forced", "witness", "unit", "snapshot", "rejection", "backtrack"
]
Finish = Literal["end", "budget", "deadline", "cancelled", "dead-end"]


class GenerationError(Exception):
    """A generation cannot start or promise what it has to; one line for the user."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened while a text grew.

    Attributes:
        kind: ``thought`` (before the text), ``token`` (the model's choice), ``forced``,
            ``witness``, ``unit`` (a syntactic unit has ended), ``snapshot``, ``rejection``,
            ``backtrack``.
        text: the text that was added; for ``rejection`` what was refused, if one piece was.
        length: characters of the generated text that stand behind the event; a ``backtrack``
            takes the text back to this length.
        tokens: generated tokens behind the event.
        detail: for a person: why, or how many.
    """

    kind: EventKind
    text: str
    length: int
    tokens: int
    detail: str = ""


OnEvent = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Generation:
    """A finished generation.

    Attributes:
        text: the whole text, the given beginning included.
        prefix_text: the given beginning.
        finish: ``end`` (the model ended, or nothing could follow), ``budget``, ``deadline``,
            ``cancelled``, ``dead-end`` (no token was allowed; only strategies without look-back).
        complete: whether the strategy's own guide calls the text finished and consistent, and the
            language has nothing against it where it was asked. None for ``free``.
        refusal: what the language has against the finished text by its last word
            (``Language.judge``: textX with the language's own processors, the constraints, its
            compiler); None if that is nothing, or if it was not asked (``free``, ``grammar``).
        tokens: tokens of the result by origin.
        model_calls: forward passes asked of the model.
        rejections: tokens and subtrees of tokens that were refused.
        backtracks: how often tokens were taken back.
        seconds: by part: ``model``, ``syntax``, ``semantics``, ``total``.
        likelihood: mean natural logarithm of the probability the model gave to the tokens it chose,
            before anything was ruled out; None if it chose none.
        thoughts: what the model thought before it wrote, '' if it was not asked to.
        refused_draft: the draft that did not pass (``cascade``), None if there was none.
    """

    text: str
    prefix_text: str
    strategy: str
    model: str
    seed: int
    finish: Finish
    complete: bool | None
    tokens: dict[Origin, int]
    model_calls: int
    rejections: int
    backtracks: int
    seconds: dict[str, float] = field(default_factory=dict)
    likelihood: float | None = None
    thoughts: str = ""
    refused_draft: str | None = None
    refusal: str | None = None

    @property
    def generated(self) -> str:
        """What was added to the given beginning."""
        return self.text[len(self.prefix_text) :]

    def to_json(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        return {
            "text": self.text,
            "strategy": self.strategy,
            "model": self.model,
            "seed": self.seed,
            "finish": self.finish,
            "complete": self.complete,
            "tokens": {**self.tokens, "total": sum(self.tokens.values())},
            "model_calls": self.model_calls,
            "rejections": self.rejections,
            "backtracks": self.backtracks,
            "likelihood": round(self.likelihood, 4) if self.likelihood is not None else None,
            "seconds": {part: round(value, 4) for part, value in self.seconds.items()},
            **({"thoughts": self.thoughts} if self.thoughts else {}),
            **({"refused_draft": self.refused_draft} if self.refused_draft is not None else {}),
            **({"refusal": self.refusal} if self.refusal is not None else {}),
        }
