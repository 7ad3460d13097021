"""Loading a textX grammar; whatever is wrong with it becomes one `LanguageError`."""

from __future__ import annotations

from pathlib import Path

from textx import metamodel_from_file
from textx.exceptions import TextXError
from textx.metamodel import TextXMetaModel

from language_server.languages.error import LanguageError
from language_server.languages.textx_judge import line_and_column
from language_server.syntax import GrammarFinding


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


def load_grammar(path: Path) -> TextXMetaModel:
    """The textX metamodel of a grammar file.

    Raises:
        LanguageError: with the place in the grammar (or in one that it imports).
    """
    read_text(path, "grammar")
    try:
        return metamodel_from_file(str(path))
    except TextXError as error:
        blamed = Path(error.filename) if error.filename else path
        raise LanguageError(
            _message(error), blamed, error.line, error.col, _cure(str(error))
        ) from None
    except FileNotFoundError as error:
        raise LanguageError(
            f"the grammar imports {error.filename}, which does not exist", path
        ) from None
    except RecursionError:
        raise LanguageError("the grammar is nested too deeply", path) from None
    except Exception as error:  # textX lets some of Python's own errors through
        raise LanguageError(f"textX cannot load the grammar: {error}", path) from None


def finding_as_error(finding: GrammarFinding) -> LanguageError:
    """What is wrong with a grammar that textX builds, at its place in the file."""
    place = finding.place
    if place is None or place.path is None:
        return LanguageError(finding.message, cure=finding.cure)
    text = read_text(place.path, "grammar")
    line, column = line_and_column(text, place.start)
    end = line_and_column(text, place.end)
    return LanguageError(finding.message, place.path, line, column, finding.cure, end)


def _message(error: TextXError) -> str:
    text = str(getattr(error, "message", "") or error)
    return text.split(" => ")[0].strip() if " => " in text else text.strip()


def _cure(message: str) -> str:
    if "eolterm" in message:
        return "write the separator first and eolterm behind it, without a comma: [',' eolterm]"
    if "?=" in message or "bool assignment" in message.lower():
        return "use '=' or '+=' inside a repetition"
    return ""
