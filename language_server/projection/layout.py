"""White space as the examples of a language write it.

A witness, a completion item and canonical generation need white space between two terminals. What
stands there is learnt from the language's examples; without any, words are kept apart by a space.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from language_server.languages import Language

_LEXEME = re.compile(r"\w+|[^\w\s]+")
_OPENING, _CLOSING = "([{", ")]}"
_START = "^"
_TAIL = 200  # characters in which the last lexeme is looked for


class Ending(NamedTuple):
    """How a text ends: the kind of its last lexeme, the depth of brackets, the white space."""

    last: str
    depth: str
    white: str


class Layout:
    """Which white space goes between two lexemes, at which depth of brackets."""

    def __init__(self, keywords: Iterable[str], examples: Iterable[str]) -> None:
        self._keywords = frozenset(keywords)
        seen: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for example in examples:
            for before, after, depth, white in self._gaps(example):
                seen[before, after, depth][white] += 1
                seen[before, after][white] += 1
                seen[(after, depth)][white] += 1
        self._usual = {key: counter.most_common(1)[0][0] for key, counter in seen.items()}

    def end_of(self, text: str) -> Ending:
        """What `between` must know of the text so far; costs its length."""
        lexemes = _LEXEME.findall(text[-_TAIL:])
        last = self._kind(lexemes[-1]) if lexemes else _START
        return Ending(last, str(_bracket_balance(text)), text[len(text.rstrip()) :])

    def knows(self, ending: Ending, text: str) -> bool:
        """Whether the examples have something like `text` right behind a text that ends so."""
        following = _LEXEME.match(text)
        return following is not None and (ending.last, self._kind(following.group())) in self._usual

    def between(self, ending: Ending, text: str) -> str:
        """The white space to write behind a text that ends so, in front of the terminal `text`."""
        following = _LEXEME.match(text)
        if following is None:
            return ""
        last, first = ending.last, self._kind(following.group())
        for key in ((last, first, ending.depth), (last, first), (first, ending.depth)):
            usual = self._usual.get(key)
            if usual is not None:
                # What is there already is not written again.
                return usual[len(ending.white) :] if usual.startswith(ending.white) else ""
        if ending.white or last == _START:
            return ""
        return "" if first[0] in ",;)]}." or last[-1] in "([{." else " "

    def _gaps(self, text: str) -> Iterator[tuple[str, str, str, str]]:
        last, end, depth = _START, 0, 0
        for lexeme in _LEXEME.finditer(text):
            kind = self._kind(lexeme.group())
            white = text[end : lexeme.start()]
            depth += _bracket_balance(lexeme.group())
            # A closing bracket stands at the depth outside of it.
            if not white.strip():
                yield last, kind, str(depth - max(_bracket_balance(lexeme.group()), 0)), white
            last, end = kind, lexeme.end()

    def _kind(self, lexeme: str) -> str:
        if lexeme in self._keywords or lexeme == _START or not lexeme[0].isalnum():
            return lexeme
        return "0" if lexeme.isdigit() else "a"


@lru_cache(maxsize=64)
def layout_of(language: Language) -> Layout:
    """The layout of a language's examples."""
    examples = [example.text for example in language.examples]
    for example in examples:
        language.grammar.parse(example)  # the grammar knows the keywords it has met
    return Layout(language.grammar.keywords, examples)


def _bracket_balance(lexeme: str) -> int:
    return sum(lexeme.count(c) for c in _OPENING) - sum(lexeme.count(c) for c in _CLOSING)
