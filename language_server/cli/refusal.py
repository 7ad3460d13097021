"""What the command line says when it cannot do what was asked: one line with place and cure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from language_server.workspace.files import FileProblem


class Refusal(Exception):
    """A wrong use of the command line.

    Its text is one line: ``FILE:LINE:COLUMN: message. Cure.``
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
        cure: str = "",
    ) -> None:
        place = str(path) if path is not None else ""
        if place and line is not None:
            place += f":{line}" + (f":{column}" if column is not None else "")
        sentences = [_sentence(part) for part in (message, cure) if part and part.strip()]
        super().__init__((f"{place}: " if place else "") + " ".join(sentences))


def refusal_of(error: Exception) -> Refusal | None:
    """The refusal that tells of an error of the rooms below, None if it is not the user's."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, FileProblem):
        return Refusal(error.message, path=error.path, cure=error.cure)
    told = _user_errors()
    if isinstance(error, told):
        return Refusal(
            str(getattr(error, "message", error)),
            path=getattr(error, "path", None),
            line=getattr(error, "line", None),
            column=getattr(error, "column", None),
            cure=str(getattr(error, "cure", "") or ""),
        )
    return None


def _user_errors() -> tuple[type[Any], ...]:
    """The error types of the rooms imported so far: asking must not import the heavy ones."""
    found: list[type[Any]] = []
    for module, name in (
        ("language_server.languages", "LanguageError"),
        ("language_server.decoding", "ModelError"),
        ("language_server.decoding", "GenerationError"),
    ):
        if module in sys.modules:
            error_type = getattr(sys.modules[module], name, None)
            if isinstance(error_type, type):
                found.append(error_type)
    return tuple(found)


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?")) else f"{text}."
