"""The command ``langwright``.

Results go to standard output, progress and notes to standard error. It ends with 0 if all is well,
1 if problems were found, 2 if it was used wrongly. What is heavy is imported by the command that
needs it: only ``generate`` and ``doctor`` touch the language model, only ``serve`` the protocol.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from language_server.cli import (
    check,
    complete,
    doctor,
    generate,
    languages,
    metamodel,
    prefix,
    serve,
)
from language_server.cli.console import note, use_utf8
from language_server.cli.refusal import Refusal, refusal_of
from language_server.partial_model.collection import collect_rarely

app = typer.Typer(
    name="langwright",
    help="Completions, diagnostics and generation that can always be completed, "
    "for any textX language.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("languages")(languages.languages)
app.command("check")(check.check)
app.command("prefix")(prefix.prefix)
app.command("complete")(complete.complete)
app.command("generate")(generate.generate)
app.command("metamodel")(metamodel.metamodel)
app.command("serve")(serve.serve)
app.command("doctor")(doctor.doctor)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    use_utf8()
    collect_rarely()
    code = run(sys.argv[1:] if arguments is None else arguments)
    try:
        if not sys.stdout.closed:  # the language server closes it
            sys.stdout.flush()
    except BrokenPipeError:
        _close_output()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line; every error becomes one line on standard error.

    Returns:
        The exit code.
    """
    try:
        code = app(list(arguments), prog_name="langwright", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        _close_output()
        return 0
    except (KeyboardInterrupt, typer.Abort):
        note("langwright: interrupted")
        return 130
    except typer.TyperException as error:
        message = " ".join(error.format_message().split())
        if message:  # asking for help by giving nothing has been answered already
            note(f"langwright: {message} (langwright --help lists what there is)")
        return 2
    except Exception as error:
        refusal = refusal_of(error)
        if refusal is None:
            if os.environ.get("LANGWRIGHT_TRACE"):
                raise
            refusal = Refusal(
                f"internal error: {type(error).__name__}: {error}",
                cure="This is a fault of Langwright; set LANGWRIGHT_TRACE=1 to see where",
            )
        note(f"langwright: {refusal}")
        return 2


def _close_output() -> None:
    """Keep the interpreter from flushing into a closed pipe when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
