"""Proofs in the time an editor has."""

from __future__ import annotations

import time

from language_server.projection import Effort, Prefix, Verdict

_TEXTS = (1, 2, 4, 8, 16, 32, 64)  # the search cannot be interrupted, so it is asked in small doses


def verdict_within(prefix: Prefix, deadline: float) -> Verdict:
    """Whether a prefix can be completed, as far as that is found out in time.

    Args:
        deadline: a moment of ``time.monotonic()``; it may be missed by one dose of the search.
    """
    verdict = Verdict("unknown", None)
    for texts in _TEXTS:
        began = time.monotonic()
        verdict = prefix.completable(Effort(texts=texts))
        spent = time.monotonic() - began
        if verdict.answer != "unknown" or verdict.spent < texts or began + 3 * spent > deadline:
            break
    return verdict


def witness_within(prefix: Prefix, deadline: float) -> str | None:
    """A text that completes a prefix, None if none is found in time."""
    return verdict_within(prefix, deadline).witness
