"""What a problem file must obey beyond its syntax: names, arities, types, and its grammar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from language_server.constraints.problem import ProblemError, load_problem, problem_errors
from language_server.diagnostic import Diagnostic
from language_server.languages.agreement import agree
from language_server.languages.analysis import Check
from language_server.languages.error import LanguageError
from language_server.languages.grammar_file import load_grammar
from language_server.languages.shipped import shipped_file
from language_server.languages.text_meaning import without_meaning


def further_problem_check(grammar: Path | None) -> Check | None:
    """The check for the shipped problem language; None for any other grammar."""
    ours = shipped_file("grammars", "problem.tx")
    if grammar is None or ours is None or grammar.resolve() != ours.resolve():
        return None
    return _check


def _check(text: str, path: Path | None) -> Iterable[Diagnostic]:
    errors = problem_errors(text, path)
    if not errors and path is not None:
        yield from _mismatches(text, path)
    for error in errors:
        yield _diagnostic(error, path)


def _diagnostic(error: ProblemError, path: Path | None) -> Diagnostic:
    if error.path is not None and path is not None and error.path != path.resolve():
        return Diagnostic(0, 0, "error", "metamodel", "problem", str(error))  # in an import
    message = f"{error.message} ({error.cure})" if error.cure else error.message
    return Diagnostic(error.start, error.end, "error", "metamodel", "problem", message)


def _mismatches(text: str, path: Path) -> Iterator[Diagnostic]:
    """Where the problem does not fit the grammar of the same name, if there is one."""
    grammar = _grammar_of(path)
    if grammar is None:
        return
    try:
        theory = load_problem(text, path)
        agreement = agree(load_grammar(grammar), theory)
    except (LanguageError, ProblemError):
        return  # the grammar's own mistakes are shown there
    for mismatch in (*without_meaning(theory), *agreement.mismatches):
        if mismatch.in_problem is not None:
            message = f"{mismatch.message} ({mismatch.cure})" if mismatch.cure else mismatch.message
            start, end, there = mismatch.in_problem
            if there is not None and there != path.resolve():
                start, end, message = 0, 0, f"{there}: {message}"  # in an import
            yield Diagnostic(start, end, mismatch.severity, "metamodel", "mismatch", message)


def _grammar_of(path: Path) -> Path | None:
    candidates = [path.with_suffix(".tx")]
    if path.parent.name == "metamodels":
        candidates.append(path.parent.parent / "grammars" / candidates[0].name)
    return next((candidate for candidate in candidates if candidate.is_file()), None)
