"""A language model behind an OpenAI-compatible server (vLLM, llama.cpp, TGI and the like).

Such a server gives no logits: it *proposes* a piece of text. Here a proposal becomes preferences:
the tokens that go on as proposed, the longest first, then the end where the proposal ends the
answer; everything else is ruled out. The strategies work with it as with any other model: what of a
proposal the language allows is taken, and where a strategy has gone back, or finds nothing allowed,
it asks again and gets another proposal. One request serves a whole syntactic unit or more.

Where the server has a grammar option of its own, proposals keep a context-free grammar that has
every text of the language: what is refused then is refused for what that grammar cannot say.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from language_server.decoding.language_model import (
    Cancelled,
    Context,
    LanguageModel,
    Logits,
    ModelError,
    Prompt,
    SpokenContext,
    Stop,
    go_on,
)
from language_server.decoding.vocabulary import Vocabulary
from language_server.syntax import ContextFree, gbnf

if TYPE_CHECKING:
    import httpx2

_PREFERRED = 60.0
# Tokens of one proposal: some lines, of which a strategy keeps what it can use.
_PROPOSAL_TOKENS = 64
_TEMPERATURE = 0.7
_SECONDS = 60.0
# Waits before a request is sent again, in seconds.
_WAITS = (0.25, 1.0, 4.0)
_BUSY = frozenset((429, 500, 502, 503, 504))
_TURN_MARK = "\n### "

GrammarOption = Callable[[str], dict[str, Any]]
# llama.cpp and its kin; vLLM since 0.11; vLLM before. TGI takes JSON schemas and regular
# expressions only.
_FORMS: tuple[GrammarOption, ...] = (
    lambda grammar: {"grammar": grammar},
    lambda grammar: {"structured_outputs": {"grammar": grammar}},
    lambda grammar: {"guided_grammar": grammar},
)
# What no model writes unless it is made to.
_PROBE = "qzxvkjqzxvkj"
_PROBE_PROMPT = "A word:"  # to llama-cpp-python's server no prompt at all is an error of its own
_PROBE_GRAMMAR = f'root ::= "{_PROBE}"\n'


class _Refused(ModelError):
    """The server is there and does not want this request."""


@dataclass(frozen=True, slots=True)
class _Proposal:
    """Text that goes on behind an answer, and whether the server ends the answer there."""

    text: bytes
    ends: bool


class HttpModel(LanguageModel):
    """A model of a server.

    The vocabulary is not the server's own, which nobody tells: it only spells what was proposed.
    """

    def __init__(
        self,
        client: httpx2.Client,
        served: str,
        vocabulary: Vocabulary,
        syntax: ContextFree | None = None,
    ) -> None:
        self.name = f"{served} at {client.base_url}"
        self.vocabulary = vocabulary
        self._client = client
        self._served = served
        self._syntax = syntax
        # How the server takes grammars, once that is known: at most one form; shared by copies.
        self._options: list[tuple[GrammarOption, ...]] = []

    def keeping(self, syntax: Callable[[], ContextFree | None]) -> HttpModel:
        """The model with its server's own grammar option in use, if it turns out to have one."""
        kept = HttpModel(self._client, self._served, self.vocabulary, syntax())
        kept._options = self._options
        return kept

    @classmethod
    def connect(cls, url: str, vocabulary: Vocabulary, seconds: float = _SECONDS) -> HttpModel:
        """Reach a server and choose a model of it.

        Args:
            url: the address up to and with ``/v1``; behind ``#`` the name of a model, the first
                one the server lists otherwise.
            vocabulary: spells the proposals; its tokens are what budgets are counted in.
            seconds: how long one request may take.

        Raises:
            ModelError: the server does not answer, or has no such model.
        """
        import httpx2

        address, _, wanted = url.partition("#")
        key = os.environ.get("LANGWRIGHT_API_KEY") or os.environ.get("OPENAI_API_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        client = httpx2.Client(base_url=address.rstrip("/") + "/", headers=headers, timeout=seconds)
        listed = _ask(client, "GET", "models", None, go_on)
        names = [str(entry.get("id")) for entry in _entries(listed, "data", client)]
        if wanted and names and wanted not in names:
            raise ModelError(f"{address} has no model {wanted!r}: {', '.join(names)}")
        if not wanted and not names:
            raise ModelError(f"{address} lists no model: write its name behind a '#'")
        return cls(client, wanted or names[0], vocabulary)

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        return _ProposedContext(self, prompt, stop, seed)

    def propose(self, text: str, said: str, seed: int, stop: Stop) -> _Proposal:
        """How the model goes on behind ``text``; another seed, another proposal.

        Args:
            said: what of ``text`` is answer already.

        Raises:
            ModelError: the server does not answer, or not with a completion.
            Cancelled: ``stop`` said so; the answer is not waited for.
        """
        request = self._request(text, seed)
        left = self._syntax.after(said) if self._syntax is not None else None
        if left is not None:
            for option in self._grammar_options(stop):
                request |= option(gbnf(left))
        answer = _ask(self._client, "POST", "completions", request, stop)
        choices = _entries(answer, "choices", self._client)
        if not choices or not isinstance(choices[0].get("text"), str):
            raise ModelError(f"{self._client.base_url} did not answer with a completion")
        proposed = choices[0]
        return _Proposal(proposed["text"].encode(), proposed.get("finish_reason") == "stop")

    def _grammar_options(self, stop: Stop) -> tuple[GrammarOption, ...]:
        """The form of grammars in which the server writes a word it is made to; none if none."""
        while not self._options:
            self._options.append(tuple(islice(filter(partial(self._obeys, stop), _FORMS), 1)))
        return self._options[0]

    def _obeys(self, stop: Stop, option: GrammarOption) -> bool:
        request = self._request(_PROBE_PROMPT, 0) | option(_PROBE_GRAMMAR) | {"max_tokens": 4}
        try:
            answer = _ask(self._client, "POST", "completions", request, stop)
        except _Refused:
            return False  # it does not know the form
        said = [choice.get("text") for choice in _entries(answer, "choices", self._client)]
        return bool(said and said[0]) and _PROBE.startswith(str(said[0]))

    def _request(self, text: str, seed: int) -> dict[str, Any]:
        return {
            "model": self._served,
            "prompt": text,
            "max_tokens": _PROPOSAL_TOKENS,
            "temperature": _TEMPERATURE,
            "seed": seed,
            "stop": [_TURN_MARK],
        }


class _ProposedContext(SpokenContext):
    def __init__(self, model: HttpModel, prompt: Prompt, stop: Stop, seed: int) -> None:
        super().__init__(model.vocabulary)
        self._model = model
        self._prompt = _as_text(prompt)
        self._stop = stop
        self._seeds = random.Random(seed)
        # The proposal that is being followed, how much had been said when it was made, and how
        # much when it was last used: asked again at the same place, it has been turned down.
        self._proposal: _Proposal | None = None
        self._from = 0
        self._used = -1

    def logits(self) -> Logits:
        said = self.said
        rest = self._rest(said) if len(said) > self._used else None
        if rest is None:
            whole = said.decode(errors="ignore")  # half a code point is for the proposal to finish
            self._proposal = self._model.propose(
                self._prompt + whole, whole, self._seeds.getrandbits(31), self._stop
            )
            self.calls += 1
            self._from = len(whole.encode())
            rest = self._rest(said)
        self._used = len(said)
        return self._preferences(rest)

    def _rest(self, said: bytes) -> bytes | None:
        """What of the proposal lies ahead; None if there is nothing, or it has been left."""
        proposal, since = self._proposal, said[self._from :]
        if proposal is None or len(said) < self._from or not proposal.text.startswith(since):
            return None
        rest = proposal.text[len(since) :]
        return rest if rest or proposal.ends else None

    def _preferences(self, rest: bytes | None) -> Logits:
        vocabulary = self.vocabulary
        logits = np.full(len(vocabulary), -np.inf, dtype=np.float32)
        if rest is None:
            return logits
        continuing = vocabulary.trie.prefixes(rest)
        # Each longer token is far likelier than a shorter one, whatever the temperature.
        logits[continuing] = _PREFERRED * (1 + np.arange(len(continuing), dtype=np.float32))
        if not rest:
            logits[list(vocabulary.end_tokens)] = _PREFERRED
        return logits


def _as_text(prompt: Prompt) -> str:
    """The prompt as one text: what every such server reads, whatever its chat template."""
    titles = {"user": "Description", "assistant": "Model"}
    parts = []
    for message in prompt.messages:
        title = titles.get(message.role)
        parts.append(f"### {title}\n{message.content}\n" if title else f"{message.content}\n")
    return "\n".join((*parts, f"### Model\n{prompt.answer}"))


def _ask(
    client: httpx2.Client, method: str, path: str, request: dict[str, Any] | None, stop: Stop
) -> Any:
    """One request, again after a while where the server is busy or away.

    Raises:
        ModelError: no answer after all, or one that is an error or no JSON.
        Cancelled: ``stop`` said so.
    """
    import httpx2

    trouble = ""
    for wait in (*_WAITS, None):
        try:
            answer = _waited_for(lambda: client.request(method, path, json=request), stop)
        except httpx2.TimeoutException:
            trouble = "it takes too long to answer"
        except httpx2.TransportError as error:
            trouble = str(error) or type(error).__name__
        else:
            if answer.is_success:
                try:
                    return answer.json()
                except ValueError:
                    raise ModelError(f"{answer.url} did not answer with JSON") from None
            trouble = f"{answer.status_code} {answer.reason_phrase}".strip()
            if answer.status_code not in _BUSY:
                raise _Refused(f"{answer.url} refuses the request: {trouble}")
        if wait is not None:
            _sleep(wait, stop)
    raise ModelError(
        f"the server at {client.base_url} cannot be used ({trouble}): is it running there?"
    )


def _waited_for(work: Any, stop: Stop) -> httpx2.Response:
    """The result of ``work``, done in a thread of its own so that a stop need not wait for it."""
    outcome: list[Any] = []

    def worker() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=worker, daemon=True)
    thread.start()
    while thread.is_alive():
        if stop():
            raise Cancelled
        thread.join(0.02)
    (result,) = outcome
    if isinstance(result, BaseException):
        raise result
    return result  # type: ignore[no-any-return]


def _sleep(seconds: float, stop: Stop) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if stop():
            raise Cancelled
        time.sleep(0.02)


def _entries(answer: Any, key: str, client: httpx2.Client) -> list[dict[str, Any]]:
    found = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise ModelError(f"{client.base_url} does not answer like an OpenAI-compatible server")
    return found
