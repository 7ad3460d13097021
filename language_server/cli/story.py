"""The story of a generation: what was written, refused and taken back, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from language_server.decoding import Event

_WRITERS = {"token": "model", "forced": "forced", "witness": "witness"}


class Story:
    """Tells events line by line: what one writer writes in a row, what is refused for one reason.

    A line begins with the number of tokens behind what it tells. A snapshot that needs as many
    tokens as the one before it is not worth a line.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._writer = ""
        self._written = ""
        self._refused: list[str] = []
        self._why = ""
        self._snapshot = ""
        self._tokens = 0

    def hear(self, event: Event) -> None:
        """Tell an event, as soon as it is known to be a whole line."""
        writer = _WRITERS.get(event.kind)
        if writer is not None:
            if writer != self._writer or "\n" in self._written:
                self._end_line()
            self._writer, self._tokens = writer, event.tokens
            self._written += event.text
        elif event.kind == "rejection":
            if not self._refused or event.detail != self._why:
                self._end_line()
            self._why, self._tokens = event.detail, event.tokens
            self._refused.append(repr(event.text) if event.text else "")
        elif event.kind == "unit":
            self._end_line()  # what follows it begins a line
        elif event.kind != "snapshot" or event.detail != self._snapshot:
            self._end_line()
            if event.kind == "snapshot":
                self._snapshot = event.detail
            told = f" {event.text!r}" if event.text else ""
            why = f": {event.detail}" if event.detail else ""
            self._line(event.tokens, f"{event.kind}{told}{why}")

    def finish(self) -> None:
        """Tell what is left."""
        self._end_line()

    def _end_line(self) -> None:
        if self._writer:
            self._line(self._tokens, f"{self._writer} {self._written!r}")
        if self._refused:
            pieces = ", ".join(filter(None, self._refused))
            self._line(self._tokens, f"rejection{pieces and f' {pieces}'}: {self._why}")
        self._writer = self._written = ""
        self._refused = []

    def _line(self, tokens: int, told: str) -> None:
        self._tell(f"{tokens:5}  {told}")
