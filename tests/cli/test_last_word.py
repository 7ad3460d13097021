"""The command tells that a language's compiler takes nothing of what was written."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cli.conftest import Command


def test_where_nothing_passes_the_command_fails(langwright: Command, here: Path) -> None:
    (here / "words.tx").write_text("Model: words+=Word; Word: text=ID;")
    (here / "compiler.py").write_text("raise SystemExit('error: not today')")
    command = [sys.executable, str(here / "compiler.py")]
    (here / "langwright.toml").write_text(
        f'[[language]]\nname = "words"\ngrammar = "words.tx"\ncompiler = {command}\n'
    )
    (here / "wanted").write_text("good")
    told = langwright(
        "generate", "x", "-l", "words", "--model", "replay:wanted", "--max-tokens", "20"
    )
    assert told.code == 1
    assert "not today" in told.err
    assert "Not valid" in told.err
