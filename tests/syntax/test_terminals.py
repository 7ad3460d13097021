"""Terminals: what they match, what the end of a text leaves undecided, and examples of them."""

from __future__ import annotations

import re
from itertools import product

import pytest

from language_server.syntax import Terminal

PATTERNS = (
    r"[a-z]+",
    r"[a-z]*b",
    r"ab\b",
    r"a\B",
    r"\s+\b",
    r"a\bb?",
    r"a\*(.|\n)*?\*a",
    r"a.*?ba",
    r"(?s)a.*?ba",
    r"aa.*?$",
    r"aa.*$",
    r"(?ms)aa\s*\n(.*?)^\s*aa",
    r"a(bab)?",
    r'("(\\"|[^"])*")|(b(\\b|[^b])*b)',
    r"(ab|abab)",
    r"a(?!b)",
    r"a(?!ba)b?",
    r"a*?",
    r"(a|ab)(?=b)",
    r"[^\d\W]\w*\b",
    r"b*",
    r"(?:ab)*b?",
    r"a(?!$)",
    r"(?!ab)\w+",
    r"(?<!a)b",
    r"(?<=a)b",
    r"a\w*?b",
    r"(?>a+)b",
    r"(a)?(?(1)b|ab)",
    r'"[^"]*"',
    r"((a|b) )*b",
    r"\w+(?= a)",
    r"\w+(?! a)",
    r"a(?=\s*b)",
    r"^a",
    r"(a$|ab)",
    r"[]a]+b",
    r"[^]a]+b",
)
ALPHABET = 'ab "\n\\*'


def terminal(pattern: str, flags: int = re.MULTILINE) -> Terminal:
    """A regex terminal as textX compiles it."""
    return Terminal("regex", pattern, "", pattern, re.compile(pattern, flags))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_undecided_is_never_missed(pattern: str) -> None:
    """If some continuation changes the match, it is undecided; otherwise hardly ever."""
    matches = terminal(pattern)
    compiled = re.compile(pattern, re.MULTILINE)
    texts = {n: ["".join(t) for t in product(ALPHABET, repeat=n)] for n in range(5)}
    ends = {text: _end(compiled, text) for n in range(5) for text in texts[n]}
    needless = 0
    for length in range(3):
        for text in texts[length]:
            changes = any(
                ends[text + more] != ends[text]
                for n in range(1, 5 - length)
                for more in texts[n][:400]
            )
            undecided = matches.undecided(text, 0, ends[text])
            assert undecided or not changes, text
            needless += undecided and not changes
    assert needless <= 25


def _end(compiled: re.Pattern[str], text: str) -> int:
    found = compiled.match(text)
    return found.end() if found is not None else -1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_first_character_is_never_missed(pattern: str) -> None:
    """A terminal that reads a text can start with its first character."""
    matches = terminal(pattern)
    for text in ("".join(t) for n in range(1, 5) for t in product("ab \n", repeat=n)):
        if matches.match(text, 0) >= 0:
            assert matches.can_start(text[0])
            assert matches.matches_prefix(text[: matches.match(text, 0)])


@pytest.mark.parametrize(
    ("pattern", "begin", "example"),
    [
        (r"[^\d\W]\w*\b", "", "x"),
        (r"[^\d\W]\w*\b", "foo", "foo"),
        (r"[-+]?[0-9]+", "", "0"),
        (r"[-+]?[0-9]+", "-", "-0"),
        (r'"[^"]*"', "", '""'),
        (r'"[^"]*"', '"ab', '"ab"'),
        (r"\d{4}-\d{2}-\d{2}", "20", "2000-00-00"),
        (r"red|green", "g", "green"),
        (r"red|green", "x", None),
        (r"(?i)red", "R", "Red"),
    ],
)
def test_example_is_shortest(pattern: str, begin: str, example: str | None) -> None:
    """An example begins as asked and is as short as can be."""
    found = terminal(pattern).example(begin)
    if example is None:
        assert found is None
    else:
        assert found is not None
        assert found.startswith(begin)
        assert len(found) == len(example)
        assert re.fullmatch(pattern, found)


def test_keyword() -> None:
    """A keyword is undecided only where the text is cut inside it."""
    keyword = Terminal("keyword", "state", text="state")
    assert keyword.match("a state", 2) == 7
    assert keyword.undecided("sta", 0, -1)
    assert not keyword.undecided("state", 0, 5)
    assert not keyword.undecided("stop", 0, -1)
    assert keyword.example("st") == "state"
    assert keyword.example("x") is None


def test_keyword_with_boundary() -> None:
    """With ``autokwd`` a keyword at the end of the text may still turn into a longer word."""
    pattern = r"in\b"
    keyword = Terminal("keyword", "in", "in", pattern, re.compile(pattern), boundary=True)
    assert keyword.undecided("in", 0, 2)
    assert not keyword.undecided("in ", 0, 2)
    assert keyword.match("int", 0) == -1
    assert not keyword.undecided("int", 0, -1)
    assert keyword.width == 2
