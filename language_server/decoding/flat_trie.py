"""The trie of a vocabulary as arrays, for walks that take all nodes of a depth at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from language_server.syntax.document import shared_start

Ints = npt.NDArray[np.int32]


class FlatTrie:
    """Nodes are numbered in the order of their bytes, each before those below it; 0 is the root.

    A token's *place* is its rank in the order of the tokens' bytes.

    Attributes:
        order: the token at each place.
        parent, byte, depth: of each node.
        end: the first node behind those below a node.
        low, own, high: the tokens below a node are at the places from ``low`` to ``high``, those
            that end there from ``low`` to ``own``.
        home: the node at which the token of each place ends.
        size: of the vocabulary; tokens without bytes have no place.
    """

    def __init__(self, token_bytes: Sequence[bytes | None]) -> None:
        self.size = len(token_bytes)
        words = sorted((data, token) for token, data in enumerate(token_bytes) if data)
        self.order: npt.NDArray[np.intp] = np.asarray([token for _, token in words], dtype=np.intp)
        parent, byte, depth, low, home = [0], [0], [0], [0], []
        path = [0]
        before = b""
        for place, (data, _) in enumerate(words):
            same = shared_start(before, data)
            del path[same + 1 :]
            for value in data[same:]:
                parent.append(path[-1])
                byte.append(value)
                depth.append(len(path))
                low.append(place)
                path.append(len(parent) - 1)
            home.append(path[-1])
            before = data
        self.parent, self.byte, self.depth = _ints(parent), _ints(byte), _ints(depth)
        self.low, self.home = _ints(low), _ints(home)
        self._count_up(len(words))
        by_depth = np.argsort(self.depth, kind="stable").astype(np.int32)
        bounds = np.searchsorted(self.depth[by_depth], np.arange(self.depth.max() + 2))
        self._levels = [by_depth[a:b] for a, b in pairwise(bounds)]

    def __len__(self) -> int:
        return len(self.parent)

    def levels(self, node: int) -> Iterator[Ints]:
        """The nodes below ``node``, depth by depth."""
        for level in self._levels[int(self.depth[node]) + 1 :]:
            first, last = np.searchsorted(level, (node, self.end[node]))
            if first == last:
                return
            yield level[first:last]

    def children(self, node: int) -> Ints:
        """The nodes one byte below ``node``."""
        return next(self.levels(node), self.low[:0])

    def path(self, above: int, node: int) -> bytes:
        """The bytes from one node down to another."""
        found = bytearray()
        while node != above:
            found.append(int(self.byte[node]))
            node = int(self.parent[node])
        found.reverse()
        return bytes(found)

    def child(self, node: int, byte: int) -> int | None:
        """The node that one more byte leads to."""
        children = self.children(node)
        at = int(np.searchsorted(self.byte[children], byte))
        return int(children[at]) if at < len(children) and self.byte[children[at]] == byte else None

    def _count_up(self, tokens: int) -> None:
        """``end``, ``own`` and ``high`` of all nodes."""
        size = len(self.parent)
        end = np.arange(1, size + 1, dtype=np.int32)
        for node in range(size - 1, 0, -1):
            above = self.parent[node]
            if end[node] > end[above]:
                end[above] = end[node]
        self.end = end
        self.own = self.low + np.bincount(self.home, minlength=size).astype(np.int32)
        behind = np.append(self.low, np.int32(tokens))
        self.high = behind[end]


def _ints(values: list[int]) -> Ints:
    return np.asarray(values, dtype=np.int32)
