"""Runs of white space, digits and letters in the tokens of a vocabulary, for all tokens at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from language_server.decoding.code_points import split_code_points
from language_server.decoding.layout import Layout

_CUT = "\N{OBJECT REPLACEMENT CHARACTER}"
_KINDS = ("spaces", "newlines", "digits", "word")
_RUNS = {
    "spaces": re.compile(r"[ \t\r]+"),
    "newlines": re.compile(r"[ \t\r\n]+"),
    "digits": re.compile(r"\d+"),
    "word": re.compile(r"\w+"),
}
_SIZES: dict[str, Callable[[str], int]] = {
    "newlines": lambda run: run.count("\n"),
    "digits": lambda run: len(run.encode()),
}


class TokenRuns:
    """The first and the longest run of each kind in each token.

    Attributes:
        length: characters of each token.
        cut: which tokens end inside a code point.
        white: characters of white space that each token begins with.
        has_gap: which tokens have white space behind something else.
    """

    def __init__(self, token_bytes: Sequence[bytes | None]) -> None:
        texts = [_text(data) for data in token_bytes]
        self.length = np.asarray([len(text) for text in texts], dtype=np.int32)
        self.cut = np.asarray([text.endswith(_CUT) for text in texts], dtype=np.bool_)
        bare = [text.lstrip() for text in texts]
        self.white = self.length - np.asarray([len(text) for text in bare], dtype=np.int32)
        self.has_gap = np.asarray([len(text.split()) > 1 or text != text.rstrip() for text in bare])
        self._first: dict[str, npt.NDArray[np.int32]] = {}
        self._longest: dict[str, npt.NDArray[np.int32]] = {}
        for kind in _KINDS:
            measured = [_measure(kind, text) for text in texts]
            self._first[kind] = np.asarray([first for first, _ in measured], dtype=np.int32)
            self._longest[kind] = np.asarray([longest for _, longest in measured], dtype=np.int32)

    def within(self, layout: Layout) -> npt.NDArray[np.bool_]:
        """The tokens behind which no run is too long."""
        within = np.ones(len(self.length), dtype=np.bool_)
        for kind in _KINDS:
            cap = getattr(layout.policy, kind)
            if cap is not None:
                first, longest = self._first[kind], self._longest[kind]
                joined = np.where(first > 0, first + getattr(layout.runs, kind), 0)
                within &= (longest <= cap) & (joined <= cap)
        return within


def _text(data: bytes | None) -> str:
    """What a token says, with a mark for half a code point."""
    if not data:
        return ""
    split = split_code_points(data)
    return "" if split is None else split[0] + _CUT * bool(split[1])


def _measure(kind: str, text: str) -> tuple[int, int]:
    first = longest = 0
    for run in _RUNS[kind].finditer(text):
        size = _SIZES.get(kind, len)(run.group())
        longest = max(longest, size)
        if run.start() == 0:
            first = size
    return first, longest
