"""Ghost text: the continuation that is shown before anyone asks.

It is a beginning of a text that is known to complete the model, so accepting it never leads into a
dead end. The language model writes it where it is loaded and idle; without it the text that must
come next is shown, or the first piece of the cheapest witness. Nothing is shown where nothing is
missing: inside a comment, or where the model is complete already.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from language_server.features.completion import moves_between
from language_server.features.proofs import witness_within
from language_server.languages import Language
from language_server.projection import Prefix

_SECONDS = 0.3  # the editor waits 750 ms, and the language model wants its share of them
_TRIES = 12  # beginnings of the witness that are tried against the text behind the cursor
_PIECE = re.compile(r"\s*(?:\w+|[^\w\s])")


def ghost_text(language: Language, prefix: Prefix, after: str, seconds: float = _SECONDS) -> str:
    """The continuation to show at the end of ``prefix``, '' for none.

    Args:
        prefix: the text before the cursor.
        after: the text behind it.
        seconds: how long looking for one may take.
    """
    deadline = time.monotonic() + seconds
    if prefix.in_comment or not prefix.alive:
        return ""
    if after.strip():
        return _bridge(language, prefix, after, deadline)
    if prefix.complete:
        return ""
    witness = witness_within(prefix, deadline)
    return prefix.forced() if witness is None else first_piece(witness)


def first_piece(continuation: str) -> str:
    """A continuation up to the end of its first line that holds anything."""
    stripped = continuation.lstrip()
    lead = len(continuation) - len(stripped)
    line_end = stripped.find("\n")
    return continuation.rstrip() if line_end < 0 else continuation[: lead + line_end].rstrip()


def _bridge(language: Language, prefix: Prefix, after: str, deadline: float) -> str:
    """A short text with which what stands before and behind the cursor is one model in order."""

    def fits(text: str) -> bool:
        whole = prefix.text + text + after
        return not any(found.severity == "error" for found in language.analyse(whole).diagnostics)

    if fits(""):
        return ""
    for move in moves_between(language, prefix, after):
        if time.monotonic() < deadline and fits(move.insert):
            return move.insert
    witness = witness_within(prefix, deadline)
    for piece in _beginnings(witness or ""):
        if time.monotonic() < deadline and fits(piece):
            return piece
    return prefix.forced()


def _beginnings(text: str) -> Iterator[str]:
    for match in list(_PIECE.finditer(text))[:_TRIES]:
        yield text[: match.end()]
