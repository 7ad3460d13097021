"""Small grammars that between them use every construct, and all texts over their alphabets."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import arpeggio
import textx
from textx.exceptions import TextXSyntaxError

from language_server.syntax import Grammar


@dataclass(frozen=True)
class Small:
    """A grammar, the pieces its texts are made of, and up to how many of them all texts are tried.

    Attributes:
        options: what textX is given with the grammar.
        imported: other grammars by file name, for ``import``.
        languages: grammars by the name of a language, for ``reference``.
    """

    name: str
    grammar: str
    alphabet: tuple[str, ...]
    length: int
    options: dict[str, Any] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.name)

    def texts(self) -> list[tuple[str, ...]]:
        """All texts as rows of pieces, the shorter first."""
        return [
            text
            for length in range(self.length + 1)
            for text in product(self.alphabet, repeat=length)
        ]

    def metamodel(self) -> Any:
        """What textX makes of the grammar."""
        for name, grammar in self.languages.items():
            textx.clear_language_registrations()
            textx.register_language(name, metamodel=textx.metamodel_from_str(grammar))
        with tempfile.TemporaryDirectory() as folder:
            for name, grammar in {"main.tx": self.grammar, **self.imported}.items():
                (Path(folder) / name).write_text(grammar, encoding="utf-8")
            metamodel = textx.metamodel_from_file(str(Path(folder) / "main.tx"), **self.options)
        if self.languages:
            textx.clear_language_registrations()  # textX fails over them when it looks up a file
        return metamodel


class Point:
    """A class of a user, for a rule of the same name."""

    def __init__(self, parent: Any, name: str) -> None:
        self.parent = parent
        self.name = name


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
    Small(
        "base types",
        "M: xs+=X[',']; X: f=STRICTFLOAT | i=INT 'i' | b=BOOL | n=NUMBER 'n';",
        ("1", "0", ".", "e", "-", "true", "i", ","),
        4,
    ),
    Small(
        "any base type", "M: a=BASETYPE b=BASETYPE?;", ("1", ".5", "e2", "'", "a", "true", " "), 4
    ),
    Small("strings", "M: xs*=STRING 'e'?;", ("'", '"', "\\", "a", "e"), 5),
    Small("names", "M: xs+=ID[',']; ", ("a", "1", "_", "\u00e9", "-", ","), 5),
    Small("plain repetition", "M: 'a'* ('b' 'c')+[','] 'd'+[eolterm] 'a'?;", tuple("abcd,\n"), 6),
    Small("group and eolterm", "M: ('a' b?='b')#[eolterm] 'c'?;", tuple("abc\n "), 6),
    Small("flags", "M: a?='a' b?=B c?=ID; B: 'b' | 'bb';", tuple("abc "), 6),
    Small("later wins", "M: a='a' | a='b' a='c'?; ", tuple("abc "), 5),
    Small("split", "M: xs+=N; N[split='/']: 'a'+['/'];", tuple("a/ "), 6),
    Small(
        "references",
        "M: xs*=D rs*=R; D: 'd' name=ID; R: 'r' to=[D] ('o' also=[D])?;",
        ("d a ", "d b ", "r a ", "r b ", "o a ", "o m "),
        4,
    ),
    Small(
        "references to any object",
        "M: xs*=D rs*=R; D: 'd' name=ID; R: 'o' any=[OBJECT];",
        ("d a ", "d b ", "o a ", "o m "),
        4,
    ),
    Small(
        "reference with a rule",
        "M: xs*=D rs*=R; D: 'd' name=Q; R: 'r' to+=[D|Q][',']; Q: ID ('.' ID)*;",
        ("d ", "r ", "a", ".", "b", ",", " "),
        5,
    ),
    Small(
        "import",
        "import part\nM: xs+=P 'e'? y=N?; P: 'p' n=N | Q;",
        tuple("pqne"),
        6,
        imported={"part.tx": "Q: 'q' p=P?; P: 'p' 'p'; N: 'n';"},
    ),
    Small(
        "reference of a language",
        "reference base as b\nM: xs*=D rs*=R; D: 'd' name=ID; R: 'r' to=[D] | 'o' other=[b.T];",
        ("d a ", "d b ", "r a ", "r b ", "o a "),
        4,
        languages={"base": "B: ts+=T; T: 't' name=ID;"},
    ),
    Small(
        "user class and builtins",
        "M: xs*=Point rs*=R; R: 'r' to=[Point]; Point: 'p' name=ID;",
        ("p a ", "p b ", "r a ", "r b ", "r c "),
        4,
        {"classes": [Point], "builtins": {"c": Point(None, "c")}},
    ),
    Small(
        "skipws off",
        "M: xs+=X[/ *, */] 'e'; X[skipws]: 'a' 'b';",
        tuple("abe, "),
        6,
        {"skipws": False},
    ),
    Small("other white space", "M: xs+=X; X: 'a' 'b' | 'c';", tuple("abc_ "), 6, {"ws": "_"}),
    Small(
        "memoisation",
        "M: xs+=X; X: A 'b' | A 'c' | !A ID; A: 'a' y=ID?;",
        tuple("abc "),
        6,
        {"memoization": True},
    ),
    Small(
        "keywords in any case",
        "M: xs+=X; X: 'In' v=ID | 'i';",
        ("i", "n", "I", "N", " "),
        6,
        {"autokwd": True, "ignore_case": True},
    ),
    Small(
        "unset is None",
        "M: 'm' n=INT? x=ID? b?='b' 's' s=STRING?;",
        ("m", "1", "x", "b", "s", "'", " "),
        5,
        {"auto_init_attributes": False},
    ),
)

#: What the grammars have to use between them: all of textX.
CONSTRUCTS = frozenset(
    [
        *("common rule", "abstract rule", "match rule", "user class", "builtins"),
        *("=", "+=", "*=", "?=", "*", "+", "?", "#", "|", "!", "&", "-"),
        *("separator of *", "separator of +", "separator of #", "separator that is a pattern"),
        *("eolterm of *", "eolterm of +", "eolterm of #", "ws", "skipws", "noskipws", "split"),
        *("keyword", "regular expression", "Comment", "import", "reference"),
        *("reference by name", "reference with a rule", "reference to any object"),
        *("ID", "BOOL", "INT", "FLOAT", "STRICTFLOAT", "STRING", "NUMBER", "BASETYPE"),
        *("option autokwd", "option ignore_case", "option use_regexp_group", "option skipws"),
        *("option ws", "option memoization", "option auto_init_attributes"),
    ]
)
_SIGNS = {
    arpeggio.ZeroOrMore: "*",
    arpeggio.OneOrMore: "+",
    arpeggio.Optional: "?",
    arpeggio.UnorderedGroup: "#",
    arpeggio.OrderedChoice: "|",
    arpeggio.Not: "!",
    arpeggio.And: "&",
    arpeggio.StrMatch: "keyword",
    arpeggio.RegExMatch: "regular expression",
}
_ASSIGNMENTS = {
    "__asgn_plain": "=",
    "__asgn_oneormore": "+=",
    "__asgn_zeroormore": "*=",
    "__asgn_optional": "?=",
}


def constructs(small: Small) -> set[str]:
    """The constructs that a grammar uses, as textX's metamodel and parser model show them."""
    metamodel = small.metamodel()
    parser = metamodel._parser_blueprint
    found = {f"option {name}" for name in small.options}
    shown = {
        "import": small.imported,
        "reference": small.languages,
        "Comment": parser.comments_model,
        "user class": "classes" in small.options,
        "builtins": "builtins" in small.options,
    }
    found.update(name for name, there in shown.items() if there)
    for node in _nodes(parser.parser_model):
        sign = _SIGNS.get(type(node), "")
        found.update((sign, _ASSIGNMENTS.get(node.rule_name, sign), node.rule_name))
        if getattr(node, "sep", None) is not None:
            found.add(f"separator of {sign}")
            if isinstance(node.sep, arpeggio.RegExMatch):
                found.add("separator that is a pattern")
        if getattr(node, "eolterm", False):
            found.add(f"eolterm of {sign}")
        if node.suppress:
            found.add("-")
        if getattr(node, "ws", None) is not None:
            found.add("ws")
        if getattr(node, "skipws", None) is not None:
            found.add("skipws" if node.skipws else "noskipws")
    for cls in metamodel:
        found.add(f"{cls._tx_type} rule")
        if getattr(cls._tx_peg_rule, "split", None):
            found.add("split")
        for attribute in cls._tx_attrs.values():
            if attribute.ref and not attribute.cont:
                any_object = attribute.cls.__name__ == "OBJECT"
                found.add("reference to any object" if any_object else "reference by name")
                readers = {
                    node.nodes[0].rule_name
                    for node in _nodes(cls._tx_peg_rule)
                    if getattr(node, "_attr_name", None) == attribute.name
                }
                found.update(["reference with a rule"] if readers != {"ID"} else [])
    return found


def _nodes(root: Any) -> Iterator[Any]:
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            separator = getattr(node, "sep", None)
            waiting.extend([*node.nodes, *([separator] if separator is not None else [])])


@cache
def accepted(small: Small) -> frozenset[str]:
    """The texts of ``small`` that textX reads."""
    parser = small.metamodel()._parser_blueprint
    return frozenset(text for text in map("".join, small.texts()) if textx_reads(parser, text))


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
