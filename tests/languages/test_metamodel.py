"""The metamodel that a grammar implies: read off textX, printed so that it reads back the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textx import metamodel_from_str

from language_server.constraints.problem import load_problem
from language_server.constraints.theory import ClassSymbol, Feature, Theory
from language_server.languages import implied_theory, load_language, write_problem
from language_server.languages.comments import comment_style

GRAMMAR = """
Model: elements*=Element mode=Mode;
Element: Item | Box;
Item: 'item' name=ID size=INT weight=FLOAT open?='open' tags*=STRING[','];
Box: 'box' name=ID holds*=[Element] value=Value?;
Value: INT | Item;
Mode: 'on' | 'half off';
"""


def shape(theory: Theory) -> tuple:
    """A theory without places."""
    return (
        {
            name: (c.abstract, c.supertypes, c.literals)
            for name, c in theory.classes.items()
            if isinstance(c, ClassSymbol)
        },
        {
            symbol: (f.target, f.lower, f.upper, f.containment)
            for symbol, f in theory.features.items()
            if isinstance(f, Feature)
        },
    )


def test_classes_and_features() -> None:
    classes, features = shape(implied_theory(metamodel_from_str(GRAMMAR)))
    assert classes["Element"] == (True, (), None)
    assert classes["Item"] == (False, ("Element", "Value"), None)
    assert classes["Mode"] == (False, (), ("on", "half off"))
    assert features == {
        "Model::elements": ("Element", 0, None, True),
        "Model::mode": ("Mode", 0, 1, False),
        "Item::name": ("string", 0, 1, False),
        "Item::size": ("int", 0, 1, False),
        "Item::weight": ("real", 0, 1, False),
        "Item::open": ("boolean", 0, 1, False),
        "Item::tags": ("string", 0, None, False),
        "Box::name": ("string", 0, 1, False),
        "Box::holds": ("Element", 0, None, False),
    }  # Box::value mixes numbers with objects


def test_references_to_any_object_are_references_to_a_class_above_all() -> None:
    grammar = "M: xs*=D rs*=R; D: 'd' name=ID; R: 'r' to=[OBJECT];"
    theory = implied_theory(metamodel_from_str(grammar))
    assert theory.features["R::to"].target == "OBJECT"
    assert {name: symbol.supertypes for name, symbol in theory.classes.items()} == {
        "OBJECT": (),
        "M": ("OBJECT",),
        "D": ("OBJECT",),
        "R": ("OBJECT",),
    }


def test_printed_and_read_back() -> None:
    theory = implied_theory(metamodel_from_str(GRAMMAR))
    text = write_problem(theory, "toy")
    assert shape(load_problem(text)) == shape(theory)
    assert "enum Mode { on, 'half off' }" in text


def public_languages(shared: Path) -> list[tuple[Path, list[Path]]]:
    folder = shared / "corpus"
    return [
        (
            folder / entry["name"] / entry["grammar"],
            [folder / entry["name"] / model for model in entry["models"]],
        )
        for entry in json.loads((folder / "index.json").read_text(encoding="utf-8"))
    ]


def test_public_languages_print_and_read_back(shared: Path) -> None:
    for grammar, _ in public_languages(shared):
        theory = load_language(str(grammar)).theory
        assert shape(load_problem(write_problem(theory, grammar.stem))) == shape(theory), grammar


def check_models(shared: Path, per_language: int) -> None:
    """TextX loads these models, so nothing may be found in them."""
    for grammar, models in public_languages(shared):
        language = load_language(str(grammar))
        for model in models[:per_language]:
            text = model.read_text(encoding="utf-8")
            assert language.analyse(text, model).diagnostics == (), model
            assert language.judge(text, model) == (), model


def test_nothing_is_found_in_public_models(shared: Path) -> None:
    check_models(shared, 1)


@pytest.mark.long
def test_nothing_is_found_in_all_public_models(shared: Path) -> None:
    check_models(shared, 100)


STYLES = {
    r"/\/\/.*$/": ("//", None),
    r"/#[^\n]*/": ("#", None),
    r"/%%.*/": ("%%", None),
    r"/%.*/": ("%", None),
    r"/--.*/": ("--", None),
    r"'//' /.*$/": ("//", None),
    r"/\/\*(.|\n)*?\*\//": (None, ("/*", "*/")),
    r"/\(\*(.|\n)*?\*\)/": (None, ("(*", "*)")),
    r"/<!--(.|\n)*?-->/": (None, ("<!--", "-->")),
}


@pytest.mark.parametrize("rule", STYLES)
def test_comment_styles(rule: str) -> None:
    line, block = STYLES[rule]
    style = comment_style(metamodel_from_str(f"M: a=ID; Comment: {rule};"))
    assert style.line == ((line,) if line else ())
    assert style.block == ((block,) if block else ())


def test_comment_styles_together() -> None:
    grammar = r"M: a=ID; Comment: Line | Block; Line: /\/\/.*$/; Block: /\/\*(.|\n)*?\*\//;"
    style = comment_style(metamodel_from_str(grammar))
    assert (style.line, style.block) == (("//",), (("/*", "*/"),))
    assert style.write("one\ntwo") == "// one\n// two"
    assert style.first(" // one\n  // two\nx // three") == ("one two", 16)
    assert style.first("/* one\n * two */ x") == ("one two", 16)
    assert style.first("x // one") is None


def test_no_comments() -> None:
    style = comment_style(metamodel_from_str("M: a=ID;"))
    assert (style.line, style.block, style.write("x")) == ((), (), "")


@pytest.mark.parametrize(
    ("rule", "text"),
    [("Item? 'z'", "z"), ("Item 'z'", "z"), ("Item* 'z'", "z"), ("!'y' Item? 'z'", "z")],
)
def test_an_object_that_is_not_there_makes_its_rule_a_text(rule: str, text: str) -> None:
    """An abstract rule may be read without its object: its feature mixes objects and texts."""
    metamodel = metamodel_from_str(f"Model: value=Value; Value: {rule}; Item: flag?='x';")
    assert metamodel.model_from_str(text).value == text
    assert "Model::value" not in implied_theory(metamodel).features


def test_a_choice_is_not_made_of_nothing() -> None:
    """An alternative that reads nothing has failed for textX, so there is always an object."""
    metamodel = metamodel_from_str(
        "Model: value=Value; Value: Bool | Item; Bool: truth?='true' | 'false'; Item: 'i' n=INT;"
    )
    assert type(metamodel.model_from_str("false").value).__name__ == "Bool"
    assert "Model::value" in implied_theory(metamodel).features
