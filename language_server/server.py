"""The language server: protocol messages in, features' answers out.

Three things run side by side. The event loop only moves messages. One analyst thread reads texts
and answers questions about them, one after the other, so that nothing below needs locks. The
language model lives in a process of its own (`workspace.model_worker`). A question that has become
stale while it waited is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from language_server.features import protocol
from language_server.features.completion import propose
from language_server.features.definition import Definition, definition
from language_server.features.diagnostics import problems_of_definitions, problems_of_document
from language_server.features.generation import GenerationRefused, Plan, plan
from language_server.features.inline_completion import ghost_text
from language_server.features.proofs import verdict_within
from language_server.features.quick_fixes import QuickFixes
from language_server.languages import Language, LanguageError
from language_server.projection import Prefix
from language_server.workspace.analyses import Analyses
from language_server.workspace.catalogue import Catalogue
from language_server.workspace.documents import Document, Documents, Edit, path_of, same_uri, uri_of
from language_server.workspace.model_worker import ModelWorker, WorkerError
from language_server.workspace.positions import Position, Range
from language_server.workspace.problems import range_data
from language_server.workspace.snapshots import Snapshots
from language_server.workspace.sources import Sources

logger = logging.getLogger(__name__)

GENERATE = "langwright/generate"
PROGRESS = "langwright/progress"

_PAUSE = 0.15  # seconds without typing before a text is analysed
_WARM_UP = 0.5  # seconds to look for the cheapest model of a language, once
_GHOST_SECONDS = 0.6  # the editor waits 750 ms
_MODEL_SECONDS = 0.2  # with less than this the language model is not asked
_MARGIN = 0.05  # for the way to the model process and back
_DEFINITIONS = ("**/*.tx", "**/*.problem", "**/langwright.toml")
_TRIGGERS = [".", ":", ">", "[", "(", ",", "=", '"']

T = TypeVar("T")


class _Protocol(LanguageServerProtocol):
    """pygls' protocol with one store of documents, ours, and UTF-16 positions only.

    pygls counts lines as Python does (U+2028 ends one), fails on changes of unknown documents, and
    would take the client's favourite encoding; our positions are UTF-16, which every client knows.
    """

    _server: Langwright

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Any:
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        return (yield from super().lsp_initialize(params))

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        opened = params.text_document
        self._server.documents.open(
            Document(opened.uri, opened.version, opened.text, opened.language_id)
        )
        self._server.schedule_analysis(opened.uri, 0.0)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        changed = params.text_document
        edits = [
            Edit(protocol.text_range(change.range), change.text)
            if isinstance(change, types.TextDocumentContentChangePartial)
            else Edit(None, change.text)
            for change in params.content_changes
        ]
        self._server.documents.change(changed.uri, changed.version, edits)
        self._server.schedule_analysis(changed.uri, _PAUSE)
        self._server.schedule_importers(changed.uri)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.forget(params.text_document.uri)


class Langwright(LanguageServer):
    """The server and what it keeps between messages."""

    def __init__(self, worker: ModelWorker | None = None) -> None:
        super().__init__(
            "langwright",
            _version(),
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            protocol_cls=_Protocol,
        )
        self.documents = Documents()
        self.worker = worker or ModelWorker()
        self.model = "default"
        self.catalogue = Catalogue(None)
        self._analyst = ThreadPoolExecutor(1, thread_name_prefix="analyst")
        self._scheduled: dict[str, asyncio.Task[None]] = {}
        self._starts: dict[Language, Prefix] = {}
        self._importers: set[str] = set()  # documents whose language reads further files
        self.watched_endings: set[str] = set()
        self._snapshots: dict[str, tuple[Language, Snapshots]] = {}
        self._analyses = Analyses()
        self._quick_fixes: dict[str, QuickFixes] = {}
        self._background: set[asyncio.Future[Any]] = set()
        self._told: set[tuple[str, ...]] = set()
        self._marks: dict[str, list[types.Diagnostic]] = {}

    async def analyst(self, work: Callable[[], T]) -> T:
        """Have the analyst thread do something."""
        return await asyncio.get_running_loop().run_in_executor(self._analyst, work)

    async def about(self, document: Document, work: Callable[[], T]) -> T | None:
        """Have the analyst answer about a document; None if it has changed before its turn came."""
        return await self.analyst(lambda: work() if self.documents.is_current(document) else None)

    async def language(self, document: Document) -> Language:
        """The language of a document.

        Raises:
            LanguageError: there is none, or it cannot be loaded.
        """
        return await self.analyst(lambda: self.catalogue.for_document(document))

    def schedule_analysis(self, uri: str, pause: float) -> None:
        """Analyse a document once nothing has happened to it for ``pause`` seconds."""
        scheduled = self._scheduled.pop(uri, None)
        if scheduled is not None:
            scheduled.cancel()
        self._scheduled[uri] = asyncio.get_running_loop().create_task(self._analyse(uri, pause))

    def schedule_importers(self, changed: str | None) -> None:
        """Analyse anew what may import a file whose text is another one now (any if None)."""
        for uri in self._importers:
            if changed is None or same_uri(uri) != same_uri(changed):
                self.schedule_analysis(uri, _PAUSE)

    def forget(self, uri: str) -> None:
        """A document was closed."""
        self.documents.close(uri)
        self._analyst.submit(self._analyses.forget, uri)  # behind one that is under way
        self._importers.discard(uri)
        self.schedule_importers(uri)
        self._snapshots.pop(uri, None)
        self._quick_fixes.pop(uri, None)
        scheduled = self._scheduled.pop(uri, None)
        if scheduled is not None:
            scheduled.cancel()
        self._publish(uri, self._marks_of(uri), None)

    def prefix(self, document: Document, language: Language, offset: int) -> Prefix:
        """The text before a place of a document; analyst thread only."""
        known = self._snapshots.get(document.uri)
        if known is None or known[0] is not language:
            known = (language, Snapshots(self._start(language)))
            self._snapshots[document.uri] = known
        return known[1].at(document.text[:offset])

    def definition(self, document: Document, language: Language, offset: int) -> Definition | None:
        """What the reference at a place of a document means; analyst thread only."""
        analysis = self._analyses.of(document, language)
        return definition(language, document.text, analysis, offset, document.path)

    def quick_fixes(self, document: Document, language: Language) -> QuickFixes:
        """The changes that mend problems of a document; analyst thread only."""
        analysis = self._analyses.of(document, language)
        known = self._quick_fixes.get(document.uri)
        if known is None or not known.still_hold(document, analysis):
            known = self._quick_fixes[document.uri] = QuickFixes(language, document, analysis)
        return known

    def _start(self, language: Language) -> Prefix:
        """The empty prefix of a language, which knows a witness: what follows may reuse it."""
        known = self._starts.get(language)
        if known is None:
            known = Prefix.start(language)
            verdict_within(known, time.monotonic() + _WARM_UP)
            self._starts[language] = known
        return known

    async def reload(self, root: Path | None) -> None:
        """Read the languages anew and analyse all documents again."""
        files = Sources(root, self.documents)
        self.catalogue = await self.analyst(lambda: Catalogue(root, files))
        self._starts.clear()
        await self.report_definitions()
        for document in self.documents:
            self.schedule_analysis(document.uri, 0.0)

    async def report_definitions(self) -> None:
        """Show what is wrong with the languages in the files that define them.

        What does not load is also told once in a message.
        """
        failures = await self.analyst(self.catalogue.failures)
        self._mark(problems_of_definitions(failures, ()))
        for failure in failures:
            if (str(failure),) not in self._told:
                self._told.add((str(failure),))
                self.show(f"Langwright: {failure}", types.MessageType.Warning)
        warnings = await self.analyst(self.catalogue.warnings)
        self._mark(problems_of_definitions(failures, warnings))

    def _mark(self, marks: dict[str, list[types.Diagnostic]]) -> None:
        """Publish what concerns files as they are on disk; open documents are analysed instead."""
        gone: dict[str, list[types.Diagnostic]] = {uri: [] for uri in self._marks}
        self._marks = marks
        for uri, diagnostics in {**gone, **marks}.items():
            document = self.documents.get(uri)
            if document is None or not self.catalogue.claiming(document):
                self._publish(document.uri if document else uri, diagnostics, None)

    def _marks_of(self, uri: str) -> list[types.Diagnostic]:
        return next((d for of, d in self._marks.items() if same_uri(of) == same_uri(uri)), [])

    def show(self, message: str, kind: types.MessageType) -> None:
        self.window_show_message(types.ShowMessageParams(type=kind, message=message))

    async def within(self, work: Coroutine[Any, Any, T], seconds: float) -> T | None:
        """The result of some work, None if it is not there in time; the work is then given up."""
        task = asyncio.ensure_future(work)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if done:
            return task.result()
        task.cancel()
        self._background.add(task)  # it may take a while to stop, and nobody waits for that
        task.add_done_callback(self._given_up)
        return None

    def _given_up(self, task: asyncio.Future[Any]) -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.warning("work that was given up failed: %s", task.exception())

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A fault of ours goes to the log; a message on every keystroke would help nobody."""
        logger.error("%s: %s", getattr(source, "__name__", source), error, exc_info=error)

    async def _analyse(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        document = self.documents.get(uri)
        if document is None:
            return
        with contextlib.suppress(LanguageError):
            if (await self.language(document)).links.imports:
                self._importers.add(uri)  # before its analysis, which may miss what changes now
                await _watch_models(self, Path(document.name).suffix)
        diagnostics = await self.about(
            document, lambda: problems_of_document(self.catalogue, self._analyses, document)
        )
        if diagnostics is not None and self.documents.is_current(document):
            if not self.catalogue.claiming(document):
                diagnostics = [*self._marks_of(uri), *diagnostics]
            self._publish(uri, diagnostics, document.version)
            self._tell_conflict(document)
            with contextlib.suppress(LanguageError):
                language = await self.language(document)
                await self.analyst(lambda: self._start(language))

    def _tell_conflict(self, document: Document) -> None:
        """Say once which of several languages a kind of file is taken for."""
        names = [entry.name for entry in self.catalogue.claiming(document)]
        ending = Path(document.name).suffix
        if len(names) > 1 and (ending, *names) not in self._told:
            self._told.add((ending, *names))
            self.show(
                f"Several languages have files like *{ending}: {', '.join(names)}. "
                f"{names[0]} is taken; langwright.toml can decide otherwise under [files].",
                types.MessageType.Info,
            )

    def _publish(
        self, uri: str, diagnostics: list[types.Diagnostic], of_version: int | None
    ) -> None:
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, diagnostics, of_version)
        )


