"""Diagnostics, the completion list and ghost text, as one edits a statechart in VS Code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.vscode

DOOR = """\
// A door that can be locked while it is closed.
statechart Door

event open
event close
event lock
event unlock

initial state Closed {
    on open -> Opened
    on lock -> Locked
}
state Opened {
    on close -> Closd
}
state Locked {
    on unlock -> Closed
}
"""
LAMP = """\
// A lamp with one button.
statechart Lamp

event press
initial
"""
DANGLING = 14
"""The line of the reference to a state that is not declared."""


def test_dangling_reference_is_fixed_through_the_completion_list(
    code_server: Any, open_workbench: Callable[..., Any], picture: Callable[[Any, str], None]
) -> None:
    workbench = open_workbench(code_server, {"door.statechart": DOOR})
    workbench.eventually(workbench.squiggles.count, lambda count: count == 1)
    squiggle = workbench.squiggles.bounding_box()
    word = workbench.box_of(DANGLING, "Closd")
    assert squiggle["x"] == pytest.approx(word.x, abs=1.5)
    assert squiggle["width"] == pytest.approx(word.width, abs=2.5)
    assert squiggle["y"] <= word.y + word.height <= squiggle["y"] + 2 * squiggle["height"]

    workbench.open_problems()
    (problem,) = workbench.eventually(workbench.problems, lambda rows: len(rows) == 1)
    assert "Closd" in problem
    assert f"[Ln {DANGLING}, Col 17]" in problem
    picture(workbench, "squiggle")

    workbench.go_to(DANGLING, 22)
    workbench.press("Control+Backspace", "Control+Space")
    offered = workbench.eventually(workbench.suggestions, lambda labels: labels != [])
    assert any(label.startswith("Closed") for label in offered), offered
    workbench.settle()
    picture(workbench, "completion-list")
    workbench.choose("Closed")

    workbench.eventually(workbench.squiggles.count, lambda count: count == 0)
    workbench.eventually(workbench.problems, lambda rows: rows == [])
    assert workbench.saved_text() == DOOR.replace("Closd", "Closed")


def test_squiggle_stands_exactly_behind_characters_outside_the_basic_plane(
    code_server: Any, open_workbench: Callable[..., Any]
) -> None:
    text = DOOR.replace("-> Closd", "/* 😀😀 */ -> Closd")
    workbench = open_workbench(code_server, {"door.statechart": text})
    workbench.eventually(workbench.squiggles.count, lambda count: count == 1)
    squiggle = workbench.squiggles.bounding_box()
    word = workbench.box_of(DANGLING, "Closd")
    assert squiggle["x"] == pytest.approx(word.x, abs=1.5)
    assert squiggle["width"] == pytest.approx(word.width, abs=2.5)


def test_problems_follow_typing(code_server: Any, open_workbench: Callable[..., Any]) -> None:
    workbench = open_workbench(code_server, {"door.statechart": DOOR.replace("Closd", "Closed")})
    workbench.open_problems()
    workbench.go_to(17, 14)
    workbench.type("x")  # no event has this name
    (problem,) = workbench.eventually(workbench.problems, lambda rows: len(rows) == 1)
    assert "[Ln 17, Col 8]" in problem
    workbench.press("Backspace")
    workbench.eventually(workbench.problems, lambda rows: rows == [])
    workbench.go_to(9, 1)
    workbench.press(*["Delete"] * len("initial "))
    rows = workbench.eventually(workbench.problems, lambda rows: rows != [])
    assert any("initial" in row for row in rows), rows


def test_ghost_text_is_accepted_with_tab(
    code_server: Any, open_workbench: Callable[..., Any], picture: Callable[[Any, str], None]
) -> None:
    workbench = open_workbench(code_server, {"lamp.statechart": LAMP})
    workbench.go_to_end_of(5)
    workbench.type(" ")
    pieces = workbench.eventually(
        workbench.ghost.all_inner_texts, lambda texts: any(text.strip() for text in texts)
    )
    workbench.settle()
    picture(workbench, "ghost-text")
    workbench.press("Tab")
    workbench.eventually(workbench.ghost.count, lambda count: count == 0)
    offered = "".join(pieces).replace("\u00a0", " ").strip()
    assert offered.startswith("state")  # nothing else may stand here
    assert workbench.saved_text() == f"{LAMP.rstrip()} {offered}\n"


def test_clevr_program_is_checked(code_server: Any, open_workbench: Callable[..., Any]) -> None:
    text = 'graph LR\n    1["scene"] --> 2["unique"]\n    2 --> 3["count"]\n'
    workbench = open_workbench(code_server, {"question.clevr": text})
    workbench.open_problems()
    rows = workbench.eventually(workbench.problems, lambda rows: rows != [])
    assert any("Ln 3" in row for row in rows), rows
