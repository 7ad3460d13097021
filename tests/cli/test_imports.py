"""Commands about files that import others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Command

GRAMMAR = """
Model: imports*=Import rooms*=Room doors*=Door;
Import: 'import' importURI=STRING;
Room: 'room' name=ID;
Door: 'door' to=[Room:ID|+m:rooms];
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two plans, one of which imports the other; the command runs elsewhere."""
    (tmp_path / "plan.tx").write_text(GRAMMAR)
    (tmp_path / "upstairs.plan").write_text("room attic")
    (tmp_path / "main.plan").write_text("import 'upstairs.plan'\ndoor attic")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path


def test_check_reads_what_a_file_imports(langwright: Command, here: Path) -> None:
    arguments = ("check", "--language", here / "plan.tx", here / "main.plan")
    assert langwright(*arguments).code == 0
    (here / "upstairs.plan").write_text("room loft")
    outcome = langwright(*arguments)
    assert outcome.code == 1
    assert "main.plan:2:6: error: room 'attic' is not declared" in outcome.out


def test_completion_offers_what_a_file_imports(langwright: Command, here: Path) -> None:
    arguments = ("complete", "--language", here / "plan.tx", here / "main.plan", "--at", "2:6")
    assert "attic" in langwright(*arguments).out
