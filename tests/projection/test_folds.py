"""What is remembered of a model for all texts that say the same is what a fresh evaluation says."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from language_server.languages import Language, load_language
from language_server.projection import Prefix
from language_server.projection.folds import beginning, fold
from language_server.syntax import Trail

LANGUAGES = ("blocks", "clevr", "flowchart", "requirements", "statechart", "taxonomy")


def is_contradictory(language: Language, trail: Trail) -> bool:
    """With nothing remembered."""
    evaluation = language.constraints.initial(language.given, language.surroundings())
    for event in trail.events():
        if evaluation.contradictions:
            return True  # it holds in every refinement
        evaluation = evaluation.refine(event)
    return bool(evaluation.contradictions)


def with_words_changed(text: str, rng: random.Random) -> str:
    """Two words of a text have changed places, so that it may say what cannot be."""
    one, other = sorted(
        rng.sample(list(re.finditer(r"\w+", text)), 2), key=lambda word: word.start()
    )
    between = text[one.end() : other.start()]
    return text[: one.start()] + other[0] + between + one[0] + text[other.end() :]


def check(name: str, texts: int, seed: int) -> set[bool]:
    """Read texts, each laid out in two ways; which answers there were."""
    language, rng = load_language(name), random.Random(seed)
    initial = beginning(language.constraints, language.given, language.surroundings())
    answers = set()
    for number in range(texts):
        text = rng.choice(language.examples).text
        if number % 2:
            text = with_words_changed(text, rng)
        for layout in (text, text.replace(" ", "  ")):
            prefix = Prefix.start(language)
            for piece in re.findall(r"\s*\S+", layout):
                longer = prefix.advance(piece)
                if not longer.state.alive:
                    break
                prefix = longer
            for trail in {expected.trail for expected in prefix.expected()}:
                remembered = fold(trail, initial).contradictory
                assert remembered == is_contradictory(language, trail), prefix.text
                answers.add(remembered)
    return answers


@pytest.mark.parametrize("name", LANGUAGES)
def test_what_is_remembered_is_what_a_fresh_evaluation_says(name: str) -> None:
    assert check(name, 4, 0)


@pytest.mark.long
@pytest.mark.parametrize("name", LANGUAGES)
def test_what_is_remembered_is_right_for_many_texts(name: str) -> None:
    assert check(name, 80, 1) == {True, False}


def test_how_far_was_looked_ahead_before_changes_nothing(tmp_path: Path) -> None:
    """Behind ``two`` only the forbidden value is left; it ends five keywords behind ``one``."""
    path = tmp_path / "long.tx"
    path.write_text(
        "Log: entries+=Entry;\nEntry: 'log' what=What;\n"
        "What: 'one' ('two' 'three' 'four' 'five' 'six' | 'none');\n",
        encoding="utf-8",
    )
    path.with_suffix(".problem").write_text(
        "class Log { contains Entry[1..*] entries }\nclass Entry { string[1] what }\n"
        'error pred whole(Entry e) <-> what(e) == "onetwothreefourfivesix".\n',
        encoding="utf-8",
    )
    dead = "log one two three"
    assert not Prefix.start(load_language(str(path))).advance(dead).alive
    language = load_language(str(path))
    assert Prefix.start(language).advance("log one").alive
    assert not Prefix.start(language).advance(dead).alive
    assert not language.judge("log one none")
