"""Reading an edited document again: only what the change affects, with the same result."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import textx
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from textx.exceptions import TextXError

from language_server.syntax import Grammar, Parse, document
from tests.syntax.corpus import Case, cases
from tests.syntax.random_grammars import grammars

#: Languages in which edits mean different things, each with a text and pieces to edit it with.
LANGUAGES = {
    "objects, comments": (
        r"""
        Chart: 'chart' name=ID states*=State;
        State: initial?='initial' 'state' name=ID ('{' moves*=Move '}')?;
        Move: on=ID '->' to=[State] ';';
        Comment: /\/\/.*$/ | /\/\*(.|\n)*?\*\//;
        """,
        "chart c\n",
        "state s{n} {{ a -> s{n}; // on\n b -> s0; }}\n",
        "",
        ("/*", "*/", "//", "}", "{", ";", " state q ", "initial"),
    ),
    "nesting, strings over lines": (
        r"""
        File: value=Value;
        Value: STRING | FLOAT | Object | List;
        Object: '{' members*=Member[','] '}';
        Member: key=STRING ':' value=Value;
        List: '[' values*=Value[','] ']';
        """,
        "[\n",
        '{{"a": [{n}, {n}.5],\n "b": {{"c": "x{n}"}}}},\n',
        "1]",
        ('"', "[", "]", "{", "}", ",", "7", ":"),
    ),
    "values of several terminals": (
        r"""
        Model: (uses+=Use | parts+=Part)*;
        Use: 'use' what=[Part:Path] ('as' name=ID)?;
        Part: 'part' name=ID (size=INT | size='huge' big?='!')?;
        Path: ID+['.'];
        """,
        "",
        "part p{n} {n}\nuse a . b.p{n} as u{n}\npart q{n} huge!\n",
        "",
        (".", "use", "part ", "!", "as", " 1 "),
    ),
    "looking ahead and behind": (
        r"""
        Model: lines*=Line;
        Line: Long | Short;
        Long: 'go' steps+=Step 'end' last=/(?<=end )\w+\b/ ';';
        Short: 'go' steps*=Step ';';
        Step: !'end' name=/\w+(?=[ ;])/;
        """,
        "",
        "go a{n} b c end z{n};\ngo x y{n} z;\n",
        "",
        ("end", " ", ";", "go ", "x"),
    ),
    "any order, line ends": (
        r"""
        Model: items*=Item;
        Item: 'item' name=ID (('a' a=INT) ('b' b=INT) 'c'?)#[','] 'says' words*=ID[eolterm] ';';
        """,
        "",
        "item i{n} b {n}, a 1 says x y\n;\nitem j{n} a 2,c,b 3 says;",
        "",
        ("\n", ",", "a", "b 1", "c", ";"),
    ),
}
GRAMMARS = {
    name: Grammar.of(textx.metamodel_from_str(language[0])) for name, language in LANGUAGES.items()
}
CHART = GRAMMARS["objects, comments"]

CASES = cases()
needs_corpus = pytest.mark.skipif(not CASES, reason="the corpus is not beside the project")

#: Where to edit (as a share of the text), how much to take out, and what to put in.
EDIT = st.tuples(st.integers(0, 999), st.sampled_from((0, 0, 1, 2, 9, 90, 900)), st.integers(0, 99))


@pytest.fixture(params=(document.STRIDE, 40), ids=("usual segments", "short segments"))
def stride(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The length of a segment; short ones make more places where old and new can meet."""
    monkeypatch.setattr(document, "STRIDE", request.param)
    return int(request.param)


def written(name: str, size: int) -> str:
    """A text of a language, in ``size`` parts."""
    _, begin, part, end, _ = LANGUAGES[name]
    return begin + "".join(part.format(n=n) for n in range(size)) + end


def view(parse: Parse) -> object:
    """What a parse says."""
    return list(parse.events()), parse.faults, parse.complete


def edited(text: str, edit: tuple[int, int, int], pieces: tuple[str, ...]) -> str:
    """``text`` after an edit."""
    where, width, what = edit
    at = len(text) * where // 999
    further = ("", "x", "\n", text[at - what * 10 : at])
    return text[:at] + (*pieces, *further)[what % (len(pieces) + 4)] + text[at + width :]


