"""All short texts of small languages: complete exactly if textX loads them, no prefix refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from textx import metamodel_from_str
from textx.exceptions import TextXError
from textx.scoping import providers

from language_server.languages import Language
from language_server.languages.language import Definition, build
from language_server.projection import Prefix

PLACES = (
    "M: (ps+=P | us+=U)*; P: 'p' name=ID '{' (ps+=P | us+=U)* '}'; U: 'u' t=[P:N%s]; N: ID+['.'];"
)
CASES: dict[str, tuple[str, Callable[[], dict[str, Any]], str, int]] = {
    "qualified": (PLACES % "", lambda: {"*.*": providers.FQN()}, "p u a b . { }", 7),
    "outward": (PLACES % "|^ps*", dict, "p u a b . { }", 7),
    "inward": (PLACES % "|ps.ps", dict, "p u a b . { }", 7),
    "around": (PLACES % "|parent(P).ps,..~us.~t", dict, "p u a b { }", 8),
    "unique": (
        PLACES % "",
        lambda: {"*.*": providers.PlainNameGlobalRepo()},
        "p u a b { }",
        7,
    ),
    "through": (
        "M: ps*=P; P: 'p' name=ID (':' up=[P:ID|ps])? ('u' t=[P:ID|.~up.ps,.~up.~t,ps])?;",
        dict,
        "p a b : u",
        7,
    ),
    "relative": (
        "M: cs*=C os*=O; C: 'c' name=ID ms*=F; F: 'f' name=ID; O: 'o' c=[C] m=[F];",
        lambda: {"O.m": providers.RelativeName("c.ms")},
        "c f o a",
        7,
    ),
}


def language_of(name: str) -> tuple[Language, list[str], int]:
    grammar, register, tokens, depth = CASES[name]
    metamodel = metamodel_from_str(grammar)
    metamodel.register_scope_providers(register())
    return build(Definition(name), metamodel), tokens.split(), depth


def loads(language: Language, text: str) -> bool:
    try:
        language.metamodel.model_from_str(text)
    except (TextXError, AttributeError):
        return False
    return True


def texts(prefix: Prefix, tokens: list[str], depth: int) -> Iterator[tuple[Prefix, bool]]:
    """All texts that the grammar alone allows to go on, with whether all their prefixes live."""
    waiting = [(prefix, True, depth)]
    while waiting:
        prefix, alive, left = waiting.pop()
        alive = alive and prefix.alive
        yield prefix, alive
        for token in tokens if left else ():
            after = prefix.advance(f"{token} ")
            if after.state.alive:
                waiting.append((after, alive, left - 1))


@pytest.mark.parametrize("name", CASES)
def test_short_texts_are_complete_exactly_if_textx_loads_them(name: str) -> None:
    language, tokens, depth = language_of(name)
    seen = {True: 0, False: 0}
    for prefix, alive in texts(Prefix.start(language), tokens, depth):
        if prefix.state.finish() is None:
            continue
        loaded = loads(language, prefix.text)
        seen[loaded] += 1
        assert prefix.complete == loaded, prefix.text
        assert (language.analyse(prefix.text).diagnostics == ()) == loaded, prefix.text
        assert alive or not loaded, prefix.text
    assert min(seen.values()) >= 5, seen
