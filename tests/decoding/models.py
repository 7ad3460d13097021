"""Language models with plain preferences, for brackets and words."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from language_server.decoding import Context, LanguageModel, Prompt, Vocabulary
from language_server.decoding.language_model import Cancelled, Logits, Stop, go_on


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
