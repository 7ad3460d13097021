"""Small grammars that between them use every construct, and all texts over their alphabets."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import textx
from textx.exceptions import TextXSyntaxError

from language_server.syntax import Grammar


@dataclass(frozen=True)
class Small:
    """A grammar, the alphabet its texts are over, and the length up to which all are tried."""

    name: str
    grammar: str
    alphabet: tuple[str, ...]
    length: int
    options: dict[str, Any] = field(default_factory=dict)

    def texts(self) -> list[str]:
        """All texts over the alphabet."""
        return [
            "".join(text)
            for length in range(self.length + 1)
            for text in product(self.alphabet, repeat=length)
        ]

    def metamodel(self) -> Any:
        """What textX makes of the grammar."""
        return textx.metamodel_from_str(self.grammar, **self.options)


SMALL = (
    Small(
        "ordered choice commits", "M: x=A y=B?; A: 'a' | 'ab'; B: 'b' | 'bc';", ("a", "b", "c"), 5
    ),
    Small("number choice", "M: xs+=N; N: INT | FLOAT;", ("3", ".", " "), 6),
    Small(
        "shared prefixes",
        "M: x=X; X: P | Q; P: 'a' l=X? 'b'; Q: 'a' r=X? 'c';",
        ("a", "b", "c"),
        8,
    ),
    Small("greedy repetition", "M: xs*='a' 'a' y='b'?;", ("a", "b"), 6),
    Small("repetition that shares", "M: ('a' xs+='b')* 'a' y='c';", ("a", "b", "c"), 7),
    Small(
        "separators", "M: xs+=X[','] ','? 'e'?; X: 'a' | 'b' ys*='c'[/;|-/];", tuple("abc,;e"), 5
    ),
    Small(
        "unordered group",
        "M: ('a' x='x' 'b' y?='y' ('c' z='z')?)#;",
        tuple("abcxyz"),
        6,
    ),
    Small(
        "unordered group with separator", "M: (a='a' b?='b' c*='c')#[','] 'd'?;", tuple("abcd,"), 6
    ),
    Small("optional group", "M: (a?='a' b?='b')#[','] d?='d';", tuple("abd,"), 6),
    Small("eolterm", "M: ls*=L; L: 'l' xs*=ID[eolterm];", ("l", "a", " ", "\n"), 7),
    Small("eolterm and separator", "M: xs+=ID[',' eolterm] 'e'?;", ("a", ",", "e", "\n", " "), 6),
    Small("noskipws", "M: xs+=F; F[noskipws]: /\\s*/- 'a' ('.' 'a')*;", ("a", ".", " "), 7),
    Small("ws", "M: 'm' x=X 'n'; X[ws=' ']: 'a' 'b'?;", ("m", "n", "a", "b", " ", "\n"), 6),
    Small("skipws inside", "M[noskipws]: 'm' x=X ' '? 'n'; X[skipws]: 'a' 'b';", tuple("mnab "), 6),
    Small("not", "M: xs+=X 'e'?; X: !'end' v=ID;", ("e", "n", "d", " "), 7),
    Small("and", "M: xs+=X y='y'?; X: &('a' 'b') v='a' | 'b' &'c' | 'c';", tuple("abcy"), 7),
    Small(
        "lookahead over rules",
        "M: x=A | y=B; A: !C 'a' A?; B: C 'b'; C: 'a' C 'c' | 'a' 'c';",
        tuple("abc"),
        8,
    ),
    Small("suppression", "M: 'a'- x=V 'b'-; V: '('- W- ')'- | 'c' W-; W: 'w';", tuple("abwc()"), 6),
    Small("suppressed alternative", "M: v=V 'e'?; V: 'a'- | 'b' | 'c';", tuple("abce"), 5),
    Small(
        "suppressed sequence", "M: (('c'- 'b'*) | ('a' 'b')- | 'b' | 'c' 'a') 'b';", tuple("abc"), 6
    ),
    Small("suppressed repetition", "M: ('a'-)* 'b' ;", tuple("ab"), 6),
    Small(
        "empty results", "M: v=V? w=W 'e'?; V: 'a'* 'b'?; W: ('c'* | 'd') 'f'?;", tuple("abcdef"), 5
    ),
    Small("falls through", "M: (A | B) 'e'?; A: 'a'? 'b'?; B: 'c' | 'd'?;", tuple("abcde"), 5),
    Small("keywords", "M: xs+=X; X: 'in' | 'int' | v=ID '!';", ("i", "n", "t", "!", " "), 6),
    Small(
        "autokwd",
        "M: xs+=X; X: 'in' v=ID | 'i' | 'n!';",
        ("i", "n", "!", " "),
        7,
        {"autokwd": True},
    ),
    Small(
        "ignore case", "M: xs+=X; X: 'aB' | v=/c[d]/;", tuple("aAbBcCdD"), 5, {"ignore_case": True}
    ),
    Small("regex lookahead", r"M: xs+=X; X: /a(?=b)/ | /b+(?!c)/ | 'c';", tuple("abc"), 7),
    Small("regex boundary", r"M: xs+=X; X: /a\b/ | /b\B/ | '-' | 'c';", tuple("abc-"), 6),
    Small(
        "line comment", "M: xs+=X; X: 'a' | '/'; Comment: /\\/\\/.*$/;", ("a", "/", "\n", " "), 7
    ),
    Small(
        "block comment",
        "M: xs+=X; X: 'a' | '/' | '*'; Comment: /\\/\\*(.|\\n)*?\\*\\//;",
        ("a", "/", "*"),
        8,
    ),
    Small(
        "comment with structure",
        "M: xs+=X; X: 'a'; Comment: '(' ('b' | Comment)* ')';",
        tuple("ab()"),
        7,
    ),
    Small(
        "comments without skipping",
        "M: xs+=F[','] 'e'?; F[noskipws]: 'a' ('.' 'a')*; Comment: /#.*$/;",
        ("a", ".", "#", "\n", " "),
        6,
    ),
    Small(
        "eolterm and comments",
        "M: ls*=L; L: 'l' xs*='a'[eolterm]; Comment: /#.*$/;",
        ("l", "a", "#", "\n"),
        6,
    ),
    Small("stolen terminator", "M: xs+=ID 'd' | 'd';", ("d", " "), 6),
    Small("dangling else", "M: s=S; S: I | 'x'; I: 'i' t=S ('e' f=S)?;", tuple("ixe"), 8),
    Small(
        "regex groups",
        "M: xs+=/a(b)c|d/ e=/(x)y/?;",
        tuple("abcdxy"),
        6,
        {"use_regexp_group": True},
    ),
    Small("empty regex", "M: xs*=X 'e'; X: v=/a*/ 'b' | /c?/ w='d';", tuple("abcde"), 5),
    Small("nullable rules", "M: a=A? b=B c=C?; A: x?='x'; B: y='y'?; C: A B 'z';", tuple("xyz"), 5),
    Small("expression", "M: e=E; E: l=T (o+='+' r+=T)*; T: v='1' | '(' s=E ')';", tuple("1+()"), 7),
    Small("root match rule", "M: 'a' N? 'b'; N: 'c' | M;", tuple("abc"), 7),
    Small("root repetition", "M: xs*=X; X: 'a' 'b'?;", tuple("ab "), 6),
    Small(
        "abstract with text", "M: s+=S; S: '(' S ')' | A | 'k'; A: 'a' n='n';", tuple("()akn"), 6
    ),
)


@cache
def accepted(small: Small) -> frozenset[str]:
    """The texts of ``small`` that textX reads."""
    parser = small.metamodel()._parser_blueprint
    return frozenset(text for text in small.texts() if textx_reads(parser, text))


def textx_reads(parser: Any, text: str) -> bool:
    """Whether textX's parser reads ``text``."""
    try:
        parser.clone().parse(text)
    except (TextXSyntaxError, UnboundLocalError):
        return False
    return True


def grammar_of(small: Small) -> Grammar:
    """Our grammar."""
    return Grammar.of(small.metamodel())


Small.__hash__ = lambda self: hash(self.name)  # type: ignore[method-assign]
