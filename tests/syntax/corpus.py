"""The corpus of public languages, where it is there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import arpeggio
import textx

from language_server.syntax import Grammar

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"


@dataclass(frozen=True)
class Case:
    """One model of one language."""

    language: str
    grammar: Path
    model: Path

    def __str__(self) -> str:
        return f"{self.language}-{self.model.name}"

    @property
    def text(self) -> str:
        """The model's text."""
        return self.model.read_text(encoding="utf-8")

    def metamodel(self) -> Any:
        """The metamodel textX builds for the language."""
        return _metamodel(self.grammar)

    def ours(self) -> Grammar:
        """Our grammar of the language."""
        return _grammar(self.grammar)


def cases() -> list[Case]:
    """All models; none where the corpus is missing."""
    if not CORPUS.is_dir():
        return []
    index = json.loads((CORPUS / "index.json").read_text(encoding="utf-8"))
    return [
        Case(language["name"], folder / language["grammar"], folder / model)
        for language in index
        for folder in [CORPUS / language["name"]]
        for model in language["models"]
    ]


@cache
def _metamodel(path: Path) -> Any:
    return textx.metamodel_from_file(str(path))


@cache
def _grammar(path: Path) -> Grammar:
    return Grammar.of(_metamodel(path))


def tokens(metamodel: Any, text: str) -> list[tuple[int, int]]:
    """Spans of the terminals textX reads, suppressed ones excepted."""
    parser = metamodel._parser_blueprint.clone()
    parser.parse(text)
    spans: list[tuple[int, int]] = []
    waiting = [parser.parse_tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, arpeggio.NonTerminal):
            waiting.extend(node)
        elif node.value:
            spans.append((node.position, node.position_end))
    return sorted(spans)
