"""Loading a textX grammar; whatever is wrong with it becomes one `LanguageError`."""

from __future__ import annotations

import re
from pathlib import Path

from textx import metamodel_from_file
from textx.exceptions import TextXError
from textx.metamodel import TextXMetaModel

from language_server.languages.error import LanguageError
from language_server.languages.textx_judge import line_and_column
from language_server.syntax import GrammarFinding

# The pieces of a grammar in which nothing is what it looks like, as textX reads them.
_PIECE = re.compile(
    r"(?P<blank>\s+|//.*|/\*(?:.|\n)*?\*/)"
    r"|'(?:\\'|[^'])*'|"
    r'"(?:\\"|[^"])*"'
    r"|/(?:\\/|[^/])*/|(?P<end>;)|[^\s'\"/;]+|."
)
_STATEMENT = re.compile(
    r"(?P<kind>import|reference)\s+(?P<name>[\w.-]+)(?:\s+as\s+\w+)?(?!\s*:)\s*"
)
_PLACE = re.compile(r"\s*(?:at )?(?:position )?\((\d+), (\d+)\)")


def read_text(path: Path, what: str) -> str:
    """The text of a file that defines a language.

    Raises:
        LanguageError: there is no such file, or it is not text.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise LanguageError(f"there is no such {what}", path, cure="check the path") from None
    except IsADirectoryError:
        raise LanguageError(f"this is a folder, not a {what}", path) from None
    except OSError as error:
        raise LanguageError(f"the {what} cannot be read: {error.strerror}", path) from None
    except UnicodeDecodeError:
        raise LanguageError(f"the {what} is not UTF-8 text", path) from None


def load_grammar(path: Path, importers: tuple[Path, ...] = ()) -> TextXMetaModel:
    """The textX metamodel of a grammar file.

    Args:
        path: the file.
        importers: the grammars that are being loaded and import this one.

    Raises:
        LanguageError: with the place in the grammar, or in one that it imports.
    """
    text = read_text(path, "grammar")
    try:
        return metamodel_from_file(str(path))
    except Exception as error:  # textX lets some of Python's own errors through
        # textX counts lines in the imported file and names the importing one.
        for imported in _imported(text, path):
            if imported.is_file() and imported not in importers:
                load_grammar(imported, (*importers, path))
        line, column, message = refusal(error)
        raise LanguageError(message, path, line, column, _cure(message)) from None


def rules_of(path: Path, importers: tuple[Path, ...] = ()) -> tuple[str, ...]:
    """The rules of a grammar that textX loads, then those of the grammars it imports.

    Each is a row without comments; references to other languages are rows of their own.

    Args:
        path, importers: as for `load_grammar`.

    Raises:
        LanguageError: a file cannot be read.
    """
    text = read_text(path, "grammar")
    rows = [""]
    for piece in _PIECE.finditer(text):
        if not piece["blank"]:
            rows[-1] += piece[0]
        elif not rows[-1].endswith(" "):
            rows[-1] += " "
        if piece["end"]:
            rows.append("")
    rules: list[str] = []
    for row in map(str.strip, rows):
        while statement := _STATEMENT.match(row):
            if statement["kind"] == "reference":
                rules.append(statement[0].strip())
            row = row[statement.end() :]
        rules += [row] if row else []
    for imported in _imported(text, path):
        if imported not in (*importers, path):
            rules += rules_of(imported, (*importers, path))
    return tuple(dict.fromkeys(rules))


def refusal(error: Exception) -> tuple[int | None, int | None, str]:
    """Where and why textX does not build a grammar; line and column from 1, None where unknown."""
    if isinstance(error, FileNotFoundError):
        return None, None, f"the grammar imports {error.filename}, which does not exist"
    if isinstance(error, RecursionError):
        return None, None, "the grammar is nested too deeply, or rules are nothing but each other"
    if not isinstance(error, TextXError):
        return None, None, f"textX cannot load the grammar: {error}"
    message = str(getattr(error, "message", "") or error).split(" => ")[0].strip()
    said = _PLACE.search(message)  # some errors tell their place in the message alone
    line, column = error.line, error.col
    if not line and said is not None:
        line, column = int(said.group(1)), int(said.group(2))
    return line or None, column or None, _PLACE.sub("", message).rstrip(" .")


def finding_as_error(finding: GrammarFinding) -> LanguageError:
    """What is wrong with a grammar that textX builds, at its place in the file."""
    place = finding.place
    if place is None or place.path is None:
        return LanguageError(finding.message, cure=finding.cure)
    text = read_text(place.path, "grammar")
    line, column = line_and_column(text, place.start)
    end = line_and_column(text, place.end)
    return LanguageError(finding.message, place.path, line, column, finding.cure, end)


def _imported(text: str, path: Path) -> list[Path]:
    """The files that a grammar seems to import."""
    names = re.findall(r"^\s*import\s+([\w.]+)", text, re.MULTILINE)
    return [path.parent.joinpath(*name.split(".")).with_suffix(".tx") for name in names]


def _cure(message: str) -> str:
    if "eolterm" in message:
        return "write the separator first and eolterm behind it, without a comma: [',' eolterm]"
    if "?=" in message or "bool assignment" in message.lower():
        return "use '=' or '+=' inside a repetition"
    return ""
