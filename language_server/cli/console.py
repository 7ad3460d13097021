"""Standard output for results, standard error for everything else."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from language_server.cli.refusal import Refusal
from language_server.workspace.files import decode, read_text

STANDARD_INPUT = Path("-")


def use_utf8() -> None:
    """Write UTF-8 whatever the locale says; half a surrogate pair is written escaped."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def note(text: str) -> None:
    """A line for the person at the terminal."""
    print(text, file=sys.stderr, flush=True)


def write(text: str, stream: TextIO | None = None) -> None:
    """A piece of a result, at once."""
    stream = stream or sys.stdout
    stream.write(text)
    stream.flush()


def write_json(value: Any) -> None:
    """A result as one line of JSON."""
    print(json.dumps(value, ensure_ascii=False), flush=True)


def read_input(path: Path) -> str:
    """The text of a file, or of standard input where the path is ``-``.

    Raises:
        FileProblem: it is not readable UTF-8 text.
    """
    if path == STANDARD_INPUT:
        return decode(sys.stdin.buffer.read(), Path("<standard input>"))
    return read_text(path)


def read_records(paths: Iterable[Path]) -> Iterator[tuple[Any, str]]:
    """The ``id`` and ``text`` of each JSON line of some files, or of standard input without any.

    Raises:
        Refusal: a line is not such an object.
        FileProblem: a file is not readable UTF-8 text.
    """
    for path in tuple(paths) or (STANDARD_INPUT,):
        if path == STANDARD_INPUT:
            # Line by line, so that each answer is there before the next question is asked.
            lines: Iterable[str] = (
                decode(line, Path("<standard input>")) for line in sys.stdin.buffer
            )
        else:
            lines = read_text(path).split("\n")
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _record(line, path, number)


def _record(line: str, path: Path, number: int) -> tuple[Any, str]:
    name = "<standard input>" if path == STANDARD_INPUT else path
    try:
        record = json.loads(line)
    except ValueError as error:
        raise Refusal(f"not JSON: {error}", path=name, line=number) from error
    if isinstance(record, dict) and "id" in record and isinstance(record.get("text"), str):
        return record["id"], record["text"]
    raise Refusal(
        "not a record", path=name, line=number, cure='Each line must be {"id": …, "text": "…"}'
    )
