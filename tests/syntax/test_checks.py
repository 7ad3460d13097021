"""What is found in grammars that textX builds, each fault shown to be one by textX itself."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
import textx
from textx.exceptions import TextXSyntaxError

from language_server.syntax import Grammar, GrammarFinding, GrammarPlace
from tests.syntax.corpus import CORPUS, Case, cases


class Fault(NamedTuple):
    """A faulty grammar, what is found in it, and texts that textX does not load because of it.

    Attributes:
        at: the text at the place of the finding.
        lost: texts that the grammar seems to allow and textX refuses.
        fine: texts that textX loads.
        mended: the grammar after the cure; textX loads all the texts under it.
    """

    code: str
    grammar: str
    rule: str
    at: str
    lost: tuple[str, ...]
    fine: tuple[str, ...]
    mended: str


FAULTS = [
    Fault(  # T8
        "swallowed-keyword",
        "M: 'ref' r=ID? 'end';",
        "M",
        "r=ID",
        ("ref end",),
        ("ref a end", "ref end end"),
        r"M: 'ref' (!/end\b/ r=ID)? 'end' 'end'?;",
    ),
    Fault(  # T8
        "swallowed-keyword",
        "M: xs*=X; X: 'x' (ID | 'none' n=INT);",
        "X",
        "ID",
        ("x none 1",),
        ("x a", "x none"),
        "M: xs*=X; X: 'x' ('none' n=INT | ID);",
    ),
    Fault(  # T10
        "dead-alternative",
        "M: v=N;  N: INT | FLOAT;",
        "N",
        "FLOAT",
        ("3.5", "0."),
        ("3", ".5"),
        "M: v=N;  N: FLOAT | INT;",
    ),
    Fault(  # T10
        "dead-alternative",
        "M: v=K;  K: 'in' | 'int';",
        "K",
        "'int'",
        ("int",),
        ("in",),
        "M: v=K;  K: 'int' | 'in';",
    ),
    Fault(  # T10
        "dead-alternative",
        "M: v=K;  K: ID | 'no-one';",
        "K",
        "'no-one'",
        ("no-one",),
        ("no",),
        "M: v=K;  K: 'no-one' | ID;",
    ),
    Fault(  # T25
        "swallowed-terminator",
        "M: ids+=ID 'end';",
        "M",
        "ID",
        ("a end", "end", "a b end"),
        (),
        r"M: ids*=Name 'end';  Name: !/end\b/ ID;",
    ),
    Fault(  # D18
        "unproductive-rule",
        "M: 'a' r=R?;  R: 'x' r=R;",
        "R",
        "R",
        ("a x", "a x x x"),
        ("a",),
        "M: 'a' r=R?;  R: 'x' r=R?;",
    ),
    Fault(
        "lost-line-ends",
        "M: rows*=Row; Row: 'r' xs*=X[eolterm]; X[ws=' ']: 'x';",
        "Row",
        "xs*=X[eolterm]",
        ("r x\nr x",),
        ("r x r x",),
        "M: rows*=Row; Row: 'r' xs*=X[eolterm]; X: 'x';",
    ),
]


def findings(text: str) -> tuple[GrammarFinding, ...]:
    """What is found in a grammar that is no file."""
    return Grammar.of(textx.metamodel_from_str(text), text).findings


def loads(grammar: str, text: str) -> bool:
    """Whether textX loads a text."""
    try:
        textx.metamodel_from_str(grammar).model_from_str(text)
    except TextXSyntaxError:
        return False
    return True


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.code}: {fault.grammar}")
def test_a_fault_is_found_at_its_place_and_textx_shows_it(fault: Fault) -> None:
    (found,) = findings(fault.grammar)
    assert (found.code, found.rules[0]) == (fault.code, fault.rule)
    assert found.place is not None and found.place.path is None
    assert fault.grammar[found.place.start : found.place.end] == fault.at
    assert [text for text in fault.lost if loads(fault.grammar, text)] == []
    assert [text for text in fault.fine if not loads(fault.grammar, text)] == []
    assert [text for text in fault.lost + fault.fine if not loads(fault.mended, text)] == []
    assert findings(fault.mended) == ()


def test_t6_values_of_an_unordered_group_are_swapped() -> None:
    for grammar, at in (
        ("M: ('x' x=INT 'y' y=INT)#;", "y=INT"),
        ("M: ('x' x=INT? 'y' y=INT?)#;", "y=INT?"),
        ("M: ('x' x=NUMBER 'y' y=NUMBER)#;", "y=NUMBER"),
        ("M: ('x' x=FLOAT 'y' y=INT)#;", "y=INT"),
    ):
        (found,) = findings(grammar)
        assert (found.code, found.rules) == ("swapped-values", ("M",))
        assert found.place is not None
        assert grammar[found.place.start : found.place.end] == at
        model = textx.metamodel_from_str(grammar).model_from_str("y 1 x 2")
        assert (model.x, model.y) == (1, 2)
    mended = "M: (('x' x=INT) ('y' y=INT))#;"
    model = textx.metamodel_from_str(mended).model_from_str("y 1 x 2")
    assert (model.x, model.y) == (2, 1)
    assert findings(mended) == ()


@pytest.mark.parametrize(
    ("grammar", "rules", "text"),
    [
        ("E: l=E '+' r=INT | v=INT;", ("E",), "1"),
        ("A: B | 'c' n=ID; B: x?='x' a=A 'y';", ("A", "B"), "c c"),
        ("M: e=E; E: A | v=INT; A: l=E '+' r=INT;", ("E", "A"), "1"),
    ],
)
def test_d15_left_recursion(grammar: str, rules: tuple[str, ...], text: str) -> None:
    (found,) = (f for f in findings(grammar) if f.code == "left-recursion")
    assert set(found.rules) == set(rules)
    assert found.place is not None
    assert grammar[found.place.start : found.place.end] == found.rules[0]
    with pytest.raises(RecursionError):
        textx.metamodel_from_str(grammar).model_from_str(text)


def test_faults_of_rules_that_no_text_reaches() -> None:
    """A grammar that others import may begin with a rule that does not call the rest."""
    found = findings("M: 'm'; E: l=E '+' | 'x'; R: 'x' r=R;")
    assert [(each.code, each.rules[0]) for each in found] == [
        ("left-recursion", "E"),
        ("unproductive-rule", "R"),
    ]


@pytest.mark.parametrize(
    "grammar",
    [
        "E: '(' inner=E ')' | v=INT;",
        "M: 'ref' r=R? 'end'; R: !'end' n=ID;",
        "M: v=N; N: FLOAT | INT;",
        "M: v=K; K: 'int' | 'in';",
        "M: v=K; K: 'in' | ID;",
        "M: ids+=INT 'end';",
        "M: ids+=ID[','] 'end';",
        "M: xs+=X 'end'; X: !'end' v=ID;",
        "M: v=BASETYPE w=NUMBER;",
        "M: xs*=S; S: 'if' c=ID | n=ID '=' v=INT;",
        "M: ids+=Word 'end'; Word: /\\w+(?=,)/;",
        "M: ids*=Word 'end'; Word: /\\w+(?!\\s*\\()/ ','; ",
        "M: (x=INT ',' y=INT)#;",
        "M: ('x' x=INT 'y' y=ID)#;",
        "M: xs+=W[eolterm]; W: 'a';",
        "M: 'a' r=R; R: 'x' r=R?;",
    ],
)
def test_sound_grammars(grammar: str) -> None:
    assert findings(grammar) == ()


def test_keywords_end_at_words_with_autokwd() -> None:
    """With autokwd `in` does not read the beginning of `int`."""
    grammar = "M: v=K; K: 'in' | 'int';"
    metamodel = textx.metamodel_from_str(grammar, autokwd=True)
    assert metamodel.model_from_str("int").v == "int"
    assert Grammar.of(metamodel, grammar).findings == ()


def test_places_in_imported_files(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "main.tx").write_text("import parts.numbers\n// é\nM: 'x' n=Number;\n")
    (tmp_path / "parts" / "numbers.tx").write_text("import words\nNumber: INT | FLOAT | Word;\n")
    (tmp_path / "parts" / "words.tx").write_text("/* a\nb */ Word: 'on'\n  | 'once';\n")
    metamodel = textx.metamodel_from_file(tmp_path / "main.tx")
    found = Grammar.of(metamodel).findings
    places = [each.place for each in found if each.place is not None]
    assert [
        (place.path.name, place.path.read_text()[place.start : place.end])
        for place in places
        if place.path is not None
    ] == [("numbers.tx", "FLOAT"), ("words.tx", "'once'")]
    ((related, _),) = found[1].related
    assert related == GrammarPlace(tmp_path / "parts" / "words.tx", 16, 20)
    with pytest.raises(TextXSyntaxError):
        metamodel.model_from_str("x once")


def first_of_each_language() -> list[Case]:
    """One model a language."""
    return list({case.language: case for case in reversed(cases())}.values())


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the project")
def test_public_grammars() -> None:
    """Two public grammars have alternatives that are never read, as textX shows."""
    found = {
        case.language: [(each.code, each.rules[0]) for each in case.ours().findings]
        for case in first_of_each_language()
    }
    assert {language: codes for language, codes in found.items() if codes} == {
        "dflow": [("dead-alternative", "ParameterValue")],
        "rosbridge": [("dead-alternative", "ROSType")],
    }
    for language, rule, text, read in (
        ("dflow", "ParameterValue", "3.5", "3"),
        ("rosbridge", "ROSType", "ROS2", "ROS"),
    ):
        (case,) = (case for case in first_of_each_language() if case.language == language)
        # The rule alone, on the text that it loses: it reads the beginning and is content.
        peg = case.metamodel()[rule]._tx_peg_rule
        parser = case.metamodel()._parser_blueprint.clone()
        parser.parser_model = textx.lang.Sequence(nodes=[peg], rule_name="", root=True)
        parser.parse(text)
        assert "".join(str(parser.parse_tree).split()) == read
