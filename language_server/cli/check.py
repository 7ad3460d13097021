"""``langwright check``: the problems of models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from language_server.cli.console import read_records, write, write_json
from language_server.cli.options import (
    AsJson,
    AsJsonLines,
    Given,
    LanguageName,
    WithFixes,
    language_for,
    require,
)
from language_server.diagnostic import Diagnostic
from language_server.languages import Analysis, Fix, Language
from language_server.projection.lifting import Lifting
from language_server.workspace.files import read_text
from language_server.workspace.positions import LineIndex
from language_server.workspace.problems import is_fault, problem

_FIXED = 20  # problems of a file for which a person is told what would lift them


def check(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="The models.", show_default=False)
    ] = None,
    language: LanguageName = None,
    given: Given = None,
    jsonl: AsJsonLines = False,
    as_json: AsJson = False,
    fixes: WithFixes = None,
) -> int:
    """Check models: syntax, references, types, multiplicities and constraints.

    Without --language the file's extension decides. With --jsonl, {"id", "text"} lines come from
    the files or standard input, and {"id", "problems"} lines answer. Lines and columns are counted
    from 1; "range" in JSON holds the positions of the Language Server Protocol, counted from 0.
    """
    paths = files or []
    if jsonl:
        spoken = language_for(require(language, "--jsonl"), None, given)
        return _check_records(paths, spoken, bool(fixes))
    if not paths:
        raise typer.BadParameter("name at least one file, or use --jsonl")
    checked = [
        (path, _Checked(read_text(path), language_for(language, path, given), path))
        for path in paths
    ]
    if as_json:
        write_json(
            [
                {
                    "file": str(path),
                    "language": each.language.name,
                    "problems": each.told(bool(fixes)),
                }
                for path, each in checked
            ]
        )
    else:
        for path, each in checked:
            _write_report(path, each, fixes is not False)
    return _exit_code(found for _, each in checked for found in each.problems)


class _Checked:
    """A text that is checked."""

    def __init__(self, text: str, language: Language, path: Path | None = None) -> None:
        self.language, self._text, self._path = language, text, path
        self.lines = LineIndex(text)
        self._analysis = language.analyse(text, path)
        self.problems = problems_of(language, text, path, self._analysis)
        self._lifting: Lifting | None = None

    def fixes(self, found: Diagnostic) -> tuple[Fix, ...]:
        """What would lift a problem."""
        if self._lifting is None:
            self._lifting = Lifting(self.language, self._text, self._analysis, self._path)
        return self._lifting.fixes(found)

    def told(self, fixes: bool) -> list[dict[str, Any]]:
        """The problems as JSON has them."""
        return [
            problem(found, self.lines, self.fixes(found) if fixes else None)
            for found in self.problems
        ]


def problems_of(
    language: Language, text: str, path: Path | None = None, analysis: Analysis | None = None
) -> tuple[Diagnostic, ...]:
    """All problems of a finished text.

    The analysis names them all with their places; where it finds none, textX has the last word.
    """
    found = language.problems(text, path, analysis)
    if any(is_fault(diagnostic) for diagnostic in found):
        return found
    return (*found, *(last for last in language.judge(text, path) if last not in found))


def _check_records(paths: Iterable[Path], language: Language, fixes: bool) -> int:
    code = 0
    for identity, text in read_records(paths):
        checked = _Checked(text, language)
        write_json({"id": identity, "problems": checked.told(fixes)})
        code = max(code, _exit_code(checked.problems))
    return code


def _write_report(path: Path, checked: _Checked, fixes: bool) -> None:
    lines = checked.lines
    for number, found in enumerate(checked.problems):
        line, column = lines.person(found.start)
        kind = found.constraint or found.code
        write(f"{path}:{line}:{column}: {found.severity}: {found.message} [{kind}]\n")
        for start, _, message in found.related:
            line, column = lines.person(start)
            write(f"{path}:{line}:{column}: note: {message}\n")
        for fix in checked.fixes(found) if fixes and number < _FIXED else ():
            line, column = lines.person(fix.start)
            write(f"{path}:{line}:{column}: note: would be lifted by: {fix.title}\n")


def _exit_code(diagnostics: Iterable[Diagnostic]) -> int:
    return 1 if any(is_fault(found) for found in diagnostics) else 0
