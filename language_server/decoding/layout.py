"""The layout policy: limits that are ours, not the language's.

A language with free white space, comments and unbounded literals lets a model write for ever
without saying anything. The policy caps such runs. It is shared by all constrained strategies,
and it never
decides: where every continuation breaks a cap, the caps are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from language_server.decoding.guide import Guide


@dataclass(frozen=True, slots=True)
class LayoutPolicy:
    """Caps, each in characters (``newlines``: in line ends); None is no cap.

    Attributes:
        spaces: a run of blanks, tabs and carriage returns.
        newlines: line ends in a run of white space.
        digits: a run of digits, in bytes: beyond ASCII one may take several tokens.
        word: a run of letters, digits and underscores.
        comment: one comment.
        aside: white space and comments between two pieces of text that say something.
        literal: one terminal (a string, a number, a name), as far as the guide tells where it
            began.
        rounds: lines in a row, or passages of some, that are alike but for their numbers: what is
            more counts as going in circles (`drift.py`), which is no cap on tokens.
        canonical: whether white space and what it leads to is written as the language's examples
            have it wherever they leave no choice, without asking the model; it may write more.
    """

    spaces: int | None = 16
    newlines: int | None = 2
    digits: int | None = 9
    word: int | None = 32
    comment: int | None = 120
    aside: int | None = 160
    literal: int | None = 80
    rounds: int = 3
    canonical: bool = False

    @staticmethod
    def free() -> LayoutPolicy:
        """No cap at all."""
        return LayoutPolicy(None, None, None, None, None, None, None)

    def widened_to(self, texts: Iterable[str]) -> LayoutPolicy:
        """This policy with room for everything that occurs in ``texts`` (a language's examples)."""
        text = "\n\x00\n".join(texts)
        # Comments and strings take at most the line they stand on, nearly always.
        line = _longest(re.findall(r".+", text))
        return LayoutPolicy(
            spaces=_wider(self.spaces, _longest(re.findall(r"[ \t\r]+", text))),
            newlines=_wider(
                self.newlines, max(map(_line_ends, re.findall(r"\s*\n\s*", text)), default=0)
            ),
            digits=_wider(
                self.digits, max((len(run.encode()) for run in re.findall(r"\d+", text)), default=0)
            ),
            word=_wider(self.word, _longest(re.findall(r"\w+", text))),
            comment=_wider(self.comment, line),
            aside=_wider(self.aside, _longest_aside(text)),
            literal=_wider(self.literal, _longest(re.findall(r'"[^"\n]*"', text))),
            rounds=max(self.rounds, most_rounds(text)),
            canonical=self.canonical,
        )

    def forbids(self, runs: _Runs) -> bool:
        """Whether a run of white space, digits or letters is too long."""
        return (
            _over(self.spaces, runs.spaces)
            or _over(self.newlines, runs.newlines)
            or _over(self.digits, runs.digits)
            or _over(self.word, runs.word)
        )

    def start(self, guide: Guide) -> Layout:
        """The state behind the text of ``guide``."""
        runs = _Runs()
        for character in guide.text[-256:]:
            runs = runs.after(character)
        return Layout(self, runs)


def rounds_at_end(lines: Sequence[str]) -> tuple[int, int]:
    """How often the lines at the end have said the same, numbers aside, and in how many lines.

    Returns:
        The most rounds of a passage of a few lines with some letters in it, and its lines.
    """
    best = (1, 0)
    for period in range(1, min(_ROUND, len(lines) // 2) + 1):
        rounds, passage = 1, lines[-period:]
        if sum(map(str.isalpha, "".join(passage))) < _LETTERS:
            continue
        while lines[len(lines) - (rounds + 1) * period : len(lines) - rounds * period] == passage:
            rounds += 1
        best = max(best, (rounds, period), key=lambda found: found[0])
    return best


def without_numbers(text: str) -> list[str]:
    """The lines that say something, their numbers left out."""
    return [re.sub(r"\b\d+\b", "", line) for line in text.splitlines() if line.strip()]


def most_rounds(text: str) -> int:
    """The most rounds anywhere in a text, see :func:`rounds_at_end`."""
    lines = without_numbers(text)
    ends = range(1, len(lines) + 1)
    return max((rounds_at_end(lines[max(0, end - 64) : end])[0] for end in ends), default=1)


def _wider(cap: int | None, seen: int) -> int | None:
    return None if cap is None else max(cap, seen)


def _longest(pieces: Iterable[str]) -> int:
    return max(map(len, pieces), default=0)


def _line_ends(space: str) -> int:
    return space.count("\n")


def _longest_aside(text: str) -> int:
    """Of the lines that begin like comments, the most in a row, in characters."""
    longest = length = 0
    for line in text.split("\n"):
        beside = not line.strip() or line.lstrip()[0] in _MAY_OPEN_COMMENTS
        length = length + len(line) + 1 if beside else 0
        longest = max(longest, length)
    return longest


# Lines of a passage that may come round, at most, and letters in it, at least.
_ROUND, _LETTERS = 4, 6
# A comment begins with some of these; they say nothing until it is clear that none has begun.
_MAY_OPEN_COMMENTS = "/*#%-"


@dataclass(frozen=True, slots=True)
class _Runs:
    """Lengths of the runs that are open at the end of a text."""

    spaces: int = 0
    newlines: int = 0
    digits: int = 0
    word: int = 0
    comment: int = 0
    aside: int = 0
    literal: int = 0

    def after(self, character: str) -> _Runs:
        """The white space, digits and words one character later; the rest is the guide's to say."""
        if character == "\n":
            return _Runs(newlines=self.newlines + 1)
        if character in " \t\r":
            return _Runs(spaces=self.spaces + 1, newlines=self.newlines)
        digits = self.digits + len(character.encode()) if character.isdigit() else 0
        word = self.word + 1 if character == "_" or character.isalnum() else 0
        return _Runs(digits=digits, word=word)


@dataclass(frozen=True, slots=True)
class Layout:
    """A policy and the runs that are open at the end of a text."""

    policy: LayoutPolicy
    runs: _Runs

    def after(self, text: str, guide: Guide) -> Layout:
        """The layout behind ``text``; ``guide`` is the prefix that already includes it."""
        runs = self.runs
        for character in text:
            runs = runs.after(character)
        commented = guide.in_comment
        return Layout(
            self.policy,
            replace(
                runs,
                comment=self.runs.comment + len(text) if commented else 0,
                aside=self._aside_after(text, guide),
                literal=0 if commented else _open_literal(guide),
            ),
        )

    def _aside_after(self, text: str, guide: Guide) -> int:
        says_nothing = all(c.isspace() or c in _MAY_OPEN_COMMENTS for c in text)
        if guide.in_comment or self.runs.comment or says_nothing:
            return self.runs.aside + len(text)
        return 0

    def permits(self, text: str, before: Guide, after: Guide) -> bool:
        """Whether ``text``, which leads from one guide to the other, keeps all caps."""
        policy, runs = self.policy, self.runs
        for character in text:
            runs = runs.after(character)
            if policy.forbids(runs):
                return False
        if not after.in_comment:
            return policy.literal is None or not _over(policy.literal, _open_literal(after))
        if self._comment_is_full(len(text)):
            # The beginning of its end is welcome all the same.
            return before.comment_end.startswith(text)
        return True

    def permits_first(self, character: str, guide: Guide) -> bool:
        """Whether some text that begins so keeps all caps behind ``guide``: a first look."""
        if self.policy.forbids(self.runs.after(character)):
            return False
        full = self.runs.comment > 0 and self._comment_is_full(1)
        return not full or not guide.in_comment or character in guide.comment_end

    @property
    def ends_word_soon(self) -> bool:
        """Whether a letter or a digit more may be too much."""
        policy, runs = self.policy, self.runs
        return _over(policy.word, runs.word + 1) or _over(policy.digits, runs.digits + _CODE_POINT)

    def slack(self, guide: Guide) -> int:
        """Characters that may follow in any case without a comment or a literal too long."""
        policy, runs = self.policy, self.runs
        typed = max(map(_typed, guide.expected()), default=0)
        used = ((policy.comment, runs.comment), (policy.aside, runs.aside), (policy.literal, typed))
        return min((cap - length for cap, length in used if cap is not None), default=_ENDLESS)

    def _comment_is_full(self, more: int) -> bool:
        policy, runs = self.policy, self.runs
        return _over(policy.comment, runs.comment + more) or _over(policy.aside, runs.aside + more)


_ENDLESS = 1 << 30
_CODE_POINT = 4  # bytes, at most


def _over(cap: int | None, length: int) -> bool:
    return cap is not None and length > cap


def _open_literal(guide: Guide) -> int:
    """How much is typed of the terminal at the end, where every reading is inside one."""
    lengths = [_typed(expected) for expected in guide.expected()]
    return min(lengths, default=0)


def _typed(expected: Any) -> int:
    return len(expected.typed)
