"""The uniform random model: no preference at all, the hardest test of a guide there is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from language_server.decoding.language_model import (
    Context,
    LanguageModel,
    Logits,
    Prompt,
    Stop,
    go_on,
)
from language_server.decoding.vocabulary import Vocabulary, byte_vocabulary


class RandomModel(LanguageModel):
    """Every token, the end included, is equally likely everywhere."""

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self.name = "random"
        self.vocabulary = vocabulary if vocabulary is not None else byte_vocabulary()

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        return _UniformContext(len(self.vocabulary))


class _UniformContext(Context):
    def __init__(self, size: int) -> None:
        self._logits: Logits = np.zeros(size, dtype=np.float32)
        self._logits.setflags(write=False)

    def append(self, tokens: Sequence[int]) -> None:
        pass

    def rewind(self, count: int) -> None:
        pass

    def logits(self) -> Logits:
        self.calls += 1
        return self._logits
