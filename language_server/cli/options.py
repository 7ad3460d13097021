"""The options that several commands share, and how a command finds its language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from language_server.languages import Language
from language_server.workspace.catalogue import Catalogue

LanguageName = Annotated[
    str | None,
    typer.Option(
        "--language",
        "-l",
        metavar="NAME|GRAMMAR.tx",
        help="A known language, or the path of a grammar (with the .problem file of the same "
        "name beside it, if there is one). Without it the file's extension decides.",
        show_default=False,
    ),
]
Given = Annotated[
    Path | None,
    typer.Option(
        "--given",
        metavar="FILE.problem",
        help="Facts that hold from the start, as assertions in the words of the language's "
        "metamodel: a closed vocabulary, for instance.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
AsJsonLines = Annotated[
    bool, typer.Option("--jsonl", help="Read JSON lines with id and text, answer each with a line.")
]

WithFixes = Annotated[
    bool | None,
    typer.Option(
        "--fixes/--no-fixes",
        help="Say what the smallest changes are that would lift a problem. This takes some time; "
        "without it reports for people say so, JSON does not.",
        show_default=False,
    ),
]


def catalogue() -> Catalogue:
    """The languages that are known where the command was started."""
    return Catalogue(Path.cwd())


def language_for(name: str | None, path: Path | None, given: Path | None = None) -> Language:
    """The language that was named, else the one for the file; with what is given of its texts.

    Raises:
        LanguageError: there is none, or it cannot be loaded, or the given facts cannot.
    """
    language = _language_for(name, path)
    return language if given is None else language.with_given(given)


def _language_for(name: str | None, path: Path | None) -> Language:
    known = catalogue()
    if name is not None:
        language = known.named(name)
        return language if path is None else known.at(path, language)
    if path is None:
        raise typer.BadParameter("standard input needs --language")
    return known.for_file(path)


def require(name: str | None, why: str) -> str:
    """The language's name, which this use needs.

    Raises:
        typer.BadParameter: it was not given.
    """
    if name is None:
        raise typer.BadParameter(f"{why} needs --language")
    return name
