"""Vocabularies and the embedded model, each made once."""

from __future__ import annotations

import pytest

from language_server.decoding import LanguageModel, Vocabulary, load_model
from language_server.decoding.embedded import converted_folder
from language_server.decoding.vocabulary import vocabulary_from_tokenizer_file

PIECES = (
    "(", ")", "((", "))", ")(", " (", ") ", "  ", "\n", "\n\n", " \n", "#", "# ", "a", "ab",
    "abc",
    " a",
    " ab", "b", "bc", "c ", "a b", "a)", "(a", "a (", "12", "123", "word", " word", "é", "日本",
    "y", "yes", " es", "no", "noon", "on", "state", " state", "sta", "te", "é)", "x😀",
)  # fmt: skip


@pytest.fixture(scope="session")
def pieces() -> Vocabulary:
    """All bytes, some longer pieces, two halves of code points, a control token and two ends."""
    table: list[bytes | None] = [bytes([value]) for value in range(256)]
    table += [piece.encode() for piece in PIECES]
    table += ["a😀".encode()[:3], "😀".encode()[2:]]
    table += [None, None, None]
    size = len(table)
    return Vocabulary(table, end_tokens=[size - 1, size - 2])


@pytest.fixture(scope="session")
def smollm2() -> LanguageModel:
    """The embedded model (tests that use it are marked ``model``)."""
    return load_model("default")


@pytest.fixture(scope="session")
def embedded_vocabulary() -> Vocabulary:
    """The vocabulary of the embedded model, if that is there already."""
    file = converted_folder() / "tokenizer.json"
    if not file.is_file():
        pytest.skip("the embedded model has not been prepared")
    return vocabulary_from_tokenizer_file(str(file))
