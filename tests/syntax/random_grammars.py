"""Strategies for textX grammars over a small alphabet, and for texts of them."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hypothesis import assume
from hypothesis import strategies as st

from language_server.languages import Language, LanguageError, load_language
from language_server.syntax import Grammar


class Piece(NamedTuple):
    """The source of an expression, ``@`` for the name of a feature, and if it may read nothing."""

    source: str
    nullable: bool


LETTERS = st.sampled_from(["a", "b", "c", "ab", "bc"])
KEYWORDS = LETTERS.map("'{}'".format)
PATTERNS = st.sampled_from(["/a+/", "/b(?=c)/", "/[ab]c?/", r"/c\b/"])
TERMINALS = st.one_of(KEYWORDS, KEYWORDS, KEYWORDS, PATTERNS)
#: Modifiers of a repetition, for one that reads what begins with ``a``.
MODIFIERS = st.sampled_from(["", "", "[',']", "[eolterm]", "[/c|,/]", "[',' eolterm]"])
COMMENT = "Comment: /#[^\\n]*/;"
TEXTS = st.text("abc,\n# ", max_size=9)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "autokwd": st.just(True),
        "ignore_case": st.just(True),
        "skipws": st.just(False),
        "ws": st.sampled_from([" ", "\n", " ,"]),
    },
)
PARAMETERS = st.sampled_from(["", "", "", "[noskipws]", "[skipws]", "[ws=' ']", "[ws=' \\n,']"])


def grammars() -> st.SearchStrategy[str]:
    """Grammars with a common rule ``M`` for the whole, two for parts of it, and a match rule."""
    pieces = st.lists(_expressions(), min_size=1, max_size=3)
    rule = st.tuples(PARAMETERS, st.builds(_joined, pieces, KEYWORDS))
    forms = st.sampled_from(["{0}", "{0} {1}", "{0} | {1}", "{0} ({1})*", "{0} ({1})?", "{0}- {1}"])
    match = st.builds(str.format, forms, TERMINALS, TERMINALS)
    return st.builds(_grammar, rule, rule, rule, match, st.sampled_from(["", "", COMMENT]))


def _grammar(
    whole: tuple[str, str], one: tuple[str, str], other: tuple[str, str], match: str, comment: str
) -> str:
    parts = zip("MAB", (whole, one, other), strict=True)
    rules = [f"{name}{parameters}: {body};" for name, (parameters, body) in parts]
    numbers = count(1)
    text = "\n".join([*rules, f"V: {match};", comment])
    return re.sub("@", lambda _: f"f{next(numbers)}", text)


def _joined(pieces: list[Piece], end: str) -> str:
    """What a rule reads: something, since textX does not end where nothing is repeated."""
    sources = [piece.source for piece in pieces]
    return " ".join([*sources, end] if all(piece.nullable for piece in pieces) else sources)


def _expressions() -> st.SearchStrategy[Piece]:
    values = st.one_of(KEYWORDS, st.sampled_from(["A", "B", "V", "V"]))
    simple = st.one_of(
        st.builds(Piece, TERMINALS, st.just(False)),
        st.builds(_assigned, LETTERS, values),
        st.builds(_collected, st.sampled_from(["+=", "*="]), TERMINALS, MODIFIERS),
        KEYWORDS.map(lambda value: Piece(f"@?={value}", True)),
    )
    parts = st.lists(simple, min_size=2, max_size=3)
    groups = st.builds(_group, parts, st.sampled_from(["", "[',']"]))

    def around(inner: st.SearchStrategy[Piece]) -> st.SearchStrategy[Piece]:
        return st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(_choice),
            st.lists(inner, min_size=2, max_size=3).map(_sequence),
            inner.map(_optional),
            st.builds(_repeated, inner, TERMINALS, st.sampled_from(["*", "+"]), MODIFIERS),
            st.builds(_looking, st.sampled_from("!&"), TERMINALS, inner),
            st.builds(_dropped, KEYWORDS, inner),
        )

    return st.recursive(st.one_of(simple, groups), around, max_leaves=5)


def _assigned(letter: str, value: str) -> Piece:
    return Piece(f"'{letter}' @={value}", False)


def _collected(operator: str, value: str, modifiers: str) -> Piece:
    return Piece(f"@{operator}{value}{modifiers}", operator == "*=")


def _choice(parts: list[Piece]) -> Piece:
    nullable = any(part.nullable for part in parts)
    return Piece(f"({' | '.join(part.source for part in parts)})", nullable)


def _optional(part: Piece) -> Piece:
    return part if part.nullable else Piece(f"({part.source})?", True)


def _repeated(part: Piece, terminal: str, operator: str, modifiers: str) -> Piece:
    source = terminal if part.nullable or "?=" in part.source else part.source
    return Piece(f"({source}){operator}{modifiers}", operator == "*")


def _sequence(parts: list[Piece]) -> Piece:
    return Piece(f"({' '.join(p.source for p in parts)})", all(p.nullable for p in parts))


def _looking(sign: str, ahead: str, after: Piece) -> Piece:
    return Piece(f"({sign}{ahead} {after.source})", after.nullable)


def _group(parts: list[Piece], separator: str) -> Piece:
    source = " ".join(f"({part.source})" for part in parts)
    return Piece(f"({source})#{separator}", all(part.nullable for part in parts))


def _dropped(keyword: str, after: Piece) -> Piece:
    return Piece(f"({keyword}- {after.source})", False)


def language_of(grammar: str) -> Language:
    """The language of a random grammar; another example is drawn where it has none."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "random.tx"
        path.write_text(grammar, encoding="utf-8")
        try:
            language = load_language(str(path))
        except LanguageError:
            assume(False)
    assume(all(finding.code != "left-recursion" for finding in language.grammar.findings))
    return language


def guided(draw: Any, grammar: Grammar) -> str:
    """A text of terminals that may come, so that many are read."""
    state = grammar.start()
    for _ in range(draw(st.integers(1, 7))):
        choices = [each for each in state.expected() if each.terminal.kind != "end"]
        if not choices:
            break
        chosen = choices[draw(st.integers(0, len(choices) - 1))]
        example = chosen.terminal.example(chosen.typed) or ""
        gap = "" if chosen.typed else draw(st.sampled_from(["", " ", "\n"]))
        following = state.advance(gap + example[len(chosen.typed) :])
        if not following.alive:
            break
        state = following
    return state.text
