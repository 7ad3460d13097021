"""What is wrong with a language (not with a model): one line, its place, and the cure."""

from __future__ import annotations

from pathlib import Path


class LanguageError(Exception):
    """A language that is not known, does not load, or does not fit together.

    Attributes:
        message: one sentence, without the place.
        path: the file to blame, None where there is none.
        line, column: from 1, None where the mistake concerns the whole file.
        end: line and column behind the last character of it; None where that is not known.
        cure: what to do about it, '' where the message says enough.
    """

    def __init__(
        self,
        message: str,
        path: Path | None = None,
        line: int | None = None,
        column: int | None = None,
        cure: str = "",
        end: tuple[int, int] | None = None,
    ) -> None:
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.cure = cure
        self.end = end
        super().__init__(str(self))

    @property
    def place(self) -> str:
        """The place as a line of output begins with it, '' where there is none."""
        if self.path is None:
            return ""
        at = f":{self.line}:{self.column or 1}" if self.line is not None else ""
        return f"{self.path}{at}: "

    @property
    def told(self) -> str:
        """The message with its cure."""
        return f"{self.message} ({self.cure})" if self.cure else self.message

    def __str__(self) -> str:
        return self.place + self.told
