"""Where a finished text goes back to that its language refuses.

A language may know more than grammar and constraints can say: its own compiler, processors that are
registered with textX. That shows on the finished text alone, and may have its reason anywhere in
it: first the place of the fault is written anew, and where that does not help, half of what stood
before it, and half of that.
"""

from __future__ import annotations

from bisect import bisect_right

from language_server.decoding.run import Run
from language_server.diagnostic import Diagnostic


class Refused:
    """The texts of one run that its language has refused."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._blamed = -1  # the farthest place that was at fault
        self._back = run.budget  # where the last text went back to

    def places(self, fault: Diagnostic) -> list[int]:
        """The model's choices that are worth another try, the first one to be tried first."""
        run = self._run
        choices = [place for place in range(run.length) if run.path[place].origin == "model"]
        place = self._place(fault)
        return choices[: max(1, bisect_right(choices, place))][::-1]

    def go_back(self, place: int) -> None:
        """Write the text anew from a place on, and never as it was up to behind that place."""
        run = self._run
        self._back = place
        end = place + 1
        while end < run.length and run.state_at(end).pending:
            end += 1  # half a character has not changed the text yet
        run.exclude(run.state_at(end).guide.text)
        run.back_to(place, "another text is tried")

    def _place(self, fault: Diagnostic) -> int:
        run = self._run
        if fault.start <= run.start_length:  # no place is told, or none that could be mended
            return min(run.length, self._back) // 2
        blamed = bisect_right([len(step.state.guide.text) for step in run.path], fault.start)
        if blamed <= self._blamed:
            return self._back // 2
        self._blamed = blamed
        return blamed
