"""Diagnostics: the problems of a document as it stands, and of the definitions that do not load."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from language_server.features.protocol import SOURCE, diagnostic
from language_server.languages import LanguageError
from language_server.workspace.analyses import Analyses
from language_server.workspace.catalogue import Catalogue, UnknownLanguage
from language_server.workspace.documents import Document, uri_of


def problems_of_document(
    catalogue: Catalogue, analyses: Analyses, document: Document
) -> list[types.Diagnostic]:
    """All problems of a document; if its language does not load, that is the one problem."""
    try:
        language = catalogue.for_document(document)
    except UnknownLanguage:
        return []
    except LanguageError as error:
        return [_at_top(f"This document cannot be checked: {error}")]
    analysis = analyses.of(document, language)
    problems = language.problems(document.text, document.path, analysis)
    return [diagnostic(found, document.lines, document.uri) for found in problems]


def problems_of_definitions(
    failures: Iterable[LanguageError], warnings: Iterable[LanguageError]
) -> dict[str, list[types.Diagnostic]]:
    """What is wrong with the files that define languages, by the files' URIs.

    Args:
        failures: why languages do not load.
        warnings: what users of languages that load will pay for.
    """
    found: dict[str, list[types.Diagnostic]] = {}
    for errors, severity, code in (
        (failures, types.DiagnosticSeverity.Error, "language-does-not-load"),
        (warnings, types.DiagnosticSeverity.Warning, "doubtful-language"),
    ):
        for error in errors:
            if error.path is not None:
                found.setdefault(uri_of(error.path), []).append(
                    types.Diagnostic(_range(error), error.told, severity, code, source=SOURCE)
                )
    return found


def _range(error: LanguageError) -> types.Range:
    line, column = max((error.line or 1) - 1, 0), max((error.column or 1) - 1, 0)
    end = error.end or (line + 1, column + 2)
    return types.Range(types.Position(line, column), types.Position(end[0] - 1, end[1] - 1))


def _at_top(message: str) -> types.Diagnostic:
    top = types.Position(0, 0)
    return types.Diagnostic(
        range=types.Range(top, types.Position(0, 1)),
        message=message,
        severity=types.DiagnosticSeverity.Error,
        source=SOURCE,
        code="language-does-not-load",
    )
