"""What a language model can say: its tokens as exact bytes, and a trie over them."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from language_server.decoding.generation import GenerationError

# Chat models end a turn with a token of their own besides the tokenizer's end-of-sequence token.
_TURN_ENDS = frozenset(
    {
        "<|im_end|>",
        "<|endoftext|>",
        "<|eot_id|>",
        "<|end_of_text|>",
        "<|end|>",
        "<|eom_id|>",
        "<end_of_turn>",
        "<turn|>",
        "</s>",
    }
)
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SENTENCEPIECE_SPACE = "▁"


class Node:
    """All tokens that share their first ``depth`` bytes.

    They are the slice ``[low, high)`` of the trie's order. Tokens that end here (their bytes are
    the path itself) are ``[low, own)``.
    """

    __slots__ = ("_children", "_starts", "depth", "high", "low", "own")

    def __init__(self, low: int, high: int, own: int, depth: int) -> None:
        self.low = low
        self.high = high
        self.own = own
        self.depth = depth
        self._children: list[tuple[int, Node]] | None = None
        self._starts: npt.NDArray[np.intp] | None = None


class Trie:
    """The tokens in the order of their bytes; nodes are made when they are first visited."""

    def __init__(self, token_bytes: Sequence[bytes | None]) -> None:
        ids = [token for token, data in enumerate(token_bytes) if data]
        ids.sort(key=lambda token: cast(bytes, token_bytes[token]))
        self.order: npt.NDArray[np.intp] = np.asarray(ids, dtype=np.intp)
        self._sorted = [cast(bytes, token_bytes[token]) for token in ids]
        self.root = Node(0, len(ids), 0, 0)

    def children(self, node: Node) -> list[tuple[int, Node]]:
        """The next bytes that tokens below ``node`` have, each with its node, in byte order."""
        if node._children is None:
            node._children = list(self._split(node))
        return node._children

    def child_starts(self, node: Node) -> npt.NDArray[np.intp]:
        """Where each child's slice begins, counted from ``node.own`` (for ``ufunc.reduceat``)."""
        if node._starts is None:
            starts = [child.low - node.own for _, child in self.children(node)]
            node._starts = np.asarray(starts, dtype=np.intp)
        return node._starts

    def _split(self, node: Node) -> Iterable[tuple[int, Node]]:
        low = node.own
        while low < node.high:
            path = self._sorted[low][: node.depth + 1]
            beyond = _successor(path)
            high = node.high
            if beyond is not None:
                high = bisect_left(self._sorted, beyond, low, node.high)
            own = low
            while own < high and len(self._sorted[own]) == len(path):
                own += 1
            yield path[-1], Node(low, high, own, node.depth + 1)
            low = high

    def prefixes(self, data: bytes) -> list[int]:
        """The tokens whose bytes begin ``data``, shortest first."""
        found: list[int] = []
        node = self.root
        for byte in data:
            child = next((child for value, child in self.children(node) if value == byte), None)
            if child is None:
                break
            found.extend(int(token) for token in self.order[child.low : child.own])
            node = child
        return found


def _successor(path: bytes) -> bytes | None:
    """The least byte string above every string that begins with ``path``; None if there is none."""
    trimmed = path.rstrip(b"\xff")
    if not trimmed:
        return None
    return trimmed[:-1] + bytes([trimmed[-1] + 1])


