"""Language models with plain preferences, for brackets and words."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from language_server.decoding import Context, LanguageModel, Prompt, Vocabulary
from language_server.decoding.language_model import (
    Cancelled,
    Logits,
    SpokenContext,
    Stop,
    go_on,
)
from language_server.decoding.vocabulary import byte_vocabulary


class FixedContext(Context):
    def __init__(self, logits: Logits) -> None:
        self._logits = logits

    def append(self, tokens: Sequence[int]) -> None:
        pass

    def rewind(self, count: int) -> None:
        pass

    def logits(self) -> Logits:
        self.calls += 1
        return self._logits


class Adversary(LanguageModel):
    """Prefers what the guide will reject: opening brackets, then words without end."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.name = "adversary"
        self.vocabulary = vocabulary

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        logits = np.zeros(len(self.vocabulary), dtype=np.float32)
        for token, data in enumerate(self.vocabulary.token_bytes):
            if data is not None:
                logits[token] = 4 * data.count(b"(") - 4 * data.count(b")") + (data[:1] == b"a")
        return FixedContext(logits)


class Preferring(LanguageModel):
    """Would rather write some tokens than any other, the first of them rather than the next."""

    def __init__(self, vocabulary: Vocabulary, tokens: Sequence[int]) -> None:
        self.name = "preferring"
        self.vocabulary = vocabulary
        self._logits = np.zeros(len(vocabulary), dtype=np.float32)
        self._logits[list(tokens)] = 30 * np.arange(len(tokens), 0, -1)

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        return FixedContext(self._logits)


class Stuck(LanguageModel):
    """Computes for ever, unless it is asked to stop."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.name = "stuck"
        self.vocabulary = vocabulary

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        return _StuckContext(stop)


class _StuckContext(FixedContext):
    def __init__(self, stop: Stop) -> None:
        self._stop = stop

    def logits(self) -> Logits:
        while not self._stop():
            time.sleep(0.01)
        raise Cancelled


class Closing(LanguageModel):
    """Likes brackets that close, single words and the end."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.name = "closing"
        self.vocabulary = vocabulary

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        logits = np.full(len(self.vocabulary), -6, dtype=np.float32)
        for token, data in enumerate(self.vocabulary.token_bytes):
            if data in (b"(", b")", b" ab", b" a"):
                logits[token] = 0.5
        logits[list(self.vocabulary.end_tokens)] = 2
        return FixedContext(logits)


class Markov(LanguageModel):
    """Writes a byte at a time what followed the last bytes in some texts: new mixtures of them.

    Args:
        texts: what it has read.
        order: how many bytes it looks back; fewer count a tenth each.
    """

    def __init__(self, texts: Iterable[str], order: int) -> None:
        self.name = "markov"
        self.vocabulary = byte_vocabulary()
        self._order = order
        self._following: dict[bytes, Counter[int]] = defaultdict(Counter)
        (end,) = self.vocabulary.end_tokens
        for text in texts:
            data = self._from_beginning(text.encode())
            for at in range(order, len(data) + 1):
                token = data[at] if at < len(data) else end
                for length in range(order + 1):
                    self._following[data[at - length : at]][token] += 1

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        return _MarkovContext(self, prompt.answer)

    def logits_after(self, said: bytes) -> Logits:
        data = self._from_beginning(said)
        share = np.full(len(self.vocabulary), 1e-9)
        for length in range(self._order + 1):
            following = self._following.get(data[len(data) - length :])
            if following is not None:
                share *= 0.1
                total = sum(following.values())
                for token, count in following.items():
                    share[token] += 0.9 * count / total
        logits: Logits = np.log(share).astype(np.float32)
        return logits

    def _from_beginning(self, data: bytes) -> bytes:
        """With a beginning that no text has in its middle."""
        return bytes(self._order) + data


class _MarkovContext(SpokenContext):
    def __init__(self, model: Markov, answer: str) -> None:
        super().__init__(model.vocabulary, answer)
        self._model = model

    def logits(self) -> Logits:
        self.calls += 1
        return self._model.logits_after(self.said)
