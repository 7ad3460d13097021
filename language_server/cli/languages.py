"""``langwright languages``: what is known, and what failed to load and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from language_server.cli.console import note, write, write_json
from language_server.cli.options import AsJson, catalogue
from language_server.languages import LanguageError
from language_server.languages.registry import Entry
from language_server.workspace.catalogue import Catalogue


def languages(as_json: AsJson = False) -> int:
    """List the languages that are known: shipped, registered with textX, or in langwright.toml.

    Every one of them is loaded; what does not load is listed with the reason, and what in a grammar
    or a problem file its users will pay for with its place.
    """
    known = catalogue()
    failures = list(known.failures())
    rows = []
    warnings: list[LanguageError] = []
    for entry in known.entries:
        row, failure, doubts = _row(known, entry)
        rows.append(row)
        warnings += doubts
        if failure is not None and failure not in failures:
            failures.append(failure)
    if as_json:
        write_json({"languages": rows, "failures": [_failure(error) for error in failures]})
        return 0
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        endings = " ".join(row["extensions"])
        state = "" if row["loads"] else "does not load"
        write(
            f"{row['name']:<{width}}  {row['origin']:<9}  {endings:<14}  "
            f"{state or row['description']}".rstrip()
            + "\n"
        )
    for warning in warnings:
        write(f"{warning.place}warning: {warning.told}\n")
    for failure in failures:
        note(f"langwright: {failure}")
    return 0


def _row(
    known: Catalogue, entry: Entry
) -> tuple[dict[str, Any], LanguageError | None, tuple[LanguageError, ...]]:
    """What is listed of a language, why it does not load, and what is doubtful about it."""
    row: dict[str, Any] = {
        "name": entry.name,
        "origin": entry.origin,
        "description": entry.description,
        "extensions": list(entry.definition.extensions),
        "patterns": list(entry.definition.patterns),
        "grammar": _text(entry.definition.grammar),
        "problem": _text(entry.definition.problem),
    }
    try:
        language = known.load(entry)
    except LanguageError as error:
        return {**row, "loads": False, "examples": 0, "error": _failure(error)}, error, ()
    row["warnings"] = [_failure(warning) for warning in language.warnings]
    return {**row, "loads": True, "examples": len(language.examples)}, None, language.warnings


def _failure(error: LanguageError) -> dict[str, Any]:
    return {
        "message": error.message,
        "path": _text(error.path),
        "line": error.line,
        "column": error.column,
        "cure": error.cure,
    }


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
