"""``langwright check``: the problems of models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from language_server.cli.console import read_records, write, write_json
from language_server.cli.options import (
    AsJson,
    AsJsonLines,
    Given,
    LanguageName,
    language_for,
    require,
)
from language_server.diagnostic import Diagnostic
from language_server.languages import Language
from language_server.workspace.files import read_text
from language_server.workspace.positions import LineIndex
from language_server.workspace.problems import is_fault, problem


def check(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="The models.", show_default=False)
    ] = None,
    language: LanguageName = None,
    given: Given = None,
    jsonl: AsJsonLines = False,
    as_json: AsJson = False,
) -> int:
    """Check models: syntax, references, types, multiplicities and constraints.

    Without --language the file's extension decides. With --jsonl, {"id", "text"} lines come from
    the files or standard input, and {"id", "problems"} lines answer. Lines and columns are counted
    from 1; "range" in JSON holds the positions of the Language Server Protocol, counted from 0.
    """
    paths = files or []
    if jsonl:
        return _check_records(paths, language_for(require(language, "--jsonl"), None, given))
    if not paths:
        raise typer.BadParameter("name at least one file, or use --jsonl")
    checked = [(path, *_check_file(path, language, given)) for path in paths]
    if as_json:
        write_json(
            [
                {
                    "file": str(path),
                    "language": name,
                    "problems": [problem(found, lines) for found in diagnostics],
                }
                for path, name, lines, diagnostics in checked
            ]
        )
    else:
        for path, _, lines, diagnostics in checked:
            _write_report(path, lines, diagnostics)
    return _exit_code(found for _, _, _, diagnostics in checked for found in diagnostics)


def problems_of(language: Language, text: str, path: Path | None = None) -> tuple[Diagnostic, ...]:
    """All problems of a finished text.

    The analysis names them all with their places; where it finds none, textX has the last word.
    """
    found = language.problems(text, path)
    if any(is_fault(diagnostic) for diagnostic in found):
        return found
    return (*found, *(last for last in language.judge(text, path) if last not in found))


def _check_file(
    path: Path, name: str | None, given: Path | None
) -> tuple[str, LineIndex, tuple[Diagnostic, ...]]:
    text = read_text(path)
    language = language_for(name, path, given)
    return language.name, LineIndex(text), problems_of(language, text, path)


def _check_records(paths: Iterable[Path], language: Language) -> int:
    code = 0
    for identity, text in read_records(paths):
        lines = LineIndex(text)
        found = problems_of(language, text)
        write_json({"id": identity, "problems": [problem(each, lines) for each in found]})
        code = max(code, _exit_code(found))
    return code


def _write_report(path: Path, lines: LineIndex, diagnostics: Iterable[Diagnostic]) -> None:
    for found in diagnostics:
        line, column = lines.person(found.start)
        kind = found.constraint or found.code
        write(f"{path}:{line}:{column}: {found.severity}: {found.message} [{kind}]\n")
        for start, _, message in found.related:
            line, column = lines.person(start)
            write(f"{path}:{line}:{column}: note: {message}\n")


def _exit_code(diagnostics: Iterable[Diagnostic]) -> int:
    return 1 if any(is_fault(found) for found in diagnostics) else 0
