"""What a language knows beyond grammar and constraints has its word in what is completable.

The shipped languages of problem files and of grammars have rules of their own, a language that is
registered with textX may have processors: no text that they refuse is a witness.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from textx import TextXSemanticError, metamodel_from_str

from language_server.languages import Language, load_language
from language_server.languages.language import Definition, build
from language_server.projection import Effort, Prefix
from language_server.workspace.catalogue import Catalogue

HERE = Path(__file__).resolve().parents[2]
FILES = {
    "problem": HERE / "metamodels" / "taxonomy.problem",
    "textx": HERE / "grammars" / "taxonomy.tx",
}


def check(language: Language, text: str) -> str:
    """The answer; a witness has no error by the final word on the text."""
    verdict = Prefix.start(language).advance(text).completable(Effort(texts=30, pools=(2,)))
    if verdict.answer == "yes":
        whole = text + str(verdict.witness)
        found = (*language.problems(whole), *language.judge(whole))
        assert not [each.message for each in found if each.severity == "error"], (text, whole)
    return verdict.answer


@pytest.mark.parametrize(
    ("name", "text", "answer", "reason"),
    [
        ("problem", "class A {} class ", "yes", ""),
        ("problem", "class A extends B", "unknown", "class 'B' is not declared"),
        ("problem", "pred p(A a) <-> ", "unknown", "'A' is not declared"),
        ("problem", "class A {}\nA(a).\n!A", "yes", ""),  # A takes one argument
        ("textx", "Model: ", "yes", ""),  # a rule that is nothing but itself is none
        ("textx", "Model: 'x' name=ID; Other: ", "yes", ""),
        ("textx", "Model: /(", "unknown", "this is no regular expression"),
        ("textx", "Model[", "unknown", "rules have no parameter 1"),
    ],
)
def test_own_rules_of_shipped_languages(name: str, text: str, answer: str, reason: str) -> None:
    language = load_language(name)
    assert check(language, text) == answer
    verdict = Prefix.start(language).advance(text).completable()
    assert not reason or any(each.startswith(reason) for each in verdict.reasons)


def check_cuts(name: str, cuts: int, seed: int) -> set[str]:
    """Beginnings of a shipped file, half of them with a word in another's place."""
    language, rng = load_language(name), random.Random(seed)
    text = FILES[name].read_text(encoding="utf-8")
    words = list(re.finditer(r"\w+", text))
    answers = set()
    for number in range(cuts):
        begun = text[: rng.randrange(len(text))]
        if number % 2:
            changed = rng.choice([word for word in words if word.end() <= len(begun)] or words[:1])
            begun = begun[: changed.start()] + rng.choice(words)[0] + begun[changed.end() :]
        answers.add(check(language, begun))
    return answers


@pytest.mark.parametrize("name", FILES)
def test_cuts(name: str) -> None:
    assert "yes" in check_cuts(name, 3, 0)


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_many_cuts(name: str) -> None:
    assert "yes" in check_cuts(name, 150, 1)


def test_the_file_of_a_text_counts(tmp_path: Path) -> None:
    """What it imports stands beside it."""
    (tmp_path / "base.problem").write_text("class Base {}\n", encoding="utf-8")
    path = tmp_path / "more.problem"
    path.write_text("import base.\nclass More extends Base", encoding="utf-8")
    language = Catalogue(tmp_path).for_file(path)
    assert check(language, path.read_text(encoding="utf-8")) == "yes"
    assert check(load_language("problem"), path.read_text(encoding="utf-8")) == "unknown"


class Even:
    """Refuses odd numbers, as an object processor, a model processor and a class of its own."""

    def __init__(self, parent: object, number: int) -> None:
        self.parent = parent
        self.number = number
        refuse(self)


def refuse(even: object) -> None:
    if even.number % 2:  # type: ignore[attr-defined]
        raise TextXSemanticError("an odd number")


def even_numbers(how: str) -> Language:
    grammar = "Model: evens+=Even; Even: 'even' number=INT ';';"
    metamodel = metamodel_from_str(grammar, classes=[Even] if how == "class" else None)
    if how == "object":
        metamodel.register_obj_processors({"Even": refuse})
    elif how == "model":
        metamodel.register_model_processor(lambda model, _: [refuse(each) for each in model.evens])
    return build(Definition("evens"), metamodel)


@pytest.mark.parametrize("how", ["object", "model", "class"])
def test_processors(how: str) -> None:
    language = even_numbers(how)
    assert check(language, "even 2; even 4") == "yes"
    assert check(language, "even 1; ") == "unknown"
    verdict = Prefix.start(language).advance("even 1; ").completable()
    assert any("an odd number" in each for each in verdict.reasons)
    assert check(language, "even 3") in ("yes", "unknown")  # 30 would do
    assert check(even_numbers("not at all"), "even 1; ") == "yes"
