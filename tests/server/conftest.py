"""A real client that talks to the real server over standard input and output."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest_asyncio
from lsprotocol import types
from pytest_lsp import LanguageClient

SECONDS = 20.0
GOLD = """\
statechart Door

event open

initial state Closed {
    on open -> Open
}
state Open
"""


class Editor(LanguageClient):
    """An editor: it opens documents, types into them and keeps what the server publishes."""

    def __init__(self) -> None:
        super().__init__()
        self.published: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.progress: list[dict[str, Any]] = []
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.offered = types.ServerCapabilities()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.published.setdefault(params.uri, []).append(params)

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        def show(params: types.ShowMessageParams) -> None:
            self.messages.append(params)

        @self.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            return None

        @self.feature("langwright/progress")
        def progressed(params: Any) -> None:
            self.progress.append(plain(params))

    def open(self, uri: str, text: str, language_id: str = "") -> None:
        self.texts[uri], self.versions[uri] = text, 1
        self.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language_id, 1, text))
        )

    def replace(self, uri: str, text: str) -> int:
        """Put another text into a document in one change."""
        self.versions[uri] += 1
        self.texts[uri] = text
        self._change(uri, [types.TextDocumentContentChangeWholeDocument(text)])
        return self.versions[uri]

    def type(self, uri: str, start: tuple[int, int], end: tuple[int, int], text: str) -> int:
        """Replace a range (in UTF-16 positions), as typing does."""
        self.versions[uri] += 1
        place = types.Range(types.Position(*start), types.Position(*end))
        self._change(uri, [types.TextDocumentContentChangePartial(place, text)])
        return self.versions[uri]

    async def diagnostics_of(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """The diagnostics published for a version (the current one if none is named)."""
        wanted = self.versions.get(uri) if version is None else version

        def there() -> Sequence[types.Diagnostic] | None:
            for params in self.published.get(uri, []):
                if params.version == wanted:
                    return params.diagnostics
            return None

        return list(await eventually(there))

    async def cleared(self, uri: str) -> None:
        """Wait until a document is shown without any problem."""
        await eventually(lambda: True if not self.published[uri][-1].diagnostics else None)

    async def complete(self, uri: str, line: int, character: int) -> list[types.CompletionItem]:
        answer = await self.text_document_completion_async(
            types.CompletionParams(
                types.TextDocumentIdentifier(uri), types.Position(line, character)
            )
        )
        if answer is None:
            return []
        return list(answer.items if isinstance(answer, types.CompletionList) else answer)

    async def ghost(self, uri: str, line: int, character: int) -> str | None:
        answer = await self.text_document_inline_completion_async(
            types.InlineCompletionParams(
                types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic),
                types.TextDocumentIdentifier(uri),
                types.Position(line, character),
            )
        )
        if answer is None:
            return None
        items = answer.items if isinstance(answer, types.InlineCompletionList) else answer
        return str(items[0].insert_text) if items else None

    def _change(self, uri: str, changes: list[Any]) -> None:
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[uri], uri), changes
            )
        )


def plain(value: Any) -> Any:
    """The dictionaries that pygls' client has made objects of."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


async def eventually(look: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """What `look` finds as soon as that is not None."""
    until = time.monotonic() + seconds
    while (found := look()) is None:
        assert time.monotonic() < until, "it did not happen in time"
        await asyncio.sleep(0.02)
    return found


async def start(root: Path | None = None, model: str = "random", **general: Any) -> Editor:
    """An editor with a server that has been initialized in a folder."""
    editor = Editor()
    await editor.start_io(sys.executable, "-m", "language_server", "serve")
    folders = [types.WorkspaceFolder(root.as_uri(), root.name)] if root else None
    answer = await editor.initialize_session(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(
                text_document=types.TextDocumentClientCapabilities(
                    inline_completion=types.InlineCompletionClientCapabilities(),
                    publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
                        version_support=True, related_information=True, data_support=True
                    ),
                ),
                general=types.GeneralClientCapabilities(**general) if general else None,
            ),
            workspace_folders=folders,
            initialization_options={"model": model},
        )
    )
    editor.offered = answer.capabilities
    return editor


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def editor(tmp_path_factory: Any) -> AsyncIterator[Editor]:
    """One server for the tests of a module; each test uses documents of its own.

    Its language model wants to write `GOLD`, whatever it is asked.
    """
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "gold.txt").write_text(GOLD)
    editor = await start(folder, model=f"replay:{folder / 'gold.txt'}")
    yield editor
    await editor.shutdown_session()
