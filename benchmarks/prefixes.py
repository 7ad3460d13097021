"""How long the question "can this still be completed?" takes, as text arrives piece by piece."""

from __future__ import annotations

import re
from collections.abc import Iterator
from time import perf_counter

from benchmarks.report import Table, Value
from benchmarks.texts import shipped
from benchmarks.timing import quantile, undisturbed
from language_server.projection import Prefix

# Pieces about as a language model's tokens cut a text: a word with the space before it, digits and
# signs one by one.
PIECE = re.compile(r" ?[A-Za-z_]{1,6}|\s+|.", re.DOTALL)

# A language is left after so many seconds: the texts measured by then are enough for quantiles.
SECONDS = 60


def run() -> Iterator[Table]:
    """Advancing a prefix by a token, then asking for a witness, over the shipped examples."""
    advance_rows: list[tuple[Value, ...]] = []
    question_rows: list[tuple[Value, ...]] = []
    for language, texts in shipped():
        advancing: list[float] = []
        asking: list[float] = []
        answers = {"yes": 0, "no": 0, "unknown": 0}
        with undisturbed():
            end = perf_counter() + SECONDS
            for text in texts:
                prefix = Prefix.start(language)
                for piece in PIECE.findall(text):
                    began = perf_counter()
                    if began > end:
                        break
                    prefix = prefix.advance(piece)
                    advanced = perf_counter()
                    answers[prefix.completable().answer] += 1
                    asking.append(perf_counter() - advanced)
                    advancing.append(advanced - began)
        advance_rows.append((language.name, len(advancing), *milliseconds(advancing)))
        question_rows.append((language.name, *milliseconds(asking), *answers.values()))
    quantiles = ("median, ms", "90 %, ms", "99 %, ms", "most, ms")
    yield Table(
        title="A prefix takes in one token",
        columns=("language", "tokens", *quantiles),
        rows=tuple(advance_rows),
        note="Syntax, partial model and propagation of the constraints.",
    )
    yield Table(
        title="Can the prefix be completed? Asked after each token of the shipped examples",
        columns=("language", *quantiles, "yes", "no", "unknown"),
        rows=tuple(question_rows),
        note="Each answer but yes is a miss here: the examples are completions of their prefixes.",
    )


def milliseconds(seconds: list[float]) -> tuple[float, ...]:
    """Median, 90 % and 99 % quantile and the largest of the times, in milliseconds."""
    return tuple(1000 * quantile(seconds, share) for share in (0.5, 0.9, 0.99, 1.0))
