"""Parts of texts in UTF-8: code points that are not finished yet, and one of each kind of them."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any


def split_code_points(data: bytes) -> tuple[str, bytes] | None:
    """Whole code points and the beginning of one more; None if it is no UTF-8."""
    try:
        return data.decode(), b""
    except UnicodeDecodeError as error:
        # An unfinished code point is reported as reaching to the end of the data.
        if error.reason == "unexpected end of data" and error.end == len(data):
            return data[: error.start].decode(), data[error.start :]
        return None


def code_points(pending: bytes) -> tuple[int, int]:
    """The first and last code point whose UTF-8 form begins with ``pending``."""
    lead = pending[0]
    length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    point = lead & (0xFF >> (length + 1))
    for byte in pending[1:]:
        point = point << 6 | byte & 0x3F
    missing = 6 * (length - len(pending))
    low, high = point << missing, (point + 1 << missing) - 1
    floor = {2: 0x80, 3: 0x800, 4: 0x10000}[length]
    low, high = max(low, floor), min(high, 0x10FFFF)
    return low, (0xD7FF if low < 0xD800 <= high else high)


# White space that is not of a category of white space, and letters whose other case is ASCII.
_PECULIAR = "\x85ıſK"


@lru_cache(maxsize=1024)
def samples(low: int, high: int) -> tuple[str, ...]:
    """One character of each kind among the code points from ``low`` to ``high`` (beyond ASCII).

    The regular expressions of textX's grammars (Python's ``re``) tell characters apart by general
    category, by white space, and by naming single characters or the ends of ranges; the named ones
    are not among these.
    """
    first: dict[str, str] = {}
    # Beyond the second plane there are few kinds of characters, and each begins a range.
    for point in (*range(low, min(high, 0x2FFFF) + 1), *range(max(low, 0x30000), high + 1, 0x100)):
        first.setdefault(unicodedata.category(chr(point)), chr(point))
    peculiar = (character for character in _PECULIAR if low <= ord(character) <= high)
    return (*first.values(), *peculiar)


_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")


def named_by(terminal: Any) -> set[str]:
    """The characters beyond ASCII that a terminal names."""
    source = (getattr(terminal, "text", "") or "") + (getattr(terminal, "pattern", "") or "")
    if "\\" not in source and source.isascii():
        return set()
    return {character for character in _ESCAPE.sub(_unescaped, source) if character > "\x7f"}


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[escape.lastindex or 0], 16))
