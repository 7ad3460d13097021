"""What of a free answer is the model asked for."""

from __future__ import annotations

import re

_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)


def artefact(answer: str) -> str:
    """The content of the first code fence of a free answer, else all of it."""
    fenced = _FENCED.search(answer)
    return fenced[1] if fenced is not None else answer
