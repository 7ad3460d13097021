"""The cheapest way to go on behind a syntax fault.

A fault is mended by edits of the text (`edits.py`). What one edit costs is seen only further on:
of all sequences of edits with which the text is read up to a horizon the cheapest is looked for,
best first. A second fault before the horizon then costs the same whatever is done about the first;
so nothing is made up to get past it, and nothing swallows it. Edits that stand too close together
to be told apart are one fault. Where no short sequence comes to the horizon, the one that reads
furthest is taken; where none reads enough to be trusted, text is skipped until a rule around the
fault, taken as finished, can go on.

After R. Corchuelo et al., *Repairing syntax errors in LR parsers*, ACM TOPLAS 24(6), 2002, and
L. Diekmann, L. Tratt, *Don't panic! Better, fewer, syntax errors for LR parsers*, ECOOP 2020.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from language_server.syntax.agenda import Agenda
from language_server.syntax.edits import Edits
from language_server.syntax.lexemes import View
from language_server.syntax.machine import Machine

#: A repair is trusted if this many further lexemes are read after it.
CONFIDENCE = 3
#: Lexemes behind a fault that a repair should let be read.
HORIZON = 30
#: How many more lexemes a sequence of edits has to read to be worth one edit more.
WEIGHT = 10
#: Sequences of edits that are made longer in search of one that comes to the horizon.
EXPANDED = 8
#: So many edits are one fault at most because too little is read between them.
TOGETHER = 3


class Attempt(NamedTuple):
    """A sequence of edits that was tried out.

    Attributes:
        agenda: where reading goes on behind the last edit.
        run: how far it comes from there.
        reach: how far that is, in lexemes behind the fault.
        read: the lexemes read behind the last edit; ``CONFIDENCE`` if the horizon is reached.
        through: whether the horizon is reached.
        before: the sequence without the last edit; None for the fault itself.
    """

    agenda: Agenda
    run: Machine
    reach: int
    read: int
    through: bool
    before: Attempt | None


class Repairs:
    """The ways to go on behind one fault; places are those in the text of the view.

    Attributes:
        best: the agenda after the best repair; None if there is none.
        confident: whether it reads on far enough.
        short: whether more of what was read before would have been taken back than ``past`` holds.
    """

    def __init__(
        self,
        failed: Machine,
        past: Sequence[Agenda],
        fault: int,
        view: View,
        skips: bool = False,
    ) -> None:
        """Look for them.

        Args:
            skips: whether text is to be skipped, since edits here have led nowhere.
        """
        self._view = view
        self._start = fault - view.start
        self._horizon = self._lexemes(self._start, HORIZON)
        self._tried: set[Any] = set()
        edits = Edits(failed, past, self._start, view)
        attempt = None
        if self._start < len(view.text) and not skips:  # else nothing is left to be read
            attempt = self._cheapest(Attempt(past[-1], failed, 0, 0, False, None), edits)
        if attempt is None:
            attempt = self._resumed(edits)
        self.best = self._settled(attempt) if attempt is not None else None
        self.confident = attempt is not None and attempt.read >= CONFIDENCE
        self.short = edits.short

    def _lexemes(self, at: int, number: int) -> list[int]:
        """Where the next lexemes begin, and the one behind them."""
        places = []
        for _ in range(number + 1):
            at = self._view.over_white(at)
            places.append(at)
            if at >= len(self._view.text):
                break
            at = self._view.lexeme(at)
        return places

    # -- edits ------------------------------------------------------------------------------------

    def _cheapest(self, fault: Attempt, edits: Edits) -> Attempt | None:
        """The cheapest edits that come to the horizon, or those that read furthest for their price.

        None if no edits lead to more than a few lexemes.
        """
        order = count()
        waiting = [(0, next(order), 0, fault)]
        best, least = None, float("inf")
        for _ in range(EXPANDED):
            if not waiting:
                break
            _, _, cost, attempt = heappop(waiting)
            if attempt.through:
                return _first_fault(attempt)
            if attempt is not fault:
                edits = edits.behind(attempt.run, attempt.agenda)
            for price, agenda in edits.all():
                trial = self._tried_once(agenda, attempt)
                if trial is None:
                    continue
                if trial.through and price == 1:
                    return _first_fault(trial)
                rank = (cost + price) * WEIGHT - trial.reach
                if trial.read >= CONFIDENCE and rank < least:
                    best, least = trial, rank
                # What was taken back before the fault must help to get past it.
                if trial.reach > attempt.reach or agenda.first() >= edits.fault:
                    heappush(waiting, (rank, next(order), cost + price, trial))
        return _first_fault(best) if best is not None else None

    def _tried_once(self, agenda: Agenda, before: Attempt) -> Attempt | None:
        """What comes of an edit; None if it leads to where another one has led."""
        ((at, bucket),) = agenda.threads.items()
        key = (at, frozenset(bucket))
        if key in self._tried or not bucket:
            return None
        self._tried.add(key)
        return self._attempt(agenda, before, self._horizon)

    def _attempt(self, agenda: Agenda, before: Attempt | None, lexemes: list[int]) -> Attempt:
        view, at = self._view, agenda.first() - self._view.start
        if at >= lexemes[-1]:
            lexemes = self._lexemes(at, CONFIDENCE)
        end = lexemes[-1]
        closed = view.closed and end == len(view.text)
        run = _Trial(view.skipper, view.text[:end], view.start, closed, agenda)
        run.run()
        if run.accepted or run.waiting:
            return Attempt(agenda, run, HORIZON + 1, CONFIDENCE, True, before)
        reach = bisect_left(lexemes, view.over_white(run.last - view.start))
        read = reach - bisect_left(lexemes, max(at, self._start))
        return Attempt(agenda, run, reach, read, False, before)

    def _settled(self, attempt: Attempt) -> Agenda:
        """Of threads that stand for several edits the first that reads as far as all together."""
        ((at, bucket),) = attempt.agenda.threads.items()
        for key, thread in bucket.items() if len(bucket) > 1 else ():
            agenda = Agenda({at: {key: thread}}, {}, frozenset())
            alone = self._attempt(agenda, attempt.before, self._horizon)
            if (alone.through, alone.reach) == (attempt.through, attempt.reach):
                return agenda
        return attempt.agenda

    # -- skipping ---------------------------------------------------------------------------------

    def _resumed(self, edits: Edits) -> Attempt | None:
        """Going on behind skipped text, at the first place from which enough is read."""
        best = None
        for agenda in edits.resumptions():
            lexemes = self._lexemes(agenda.first() - self._view.start, CONFIDENCE)
            attempt = self._attempt(agenda, None, lexemes)
            if attempt.read > (best.read if best is not None else 0):
                best = attempt
            if attempt.read >= CONFIDENCE:
                break
        return best


def _first_fault(attempt: Attempt) -> Attempt:
    """As many edits of a sequence as are one fault: up to the first behind which enough is read.

    If that takes too many, up to one that gets past the fault.
    """
    edits = [attempt]
    while edits[-1].before is not None:
        edits.append(edits[-1].before)
    for number, each in enumerate(edits[-2::-1], 1):
        if each.read >= CONFIDENCE or (number >= TOGETHER and each.reach > 0):
            return each
    return attempt


class _Trial(Machine):
    """A run that notes the position processed last."""

    last = -1

    def step(self) -> None:
        """Process the first position."""
        self.last = min(self.threads)
        super().step()
