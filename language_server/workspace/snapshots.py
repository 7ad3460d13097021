"""The prefixes of one document, kept so that a keystroke costs what it changed.

A prefix is a persistent value, so keeping one at the begin of each line costs little: a question
about any place in the document starts from the last kept prefix that the text still begins with.
"""

from __future__ import annotations

from language_server.projection import Prefix

_MOST = 2_000  # prefixes kept; with more lines, only every second, third … line's


class Snapshots:
    """Prefixes at line starts of the text that was asked about last. Not for several threads."""

    def __init__(self, start: Prefix) -> None:
        self._start = start
        self._text = ""
        self._kept: list[tuple[int, Prefix]] = [(0, start)]
        self._last = start  # it also knows the witness that was found for it

    def at(self, text: str) -> Prefix:
        """The prefix that a text is; equal to advancing the empty one by the whole text."""
        same = _shared_length(self._text, text)
        while self._kept[-1][0] > same:
            self._kept.pop()
        length, prefix = self._kept[-1]
        if length < len(self._text) <= same:
            length, prefix = len(self._text), self._last
        stride = 1 + text.count("\n") // _MOST
        lines = text[length:].splitlines(keepends=True)
        for number, line in enumerate(lines, start=1):
            prefix = prefix.advance(line)
            length += len(line)
            if number % stride == 0 and number < len(lines):
                self._kept.append((length, prefix))
        self._text, self._last = text, prefix
        return prefix


def _shared_length(one: str, other: str) -> int:
    """How many characters two texts have in common at their begin."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low < high:  # one[:low] is shared, one[: high + 1] is not
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
