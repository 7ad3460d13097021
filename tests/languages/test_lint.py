"""Mistakes in grammars that textX accepts, each shown to be one by textX itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from textx import metamodel_from_str
from textx.exceptions import TextXSyntaxError

from language_server.languages import load_language
from language_server.languages.lint import lint


def messages(grammar: str) -> list[str]:
    return [found.message for found in lint(metamodel_from_str(grammar))]


def test_d15_left_recursion() -> None:
    grammar = "E: l=E '+' r=INT | v=INT;"
    assert messages(grammar) == ["rule 'E' begins with itself, which textX cannot read"]
    with pytest.raises(RecursionError):
        metamodel_from_str(grammar).model_from_str("1")


def test_d15_left_recursion_through_another_rule() -> None:
    found = messages("A: B | 'c' n=ID; B: x?='x' a=A 'y';")
    assert found == [f"rule '{name}' begins with itself, which textX cannot read" for name in "AB"]


def test_recursion_behind_a_keyword_is_fine() -> None:
    assert messages("E: '(' inner=E ')' | v=INT;") == []


def test_d18_no_finite_text() -> None:
    found = messages("S: 'a' r=Rest; Rest: 'x' r=Rest; Fine: 'x' f=Fine?;")
    assert found == ["rule 'S' has no finite text", "rule 'Rest' has no finite text"]


def test_t25_a_repetition_takes_the_keyword_behind_it() -> None:
    grammar = "M: ids+=ID 'end';"
    assert messages(grammar) == [
        "rule 'M' never reads 'end': the repetition in front of it takes the word"
    ]
    with pytest.raises(TextXSyntaxError):
        metamodel_from_str(grammar).model_from_str("a b end")
    assert messages("M: ids+=Name 'end'; Name: !'end' ID;") == []
    assert messages("M: ids+=ID[','] 'end';") == []
    assert messages("M: ids+=INT 'end';") == []


def test_t6_an_unordered_group_that_parts_keyword_and_value() -> None:
    grammar = "M: ('x' x=INT 'y' y=INT)#;"
    assert messages(grammar) == [
        "rule 'M' has an unordered group whose keywords and values may part"
    ]
    model = metamodel_from_str(grammar).model_from_str("y 1 x 2")
    assert (model.x, model.y) == (1, 2)
    assert messages("M: (('x' x=INT) ('y' y=INT))#;") == []


def test_warnings_of_a_language_have_their_place(tmp_path: Path) -> None:
    (tmp_path / "toy.tx").write_text("M: items*=Item;\nItem: 'item' ids+=ID 'end';\n")
    (warning,) = load_language(str(tmp_path / "toy.tx")).warnings
    assert (warning.path, warning.line) == (tmp_path / "toy.tx", 2)
    assert "exclude it there" in warning.cure


def test_shipped_grammars_are_clean() -> None:
    for name in ("statechart", "clevr", "flowchart", "taxonomy", "taxonomy_ccs", "problem"):
        assert load_language(name).warnings == ()
