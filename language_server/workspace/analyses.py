"""The last analysis of each open document, from which that of its next version starts."""

from __future__ import annotations

from language_server.languages import Analysis, Language
from language_server.workspace.documents import Document, same_uri


class Analyses:
    """Analyses of documents, kept so that a keystroke costs little. Not for several threads."""

    def __init__(self) -> None:
        self._known: dict[str, Analysis] = {}

    def of(self, document: Document, language: Language) -> Analysis:
        """The analysis of a document; equal to one that knows nothing of earlier versions."""
        uri = same_uri(document.uri)
        known = self._known.get(uri)
        analysis = language.analyse(document.text, document.path, known)
        self._known[uri] = analysis
        return analysis

    def forget(self, uri: str) -> None:
        """The document was closed."""
        self._known.pop(same_uri(uri), None)
