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
        self._waiting: dict[int, asyncio.Queue[Mapping[str, Any]]] = {}
        self._last_id = 0
        self.loaded: str | None = None
        """The model that is in memory and ready, None while there is none."""

    @property
    def busy(self) -> bool:
        """Whether a request is being worked on; the process does one after the other."""
        return bool(self._waiting)

    async def request(
        self, do: str, params: Mapping[str, Any], listen: Listener | None = None
    ) -> Mapping[str, Any]:
        """Have the process do something.

        Args:
            do: the name of what is to be done.
            params: what it needs, as JSON has it.
            listen: called with every event before the last.

        Returns:
            The result.

        Raises:
            WorkerError: it could not be done.
            asyncio.CancelledError: the caller was cancelled; the process has been told.
        """
        process = await self._running()
        self._last_id += 1
        identity = self._last_id
        events: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self._waiting[identity] = events
        try:
            await self._send(process, {**params, "id": identity, "do": do})
            return await self._result(events, listen)
        except asyncio.CancelledError:
            await asyncio.shield(self._cancel(process, identity, events))
            raise
        finally:
            self._waiting.pop(identity, None)

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

    async def _send(self, process: asyncio.subprocess.Process, message: Any) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(message).encode() + b"\n")
        try:
            await process.stdin.drain()
        except ConnectionError as error:
            raise WorkerError("The model process has ended; try again.") from error

    async def _result(
        self, events: asyncio.Queue[Mapping[str, Any]], listen: Listener | None
    ) -> Mapping[str, Any]:
        while True:
            event = await events.get()
            match event["event"]:
                case "result":
                    return event
                case "error":
                    raise WorkerError(str(event["message"]))
                case _ if listen is not None:
                    listen(event)

    async def _cancel(
        self,
        process: asyncio.subprocess.Process,
        identity: int,
        events: asyncio.Queue[Mapping[str, Any]],
    ) -> None:
        """Stop a request; a process that does not stop in time is ended and started anew later."""
        with contextlib.suppress(WorkerError):
            await self._send(process, {"do": "cancel", "of": identity})
        try:
            async with asyncio.timeout(_GRACE):
                while (await events.get())["event"] not in ("result", "error"):
                    pass
        except TimeoutError:
            logger.warning("The model process did not stop within %s s; it is ended.", _GRACE)
            await _ended(process, 0.0)

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
        for events in self._waiting.values():
            events.put_nowait({"event": "error", "message": _obituary(code)})

    def _receive(self, line: bytes) -> None:
        event = json.loads(line)
        if event["event"] == "loaded":
            self.loaded = event["model"]
        events = self._waiting.get(event.get("id", 0))
        if events is not None:
            events.put_nowait(event)


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
