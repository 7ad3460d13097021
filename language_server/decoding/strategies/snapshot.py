"""Beginnings of a text that are known to be completable, with the text that does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from language_server.decoding.generation import GenerationError
from language_server.decoding.run import Run, Step
from language_server.decoding.token_filter import State


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


class Witnesses:
    """The latest snapshot of one run, and how others are found.

    Attributes:
        first: the one of the given beginning.
        snapshot: the latest one.
    """

    def __init__(self, run: Run) -> None:
        """Find the first one.

        Raises:
            GenerationError: no completion of the beginning is known that fits into the budget.
        """
        self._run = run
        self.first = self.snapshot = self._find_first()

    def behind(
        self, state: State, length: int
    ) -> Snapshot | Literal["no", "unknown", "over budget"]:
        """The snapshot at ``state``, ``length`` tokens into the text, if a witness fits."""
        if state.pending:
            return "unknown"
        text = state.guide.text
        witness = self.rest(text)
        if witness is None:
            self._run.check_time()
            verdict = state.guide.completable(self._run.limits.effort)
            if verdict.witness is None:
                return "no" if verdict.answer == "no" else "unknown"
            witness = verdict.witness
        try:
            tokens = self._run.filter.vocabulary.encode(witness)
        except GenerationError:
            return "unknown"  # this model cannot write it
        if length + len(tokens) > self._run.limits.max_tokens:
            return "over budget"
        return Snapshot(length, text, witness, tuple(tokens))

    def rest(self, text: str) -> str | None:
        """What is left of the snapshot's witness where ``text`` has only followed it."""
        whole = self.snapshot.whole
        return whole[len(text) :] if whole.startswith(text) else None

    def follow(self) -> None:
        """Write the witness's next token, and what else belongs to its last code point."""
        run, snapshot = self._run, self.snapshot
        tokens = snapshot.tokens
        count = 0
        while count == 0 or (run.state.pending and count < len(tokens)):
            if count == len(tokens):
                raise AssertionError("a snapshot without a witness is complete")
            run.write([tokens[count]], "witness")
            count += 1
        text = run.state.guide.text
        rest = snapshot.witness[len(text) - len(snapshot.text) :]
        self.snapshot = Snapshot(run.length, text, rest, tokens[count:])

    def _find_first(self) -> Snapshot:
        run = self._run
        guide = run.state.guide
        if not guide.alive:
            raise GenerationError("the given beginning cannot be completed into a consistent model")
        verdict = guide.completable(run.limits.first_effort)
        if verdict.answer == "no":
            raise GenerationError(
                f"the given beginning cannot be completed: {_first(verdict.reasons)}"
            )
        if verdict.witness is None:
            raise GenerationError(
                "no completion of the given beginning is known, so none can be promised: "
                f"{_first(verdict.reasons)}"
            )
        tokens = run.filter.vocabulary.encode(verdict.witness)
        needed = run.length + len(tokens)
        if needed > run.limits.max_tokens:
            raise GenerationError(
                f"the shortest completion known takes {needed} tokens, "
                f"the budget is {run.limits.max_tokens}: give at least --max-tokens {needed}"
            )
        return Snapshot(run.length, guide.text, verdict.witness, tuple(tokens))


def witness_share(path: Sequence[Step], more: int) -> float:
    """The share of the witness's tokens if ``more`` of them follow."""
    return (sum(step.origin == "witness" for step in path) + more) / max(1, len(path) + more)


def _first(reasons: tuple[str, ...]) -> str:
    return reasons[0] if reasons else "no reason is known"
