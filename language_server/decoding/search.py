"""Search for good texts: several beginnings grow side by side, a syntactic unit at a time.

A *branch* is a beginning that ends with a unit. It grows by letting the strategy write on until the
next unit has ended, as often as it is to have children; which branches go on is the *order*'s to
say. Under a strategy with a reserve (``assured``) every branch has a finished text too, the one
there would be if the search ended with it: a search that is stopped returns the best of those.

* ``beam`` keeps the likeliest branches of each round (Lowerre's beam search, with the stochastic
  steps of Xie et al. 2023). Ours steps by syntactic units instead of tokens or sentences, so that
  beginnings of a like standing are compared, and has the mean likelihood of a token for its score.
* ``obligations`` grows that branch first which owes least: best-first search in the order of
  uncertainty, as model generators explore partial models. Ours breaks ties by likelihood.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from language_server.decoding.generation import (
    Event,
    EventKind,
    Finish,
    Generation,
    GenerationError,
)
from language_server.decoding.run import Run, Step, Stopped
from language_server.decoding.strategies import strategy_named
from language_server.decoding.strategies.mask import mask
from language_server.decoding.task import Task

# Children of one branch: the fewest that are a choice.
_CHILDREN = 2
# Branches that wait, for each text that is looked for.
_WAITING = 4


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A beginning, and the text there would be if the search ended with it.

    Attributes:
        path: the tokens up to the end of its last unit.
        whole: the tokens of the text.
        made: the text.
        finished: whether it does not go on.
        owed: what the beginning owes (``Guide.obligations``).
    """

    path: tuple[Step, ...]
    whole: tuple[Step, ...]
    made: Generation
    finished: bool
    owed: int

    @property
    def score(self) -> tuple[bool, float]:
        """Orders branches, the best first: what has failed last, else the likelier the better."""
        likelihood = self.made.likelihood
        failed = self.finished and self.made.complete is False
        return failed, 0.0 if likelihood is None else -likelihood


class Search:
    """Writes a task's text as the best of several; the others are in ``found`` afterwards."""

    def __init__(self, order: Order, width: int) -> None:
        """Set up a search.

        Args:
            width: how many texts to look for.
        """
        self.found: tuple[Generation, ...] = ()
        self._order = order
        self._width = width

    def __call__(self, task: Task) -> Generation:
        """The best text.

        Raises:
            GenerationError: see ``Task.write``.
        """
        growth = Growth(task)
        branches = sorted(distinct(self._order(growth, self._width)), key=lambda b: b.score)
        growth.show(branches[0].whole, "the best text")
        self.found = tuple(growth.account(branch) for branch in branches)
        return self.found[0]


