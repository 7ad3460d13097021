"""A problem found in a text, independent of any protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "information", "hint"]
Source = Literal["syntax", "reference", "metamodel", "constraint"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem of a text.

    Attributes:
        start, end: half-open character offsets (code points) into the text.
        source: which part of D = (G, M, C) is violated.
        code: stable, kebab-case identifier of the kind of problem.
        message: one sentence for a person.
        constraint: name of the violated constraint (``source == "constraint"`` only).
        elements: names or descriptions of the model elements involved.
        related: (start, end, message) of other places that explain the problem.
    """

    start: int
    end: int
    severity: Severity
    source: Source
    code: str
    message: str
    constraint: str | None = None
    elements: tuple[str, ...] = ()
    related: tuple[tuple[int, int, str], ...] = ()
