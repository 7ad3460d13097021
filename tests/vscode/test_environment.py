"""How the extension comes to its Python environment, and what it says when it cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.vscode

DANGLING = "statechart Lamp\nevent press\ninitial state Off { on press -> On }\n"
INSTALLATION = 300_000
"""Milliseconds that making an environment may take on a busy machine."""


def test_environment_is_made_from_the_bundled_server(
    code_servers: Callable[..., Any], open_workbench: Callable[..., Any]
) -> None:
    server = code_servers({})
    workbench = open_workbench(server, {"lamp.statechart": DANGLING}, within=INSTALLATION)
    workbench.eventually(workbench.squiggles.count, lambda count: count == 1)
    (made,) = server.home.glob("data/User/globalStorage/langwright.langwright/python-*")
    assert not list(made.glob("lib/*/site-packages/torch")), "only the base is installed"
    workbench.open_problems()
    (problem,) = workbench.eventually(workbench.problems, lambda rows: len(rows) == 1)
    assert "[Ln 3, Col 33]" in problem

    # Generation needs more than the base; it says so and the server stays up.
    workbench.go_to(4, 1)
    workbench.type("// a lamp")
    workbench.command("Generate model from comment")
    said = workbench.eventually(
        workbench.notifications, lambda texts: any("No model was" in text for text in texts)
    )
    assert any("Install" in text for text in said), said
    workbench.eventually(workbench.problems, lambda rows: len(rows) == 1)


def test_a_configured_interpreter_that_does_not_run_is_named_with_the_cure(
    code_servers: Callable[..., Any], open_workbench: Callable[..., Any]
) -> None:
    server = code_servers({"langwright.pythonPath": "/nowhere/bin/python"})
    workbench = open_workbench(server, {"lamp.statechart": DANGLING}, runs=False)
    (said,) = workbench.eventually(workbench.notifications, lambda texts: texts != [])
    assert "/nowhere/bin/python" in said
    assert "Correct the setting" in said
    assert "Open setting" in said
    assert "not running" in workbench.status.inner_text()
