"""Texts to measure with: the examples that are shipped with the languages, and longer ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from language_server.languages import Language, load_language

LANGUAGES = ("statechart", "clevr")


class Sample(NamedTuple):
    """Some texts of one language."""

    language: Language
    texts: tuple[str, ...]

    @property
    def characters(self) -> int:
        """How many characters the texts have together."""
        return sum(map(len, self.texts))


def shipped() -> Iterator[Sample]:
    """The examples of each shipped language."""
    for name in LANGUAGES:
        language = load_language(name)
        yield Sample(language, tuple(example.text for example in language.examples))
