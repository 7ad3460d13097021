"""An explanation names the right elements: of rows with one violation, as networkx finds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from tests.constraints.test_oracle_graphs import ORACLES, clevr, flowchart, oracle, taxonomy

Named = set[tuple[str, ...]]
Finder = Callable[[nx.DiGraph], Named]


def on_cycles(graph: nx.DiGraph) -> Named:
    found: Named = set()
    for component in nx.strongly_connected_components(graph):
        if len(component) > 1 or any(graph.has_edge(node, node) for node in component):
            found |= {(node,) for node in component}
    return found


def ends(graph: nx.DiGraph, degree: str) -> list[str]:
    """The nodes without edges of that direction."""
    return [node for node, number in getattr(graph, degree)() if number == 0]


def all_or_more_than_one(graph: nx.DiGraph, degree: str) -> Named:
    """What stands beside another one; where there is none at all there is nothing to name but all.

    The predicate is about a node there: any.
    """
    found = ends(graph, degree)
    return {(node,) for node in (found or graph.nodes)}


# ---- flowchart and taxonomy ---------------------------------------------------------------------


def unreached(graph: nx.DiGraph) -> Named:
    (start,) = ends(graph, "in_degree")
    return {(node,) for node in set(graph) - nx.descendants(graph, start) - {start}}


def lone_decisions(graph: nx.DiGraph) -> Named:
    return {(n,) for n, _, c in graph.edges(data="condition") if c and graph.out_degree(n) < 2}


def bare_edges(graph: nx.DiGraph) -> Named:
    conditional = {n for n, _, condition in graph.edges(data="condition") if condition}
    return {(n, m) for n, m, c in graph.edges(data="condition") if n in conditional and not c}


def shortcuts(graph: nx.DiGraph) -> Named:
    return {
        (a, b, c)
        for a, b in graph.edges
        for c in graph.successors(a)
        if b != c and a != c and b in nx.descendants(graph, c)
    }


FLOWCHART: dict[str, Finder] = {
    "single_source": lambda g: all_or_more_than_one(g, "in_degree"),
    "reachability": unreached,
    "valid_decisions": lone_decisions,
    "valid_conditions": bare_edges,
    "no_self_cycles": lambda g: {(node,) for node in nx.nodes_with_selfloops(g)},
}
TAXONOMY: dict[str, Finder] = {
    "cycles": on_cycles,
    "roots": lambda g: all_or_more_than_one(g, "out_degree"),
    "skips": shortcuts,
    "parent": lambda g: {(node,) for node, number in g.out_degree() if number > 1},
}

# ---- clevr --------------------------------------------------------------------------------------

#: Input types and output type by the beginning of a function's name.
SIGNATURES = {
    "scene": ("", "S"),
    "filter_": ("S", "S"),
    "unique": ("S", "O"),
    "relate_": ("O", "S"),
    "same_": ("O", "S"),
    "and": ("SS", "S"),
    "or": ("SS", "S"),
    "count": ("S", "I"),
    "exist": ("S", "B"),
    "query_": ("O", "V"),
    "equal_integer": ("II", "B"),
    "equal_": ("OO", "B"),
    "less_than": ("II", "B"),
    "greater_than": ("II", "B"),
}


def signature(graph: nx.DiGraph, node: str) -> tuple[str, str]:
    label = graph.nodes[node]["label"].casefold()
    return next(s for name, s in SIGNATURES.items() if label.startswith(name))


def mistyped(graph: nx.DiGraph) -> Iterator[tuple[str, str]]:
    for node in graph:
        inputs, _ = signature(graph, node)
        if graph.in_degree(node) == len(inputs):
            for before in graph.predecessors(node):
                if signature(graph, before)[1] not in inputs:
                    yield node, before


CLEVR: dict[str, Finder] = {
    "arity": lambda g: {(n,) for n in g if g.in_degree(n) != len(signature(g, n)[0])},
    "type": lambda g: set(mistyped(g)),
    "cycle": on_cycles,
    "not_one_source": lambda g: all_or_more_than_one(g, "in_degree"),
    "not_one_sink": lambda g: all_or_more_than_one(g, "out_degree"),
    "source_not_scene": lambda g: {
        (n,) for n in ends(g, "in_degree") if g.nodes[n]["label"] != "scene"
    },
    "sink_not_value": lambda g: {(n,) for n in ends(g, "out_degree") if signature(g, n)[1] in "SO"},
}
FINDERS = {
    "clevr": CLEVR,
    "flowchart": FLOWCHART,
    "taxonomy": TAXONOMY,
    "taxonomy_ccs": TAXONOMY,
}


def graph_of(language: str, row: dict[str, Any]) -> nx.DiGraph:
    graph = nx.DiGraph()
    for number, label in row.get("nodes", ()):
        graph.add_node(number, label=label or "")
    for edge in row["edges"]:
        source, target = (name.casefold() for name in edge[:2])
        known = graph.get_edge_data(source, target, {}).get("condition")
        graph.add_edge(source, target, condition=known or (edge[2] if len(edge) > 2 else None))
    return graph


def check(language: str, rows: list[dict[str, Any]]) -> None:
    asked: Counter[str] = Counter()
    for row in rows:
        if len(row["violations"]) != 1:
            continue
        (name,) = row["violations"]
        if language == "clevr":
            evaluation, _ = clevr(row)
        elif language == "flowchart":
            evaluation, _ = flowchart(row)
        else:
            evaluation, _ = taxonomy(row, language)
        named = {
            tuple(element.casefold() for element in violation.element_names)
            for violation in evaluation.obligations
            if violation.constraint == name
        }
        if name == "label":  # an element without any function that is one
            functions = evaluation.constraints.schema.classes["Function"].individuals
            right = {(n,) for n, label in row["nodes"] if (label or "").casefold() not in functions}
        else:
            right = FINDERS[language][name](graph_of(language, row))
        assert named == right, (name, row)
        asked[name] += 1
    print(language, asked.total(), dict(asked))
    assert asked


@pytest.mark.parametrize("language", ORACLES)
def test_elements_in_a_sample(language: str, shared: Path) -> None:
    single = [row for row in oracle(language, shared) if len(row["violations"]) == 1]
    check(language, single[:: max(1, len(single) // 20)])


@pytest.mark.long
@pytest.mark.parametrize("language", ORACLES)
def test_elements_in_all_rows(language: str, shared: Path) -> None:
    check(language, oracle(language, shared))
