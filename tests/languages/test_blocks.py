"""The shipped language blocks: the golds of its benchmark, every constraint, the exact places."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from language_server.decoding import RandomModel, generate
from language_server.languages import Language, load_language
from language_server.projection import Prefix
from tests.languages.corpus import rows

ALL = "(getProperty (singleton en.block) !type)"


@pytest.fixture(scope="module")
def blocks() -> Language:
    return load_language("blocks")


def found(language: Language, text: str) -> list[tuple[str, str, str]]:
    """Each problem: its constraint, the text it is shown at, what is said."""
    return [
        (each.constraint or each.code, text[each.start : each.end], each.message)
        for each in language.analyse(text).diagnostics
    ]


def golds(shared: Path) -> list[str]:
    """The different programs of all three parts of the benchmark."""
    folder = shared / "benchmarks" / "blocks"
    parts = [rows(folder / f"{part}.jsonl") for part in ("train", "dev", "test")]
    return list(dict.fromkeys(row["program"] for part in parts for row in part))


def test_every_gold_is_well_formed(blocks: Language, shared: Path) -> None:
    programs = golds(shared)
    assert len(programs) > 400
    for program in programs:
        assert found(blocks, program) == [], program


def check_cuts(blocks: Language, programs: list[str]) -> None:
    """Behind every word a completion is known, and textX and the constraints accept it."""
    for program in programs:
        assert blocks.judge(program) == ()
        for word in re.finditer(r"[()]|[^\s()]+", program):
            cut = program[: word.end()]
            verdict = Prefix.start(blocks).advance(cut).completable()
            assert verdict.answer == "yes", cut
            assert blocks.judge(cut + (verdict.witness or "")) == (), (cut, verdict.witness)


def test_cuts_of_a_gold_sample(blocks: Language, shared: Path) -> None:
    check_cuts(blocks, golds(shared)[::240])


@pytest.mark.long
def test_cuts_of_all_golds(blocks: Language, shared: Path) -> None:
    check_cuts(blocks, golds(shared))


def test_examples(blocks: Language) -> None:
    assert len(blocks.examples) >= 12
    for example in blocks.examples:
        assert blocks.judge(example.text) == (), example.path


@pytest.mark.parametrize("seed", range(4))
def test_assured_with_the_random_model_is_valid(blocks: Language, seed: int) -> None:
    result = generate(blocks, "", RandomModel(), "assured", seed, max_tokens=150)
    assert blocks.judge(result.text) == ()


# Each row: what is wrong, the value that is listed, the constraint and the text it is shown at, and
# a list that says it right.
INVALID = [
    (
        f"(filter en.shape.cube left = {ALL})",
        ("blocks_expected", "en.shape.cube"),
        "Blocks are expected here, and this gives a SHAPE",
        f"(filter en.block.block1 left = {ALL})",
    ),
    (
        f"(filter {ALL} height = en.block.block1)",
        ("kinds_differ", f"(filter {ALL} height = en.block.block1)"),
        "The property gives a LENGTH, what it is compared with a BLOCK",
        f"(filter {ALL} height = 2 en.inch)",
    ),
    (
        f"(filter {ALL} height = (concat en.shape.cube en.shape.pyramid))",
        ("kinds_differ", f"(filter {ALL} height = (concat en.shape.cube en.shape.pyramid))"),
        "The property gives a LENGTH, what it is compared with a SHAPE",
        f"(filter {ALL} shape = (concat en.shape.cube en.shape.pyramid))",
    ),
    (
        f"(countComparative {ALL} left > 2 en.shape.cube)",
        ("counted_kinds_differ", f"(countComparative {ALL} left > 2 en.shape.cube)"),
        "The values that are counted are BLOCK, those among which a SHAPE",
        f"(countComparative {ALL} left > 2 {ALL})",
    ),
    (
        f"(filter {ALL} left >= en.block.block1)",
        ("unordered", f"(filter {ALL} left >= en.block.block1)"),
        "'>=' orders lengths, and left gives a BLOCK",
        f"(filter {ALL} left != en.block.block1)",
    ),
    (
        f"(filter {ALL} (ensureNumericProperty shape) = en.shape.cube)",
        ("no_length", "(ensureNumericProperty shape)"),
        "shape is no length",
        f"(filter {ALL} (ensureNumericProperty width) > (ensureNumericEntity 3 en.inch))",
    ),
    (
        f"(superlative {ALL} max color)",
        ("no_extreme", f"(superlative {ALL} max color)"),
        "The max is taken of lengths, and color is none: countSuperlative counts values",
        f"(superlative {ALL} max (ensureNumericProperty width))",
    ),
    (
        "(ensureNumericEntity en.block.block1)",
        ("length_expected", "en.block.block1"),
        "A length is expected here, and this gives a BLOCK",
        "(ensureNumericEntity (getProperty en.block.block1 width))",
    ),
    (
        f"(aggregate sum {ALL})",
        ("length_expected", ALL),
        "A length is expected here, and this gives a BLOCK",
        f"(aggregate sum (getProperty {ALL} width))",
    ),
    (
        f"(countSuperlative {ALL} min height)",
        ("uncountable", f"(countSuperlative {ALL} min height)"),
        "height is nothing to count: compare it",
        f"(countSuperlative {ALL} min color)",
    ),
    (
        f"(filter {ALL} (reverse width) = 2 en.inch)",
        ("irreversible", "(reverse width)"),
        "width relates no blocks and cannot be reversed",
        f"(filter {ALL} (reverse above) = en.block.block2)",
    ),
    (
        f"(filter {ALL} is_special = en.block.block1)",
        ("flag_compared", f"(filter {ALL} is_special = en.block.block1)"),
        "is_special is true or false: write (filter ... is_special) with nothing behind it",
        f"(filter {ALL} is_special)",
    ),
    (
        f"(filter {ALL} left)",
        ("not_compared", f"(filter {ALL} left)"),
        "left has to be compared with something",
        f"(filter {ALL} left = {ALL})",
    ),
    (
        "(getProperty en.block.block1 is_special)",
        ("flag_as_value", "(getProperty en.block.block1 is_special)"),
        "is_special is true or false and no value: use it in a filter",
        "(getProperty en.block.block1 color)",
    ),
    (
        "(concat en.block.block1 en.shape.cube)",
        ("mixed_values", "(concat en.block.block1 en.shape.cube)"),
        "Both values are a BLOCK and a SHAPE: concat takes two of one kind",
        "(concat en.block.block1 en.block.block2)",
    ),
    (
        "(concat 3 en.inch 3 en.inch)",
        ("same_value", "(concat 3 en.inch 3 en.inch)"),
        "The same value stands twice",
        "(concat 3 en.inch 4 en.inch)",
    ),
    (
        f"(filter {ALL} width = 0 en.inch)",
        ("no_inch", "0 en.inch"),
        "A length has at least one inch",
        f"(filter {ALL} width = 1 en.inch)",
    ),
]


@pytest.mark.parametrize(("wrong", "place", "message", "right"), INVALID)
def test_constraints(
    blocks: Language, wrong: str, place: tuple[str, str], message: str, right: str
) -> None:
    text = f"(listValue {wrong})"
    told = found(blocks, text)
    assert (*place, message) in told
    assert blocks.judge(text)
    # What holds in every completion is told before the text ends; only a comparison can be added.
    if place[0] != "not_compared":
        assert not Prefix.start(blocks).advance(text[:-1]).alive
    assert found(blocks, f"(listValue {right})") == []
    assert blocks.judge(f"(listValue {right})") == ()


def test_every_constraint_has_a_text_that_violates_it(blocks: Language) -> None:
    errors = {each.name for each in blocks.theory.predicates.values() if each.error}
    assert {place[0] for _, place, _, _ in INVALID} == errors


def test_what_comes_next_fits_the_kind(blocks: Language) -> None:
    """Behind a property that gives a shape only equality, and then only a shape, may follow."""
    prefix = Prefix.start(blocks).advance(f"(listValue (filter {ALL} shape ")
    assert prefix.advance("= en.shape.cube").alive
    for wrong in ("<", ")", "= 3", "= en.block.block1", "= (_size"):
        assert not prefix.advance(wrong).alive, wrong
