"""Several texts for one description, the best first: best-of-n sampling, or a search."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from language_server.decoding.aligned import Aligned
from language_server.decoding.generate import generate
from language_server.decoding.generation import Generation, GenerationError
from language_server.decoding.language_model import LanguageModel
from language_server.decoding.search import SEARCHES, Search
from language_server.decoding.task import Task

if TYPE_CHECKING:
    from language_server.languages import Language

SINGLE_DRAWS = ("best", "aligned")
SEARCH_NAMES = (*SINGLE_DRAWS, *SEARCHES)


def alternatives(
    language: Language,
    description: str,
    model: LanguageModel,
    count: int,
    *,
    search: str = "best",
    seed: int = 0,
    deadline: float | None = None,
    **options: Any,
) -> tuple[Generation, ...]:
    """Up to ``count`` different texts: those without errors first, then by likelihood.

    Args:
        search: ``best`` (each text is drawn for itself, with a seed of its own from ``seed`` on),
            ``aligned`` (the same, but each draw learns from those before), or a name of
            ``SEARCHES``.
        deadline: seconds for all of them; at least one is returned.
        options: of :func:`generate`.

    Raises:
        GenerationError: there is no such search; or see :func:`generate`.
    """
    if search in SEARCHES:
        several = Search(SEARCHES[search], count)
        best = generate(
            language, description, model, seed=seed, deadline=deadline, write=several, **options
        )
        others = [replace(other, thoughts=best.thoughts) for other in several.found[1:]]
        return _ranked(language, {each.text: each for each in (best, *others)})
    if search not in SINGLE_DRAWS:
        raise GenerationError(f"there is no search {search!r}: {', '.join(SEARCH_NAMES)}")
    write = Aligned() if search == "aligned" else Task.write
    ends_at = None if deadline is None else time.monotonic() + deadline
    found: dict[str, Generation] = {}
    for number in range(count):
        left = None if ends_at is None else ends_at - time.monotonic()
        if found and left is not None and left <= 0:
            break
        generation = generate(
            language,
            description,
            model,
            seed=seed + number,
            deadline=left,
            write=write,
            **options,
        )
        found.setdefault(generation.text, generation)
        if generation.finish in ("cancelled", "deadline"):
            break
    return _ranked(language, found)


def _ranked(language: Language, found: Mapping[str, Generation]) -> tuple[Generation, ...]:
    if len(found) == 1:
        return tuple(found.values())

    def rank(generation: Generation) -> tuple[bool, float]:
        faulty = any(each.severity == "error" for each in language.judge(generation.text))
        likelihood = generation.likelihood
        return faulty, float("inf") if likelihood is None else -likelihood

    return tuple(sorted(found.values(), key=rank))
