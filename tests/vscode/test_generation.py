"""*Generate model from comment* in VS Code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.vscode

DESCRIPTION = "// A door that opens and closes, and can be locked while it is closed."
QUESTION = "%% How many red things are there?"
COMMAND = "Generate model from comment"
GENERATION = 300_000
"""Milliseconds that a generation may take on a busy machine, the loading of the model included."""


@pytest.mark.parametrize(
    ("file", "comment", "begin", "kind"),
    [
        ("door.statechart", DESCRIPTION, "statechart ", "model"),
        ("question.clevr", QUESTION, "graph ", "program"),
    ],
    ids=["statechart", "clevr"],
)
def test_a_comment_becomes_a_model_without_problems(
    default_model_server: Any,
    open_workbench: Callable[..., Any],
    picture: Callable[[Any, str], None],
    file: str,
    comment: str,
    begin: str,
    kind: str,
) -> None:
    workbench = open_workbench(default_model_server, {file: ""})
    workbench.go_to(1, 1)
    workbench.type(comment)
    workbench.open_problems()
    workbench.command(COMMAND)
    workbench.eventually(workbench.preview_text, lambda text: begin in text, GENERATION)
    picture(workbench, f"growing-{kind}")
    workbench.eventually(lambda: workbench.tabs_of("Growing"), lambda tabs: tabs == [], GENERATION)
    workbench.eventually(workbench.lines, lambda lines: len(lines) > 1)
    workbench.quiet()
    assert workbench.problems() == []
    assert workbench.squiggles.count() == 0
    picture(workbench, f"generated-{kind}")
    # The model may put comments of its own before the keyword.
    text = workbench.saved_text()
    assert text.startswith(f"{comment}\n")
    assert f"\n{begin}" in text

    workbench.press("Control+z")
    workbench.eventually(workbench.lines, lambda lines: lines == [comment])


def test_without_a_comment_the_user_is_asked(
    default_model_server: Any, open_workbench: Callable[..., Any]
) -> None:
    workbench = open_workbench(default_model_server, {"new.clevr": ""})
    workbench.go_to(1, 1)
    workbench.command(COMMAND)
    workbench.answer("How many red things are there?")
    workbench.eventually(workbench.lines, lambda lines: len(lines) > 1, GENERATION)
    workbench.open_problems()
    workbench.quiet()
    assert workbench.problems() == []


def test_what_is_typed_during_a_generation_is_kept(
    default_model_server: Any, open_workbench: Callable[..., Any]
) -> None:
    workbench = open_workbench(
        default_model_server, {"question.clevr": f"%% Mine.\n\n{QUESTION}\n"}
    )
    workbench.go_to(3, 5)
    workbench.command(COMMAND)
    workbench.go_to_end_of(1)
    workbench.type(" Typed while it grew.")
    workbench.eventually(workbench.lines, lambda lines: len(lines) > 4, GENERATION)
    text = workbench.saved_text()
    assert text.startswith(f"%% Mine. Typed while it grew.\n\n{QUESTION}\n")
    assert "\ngraph " in text


def test_a_stopped_generation_leaves_the_document_and_the_server_as_they_were(
    default_model_server: Any, open_workbench: Callable[..., Any]
) -> None:
    workbench = open_workbench(default_model_server, {"door.statechart": DESCRIPTION})
    workbench.go_to(1, 5)
    workbench.command(COMMAND)
    workbench.eventually(
        workbench.notifications, lambda texts: any("Generating" in text for text in texts)
    )
    workbench.press("Escape")
    workbench.eventually(
        workbench.notifications, lambda texts: not any("Generating" in text for text in texts)
    )
    assert workbench.lines() == [DESCRIPTION]
    # The server goes on working.
    workbench.open_problems()
    workbench.go_to_end_of(1)
    workbench.press("Enter")
    workbench.type("nonsense")
    workbench.eventually(workbench.problems, lambda rows: rows != [])
