"""What a problem file must obey beyond its syntax: names, arities, types, as its reader finds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from language_server.constraints.problem import problem_errors
from language_server.diagnostic import Diagnostic
from language_server.languages.analysis import Check
from language_server.languages.shipped import shipped_file


def further_problem_check(grammar: Path | None) -> Check | None:
    """The check for the shipped problem language; None for any other grammar."""
    ours = shipped_file("grammars", "problem.tx")
    if grammar is None or ours is None or grammar.resolve() != ours.resolve():
        return None
    return _check


def _check(text: str, path: Path | None) -> Iterable[Diagnostic]:
    for error in problem_errors(text, path):
        elsewhere = error.path is not None and path is not None and error.path != path.resolve()
        start, end = (0, 0) if elsewhere else (error.start, error.end)
        message = str(error) if elsewhere else error.message
        if error.cure and not elsewhere:
            message += f" ({error.cure})"
        yield Diagnostic(start, end, "error", "metamodel", "problem", message)
