"""Examples of a language: valid models, each with the description that leads to it.

An example is a model file in the folder ``<language>.examples`` beside the grammar. Its first
comment is the description; the rest is the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from language_server.languages.comments import CommentStyle
from language_server.languages.error import LanguageError


@dataclass(frozen=True, slots=True)
class Example:
    """A description and the model for it (without the description, without a final line break)."""

    description: str
    text: str
    path: Path | None = None


def read_examples(folder: Path, style: CommentStyle) -> tuple[Example, ...]:
    """The examples of a folder, by file name; none where the folder does not exist.

    Raises:
        LanguageError: an example cannot be read or begins with no comment.
    """
    if not folder.is_dir():
        return ()
    files = (path for path in sorted(folder.iterdir()) if path.is_file() and path.name[0] != ".")
    return tuple(_read(path, style) for path in files)


def _read(path: Path, style: CommentStyle) -> Example:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise LanguageError(f"the example cannot be read: {error.strerror}", path) from None
    except UnicodeDecodeError:
        raise LanguageError(
            "the example is not UTF-8 text", path, cure="move other files out of the folder"
        ) from None
    found = style.first(text)
    if found is None or not found[0]:
        raise LanguageError(
            "the example has no description", path, 1, 1, cure="describe it in its first comment"
        )
    description, behind = found
    return Example(description, text[behind:].strip("\r\n").rstrip(), path)
