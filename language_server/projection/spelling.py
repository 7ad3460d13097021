"""Names as texts of a terminal: a string stands in quotes, which textX takes away."""

from __future__ import annotations

from language_server.syntax import Expected
from language_server.syntax.values import convert

_STRING = "STRING"
_QUOTES = ('"', "'")


def spelt(expected: Expected, name: str) -> str | None:
    """A text of the expected terminal, what is typed of it included, that is read as a name.

    Returns:
        None where the terminal alone cannot be the (rest of the) name.
    """
    rest = name[len(expected.value_begun) :]
    texts = [rest]
    if expected.reader == _STRING:
        texts += [quote + rest.replace(quote, "\\" + quote) + quote for quote in _QUOTES]
    for text in texts:
        begins = text.startswith(expected.typed)
        if begins and _match(expected, text) and read(expected, text) == rest:
            return text
    return None


def read(expected: Expected, text: str) -> str:
    """What textX makes of a text of the expected terminal."""
    return str(convert(text, expected.reader)) if expected.reader == _STRING else text


def is_free(expected: Expected) -> bool:
    """Whether a name may be written in several ways here."""
    return expected.reader == _STRING or any(quote in expected.value_begun for quote in _QUOTES)


def may_become(expected: Expected, name: str) -> bool:
    """False only if what is typed is no beginning of the name."""
    if not is_free(expected):
        return name.startswith(expected.value_begun + expected.typed)
    if any(quote in expected.value_begun for quote in _QUOTES):
        return True
    typed = expected.typed
    if not expected.whole:
        # The text ends within the string, perhaps within an escape.
        typed = typed.removesuffix("\\") + typed[:1]
    begun = read(expected, typed) if expected.typed else ""
    return name.startswith(expected.value_begun + begun)


def _match(expected: Expected, text: str) -> bool:
    return expected.terminal.match(text, 0) == len(text)
