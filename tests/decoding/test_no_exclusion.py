"""Under the free layout policy no mask excludes what comes next in a text that textX accepts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from language_server.decoding import LayoutPolicy, Session, Vocabulary
from language_server.languages import Example, Language, load_language
from language_server.languages.imports import Disk, Library
from language_server.projection import Prefix
from tests.projection.test_prefix_oracle import golds

LANGUAGES = (
    *("blocks", "clevr", "flowchart", "requirements", "statechart", "taxonomy", "taxonomy_ccs"),
    pytest.param("minizinc", marks=pytest.mark.long),
)
WITH_GOLDS = ("clevr", "flowchart", "taxonomy", "taxonomy_ccs")
START: dict[str, Callable[[Language], Prefix]] = {
    "grammar": Prefix.of_grammar,
    "language": Prefix.start,
}


def spelling(vocabulary: Vocabulary, text: str, seed: int) -> Iterator[int]:
    """A random tokenisation of a text; the longer tokens are as likely as the shorter ones."""
    rng = random.Random(seed)
    data = text.encode()
    while data:
        token = rng.choice(vocabulary.trie.prefixes(data))
        yield token
        data = data[len(vocabulary.token_bytes[token] or b"") :]


def check(start: Prefix, vocabulary: Vocabulary, text: str, seeds: range) -> int:
    """Ask for the mask at every position; how many there were."""
    positions = 0
    for seed in seeds:
        session = Session(start, vocabulary, LayoutPolicy.free())
        for token in spelling(vocabulary, text, seed):
            positions += 1
            data = vocabulary.token_bytes[token]
            assert session.allowed()[token], (session.text[-60:], data)
            session.commit(token)
        assert session.text == text
        assert all(session.allowed()[token] for token in vocabulary.end_tokens), text
    return positions


def check_examples(
    language: Language,
    start: str,
    vocabulary: Vocabulary,
    examples: Iterable[Example],
    seeds: range,
) -> int:
    positions = 0
    for example in examples:
        home = language.at(example.path, Library(Disk()))  # what it imports is there
        positions += check(START[start](home), vocabulary, example.text, seeds)
    return positions


@pytest.mark.parametrize("start", START)
@pytest.mark.parametrize("name", LANGUAGES)
def test_no_mask_excludes_what_comes_next_in_an_example(
    name: str, start: str, pieces: Vocabulary
) -> None:
    language = load_language(name)
    shortest = min(language.examples, key=lambda example: len(example.text))
    assert check_examples(language, start, pieces, [shortest], range(1)) > 10


@pytest.mark.long
@pytest.mark.parametrize("start", START)
@pytest.mark.parametrize("name", LANGUAGES)
def test_no_mask_excludes_what_comes_next_in_any_example(
    name: str, start: str, embedded_vocabulary: Vocabulary
) -> None:
    language = load_language(name)
    positions = check_examples(language, start, embedded_vocabulary, language.examples, range(3))
    print(f"{name}, {start}: {positions} positions")


@pytest.mark.long
@pytest.mark.parametrize("start", START)
@pytest.mark.parametrize("name", WITH_GOLDS)
def test_no_mask_excludes_what_comes_next_in_golds(
    name: str, start: str, embedded_vocabulary: Vocabulary, shared: Path
) -> None:
    texts = list(islice(golds(name, shared / "benchmarks"), 0, None, 23))[:12]
    begin = START[start](load_language(name))
    positions = sum(check(begin, embedded_vocabulary, text, range(3)) for text in texts)
    print(f"{name}, {start}: {positions} positions of {len(texts)} golds")
