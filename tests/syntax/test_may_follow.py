"""The first look at a character never refuses one that a text can go on with."""

from __future__ import annotations

import string

import pytest
import textx

from language_server.languages import load_language
from language_server.syntax import Grammar, ParseState
from tests.syntax.brute import SMALL, Small, grammar_of

SHIPPED = ("clevr", "statechart", "flowchart", "taxonomy", "taxonomy_ccs")
# All of ASCII, and what is wide, combines, looks like white space or is a digit elsewhere.
CHARACTERS = (*map(chr, range(128)), *"\x85\xa0éßǅ٣Ω\u0301\u200b\u2028\u3000漢\ufeff😀")

BLOCKS = r"M: xs*=X; X: 'let' n=ID '=' v=INT ';'; Comment: /\/\/.*$/ | /\/\*(.|\n)*?\*\//;"
DIVISION = r"M: l=INT ('/' r+=INT)* '//='?; Comment: /\/\*(.|\n)*?\*\//;"
LINES = r"M[ws=' \t']: ls+=L; L: w+=ID '\n'; Comment: /%%[^\n]*/;"
LOOKING_BACK = r"M: xs+=X; X: /(?<=a)b/ | /a\b/ | 'a' | /c(?=d)/ 'd' | /(?!end\b)[e-h]+/ | 'end';"
UNSKIPPED = r"M: q=Q rest=ID?; Q[noskipws]: '<'- t=/[^<>]+/ '>'-;"
# Grammars with the texts to cut.
MADE = {
    "comments": (BLOCKS, {}, "let a = 1; // one\n/* two\n * b */ let letter=-2 ;/**/let"),
    "half comments": (DIVISION, {}, "8 / 4 /* / */ / 2 //="),
    "line breaks count": (LINES, {}, "a b %% c\nd%%\n e \n"),
    "keywords apart": (BLOCKS, {"autokwd": True}, "let a=1; let lets = 2 ; let"),
    "any case": (BLOCKS, {"ignore_case": True}, "LET a = 1; Let b=2;"),
    "looking around": (LOOKING_BACK, {}, "abab a cdef end effe"),
    "no skipping": (UNSKIPPED, {}, "<a b> c"),
    "suppressed white space": ("M[noskipws]: 'm' x=X ' '? 'n'; X[skipws]: 'a' 'b';", {}, "m a b n"),
    "predicates": ("M: xs+=X 'end'; X: !'end' v=ID | &'1' n=INT;", {}, "a 1 en 12 end"),
    "end of line": ("M: ls*=L; L: 'l' xs*=ID[eolterm];", {}, "l a b\nl\n l c l"),
}


@pytest.mark.parametrize("name", MADE)
def test_small_grammars(name: str) -> None:
    grammar, options, text = MADE[name]
    state = Grammar.of(textx.metamodel_from_str(grammar, **options)).start()
    assert refused(state, text) > len(CHARACTERS)  # it does tell


@pytest.mark.parametrize("language", SHIPPED)
def test_shipped_languages(language: str) -> None:
    loaded = load_language(language)
    shortest = min((example.text for example in loaded.examples), key=len)
    assert refused(loaded.grammar.start(), shortest) > len(CHARACTERS)


@pytest.mark.parametrize("small", SMALL, ids=lambda small: small.name)
def test_every_construct(small: Small) -> None:
    """Over the alphabet of the grammar, behind every short text."""
    alphabet = (*"".join(small.alphabet), *"aZ0 \n/")
    layer = [grammar_of(small).start()]
    for _ in range(4):
        after = {}
        for state in layer:
            for char in dict.fromkeys(alphabet):
                behind = state.advance(char)
                assert state.may_follow(char) or not behind.alive, (state.text, char)
                if behind.alive:
                    after[behind.text] = behind
        layer = list(after.values())[:150]


@pytest.mark.parametrize(
    ("language", "text", "may", "may_not"),
    [
        ("clevr", "", "gf%\n ", string.digits + "lx"),
        ("clevr", "graph LR\n", string.digits + "% \n", string.ascii_letters + "[-"),
        ("clevr", 'graph LR\n1["', "suceOoaA", string.digits + 'x "'),
        ("statechart", "statechart A", string.ascii_letters + "0_ /", "{[;%"),
        ("statechart", "statechart A ", "vesif/\n", "o{a0"),
        ("statechart", "statechart A /", "/*", ""),
    ],
)
def test_tells_what_can_only_be_wrong(language: str, text: str, may: str, may_not: str) -> None:
    """What no terminal and no comment begins with is refused."""
    state = load_language(language).grammar.start().advance(text)
    assert [char for char in may if not state.may_follow(char)] == []
    assert [char for char in may_not if state.may_follow(char)] == []


def refused(state: ParseState, text: str) -> int:
    """How often a character was refused, at all places of a text, none of them wrongly."""
    count = 0
    for char in (*text, ""):
        for other in CHARACTERS:
            if not state.may_follow(other):
                count += 1
                assert not state.advance(other).alive, (state.text, other)
        state = state.advance(char)
        assert state.alive, state.text
    return count
