"""What is wrong with a language (not with a model): one line, its place, and the cure."""

from __future__ import annotations

from pathlib import Path


class LanguageError(Exception):
    """A language that is not known, does not load, or does not fit together.

    Attributes:
        message: one sentence, without the place.
        path: the file to blame, None where there is none.
        line, column: from 1, None where the mistake concerns the whole file.
        cure: what to do about it, '' where the message says enough.
    """

    def __init__(
        self,
        message: str,
        path: Path | None = None,
        line: int | None = None,
        column: int | None = None,
        cure: str = "",
    ) -> None:
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.cure = cure
        super().__init__(str(self))

    def __str__(self) -> str:
        place = "" if self.path is None else str(self.path)
        if place and self.line is not None:
            place += f":{self.line}:{self.column or 1}"
        message = f"{place}: {self.message}" if place else self.message
        return f"{message} ({self.cure})" if self.cure else message
