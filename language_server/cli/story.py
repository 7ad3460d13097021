"""The story of a generation: what was written, refused and taken back, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from language_server.decoding import Event

_WRITERS = {"token": "model", "forced": "forced", "witness": "witness"}


class Story:
    """Tells events line by line; what one writer writes in a row is one line.

    A line begins with the number of tokens behind what it tells.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._writer = ""
        self._written = ""
        self._tokens = 0

    def hear(self, event: Event) -> None:
        """Tell an event, as soon as it is known to be a whole line."""
        writer = _WRITERS.get(event.kind)
        if writer is not None:
            if writer != self._writer or "\n" in self._written:
                self._end_line()
            self._writer, self._tokens = writer, event.tokens
            self._written += event.text
            return
        self._end_line()
        if event.kind == "unit":
            return  # what follows it begins a line
        told = f" {event.text!r}" if event.text else ""
        why = f": {event.detail}" if event.detail else ""
        self._line(event.tokens, f"{event.kind}{told}{why}")

    def finish(self) -> None:
        """Tell what is left."""
        self._end_line()

    def _end_line(self) -> None:
        if self._writer:
            self._line(self._tokens, f"{self._writer} {self._written!r}")
        self._writer = self._written = ""

    def _line(self, tokens: int, told: str) -> None:
        self._tell(f"{tokens:5}  {told}")