@pytest.mark.parametrize("name", LANGUAGES)
@settings(max_examples=40)
@given(edits=st.lists(EDIT, min_size=1, max_size=5), short=st.booleans())
def test_edits_read_as_anew(name: str, edits: list[tuple[int, int, int]], short: bool) -> None:
    """After a chain of edits, each read from the parse before, all is as if read at once."""
    grammar, text, pieces = GRAMMARS[name], written(name, 9), LANGUAGES[name][-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document, "STRIDE", 40 if short else document.STRIDE)
        known = grammar.parse(text)
        for edit in edits:
            text = edited(text, edit, pieces)
            known = grammar.parse(text, known)
            assert view(known) == view(grammar.parse(text))


@needs_corpus
@pytest.mark.parametrize("case", CASES, ids=str)
def test_edits_of_the_corpus(case: Case, stride: int) -> None:
    """Edits of public models, which leave most of them faulty."""
    source = random.Random(f"{case}{stride}")
    grammar, text = case.ours(), case.text[:20_000]
    known = grammar.parse(text)
    for _ in range(4):
        edit = (source.randrange(1000), source.choice((0, 1, 1, 5, 50)), source.randrange(100))
        text = edited(text, edit, tuple("{}()[]\"',;:=x"))
        known = grammar.parse(text, known)
        assert view(known) == view(grammar.parse(text))


@settings(max_examples=40)
@given(
    grammars(),
    st.lists(st.tuples(*[st.integers(0, 999)] * 3), min_size=1, max_size=3),
    st.integers(0, 999),
)
def test_edits_under_random_grammars(
    grammar_text: str, edits: list[tuple[int, int, int]], seed: int
) -> None:
    """Texts that are mostly faulty, read in short segments."""
    try:
        grammar = Grammar.of(textx.metamodel_from_str(grammar_text))
    except TextXError:
        assume(False)
    source = random.Random(seed)
    text = "".join(source.choice("aabbcc ,\n#") for _ in range(600))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(document, "STRIDE", 20)
        known = grammar.parse(text)
        for edit in edits:
            text = edited(text, edit, ("a", "b", "c", ","))
            known = grammar.parse(text, known)
            assert view(known) == view(grammar.parse(text))


@pytest.mark.parametrize("change", ("longer", "shorter", "broken"))
@pytest.mark.parametrize("name", LANGUAGES)
def test_only_what_a_change_affects_is_read(name: str, change: str) -> None:
    """All but a few segments before and behind a change in the middle are those of before."""
    grammar, text = GRAMMARS[name], written(name, 400)
    known = grammar.parse(text)
    assert known.complete
    at = text.index("\n", len(text) // 2)
    added = {"longer": "\n\n", "shorter": "", "broken": "\n("}[change]
    again = grammar.parse(text[:at] + added + text[at + 1 :], known)
    before = {id(segment) for segment in known.segments}
    anew = [segment for segment in again.segments if id(segment) not in before]
    assert sum(segment.end - segment.start for segment in anew) < 5 * document.STRIDE


def test_a_change_costs_little(count_calls: Callable[[Callable[[], object]], int]) -> None:
    """Typing in or behind a long text does not read that text again."""
    text = written("objects, comments", 3000)
    known = CHART.parse(text)
    whole = count_calls(lambda: CHART.parse(text))
    for at in (len(text) // 2, len(text)):
        after = f"{text[:at]} {text[at:]}"
        assert count_calls(lambda after=after: CHART.parse(after, known)) < whole / 20


def test_after_too_many_faults_the_rest_is_not_read() -> None:
    """An edit that removes one of very many faults lets more of the text be read."""
    text = "chart c\n" + "state ( s { a -> s; }\n" * (document.MOST_FAULTS + 50)
    known = CHART.parse(text)
    assert len(known.faults) == document.MOST_FAULTS
    for after in (text.replace("(", "", 1), text.replace("(", "( (", 1), text[:-500]):
        known = CHART.parse(after, known)
        assert view(known) == view(CHART.parse(after))


def test_a_parse_of_another_grammar_is_no_help() -> None:
    """A parse is only used again by the grammar that made it."""
    other = Grammar.of(textx.metamodel_from_str("Chart: 'chart' name=ID;"))
    assert not other.parse("chart c state s", CHART.parse("chart c state s")).complete
