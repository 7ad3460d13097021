"""Proofs that a prefix is dead: none where it can be completed, one where every case is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from language_server.languages import load_language
from language_server.languages.imports import Disk, Library
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
        home = language.at(example.path, Library(Disk()))  # what it imports is there
        prefix, end = Prefix.start(home), 0
        for word in list(re.finditer(r"\s+|\w|[^\w\s]", example.text))[::5]:
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
    """A rest is wrong where there is no tail any more, and there need not be one."""
    (tmp_path / "sums.tx").write_text(
        """
        Model: sums+=Sum;
        Sum: number=INT tail=Tail? ':' part=Part ';';
        Part: number=INT rest=Rest?;
        Tail: '-' number=INT;
        Rest: '+' number=INT;
        """
    )
    (tmp_path / "sums.problem").write_text(
        """
        class Model { contains Sum[1..*] sums }
        class Sum { int[1] number  contains Tail[0..1] tail  contains Part[1] part }
        class Part { int[1] number  contains Rest[0..1] rest }
        class Tail { int[1] number }
        class Rest { int[1] number }
        error pred lonely(Rest r) <-> part(s, p), rest(p, r), !tail(s, _).
        """
    )
    start = Prefix.start(load_language(str(tmp_path / "sums.tx")))
    may_end = start.advance("1 : 2 ")
    assert what_each_contradicts(may_end) == ()
    assert what_refutes_each(may_end) == ()
    assert may_end.completable().witness == ";"
    assert start.advance("1 : 2 + ").completable().answer == "no"
    assert start.advance("1 -2 : 2 + ").completable().answer == "yes"


def test_two_that_are_alike_are_two(tmp_path: Path) -> None:
    """Red and green fare alike one by one, and only together they make a pair."""
    (tmp_path / "pairs.tx").write_text(
        """
        Model: 'pair' '(' pair=Pair ')';
        Pair: one=Colour 'and' two=Colour;
        Colour: 'red' | 'green';
        """
    )
    (tmp_path / "pairs.problem").write_text(
        """
        enum Colour { red, green }
        class Model { contains Pair[1] pair }
        class Pair { Colour[1] one  Colour[1] two }
        error pred same(Pair p) <-> one(p, c), two(p, c).
        error pred none(Model m) <-> !pair(m, _).
        """
    )
    pairs = load_language(str(tmp_path / "pairs.tx"))
    for text in ("", "pair", "pair (", "pair (green", "pair (red and"):
        prefix = Prefix.start(pairs).advance(text)
        assert what_refutes_each(prefix) == (), text
        verdict = prefix.completable()
        assert verdict.answer == "yes", text
        assert pairs.judge(text + (verdict.witness or "")) == ()
    assert Prefix.start(pairs).advance("pair (red and r").completable().answer == "no"
