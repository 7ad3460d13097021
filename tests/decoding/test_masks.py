"""Full masks from memory: each token's entry is what reading the token says."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from language_server.decoding import LayoutPolicy, Vocabulary
from language_server.decoding.memory import memory_of
from language_server.decoding.token_filter import TokenFilter
from language_server.languages import Language, load_language
from language_server.projection import Prefix
from tests.syntax.random_grammars import grammars, guided, language_of

LANGUAGES = ("clevr", "statechart", "taxonomy", "textx", "json")
GRAMMARS = Path(__file__).parents[2] / "grammars"
START: dict[str, Callable[[Language], Prefix]] = {
    "grammar": Prefix.of_grammar,
    "language": Prefix.start,
}
JSON = """
File: Array | Object;
Array: '[' values*=Value[','] ']';
Value: STRING | FLOAT | BOOL | Object | Array | 'null';
Object: '{' members*=Member[','] '}';
Member: key=STRING ':' value=Value;
"""
JSON_TEXT = """{"name": "a \\"b\\"", "list": [1, 2.5e3, true, null, {}], "é": [[""], []]}\n"""
# White space, closings and openings in one token, words cut anywhere, halves of code points.
PIECES = (
    "\n\n", "\n    ", "    ", " {", "{\n", "}\n", "}}", "()", "(\"", "\",", "\":", "\"]", "\"],",
    "->", " ->", "-->", "--", "[[", "]]", "[\"", "//", "/*", "*/", "%%", " %%", "# ", "==", "!=",
    "state", " state", "st", "ate", " initial", "event", " event", " or", "on", " on", "graph",
    " LR", "scene", "filter", "_size", "query_", " is", " the child of", "child", "Rule",
    "name=", "ID",
    "null", "true", "12", "0", "1.", ".5", "e3", "a1", "_a", " foo", "foo", "é", "日本", "x y",
)  # fmt: skip


@pytest.fixture(scope="module", params=LANGUAGES)
def language(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Language:
    if request.param != "json":
        return load_language(request.param)
    folder = tmp_path_factory.mktemp("json")
    (folder / "json.tx").write_text(JSON, encoding="utf-8")
    return load_language(str(folder / "json.tx"))


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    table: list[bytes | None] = [bytes([value]) for value in range(256)]
    table += [piece.encode() for piece in PIECES] + ["日".encode()[:2], None]
    return Vocabulary(table, end_tokens=[len(table) - 1])


def texts(language: Language) -> list[str]:
    if language.name == "textx":
        return [(GRAMMARS / f"{name}.tx").read_text(encoding="utf-8") for name in LANGUAGES[:3]]
    return [example.text for example in language.examples] or [JSON_TEXT]


def check(language: Language, start: str, vocabulary: Vocabulary, seed: int) -> None:
    """Compare one mask behind a random beginning, fed in random pieces, token by token."""
    rng = random.Random(seed)
    text = rng.choice(texts(language))
    cuts = sorted(rng.sample(range(len(text) + 1), 3))
    prefix = START[start](language)
    for begin, end in pairwise([0, *cuts]):
        prefix = prefix.advance(text[begin:end])
    token_filter = TokenFilter(vocabulary, LayoutPolicy.free())
    state = token_filter.start(prefix)
    mask = token_filter.allowed(state)
    fresh = token_filter.start(START[start](language).advance(prefix.text))
    for token in np.flatnonzero([data is None or len(data) > 0 for data in vocabulary.token_bytes]):
        read = token_filter.step(fresh, int(token)) is not None
        assert mask[token] == read, (prefix.text[-40:], vocabulary.token_bytes[token])


@pytest.mark.parametrize("start", START)
def test_a_mask_says_of_each_token_what_reading_it_says(
    language: Language, start: str, vocabulary: Vocabulary
) -> None:
    for seed in range(5):
        check(language, start, vocabulary, seed)


@pytest.mark.parametrize("start", START)
def test_a_mask_from_memory_says_of_each_token_what_reading_it_says(
    language: Language, start: str, vocabulary: Vocabulary
) -> None:
    """Kept behind a text that another session has read, laid out otherwise or not."""
    text = texts(language)[0]
    token_filter = TokenFilter(vocabulary, LayoutPolicy.free())
    rng = random.Random(1)
    for space in ("", " ", "\n"):
        cut = rng.randrange(len(text))
        one, other = (START[start](language).advance(before) for before in ("", space))
        for character in text[:cut]:
            one, other = one.advance(character), other.advance(character)
        token_filter.allowed(token_filter.start(one))
        assert memory_of(vocabulary).recall(other.future) is not None or space
        state = token_filter.start(other)
        mask = token_filter.allowed(state)
        for token, data in enumerate(vocabulary.token_bytes):
            if data != b"":
                assert mask[token] == (token_filter.step(state, token) is not None), (cut, data)


@pytest.mark.long
@pytest.mark.parametrize("start", START)
def test_many_masks_say_of_each_token_what_reading_it_says(
    language: Language, start: str, vocabulary: Vocabulary
) -> None:
    for seed in range(5, 105):
        check(language, start, vocabulary, seed)


@pytest.mark.long
def test_masks_over_the_embedded_vocabulary_allow_every_spelling_of_an_example(
    language: Language, embedded_vocabulary: Vocabulary
) -> None:
    rng = random.Random(0)
    token_filter = TokenFilter(embedded_vocabulary, LayoutPolicy.free())
    for text in texts(language)[:3]:
        state, data = token_filter.start(Prefix.start(language)), text.encode()
        while data:
            token = rng.choice(embedded_vocabulary.trie.prefixes(data))
            assert token_filter.allowed(state)[token], state.guide.text[-40:]
            after = token_filter.step(state, token)
            assert after is not None
            state = token_filter.settle(state, after)
            data = data[len(embedded_vocabulary.token_bytes[token] or b"") :]


# Texts whose end is open in more than one way: grammar, text.
UNDECIDED = {
    "a comment may begin as an operator does": (
        "Sum: terms+=Term['/']; Term: NUMBER; Comment: /\\/\\/[^\\n]*/ | /\\/\\*(.|\\n)*?\\*\\//;",
        "1/ .5//a\n/ /*/**/2 /3",
    ),
    "a comment may begin as a longer operator does": (
        "Sum: first=ID rest*=Part; Part: operator=Operator name=ID; Operator: '/=' | '/';"
        " Comment: /\\/\\/[^=\\n]*\\n/;",
        "a/b /=c//d\n/e",
    ),
    "a keyword may be a name in an earlier branch": (
        "Model: tests+=Test; Test: Order | Flag | Truth; Order: left=Name '<' right=Name;"
        " Flag: name=Name ('==' value=Truth)?; Truth: on?='true' | 'false';"
        " Name: !Keyword ID; Keyword: /(true|false)\\b/;",
        "t true tr < fa f==true f",
    ),
    "a branch has been read and another may still take its place": (
        "Model: items+=Item; Item: Long | Short | Word; Long: 'a' 'b' 'c' 'd'; Short: 'a' 'b';"
        " Word: name=/[a-d]+x?/;",
        "ab abc abcd a b c d",
    ),
    "a terminal looks back": (
        "Model: items+=Item; Item: word=/[ab]+/ | tail=/(?<=b)c+/ | dot=/\\.(?<![ab]\\.)/"
        " | start=/\\be/;",
        "ab bc abcc . e",
    ),
    "a number may go on in several ways": (
        "Model: items+=Item; Item: real=STRICTFLOAT | whole=INT | name=ID;",
        "1 1.5 1e5 1e x e5 .5 1.",
    ),
}


@pytest.mark.parametrize("case", UNDECIDED)
def test_masks_where_the_end_is_open_in_more_than_one_way(case: str, tmp_path: Path) -> None:
    grammar, text = UNDECIDED[case]
    (tmp_path / "case.tx").write_text(grammar, encoding="utf-8")
    language = load_language(str(tmp_path / "case.tx"))
    table: list[bytes | None] = [bytes([value]) for value in b"\n /*=<.-1etafrbcdx"]
    parts = [text[at : at + size] for size in (2, 4) for at in range(len(text))]
    parts += ["/.", " /", "//x", "e5", "e+", "x\n", "abx", "a b", "true ", "tru", "< f", "==t"]
    table += [part.encode() for part in dict.fromkeys(parts)] + [None]
    token_filter = TokenFilter(Vocabulary(table, [len(table) - 1]), LayoutPolicy.free())
    for end in range(len(text) + 1):
        state = token_filter.start(Prefix.start(language).advance(text[:end]))
        assert state.guide.alive
        mask = token_filter.allowed(state)
        for token, data in enumerate(table):
            read = token_filter.step(state, token) is not None
            assert mask[token] == read, (text[:end], data)
    assert state.guide.complete


@settings(max_examples=40)
@given(grammars(), st.data())
def test_masks_of_random_grammars(grammar: str, data: st.DataObject) -> None:
    check_random(grammar, data)


@pytest.mark.long
@settings(max_examples=2000)
@given(grammars(), st.data())
def test_masks_of_many_random_grammars(grammar: str, data: st.DataObject) -> None:
    check_random(grammar, data)


def check_random(grammar: str, data: st.DataObject) -> None:
    """Compare a mask behind a beginning of a text of a random grammar, token by token."""
    language = language_of(grammar)
    text = guided(data.draw, language.grammar)
    start = START[data.draw(st.sampled_from(sorted(START)))]
    prefix = start(language).advance(text[: data.draw(st.integers(0, len(text)))])
    assume(prefix.alive)
    words = [
        "".join(word).encode() for size in (1, 2, 3) for word in product("abc,\n# ", repeat=size)
    ]
    token_filter = TokenFilter(Vocabulary([*words, None], [len(words)]), LayoutPolicy.free())
    state = token_filter.start(prefix)
    mask = token_filter.allowed(state)
    dead: set[bytes] = set()  # what no text goes on with, no longer word does
    for token, word in enumerate(words):
        read = word[:-1] not in dead and token_filter.step(state, token) is not None
        assert mask[token] == read, (prefix.text, word)
        if not read:
            dead.add(word)


def test_in_a_guard_a_mask_is_not_asked_token_by_token() -> None:
    """Where a keyword may be a name in an earlier branch, what is open still tells all."""
    prefix = Prefix.start(load_language("statechart"))
    begun = prefix.advance("statechart A event e var x: bool state B { on e [")
    for text in ("t", "tr", "f", "n", "not t", "x /", "x or f"):
        assert begun.advance(text).openings() is not None, text


def test_caps_are_kept_as_they_are_token_by_token(vocabulary: Vocabulary) -> None:
    language = load_language("statechart")
    policy = LayoutPolicy(spaces=4, newlines=1, digits=2, word=5, literal=6, comment=5)
    token_filter = TokenFilter(vocabulary, policy)
    for text in (
        "",
        "statechart Do",
        "statechart Doors\n",
        "statechart A  ",
        "statechart A \r \r",
        "statechart A // c",
        "statechart A // comments",
        "statechart Doorstep",
        'statechart A\nstate B {\n do "open',
        'statechart A\nstate B {\n do "opens it',
    ):
        state = token_filter.start(Prefix.start(language).advance(text))
        liked = {
            token
            for token in range(len(vocabulary))
            if (after := token_filter.step(state, token)) is not None
            and (after.ended or token_filter.within_caps(state, after))
        }
        assert set(np.flatnonzero(token_filter.allowed(state)).tolist()) == liked


def test_beyond_a_cap_tokens_that_do_the_same_are_asked_about_together() -> None:
    """Where every token is in doubt, hundreds of words are no reason to give up the mask."""
    language = load_language("taxonomy")
    words = [word.encode() for a in "abcdefghijklmnopqrstuvwxyz" for word in (f" {a}s", f"{a}t")]
    table: list[bytes | None] = [bytes([value]) for value in range(256)]
    table += [word + bytes([last]) for word in words for last in b"abcdefghij "] + [None]
    token_filter = TokenFilter(Vocabulary(table, [len(table) - 1]), LayoutPolicy(literal=20))
    state = token_filter.start(Prefix.start(language).advance("So it" + " is said" * 4))
    assert state.layout.slack(state.guide) < 0
    kinds = token_filter.kinds(state)
    assert kinds is not None
    within = token_filter.capped(state, kinds)
    assert within is not None
    for token in np.flatnonzero(kinds.of >= 0).tolist():
        after = token_filter.step(state, token)
        assert after is not None
        assert within[token] == token_filter.within_caps(state, after), table[token]
