"""textX as the judge of a text that is not what lies on the disk."""

from __future__ import annotations

from pathlib import Path

from textx import metamodel_from_str

from language_server.languages.textx_judge import load_problems


def test_an_empty_text_is_judged_itself(tmp_path: Path) -> None:
    """Given no text but a path, textX reads the file there: an emptied buffer is not that file."""
    metamodel = metamodel_from_str("M: 'a';")
    saved = tmp_path / "saved.m"
    saved.write_text("a", encoding="utf-8")
    assert load_problems(metamodel, "a", saved) == ()
    assert [found.code for found in load_problems(metamodel, "", saved)] == ["syntax"]
    assert [found.code for found in load_problems(metamodel, "", tmp_path / "new.m")] == ["syntax"]
