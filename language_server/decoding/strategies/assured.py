"""``assured``: ``mask`` with a known completion in reserve.

There is always a *snapshot*: a state of the path with a *witness*, a text that completes it,
whose tokens fit into the budget. What has been written since is an *excursion*. It becomes the
new snapshot as soon as a witness that fits is found for it. An excursion that does not arrive -
no token is allowed, a check proves that nothing completes it, or the budget ends - goes back to
its latest state that can be completed within the budget, and from there on along another path. At
any moment snapshot and witness are a valid text, which is what a deadline or a cancellation
returns.

The first excursion may use the whole budget: a text that ``grammar`` would have written within
it, and that is consistent, is therefore never lost. After an excursion has failed for the budget's
sake, every token is checked before it is taken (*careful*): the model chooses among the tokens
behind which a witness fits, and only if none of its first choices is one, the next token is the
witness's.

What a witness writes is not the model's. Of all snapshots with a text of some length the one with
the least for the witness to write is therefore kept as a *reserve*. Where the budget ends in a text
that leaves more to the witness, the reserve is what is returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from language_server.decoding.drift import DriftControl
from language_server.decoding.generation import Finish, GenerationError
from language_server.decoding.run import Run, Step, Stopped
from language_server.decoding.token_filter import State

# Tokens between two looks for a witness, at most; fewer when the reserve gets tight.
_STRIDE = 8
# Looks in vain after which a line's end alone is no reason to look.
_VAIN_LOOKS_AT_LINES = 4
# Choices of the model that are checked at one place before the witness's token is taken.
_CAREFUL_TRIES = 4
# Tokens the budget must hold besides the witness for each such check.
_ROOM_FOR_A_TRY = 3
# Such choices turned down, over the whole run, after which the witness is written to its end.
_CAREFUL_REFUSALS = 24
# Tokens an excursion may take once the path has been taken back at least once.
_LATER_EXCURSION = 32
# How often the path may be taken back before every token is checked.
_RETURNS = 12
# Being careful ends when the budget holds the witness and this many tokens besides.
_ROOM = 24


# The reserve has at least this share of the budget; below this share for the witness it is taken
# without looking further.
_LEAST_TEXT = 0.5
_LITTLE = 0.04
# What a text needs to be completed should take at most one of so many parts of the tokens left, or
# this many tokens; and how often a text that needs more is taken back (a part of drift control).
_SETTLED_IN = 3
_ALWAYS_SETTLED = 6
_MOST_PILED = 40
# States looked at for a reserve when the budget is used up.
_LOOKS_BACK = 12


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The first ``length`` tokens of the path and the tokens of a text that completes them."""

    length: int
    text: str
    witness: str
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reserve:
    """A snapshot, the path to it, and which share of the whole text is the witness's."""

    path: tuple[Step, ...]
    snapshot: Snapshot
    share: float


def assured(run: Run) -> Finish:
    """Grow the text; it is valid and within the budget whatever happens.

    Raises:
        GenerationError: no completion of the beginning is known that fits into the budget.
    """
    return _Assured(run).finish()


