"""``langwright generate``: a model from a description."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from language_server.cli.check import problems_of
from language_server.cli.console import note, write, write_json
from language_server.cli.growing_text import Appending, GrowingText, Rewriting, Silent
from language_server.cli.options import AsJson, Given, language_for
from language_server.cli.story import Story
from language_server.languages import Language
from language_server.workspace.positions import LineIndex
from language_server.workspace.problems import is_fault, problem

if TYPE_CHECKING:
    from language_server.decoding import Event, Generation, Sampling

DEFAULT_MAX_TOKENS = 256


def generate(
    description: Annotated[
        str, typer.Argument(metavar="DESCRIPTION", help="What to write.", show_default=False)
    ],
    language: Annotated[
        str,
        typer.Option(
            "--language",
            "-l",
            metavar="NAME|GRAMMAR.tx",
            help="A known language, or the path of a grammar.",
            show_default=False,
        ),
    ],
    model: Annotated[
        str,
        typer.Option(metavar="default|random|replay:FILE|PATH|URL", help="The language model."),
    ] = "default",
    strategy: Annotated[
        str,
        typer.Option(
            metavar="assured|cascade[:STRATEGY]|retry|mask|grammar|free", help="How it is guided."
        ),
    ] = "assured",
    seed: Annotated[int, typer.Option(help="Equal seeds give equal texts.")] = 0,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, help="Budget of the text.")
    ] = DEFAULT_MAX_TOKENS,
    deadline: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Return the best there is after so many seconds.",
            show_default=False,
        ),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(min=0, help="0 takes the likeliest token, 0.7 is usual.", show_default=False),
    ] = None,
    top_k: Annotated[
        int | None,
        typer.Option("--top-k", min=1, help="Keep the likeliest tokens.", show_default=False),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option("--top-p", help="Keep the likeliest with this share.", show_default=False),
    ] = None,
    min_p: Annotated[
        float | None,
        typer.Option("--min-p", help="Keep what is this likely at least.", show_default=False),
    ] = None,
    repetition_penalty: Annotated[
        float | None,
        typer.Option("--repetition-penalty", help="Above 1 against loops.", show_default=False),
    ] = None,
    given: Given = None,
    count: Annotated[
        int, typer.Option("--n", min=1, help="Write so many, give the best (all with --json).")
    ] = 1,
    search: Annotated[
        str,
        typer.Option(
            metavar="best|aligned|beam|obligations",
            help="How several texts are looked for; see --n.",
        ),
    ] = "best",
    reasoning: Annotated[
        int, typer.Option(metavar="TOKENS", min=0, help="Let the model think aloud first.")
    ] = 0,
    prompt_grammar: Annotated[
        bool | None,
        typer.Option(
            "--prompt-grammar/--no-prompt-grammar",
            help="Tell the model the grammar (by default what the language's manifest says).",
            show_default=False,
        ),
    ] = None,
    hide_language: Annotated[
        bool | None,
        typer.Option(
            "--hide-language/--name-language",
            help="Keep the language's name from the model (by default as the manifest says).",
            show_default=False,
        ),
    ] = None,
    drift_control: Annotated[
        bool,
        typer.Option(
            "--drift-control/--no-drift-control",
            help="Take back what repeats itself or gets nowhere (assured).",
        ),
    ] = True,
    canonical_layout: Annotated[
        bool,
        typer.Option(
            "--canonical-layout/--free-layout",
            help="Write white space that the examples leave no choice about without the model.",
        ),
    ] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Tell on standard error what happens and why.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Write a model that fits a description; the text appears as it grows.

    What the strategy "assured" returns is always valid. Ctrl-C returns what is there, completed.
    Exit code 1 means that the result has problems (they are told on standard error).
    """
    from language_server.decoding import alternatives, load_model

    sampling = _sampling(
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        repetition_penalty=repetition_penalty,
    )
    known = language_for(language, None, given).prompted(prompt_grammar, hide_language)
    loaded = load_model(model, note)
    growing = _growing_text(strategy, as_json or count > 1, trace)
    story = Story(note) if trace else None

    def hear(event: Event) -> None:
        growing.hear(event)
        if story is not None:
            story.hear(event)

    with _cancelled_by_interrupt() as cancel:
        generation, *others = alternatives(
            known,
            description,
            loaded,
            count,
            search=search,
            strategy=strategy,
            seed=seed,
            max_tokens=max_tokens,
            deadline=deadline,
            cancel=cancel,
            on_event=hear,
            sampling=sampling,
            reasoning=reasoning,
            drift_control=drift_control,
            canonical_layout=canonical_layout,
        )
    if story is not None:
        story.finish()
    growing.finish(generation.generated)
    if count > 1 and not as_json:
        write(generation.generated.removesuffix("\n") + "\n")
        note(f"The best of {1 + len(others)} different texts.")
    return _report(known, generation, others, as_json)


def _report(
    language: Language, generation: Generation, others: list[Generation], as_json: bool
) -> int:
    found = problems_of(language, generation.text)
    lines = LineIndex(generation.text)
    valid = not any(is_fault(each) for each in found)
    if as_json:
        answer: dict[str, Any] = generation.to_json()
        answer["language"] = language.name
        answer["valid"] = valid
        answer["problems"] = [problem(each, lines) for each in found]
        if others:
            answer["alternatives"] = [other.to_json() for other in others]
        write_json(answer)
    else:
        for each in found:
            line, column = lines.person(each.start)
            note(f"{line}:{column}: {each.severity}: {each.message}")
        note(_summary(generation, valid))
    return 0 if valid else 1


def _summary(generation: Generation, valid: bool) -> str:
    tokens = generation.tokens
    total = sum(tokens.values())
    endings = {
        "end": "",
        "budget": "; the token budget is used up",
        "deadline": "; stopped at the deadline",
        "cancelled": "; stopped",
        "dead-end": "; the strategy ran into a dead end",
    }
    return (
        f"{'Valid' if valid else 'Not valid'}: {total} tokens ({tokens['model']} by the model, "
        f"{tokens['forced']} forced, {tokens['witness']} by the witness) "
        f"in {generation.seconds['total']:.1f} s{endings[generation.finish]}."
    )


def _sampling(**given: float | None) -> Sampling:
    """Raises: BadParameter: a value that has no meaning."""
    from language_server.decoding import Sampling

    try:
        return Sampling(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _growing_text(strategy: str, silent: bool, trace: bool) -> GrowingText:
    if silent:
        return Silent()
    if sys.stdout.isatty() and not trace:
        return Rewriting(sys.stdout)
    return Appending(sys.stdout, goes_back=strategy != "free")


@contextmanager
def _cancelled_by_interrupt() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; a second one ends the program."""
    cancel = threading.Event()
    usual = signal.getsignal(signal.SIGINT)

    def interrupted(number: int, frame: object) -> None:
        cancel.set()
        signal.signal(signal.SIGINT, usual)
        note("Stopping; the text is being completed …")

    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    signal.signal(signal.SIGINT, interrupted)
    try:
        yield cancel
    finally:
        signal.signal(signal.SIGINT, usual)
