"""The process in which the language model runs: requests in on standard input, events out.

See `model_worker` for the protocol and the reasons. One thread reads requests, so that a request to
stop is heard while the main thread computes; the main thread does one thing after the other.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Queue
from typing import Any, TextIO

from language_server.decoding import (
    Event,
    Generation,
    GenerationError,
    LanguageModel,
    Limits,
    Message,
    ModelError,
    Prompt,
    Sampling,
    generate,
    generate_with,
    load_model,
)
from language_server.languages import Language, LanguageError, load_language
from language_server.partial_model.collection import collect_rarely
from language_server.projection import Prefix

_PAUSE = 0.05  # seconds between two looks at the growing text that are sent
_GHOST_TOKENS = 24  # the most a ghost text takes
_GHOST_CONTEXT = 1_200  # characters before the cursor that the model reads for it
_GREEDY = Sampling(temperature=0.0)

Say = Callable[..., None]


class ModelProcess:
    """Keeps the model and the languages that have been asked for."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._lock = threading.Lock()
        self._requests: Queue[Mapping[str, Any] | None] = Queue()
        self._cancels: dict[int, threading.Event] = {}
        self._model: tuple[str, LanguageModel] | None = None
        self._languages: dict[tuple[str, str | None], Language] = {}
        self._does = {"generate": self._generate, "continue": self._continue}

    def read(self, source: TextIO) -> None:
        """Take requests until the input ends."""
        for line in source:
            message = json.loads(line)
            if message["do"] == "cancel":
                cancel = self._cancels.get(message["of"])
                if cancel is not None:
                    cancel.set()
            else:
                self._cancels[message["id"]] = threading.Event()
                self._requests.put(message)
        for cancel in tuple(self._cancels.values()):
            cancel.set()
        self._requests.put(None)

    def work(self) -> None:
        """Do what is asked, one request after the other, until the input ends."""
        while (request := self._requests.get()) is not None:
            identity = request["id"]
            try:
                answer = self._does[request["do"]](request, self._cancels[identity])
                self._say(identity, "result", **answer)
            except (GenerationError, LanguageError, ModelError) as error:
                self._say(identity, "error", message=_sentence(str(error)))
            except MemoryError:
                self._say(identity, "error", message="There is not enough memory for the model.")
            except Exception as error:
                self._say(identity, "error", message=f"{type(error).__name__}: {error}")
            finally:
                del self._cancels[identity]

    def _generate(self, request: Mapping[str, Any], cancel: threading.Event) -> dict[str, Any]:
        """A model for a description, as the continuation of a text."""
        identity = request["id"]
        language = self._language(request)
        model = self._loaded(identity, request["model"])
        self._say(identity, "prefill")
        text = GrowingText(lambda grown: self._say(identity, "text", text=grown))
        generation = generate(
            language,
            request["description"],
            model,
            seed=int(request.get("seed", 0)),
            prefix_text=request["before"],
            cancel=cancel,
            on_event=text.hear,
            **_given(request, "max_tokens", "deadline"),
        )
        return _answer(language, generation)

    def _continue(self, request: Mapping[str, Any], cancel: threading.Event) -> dict[str, Any]:
        """A short continuation in the time that ghost text has."""
        started = time.monotonic()
        language = self._language(request)
        model = self._loaded(request["id"], request["model"])
        before = request["before"]
        text = GrowingText(lambda grown: None)
        generate_with(
            Prefix.start(language).advance(before),
            # No examples: reading them would take longer than the whole answer may.
            Prompt((Message("user", f"Write a {language.name} model."),), before[-_GHOST_CONTEXT:]),
            model,
            strategy="assured",
            limits=Limits(_GHOST_TOKENS, started + request["seconds"], cancel),
            sampling=_GREEDY,
            on_event=text.hear,
        )
        return {"text": text.chosen}

    def _language(self, request: Mapping[str, Any]) -> Language:
        key = (request["language"], request["workspace"])
        if key not in self._languages:
            workspace = Path(key[1]) if key[1] is not None else None
            self._languages[key] = load_language(key[0], workspace)
        return self._languages[key]

    def _loaded(self, identity: int, name: str) -> LanguageModel:
        if self._model is None or self._model[0] != name:
            self._model = None  # two models may not fit into memory
            self._say(identity, "loading", message="Loading the language model …")
            model = load_model(
                name, lambda message: self._say(identity, "loading", message=message)
            )
            self._model = (name, model)
        self._say(identity, "loaded", model=name)
        return self._model[1]

    def _say(self, identity: int, event: str, **told: Any) -> None:
        line = json.dumps({"id": identity, "event": event, **told})
        with self._lock:
            self._output.write(line + "\n")
            self._output.flush()


class GrowingText:
    """The generated text as the events tell it, sent on now and then."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._sent = 0.0
        self.text = ""
        self.chosen = ""
        """The text up to the latest snapshot: what can be completed."""

    def hear(self, event: Event) -> None:
        """Follow an event."""
        if event.kind == "backtrack":
            self.text = self.text[: event.length]
            self.chosen = self.chosen[: event.length]
        elif event.kind in ("token", "forced", "witness"):
            self.text += event.text
        elif event.kind == "snapshot":
            self.chosen = self.text
        now = time.monotonic()
        if now - self._sent >= _PAUSE:
            self._sent = now
            self._send(self.text)


def main() -> None:
    """Serve until standard input ends."""
    collect_rarely()
    # Libraries print to standard output now and then; only events may go there.
    output = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    process = ModelProcess(output)
    threading.Thread(target=process.read, args=(sys.stdin,), daemon=True).start()
    process.work()


def _answer(language: Language, generation: Generation) -> dict[str, Any]:
    problems = [
        found.message
        for found in language.judge(generation.text)
        if found.severity in ("error", "warning")
    ]
    stats = generation.to_json()
    del stats["text"]
    return {
        "text": generation.generated,
        "valid": not problems,
        "message": _sentence(problems[0]) if problems else None,
        "stats": stats,
    }


def _given(request: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Those of the named parameters that the request has."""
    return {name: request[name] for name in names if request.get(name) is not None}


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


if __name__ == "__main__":
    main()
