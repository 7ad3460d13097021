"""``langwright complete``: the completion list at a place of a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from language_server.cli.console import note, write, write_json
from language_server.cli.options import AsJson, Given, LanguageName, language_for
from language_server.cli.refusal import Refusal
from language_server.workspace.files import read_text
from language_server.workspace.positions import LineIndex
from language_server.workspace.problems import range_data

_SECONDS = 10.0  # nobody waits for a keystroke here, so all items get their proof


def complete(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The model.", show_default=False)],
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="LINE:COLUMN",
            help="The cursor: it stands before this character; both are counted from 1.",
            show_default=False,
        ),
    ],
    language: LanguageName = None,
    given: Given = None,
    as_json: AsJson = False,
) -> int:
    """List what may stand at a place of a file so that the model can still be completed.

    Items that are proven to lead to a consistent model come first. "range" in JSON holds the
    positions of the Language Server Protocol, counted from 0 in UTF-16 units.
    """
    from language_server.features.completion import Proposal, propose
    from language_server.projection import Prefix

    text = read_text(file)
    lines = LineIndex(text)
    offset = _offset(at, lines, file)
    known = language_for(language, file, given)
    prefix = Prefix.start(known).advance(text[:offset])
    proposals = propose(known, prefix, text[offset:], _SECONDS, file)

    def exchanged(proposal: Proposal) -> dict[str, Any]:
        return {
            "label": proposal.label,
            "kind": proposal.kind,
            "detail": proposal.detail,
            "verdict": proposal.verdict,
            "class": proposal.cls,
            "feature": proposal.feature,
            "target": proposal.target,
            "range": range_data(lines.range(proposal.start, proposal.end)),
            "text": proposal.text,
        }

    if as_json:
        write_json({"file": str(file), "items": [exchanged(each) for each in proposals]})
        return 0
    width = max((len(proposal.label) for proposal in proposals), default=0)
    for proposal in proposals:
        doubt = "" if proposal.verdict == "proven" else "  (unproven)"
        write(f"{proposal.label:<{width}}  {proposal.kind:<11}  {proposal.detail}{doubt}".rstrip())
        write("\n")
    if not proposals:
        if prefix.alive:
            note("Nothing is known that could stand here; what there is may go on all the same.")
        else:
            note("Nothing can stand here so that the model can still be completed.")
    return 0


def _offset(at: str, lines: LineIndex, file: Path) -> int:
    match = re.fullmatch(r"(\d+):(\d+)", at)
    if match is None:
        raise typer.BadParameter(f"--at takes LINE:COLUMN, such as 3:14, not {at!r}")
    line, column = int(match[1]), int(match[2])
    offset = lines.offset_for_person(line, column)
    if offset is not None:
        return offset
    if not 1 <= line <= lines.line_count:
        message = f"there is no line {line}"
        cure = f"The file has {lines.line_count}; lines are counted from 1"
    else:
        message = f"line {line} has no column {column}"
        cure = f"Its columns go from 1 to {len(lines.line_text(line - 1)) + 1}"
    raise Refusal(message, path=file, cure=cure)
