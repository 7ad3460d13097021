"""How often Python looks for garbage that refers to itself."""

from __future__ import annotations

import gc

# Allocations that outlive others before the collector looks again (mypy does likewise).
_YOUNG = 100_000


def collect_rarely() -> None:
    """Makes Python's collector of cycles look seldom; for programs, which own their process.

    Parse states, models and answers are persistent values without cycles: they go when the last
    reference to them goes. A model that grows makes many containers that stay, and the collector
    takes each batch of them for a reason to look through them, in vain: at Python's own threshold
    every thirtieth unit of text waits for that.
    """
    gc.freeze()  # what is loaded by now stays
    gc.set_threshold(_YOUNG, 20, 20)
