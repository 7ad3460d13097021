"""Verdicts and named violations of rows that others wrote, through their neutral graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from language_server.constraints import ConstraintSet, Evaluation, Graph
from language_server.constraints.problem import load_problem

METAMODELS = Path(__file__).resolve().parent.parent.parent / "metamodels"
ORACLES = {
    "clevr": "clevr.jsonl",
    "flowchart": "flowchart.jsonl",
    "taxonomy": "taxonomy_wordnet.jsonl",
    "taxonomy_ccs": "taxonomy_ccs.jsonl",
}
_compiled: dict[str, ConstraintSet] = {}


def constraints(language: str) -> ConstraintSet:
    if language not in _compiled:
        _compiled[language] = ConstraintSet.of(load_problem(METAMODELS / f"{language}.problem"))
    return _compiled[language]


def clevr(row: dict[str, Any]) -> tuple[Evaluation, set[str]]:
    """The graph of a row, and what is wrong with labels that are no function."""
    graph = Graph(constraints("clevr"))
    functions = constraints("clevr").schema.classes["Function"].individuals
    nodes = {}
    unknown = set()
    for number, label in row["nodes"]:
        nodes[number] = graph.add("Node", number)
        graph.set(nodes[number], "id", number)
        name = label if label in functions else (label or "").casefold()
        if name in functions:
            graph.link(nodes[number], "function", name)
        else:
            unknown.add("label")
    for source, target in row["edges"]:
        edge = graph.add("Edge")
        graph.link(edge, "source", nodes[source])
        graph.link(edge, "target", nodes[target])
    return graph.evaluate().close(), unknown


def flowchart(row: dict[str, Any]) -> tuple[Evaluation, set[str]]:
    graph = Graph(constraints("flowchart"))
    nodes = {}
    for number, label in row["nodes"]:
        nodes[number] = graph.add("Node", number)
        graph.set(nodes[number], "id", number)
        if label is not None:
            graph.set(nodes[number], "label", label)
    for source, target, condition in row["edges"]:
        edge = graph.add("Edge")
        graph.link(edge, "source", nodes[source])
        graph.link(edge, "target", nodes[target])
        if condition:
            text = graph.add("Condition")
            graph.set(text, "text", condition)
            graph.link(edge, "condition", text)
    return graph.evaluate().close(), set()


def taxonomy(row: dict[str, Any], language: str) -> tuple[Evaluation, set[str]]:
    graph = Graph(constraints(language))
    concepts: dict[str, int] = {}
    for edge in row["edges"]:
        number = graph.add("Edge")
        for feature, name in zip(("narrower", "broader"), edge, strict=True):
            key = name.casefold()
            if key not in concepts:
                concepts[key] = graph.add("Concept", name)
                graph.set(concepts[key], "name", name)
            graph.link(number, feature, concepts[key])
    return graph.evaluate().close(), set()


def named(language: str, row: dict[str, Any]) -> list[str]:
    if language == "clevr":
        evaluation, more = clevr(row)
    elif language == "flowchart":
        evaluation, more = flowchart(row)
    else:
        evaluation, more = taxonomy(row, language)
    found = {v.constraint for v in evaluation.obligations if v.source == "constraint"}
    return sorted(found | more)


def check(language: str, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        assert named(language, row) == sorted(row["violations"]), row


def oracle(language: str, shared: Path) -> list[dict[str, Any]]:
    text = (shared / "oracles" / ORACLES[language]).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("language", ORACLES)
def test_sample_of_neutral_graphs(language: str, shared: Path) -> None:
    rows = oracle(language, shared)
    check(language, rows[::40] + [row for row in rows if len(row["violations"]) == 1][::20])


@pytest.mark.long
@pytest.mark.parametrize("language", ORACLES)
def test_all_neutral_graphs(language: str, shared: Path) -> None:
    check(language, oracle(language, shared))
