"""The language model's own process, seen from the server's event loop.

Why a process and not a thread: torch releases the interpreter lock while it multiplies, but the
guidance beside it is Python and does not, loading a model holds the lock for seconds, and a library
that crashes or runs out of memory takes its process with it. A process of its own leaves typing and
diagnostics untouched, can be ended when it does not answer, and keeps torch out of the server. The
price is one pipe: requests and answers are one JSON object a line (`model_process` is the other
end), and a language is loaded once in each process.

A request is ``{"id", "do", …}``; answers to it are ``{"id", "event", …}``, of which the last has
the event ``result`` or ``error``. ``{"do": "cancel", "of": id}`` stops a request at its next step.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

logger = logging.getLogger(__name__)

_LINE_LIMIT = 64 * 1024 * 1024  # bytes; a line holds a whole document at most
_GRACE = 3.0  # seconds a cancelled request may take before its process is ended

COMMAND = (sys.executable, "-m", "language_server.workspace.model_process")

Listener = Callable[[Mapping[str, Any]], None]


class WorkerError(Exception):
    """The request failed; the text tells a person why and what to do."""


class ModelWorker:
    """Starts the process when it is first needed, and again should it have died."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = tuple(command)
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._requests: dict[int, Request] = {}
        self._last_id = 0
        self.loaded: str | None = None
        """The model that is in memory and ready, None while there is none."""

    @property
    def busy(self) -> bool:
        """Whether a request is being worked on; the process does one after the other."""
        return bool(self._requests)

    async def begin(
        self, do: str, params: Mapping[str, Any], listen: Listener | None = None
    ) -> Request:
        """Have the process do something.

        Args:
            do: the name of what is to be done.
            params: what it needs, as JSON has it.
            listen: called with every event before the last.

        Raises:
            WorkerError: the process does not run.
        """
        process = await self._running()
        self._last_id += 1
        request = Request(self, process, self._last_id, listen)
        self._requests[request.identity] = request
        try:
            await self.send(process, {**params, "id": request.identity, "do": do})
        except WorkerError:
            self.forget(request)
            raise
        return request

    async def request(
        self, do: str, params: Mapping[str, Any], listen: Listener | None = None
    ) -> Mapping[str, Any]:
        """Begin a request and wait for its result; stops it when the caller is cancelled.

        Raises:
            WorkerError: it could not be done.
        """
        request = await self.begin(do, params, listen)
        try:
            return await request.result()
        except asyncio.CancelledError:
            await asyncio.shield(request.stop())
            raise

    async def stop(self) -> None:
        """End the process."""
        process, self._process, self.loaded = self._process, None, None
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()  # the process ends when its input does
        await _ended(process, 1.0)
        if self._reader is not None:
            self._reader.cancel()

    async def _running(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return self._process
            self.loaded = None
            try:
                process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    limit=_LINE_LIMIT,
                    env={**os.environ, "PYTHONIOENCODING": "utf-8"},
                )
            except OSError as error:
                raise WorkerError(f"The model process does not start: {error}.") from error
            self._process = process
            self._reader = asyncio.create_task(self._read(process))
            return process

    async def send(self, process: asyncio.subprocess.Process, message: Any) -> None:
        """Write a message to a process; for requests."""
        assert process.stdin is not None
        process.stdin.write(json.dumps(message).encode() + b"\n")
        try:
            await process.stdin.drain()
        except ConnectionError as error:
            raise WorkerError("The model process has ended; try again.") from error

    def forget(self, request: Request) -> None:
        """Nobody waits for a request any more; for requests."""
        self._requests.pop(request.identity, None)

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                self._receive(line)
        except (ValueError, OSError) as error:
            logger.warning("The model process answered nonsense: %s", error)
            await _ended(process, 0.0)
        code = await process.wait()
        if self._process is process:
            self.loaded = None
        for request in tuple(self._requests.values()):
            if request.process is process:
                request.receive({"event": "error", "message": _obituary(code)})

    def _receive(self, line: bytes) -> None:
        event = json.loads(line)
        if event["event"] == "loaded":
            self.loaded = event["model"]
        request = self._requests.get(event.get("id", 0))
        if request is not None:
            request.receive(event)


class Request:
    """Something the process has been asked to do. Made by `ModelWorker.begin`."""

    def __init__(
        self,
        worker: ModelWorker,
        process: asyncio.subprocess.Process,
        identity: int,
        listen: Listener | None,
    ) -> None:
        self.process = process
        self.identity = identity
        self._worker = worker
        self._listen = listen
        self._events: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()

    def receive(self, event: Mapping[str, Any]) -> None:
        """Take an event; for the worker."""
        self._events.put_nowait(event)

    async def result(self) -> Mapping[str, Any]:
        """Wait for the result.

        Raises:
            WorkerError: it could not be done.
        """
        while True:
            event = await self._events.get()
            match event["event"]:
                case "result":
                    self._worker.forget(self)
                    return event
                case "error":
                    self._worker.forget(self)
                    raise WorkerError(str(event["message"]))
                case _ if self._listen is not None:
                    self._listen(event)

    async def stop(self) -> Mapping[str, Any] | None:
        """Stop working on the request; a process that does not stop in time is ended.

        Returns:
            What it had got by then, None if that is nothing.
        """
        try:
            async with asyncio.timeout(_GRACE):
                await self._worker.send(self.process, {"do": "cancel", "of": self.identity})
                return await self.result()
        except WorkerError:
            return None
        except TimeoutError:
            logger.warning("The model process did not stop within %s s; it is ended.", _GRACE)
            await _ended(self.process, 0.0)
            return None
        finally:
            self._worker.forget(self)


async def _ended(process: asyncio.subprocess.Process, patience: float) -> None:
    """Wait `patience` seconds for a process to end, then end it."""
    try:
        async with asyncio.timeout(patience):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _obituary(code: int) -> str:
    if code == -signal.SIGKILL:
        return (
            "The model process was killed, most likely for want of memory. "
            "Choose a smaller model in the settings, or close other programs."
        )
    if code < 0:
        return f"The model process crashed ({signal.Signals(-code).name}). Try again."
    return f"The model process ended unexpectedly (exit code {code}). Run `langwright doctor`."
