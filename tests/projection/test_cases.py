"""Proofs that a prefix is dead: none where it can be completed, one where every case is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from language_server.languages import load_language
from language_server.projection import Prefix
from language_server.projection.bases import what_each_contradicts, what_refutes_each

LANGUAGES = (
    "statechart",
    "clevr",
    "flowchart",
    "taxonomy",
    "taxonomy_ccs",
    "blocks",
    "minizinc",
    "requirements",
)


@pytest.mark.parametrize("name", LANGUAGES)
def test_no_beginning_of_an_example_is_refuted(name: str) -> None:
    language = load_language(name)
    for example in language.examples[:4]:
        prefix, end = Prefix.start(language), 0
        for word in list(re.finditer(r"\s+|\w|[^\w\s]", example.text))[::3]:
            prefix = prefix.advance(example.text[end : word.end()])
            end = word.end()
            assert what_each_contradicts(prefix) == (), prefix.text
            assert what_refutes_each(prefix) == (), prefix.text


@pytest.mark.parametrize(
    "text",
    [
        # The item must be a declaration, of a type that is a set of numbers: an array is none,
        # alone or joined, nor is there an operator that makes one of it.
        "[",
        '["p',
        '"a"',
        '"a" ++',
        # A quotient is no whole number, so it is no bound either, whatever its operand will be.
        "x /",
        "x / y",
        "array[2 / n",
    ],
)
def test_dead_in_every_case(text: str) -> None:
    prefix = Prefix.start(load_language("minizinc")).advance(text)
    assert what_refutes_each(prefix) != ()
    assert prefix.completable().answer == "no"


def test_where_an_object_may_end_nothing_more_of_it_begins_for_certain(tmp_path: Path) -> None:
    """A sum that goes on is wrong, one that ends is right."""
    grammar = "Model: sums+=Sum; Sum: number=INT rest=Rest? ';'; Rest: '+' number=INT;"
    (tmp_path / "sums.tx").write_text(grammar)
    (tmp_path / "sums.problem").write_text(
        """
        class Model { contains Sum[1..*] sums }
        class Sum { int[1] number  contains Rest[0..1] rest }
        class Rest { int[1] number  boolean known }
        error pred unknown(Rest r) <-> !known(r).
        """
    )
    language = load_language(str(tmp_path / "sums.tx"))
    prefix = Prefix.start(language).advance("1 ")
    assert what_each_contradicts(prefix) == ()
    assert what_refutes_each(prefix) == ()
    assert prefix.completable().witness == ";"
