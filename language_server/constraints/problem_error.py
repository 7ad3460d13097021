"""Mistakes in a problem file: what, where, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textx import get_model
from textx.exceptions import TextXSyntaxError

from language_server.constraints.theory import NOWHERE, Place


class ProblemError(Exception):
    """A mistake in a problem file.

    Attributes:
        message: one sentence, without the place.
        path: the file, None for a text without one.
        line, column: from 1; 0 where the mistake concerns the whole file.
        start, end: half-open character offsets.
        cure: what to do about it, '' where nothing better than the message is known.
        others: the further mistakes of the same reading.
    """

    def __init__(
        self,
        message: str,
        path: Path | None,
        line: int = 0,
        column: int = 0,
        place: Place = NOWHERE,
        cure: str = "",
    ) -> None:
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.start, self.end, _ = place
        self.cure = cure
        self.others: tuple[ProblemError, ...] = ()
        where = f"{path or '<problem>'}:{line}:{column}: " if line else f"{path or '<problem>'}: "
        super().__init__(where + message + (f" ({cure})" if cure else ""))


class Places:
    """The file and text each statement came from, so that any node of it can be located."""

    def __init__(self) -> None:
        self._origin: dict[int, tuple[Any, Path | None, str]] = {}

    def enter(self, statement: Any, path: Path | None, text: str) -> None:
        self._origin[id(statement)] = (statement, path, text)

    def origin(self, node: Any) -> tuple[Path | None, str]:
        """The file and text of the statement around a node."""
        while node is not None:
            known = self._origin.get(id(node))
            if known is not None:
                return known[1], known[2]
            node = getattr(node, "parent", None)
        return None, ""


class Collector:
    """Gathers the mistakes of one reading."""

    def __init__(self) -> None:
        self.errors: list[ProblemError] = []
        self.places = Places()

    def add(self, node: Any, message: str, cure: str = "") -> None:
        """Records a mistake at a node of the parse."""
        path, text = self.places.origin(node)
        place = place_of(node)
        start = place.start
        line = text.count("\n", 0, start) + 1
        column = start - (text.rfind("\n", 0, start) + 1) + 1
        self.errors.append(ProblemError(message, path, line, column, place, cure))

    def add_plain(self, message: str, path: Path | None) -> None:
        """Records a mistake that concerns the whole file."""
        self.errors.append(ProblemError(message, path))

    def add_syntax(self, error: TextXSyntaxError, path: Path | None, text: str) -> None:
        """Records a syntax error as textX reports it, in words of the language."""
        expected = sorted({_readable(rule) for rule in error.expected_rules or ()})
        line, column = error.line or 1, error.col or 1
        start = sum(len(row) + 1 for row in text.split("\n")[: line - 1]) + column - 1
        found = text[start : start + 20].split("\n")[0] or "the end of the text"
        message = f"unexpected '{found}'" if start < len(text) else "the problem ends too early"
        if expected:
            message += ", expected " + _one_of(expected)
        self.errors.append(
            ProblemError(message, path, line, column, Place(start, min(start + 1, len(text)), path))
        )

    def sorted(self) -> list[ProblemError]:
        """The mistakes by file and place."""
        return sorted(self.errors, key=lambda error: (str(error.path or ""), error.start))


def place_of(node: Any) -> Place:
    """The span of a node of the parse, in its file."""
    path = get_model(node)._tx_filename
    return Place(node._tx_position, node._tx_position_end, Path(path) if path else None)


def _readable(rule: Any) -> str:
    name = str(getattr(rule, "rule_name", "") or "")
    matched = str(getattr(rule, "to_match", "") or "")
    if name in ("", matched) or matched.isidentifier():
        name = matched
    if name.startswith("^"):
        name = name.strip("^")
    if matched.replace("\\b", "").isidentifier():
        return f"'{matched.replace(chr(92) + 'b', '')}'"
    if name in ("Name", "QualifiedName"):
        return "a name"
    if name == "EOF":
        return "the end of the text"
    return f"'{matched}'" if matched and not any(c in matched for c in "\\[(?") else name


def _one_of(words: list[str], limit: int = 8) -> str:
    shown = words[:limit]
    if len(words) > limit:
        return ", ".join(shown) + " or other"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " or " + shown[-1]