def create(worker: ModelWorker | None = None) -> Langwright:
    """The server with all its features registered, ready to be started."""
    server = Langwright(worker)
    register = server.feature
    register(types.INITIALIZE)(_initialize)
    register(types.INITIALIZED)(_initialized)
    register(types.SHUTDOWN)(_shutdown)
    register(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(_files_changed)
    register(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(_settings_changed)
    register(types.TEXT_DOCUMENT_DID_SAVE)(_saved)
    # pygls offers open and close to the client only for what is registered here.
    register(types.TEXT_DOCUMENT_DID_OPEN)(_handled_by_protocol)
    register(types.TEXT_DOCUMENT_DID_CLOSE)(_handled_by_protocol)
    register(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=_TRIGGERS))(
        _completion
    )
    register(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())(
        _inline_completion
    )
    register(types.TEXT_DOCUMENT_DEFINITION)(_definition)
    register(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )(_code_actions)
    register(GENERATE)(_generate)
    return server


def serve() -> None:
    """Run the server on standard input and output until the client ends it."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    create().start_io()


def _initialize(server: Langwright, params: types.InitializeParams) -> None:
    options = params.initialization_options
    if isinstance(options, Mapping) and isinstance(options.get("model"), str) and options["model"]:
        server.model = options["model"]
    root = _root(params)
    server.catalogue = Catalogue(root, Sources(root, server.documents))


async def _initialized(server: Langwright, params: types.InitializedParams) -> None:
    await _watch_definitions(server)
    await server.report_definitions()


async def _shutdown(server: Langwright, params: None) -> None:
    await server.worker.stop()


async def _files_changed(server: Langwright, params: types.DidChangeWatchedFilesParams) -> None:
    if any(_defines(change.uri) for change in params.changes):
        await server.worker.stop()  # it has loaded the old definitions
        await server.reload(server.catalogue.root)
    else:
        server.schedule_importers(None)


async def _saved(server: Langwright, params: types.DidSaveTextDocumentParams) -> None:
    """For clients that do not watch files."""
    if _defines(params.text_document.uri):
        await server.worker.stop()
        await server.reload(server.catalogue.root)


def _defines(uri: str) -> bool:
    """Whether a file is part of the definition of languages."""
    return uri.endswith((".tx", ".problem", "langwright.toml"))


def _settings_changed(server: Langwright, params: types.DidChangeConfigurationParams) -> None:
    settings = params.settings
    if isinstance(settings, Mapping):
        model = settings.get("langwright", settings)
        model = model.get("model") if isinstance(model, Mapping) else None
        if isinstance(model, str) and model:
            server.model = model


def _handled_by_protocol(server: Langwright, params: Any) -> None:
    """Never called: `_Protocol` keeps the documents itself."""


async def _completion(
    server: Langwright, params: types.CompletionParams
) -> types.CompletionList | None:
    opened = await _opened(server, params.text_document.uri)
    if opened is None:
        return None
    document, language = opened
    offset = document.lines.offset(protocol.position(params.position))
    after = document.text[offset:]
    proposals = await server.about(
        document,
        lambda: propose(
            language, server.prefix(document, language, offset), after, path=document.path
        ),
    )
    return None if proposals is None else protocol.completion_list(proposals, document.lines)


async def _definition(server: Langwright, params: types.DefinitionParams) -> types.Location | None:
    opened = await _opened(server, params.text_document.uri)
    if opened is None:
        return None
    document, language = opened
    offset = document.lines.offset(protocol.position(params.position))
    found = await server.about(document, lambda: server.definition(document, language, offset))
    if found is None:
        return None
    there = document if found.path is None else _document_at(server, found.path)
    if there is None:
        return None
    place = there.lines.range(found.start, found.end)
    return types.Location(there.uri, protocol.protocol_range(place))


def _document_at(server: Langwright, path: Path) -> Document | None:
    """The file as the editor has it, else as it is on the disk; None if it cannot be read."""
    opened = server.documents.get(uri_of(path))
    if opened is not None:
        return opened
    try:
        return Document(uri_of(path), 0, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


async def _code_actions(
    server: Langwright, params: types.CodeActionParams
) -> list[types.CodeAction] | None:
    opened = await _opened(server, params.text_document.uri)
    if opened is None:
        return None
    document, language = opened
    problems = params.context.diagnostics
    return await server.about(document, lambda: server.quick_fixes(document, language).of(problems))


async def _inline_completion(
    server: Langwright, params: types.InlineCompletionParams
) -> types.InlineCompletionList | None:
    until = time.monotonic() + _GHOST_SECONDS
    document = server.documents.get(params.text_document.uri)
    if document is None:
        return None
    offset = document.lines.offset(protocol.position(params.position))
    # An answer that comes too late is not lost: the prefix remembers the witness found for it.
    text = await server.within(_ghost(server, document, offset), _GHOST_SECONDS)
    if text and not document.text[offset:].strip():
        left = until - time.monotonic()
        text = await _modelled(server, document, offset, left) or text
    if not text:
        return None
    place = protocol.protocol_range(document.lines.range(offset, offset))
    return types.InlineCompletionList([types.InlineCompletionItem(text, range=place)])


async def _ghost(server: Langwright, document: Document, offset: int) -> str | None:
    def look() -> str:
        language = server.catalogue.for_document(document)
        prefix = server.prefix(document, language, offset)
        return ghost_text(language, prefix, document.text[offset:])

    try:
        return await server.about(document, look)
    except LanguageError:
        return None


async def _modelled(
    server: Langwright, document: Document, offset: int, seconds: float
) -> str | None:
    """Ghost text by the language model, None if it is not at hand or does not answer in time."""
    if server.worker.loaded != server.model or server.worker.busy or seconds < _MODEL_SECONDS:
        return None
    task = {
        **_task(server, await server.language(document)),
        "before": document.text[:offset],
        "seconds": seconds - _MARGIN,
    }
    try:
        answer = await server.within(server.worker.request("continue", task), seconds)
    except WorkerError as error:
        logger.warning("no ghost text from the model: %s", error)
        return None
    return None if answer is None else str(answer["text"]) or None


async def _generate(server: Langwright, params: Any) -> dict[str, Any]:
    """``langwright/generate``: write a model for the description at the cursor.

    The answer tells the edit and the version of the document that it fits; the client applies it
    only to that version, so that nothing typed meanwhile is lost.
    """
    asked = _GenerateParams(params)
    document = server.documents.get(asked.uri)
    if document is None:
        return {"status": "error", "message": "This document is not open."}
    answer: dict[str, Any] = {"version": document.version}
    offset = document.lines.offset(asked.position)
    selection = document.lines.span(asked.selection) if asked.selection else None
    try:
        language = await server.language(document)
        planned = await server.analyst(
            lambda: plan(language, document.text, offset, selection, asked.description)
        )
    except (LanguageError, GenerationRefused) as refused:
        return {**answer, "status": "error", "message": str(refused)}
    if planned is None:
        return {**answer, "status": "needsInput"}
    return {**answer, **await _generated(server, document, language, planned, asked.token)}


async def _generated(
    server: Langwright, document: Document, language: Language, planned: Plan, token: Any
) -> dict[str, Any]:
    def report(event: Mapping[str, Any]) -> None:
        told = {"token": token, "kind": event["event"]}
        if "text" in event:
            told["text"] = planned.new_text(event["text"])
        if "message" in event:
            told["message"] = event["message"]
        if told["kind"] in ("loading", "prefill", "text"):
            server.protocol.notify(PROGRESS, told)

    task = {
        **_task(server, language),
        "description": planned.description,
        "before": planned.before,
    }
    try:
        request = await server.worker.begin("generate", task, report)
        try:
            return _answer(document, planned, await request.result(), "ok")
        except asyncio.CancelledError:
            # The client asked for it, and waits for the answer: what is there has been completed.
            stopped = await request.stop()
            return _answer(document, planned, stopped, "cancelled")
    except WorkerError as error:
        return {"status": "error", "message": str(error)}
    finally:
        server.protocol.notify(PROGRESS, {"token": token, "kind": "done"})


def _answer(
    document: Document, planned: Plan, result: Mapping[str, Any] | None, status: str
) -> dict[str, Any]:
    if result is None or not result["valid"]:
        message = result.get("message") if result else None
        return {"status": "error" if status == "ok" else status, "message": message}
    return {
        "status": status,
        "edit": {
            "range": range_data(document.lines.range(planned.start, planned.end)),
            "newText": planned.new_text(result["text"]),
        },
        "stats": result["stats"],
        "message": result.get("message"),
    }


class _GenerateParams:
    """The parameters of ``langwright/generate``, which no schema has checked yet."""

    def __init__(self, params: Any) -> None:
        try:
            self.uri = str(_field(params, "uri"))
            self.position = _place(_field(params, "position"))
            selection = _field(params, "selection")
            self.selection = (
                Range(_place(_field(selection, "start")), _place(_field(selection, "end")))
                if selection
                else None
            )
            description = _field(params, "description")
            self.description = str(description) if description is not None else None
            self.token = _field(params, "token")
        except (KeyError, TypeError, ValueError) as error:
            raise JsonRpcInvalidParams(message=f"langwright/generate: {error!r}") from error


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _place(value: Any) -> Position:
    return Position(int(_field(value, "line")), int(_field(value, "character")))


def _task(server: Langwright, language: Language) -> dict[str, Any]:
    """What every request to the model process names."""
    root = server.catalogue.root
    return {
        "model": server.model,
        "language": language.name,
        "workspace": str(root) if root is not None else None,
    }


async def _opened(server: Langwright, uri: str) -> tuple[Document, Language] | None:
    """An open document and its language, None where either is not to be had."""
    document = server.documents.get(uri)
    if document is None:
        return None
    try:
        return document, await server.language(document)
    except LanguageError:
        return None


async def _watch_definitions(server: Langwright) -> None:
    """Ask the client to tell when a grammar, a problem file or the manifest changes."""
    await _watch(server, "langwright-definitions", _DEFINITIONS)


async def _watch_models(server: Langwright, ending: str) -> None:
    """Ask the client, once, to tell when files change that others may import."""
    if ending and ending not in server.watched_endings:
        server.watched_endings.add(ending)
        await _watch(server, f"langwright-models{ending}", (f"**/*{ending}",))


async def _watch(server: Langwright, name: str, patterns: Iterable[str]) -> None:
    files = server.client_capabilities.workspace and (
        server.client_capabilities.workspace.did_change_watched_files
    )
    if not files or not files.dynamic_registration:
        return
    watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in patterns]
    registration = types.Registration(
        name,
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        types.DidChangeWatchedFilesRegistrationOptions(watchers),
    )
    try:
        await server.client_register_capability_async(types.RegistrationParams([registration]))
    except Exception as error:
        logger.warning("The client does not watch files for us: %s", error)


def _root(params: types.InitializeParams) -> Path | None:
    folders = params.workspace_folders or []
    uri = folders[0].uri if folders else params.root_uri
    return path_of(uri) if uri else None


def _version() -> str:
    try:
        return version("langwright")
    except PackageNotFoundError:
        return "development"
