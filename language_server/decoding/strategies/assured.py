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
behind which a witness fits. Of those that do the same to what is open only the first few are
tried: the others would fare alike. Where all are refused but the witness's, that one is forced;
where the search for another has taken too many tries, the next token is the witness's.

Where the model ends its text and only constraints are against it, ``grammar`` would have written
something inconsistent: nothing is lost by *winding up*. The text is brought to its end then, with
little more budget than the witness takes; a model that had finished would fill the rest with
whatever is allowed.

A draw that follows the grammar, and that constraints turn down, ends what ``grammar`` would have
written. To mask it, and draw on from what is left, would be to say what the model would not: small
models never find back from there. So the whole unit is drawn again, as ``retry`` does, but as soon
as it goes wrong, and with what is known by now of where it does (`shares.py`): rejection sampling
of units. It is part of drift control, and done only as often as text that was not asked for makes
up for it; else the draw is masked.

Where the language's last word refuses the finished text, it goes back and is written another way
(``refused.py``), a bounded number of times. Then the first witness is what is left; if that is
refused too, the result says so.
"""

from __future__ import annotations

from contextlib import suppress

from language_server.decoding.drift import Drift, DriftControl
from language_server.decoding.generation import Finish, Origin
from language_server.decoding.run import Run, Stopped
from language_server.decoding.strategies.refused import Refused
from language_server.decoding.strategies.snapshot import Snapshot, Witnesses
from language_server.diagnostic import Diagnostic

# Tokens between two looks for a witness, at most: a look takes as long as half a token of a small
# model. Half as many where a line has ended; fewer when the budget gets tight.
_STRIDE = 16
# Looks in vain after which a line's end alone is no reason to look.
_VAIN_LOOKS_AT_LINES = 4
# Choices of the model that are checked at one place before the witness's token is taken: at most,
# and where the text needs too much to be completed, but there is room.
_CAREFUL_TRIES = 24
_PRESSED_TRIES = 6
# Such choices turned down, over the whole run, after which the witness is written to its end.
_CAREFUL_REFUSALS = 240
# Tokens an excursion may take once the path has been taken back at least once.
_LATER_EXCURSION = 32
# How often the path may be taken back before every token is checked.
_RETURNS = 12
# Being careful ends when the budget holds the witness and this many tokens besides.
_ROOM = 24

# Parts of drift control: what a text needs to be completed should take at most one of so many parts
# of the tokens left, or this many tokens; and the last so many tokens are checked one by one.
_SETTLED_IN = 2
_ALWAYS_SETTLED = 6
_LAST = 24
# A unit is drawn again where so much of what the model may say there is not known to be ruled out.
_ENOUGH = 1 / 2
# An ending may take so many times the tokens that the witness takes.
_ENDING = 2
# Finished texts that the language may refuse before no other one is tried.
_MOST_REFUSED = 8


def assured(run: Run) -> Finish:
    """Grow the text; it is valid and within the budget whatever happens.

    Raises:
        GenerationError: no completion of the beginning is known that fits into the budget.
    """
    return _Assured(run).finish()


class _Assured:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._known = Witnesses(run)
        self._drift = DriftControl(run)
        needs = len(self._known.snapshot.tokens)
        self._has_room = needs * _SETTLED_IN <= run.budget - run.length
        self._returns = 0
        self._careful = False
        self._winds_up = False
        self._last_look = 0
        self._vain_looks = 0
        self._refusals = 0
        self._refused = Refused(run)

    def finish(self) -> Finish:
        """Run to an end, an exhausted budget, a deadline or a cancellation."""
        for _ in range(_MOST_REFUSED):
            finish = self._write()
            fault = self._run.fault()
            if fault is None:
                return finish
            self._run.emit("rejection", "", f"the text does not pass: {fault.message}")
            if finish in ("deadline", "cancelled") or not self._revise(fault):
                break
        else:
            finish = self._write()
        if self._run.fault() and not self._run.fault(self._known.first.whole):
            self._known.snapshot = self._known.first
            self._close("the shortest completion passes")
        return finish

    def _write(self) -> Finish:
        try:
            self._run.stop_in_time()
            while True:
                if self._run.remaining == 0:
                    if self._run.state.may_end:
                        return "budget"
                    self._go_back("the budget is used up", careful=True)
                elif self._careful and self._refusals >= _CAREFUL_REFUSALS:
                    if not self._settle():
                        self._close("the search for other completions has cost enough")
                        return "budget"
                elif self._careful:
                    finish = self._careful_step()
                    if finish is not None:
                        return finish
                elif self._bold_step():
                    return "end"
        except Stopped as stopped:
            self._run.stop_in_time(False)
            if not self._run.state.may_end:
                known = self._known.snapshot
                self._run.back_to(known.length, "the time is up")
                self._run.conclude(known.witness, known.tokens)
            return stopped.finish

    # Steps --------------------------------------------------------------------------------------

    def _bold_step(self) -> bool:
        """Take the model's choice; look for a witness when it is time. True at the end."""
        run = self._run
        choice = next(run.candidates(), None)
        if choice is None:
            self._go_back("no token is allowed")
            return False
        if self._draw_unit_again():
            return False
        token, after = choice
        if after.ended:
            return True
        if (
            run.limits.drift_control
            and run.would_rather_end(token)
            and run.state.guide.parses
            and self._wind_up()
        ):
            return False
        run.take(token, after)
        drift = self._drift.look()
        if drift is not None:
            self._turn(drift)
        elif self._is_time_to_check():
            self._check()
        return False

    def _careful_step(self) -> Finish | None:
        """Take the model's first choice behind which a witness fits, or else the witness's token.

        Returns:
            How the text ends, if it does.
        """
        run = self._run
        if run.length != self._known.snapshot.length:
            raise AssertionError("a careful step starts from a snapshot")
        needs = len(self._known.snapshot.tokens)
        if self._winds_up and run.state.may_end:
            return "end"
        pressed = self._winds_up or self._is_too_much(needs)
        most_tries = (
            _PRESSED_TRIES if pressed and run.remaining - needs >= _ROOM else _CAREFUL_TRIES
        )
        mechanical: Origin | None = None
        for tries, (token, after) in enumerate(run.candidates()):
            if after.ended:
                return "end"
            if tries == most_tries:
                mechanical = "witness"
                break
            snapshot = self._known.behind_token(token, after, pressed)
            if snapshot is not None and not self._piles_up(snapshot):
                run.take(token, after)
                self._keep(snapshot)
                drift = self._drift.look()
                if drift is not None:
                    self._turn(drift)
                break
            run.refuse(token, after, "no completion that fits the budget is known behind it")
            self._refusals += 1
        else:
            mechanical = "witness" if run.leaves_out else "forced"
        if mechanical is not None:
            if not self._known.snapshot.tokens:
                return "budget"  # it may end here, and nothing else is known to fit
            self._known.follow(mechanical)
        self._careful = not self._has_settled
        return None

    @property
    def _has_settled(self) -> bool:
        """Whether the text needs little enough that not each token must be checked."""
        needs = len(self._known.snapshot.tokens)
        if self._returns >= _RETURNS or self._run.remaining <= 2 * needs + _ROOM:
            return False
        return not self._run.limits.drift_control or 2 * needs <= self._settled

    def _settle(self) -> bool:
        """Let the witness settle the text; False where that leaves no room for the model."""
        if (
            not self._has_room
            or self._run.remaining <= 2 * len(self._known.snapshot.tokens) + _ROOM
        ):
            return False
        while self._known.snapshot.tokens and not self._has_settled and self._returns < _RETURNS:
            self._known.follow("witness")
        self._careful, self._refusals = not self._has_settled, 0
        return self._has_settled

    # Witnesses ----------------------------------------------------------------------------------

    def _is_time_to_check(self) -> bool:
        """At a line's end, or when enough has been written and a word is finished."""
        run, snapshot = self._run, self._known.snapshot
        if run.state.pending:
            return False
        stride = max(1, min(_STRIDE, (run.remaining - len(snapshot.tokens)) // 4))
        # Looks that found nothing are followed by ever longer waits.
        stride <<= self._vain_looks
        since = run.length - max(snapshot.length, self._last_look)
        guide = run.state.guide
        last = guide.text[-1:]
        if last == "\n" and self._vain_looks < _VAIN_LOOKS_AT_LINES:
            return 2 * since >= stride
        if guide.in_comment or last.isalnum() or last == "_":
            return since >= 4 * stride
        return since >= stride

    def _check(self) -> None:
        run = self._run
        self._last_look = run.length
        # Most of what a first look does not find is found at the next one, without a solver.
        effort = None if self._vain_looks else run.limits.token_effort
        found = self._known.behind(run.state, run.length, effort)
        if isinstance(found, Snapshot):
            if self._piles_up(found):
                self._careful = True
                if self._may_lose(self._known.snapshot.length):
                    why = "it needs more than can be settled in time"
                    self._take_back(self._known.snapshot.length, why)
                    return
            self._keep(found)
            if run.limits.drift_control and run.remaining <= len(found.tokens) + _LAST:
                self._careful = True
            return
        self._vain_looks += 1
        if found == "no":
            self._go_back("nothing completes it")
        elif self._returns and run.length - self._known.snapshot.length >= _LATER_EXCURSION:
            self._go_back("no completion was found", careful=found == "over budget")

    def _piles_up(self, found: Snapshot) -> bool:
        """Whether the text needs ever more to be completed, and too much for what is left."""
        needs = len(found.tokens)
        return needs > len(self._known.snapshot.tokens) and self._is_too_much(needs)

    def _is_too_much(self, needs: int) -> bool:
        return self._has_room and self._run.limits.drift_control and needs > self._settled

    @property
    def _settled(self) -> int:
        """The tokens that a text may need to be completed."""
        return max(_ALWAYS_SETTLED, self._run.remaining // _SETTLED_IN)

    # Drift --------------------------------------------------------------------------------------

    def _turn(self, drift: Drift) -> None:
        """Go back to where the text has lost its way, or turn where it is if that costs much.

        Where that has not helped before, bring the text to its end.
        """
        run = self._run
        may_lose = self._may_lose(drift.length)
        if may_lose:
            self._take_back(drift.length, drift.why)
        if drift.for_good:
            self._wind_up()
        elif may_lose:
            return
        elif drift.again is not None:
            run.ban(run.path[drift.again].token)
            run.emit("rejection", run.said(drift.again), drift.why)
        else:
            self._end_unit()

    def _draw_unit_again(self) -> bool:
        """Go back to where a unit has ended if constraints have turned down what was drawn first.

        Nothing is lost by it: what ``grammar`` would have written is inconsistent.
        """
        run = self._run
        if not run.limits.drift_control or not run.learn_refusals():
            return False
        units = [length for length in self._drift.units if length < run.length]
        enough = (length for length in reversed(units) if run.share(length) >= _ENOUGH)
        begun = next(enough, units[0] if units else run.length)
        drawn = any(step.origin == "model" for step in run.path[begun:])
        if not drawn or not self._may_lose(begun):
            return False
        self._return_to(begun, "constraints rule out what the unit goes on with")
        return True

    def _end_unit(self) -> None:
        """Let the witness end the unit that the model brings to no end."""
        run = self._run
        begun = run.state.guide.text
        found = self._known.behind(run.state, run.length)
        if isinstance(found, Snapshot):
            self._keep(found)
            while self._known.snapshot.tokens and not run.state.guide.ends_unit(len(begun)):
                self._known.follow("witness")

    def _may_lose(self, length: int) -> bool:
        """Whether tokens that were not asked for make up for the choices lost by going back."""
        run = self._run
        free = sum(step.origin != "model" for step in run.path)
        going = sum(step.origin == "model" for step in run.path[length:])
        return run.lost + going <= free

    def _keep(self, snapshot: Snapshot) -> None:
        run = self._run
        self._known.snapshot = snapshot
        self._vain_looks = 0
        if run.length > snapshot.length:
            # Forced text has followed the checked token: every completion, the witness too, has it.
            behind = self._known.behind(run.state, run.length)
            if isinstance(behind, Snapshot):
                self._known.snapshot = behind
            else:
                run.back_to(snapshot.length, "forced text takes more tokens than its witness")
        run.emit("snapshot", "", f"{len(self._known.snapshot.tokens)} tokens complete it")

    # Going back ---------------------------------------------------------------------------------

    def _wind_up(self) -> bool:
        """Give up what is left of the budget but for an ending; False if none is known."""
        run = self._run
        found = self._known.behind(run.state, run.length)
        if not isinstance(found, Snapshot):
            return False
        self._keep(found)
        run.budget = min(run.budget, run.length + _ENDING * len(found.tokens))
        self._careful = self._winds_up = True
        return True

    def _go_back(self, why: str, careful: bool = False) -> None:
        """Return to the latest state of the excursion that is known to be completable in time."""
        run = self._run
        self._returns += 1
        self._last_look = self._vain_looks = 0
        low = self._known.snapshot.length
        choices = [p for p in range(low + 1, run.length) if run.path[p].origin == "model"]
        begin, end = 0, len(choices)
        while begin < end:
            middle = (begin + end) // 2
            found = self._known.behind(run.state_at(choices[middle]), choices[middle])
            if isinstance(found, Snapshot):
                self._known.snapshot = found
                low, begin = choices[middle], middle + 1
            else:
                end = middle
        refused = run.path[low] if low < run.length else None
        run.back_to(low, why)
        if refused is not None and refused.origin == "model":
            run.ban(refused.token)
        # Where there was nothing to take back, only the witness is known to go on.
        self._careful = self._careful or careful or refused is None or self._returns >= _RETURNS

    def _revise(self, fault: Diagnostic) -> bool:
        """Write a refused text another way; False if the model has chosen nothing in it."""
        self._known.snapshot = self._known.first  # what is left of the refused text is no witness
        with suppress(Stopped):
            for place in self._refused.places(fault):
                found = self._known.behind(self._run.state_at(place), place)
                if isinstance(found, Snapshot):
                    self._known.snapshot, self._careful = found, False
                    self._winds_up = False
                    self._run.budget = self._run.limits.max_tokens
                    self._refusals = self._last_look = self._vain_looks = 0
                    self._refused.go_back(place)
                    return True
        return False

    def _take_back(self, length: int, why: str) -> None:
        """Give up a part of the text that is not wrong, and do not begin it so again."""
        run = self._run
        length = self._last_known(length)
        if length < run.length:
            refused = run.path[length]
            self._return_to(length, why)
            if refused.origin == "model":
                run.ban(refused.token)

    def _return_to(self, length: int, why: str) -> None:
        """Go back as far as a snapshot is known."""
        self._run.back_to(self._last_known(length), why)
        self._last_look = self._vain_looks = 0

    def _last_known(self, length: int) -> int:
        """The place at ``length`` or behind it that the text may go back to: a snapshot's."""
        if length < self._known.snapshot.length:
            found = self._known.behind(self._run.state_at(length), length)
            if isinstance(found, Snapshot):
                self._known.snapshot = found
            else:
                return self._known.snapshot.length
        return length

    def _close(self, why: str) -> None:
        run = self._run
        run.back_to(self._known.snapshot.length, why)
        run.write(list(self._known.snapshot.tokens), "witness")
