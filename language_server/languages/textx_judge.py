"""textX itself as the judge of a text: on a thread with a large stack and with a time limit.

textX reads recursively, and its resolver walks the whole model for each reference; a text can make
both run out of stack or time. Then the answer is that textX cannot load the text.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textx.const import UNKNOWN_OBJ_ERROR
from textx.exceptions import TextXError, TextXSyntaxError
from textx.metamodel import TextXMetaModel

from language_server.diagnostic import Diagnostic, Source

STACK_BYTES = 512 * 1024 * 1024
RECURSION_LIMIT = 200_000
SECONDS = 20.0
NOT_IN_TIME = "textx-timeout"  # the code of the problem that it takes longer
_USUAL_LIMIT = sys.getrecursionlimit()

_settings = threading.Lock()  # stack size and recursion limit are settings of the whole process
_running = 0


def load_problems(
    metamodel: TextXMetaModel,
    text: str,
    path: Path | None = None,
    seconds: float = SECONDS,
    root: Path | None = None,
) -> tuple[Diagnostic, ...]:
    """What textX has against a text (it stops at the first problem); empty if it loads.

    Args: as those of `load`.
    """
    return load(metamodel, text, path, seconds, root)[1]


def load(
    metamodel: TextXMetaModel,
    text: str,
    path: Path | None = None,
    seconds: float = SECONDS,
    root: Path | None = None,
) -> tuple[Any, tuple[Diagnostic, ...]]:
    """The model that textX loads, or what it has against the text: the first problem.

    Args:
        metamodel: the language.
        text: the whole text.
        path: where the text belongs, for imports; it is not read.
        seconds: how long textX may take.
        root: the folder that globs of a global repository are relative to, instead of the folder
            of the process.
    """
    where = {} if root is None else {"project_root": str(root)}
    models: list[Any] = []
    errors: list[BaseException] = []
    # Without a text textX would read the file; and what is empty imports nothing.
    file_name = str(path) if path and text else None

    def run() -> None:
        try:
            models.append(metamodel.model_from_str(text, file_name=file_name, **where))
        except BaseException as error:  # a processor of the language may raise anything
            errors.append(error)

    if not run_on_large_stack(run, seconds):
        return None, (_whole(text, "textX does not finish loading the text in time", NOT_IN_TIME),)
    if models:
        return models[0], ()
    return None, (_problem(errors[0], text, path),)


def has_processors(metamodel: TextXMetaModel) -> bool:
    """Whether code of the language is run on models and may refuse them.

    Processors of objects and models, and the classes that objects are made of.
    """
    processors = metamodel._obj_processors != metamodel._default_obj_processors
    classes = metamodel.user_classes or metamodel.user_classes_provider
    return bool(processors or metamodel._model_processors or classes)


def _problem(error: BaseException, text: str, path: Path | None) -> Diagnostic:
    elsewhere = getattr(error, "filename", None)
    if isinstance(error, OSError):
        return _whole(text, f"a file cannot be read: {error}", "textx-import")
    if isinstance(error, TextXError) and elsewhere and not _is_same(elsewhere, path):
        return _whole(text, f"another file has a problem: {error}", "textx-import")
    return _diagnostic(error, text)


def _is_same(file_name: str, path: Path | None) -> bool:
    return path is not None and Path(file_name).absolute() == path.absolute()


def run_on_large_stack(work: Callable[[], Any], seconds: float) -> bool:
    """Runs `work` on a thread of its own; False if it has not finished in time."""

    def run() -> None:
        try:
            work()
        finally:
            _leave_deep_recursion()

    _enter_deep_recursion()
    with _settings:
        before = threading.stack_size(STACK_BYTES)
        thread = threading.Thread(target=run, name="textX", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no room for so large a stack
            threading.stack_size(STACK_BYTES // 16)
            thread = threading.Thread(target=run, name="textX", daemon=True)
            thread.start()
        finally:
            threading.stack_size(before)
    thread.join(seconds)
    return not thread.is_alive()


def _enter_deep_recursion() -> None:
    global _running
    with _settings:
        _running += 1
        sys.setrecursionlimit(RECURSION_LIMIT)


def _leave_deep_recursion() -> None:
    global _running
    with _settings:
        _running -= 1
        if _running == 0:
            sys.setrecursionlimit(_USUAL_LIMIT)


def _diagnostic(error: BaseException, text: str) -> Diagnostic:
    if isinstance(error, (RecursionError, MemoryError)):
        return _whole(text, "textX cannot load the text: it is nested too deeply", "textx-depth")
    if not isinstance(error, TextXError):
        message = f"the language's own code failed: {type(error).__name__}: {error}"
        return _whole(text, message, "textx-processor")
    source: Source = "reference"
    code = "unresolved-reference"
    if isinstance(error, TextXSyntaxError):
        source, code = "syntax", "syntax"
    elif error.err_type != UNKNOWN_OBJ_ERROR:
        source, code = "metamodel", "textx"
    start = offset_of(text, error.line, error.col)
    end = start
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    message = str(getattr(error, "message", "") or error).split(" => ")[0]
    return Diagnostic(start, max(end, min(start + 1, len(text))), "error", source, code, message)


def offset_of(text: str, line: int | None, column: int | None) -> int:
    """The offset of a place that textX counts from 1; 0 where it gives none."""
    if not line:
        return 0
    at = 0
    for _ in range(line - 1):
        found = text.find("\n", at)
        if found < 0:
            break
        at = found + 1
    return min(at + (column or 1) - 1, len(text))


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """The line and column of an offset, both from 1; the opposite of `offset_of`."""
    before = text[:offset]
    line = before.count("\n") + 1
    column = offset - (before.rfind("\n") + 1) + 1
    assert offset_of(text, line, column) == min(offset, len(text))
    return line, column


def _whole(text: str, message: str, code: str) -> Diagnostic:
    stop = text.find("\n")
    return Diagnostic(0, len(text) if stop < 0 else stop, "error", "syntax", code, message)
