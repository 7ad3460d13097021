"""Proofs in the time an editor has."""

from __future__ import annotations

import time

from language_server.projection import Effort, Prefix, Verdict

_TEXTS = 200


def verdict_within(prefix: Prefix, deadline: float) -> Verdict:
    """Whether a prefix can be completed, as far as that is found out in time.

    Args:
        deadline: a moment of ``time.monotonic()``.
    """
    return prefix.completable(Effort(_TEXTS, stop=lambda: time.monotonic() >= deadline))


def witness_within(prefix: Prefix, deadline: float) -> str | None:
    """A text that completes a prefix, None if none is found in time."""
    return verdict_within(prefix, deadline).witness
