"""The machine that runs threads over a text.

Threads are processed position by position, all threads of a position together, so that equal ones
merge and each terminal is matched once. Where a later branch of a choice is followed although an
earlier one may still succeed, its threads carry the earlier branch's ``Guard`` as a condition;
conditions are settled as soon as the text decides them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from language_server.syntax.agenda import Agenda, Waiting
from language_server.syntax.bucket import Bucket
from language_server.syntax.events import Trail
from language_server.syntax.frames import (
    NONE,
    UNDECIDED,
    Conditions,
    Frame,
    Guard,
    Thread,
)
from language_server.syntax.rush import rush
from language_server.syntax.slots import Layout, Slot
from language_server.syntax.survey import Survey

if TYPE_CHECKING:
    from language_server.syntax.layout import Skipper


#: Threads that come back to a position so often repeat what reads nothing: textX would never come
#: back from it.
MOST_RETURNS = 100


class Machine:
    """One run over a text.

    Attributes:
        base: the agenda before the first position that the end of the text leaves undecided.
        waiting: the threads in front of undecided terminals.
        accepted: threads that have read the whole text.
        furthest: the last position at which a terminal was tried in vain.
        blamed: the last position that textX would blame: a predicate fails before the white space
            in front of what it looks at.
        tried: the threads in front of the terminals tried there.
        thorough: whether terminals are tried although the next character rules them out, so that
            ``tried`` is complete.
        sure_start: the last agenda with a single thread.
        sure_base: the last one with a single thread that is not behind ``base``.
        comments: where the comments at a position end; found once for all terminals, as Arpeggio
            does.
        skipped: what has been skipped up to the end of the text, or to a comment that it leaves
            open, by whom, in order: the first decides where comments end for all.
        in_comment: whether a comment is being read, which holds no comments itself.
        looks: the threads at predicates that ask for what stands behind the end of the text.
    """

    def __init__(
        self, skipper: Skipper, text: str, shift: int, closed: bool, agenda: Agenda
    ) -> None:
        self.skipper = skipper
        self.text = text
        self.shift = shift
        self.closed = closed
        self.threads = {at: dict(bucket) for at, bucket in agenda.threads.items()}
        self.open = agenda.open
        self.won = agenda.won
        self.base: Agenda | None = None
        self.waiting: list[Waiting] = []
        self.accepted: list[Thread] = []
        self.furthest = -1
        self.blamed = -1
        self.tried: list[Waiting] = []
        self.comments: dict[int, int] = {}
        self.skipped: dict[Layout, None] = {}
        self.in_comment = False
        self.thorough = False
        self.looks: list[Thread] = []
        self.sure_start = agenda
        self.sure_base = agenda
        self._at = -1
        self._returns = 0

    def run(self) -> None:
        """Process all positions."""
        while self.threads:
            if len(self.threads) == 1:
                rush(self)
                if not self.threads:
                    return
            self.step()

    def advance(self) -> bool:
        """Process the positions that the end of the text leaves decided, and others as needed.

        Returns:
            Whether some text may follow. ``base`` is set if so; ``waiting`` need not be complete.
        """
        while self.threads:
            if len(self.threads) == 1 and rush(self):
                self.base = self.sure_base = Agenda(self.threads, self.open, self.won)
                return True
            self.step()
            if self.base is not None:
                self.run()
        return bool(self.waiting)

    def finish(self) -> bool:
        """Process all positions of a whole text.

        Returns:
            Whether the text has been read.
        """
        self.run()
        self.accepted = [thread for thread in self.accepted if not thread.conditions]
        return bool(self.accepted)

    def step(self) -> None:
        """Process the first position."""
        at = min(self.threads)
        if len(self.threads) == 1 and len(self.threads[at]) == 1 and not self.open:
            self.sure_start = Agenda({at: self.threads[at]}, {}, self.won)
        self._returns = self._returns + 1 if at == self._at else 0
        self._at = at
        if self._returns > MOST_RETURNS:
            del self.threads[at]
            return
        run = Bucket(self, at)
        opened, won = self.open, self.won
        run.process(list(self.threads[at].values()))
        if run.undecided and self.base is None:
            self.base = Agenda({p: dict(b) for p, b in self.threads.items()}, opened, won)
            self.sure_base = self.sure_start
        del self.threads[at]
        for end, thread in run.arrivals:
            self.threads.setdefault(end, {}).setdefault(thread.key(), thread)
        if self.open or self.won:
            self._settle()

    def accept(self, thread: Thread, at: int) -> None:
        """Note that ``thread`` has read everything it was asked to read, up to ``at``."""
        self.accepted.append(thread)

    # -- guards -----------------------------------------------------------------------------------

    def pending(self, conditions: Conditions) -> Conditions:
        """The conditions that are not yet known to hold."""
        if not conditions:
            return NONE
        return frozenset(
            guard
            for guard in conditions
            if guard in self.open or guard in self.won or guard is UNDECIDED
        )

    def _settle(self) -> None:
        """Decide guards, drop threads whose conditions have failed, forget what nobody asks for."""
        self.open = dict(self.open)
        survey = self._survey()
        while self._decide(survey.inside):
            survey = self._survey()
        named = survey.named
        for alternatives in self.open.values():
            for conditions in alternatives:
                named |= conditions
        self.open = {guard: value for guard, value in self.open.items() if guard in named}
        self.won = self.won & survey.lost
        self._keep(survey.dead)

    def _decide(self, inside: set[Guard]) -> bool:
        changed = False
        for guard, alternatives in list(self.open.items()):
            left = []
            for conditions in alternatives:
                if self.won.isdisjoint(conditions):
                    left.append(
                        frozenset(g for g in conditions if g in self.open or g is UNDECIDED)
                    )
            if any(not conditions for conditions in left):
                del self.open[guard]
                self.won |= {guard}
                changed = True
            elif not left and guard not in inside:
                del self.open[guard]
                changed = True
            else:
                self.open[guard] = tuple(dict.fromkeys(left))
        return changed

    def _survey(self) -> Survey:
        survey = Survey(self.won)
        for bucket in self.threads.values():
            for thread in bucket.values():
                survey.see(thread)
        for waiting in self.waiting:
            survey.see(waiting.thread)
        for thread in self.accepted:
            survey.see(thread)
        return survey

    def _keep(self, dead: set[int]) -> None:
        for at, bucket in list(self.threads.items()):
            kept: dict[Any, Thread] = {}
            for thread in bucket.values():
                if id(thread) not in dead:
                    settled = self._settled(thread)
                    kept.setdefault(settled.key(), settled)
            if kept:
                self.threads[at] = kept
            else:
                del self.threads[at]
        self.waiting = [w for w in self.waiting if id(w.thread) not in dead]
        self.accepted = [self._settled(t) for t in self.accepted if id(t) not in dead]

    def _settled(self, thread: Thread) -> Thread:
        conditions = self.pending(thread.conditions)
        if conditions == thread.conditions:
            return thread
        return Thread(
            thread.slot,
            thread.frame,
            thread.trail,
            thread.pending,
            thread.parts,
            thread.end,
            conditions,
            thread.inside,
        )

    # -- looking ahead ----------------------------------------------------------------------------

    def ahead(self, probe: Slot, at: int) -> bool | None:
        """Whether the text from ``at`` can be read from ``probe``; None if that is undecided."""
        return self._reach(probe, at, self.in_comment)[0]

    def comment(self, probe: Slot, at: int) -> tuple[bool | None, int]:
        """Whether a comment read from ``probe`` stands at ``at``, and where it ends."""
        return self._reach(probe, at, True)

    def _reach(self, probe: Slot, at: int, in_comment: bool) -> tuple[bool | None, int]:
        frame = Frame(None, at, None, None, Trail.root(), None, None)
        thread = Thread(probe, frame, frame.trail, None, None, at)
        agenda = Agenda({at: {thread.key(): thread}}, {}, frozenset())
        trial = _Trial(self.skipper, self.text, self.shift, self.closed, agenda)
        trial.in_comment = in_comment
        trial.comments = self.comments
        trial.run()
        for reached, thread in trial.reached:
            if not trial.pending(thread.conditions) and id(thread) in map(id, trial.accepted):
                return True, reached
        if trial.waiting:
            return None, trial.reached[0][0] if trial.accepted else -1
        settled = [
            (reached, thread) for reached, thread in trial.reached if thread in trial.accepted
        ]
        return (True, settled[0][0]) if settled else (False, -1)


class _Trial(Machine):
    """A run that only asks whether and where an expression ends."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.reached: list[tuple[int, Thread]] = []

    def accept(self, thread: Thread, at: int) -> None:
        """Note the position, too."""
        super().accept(thread, at)
        self.reached.append((at, thread))

    def _settled(self, thread: Thread) -> Thread:
        thread.conditions = self.pending(thread.conditions)
        return thread
