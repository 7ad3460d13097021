"""A program that has the last word on finished texts of a language: its own compiler.

It runs as a process of its own on a copy of the text in a folder of its own, with a time limit, and
knows nothing but the text. Where it is not installed it has nothing to say.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from language_server.diagnostic import Diagnostic
from language_server.languages.textx_judge import offset_of

SECONDS = 20.0

#: ``file:line``, and ``.column`` or ``:column`` behind it, perhaps as ``from-to``.
_PLACE = r":(?P<line>\d+)(?:[.:](?P<column>\d+)(?:-(?P<to>\d+))?)?"
_ERROR = re.compile(r"\berror\b:?\s*(?P<message>.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Compiler:
    """How a compiler is asked about a text.

    Attributes:
        command: the program and its arguments; the file with the text is named behind them.
        suffix: what the name of that file ends with.
        seconds: how long the program may take.
    """

    command: tuple[str, ...]
    suffix: str = ""
    seconds: float = SECONDS

    @property
    def installed(self) -> bool:
        """Whether the program is there."""
        return bool(self.command) and shutil.which(self.command[0]) is not None

    def problems(self, text: str) -> tuple[Diagnostic, ...]:
        """What the compiler has against a text; empty if it accepts it or is not installed.

        It accepts a text by the exit code 0; what it prints otherwise is searched for a place.
        """
        if not self.installed:
            return ()
        with tempfile.TemporaryDirectory(prefix="langwright-") as folder:
            file = Path(folder) / f"model{self.suffix}"
            file.write_text(text, encoding="utf-8")
            finished = _run((*self.command, str(file)), Path(folder), self.seconds)
        if finished is None:
            message = f"{self.command[0]} does not finish in time"
            return (_error(text, message, "compiler-timeout"),)
        code, printed = finished
        return () if code == 0 else (_located(self.command[0], printed, file, text),)


def _run(command: Sequence[str], folder: Path, seconds: float) -> tuple[int, str] | None:
    """The exit code and what was printed; None where it took too long."""
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that what it starts ends with it
        )
    except OSError as error:
        return 1, f"error: it cannot be started: {error.strerror}"
    with process:
        try:
            printed, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            return None
    return process.returncode, printed.decode("utf-8", "replace")


def _located(program: str, printed: str, file: Path, text: str) -> Diagnostic:
    """The first error of a compiler's output, at the first place in the text that it names."""
    message = next(_messages(printed, file), f"{program} does not accept the text")
    place = re.search(re.escape(file.name) + _PLACE, printed)
    if place is None:
        return _error(text, f"{program}: {message}", "compiler")
    line = int(place["line"])
    start = offset_of(text, line, int(place["column"] or 1))
    end = offset_of(text, line, int(place["to"]) + 1) if place["to"] else start + 1
    end = min(max(end, start + 1), len(text))
    return Diagnostic(
        min(start, end), end, "error", "metamodel", "compiler", f"{program}: {message}"
    )


def _messages(printed: str, file: Path) -> Iterator[str]:
    for row in printed.replace(str(file), file.name).splitlines():
        found = _ERROR.search(row)
        if found is not None:
            yield found["message"].strip()


def _error(text: str, message: str, code: str) -> Diagnostic:
    stop = text.find("\n")
    return Diagnostic(0, len(text) if stop < 0 else stop, "error", "metamodel", code, message)
