"""The front end of the problem language: the text of a ``.problem`` file becomes a `Theory`.

The syntax is ``grammars/problem.tx``, read by textX. Reading has two passes: `problem_symbols`
declares classes, features, predicates and individuals, then `problem_clauses` translates what uses
them. What the evaluation does not support is refused at its place, never ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from textx import metamodel_from_file
from textx.exceptions import TextXSyntaxError

from language_server.constraints.problem_clauses import ClauseReader
from language_server.constraints.problem_error import Collector, ProblemError
from language_server.constraints.problem_given import GivenReader
from language_server.constraints.problem_symbols import declare
from language_server.constraints.shipped import shipped_file
from language_server.constraints.theory import Assertion, Theory

__all__ = ["ProblemError", "load_given", "load_problem", "problem_errors"]


def load_problem(source: Path | str, path: Path | None = None) -> Theory:
    """Reads a problem.

    Args:
        source: a `Path` is read as a file, a `str` is the text itself.
        path: where a text belongs, so that its imports are found.

    Returns:
        The theory, with the imported modules merged into it.

    Raises:
        ProblemError: the first problem of the file in textual order; `ProblemError.others` has
            the rest.
    """
    theory, errors = _read(source, path)
    _raise_first(errors)
    return theory


def load_given(source: Path | str, theory: Theory) -> tuple[Assertion, ...]:
    """Reads facts that hold of every text of a request, in the words of a metamodel.

    Args:
        source: a `Path` is read as a file, a `str` is the text itself.
        theory: the metamodel.

    Raises:
        ProblemError: the first problem of the file; `ProblemError.others` has the rest.
    """
    collector = Collector()
    given = GivenReader(theory, collector).read(list(_statements(source, collector, frozenset())))
    _raise_first(collector.sorted())
    return given


def problem_errors(source: Path | str, path: Path | None = None) -> tuple[ProblemError, ...]:
    """All problems of a problem file (or text), in textual order; empty when it is fine.

    Args:
        source, path: as for `load_problem`.
    """
    return tuple(_read(source, path)[1])


def _raise_first(errors: list[ProblemError]) -> None:
    if errors:
        first = errors[0]
        first.others = tuple(errors[1:])
        raise first


def _read(source: Path | str, path: Path | None = None) -> tuple[Theory, list[ProblemError]]:
    collector = Collector()
    statements = list(_statements(source, collector, frozenset(), path))
    if collector.errors:
        return Theory(), collector.sorted()
    symbols = declare(statements, collector)
    theory = ClauseReader(symbols, collector).read(statements)
    return theory, collector.sorted()


def _statements(
    source: Path | str,
    collector: Collector,
    importing: frozenset[Path],
    path: Path | None = None,
) -> Iterator[Any]:
    """The statements of a problem, those of its imports first."""
    if isinstance(source, Path):
        path = source.resolve()
        try:
            text = source.read_text(encoding="utf-8-sig")
        except OSError as error:
            collector.add_plain(f"cannot read the problem file: {error.strerror}", path)
            return
        except UnicodeDecodeError:
            collector.add_plain("the problem file is not UTF-8 text", path)
            return
    else:
        text = source
        path = path.resolve() if path is not None else None
    try:
        problem = _metamodel().model_from_str(text)
    except TextXSyntaxError as error:
        collector.add_syntax(error, path, text)
        return
    except RecursionError:
        collector.add_plain("the problem is nested too deeply to be read", path)
        return
    if isinstance(problem, str):  # textX gives a bare string for an empty model
        return
    problem._tx_filename = str(path) if path is not None else None
    for statement in problem.statements:
        collector.places.enter(statement, path, text)
        if statement.__class__.__name__ != "ImportStatement":
            yield statement
        else:
            imported = _imported_file(statement.module, path)
            if imported is None:
                collector.add(
                    statement,
                    f"module {statement.module} is not found",
                    cure="put a .problem file of that name beside this one",
                )
            elif imported in importing or imported == path:
                collector.add(statement, f"module {statement.module} imports itself")
            else:
                seen = importing | ({path} if path else set())
                yield from _statements(imported, collector, seen)


def _imported_file(module: str, importer: Path | None) -> Path | None:
    """``a::b`` is ``a/b.problem`` beside the importing file, else among the shipped ones."""
    relative = Path(*module.split("::")).with_suffix(".problem")
    folders = [importer.parent] if importer else []
    for candidate in [
        *(folder / relative for folder in folders),
        shipped_file("metamodels", str(relative)),
    ]:
        if candidate is not None and candidate.is_file():
            return candidate.resolve()
    return None


@cache
def _metamodel() -> Any:
    grammar = shipped_file("grammars", "problem.tx")
    if grammar is None:
        raise FileNotFoundError("the installation lacks grammars/problem.tx; install it again")
    return metamodel_from_file(str(grammar))
