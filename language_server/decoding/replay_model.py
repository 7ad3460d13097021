"""The replay model: it wants to write one given text, and a guide must let it."""

from __future__ import annotations

import random

import numpy as np

from language_server.decoding.language_model import (
    Context,
    LanguageModel,
    Logits,
    Prompt,
    SpokenContext,
    Stop,
    go_on,
)
from language_server.decoding.vocabulary import Vocabulary, byte_vocabulary

_PREFERRED = 60.0
_CONTINUES = 40.0


class ReplayModel(LanguageModel):
    """After any prefix of ``text`` nearly all mass is on a token that continues it.

    Which of the tokens that continue the text is preferred is drawn from ``seed`` and the place
    (the longest one without a seed), so that every seed spells the text in another tokenisation.
    The other continuing tokens come next, everything else last. What is not a prefix of the text
    (a guide has led elsewhere) is answered by the end token, then by anything.
    """

    def __init__(
        self, text: str, vocabulary: Vocabulary | None = None, seed: int | None = None
    ) -> None:
        self.name = "replay"
        self.vocabulary = vocabulary if vocabulary is not None else byte_vocabulary()
        self._data = text.encode()
        self._seed = seed

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        return _ReplayContext(self, prompt.answer)

    def logits_after(self, said: bytes) -> Logits:
        """Next-token logits once the answer reads ``said``."""
        logits: Logits = np.zeros(len(self.vocabulary), dtype=np.float32)
        rest = self._data[len(said) :] if self._data.startswith(said) else b""
        if not rest:
            logits[list(self.vocabulary.end_tokens)] = _PREFERRED
            return logits
        continuing = self.vocabulary.trie.prefixes(rest)
        if continuing:
            logits[continuing] = _CONTINUES + np.arange(len(continuing), dtype=np.float32) / 100
            preferred = continuing[-1]
            if self._seed is not None:
                preferred = random.Random(f"{self._seed}:{len(said)}").choice(continuing)
            logits[preferred] = _PREFERRED
        return logits


class _ReplayContext(SpokenContext):
    def __init__(self, model: ReplayModel, answer: str) -> None:
        super().__init__(model.vocabulary, answer)
        self._model = model

    def logits(self) -> Logits:
        self.calls += 1
        return self._model.logits_after(self.said)
