"""Diagnostics: the problems of a document as it stands, and of the definitions that do not load."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from language_server.features.protocol import SOURCE, diagnostic
from language_server.languages import LanguageError
from language_server.workspace.catalogue import Catalogue, UnknownLanguage
from language_server.workspace.documents import Document, uri_of


def problems_of_document(catalogue: Catalogue, document: Document) -> list[types.Diagnostic]:
    """All problems of a document; if its language does not load, that is the one problem."""
    try:
        language = catalogue.for_document(document)
    except UnknownLanguage:
        return []
    except LanguageError as error:
        return [_at_top(f"This document cannot be checked: {error}")]
    analysis = language.analyse(document.text, document.path)
    return [diagnostic(found, document.lines, document.uri) for found in analysis.diagnostics]


def load_failures(failures: Iterable[LanguageError]) -> dict[str, list[types.Diagnostic]]:
    """What is wrong with the files that define languages, by the files' URIs."""
    found: dict[str, list[types.Diagnostic]] = {}
    for failure in failures:
        if failure.path is None:
            continue
        line = max((failure.line or 1) - 1, 0)
        column = max((failure.column or 1) - 1, 0)
        text = failure.message + (f" {failure.cure}" if failure.cure else "")
        found.setdefault(uri_of(failure.path), []).append(
            types.Diagnostic(
                range=types.Range(types.Position(line, column), types.Position(line, column + 1)),
                message=text,
                severity=types.DiagnosticSeverity.Error,
                source=SOURCE,
                code="language-does-not-load",
            )
        )
    return found


def _at_top(message: str) -> types.Diagnostic:
    top = types.Position(0, 0)
    return types.Diagnostic(
        range=types.Range(top, types.Position(0, 1)),
        message=message,
        severity=types.DiagnosticSeverity.Error,
        source=SOURCE,
        code="language-does-not-load",
    )
