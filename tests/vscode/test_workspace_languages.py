"""Languages that a workspace brings along in its manifest, good ones and broken ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.vscode

PLAN = """\
Plan: tasks+=Task;
Task: 'task' name=ID ('after' before=[Task])?;
Comment: /#.*/;
"""
MANIFEST = """\
[[language]]
grammar = "plan.tx"
"""
DANGLING = "task paint after buld\ntask build\n"


def test_a_language_of_the_workspace_is_served(
    code_server: Any, open_workbench: Callable[..., Any]
) -> None:
    files = {"house.plan": DANGLING, "plan.tx": PLAN, "langwright.toml": MANIFEST}
    workbench = open_workbench(code_server, files)
    workbench.open_problems()
    (problem,) = workbench.eventually(workbench.problems, lambda rows: len(rows) == 1)
    assert "buld" in problem
    assert "[Ln 1, Col 18]" in problem


def test_a_broken_grammar_is_named_and_the_other_languages_go_on(
    code_server: Any, open_workbench: Callable[..., Any]
) -> None:
    broken = PLAN.replace("'task'", "'task")
    lamp = "statechart Lamp\nevent press\ninitial state Off { on press -> On }\n"
    files = {"lamp.statechart": lamp, "plan.tx": broken, "langwright.toml": MANIFEST}
    workbench = open_workbench(code_server, files)
    said = workbench.eventually(
        workbench.notifications, lambda texts: any("plan.tx" in text for text in texts)
    )
    assert not any("Traceback" in text for text in said)
    workbench.eventually(workbench.squiggles.count, lambda count: count == 1)
    workbench.open_problems()
    rows = workbench.eventually(workbench.problems, lambda rows: len(rows) == 2)
    assert any("Ln 3, Col 33" in row for row in rows), rows
