"""The context-free grammar that includes a textX grammar: it has every text textX loads."""

from __future__ import annotations

import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]

import pytest
import textx
from hypothesis import given
from hypothesis import strategies as st

from language_server.languages import Language, load_language
from language_server.languages.shipped import shipped_grammars
from language_server.syntax import Grammar
from language_server.syntax.characters import expression_of
from language_server.syntax.context_free import ContextFree, gbnf

SHIPPED = sorted(shipped_grammars())


def grammar_of(text: str, **options: object) -> ContextFree:
    return Grammar.of(textx.metamodel_from_str(text, **options)).context_free


def has(grammar: ContextFree, text: str) -> bool:
    """Whether a text is one of a grammar's, read in pieces of three."""
    left: ContextFree | None = grammar
    for at in range(0, len(text), 3):
        left = left.after(text[at : at + 3]) if left is not None else None
    return left is not None and left.may_end


@pytest.mark.parametrize("name", SHIPPED)
def test_every_example_is_a_text_of_it(name: str) -> None:
    language: Language = load_language(name)
    for example in language.examples:
        assert has(language.grammar.context_free, example.text)


@pytest.mark.parametrize(
    ("grammar", "texts", "others"),
    [
        ("M: 'a' x=ID ';'?;", ["a b", "ab", " a\n b ;", "a b;"], ["a", "b", "a b ;;"]),
        # textX takes the first alternative and then finds more text; here the second one counts.
        ("M: (x='a' | x='ab') 'c';", ["ac", "abc"], ["aabc", "c"]),
        ("M: xs+=INT[','];", ["1", "1,2 , 3"], ["", "1,", "1 2"]),
        ("M: xs*=INT['|' eolterm] 'end';", ["end", "1|2 end", "1 | 2\nend"], ["1|2|", "1\n|2 end"]),
        ("M: x?='yes' y?='no';", ["", "yes", "no", "yesno"], ["no yes", "yesyes"]),
        ("M: (a='1' b='2' c='3')#;", ["123", "321", "2 1 3"], ["4", "12x"]),
        ("M: !'x' n=ID;", ["y"], ["1"]),
        ("M[noskipws]: 'a' ' ' 'b';", ["a b"], ["ab", "a  b", " a b"]),
        ("M: 'a' 'b'; Comment: /#.*$/;", ["a #c\nb", "#\na b# x"], ["#c", "c"]),
        ("M: 'if' c=E; E: '(' E ')' | INT;", ["if ((3))"], ["if ((3)", "if 3)"]),
        ("M: s=STRING;", ["'x'", '"a\\"b"'], ["'x", "x"]),
        ("M: 'Key' v=BOOL;", ["key true", "KEY false"], ["ke true"]),
    ],
)
def test_what_it_has_and_what_not(grammar: str, texts: list[str], others: list[str]) -> None:
    ignore_case = "Key" in grammar
    metamodel = textx.metamodel_from_str(grammar, ignore_case=ignore_case)
    found = Grammar.of(metamodel).context_free
    for text in texts:
        if "ab" not in grammar or text != "abc":
            metamodel.model_from_str(text)  # textX agrees
        assert has(found, text), text
    for text in others:
        assert not has(found, text), text


PATTERNS = [
    r"[^\W\d]\w*\b",
    r"-?[0-9]+(\.\d+)?([eE][+-]?\d{1,3})?(?!\w)",
    r"'(\\'|[^'])*?'",
    r"/\*(.|\n)*?\*/",
    r"(?i:straße|[k-s]{2,3})x?",
    r"[^\s{}\[\]]+(?=;|$)",
    r"(a|b)\1c",
    r"(?s:.)[^a-f]?",
    r"\d\D\S\W",
    r"(?a:\w+)-(x)?(?(1)y|z)",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(st.data())
def test_what_a_pattern_matches_is_in_its_expression(pattern: str, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(re.compile(pattern)))
    matched = re.compile(pattern).search(text)
    assert matched is not None
    grammar = ContextFree({"M": expression_of(re.compile(pattern))}, "M")
    assert has(grammar, matched.group())


def test_what_is_left_is_written_down() -> None:
    grammar = grammar_of("M[noskipws]: 'say ' /[^\\n\"]/+ ('!' | '?')*;")
    assert gbnf(grammar).splitlines()[0].startswith("root ::= r-M")
    left = grammar.after("say x")
    assert left is not None
    assert "say" not in gbnf(left).splitlines()[0]
    assert "[\\x00-\\x09\\x0B-!#-\\U0010FFFF]" in gbnf(left)
    assert grammar.after("sax") is None


def test_d15_nothing_is_repeated_that_may_be_empty() -> None:
    """Servers take it for left recursion, or never end."""
    grammar = grammar_of("M[noskipws]: ('a'? ('b'?)*)* ('c'* | 'd'?)+ x='e'?;")
    assert has(grammar, "abbacdce")
    (rule,) = (line for line in gbnf(grammar).splitlines() if line.startswith("r-M1 "))
    # Without names of rules the notation is that of regular expressions, but for quotes.
    pattern = rule.partition(" ::= ")[2].replace('"', "").replace(" ", "")
    assert re.fullmatch(pattern, "abbacdce")
    unbounded = 0
    waiting = list(sre_parser.parse(pattern))
    while waiting:
        kind, value = waiting.pop()
        if kind is sre.MAX_REPEAT:
            _, most, inner = value
            if most is sre.MAXREPEAT:
                unbounded += 1
                assert inner.getwidth()[0] > 0
            waiting += inner
        elif kind is sre.SUBPATTERN:
            waiting += value[3]
        elif kind is sre.BRANCH:
            waiting += [item for branch in value[1] for item in branch]
    assert unbounded >= 3
