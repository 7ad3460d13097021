"""The open documents, as the editor last told them.

A document is a value: an edit makes a new one. Whoever holds a document while it is analysed keeps
a consistent text and version, and can ask the store whether it is still the current one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from language_server.workspace.positions import LineIndex, Range

BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a document: ``text`` replaces ``range``, the whole text where that is None."""

    range: Range | None
    text: str


@dataclass(frozen=True)
class Document:
    """One version of an open document.

    Attributes:
        uri: as the editor spells it; answers must use this spelling.
        version: the editor's count of changes.
        text: exactly what the editor shows.
        language_id: the editor's name for its language, '' if it gave none.
    """

    uri: str
    version: int
    text: str
    language_id: str = ""

    @cached_property
    def lines(self) -> LineIndex:
        return LineIndex(self.text)

    @cached_property
    def path(self) -> Path | None:
        """Where the document is stored, None if it is nowhere (``untitled:`` and the like)."""
        return path_of(self.uri)

    @property
    def name(self) -> str:
        """The last part of its path or address, with the extension."""
        return PurePosixPath(unquote(urlsplit(self.uri).path)).name

    def edited(self, edits: Sequence[Edit], version: int) -> Document:
        """The document after ``edits``, each of which sees the result of the one before."""
        text, lines = self.text, self.lines
        for edit in edits:
            if edit.range is None:
                text = edit.text
            else:
                start, end = lines.span(edit.range)
                text = text[:start] + edit.text + text[end:]
            lines = LineIndex(text)
        after = Document(self.uri, version, text, self.language_id)
        after.__dict__["lines"] = lines
        return after


class Documents:
    """The store of open documents."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}

    def open(self, document: Document) -> None:
        self._documents[same_uri(document.uri)] = document

    def change(self, uri: str, version: int, edits: Sequence[Edit]) -> Document | None:
        """Apply edits to an open document.

        Returns:
            The new document, or None if no such document is open.
        """
        document = self._documents.get(same_uri(uri))
        if document is None:
            return None
        document = document.edited(edits, version)
        self._documents[same_uri(uri)] = document
        return document

    def close(self, uri: str) -> Document | None:
        return self._documents.pop(same_uri(uri), None)

    def get(self, uri: str) -> Document | None:
        return self._documents.get(same_uri(uri))

    def is_current(self, document: Document) -> bool:
        """Whether this is still what the editor shows."""
        return self._documents.get(same_uri(document.uri)) is document

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._documents.values()))


def same_uri(uri: str) -> str:
    """One spelling for all spellings of a URI: VS Code writes ``file:///c%3A/x``, others ``file:///C:/x``."""
    decoded = unquote(uri)
    scheme, colon, rest = decoded.partition(":")
    if scheme.lower() == "file" and len(rest) > 5 and rest[:3] == "///" and rest[4] == ":":
        rest = rest[:3] + rest[3].lower() + rest[4:]
    return scheme.lower() + colon + rest


def path_of(uri: str) -> Path | None:
    """The path a ``file:`` URI names, None for any other URI."""
    parts = urlsplit(uri)
    if parts.scheme.lower() != "file":
        return None
    # A ``#`` or ``?`` that an editor failed to escape belongs to the name of the file.
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    path += f"#{parts.fragment}" if parts.fragment else ""
    if parts.netloc and parts.netloc.lower() != "localhost":
        return Path(f"//{parts.netloc}{unquote(path)}")
    return Path(url2pathname(path))


def uri_of(path: Path) -> str:
    """The URI of a path."""
    return path.absolute().as_uri()
