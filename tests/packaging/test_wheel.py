"""The built wheel, installed into an empty environment outside the checkout, is the whole product.

Only the base dependencies are installed, at the locked versions: everything that needs no language
model has to work without one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SHIPPED = ("clevr", "statechart")
PATIENCE = 120
"""Seconds that one command may take on a busy machine."""


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, and an empty folder to run commands in."""

    bin: Path
    folder: Path

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a command of the environment outside the checkout, in an empty home folder."""
        return subprocess.run(
            [str(self.bin / command), *arguments],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def environment(self) -> dict[str, str]:
        """The caller's variables, without those that would let the checkout shine through."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return kept | {
            "HOME": str(self.folder),
            "PATH": os.pathsep.join([str(self.bin), os.defpath]),
        }


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(root))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(root: Path, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in an environment of its own, with its base dependencies at locked versions."""
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    lock = str(root / "requirements.lock")
    pip("--python", str(python), "install", "--constraint", lock, str(wheel))
    return Installed(bin=environment / "bin", folder=tmp_path_factory.mktemp("elsewhere"))


def test_wheel_holds_the_package_and_the_shipped_languages(root: Path, wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, ending in (("grammars", ".tx"), ("metamodels", ".problem")):
        for name in SHIPPED:
            assert f"language_server/_shipped/{folder}/{name}{ending}" in names
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"language_server"}
    sources = {str(path.relative_to(root)) for path in (root / "language_server").rglob("*.py")}
    assert sources <= names


def test_base_installation_draws_no_model_library(installed: Installed) -> None:
    for heavy in ("torch", "transformers"):
        assert installed.run("python", "-c", f"import {heavy}").returncode == 1


def test_languages_lists_what_is_shipped(installed: Installed) -> None:
    answer = installed.run("langwright", "languages")
    assert answer.returncode == 0, answer.stderr
    for name in SHIPPED:
        assert name in answer.stdout


@pytest.mark.parametrize("language", SHIPPED)
def test_check_accepts_the_shipped_examples(installed: Installed, language: str) -> None:
    listing = installed.run(
        "python",
        "-c",
        "import json, sys; from language_server.languages import load_language\n"
        "print(json.dumps([example.text for example in load_language(sys.argv[1]).examples]))",
        language,
    )
    assert listing.returncode == 0, listing.stderr
    texts = json.loads(listing.stdout)
    assert texts
    for number, text in enumerate(texts[:3]):
        file = installed.folder / f"{number}.{language}"
        file.write_text(text, encoding="utf-8")
        answer = installed.run("langwright", "check", str(file), "--language", language)
        assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize("language", SHIPPED)
def test_check_finds_a_problem(installed: Installed, language: str) -> None:
    file = installed.folder / f"broken.{language}"
    file.write_text("%% nothing of the language ((", encoding="utf-8")
    answer = installed.run("langwright", "check", str(file), "--language", language)
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert "Traceback" not in answer.stderr


def test_doctor_names_what_the_model_lacks(installed: Installed) -> None:
    answer = installed.run("langwright", "doctor")
    assert "torch" in answer.stdout + answer.stderr
    assert "Traceback" not in answer.stderr


def test_server_answers_over_standard_streams(installed: Installed) -> None:
    with language_server(installed) as (send, receive):
        send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, id=1)
        capabilities = receive(1)["result"]["capabilities"]
        assert "completionProvider" in capabilities
        assert capabilities["textDocumentSync"]
        send("initialized", {})
        send("shutdown", None, id=2)
        assert receive(2)["result"] is None
        send("exit", None)


def pip(*arguments: str) -> None:
    """Runs pip of the test's own environment.

    Raises:
        AssertionError: pip failed; the message is what it printed.
    """
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def language_server(installed: Installed) -> Iterator[tuple[Any, Any]]:
    """A running server: one function that sends a message, one that waits for an answer."""
    process = subprocess.Popen(
        [str(installed.bin / "langwright"), "serve"],
        cwd=installed.folder,
        env=installed.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def send(method: str, params: Any, **extra: Any) -> None:
        body = {"jsonrpc": "2.0", "method": method, **extra}
        if params is not None:
            body["params"] = params
        encoded = json.dumps(body).encode()
        stdin.write(b"Content-Length: %d\r\n\r\n" % len(encoded) + encoded)
        stdin.flush()

    def receive(id: int) -> dict[str, Any]:
        while True:
            length = 0
            while header := stdout.readline().strip():
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            assert length, "the server closed its output"
            message: dict[str, Any] = json.loads(stdout.read(length))
            if message.get("id") == id and "method" not in message:
                return message

    try:
        yield send, receive
        assert process.wait(timeout=PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        stdin.close()
        stdout.close()
