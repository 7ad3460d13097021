"""A problem as the command line and other tools exchange it: plain data with protocol positions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from language_server.diagnostic import Diagnostic
from language_server.languages import Fix
from language_server.workspace.positions import LineIndex, Range


def problem(
    diagnostic: Diagnostic, lines: LineIndex, fixes: Iterable[Fix] | None = None
) -> dict[str, Any]:
    """The exchange form of a diagnostic of the text that ``lines`` indexes.

    Returns:
        ``range`` (lines and UTF-16 characters from 0), ``severity``, ``code``, ``source`` and
        ``message``; for a constraint also its name and the elements involved; ``related`` places
        where there are any; ``fixes`` (``title``, ``range`` and ``text``, which replaces what
        stands there) if they are given.
    """
    told: dict[str, Any] = {
        "range": range_data(lines.range(diagnostic.start, diagnostic.end)),
        "severity": diagnostic.severity,
        "code": diagnostic.code,
        "source": diagnostic.source,
        "message": diagnostic.message,
    }
    if diagnostic.constraint is not None:
        told["constraint"] = diagnostic.constraint
    if diagnostic.constraint is not None or diagnostic.elements:
        told["elements"] = list(diagnostic.elements)
    if diagnostic.related:
        told["related"] = [
            {"range": range_data(lines.range(start, end)), "message": message}
            for start, end, message in diagnostic.related
        ]
    if fixes is not None:
        told["fixes"] = [
            {
                "title": fix.title,
                "range": range_data(lines.range(fix.start, fix.end)),
                "text": fix.text,
            }
            for fix in fixes
        ]
    return told


def range_data(place: Range) -> dict[str, dict[str, int]]:
    """A range as JSON has it."""
    return {"start": place.start._asdict(), "end": place.end._asdict()}


def is_fault(diagnostic: Diagnostic) -> bool:
    """Whether the text is not in order because of it (information and hints are advice only)."""
    return diagnostic.severity in ("error", "warning")
