"""Reading the files people name: every way it can fail is told in one sentence with a cure."""

from __future__ import annotations

import errno
from pathlib import Path

from language_server.workspace.documents import BYTE_ORDER_MARK


class FileProblem(Exception):
    """A file that cannot be used as text.

    Attributes:
        path: the file.
        message: what is wrong, without the path.
        cure: what to do about it.
    """

    def __init__(self, path: Path, message: str, cure: str) -> None:
        super().__init__(f"{path}: {message}. {cure}")
        self.path = path
        self.message = message
        self.cure = cure


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, line ends as they are, without a byte-order mark.

    Raises:
        FileProblem: there is no such file, it may not be read, or it is not UTF-8 text.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error
    return decode(content, path)


def decode(content: bytes, path: Path) -> str:
    """The text of a UTF-8 file's bytes; ``path`` is what an error calls it.

    Raises:
        FileProblem: the bytes are not UTF-8 text.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileProblem(path, "this is UTF-16 text", "Save it as UTF-8")
    if b"\0" in content:
        raise FileProblem(path, "this is a binary file", "Name a text file in UTF-8")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileProblem(
            path, f"line {line} is not UTF-8 text", "Save the file as UTF-8, or name a text file"
        ) from error
    return text.removeprefix(BYTE_ORDER_MARK)


def _unreadable(path: Path, error: OSError) -> FileProblem:
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return FileProblem(path, "there is no such file", "Check the spelling of the path")
        case errno.EISDIR:
            return FileProblem(path, "this is a folder", "Name a file in it")
        case errno.EACCES | errno.EPERM:
            return FileProblem(path, "no permission to read it", "Make it readable for your user")
        case _:
            reason = error.strerror or type(error).__name__
            return FileProblem(path, f"it cannot be read: {reason}", "Check the disk and the path")
