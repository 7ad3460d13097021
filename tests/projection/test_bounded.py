"""Verdicts on random small languages against two judges that share no code with the product.

All texts up to some tokens are enumerated, loaded by textX and judged by the plain Python of
`boxes`; texts of 5 to 60 items are put to z3 (`boxes_z3`). Nothing that can be completed is
rejected, what is called completable is with the witness it names, and the share of *unknown* and
the length of the witnesses, in tokens, are printed (``pytest -s``).
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from language_server.languages import Language
from language_server.languages.language import Definition, build
from language_server.projection import Effort, Prefix
from tests.projection.boxes import Family, Judge, drawn_text, enumerated
from tests.projection.boxes_z3 import cheapest

NAMES = ("a", "b")
#: Tokens of the longest enumerated text.
LENGTH = 9
EFFORT = Effort(texts=100, pools=(2, 6), conflicts=2000)


@dataclass
class Tally:
    """What was asked and found.

    Attributes:
        answers: how often each answer was given.
        provable: how often "unknown" was answered where there is no completion.
        ratios: tokens of the witness over tokens of the shortest completion, where there is one.
    """

    answers: Counter[str] = field(default_factory=Counter)
    provable: int = 0
    witness: int = 0
    shortest: int = 0
    longer: list[tuple[str, str, int]] = field(default_factory=list)

    def compare(self, text: str, witness: str, shortest: int) -> None:
        tokens = len(words(witness))
        self.witness += tokens
        self.shortest += shortest
        if tokens > 1.2 * shortest:
            self.longer.append((text, witness, shortest))

    def __str__(self) -> str:
        asked = sum(self.answers.values())
        unknown = self.answers["unknown"]
        return (
            f"{asked} verdicts: {dict(self.answers)}; unknown {unknown / max(1, asked):.1%}, "
            f"{self.provable} of them without completion; witnesses have "
            f"{self.witness / max(1, self.shortest):.3f} times the fewest tokens, "
            f"{len(self.longer)} more than 1.2 times"
        )


def words(text: str) -> list[str]:
    return re.findall(r"[\w+-]+|\S", text)


def language(family: Family, folder: Path) -> Language:
    """The product's reading of a family."""
    (folder / "boxes.tx").write_text(family.grammar, encoding="utf-8")
    (folder / "boxes.problem").write_text(family.problem, encoding="utf-8")
    return build(Definition("boxes", folder / "boxes.tx", folder / "boxes.problem"))


def check_enumerated(family: Family, folder: Path, share: int, tally: Tally) -> None:
    """One in ``share`` of the beginnings of all short texts."""
    judge, loaded = Judge(family), language(family, folder)
    texts = enumerated(family, LENGTH, NAMES)
    shortest: dict[tuple[str, ...], int] = {}
    beginnings: dict[tuple[str, ...], None] = {}
    for tokens in texts:
        consistent = judge.accepts(" ".join(tokens))
        for end in range(1, len(tokens) + 1):
            beginnings[tokens[:end]] = None
            if consistent:
                known = shortest.get(tokens[:end], LENGTH)
                shortest[tokens[:end]] = min(known, len(tokens) - end)
    for begun in sorted(beginnings)[::share]:
        text = " ".join(begun) + " "
        verdict = Prefix.start(loaded).advance(text).completable(EFFORT)
        tally.answers[verdict.answer] += 1
        if verdict.answer == "no":
            assert begun not in shortest, (family, text, verdict.reasons)
        elif verdict.answer == "yes":
            assert judge.accepts(text + (verdict.witness or "")), (family, text, verdict.witness)
            if begun in shortest:
                tally.compare(text, verdict.witness or "", shortest[begun])
        elif begun in shortest:
            tally.longer.append((text, "none found", shortest[begun]))


def check_drawn(
    family: Family, folder: Path, source: random.Random, size: int, count: int, tally: Tally
) -> None:
    """Beginnings of random texts of so many items, as z3 sees them."""
    judge, loaded = Judge(family), language(family, folder)
    for _ in range(count):
        begun = drawn_text(family, source, size)
        text = " ".join(begun) + " "
        verdict = Prefix.start(loaded).advance(text).completable(EFFORT)
        fewest = cheapest(family, begun)
        tally.answers[verdict.answer] += 1
        if verdict.answer == "no":
            assert fewest is None, (family, text, verdict.reasons, fewest)
        elif verdict.answer == "yes":
            assert judge.accepts(text + (verdict.witness or "")), (family, text, verdict.witness)
            if fewest is not None:
                tally.compare(text, verdict.witness or "", fewest)
        elif fewest is None:
            tally.provable += 1
        else:
            tally.longer.append((text, "none found", fewest))


#: Languages, and the share of their beginnings or the beginnings of each, by default and at length.
ENUMERATED, DRAWN = (3, 150), (4, 8)
ALL_ENUMERATED, ALL_DRAWN = (40, 10), (120, 30)
SIZES = (5, 8, 12, 20, 40, 60)


def test_short_texts(tmp_path: Path) -> None:
    """A few languages, some beginnings."""
    tally = Tally()
    for seed in range(ENUMERATED[0]):
        check_enumerated(Family.drawn(random.Random(seed)), tmp_path, ENUMERATED[1], tally)
    print(tally)


def test_longer_texts(tmp_path: Path) -> None:
    """A few languages, some beginnings."""
    tally = Tally()
    for seed in range(DRAWN[0]):
        source = random.Random(f"drawn {seed}")
        check_drawn(Family.drawn(source), tmp_path, source, SIZES[seed % 3], DRAWN[1], tally)
    print(tally)


@pytest.mark.long
def test_many_short_texts(tmp_path: Path) -> None:
    """Some 9,000 verdicts."""
    tally = Tally()
    for seed in range(ALL_ENUMERATED[0]):
        check_enumerated(Family.drawn(random.Random(seed)), tmp_path, ALL_ENUMERATED[1], tally)
    print(tally)


@pytest.mark.long
def test_many_longer_texts(tmp_path: Path) -> None:
    """Some 3,600 verdicts."""
    tally = Tally()
    for seed in range(ALL_DRAWN[0]):
        source = random.Random(f"drawn {seed}")
        size = SIZES[seed % len(SIZES)]
        check_drawn(Family.drawn(source), tmp_path, source, size, ALL_DRAWN[1], tally)
    print(tally)


def test_what_the_grammar_has_no_place_for_any_more(tmp_path: Path) -> None:
    """Behind 'uses' a box cannot get the step that it needs."""
    family = Family(must_step=True, before=None, uses=None, nested=False, rules=())
    loaded = language(family, tmp_path)
    for text, answer in {"model box a ": "yes", "model box a uses a": "no"}.items():
        assert Prefix.start(loaded).advance(text + " ").completable().answer == answer
        assert (cheapest(family, tuple(text.split())) is None) == (answer == "no")


def test_what_only_an_opposite_would_state(tmp_path: Path) -> None:
    """No text states `before`: a box that has ended cannot get its step there."""
    family = Family(must_step=True, before=1, uses=None, nested=False, rules=())
    loaded = language(family, tmp_path)
    for text in ("model box a box b", "model box a to a box b to a"):
        assert not Prefix.start(loaded).advance(text + " ").alive
        assert cheapest(family, tuple(text.split())) is None
