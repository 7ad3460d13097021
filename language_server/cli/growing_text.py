"""A text that grows on standard output while a generator writes it and sometimes takes it back."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TextIO

from language_server.syntax.document import shared_start

if TYPE_CHECKING:
    from language_server.decoding import Event

_CLEAR_BELOW = "\x1b[J"


class GrowingText(ABC):
    """Follows the events of one generation."""

    @abstractmethod
    def hear(self, event: Event) -> None:
        """Take notice of an event."""

    @abstractmethod
    def finish(self, text: str) -> None:
        """Show the final text, ended by a line break."""


class Silent(GrowingText):
    """Shows nothing, for results that are told in one piece."""

    def hear(self, event: Event) -> None:
        """Nothing to show."""

    def finish(self, text: str) -> None:
        """Nothing to show."""


class Appending(GrowingText):
    """For files and pipes: only text that is not taken back any more is written.

    Under a strategy that goes back, nothing is certain before the end: it may go back behind its
    latest snapshot too.
    """

    def __init__(self, stream: TextIO, goes_back: bool) -> None:
        self._stream = stream
        self._goes_back = goes_back
        self._text = ""
        self._written = 0

    def hear(self, event: Event) -> None:
        """Write what has become certain."""
        self._text = grown(self._text, event)
        if not self._goes_back:
            self._write(self._text)

    def finish(self, text: str) -> None:
        """Write the rest."""
        self._write(text if text.endswith("\n") else text + "\n")

    def _write(self, text: str) -> None:
        if len(text) > self._written:
            self._stream.write(text[self._written :])
            self._stream.flush()
            self._written = len(text)


class Rewriting(GrowingText):
    """For terminals: the text as it is at the moment; lines that change are written anew."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._text = ""
        self._shown = ""

    def hear(self, event: Event) -> None:
        """Show the text as it is now."""
        self._text = grown(self._text, event)
        self._show(self._text)

    def finish(self, text: str) -> None:
        """Show the final text."""
        self._show(text)
        if not text.endswith("\n"):
            self._stream.write("\n")
        self._stream.flush()

    def _show(self, text: str) -> None:
        if text == self._shown:
            return
        if text.startswith(self._shown):
            self._stream.write(text[len(self._shown) :])
        else:
            line_start = text.rfind("\n", 0, shared_start(self._shown, text)) + 1
            rows = self._rows(self._shown[line_start:])
            up = f"\x1b[{rows - 1}A" if rows > 1 else ""
            self._stream.write(f"{up}\r{_CLEAR_BELOW}{text[line_start:]}")
        self._shown = text
        self._stream.flush()

    def _rows(self, text: str) -> int:
        """How many rows of the terminal some text takes, the one with the cursor included."""
        try:
            width = os.get_terminal_size(self._stream.fileno()).columns or 80
        except OSError:
            width = 80
        return sum(1 + max(len(line) - 1, 0) // width for line in text.split("\n"))


def grown(text: str, event: Event) -> str:
    """The text after an event."""
    if event.kind in ("token", "forced", "witness"):
        return text + event.text
    return text[: event.length] if event.kind == "backtrack" else text