class Growth:
    """The branches of one task, grown over one context of the model."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._context = task.start()
        self._marks_unit = "token" if strategy_named(task.strategy).run is mask else "snapshot"
        self._drawn = 0
        self._shown: tuple[Step, ...] = ()
        self._began = time.perf_counter()
        self._spent = {"model": 0.0, "syntax": 0.0, "semantics": 0.0}
        self._rejections = self._backtracks = 0

    @property
    def is_over(self) -> bool:
        """Whether the time is up or the request was cancelled."""
        return self._drawn > 0 and self._task.limits.stop()

    def child(self, parent: Branch | None) -> Branch:
        """The beginning of ``parent``, or none, and one unit more; never the same draw twice."""
        path = parent.path if parent is not None else ()
        self.show(path, "another way is tried")
        task = replace(
            self._task, seed=self._task.seed + self._drawn, on_event=lambda event: hear(event)
        )
        self._drawn += 1
        run = task.run(self._context)
        cut: tuple[Step, ...] | None = None

        def hear(event: Event) -> None:
            nonlocal cut
            if cut is not None:
                return  # the reserve is being written
            self._tell(event)
            if event.kind == self._marks_unit and _ends_unit(run, len(path)):
                cut = tuple(run.path)
                raise Stopped("budget")

        try:
            run.begin(path)
            finish = task.grow(run)
        except GenerationError:
            if parent is None:
                raise
            return replace(parent, path=parent.whole, finished=True)  # its own reserve has to do
        finally:
            self._count(run)
        whole = tuple(run.path)
        self._shown = whole if cut is None else cut
        return Branch(
            self._shown,
            whole,
            replace(task.generation(run, finish), seed=self._task.seed),
            cut is None,
            (cut[-1].state if cut else run.state).guide.judged.obligations,
        )

    def show(self, path: tuple[Step, ...], why: str) -> None:
        """Tell that the text is now that of ``path``."""
        shared = 0
        while shared < min(len(path), len(self._shown)) and path[shared] is self._shown[shared]:
            shared += 1
        if shared < len(self._shown):
            self._tell(Event("backtrack", "", self._length(path[:shared]), shared, why))
        for place in range(shared, len(path)):
            origin = path[place].origin
            kind: EventKind = "token" if origin == "model" else origin
            length = self._length(path[: place + 1])
            text = path[place].state.guide.text[len(self._task.guide.text) :]
            begun = self._length(path[:place])
            self._tell(Event(kind, text[begun:length], length, place + 1))
        self._shown = path

    def account(self, branch: Branch) -> Generation:
        """The text of a branch with the work of the whole search."""
        finish: Finish = branch.made.finish
        cancel = self._task.limits.cancel
        cancelled = cancel is not None and cancel.is_set()
        if not branch.finished or (cancelled and finish == "budget"):
            finish = "cancelled" if cancelled else "deadline"
        return replace(
            branch.made,
            finish=finish,
            model_calls=self._context.calls,
            rejections=self._rejections,
            backtracks=self._backtracks,
            seconds={**self._spent, "total": time.perf_counter() - self._began},
        )

    def _length(self, path: tuple[Step, ...]) -> int:
        """Characters of the generated text behind a path."""
        begun = len(self._task.guide.text)
        return len(path[-1].state.guide.text) - begun if path else 0

    def _tell(self, event: Event) -> None:
        if self._task.on_event is not None:
            self._task.on_event(event)

    def _count(self, run: Run) -> None:
        self._context.rewind(run.length)
        self._rejections += run.rejections
        self._backtracks += run.backtracks
        for part in self._spent:
            self._spent[part] += getattr(run.clock, part)


Order = Callable[[Growth, int], list[Branch]]


def beam(growth: Growth, width: int) -> list[Branch]:
    """Grow the likeliest branches until those that are left have all ended."""
    kept = [growth.child(None) for _ in range(_CHILDREN * width) if not growth.is_over]
    while True:
        kept = sorted(distinct(kept), key=lambda branch: branch.score)[:width]
        growing = [branch for branch in kept if not branch.finished]
        if not growing or growth.is_over:
            return kept
        children = -(-_CHILDREN * width // len(growing))
        kept = [branch for branch in kept if branch.finished]
        for branch in growing:
            kept += [growth.child(branch) for _ in range(children) if not growth.is_over] or [
                branch
            ]


def fewest_obligations(growth: Growth, width: int) -> list[Branch]:
    """Grow the branch that owes least until enough have ended."""
    ended: list[Branch] = []
    waiting: list[Branch] = []
    parent: Branch | None = None
    while True:
        for _ in range(_CHILDREN if parent else width):
            if not growth.is_over:
                child = growth.child(parent)
                (ended if child.finished else waiting).append(child)
        waiting = sorted(distinct(waiting), key=lambda branch: (branch.owed, branch.score))
        ended = distinct(ended)
        if growth.is_over:
            return ended + waiting
        if not waiting or len(ended) >= width:
            return ended
        parent, *waiting = waiting[: _WAITING * width]


SEARCHES: Mapping[str, Order] = {"beam": beam, "obligations": fewest_obligations}


def distinct(branches: Iterable[Branch]) -> list[Branch]:
    """The branches without those whose text another one has."""
    first: dict[tuple[str, bool], Branch] = {}
    for branch in branches:
        text = branch.path[-1].state.guide.text if branch.path else ""
        first.setdefault((text, branch.finished), branch)
    return list(first.values())


def _ends_unit(run: Run, since: int) -> bool:
    """Whether a unit has ended behind the first ``since`` tokens."""
    state = run.state
    return not state.pending and state.guide.ends_unit(len(run.state_at(since).guide.text))
