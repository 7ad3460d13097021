"""What the documents of the checkout point at exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from language_server.decoding import DEFAULT_STRATEGY, SEARCH_NAMES, STRATEGIES

DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/decoding.md",
    "docs/metamodels.md",
)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_and_pictures_exist(root: Path, document: str) -> None:
    text = (root / document).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    relative = [target for target in targets if "://" not in target]
    assert not [target for target in relative if not (root / target).exists()]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_recipes_exist(root: Path, document: str) -> None:
    recipes = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    text = (root / document).read_text(encoding="utf-8")
    shown = re.findall(r"(?:^|`)make ((?:[a-z-]+ ?)+)", text, re.MULTILINE)
    assert not {name for line in shown for name in line.split()} - recipes


def test_commands_exist(root: Path) -> None:
    texts = [(root / document).read_text(encoding="utf-8") for document in DOCUMENTS]
    shown = {
        command
        for text in texts
        for command in re.findall(r"(?:^\$ |`)langwright ([a-z]+)", text, re.MULTILINE)
    }
    usage = subprocess.run(
        [sys.executable, "-m", "language_server", "--help"], capture_output=True, text=True
    )
    assert usage.returncode == 0, usage.stderr
    assert not {command for command in shown if command not in usage.stdout}


def test_every_strategy_and_every_search_is_described(root: Path) -> None:
    text = (root / "docs" / "decoding.md").read_text(encoding="utf-8")
    parts = text.partition("\n## Several texts")[::2]
    known = [(STRATEGIES, DEFAULT_STRATEGY), (SEARCH_NAMES, SEARCH_NAMES[0])]
    for part, (names, usual) in zip(parts, known, strict=True):
        described = re.findall(r"^\| `([a-z]+)`( \(default\))? \|", part, re.MULTILINE)
        assert {name for name, _ in described} == set(names)
        assert [name for name, default in described if default] == [usual]
