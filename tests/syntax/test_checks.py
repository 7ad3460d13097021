"""What is found in grammars before any text is read."""

from __future__ import annotations

import pytest
import textx

from language_server.syntax import Grammar
from tests.syntax.corpus import Case, cases


def codes(text: str) -> list[tuple[str, str]]:
    """Code and first rule of each finding."""
    grammar = Grammar.of(textx.metamodel_from_str(text))
    found = (*grammar.findings, *grammar.ambiguities())
    return [(finding.code, finding.rules[0]) for finding in found]


@pytest.mark.parametrize(
    ("grammar", "expected"),
    [
        ("M: ('x' x=INT 'y' y=INT)#;", [("swapped-values", "M")]),  # T6
        ("M: (('x' x=INT) ('y' y=INT))#;", []),
        ("M: 'ref' r=ID? 'end';", [("swallowed-keyword", "M")]),  # T8
        ("M: 'ref' r=R? 'end'; R: !'end' n=ID;", []),
        ("M: v=N; N: INT | FLOAT;", [("dead-alternative", "N")]),  # T10
        ("M: v=N; N: FLOAT | INT;", []),
        ("M: v=K; K: 'in' | 'int';", [("dead-alternative", "K")]),
        ("M: v=K; K: 'int' | 'in';", []),
        ("M: ids+=ID 'end';", [("swallowed-terminator", "M")]),  # T25
        ("M: xs+=X 'end'; X: !'end' v=ID;", []),
        ("M: v=BASETYPE w=NUMBER;", []),
        ("M: xs*=S; S: 'if' c=ID | n=ID '=' v=INT;", []),
        ("M: 'a' r=R; R: 'x' r=R;", [("unproductive-rule", "M"), ("unproductive-rule", "R")]),
        ("M: xs+=W[eolterm]; W[ws=' ']: 'a';", [("lost-line-ends", "M")]),
        ("M: e=E; E: l=E '+' | 'x';", [("left-recursion", "E")]),
    ],
)
def test_findings(grammar: str, expected: list[tuple[str, str]]) -> None:
    """Faulty grammars are faulted in the right rule, sound ones are not."""
    assert codes(grammar) == expected


def first_of_each_language() -> list[Case]:
    """One model a language."""
    return list({case.language: case for case in reversed(cases())}.values())


@pytest.mark.skipif(not cases(), reason="the corpus is not beside the project")
def test_public_grammars() -> None:
    """Public grammars have no faults, and two have alternatives that are never read."""
    ambiguous = {}
    for case in first_of_each_language():
        assert case.ours().findings == ()
        found = case.ours().ambiguities()
        if found:
            ambiguous[case.language] = [finding.rules[0] for finding in found]
    assert ambiguous == {"dflow": ["ParameterValue"], "rosbridge": ["ROSType"]}