class _Assured:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._snapshot = self._first_snapshot()
        self._drift = DriftControl(run)
        self._reserve: Reserve | None = None
        needs = len(self._snapshot.tokens)
        self._has_room = needs * _SETTLED_IN <= run.limits.max_tokens - run.length
        self._piled = 0
        self._returns = 0
        self._careful = False
        self._last_look = 0
        self._vain_looks = 0
        self._refusals = 0

    def finish(self) -> Finish:
        """Run to an end, an exhausted budget, a deadline or a cancellation."""
        try:
            while True:
                if self._run.remaining == 0:
                    if self._run.state.may_end:
                        return "budget"
                    if self._returns == 0:
                        self._look_back()
                    if self._reserve is not None and self._reserve.share <= _LITTLE:
                        self._take(self._reserve)
                        return "budget"
                    self._go_back("the budget is used up", careful=True)
                elif self._careful and self._refusals >= _CAREFUL_REFUSALS:
                    self._close("the search for other completions has cost enough")
                    self._prefer_reserve()
                    return "budget"
                elif self._careful:
                    finish = self._careful_step()
                    if finish is not None:
                        if finish == "budget":
                            self._prefer_reserve()
                        return finish
                elif self._bold_step():
                    return "end"
        except Stopped as stopped:
            if not self._run.state.may_end:
                self._close("the time is up")
            return stopped.finish

    # Steps --------------------------------------------------------------------------------------

    def _bold_step(self) -> bool:
        """Take the model's choice; look for a witness when it is time. True at the end."""
        run = self._run
        choice = next(run.candidates(), None)
        if choice is None:
            self._go_back("no token is allowed")
            return False
        token, after = choice
        if after.ended:
            return True
        run.take(token, after)
        drift = self._drift.look()
        if drift is not None:
            self._take_back(drift.length, drift.why)
        elif self._is_time_to_check():
            self._check()
        return False

    def _careful_step(self) -> Finish | None:
        """Take the model's first choice behind which a witness fits, else the witness's token.

        Returns:
            How the text ends, if it does.
        """
        run = self._run
        if run.length != self._snapshot.length:
            raise AssertionError("a careful step starts from a snapshot")
        spare = run.remaining - len(self._snapshot.tokens)
        for tries, (token, after) in enumerate(islice(run.candidates(), _CAREFUL_TRIES)):
            if after.ended:
                return "end"
            # Without room to spare, what leaves the witness's way is as good as refused.
            follows = self._rest_of_witness(after.guide.text) is not None
            if follows or tries < spare // _ROOM_FOR_A_TRY:
                snapshot = self._snapshot_behind(after, run.length + 1)
                if isinstance(snapshot, Snapshot):
                    run.take(token, after)
                    self._keep(snapshot)
                    break
                self._refusals += 1
            run.refuse(after, "no completion that fits the budget is known behind it")
        else:
            if not self._snapshot.tokens:
                return "budget"  # it may end here, and there is no room for anything else
            self._follow_witness()
        spare = run.remaining - len(self._snapshot.tokens)
        if self._returns < _RETURNS and spare > len(self._snapshot.tokens) + _ROOM:
            self._careful = False
        return None

    def _follow_witness(self) -> None:
        """Write the witness's next token, and what else belongs to its last code point."""
        run, snapshot = self._run, self._snapshot
        tokens = snapshot.tokens
        count = 0
        while count == 0 or (run.state.pending and count < len(tokens)):
            if count == len(tokens):
                raise AssertionError("a snapshot without a witness is complete")
            run.write([tokens[count]], "witness")
            count += 1
        text = run.state.guide.text
        rest = snapshot.witness[len(text) - len(snapshot.text) :]
        self._snapshot = Snapshot(run.length, text, rest, tokens[count:])

    # Witnesses ----------------------------------------------------------------------------------

    def _first_snapshot(self) -> Snapshot:
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

    def _is_time_to_check(self) -> bool:
        """At a line's end, or when enough has been written and a word is finished."""
        run, snapshot = self._run, self._snapshot
        if run.state.pending:
            return False
        stride = max(1, min(_STRIDE, (run.remaining - len(snapshot.tokens)) // 4))
        # Looks that found nothing are followed by ever longer waits.
        stride <<= self._vain_looks
        since = run.length - max(snapshot.length, self._last_look)
        guide = run.state.guide
        last = guide.text[-1:]
        if last == "\n" and self._vain_looks < _VAIN_LOOKS_AT_LINES:
            return True
        if guide.in_comment or last.isalnum() or last == "_":
            return since >= 4 * stride
        return since >= stride

    def _check(self) -> None:
        run = self._run
        self._last_look = run.length
        found = self._snapshot_behind(run.state, run.length)
        if isinstance(found, Snapshot):
            if self._piles_up(found):
                self._take_back(self._snapshot.length, "it needs more than can be settled in time")
            else:
                self._keep(found)
            return
        self._vain_looks += 1
        if found == "no":
            self._go_back("nothing completes it")
        elif self._returns and run.length - self._snapshot.length >= _LATER_EXCURSION:
            self._go_back("no completion was found", careful=found == "over budget")

    def _piles_up(self, found: Snapshot) -> bool:
        """Whether the text needs ever more to be completed, and too much for what is left."""
        run, needs = self._run, len(found.tokens)
        limit = max(_ALWAYS_SETTLED, run.remaining // _SETTLED_IN)
        if not self._has_room or needs <= max(limit, len(self._snapshot.tokens)):
            return False
        self._piled += 1
        return run.limits.drift_control and self._piled <= _MOST_PILED

    def _snapshot_behind(
        self, state: State, length: int
    ) -> Snapshot | Literal["no", "unknown", "over budget"]:
        """The snapshot at ``state``, ``length`` tokens into the text, if a witness fits."""
        if state.pending:
            return "unknown"
        text = state.guide.text
        witness = self._rest_of_witness(text)
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

    def _rest_of_witness(self, text: str) -> str | None:
        """What is left of the snapshot's witness where ``text`` has only followed it."""
        snapshot = self._snapshot
        whole = snapshot.text + snapshot.witness
        return whole[len(text) :] if whole.startswith(text) else None

    def _keep(self, snapshot: Snapshot) -> None:
        run = self._run
        self._snapshot = snapshot
        self._vain_looks = 0
        if run.length > snapshot.length:
            # Forced text has followed the checked token: every completion, the witness too, has it.
            behind = self._snapshot_behind(run.state, run.length)
            if isinstance(behind, Snapshot):
                self._snapshot = behind
            else:
                run.back_to(snapshot.length, "forced text takes more tokens than its witness")
        self._consider(self._snapshot)
        run.emit("snapshot", "", f"{len(self._snapshot.tokens)} tokens complete it")

    # The reserve --------------------------------------------------------------------------------

    def _consider(self, snapshot: Snapshot) -> None:
        """Keep a snapshot of this path as the reserve if it leaves less to the witness."""
        run = self._run
        whole = snapshot.length + len(snapshot.tokens)
        if whole < _LEAST_TEXT * run.limits.max_tokens:
            return
        share = _witness_share(run.path[: snapshot.length], len(snapshot.tokens))
        known = self._reserve
        # Little is as good as nothing, and a longer text is then better.
        if known is None or max(share, _LITTLE) <= max(known.share, _LITTLE):
            self._reserve = Reserve(tuple(run.path[: snapshot.length]), snapshot, share)

    def _look_back(self) -> None:
        """Look for a reserve along the path, at ends of lines, the later half first."""
        run = self._run
        ends = [
            length
            for length in range(run.length, run.length // 2, -1)
            if run.state_at(length).guide.text[-1:] == "\n" and not run.state_at(length).pending
        ]
        for length in ends[:: max(1, len(ends) // _LOOKS_BACK)]:
            found = self._snapshot_behind(run.state_at(length), length)
            if isinstance(found, Snapshot):
                self._consider(found)

    def _prefer_reserve(self) -> None:
        """Take the reserve instead of the finished text, if that leaves less to the witness."""
        if self._reserve is not None and self._reserve.share < _witness_share(self._run.path, 0):
            self._take(self._reserve)

    def _take(self, reserve: Reserve) -> None:
        self._run.return_to(reserve.path, "an earlier text leaves less to the witness")
        self._run.write(list(reserve.snapshot.tokens), "witness")

    # Going back ---------------------------------------------------------------------------------

    def _go_back(self, why: str, careful: bool = False) -> None:
        """Return to the latest state of the excursion that is known to be completable in time."""
        run = self._run
        self._returns += 1
        self._last_look = self._vain_looks = 0
        low = self._snapshot.length
        choices = [p for p in range(low + 1, run.length) if run.path[p].origin == "model"]
        begin, end = 0, len(choices)
        while begin < end:
            middle = (begin + end) // 2
            found = self._snapshot_behind(run.state_at(choices[middle]), choices[middle])
            if isinstance(found, Snapshot):
                self._snapshot = found
                low, begin = choices[middle], middle + 1
            else:
                end = middle
        refused = run.path[low] if low < run.length else None
        run.back_to(low, why)
        if refused is not None and refused.origin == "model":
            run.ban(refused.token)
        # Where there was nothing to take back, only the witness is known to go on.
        self._careful = self._careful or careful or refused is None or self._returns >= _RETURNS

    def _take_back(self, length: int, why: str) -> None:
        """Give up a part of the text that is not wrong, as far back as a snapshot is known."""
        run = self._run
        if length < self._snapshot.length:
            found = self._snapshot_behind(run.state_at(length), length)
            if isinstance(found, Snapshot):
                self._snapshot = found
            else:
                length = self._snapshot.length
        if length < run.length:
            refused = run.path[length]
            run.back_to(length, why)
            if refused.origin == "model":
                run.ban(refused.token)
            self._last_look = self._vain_looks = 0

    def _close(self, why: str) -> None:
        run = self._run
        run.back_to(self._snapshot.length, why)
        run.write(list(self._snapshot.tokens), "witness")


def _witness_share(path: Sequence[Step], more: int) -> float:
    """The share of the witness's tokens if ``more`` of them follow."""
    return (sum(step.origin == "witness" for step in path) + more) / max(1, len(path) + more)


def _first(reasons: tuple[str, ...]) -> str:
    return reasons[0] if reasons else "no reason is known"
