"""The command tells that a language's compiler takes nothing of what was written."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cli.conftest import Command


def words(here: Path, answer: str) -> None:
    """A language whose compiler gives the answer that stands in a file."""
    (here / "words.tx").write_text("Model: words+=Word; Word: text=ID;")
    (here / "compiler.py").write_text(answer)
    command = [sys.executable, str(here / "compiler.py")]
    (here / "langwright.toml").write_text(
        f'[[language]]\nname = "words"\ngrammar = "words.tx"\ncompiler = {command}\n'
    )


def test_where_nothing_passes_the_command_fails(langwright: Command, here: Path) -> None:
    words(here, "raise SystemExit('error: not today')")
    (here / "wanted").write_text("good")
    told = langwright(
        "generate", "x", "-l", "words", "--model", "replay:wanted", "--max-tokens", "20"
    )
    assert told.code == 1
    assert "not today" in told.err
    assert "Not valid" in told.err


def test_a_text_that_the_compiler_refuses_is_no_witness(langwright: Command, here: Path) -> None:
    words(here, "raise SystemExit('error: not today')")
    told = langwright("prefix", "-", "-l", "words", "--json", stdin="good ").json
    assert (told["verdict"], told["witness"]) == ("unknown", None)
    assert "not today" in told["reasons"][0]
    words(here, "")
    assert langwright("prefix", "-", "-l", "words", "--json", stdin="good ").json == {
        "verdict": "completable",
        "witness": "",
        "reasons": [],
    }
