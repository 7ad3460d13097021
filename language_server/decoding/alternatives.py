"""Several texts for one description, the best first (best-of-n sampling)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from language_server.decoding.generate import generate
from language_server.decoding.generation import Generation
from language_server.decoding.language_model import LanguageModel

if TYPE_CHECKING:
    from language_server.languages import Language


def alternatives(
    language: Language,
    description: str,
    model: LanguageModel,
    count: int,
    *,
    seed: int = 0,
    deadline: float | None = None,
    **options: Any,
) -> tuple[Generation, ...]:
    """Up to ``count`` different texts: those without errors first, then by likelihood.

    Each is drawn with a seed of its own, from ``seed`` on.

    Args:
        deadline: seconds for all of them; at least one is returned.
        options: of :func:`generate`.

    Raises:
        GenerationError: see :func:`generate`.
    """
    ends_at = None if deadline is None else time.monotonic() + deadline
    found: dict[str, Generation] = {}
    for number in range(count):
        left = None if ends_at is None else ends_at - time.monotonic()
        if found and left is not None and left <= 0:
            break
        generation = generate(
            language, description, model, seed=seed + number, deadline=left, **options
        )
        found.setdefault(generation.text, generation)
        if generation.finish in ("cancelled", "deadline"):
            break
    if len(found) == 1:
        return tuple(found.values())

    def rank(generation: Generation) -> tuple[bool, float]:
        faulty = any(found.severity == "error" for found in language.judge(generation.text))
        likelihood = generation.likelihood
        return faulty, float("inf") if likelihood is None else -likelihood

    return tuple(sorted(found.values(), key=rank))
