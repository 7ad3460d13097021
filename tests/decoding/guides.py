"""Small honest guides whose right answers are plain to see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal


@dataclass(frozen=True)
class Answer:
    answer: Literal["yes", "no", "unknown"]
    witness: str | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class FiniteGuide:
    """The language is a finite set of texts."""

    texts: tuple[str, ...]
    text: str = ""
    in_comment: bool = False

    @property
    def _open(self) -> list[str]:
        return [text for text in self.texts if text.startswith(self.text)]

    @property
    def alive(self) -> bool:
        return bool(self._open)

    @property
    def complete(self) -> bool:
        return self.text in self.texts

    @property
    def parses(self) -> bool:
        return self.complete

    comment_end = ""
    obligations = 0

    @property
    def judged(self) -> FiniteGuide:
        return self

    def ends_unit(self, since: int) -> bool:
        return False

    future = None

    def openings(self) -> None:
        return None

    def openings_behind(self) -> None:
        return None

    def may_follow(self, char: str) -> bool:
        return self.advance(char).alive

    def advance(self, text: str) -> FiniteGuide:
        return FiniteGuide(self.texts, self.text + text)

    def forced(self) -> str:
        rests = [text[len(self.text) :] for text in self._open]
        common = min(rests, default="")
        while common and not all(rest.startswith(common) for rest in rests):
            common = common[:-1]
        return common

    def usual(self) -> str:
        return ""

    def expected(self) -> Sequence[Any]:
        return [
            SimpleNamespace(terminal=SimpleNamespace(text=text), typed=self.text)
            for text in self._open
        ]

    def completable(self, effort: Any = None) -> Answer:
        rests = sorted((text[len(self.text) :] for text in self._open), key=len)
        return Answer("yes", rests[0]) if rests else Answer("no")


@dataclass(frozen=True)
class BracketGuide:
    """Balanced brackets around words, with white space, comments and a constraint that counts.

    ``group = "(" (word | group)* ")"``; the text is one group. Words are letters and digits; ``#``
    begins a comment to the end of the line. The *constraint*: exactly ``words`` words, and at least
    ``groups`` groups. The mask only sees too many words, not too few groups: dead ends are real.
    """

    words: int
    groups: int
    text: str = ""
    depth: int = 0
    seen_words: int = 0
    seen_groups: int = 0
    in_word: bool = False
    in_comment: bool = False
    dead: bool = False
    started: bool = False
    searches: bool = True

    @property
    def alive(self) -> bool:
        return not self.dead and self.seen_words <= self.words

    @property
    def complete(self) -> bool:
        counted = self.seen_words == self.words and self.seen_groups >= self.groups
        return self.parses and counted

    @property
    def parses(self) -> bool:
        return self.started and self.depth == 0 and not self.dead

    @property
    def comment_end(self) -> str:
        return "\n" if self.in_comment else ""

    @property
    def obligations(self) -> int:
        """The words and groups that are missing."""
        return max(0, self.words - self.seen_words) + max(0, self.groups - self.seen_groups)

    @property
    def judged(self) -> BracketGuide:
        return self

    def ends_unit(self, since: int) -> bool:
        """A closing bracket ends a unit."""
        return not self.in_comment and ")" in self.text[since:]

    future = None

    def openings(self) -> None:
        return None

    def openings_behind(self) -> None:
        return None

    def may_follow(self, char: str) -> bool:
        return self.advance(char).alive

    def advance(self, text: str) -> BracketGuide:
        guide = self
        for character in text:
            guide = guide._step(character)
        return guide

    def _step(self, c: str) -> BracketGuide:
        state = dict(self.__dict__, text=self.text + c)
        if self.in_comment:
            state["in_comment"] = c != "\n"
            return BracketGuide(**state)
        word = c.isalnum()
        state["in_word"] = word
        if c == "#":
            state["in_comment"] = True
        elif c == "(":
            if self.started and self.depth == 0:
                state["dead"] = True
            state.update(depth=self.depth + 1, started=True, seen_groups=self.seen_groups + 1)
        elif c == ")":
            state["depth"] = self.depth - 1
            state["dead"] = self.dead or self.depth < 1
        elif word:
            state["dead"] = self.dead or self.depth == 0
            state["seen_words"] = self.seen_words + (not self.in_word)
        elif not c.isspace():
            state["dead"] = True
        return BracketGuide(**state)

    def forced(self) -> str:
        return "(" if not self.text else ""

    def usual(self) -> str:
        return ""

    def expected(self) -> Sequence[Any]:
        return ()

    def completable(self, effort: Any = None) -> Answer:
        if not self.alive:
            return Answer("no", None, ("too many words",))
        if not self.searches:
            return Answer("unknown", None, ("not searched",))
        if self.started and self.depth == 0 and not self.complete:
            return Answer("no", None, ("the text is closed",))
        witness = "\n" if self.in_comment else ""
        if not self.started:
            witness += "("
        groups = self.groups - self.seen_groups - (not self.started)
        witness += "()" * max(0, groups)
        missing = self.words - self.seen_words
        if missing and self.in_word and not self.in_comment and not witness:
            witness += " "
        witness += " ".join("a" * missing)
        witness += ")" * max(self.depth, 0 if self.started else 1)
        return Answer("yes", witness)
