"""What the decoder needs of a language model: next-token logits over a rewindable context."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from language_server.decoding.vocabulary import Vocabulary
from language_server.syntax import ContextFree

Logits = npt.NDArray[np.float32]
#: Asked now and then: whether what is under way should stop, for the user's or the deadline's sake.
Stop = Callable[[], bool]


def go_on() -> bool:
    """Never stop."""
    return False


class ModelError(Exception):
    """A language model cannot be had; the message is one line for the user and names the cure."""


class Cancelled(Exception):
    """The caller asked to stop while the model computed."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model reads before it writes: the turns, and the beginning of its own answer."""

    messages: tuple[Message, ...]
    answer: str = ""


class Context(ABC):
    """One growing answer of a model; belongs to one thread at a time."""

    #: How many times the model was run for this context.
    calls: int = 0

    @abstractmethod
    def append(self, tokens: Sequence[int]) -> None:
        """Add tokens to the answer; nothing is computed before :meth:`logits`."""

    @abstractmethod
    def rewind(self, count: int) -> None:
        """Take back the last ``count`` tokens of the answer."""

    @abstractmethod
    def logits(self) -> Logits:
        """Next-token logits, one per id of the vocabulary.

        Raises:
            Cancelled: the caller wants to stop; the context stays usable.
        """


class SpokenContext(Context):
    """A context that keeps what was said as bytes."""

    def __init__(self, vocabulary: Vocabulary, answer: str = "") -> None:
        self.vocabulary = vocabulary
        self._spoken = [answer.encode()]

    @property
    def said(self) -> bytes:
        """The answer so far."""
        return b"".join(self._spoken)

    def append(self, tokens: Sequence[int]) -> None:
        self._spoken.extend(self.vocabulary.token_bytes[token] or b"" for token in tokens)

    def rewind(self, count: int) -> None:
        if count:
            del self._spoken[-count:]


class LanguageModel(ABC):
    """A source of next-token logits. Instances may be shared between threads."""

    name: str
    vocabulary: Vocabulary

    @abstractmethod
    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        """A new answer to ``prompt``.

        Args:
            stop: asked while a computation goes on.
            seed: for models that draw themselves.
        """

    def keeping(self, syntax: Callable[[], ContextFree | None]) -> LanguageModel:
        """This model, told which texts its answers begin; itself, where it cannot be told.

        Args:
            syntax: asked for a grammar that has every text that is wanted, and maybe more; None
                where there is none that is worth telling.
        """
        return self

    def count_tokens(self, prompt: Prompt) -> int:
        """How many tokens the model reads for ``prompt``; here an estimate, four bytes a token."""
        texts = [message.content for message in prompt.messages] + [prompt.answer]
        return sum(len(text.encode()) for text in texts) // 4

    @property
    def context_length(self) -> int | None:
        """How many tokens fit into prompt and answer together; None if there is no limit."""
        return None
