"""The shipped languages flowchart and taxonomy against oracle rows that others wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from language_server.languages import Language, load_language
from tests.languages.corpus import rows

ORACLES = {
    "flowchart": "flowchart.jsonl",
    "taxonomy": "taxonomy_wordnet.jsonl",
    "taxonomy_ccs": "taxonomy_ccs.jsonl",
}
_loaded: dict[str, Language] = {}


def language(name: str) -> Language:
    if name not in _loaded:
        _loaded[name] = load_language(name)
    return _loaded[name]


def named(name: str, text: str) -> list[str]:
    found = language(name).analyse(text).diagnostics
    return sorted({diagnostic.constraint or diagnostic.code for diagnostic in found})


def check_rows(name: str, oracle: list[dict]) -> None:
    for row in oracle:
        if row.get("in_language", True):
            assert named(name, row["text"]) == sorted(row["violations"]), row["text"]


@pytest.mark.parametrize("name", ORACLES)
def test_oracle_sample(name: str, shared: Path) -> None:
    oracle = rows(shared / "oracles" / ORACLES[name])
    check_rows(name, oracle[::60] + [row for row in oracle if row["violations"]][::8])


@pytest.mark.long
@pytest.mark.parametrize("name", ORACLES)
def test_oracle(name: str, shared: Path) -> None:
    check_rows(name, rows(shared / "oracles" / ORACLES[name]))


def test_golds_of_flowchart(shared: Path) -> None:
    for gold in rows(shared / "benchmarks" / "flowchart" / "paged.jsonl")[::10]:
        assert named("flowchart", gold["mermaid"]) == [], gold["mermaid"]


@pytest.mark.parametrize("name", ORACLES)
def test_examples(name: str) -> None:
    examples = language(name).examples
    assert len(examples) >= 12
    for example in examples:
        assert language(name).judge(example.text) == (), example.path


def test_the_last_label_of_a_node_counts() -> None:
    text = 'graph LR\n0["A"] --> 1{"B"}\n0["C"] --> 1'
    assert named("flowchart", text) == []
    model = language("flowchart").analyse(text).evaluation.model
    labels = {model.name_of(node): model.value(node, "label") for node in model.objects("Node")}
    assert labels == {"0": "C", "1": "B"}


def test_a_node_needs_a_label() -> None:
    assert named("flowchart", 'graph LR\n0["A"] --> 1') == ["unlabelled"]


def test_names_of_concepts_are_compared_in_any_case() -> None:
    assert named("taxonomy", "dog is the child of Animal\ncat is the child of animal") == []
    assert named("taxonomy", "dog is the child of DOG") == ["cycles", "roots"]


def test_one_parent_or_several() -> None:
    edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    one = "\n".join(f"{child} is the child of {parent}" for child, parent in edges)
    several = "\n".join(f"{child} is a subtopic of {parent}" for child, parent in edges)
    assert named("taxonomy", one) == ["parent"]
    assert named("taxonomy_ccs", several) == []
