"""What the features found, in the types of the Language Server Protocol."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from language_server.diagnostic import Diagnostic
from language_server.features.completion import Proposal
from language_server.workspace.positions import LineIndex, Position, Range

SOURCE = "langwright"

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
_KINDS = {
    "reference": types.CompletionItemKind.Reference,
    "keyword": types.CompletionItemKind.Keyword,
    "value": types.CompletionItemKind.Value,
    "declaration": types.CompletionItemKind.Variable,
}


def position(place: types.Position) -> Position:
    """A position the client sent."""
    return Position(place.line, place.character)


def text_range(place: types.Range) -> Range:
    """A range the client sent."""
    return Range(position(place.start), position(place.end))


def protocol_range(place: Range) -> types.Range:
    """A range to send."""
    return types.Range(types.Position(*place.start), types.Position(*place.end))


def diagnostic(found: Diagnostic, lines: LineIndex, uri: str) -> types.Diagnostic:
    """A problem of the text that ``lines`` indexes, shown in the document ``uri``."""
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(uri, protocol_range(lines.range(start, end))), message
        )
        for start, end, message in found.related
    ]
    return types.Diagnostic(
        range=protocol_range(lines.range(found.start, found.end)),
        message=found.message,
        severity=_SEVERITIES[found.severity],
        code=found.constraint or found.code,
        source=SOURCE,
        related_information=related or None,
        data={"source": found.source, "code": found.code, "elements": list(found.elements)},
    )


def completion_list(proposals: Sequence[Proposal], lines: LineIndex) -> types.CompletionList:
    """The completion list, in the order of the proposals whatever the labels are."""
    return types.CompletionList(
        is_incomplete=False,
        items=[_item(proposal, lines, rank) for rank, proposal in enumerate(proposals)],
    )


def _item(proposal: Proposal, lines: LineIndex, rank: int) -> types.CompletionItem:
    proven = proposal.verdict == "proven"
    corrects = proposal.replaces and not proposal.label.startswith(proposal.replaces)
    return types.CompletionItem(
        label=proposal.label,
        kind=_KINDS[proposal.kind],
        detail=proposal.detail or None,
        label_details=None if proven else types.CompletionItemLabelDetails(description="unproven"),
        sort_text=f"{rank:05}",
        # The editor hides what does not match the word that stands there; a correction must not.
        filter_text=proposal.replaces if corrects else proposal.label,
        preselect=True if rank == 0 and proven else None,
        text_edit=types.TextEdit(
            protocol_range(lines.range(proposal.start, proposal.end)), proposal.text
        ),
    )
