"""What several tests of this folder need: the oracle rows, CLEVR texts, public textX languages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from language_server.syntax import Assign, Close, Event, Open


def rows(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def clevr_text(gold: dict[str, Any]) -> str:
    """A gold program of the benchmark in the language's text."""
    mentioned: set[int] = set()

    def mention(node: int) -> str:
        if node in mentioned:
            return str(node)
        mentioned.add(node)
        return f'{node}["{gold["nodes"][node - 1]}"]'

    lines = [f"    {mention(source)} --> {mention(target)}" for source, target in gold["edges"]]
    return "\n".join(["graph LR", *lines])


def clevr_events(row: dict[str, Any], functions: set[str]) -> Iterator[Event]:
    """The neutral graph of an oracle row as if it had been read from a text.

    A label that is no function is left out: there the node has none.
    """
    labels = dict(row["nodes"])
    told: set[str] = set()
    yield Open("Program", None, False, 0)
    yield Assign("direction", False, "LR", "Direction", 0, 0)
    for at, edge in enumerate(row["edges"], 1):
        yield Open("Edge", "edges", True, at)
        for feature, node in zip(("source", "target"), edge, strict=True):
            yield Open("Node", feature, False, at)
            yield Assign("id", False, node, "NodeId", at, at)
            if node not in told and labels[node].casefold() in functions:
                yield Assign("function", False, labels[node], "Label", at, at)
            told.add(node)
            yield Close(at)
        yield Close(at)
    yield Close(len(row["edges"]))


def shuffled_clevr_text(gold: dict[str, Any], random: Random) -> str:
    """A gold with its edges in any order and each label at any one mention of its node."""
    edges = random.sample(gold["edges"], len(gold["edges"]))
    mentions: dict[int, list[tuple[int, int]]] = {}
    for at, edge in enumerate(edges):
        for side, node in enumerate(edge):
            mentions.setdefault(node, []).append((at, side))
    labelled = {node: random.choice(places) for node, places in mentions.items()}

    def mention(at: int, side: int) -> str:
        node = edges[at][side]
        label = gold["nodes"][node - 1]
        return f'{node}["{label}"]' if labelled[node] == (at, side) else str(node)

    lines = [f"    {mention(at, 0)} --> {mention(at, 1)}" for at in range(len(edges))]
    return "\n".join(["graph LR", *lines])
