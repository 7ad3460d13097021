"""The language of `.tx` files: what textX refuses is an error at its place, and nothing else is."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import textx

from language_server.diagnostic import Diagnostic
from language_server.languages import Language, load_language
from tests.syntax.corpus import CORPUS, cases


@pytest.fixture(scope="module")
def grammars() -> Language:
    return load_language("textx")


def refused(text: str, path: Path | None = None) -> bool:
    """Whether textX builds no language from a grammar."""
    try:
        textx.metamodel_from_str(text, file_name=str(path) if path else None)
    except Exception:  # textX lets some of Python's own errors through
        return True
    return False


def errors(found: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    return [each for each in found if each.severity == "error"]


REFUSED = [
    ("M: xs+=ID[eolterm, ','];", "syntax", ","),  # T12
    ("M: xs+=ID[',', eolterm];", "syntax", ","),  # T12
    ("M: ('q' b?='on')*;", "repeated-flag", "b?='on'"),  # T14
    ("M: ('a' (b?='on' | 'c')?)+;", "repeated-flag", "b?='on'"),  # T14
    ("M: (!(b?='on') 'x')*;", "repeated-flag", "b?='on'"),  # T14
    ("M: a=ID a?='x';", "late-flag", "a?='x'"),
    ("M: (a=ID | a?='x'); N: a?='x';", "late-flag", "a?='x'"),
    ("M: x=A[',']; A: name=ID;", "modifiers-of-one-value", "[',']"),
    ("M: x?='a'[eolterm];", "modifiers-of-one-value", "[eolterm]"),
    ("M: 'a'?[','];", "modifiers-of-option", "[',']"),
    ("M: x=[ID];", "reference-to-primitive", "[ID]"),
    ("M: x=Nmae;", "unresolved-reference", "Nmae"),
    ("M: x=[Nmae];", "unresolved-reference", "Nmae"),
    ("M: x=[M:Nmae];", "unresolved-reference", "Nmae"),
    ("M: x=[other.M];", "unresolved-reference", "other.M"),
    ("M: /(/;", "pattern", "/(/"),
    ("M[foo]: 'a';", "parameter", "foo"),
    ("M[split]: 'a';", "parameter", "split"),
    ("M[split='']: 'a';", "parameter", "split=''"),
    ("M[ws]: 'a';", "parameter", "ws"),
    ("M[noskipws=' ']: 'a';", "parameter", "noskipws=' '"),
    ("M: ID#;", "group", "ID#"),
    ("M: (ID)#;", "group", "(ID)#"),
    ("M: 'm' a=A; A: A;", "left-recursion", "A"),
    (r"M: '\N{no such}';", "textx", "M"),
    ("import absent M: 'x';", "import", "import absent"),
    ("import broken M: 'x';", "import", "import broken"),
    ("M 'x';", "syntax", "'x'"),
    ("M: a=A; A: 'y'; A: 'z' f=Foo;", "unresolved-reference", "Foo"),
    ("M: a=A; A: 'y'; A: A;", "left-recursion", "A"),
]

BUILT = [
    "M: xs+=ID[',' eolterm];",
    "M: xs+=ID[eolterm ','];",
    "M: ('q' b?='on')#;",
    "M: ('q' b?='on')?;",
    "M: (a=ID)*[','];",
    "M: a?='x' a=ID;",
    "M: a?='x'; N: a?='x';",
    "M: x=[OBJECT] y=OBJECT;",
    "M[ws='', skipws]: 'a';",
    "M[noskipws, split='/']: 'a';",
    "A: 'x'; A: 'y'; M: a=A b=[A];",
    "ID: /a/; M: x=ID;",
    "1a: x=ID; M: y=1a;",
    "reference nowhere as n M: 'x';",
    "import parts.base M: x=Shape y=[Shape];",
    "M: x=ID x=[Nowhere]; N: y=[Nowhere] y+='a';",
    "M: x=[M|ID|+m:^a*.('s'~b, ~c).parent(M)];",
    "M: 'a' 'b'-; // c\n/* d */ N: xs*=A[',']; A: x=ID;",
    "M: a=A; A[skipws]: A2; A2[skipws]: A;",
    "M: a=A; A: f=Foo g=[Foo]; A: 'y';",
    "M: a=A; A: A; A: 'y';",
    "M: a=A; A: B; B: A; A: 'y';",
]


@pytest.fixture
def main(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "base.tx").write_text("Shape: 'shape' name=ID;\n")
    (tmp_path / "broken.tx").write_text("Shape: 'shape' name=IDD;\n")
    return tmp_path / "main.tx"


@pytest.mark.parametrize(("text", "code", "at"), REFUSED)
def test_what_textx_refuses_is_an_error_at_its_place(
    grammars: Language, main: Path, text: str, code: str, at: str
) -> None:
    assert refused(text, main)
    (found,) = errors(grammars.problems(text, main))
    assert (found.code, text[found.start : found.end]) == (code, at)
    assert [each.message for each in grammars.judge(text, main)] != []


@pytest.mark.parametrize("text", BUILT)
def test_what_textx_builds_has_no_error(grammars: Language, main: Path, text: str) -> None:
    assert not refused(text, main)
    assert errors(grammars.problems(text, main)) == []
    assert errors(grammars.judge(text, main)) == []


def test_all_errors_at_once(grammars: Language) -> None:
    text = "M: a=Nmae ('x' b?='y')*;\nN: /(/ | c=[STRING];\nP: q=Q;\n"
    found = [text[each.start : each.end] for each in grammars.problems(text)]
    assert found == ["Nmae", "b?='y'", "/(/", "[STRING]", "Q"]
    broken = "M: a=;\nN: 'x';\nO: x==ID;\nQ: 'q';\nP: q=P\n"
    lines = [broken.count("\n", 0, each.start) for each in grammars.problems(broken)]
    assert lines == [0, 2, 4]


def test_findings_are_warnings_at_their_place(grammars: Language) -> None:
    text = "M: ids+=ID 'end';\n"
    (found,) = grammars.problems(text)
    assert (found.severity, found.code) == ("warning", "swallowed-terminator")
    assert text[found.start : found.end] == "ID"
    assert [text[start:end] for start, end, _ in found.related] == ["'end'"]


def test_findings_of_an_imported_grammar_are_shown_there_only(
    grammars: Language, tmp_path: Path
) -> None:
    (tmp_path / "words.tx").write_text("Word: 'on' | 'once';\n")
    assert grammars.problems("import words\nM: w=Word;\n", tmp_path / "main.tx") == ()
    found = grammars.problems("Word: 'on' | 'once';\n", tmp_path / "words.tx")
    assert [each.code for each in found] == ["dead-alternative"]


def test_of_rules_with_one_name_the_last_counts(grammars: Language) -> None:
    text = "M: a=A; A: 'x'; A: 'y';"
    model = textx.metamodel_from_str(text).model_from_str("y")
    assert model.a == "y"
    (found,) = grammars.problems(text)
    assert (found.code, found.start, found.severity) == ("repeated-rule", 8, "warning")
    assert [start for start, _, _ in found.related] == [16]


def test_classes_of_another_language(grammars: Language) -> None:
    """`reference` brings in the classes of a registered language, under its name or an alias."""
    colours = textx.metamodel_from_str("Palette: colours*=Colour; Colour: 'colour' name=ID;")
    textx.register_language("colours", "*.colours", "colours", colours)
    try:
        for text in (
            "reference colours as c M: x=[c.Colour] y=[c.Paint];",
            "reference colours M: x=[colours.Colour] y=[colours.Paint];",
        ):
            assert refused(text)
            (found,) = errors(grammars.problems(text))
            assert text[found.start : found.end].endswith(".Paint")
            mended = text.replace("Paint", "Palette")
            assert not refused(mended)
            assert grammars.problems(mended) == ()
    finally:
        textx.clear_language_registrations()


def test_a_byte_order_mark_moves_places_only(grammars: Language) -> None:
    (found,) = grammars.problems("\ufeffM: ids+=ID 'end';\n")
    assert (found.start, found.end) == (9, 11)


def grammar_files() -> list[Path]:
    shipped = sorted((Path(__file__).parents[2] / "grammars").glob("*.tx"))
    return [*shipped, *dict.fromkeys(case.grammar for case in cases())]


@pytest.mark.parametrize("path", grammar_files(), ids=lambda path: path.stem)
def test_known_grammars_have_no_error(grammars: Language, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert errors(grammars.problems(text, path)) == []
    expected = {"dflow.tx": ["dead-alternative"], "rosbridge.tx": ["dead-alternative"]}
    found = [each.code for each in grammars.problems(text, path)]
    assert found == expected.get(path.name, [])


_TOKENS = re.compile(r"\w+|'[^'\n]*'|\"[^\"\n]*\"|/[^/\n]+/|[+*?]=|\S")
_OPERATORS = ("=", "+=", "*=", "?=", "*", "+", "?", "#", "-", "!", "|", ";", ":", "[", ")", ",")
_PIECES = ("x?='y'", "x=[ID]", "x=Foo", "(ID)#", "('a' b?='c')*", "[',']", "[eolterm]", "import a")


def mutations(text: str, number: int, source: random.Random) -> Iterator[str]:
    """A grammar with one token left out, put in, or replaced by another of its tokens."""
    tokens = list(_TOKENS.finditer(text))
    for _ in range(number):
        token, other = source.choice(tokens), source.choice(tokens)
        put = source.choice((other.group(), source.choice(_OPERATORS), source.choice(_PIECES)))
        start, end = source.choice(((token.end(), token.end()), token.span()))
        yield f"{text[:start]} {source.choice((put, put, ''))} {text[end:]}"


def agrees(grammars: Language, path: Path, number: int, seed: int) -> None:
    text = path.read_text(encoding="utf-8")
    for mutated in mutations(text, number, random.Random(f"{path.name} {seed}")):
        found = errors(grammars.problems(mutated, path))
        assert bool(found) == refused(mutated, path), mutated
        assert not any(each.code == "textx" for each in found), mutated  # told without its place


@pytest.mark.parametrize("name", ["clevr", "flowchart", "taxonomy", "statechart", "textx"])
def test_mutations_are_refused_as_textx_refuses_them(grammars: Language, name: str) -> None:
    agrees(grammars, Path(__file__).parents[2] / "grammars" / f"{name}.tx", 8, 0)


@pytest.mark.long
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the project")
@pytest.mark.parametrize("path", grammar_files(), ids=lambda path: path.stem)
def test_many_mutations_are_refused_as_textx_refuses_them(grammars: Language, path: Path) -> None:
    agrees(grammars, path, 60, 1)
