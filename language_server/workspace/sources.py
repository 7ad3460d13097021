"""The files of a workspace: what an editor shows of them counts before what is stored."""

from __future__ import annotations

from pathlib import Path

from language_server.languages.imports import Disk
from language_server.workspace.documents import Documents, uri_of


class Sources(Disk):
    """Files as they are on disk, but those that are open as the editor shows them.

    Args:
        root: the workspace folder.
        documents: the open documents.
    """

    def __init__(self, root: Path | None, documents: Documents) -> None:
        super().__init__(root)
        self._documents = documents

    def text(self, path: str) -> str | None:
        document = self._documents.get(uri_of(Path(path)))
        return document.text if document is not None else super().text(path)
