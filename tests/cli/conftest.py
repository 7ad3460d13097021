from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from language_server import cli
from tests.texts import DOOR


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Command = Callable[..., Outcome]


@pytest.fixture
def langwright(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command, run in this process with its input given as text or bytes."""

    def run(*arguments: str | Path, stdin: str | bytes = b"") -> Outcome:
        content = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        capsys.readouterr()
        code = cli.run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that the command is started in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def door(here: Path) -> Path:
    (here / "door.statechart").write_text(DOOR)
    return Path("door.statechart")
