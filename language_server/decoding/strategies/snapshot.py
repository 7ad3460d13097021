"""Beginnings of a text that are known to be completable, with the text that does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from language_server.decoding.generation import GenerationError, Origin
from language_server.decoding.run import Run
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
        self, state: State, length: int, effort: Any = None
    ) -> Snapshot | Literal["no", "unknown", "over budget"]:
        """The snapshot at ``state``, ``length`` tokens into the text, if a witness fits.

        Args:
            effort: what the search for it may spend, if not what a look may.
        """
        if state.pending:
            return "unknown"
        text = state.guide.text
        witness = self.rest(text)
        if witness is None:
            self._run.check_time()
            verdict = state.guide.completable(effort or self._run.limits.effort)
            if verdict.witness is None:
                return "no" if verdict.answer == "no" else "unknown"
            witness = verdict.witness
        try:
            tokens = self._run.filter.vocabulary.encode(witness)
        except GenerationError:
            return "unknown"  # this model cannot write it
        if length + len(tokens) > self._run.budget:
            return "over budget"
        return Snapshot(length, text, witness, tuple(tokens))

    def behind_token(self, token: int, state: State, pressed: bool) -> Snapshot | None:
        """The snapshot where the latest one goes on with ``token``, if a witness fits.

        Args:
            state: the one behind the token.
            pressed: whether the token must bring the text nearer to its end: one that changes
                nothing of what is open does not.
        """
        latest = self.snapshot
        length, text = latest.length + 1, state.guide.text
        if latest.tokens and latest.tokens[0] == token:
            return Snapshot(length, text, latest.whole[len(text) :], latest.tokens[1:])
        tight = length + len(latest.tokens) > self._run.budget
        if (pressed or tight) and self._leaves_all_open(state):
            return None
        found = self.behind(state, length, self._run.limits.token_effort)
        return found if isinstance(found, Snapshot) else None

    def _leaves_all_open(self, state: State) -> bool:
        """Whether a token has changed nothing of what is open: then as much is needed as before.

        To begin a comment is no change; to meet an obligation is one.
        """
        if state.guide.in_comment and not self._run.state.guide.in_comment:
            return True
        guide, behind = self._run.state.guide, state.guide
        before, after = guide.openings(), behind.openings()
        if before is None or after is None or before.each != after.each:
            return False
        return behind.obligations >= guide.obligations

    def rest(self, text: str) -> str | None:
        """What is left of the snapshot's witness where ``text`` has only followed it."""
        whole = self.snapshot.whole
        return whole[len(text) :] if whole.startswith(text) else None

    def follow(self, origin: Origin) -> None:
        """Write the witness's next token."""
        run, latest = self._run, self.snapshot
        run.write([latest.tokens[0]], origin)
        text = run.state.guide.text
        self.snapshot = Snapshot(run.length, text, latest.whole[len(text) :], latest.tokens[1:])

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
        if needed > run.budget:
            raise GenerationError(
                f"the shortest completion known takes {needed} tokens, "
                f"the budget is {run.budget}: give at least --max-tokens {needed}"
            )
        return Snapshot(run.length, guide.text, verdict.witness, tuple(tokens))


def _first(reasons: tuple[str, ...]) -> str:
    return reasons[0] if reasons else "no reason is known"
