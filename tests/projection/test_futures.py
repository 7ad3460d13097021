"""Where the futures of two prefixes are equal, the same texts may follow both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from language_server.languages import Language, load_language
from language_server.projection import Prefix
from tests.syntax.random_grammars import grammars, guided, language_of

START: dict[str, Callable[[Language], Prefix]] = {
    "grammar": Prefix.of_grammar,
    "language": Prefix.start,
}
WORDS = ["".join(word) for size in (0, 1, 2) for word in product("abc,\n# ", repeat=size)]


@settings(max_examples=60)
@given(grammars(), st.data())
def test_equal_futures_of_random_grammars(grammar: str, data: st.DataObject) -> None:
    check_random(grammar, data)


@pytest.mark.long
@settings(max_examples=3000)
@given(grammars(), st.data())
def test_equal_futures_of_many_random_grammars(grammar: str, data: st.DataObject) -> None:
    check_random(grammar, data)


def check_random(grammar: str, data: st.DataObject) -> None:
    """Ask of all beginnings of some texts what the brute force knows: to read on and see."""
    language = language_of(grammar)
    start = START[data.draw(st.sampled_from(sorted(START)))](language)
    alike: dict[object, list[Prefix]] = defaultdict(list)
    for text in (guided(data.draw, language.grammar) for _ in range(3)):
        prefix = start
        for character in text:
            prefix = prefix.advance(character)
            if prefix.alive and prefix.future is not None:
                alike[prefix.future].append(prefix)
    compare(alike, WORDS)


def compare(alike: dict[object, list[Prefix]], words: list[str]) -> int:
    """Hold what may follow the prefixes of each future against each other; how many there were."""
    compared = 0
    for first, *others in alike.values():
        expected = [_answers(first, word) for word in words] if others else []
        for other in {other.text: other for other in others if other.text != first.text}.values():
            compared += 1
            for word, answers in zip(words, expected, strict=True):
                assert _answers(other, word) == answers, (first.text, other.text, word)
    return compared


def _answers(prefix: Prefix, word: str) -> tuple[bool, bool]:
    after = prefix.advance(word)
    return after.alive, after.complete


@pytest.mark.parametrize(
    "pattern",
    [
        r"a(b*c)?",
        r"a+(bc)?",
        r"[ab]+\b",
        r"[ab]+(?!c)",
        r"(?!ab\b)[ab]+",
        r"ab*?c",
        r"(ab)?c?a",
        r"a|ab|abc",
        r"b[^c]*c|a",
    ],
)
def test_texts_of_a_terminal_that_count_as_one(pattern: str, tmp_path: Path) -> None:
    """What has been read of a terminal counts where it may yet be read as something else."""
    grammar = tmp_path / "terminal.tx"
    grammar.write_text(f"Model: items+=Item; Item: one=/{pattern}/ | other=/[bc]/ | last='ca';")
    start = Prefix.of_grammar(load_language(str(grammar)))
    alike: dict[object, list[Prefix]] = defaultdict(list)
    for size in range(1, 5):
        for text in map("".join, product("abc", repeat=size)):
            prefix = start.advance(text)
            if prefix.alive:
                alike[prefix.future].append(prefix)
    words = ["".join(word) for size in range(4) for word in product("abc ", repeat=size)]
    for prefixes in alike.values():
        del prefixes[3:]
    assert compare(alike, words)


def futures(start: Callable[[Language], Prefix], language: str, *texts: str) -> list[object]:
    begin = start(load_language(language))
    return [begin.advance(text).future for text in texts]


@pytest.mark.parametrize("name", ["blocks", "clevr", "requirements", "statechart", "taxonomy"])
def test_a_text_that_is_read_again_has_the_same_futures(name: str) -> None:
    """However Python orders its sets: else nothing that was kept would be found."""
    language = load_language(name)
    text = min((example.text for example in language.examples), key=len)
    begin = Prefix.start(language)
    one, other = begin, begin
    for at in range(0, len(text), 3):
        one, other = one.advance(text[at : at + 3]), other.advance(text[at : at + 3])
        assert one.future is not None
        assert one.future == other.future, one.text


def test_layout_does_not_count() -> None:
    one, other, read_in_pieces = futures(
        Prefix.start,
        "statechart",
        "statechart A\nevent go\nvar x: int = 3\n",
        "// door\nstatechart A event go   // to go\n\n  var x:int=3\n",
        "statechart A\nevent go\nvar x: int = 3\n",
    )
    assert one is not None
    assert one == other == read_in_pieces


def test_who_has_looked_for_comments_first_counts(tmp_path: Path) -> None:
    """Arpeggio remembers where a comment ends for terminals that skip other white space too."""
    grammar = tmp_path / "lines.tx"
    grammar.write_text(
        "M: ((('a' f='b') (/a+/))#)? (('ab'- /a+/))? (/a+/)*[eolterm] 'b'; Comment: /#[^\\n]*/;"
    )
    start = Prefix.of_grammar(load_language(str(grammar)))
    one, other = start, start
    for before, after in zip("\nab\na ", "  a ab", strict=True):
        one, other = one.advance(before), other.advance(after)
    assert one.advance("#\n").alive != other.advance("#\n").alive
    assert one.future != other.future


def test_what_has_been_said_counts_where_there_are_constraints() -> None:
    two, three = "event stop\nevent go\n", "event stop\nevent halt\nevent go\n"
    texts = (f"statechart A\n{two}", f"statechart A\n{three}")
    for_grammar = futures(Prefix.of_grammar, "statechart", *texts)
    assert for_grammar[0] == for_grammar[1]
    for_all = futures(Prefix.start, "statechart", *texts)
    assert for_all[0] != for_all[1]


def test_values_that_python_takes_for_equal_count_as_different(tmp_path: Path) -> None:
    (tmp_path / "values.tx").write_text("Model: 'v' (whole=INT | yes=BOOL | real=STRICTFLOAT) ';';")
    (tmp_path / "one.tx").write_text("Model: 'v' any=Any ';'; Any: BOOL | NUMBER;")
    one, yes = futures(Prefix.start, str(tmp_path / "one.tx"), "v 01;", "v true;")
    assert one != yes


def test_a_terminal_that_looks_back_leaves_the_future_untold(tmp_path: Path) -> None:
    grammar = tmp_path / "back.tx"
    grammar.write_text(r"Model: words+=Word; Word: a=/[ab]/ | c=/(?<=b)c/;")
    assert futures(Prefix.of_grammar, str(grammar), "a ", "b ") == [None, None]
