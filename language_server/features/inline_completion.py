"""Ghost text: the continuation that is shown before anyone asks.

It is a beginning of a text that is known to complete the model, so accepting it never leads into a
dead end. The language model writes it where it is loaded and idle; without it the text that must
come next is shown, or the first piece of the cheapest witness. Nothing is shown where nothing is
missing: inside a comment, or behind a model that is already complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from language_server.languages import Language
from language_server.projection import Effort, Prefix

_EFFORT = Effort(texts=60)
_TRIES = 12  # beginnings of the witness that are tried against the text behind the cursor
_PIECE = re.compile(r"\s*(?:\w+|[^\w\s])")


def ghost_text(language: Language, prefix: Prefix, after: str) -> str:
    """The continuation to show at the end of ``prefix``, '' for none.

    Args:
        prefix: the text before the cursor.
        after: the text behind it.
    """
    if prefix.in_comment or not prefix.alive:
        return ""
    if after.strip():
        return _fitting(language, prefix, after)
    if prefix.complete:
        return ""
    verdict = prefix.completable(_EFFORT)
    if verdict.witness is None:
        return prefix.forced()
    return first_piece(verdict.witness)


def first_piece(continuation: str) -> str:
    """A continuation up to the end of its first line that holds anything."""
    stripped = continuation.lstrip()
    lead = len(continuation) - len(stripped)
    line_end = stripped.find("\n")
    return continuation.rstrip() if line_end < 0 else continuation[: lead + line_end].rstrip()


def _fitting(language: Language, prefix: Prefix, after: str) -> str:
    """The shortest beginning of the witness that leads over to the text behind the cursor."""
    if not _faults(language, prefix.text + after):
        return ""
    witness = prefix.completable(_EFFORT).witness
    if not witness:
        return prefix.forced()
    for piece in _beginnings(witness):
        if not _faults(language, prefix.text + piece + after):
            return piece
    return ""


def _beginnings(text: str) -> Iterator[str]:
    end = 0
    for match in list(_PIECE.finditer(text))[:_TRIES]:
        end = match.end()
        yield text[:end]


def _faults(language: Language, text: str) -> bool:
    return any(found.severity == "error" for found in language.analyse(text).diagnostics)
