"""Whether a growing text has lost its way: it goes in circles, or gets nowhere.

A small model under guidance likes what it has just written. *Circling* is one passage, three times
in a row, or lines that come round more often than in any example, their numbers aside, or line
after line that each begin like the one before and say it a little longer.
*Wandering* is to write on and on without a syntactic unit coming to its end. Where that
is seen, the text goes back to where it began - the model's cache with it - and takes another way
from there. A few times that is worth a try: then the model has nothing else to say, and the text is
better ended.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil

from language_server.decoding.layout import rounds_at_end, without_numbers
from language_server.decoding.run import Run

#: Characters of a passage that counts, letters and digits in it, and how often it must stand there.
_SHORTEST, _LONGEST, _WORDS, _TIMES = 6, 400, 4, 3
#: Lines in a row that begin alike, how long they are at least, and the share that is alike.
_LINES, _LINE, _ALIKE = 4, 16, 0.7
#: Tokens without the end of a unit that are wandering.
_FAR = 128
#: How often one text is sent another way before it is better ended.
_TURNS = 2
#: Lines at the end of a text that are looked at.
_LAST_LINES = 64


@dataclass(frozen=True, slots=True)
class Drift:
    """A place to go back to.

    Attributes:
        length: tokens to keep.
        why: for a person.
        again: the token that began the last round of a circle, by its place in the path.
        for_good: whether the text had better be ended there.
    """

    length: int
    why: str
    again: int | None = None
    for_good: bool = False


class DriftControl:
    """Watches one run.

    Attributes:
        units: where syntactic units have ended, in tokens, the beginning first.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._turns = 0  # how often the text has been sent another way
        self._over = False  # whether the text had better be ended
        self.units = [run.length]

    def look(self) -> Drift | None:
        """What has gone wrong at the end of the path, if anything; to be asked after each token."""
        run = self._run
        if not run.limits.drift_control or run.state.pending:
            return None
        self._note_unit()
        if self._over:
            return None
        drift = self._circle() or self._same_lines() or self._wander()
        if drift is None:
            return None
        self._turns += 1
        self._over = drift.for_good or self._turns > _TURNS
        return replace(drift, for_good=self._over)

    def _circle(self) -> Drift | None:
        text = self._run.state.guide.text[self._run.start_length :]
        period = period_of(text)
        if period is None:
            begun = stutter_of(text)
            line = text.rfind("\n", 0, len(text) - 1) + 1
            return self._drift(begun, line, "the same line again, a little changed")
        # Of the passage, the first stays, up to the end of its line where it has lines.
        end = len(text) - (_TIMES - 1) * period
        line = text.find("\n", max(0, end - 1), len(text) - period)
        back = line + 1 if line >= 0 else end
        return self._drift(back, len(text) - period, "the same passage again and again")

    def _same_lines(self) -> Drift | None:
        run = self._run
        text = run.state.guide.text[run.start_length :]
        begun = round_of(text, run.filter.policy.rounds)
        place = self._place(begun) if begun is not None else None
        # Another number would be no other way.
        why = "the same lines with other numbers"
        return None if place is None else Drift(place, why, for_good=True)

    def _drift(self, back: int | None, again: int, why: str) -> Drift | None:
        """Of characters, places in the path."""
        place = self._place(back) if back is not None else None
        return None if place is None else Drift(place, why, self._place(again))

    def _wander(self) -> Drift | None:
        run = self._run
        begun = self.units[-1]
        if run.length - begun >= _FAR and begun > 0:
            self.units.append(run.length)
            return Drift(begun, "no end of what was begun")
        return None

    def _note_unit(self) -> None:
        run = self._run
        while self.units[-1] > run.length:
            self.units.pop()
        if run.state.guide.ends_unit(len(run.state_at(self.units[-1]).guide.text)):
            self.units.append(run.length)

    def _place(self, characters: int) -> int | None:
        """The first choice of the model from so many generated characters on, if there is one."""
        run = self._run
        for length in range(run.length):
            behind = len(run.state_at(length).guide.text) - run.start_length
            if behind >= characters and run.path[length].origin == "model":
                return length
        return None


def round_of(text: str, most: int) -> int | None:
    """Where the second of more than ``most`` rounds begins that the last lines make, if they do.

    Lines that differ in their numbers alone are the same (`layout.rounds_at_end`).
    """
    if not _at_line_end(text):
        return None
    starts = [line.start() for line in re.finditer(r".*\S.*", text)][-_LAST_LINES:]
    rounds, lines = rounds_at_end(without_numbers(text[starts[0] :] if starts else ""))
    return starts[-(rounds - 1) * lines] if rounds > most else None


def stutter_of(text: str) -> int | None:
    """Where the second of some last lines begins if each begins like the one before it."""
    if not _at_line_end(text):
        return None
    lines = [line for line in text.splitlines(keepends=True)[-3 * _LINES :] if line.strip()]
    last = lines[-_LINES:]
    if len(last) < _LINES or not all(_alike(one, two) for one, two in pairwise(last)):
        return None
    begin = len(text)
    for line in reversed(last[1:]):
        begin = text.rindex(line, 0, begin)
    return begin


def _at_line_end(text: str) -> bool:
    """Whether a line has ended, and nothing but the next one's indentation follows."""
    return text.rstrip(" \t").endswith("\n")


def _alike(before: str, line: str) -> bool:
    line, before = line.strip(), before.strip()
    return len(line) >= _LINE and before.startswith(line[: ceil(_ALIKE * len(line))])


def period_of(text: str) -> int | None:
    """The length of the passage that ends a text three times in a row; None if there is none."""
    for period in range(_SHORTEST, min(_LONGEST, len(text) // _TIMES) + 1):
        passage = text[-period:]
        if text.endswith(passage * _TIMES) and sum(map(str.isalnum, passage)) >= _WORDS:
            return period
    return None
