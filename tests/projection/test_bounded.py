"""Verdicts on random small languages against two judges that share no code with the product.

All texts up to some tokens are enumerated, loaded by textX and judged by the plain Python of
`boxes`; texts of 5 to 60 items are put to z3 (`boxes_z3`). Nothing that can be completed is
rejected, what is called completable is with the witness it names, no witness has more than 1.2
times the fewest tokens, and the share of *unknown* is printed (``pytest -s``).
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from language_server.languages import Language
from language_server.languages.language import Definition, build
from language_server.projection import Effort, Prefix, Verdict
from tests.projection.boxes import Family, Judge, drawn_text, enumerated
from tests.projection.boxes_z3 import can_end

NAMES = ("a", "b")
#: Tokens of the longest enumerated text.
LENGTH = 9
EFFORT = Effort(texts=30, pools=(2, 5), conflicts=1000)


@dataclass
class Tally:
    """What was asked and found.

    Attributes:
        answers: how often each answer was given.
        provable: how often "unknown" was answered where there is no completion.
        undecided: how often the judge did not find out.
        longer: witnesses of more than 1.2 times the fewest tokens, with their texts.
    """

    answers: Counter[str] = field(default_factory=Counter)
    provable: int = 0
    undecided: int = 0
    longer: list[tuple[str, str]] = field(default_factory=list)

    def report(self) -> None:
        """Prints what was found; no witness is much longer than the shortest."""
        asked, unknown = self.answers.total(), self.answers["unknown"]
        print(
            f"{asked} verdicts: {dict(self.answers)}; unknown {unknown / max(1, asked):.1%}, of "
            f"which {self.provable} have no completion; {len(self.longer)} witnesses have more "
            f"than 1.2 times the fewest tokens; {self.undecided} not decided by the judge"
        )
        assert not self.longer


def words(text: str) -> list[str]:
    return re.findall(r"[\w+-]+|\S", text)


def language(family: Family, folder: Path) -> Language:
    """The product's reading of a family."""
    (folder / "boxes.tx").write_text(family.grammar, encoding="utf-8")
    (folder / "boxes.problem").write_text(family.problem, encoding="utf-8")
    return build(Definition("boxes", folder / "boxes.tx", folder / "boxes.problem"))


class Trial:
    """The product and the judges on one language."""

    def __init__(self, family: Family, folder: Path, tally: Tally) -> None:
        self.family, self._tally = family, tally
        self.judge, self._loaded = Judge(family), language(family, folder)

    def ask(self, begun: tuple[str, ...], can_end: Callable[[int | None], bool]) -> None:
        """Compares one verdict.

        Args:
            can_end: says whether at most so many tokens, or any number, complete the beginning.
        """
        text = " ".join(begun) + " "
        verdict = Prefix.start(self._loaded).advance(text).completable(EFFORT)
        self._tally.answers[verdict.answer] += 1
        try:
            self._compare(begun, verdict, can_end)
        except TimeoutError:
            self._tally.undecided += 1

    def _compare(
        self, begun: tuple[str, ...], verdict: Verdict, can_end: Callable[[int | None], bool]
    ) -> None:
        text = " ".join(begun) + " "
        if verdict.answer == "yes":
            witness = verdict.witness or ""
            assert self.judge.accepts(text + witness), (self.family, text, witness)
            shorter = math.ceil(len(words(witness)) / 1.2) - 1
            if shorter >= 0 and can_end(shorter):
                self._tally.longer.append((text, witness))
        elif verdict.answer == "no":
            assert not can_end(None), (self.family, text, verdict.reasons)
        elif not can_end(None):
            self._tally.provable += 1


def check_enumerated(family: Family, folder: Path, share: int, tally: Tally) -> None:
    """One in ``share`` of the beginnings of all short texts."""
    trial = Trial(family, folder, tally)
    fewest: dict[tuple[str, ...], int] = {}
    beginnings: dict[tuple[str, ...], None] = {}
    for tokens in enumerated(family, LENGTH, NAMES):
        consistent = trial.judge.accepts(" ".join(tokens))
        for end in range(1, len(tokens) + 1):
            beginnings[tokens[:end]] = None
            if consistent:
                fewest[tokens[:end]] = min(fewest.get(tokens[:end], LENGTH), len(tokens) - end)

    def can_end(begun: tuple[str, ...], most: int | None) -> bool:
        return begun in fewest and (most is None or fewest[begun] <= most)

    for begun in sorted(beginnings)[::share]:
        trial.ask(begun, partial(can_end, begun))


