"""Names for something new."""

from __future__ import annotations

from collections.abc import Iterator, Set

from language_server.projection.spelling import read
from language_server.syntax import Expected


def new_names(expected: Expected, cls: str, taken: Set[str], keywords: Set[str]) -> Iterator[str]:
    """Texts of the expected terminal for the name of a new object, best first."""
    for text in _proposals(expected, cls, len(taken)):
        if (
            read(expected, text) not in taken
            and text not in keywords
            and expected.terminal.match(text, 0) == len(text)
        ):
            yield text


def _proposals(expected: Expected, cls: str, taken: int) -> Iterator[str]:
    """Names for something new, best first: a number if digits are read, else an initial."""
    begin = expected.typed
    stems = [begin] if begin else ["", cls[:1].lower(), "x"]
    if begin:
        yield begin
    for stem in stems:
        for number in range(taken + 1, taken + 12):
            yield f"{stem}{number}"
    quote, initial = (begin[0], begin[1:]) if begin else ('"', cls[:1].lower())
    for number in range(taken + 1, taken + 12):
        yield f"{quote}{initial}{number}{quote}"
    example = expected.terminal.example(begin)
    if example is not None:
        yield example
        for number in range(1, 12):
            grown = expected.terminal.example(f"{example}{number}")
            if grown is not None:
                yield grown
