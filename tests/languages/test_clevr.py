"""The shipped language clevr against oracle rows and benchmark golds that others wrote."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from language_server.languages import Language, load_language
from language_server.projection import Prefix
from tests.languages.corpus import clevr_events, clevr_text, rows, shuffled_clevr_text

GRAPH = "graph LR\n"


@pytest.fixture(scope="module")
def clevr() -> Language:
    return load_language("clevr")


@pytest.fixture(scope="module")
def functions(clevr: Language) -> set[str]:
    return {name.casefold() for name, kind in clevr.theory.individuals.items() if kind == "atom"}


def named(language: Language, text: str) -> list[str]:
    found = language.analyse(text).diagnostics
    return sorted({diagnostic.constraint or diagnostic.source for diagnostic in found})


def check_rows(clevr: Language, functions: set[str], oracle: list[dict]) -> None:
    """Both through the neutral graph and, where there is one, through the text."""
    for row in oracle:
        model = clevr.constraints.initial().refine_all(clevr_events(row, functions)).close()
        assert sorted({v.constraint for v in model.obligations}) == row["violations"], row["text"]
        if row["in_language"]:
            found = named(clevr, row["text"])
            assert (not found) == row["consistent"], row["text"]
            if "label" in row["violations"]:
                assert {"label", "syntax"} & set(found), row["text"]
            elif "metamodel" in found:
                # Another label for a labelled node is an error of the text; the neutral graph has
                # the last label only.
                assert "conflicting-values" in {
                    d.code for d in clevr.analyse(row["text"]).diagnostics
                }
            else:
                assert found == row["violations"], row["text"]


def test_oracle_sample(clevr: Language, functions: set[str], shared: Path) -> None:
    check_rows(clevr, functions, rows(shared / "oracles" / "clevr.jsonl")[::40])


@pytest.mark.long
def test_oracle(clevr: Language, functions: set[str], shared: Path) -> None:
    check_rows(clevr, functions, rows(shared / "oracles" / "clevr.jsonl"))


def check_golds(clevr: Language, golds: list[dict]) -> None:
    """Golds are valid in any order, and no cut of one is held to be contradictory."""
    random = Random(1)
    texts = [clevr_text(gold) for gold in golds]
    for text in [*texts, *(shuffled_clevr_text(gold, random) for gold in golds)]:
        assert clevr.analyse(text).diagnostics == (), text
        evaluation = clevr.constraints.initial()
        for event in list(clevr.grammar.parse(text).events())[:-1]:
            evaluation = evaluation.refine(event)
            assert not evaluation.contradictions, text


def test_gold_sample(clevr: Language, shared: Path) -> None:
    check_golds(clevr, rows(shared / "benchmarks" / "clevr" / "questions.jsonl")[::30])


@pytest.mark.long
def test_golds(clevr: Language, shared: Path) -> None:
    check_golds(clevr, rows(shared / "benchmarks" / "clevr" / "questions.jsonl"))


def test_textx_loads_a_gold(clevr: Language, shared: Path) -> None:
    gold = rows(shared / "benchmarks" / "clevr" / "questions.jsonl")[0]
    assert clevr.judge(clevr_text(gold)) == ()


def test_what_looks_ahead_is_violated_in_the_end(
    clevr: Language, functions: set[str], shared: Path
) -> None:
    """Where a dead end is claimed, the finished model violates a constraint that is reported."""
    claimed = 0
    for row in rows(shared / "oracles" / "clevr.jsonl")[::30]:
        open_end = clevr.constraints.initial().refine_all(list(clevr_events(row, functions))[:-1])
        if open_end.contradictions:
            claimed += 1
            assert not row["consistent"], (row["text"], open_end.contradictions)
    assert claimed > 30


@pytest.mark.parametrize("header", ["graph LR", "graph TD", "flowchart LR", "flowchart BT"])
def test_headers(clevr: Language, header: str) -> None:
    assert named(clevr, f'{header}\n1["scene"] --> 2["count"]\n') == []


@pytest.mark.parametrize("label", ["and", "AND", "And", "aNd", "or", "OR", "oR"])
def test_case_of_and_and_or_does_not_matter(clevr: Language, label: str) -> None:
    text = (
        f'graph LR\n1["scene"] --> 2["filter_color_red"]\n2 --> 3["{label}"]\n1 --> 3\n'
        f'3["{label.upper()}"] --> 4["count"]'
    )
    assert named(clevr, text) == []


def test_case_of_other_functions_matters(clevr: Language) -> None:
    assert named(clevr, GRAPH + '1["Scene"] --> 2["count"]')[-1] == "syntax"


def test_a_label_may_stand_at_any_mention(clevr: Language) -> None:
    assert named(clevr, GRAPH + '1 --> 2\n2["unique"] --> 3["query_size"]\n1["scene"] --> 2') == []


def test_two_labels_of_one_node_are_an_error(clevr: Language) -> None:
    text = GRAPH + '1["scene"] --> 2["count"]\n1["scene"] --> 2["exist"]'
    (found,) = clevr.analyse(text).diagnostics
    assert (found.source, found.code) == ("metamodel", "conflicting-values")
    assert "exist" in text[found.start : found.end]


def test_no_label_at_all_is_an_error(clevr: Language) -> None:
    text = GRAPH + '1["scene"] --> 2\n2 --> 3["count"]'
    (found,) = clevr.analyse(text).diagnostics
    assert (found.constraint, text[found.start : found.end]) == ("label", "2")


def test_the_same_edge_twice_counts_once(clevr: Language) -> None:
    edge = '1["scene"] --> 2["count"]\n'
    assert named(clevr, GRAPH + edge + edge) == []


@pytest.mark.parametrize(
    "text",
    [
        'graph LR 1["scene"] --> 2["count"]',
        GRAPH + '1["scene"] --> 2["unique"] 2 --> 3["query_size"]',
        GRAPH + '1[" scene"] --> 2["count"]',
        GRAPH + '1["scene "] --> 2["count"]',
        GRAPH + '1 ["scene"] --> 2["count"]',
        GRAPH,
    ],
)
def test_form(clevr: Language, text: str) -> None:
    assert "syntax" in named(clevr, text)
    assert clevr.judge(text)


def test_comments_and_blank_lines(clevr: Language) -> None:
    text = '%% one\n\n  graph LR %% two\r\n\r\n %% three\n 1["scene"] --> 2["count"] %% four\n\n'
    assert named(clevr, text) == []
    assert clevr.judge(text) == ()


def test_a_wrong_label_is_told_with_the_right_one(clevr: Language) -> None:
    text = GRAPH + '1["scene"] --> 2["filter_color_grey"]\n2 --> 3["count"]'
    (found,) = clevr.analyse(text).diagnostics
    assert text[found.start : found.end] == "filter_color_grey"
    assert "filter_color_gray" in found.message


def test_elements_are_named(clevr: Language) -> None:
    text = GRAPH + '7["scene"] --> 8["unique"]\n8 --> 9["count"]'
    (found,) = clevr.analyse(text).diagnostics
    assert (found.constraint, found.elements) == ("type", ("9", "8"))
    assert "node 8" in found.message and "Node 9" in found.message


def check_cuts(clevr: Language, golds: list[dict]) -> None:
    """Behind every edge of a gold a completion is known, and textX and the constraints accept it.

    Every prefix is asked afresh: no witness of an earlier one is at hand.
    """
    for gold in golds:
        text = clevr_text(gold)
        assert clevr.judge(text) == ()
        lines = text.split("\n")
        for count in range(1, len(lines) + 1):
            cut = "\n".join(lines[:count])
            verdict = Prefix.start(clevr).advance(cut).completable()
            assert verdict.answer == "yes", cut
            assert clevr.judge(cut + (verdict.witness or "")) == (), (cut, verdict.witness)


def test_cuts_of_a_gold_sample(clevr: Language, shared: Path) -> None:
    check_cuts(clevr, rows(shared / "benchmarks" / "clevr" / "questions.jsonl")[::60])


@pytest.mark.long
def test_cuts_of_all_golds(clevr: Language, shared: Path) -> None:
    check_cuts(clevr, rows(shared / "benchmarks" / "clevr" / "questions.jsonl"))
