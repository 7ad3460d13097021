"""What is worth keeping of a vocabulary."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary
from zlib import compress

import numpy.typing as npt

from language_server.decoding.flat_trie import FlatTrie
from language_server.decoding.language_model import Stop
from language_server.decoding.masks import Kinds
from language_server.decoding.token_runs import TokenRuns
from language_server.decoding.vocabulary import Vocabulary
from language_server.decoding.walks import Walks

# Seconds between two looks at whether to wait on.
_LOOK_SECONDS = 0.02
# So many masks are remembered at most, of the prefixes that were asked about last. Most are equal
# to another, and kept once: a byte or two for each token.
_MOST_MASKS = 2048


class Memory:
    """The tokens as masks need them; made beside the model's work, as that takes a while.

    Attributes:
        runs: of letters, digits and white space; once it is ready.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.runs: TokenRuns
        self._walks: Walks
        self._token_bytes = vocabulary.token_bytes
        self._made = threading.Event()
        self._lock = threading.Lock()
        self._masks: OrderedDict[Hashable, Kinds] = OrderedDict()
        self._tables: WeakValueDictionary[bytes, npt.NDArray[Any]] = WeakValueDictionary()
        threading.Thread(target=self._make, name="vocabulary", daemon=True).start()

    def is_ready(self, stop: Stop) -> bool:
        """Wait until it is made; False where ``stop`` says so before."""
        while not self._made.wait(_LOOK_SECONDS):
            if stop():
                return False
        return True

    def walks(self) -> Walks:
        """The walks; begun anew when there are too many."""
        if self._walks.is_full:
            self._walks = Walks(self._walks.trie)
        return self._walks

    def recall(self, future: Hashable | None) -> Kinds | None:
        """What was kept of a prefix with this future."""
        with self._lock:
            known = self._masks.get(future)
            if known is not None:
                self._masks.move_to_end(future)
            return known

    def keep(self, future: Hashable | None, kinds: Kinds) -> Kinds:
        """Keep the mask behind a prefix for all others with the same future, where that is told."""
        if future is not None:
            packed = compress(kinds.of.tobytes(), 1)
            with self._lock:
                kinds = kinds._replace(of=self._tables.setdefault(packed, kinds.of))
                self._masks[future] = kinds
                if len(self._masks) > _MOST_MASKS:
                    self._masks.popitem(last=False)
        return kinds

    def _make(self) -> None:
        try:
            self.runs = TokenRuns(self._token_bytes)
            self._walks = Walks(FlatTrie(self._token_bytes))
        finally:
            self._made.set()


@lru_cache(maxsize=4)
def memory_of(vocabulary: Vocabulary) -> Memory:
    """The memory of a vocabulary, begun with the first question for it."""
    return Memory(vocabulary)
