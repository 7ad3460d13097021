"""Random grammars and texts: read iff textX reads them, in pieces as at once."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import textx

from language_server.syntax import Grammar
from tests.syntax.brute import textx_reads
from tests.syntax.random_grammars import GrammarSource

#: Seconds of the default run.
BRIEF = 6
#: Seconds after which textX or we are taken to hang.
PATIENCE = 20


def test_random_grammars() -> None:
    """As many grammars as there is time for."""
    ended = time.monotonic() + BRIEF
    seed = 0
    while time.monotonic() < ended:
        check(seed)
        seed += 1


@pytest.mark.long
@pytest.mark.parametrize("first", range(10_000, 14_000, 100))
def test_many_random_grammars(first: int) -> None:
    """A hundred grammars."""
    for seed in range(first, first + 100):
        check(seed)


def check(seed: int) -> None:
    """Compare one random grammar with textX on random texts and on texts of its own terminals."""
    source = random.Random(seed)
    text = GrammarSource(source).write()
    metamodel = textx.metamodel_from_str(text)
    grammar = Grammar.of(metamodel)
    if any(finding.code == "left-recursion" for finding in grammar.findings):
        return
    inputs = [
        "".join(source.choice("abc abc,\n#") for _ in range(source.randint(0, 9)))
        for _ in range(20)
    ]
    inputs += [guided(grammar, source) for _ in range(15)]
    for given in inputs:
        with within(PATIENCE, f"{given!r} under\n{text}"):
            reads = textx_reads(metamodel._parser_blueprint, given)
            assert grammar.parse(given).complete == reads, (seed, given, text)
            state = grammar.start()
            for char in given:
                state = state.advance(char)
                assert state.alive or not reads, (seed, given, text)
            finished = state.finish()
            assert (finished is not None) == reads, (seed, given, text)
            at_once = grammar.start().advance(given).finish()
            assert (at_once is not None) == reads, (seed, given, text)
            if finished is not None and at_once is not None:
                assert list(finished.events()) == list(at_once.events())


def guided(grammar: Grammar, source: random.Random) -> str:
    """A text of terminals that may come, so that many are accepted."""
    state = grammar.start()
    for _ in range(source.randint(1, 8)):
        choices = [e for e in state.expected() if e.terminal.kind != "end"]
        if not choices:
            break
        chosen = source.choice(choices)
        example = chosen.terminal.example(chosen.typed) or ""
        gap = "" if chosen.typed else source.choice(("", " ", "\n"))
        following = state.advance(gap + example[len(chosen.typed) :])
        if not following.alive:
            break
        state = following
    return state.text


@contextmanager
def within(seconds: int, what: str) -> Iterator[None]:
    """Fail with ``what`` if the block takes too long."""

    def give_up(*_: object) -> None:
        raise TimeoutError(what)

    previous = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
