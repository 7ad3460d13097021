"""Beginnings of a text that are known to be completable, with the text that does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from language_server.decoding.run import Step


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The first ``length`` tokens of the path and the tokens of a text that completes them."""

    length: int
    text: str
    witness: str
    tokens: tuple[int, ...]

    @property
    def whole(self) -> str:
        """The completed text."""
        return self.text + self.witness


@dataclass(frozen=True, slots=True)
class Reserve:
    """A snapshot, the path to it, and which share of the whole text is the witness's."""

    path: tuple[Step, ...]
    snapshot: Snapshot
    share: float


def witness_share(path: Sequence[Step], more: int) -> float:
    """The share of the witness's tokens if ``more`` of them follow."""
    return (sum(step.origin == "witness" for step in path) + more) / max(1, len(path) + more)
