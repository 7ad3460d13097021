"""``langwright prefix``: can the beginning of a model be completed, and how."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from language_server.cli.console import STANDARD_INPUT, read_input, read_records, write, write_json
from language_server.cli.options import (
    AsJson,
    AsJsonLines,
    Given,
    LanguageName,
    language_for,
    require,
)
from language_server.languages import Language

if TYPE_CHECKING:
    from language_server.projection import Verdict

_VERDICTS = {"yes": "completable", "no": "not_completable", "unknown": "unknown"}


def prefix(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE|-",
            help="The beginning of a model; - is standard input.",
            show_default=False,
        ),
    ] = None,
    language: LanguageName = None,
    given: Given = None,
    jsonl: AsJsonLines = False,
    as_json: AsJson = False,
) -> int:
    """Tell whether a text can be completed into a consistent model.

    The witness is a text to append that completes it. Where there is none the reasons say why.
    Exit code 1 means that no continuation exists.
    """
    if jsonl:
        return _judge_records(file, language_for(require(language, "--jsonl"), None, given))
    if file is None:
        raise typer.BadParameter("name a file, or - for standard input, or use --jsonl")
    text = read_input(file)
    path = None if file == STANDARD_INPUT else file
    verdict = verdict_of(language_for(language, path, given), text)
    if as_json:
        write_json(verdict)
    else:
        write(verdict["verdict"] + "\n")
        for reason in verdict["reasons"]:
            write(f"  {reason}\n")
        if verdict["witness"] is not None:
            write(f"witness:\n{verdict['witness']}\n")
    return _exit_code(verdict)


def verdict_of(language: Language, text: str) -> dict[str, Any]:
    """``verdict``, ``witness`` (the text to append, or None) and ``reasons`` for a prefix."""
    from language_server.projection import Prefix

    verdict = Prefix.start(language).advance(text).completable()
    if verdict.witness is not None and language.definition.compiler is not None:
        verdict = _compiled(language, text, verdict)
    return {
        "verdict": _VERDICTS[verdict.answer],
        "witness": verdict.witness if verdict.answer == "yes" else None,
        "reasons": list(verdict.reasons),
    }


def _compiled(language: Language, text: str, verdict: Verdict) -> Verdict:
    """The verdict, *unknown* where the language's compiler refuses the witness."""
    found = language.judge(text + (verdict.witness or ""))
    reasons = tuple(each.message for each in found if each.severity == "error")
    return replace(verdict, answer="unknown", witness=None, reasons=reasons) if reasons else verdict


def _judge_records(file: Path | None, language: Language) -> int:
    code = 0
    for identity, text in read_records([file] if file is not None else []):
        verdict = verdict_of(language, text)
        write_json({"id": identity, **verdict})
        code = max(code, _exit_code(verdict))
    return code


def _exit_code(verdict: dict[str, Any]) -> int:
    return 1 if verdict["verdict"] == "not_completable" else 0