class Vocabulary:
    """A byte-exact token table.

    Attributes:
        token_bytes: what each token id says; None for control tokens, which never stand for text
            (a text equal to a control token's name is spelt with ordinary tokens).
        end_tokens: every id that ends an answer, of model and tokenizer alike.
        text_tokens: True for the ids that say something.
    """

    def __init__(
        self,
        token_bytes: Sequence[bytes | None],
        end_tokens: Iterable[int],
        tokenise: Callable[[str], Sequence[int]] | None = None,
    ) -> None:
        """Read a token table.

        Args:
            token_bytes: one entry per id; None for control tokens.
            end_tokens: ids that end an answer.
            tokenise: the model's own tokenizer, used where its tokens spell the text exactly.
        """
        self.end_tokens = frozenset(end_tokens)
        self.token_bytes: tuple[bytes | None, ...] = tuple(
            None if token in self.end_tokens else data for token, data in enumerate(token_bytes)
        )
        self.text_tokens: npt.NDArray[np.bool_] = np.asarray([bool(d) for d in self.token_bytes])
        self._tokenise = tokenise
        self._trie: Trie | None = None

    def __len__(self) -> int:
        return len(self.token_bytes)

    @property
    def trie(self) -> Trie:
        """The trie over all text tokens."""
        if self._trie is None:
            self._trie = Trie(self.token_bytes)
        return self._trie

    def fit(self, logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Logits for exactly this vocabulary: ids beyond it are dropped, missing ones ruled out."""
        size = len(self)
        if logits.shape[0] >= size:
            return logits[:size]
        padded = np.full(size, -np.inf, dtype=np.float32)
        padded[: logits.shape[0]] = logits
        return padded

    def decode(self, tokens: Iterable[int]) -> bytes:
        """The bytes the tokens say; control tokens say nothing."""
        return b"".join(self.token_bytes[token] or b"" for token in tokens)

    def encode(self, text: str) -> list[int]:
        """Tokens that spell ``text`` exactly: the tokenizer's own if they do, else longest match.

        Raises:
            GenerationError: the vocabulary cannot spell the text at all.
        """
        if not text:
            return []
        if self._tokenise is not None:
            tokens = list(self._tokenise(text))
            if self.decode(tokens) == text.encode() and all(self.token_bytes[t] for t in tokens):
                return tokens
        return self._longest_match(text.encode())

    def _longest_match(self, data: bytes) -> list[int]:
        # Backwards, so that a gap in the vocabulary is no dead end: the fewest tokens.
        fewest: list[tuple[int, int] | None] = [None] * len(data) + [(0, -1)]
        for start in range(len(data) - 1, -1, -1):
            best: tuple[int, int] | None = None
            for token in self.trie.prefixes(data[start : start + 64]):
                rest = fewest[start + len(cast(bytes, self.token_bytes[token]))]
                if rest is not None and (best is None or rest[0] + 1 <= best[0]):
                    best = (rest[0] + 1, token)
            fewest[start] = best
        tokens: list[int] = []
        place = 0
        while place < len(data):
            step = fewest[place]
            if step is None:
                unspelt = data[place : place + 20].decode(errors="replace")
                raise GenerationError(f"the model's vocabulary cannot spell {unspelt!r}")
            tokens.append(step[1])
            place += len(cast(bytes, self.token_bytes[step[1]]))
        return tokens


def byte_vocabulary() -> Vocabulary:
    """One token for each byte and one end token: needs no files at all."""
    return Vocabulary([bytes([value]) for value in range(256)] + [None], end_tokens=[256])


def vocabulary_from_tokenizer_file(path: str, end_tokens: Iterable[int] = ()) -> Vocabulary:
    """The vocabulary of a ``tokenizer.json`` without loading a model.

    Args:
        path: the file.
        end_tokens: ids the model's configuration names as ends, besides the well-known ones.
    """
    from tokenizers import Tokenizer

    return vocabulary_from_backend(Tokenizer.from_file(path), end_tokens)


def vocabulary_from_backend(backend: Any, end_tokens: Iterable[int] = ()) -> Vocabulary:
    """The byte-exact vocabulary of a ``tokenizers.Tokenizer``.

    Byte-level BPE, SentencePiece (``▁`` for a space) and byte-fallback tokens (``<0x0A>``) are
    told apart by the tokenizer's own decoder.
    """
    description = json.loads(backend.to_str())
    decoders = _decoder_types(description.get("decoder"))
    byte_level = "ByteLevel" in decoders
    declared = bool(description.get("model", {}).get("byte_fallback"))
    byte_fallback = declared or "ByteFallback" in decoders
    added = {entry["id"]: entry for entry in description.get("added_tokens") or ()}
    names: dict[str, int] = backend.get_vocab(with_added_tokens=True)
    token_bytes: list[bytes | None] = [None] * (max(names.values(), default=-1) + 1)
    ends = set(end_tokens)
    for name, token in names.items():
        entry = added.get(token)
        if entry is not None:
            if entry["special"]:
                if name in _TURN_ENDS:
                    ends.add(token)
                continue
            token_bytes[token] = name.encode()
            continue
        byte = _BYTE_TOKEN.fullmatch(name) if byte_fallback else None
        if byte is not None:
            token_bytes[token] = bytes([int(byte.group(1), 16)])
        elif byte_level:
            token_bytes[token] = _byte_level(name)
        else:
            token_bytes[token] = name.replace(_SENTENCEPIECE_SPACE, " ").encode()

    def tokenise(text: str) -> Sequence[int]:
        return cast(Sequence[int], backend.encode(text, add_special_tokens=False).ids)

    return Vocabulary(token_bytes, (t for t in ends if t < len(token_bytes)), tokenise)


def _decoder_types(decoder: dict[str, Any] | None) -> set[str]:
    if decoder is None:
        return set()
    nested = decoder.get("decoders") or ()
    return {str(decoder.get("type"))}.union(*(_decoder_types(inner) for inner in nested))


def _gpt2_alphabet() -> dict[str, int]:
    """GPT-2's table: printable bytes stand for themselves, the others from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(value): value for value in printable}
    spare = 0x100
    for value in range(256):
        if value not in printable:
            table[chr(spare)] = value
            spare += 1
    return table


_ALPHABET = _gpt2_alphabet()


def _byte_level(name: str) -> bytes:
    if all(character in _ALPHABET for character in name):
        return bytes(_ALPHABET[character] for character in name)
    return name.encode()