def check_drawn(
    family: Family, folder: Path, source: random.Random, size: int, count: int, tally: Tally
) -> None:
    """Beginnings of random texts of so many items, as z3 sees them."""
    trial = Trial(family, folder, tally)
    for _ in range(count):
        begun = drawn_text(family, source, size)
        trial.ask(begun, partial(can_end, family, begun))


#: Items of the drawn texts, and how many beginnings of each language are asked at length.
SIZES = {5: 60, 8: 50, 12: 40, 20: 20, 40: 8, 60: 4}


def test_short_texts(tmp_path: Path) -> None:
    """Some beginnings in each of three languages."""
    tally = Tally()
    for seed in range(3):
        check_enumerated(Family.drawn(random.Random(seed)), tmp_path, 50, tally)
    tally.report()


def test_longer_texts(tmp_path: Path) -> None:
    """A few beginnings in each of some languages."""
    tally = Tally()
    for seed in range(6):
        source = random.Random(f"drawn {seed}")
        check_drawn(Family.drawn(source), tmp_path, source, list(SIZES)[seed % 3], 8, tally)
    tally.report()


@pytest.mark.long
def test_many_short_texts(tmp_path: Path) -> None:
    """Some 14,000 verdicts."""
    tally = Tally()
    for seed in range(50):
        check_enumerated(Family.drawn(random.Random(seed)), tmp_path, 10, tally)
    tally.report()


@pytest.mark.long
def test_many_longer_texts(tmp_path: Path) -> None:
    """Some 10,000 verdicts."""
    tally = Tally()
    for seed in range(330):
        source = random.Random(f"drawn {seed}")
        size = list(SIZES)[seed % len(SIZES)]
        check_drawn(Family.drawn(source), tmp_path, source, size, SIZES[size], tally)
    tally.report()


def test_what_the_grammar_has_no_place_for_any_more(tmp_path: Path) -> None:
    """Behind 'uses' a box cannot get the step that it needs."""
    family = Family(must_step=True, before=None, uses=None, nested=False, rules=())
    loaded = language(family, tmp_path)
    for text, answer in {"model box a ": "yes", "model box a uses a": "no"}.items():
        assert Prefix.start(loaded).advance(text + " ").completable().answer == answer
        assert can_end(family, tuple(text.split())) == (answer == "yes")


def test_what_only_an_opposite_would_state(tmp_path: Path) -> None:
    """No text states `before`: a box that has ended cannot get its step there."""
    family = Family(must_step=True, before=1, uses=None, nested=False, rules=())
    loaded = language(family, tmp_path)
    for text in ("model box a box b", "model box a to a box b to a"):
        assert not Prefix.start(loaded).advance(text + " ").alive
        assert not can_end(family, tuple(text.split()))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("box a uses b pin b", "yes"),  # no reference means both of them
        ("pin b to b box a uses b", "no"),
        ("box a uses b pin b to b", "no"),
        ("pin b box a to b uses b", "no"),
        ("box a to b uses b box b", "yes"),
        ("box a uses b to b pin b", "no"),  # and that is no text
    ],
)
def test_what_would_make_a_name_ambiguous(text: str, answer: str, tmp_path: Path) -> None:
    """T23: a reference to any item is ambiguous once the box is declared that another one needs."""
    family = Family(must_step=False, before=None, uses=None, nested=False, rules=())
    begun, judge = ("model", *text.split()), Judge(family)
    found = Prefix.start(language(family, tmp_path)).advance(" ".join(begun) + " ").completable()
    assert found.answer == answer
    behind = ("", " box b", " pin b", " box b box b", " to a", " box c")
    assert any(judge.accepts(" ".join(begun) + more) for more in behind) == (answer == "yes")
