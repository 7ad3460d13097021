"""What is said about a grammar that textX builds and its users pay for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class GrammarPlace:
    """A stretch of a grammar.

    Attributes:
        path: the ``.tx`` file; None for a grammar that is no file.
        start, end: half-open character offsets into its text, line ends counted as one character.
    """

    path: Path | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class GrammarFinding:
    """A fault of a grammar.

    Attributes:
        code: ``left-recursion``, ``unproductive-rule``, ``swapped-values``, ``swallowed-keyword``,
            ``swallowed-terminator``, ``dead-alternative`` or ``lost-line-ends``.
        rules: names of the rules involved; the first is where the message belongs.
        message: one sentence for a person.
        cure: what to write instead.
        place: where it is to be mended; None where the text of the grammar is not known.
        related: other places that explain it, and how.
    """

    code: str
    rules: tuple[str, ...]
    message: str
    cure: str
    place: GrammarPlace | None = None
    related: tuple[tuple[GrammarPlace, str], ...] = ()
