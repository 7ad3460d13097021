"""Moves are read as what they say, judged by all short texts that go on with them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain

import pytest
from textx import metamodel_from_str
from textx.exceptions import TextXError

from language_server.features.completion import propose
from language_server.languages import Language
from language_server.languages.language import Definition, build
from language_server.projection import Effort, Prefix
from language_server.projection.moves import Move
from language_server.syntax import Assign, Refer

#: Grammars whose names and keywords get in each other's way, with the words of their texts.
GRAMMARS = {
    "optional reference": (
        "M: ds*=D rs*=R; D: 'def' name=ID; R: 'ref' (a=[D])? 'to' b=[D];",
        "def ref to a",
    ),
    "guarded names": (
        "M: 'm' ns+=N 'end' ds*=D; N: !'end' r=[D]; D: 'd' name=ID;",
        "m end d a endX",
    ),
    "keyword first": (
        "M: ds*=D 'use' us*=U; D: 'def' name=ID; U: 'stop' n=INT | r=[D] ';';",
        "def use stop ; a 1",
    ),
    "name first": (
        "M: ds*=D 'use' us*=U; D: 'def' name=ID; U: r=[D] ';' | 'stop' n=INT;",
        "def use stop ; a 1",
    ),
    "choice of texts": (
        "M: ds*=D 'use' us*=U; D: 'def' name=ID; U: d=Way r=[D] ';' | r=[D] ';'; Way: 'up' | 'on';",
        "def use up ; a",
    ),
    "flag": (
        "M: ds*=D 'use' us*=U; D: 'def' name=ID; U: r=[D]? final?='final' ';';",
        "def use final ; a",
    ),
    "block": (
        "M: bs*=B; B: 'block' name=ID vs*=V 'end'; V: type=ID name=ID ';';",
        "block end a ;",
    ),
}


@cache
def language(name: str) -> Language:
    return build(Definition(name), metamodel_from_str(GRAMMARS[name][0]))


def continuations(prefix: Prefix, words: list[str], length: int) -> Iterator[Prefix]:
    """The prefix with some more words, as far as the grammar lets it go on."""
    yield prefix
    for word in words if length else ():
        after = prefix.advance(f" {word}")
        if after.state.alive:
            yield from continuations(after, words, length - 1)


def is_said(of: Language, text: str, start: int, move: Move) -> bool:
    """Whether textX loads a text whose word at a place is what a move means."""
    said = None
    for event in of.grammar.parse(text).events():
        if isinstance(event, (Assign, Refer)) and event.start <= start < event.end:
            said = event.feature, isinstance(event, Refer)
    if said != (None if move.feature is None else (move.feature, move.target is not None)):
        return False
    try:
        of.metamodel.model_from_str(text)
    except TextXError:
        return False
    return True


@pytest.mark.parametrize("name", GRAMMARS)
def test_t8_what_is_proposed_is_read_as_what_it_is(name: str) -> None:
    """Of names and keywords alike, wherever the text can be completed with them."""
    of, words = language(name), GRAMMARS[name][1].split()
    seen = 0
    for begun in continuations(Prefix.start(of), words, 3):
        prefix = begun.advance(" ")
        for move in prefix.moves():
            behind = prefix.advance(move.insert)
            verdict = behind.completable(Effort(texts=4, conflicts=20))
            if not move.insert or verdict.answer != "yes":
                continue
            seen += 1
            start = len(behind.text) - len(move.text)
            texts = chain(
                (f"{behind.text}{verdict.witness}",), further(behind, [*words, move.text])
            )
            assert any(is_said(of, text, start, move) for text in texts), (prefix.text, move)
    assert seen > 10


def further(prefix: Prefix, words: list[str]) -> Iterator[str]:
    """Short texts that go on with a prefix and are complete by the grammar."""
    for after in continuations(prefix, words, 4):
        if after.state.finish() is not None:
            yield after.text


@pytest.mark.parametrize("name", GRAMMARS)
def test_t8_new_names_are_no_keywords(name: str) -> None:
    of, words = language(name), GRAMMARS[name][1].split()
    for prefix in continuations(Prefix.start(of), words, 4):
        for move in prefix.moves():
            if move.kind == "declaration" and move.element is None:
                used = prefix.text.split() + words
                assert move.text not in of.grammar.keywords or move.text in used


def test_t8_a_name_is_found_that_is_no_keyword() -> None:
    """The first names that come to mind are keywords here."""
    text = "M: 'm' vs+=V 'x' 'n' ns+=N 'n1'; V: !'x' v=ID; N: !('x' | 'n1' | 'n2') name=ID;"
    of = build(Definition("x"), metamodel_from_str(text))
    for begun in ("m ", "m a x n "):
        verdict = Prefix.start(of).advance(begun).completable()
        assert verdict.witness is not None, begun
        of.metamodel.model_from_str(begun + verdict.witness)


def test_t8_an_item_is_proven_only_as_what_it_is() -> None:
    """What follows 'stop' decides here; as the name it could never be."""
    text = "M: ds*=D 'use' us*=U; D: 'def' name=ID; U: 'stop' ';' | r=[D] ';';"
    of = build(Definition("stop"), metamodel_from_str(text))
    items = propose(of, Prefix.start(of).advance("def stop def a use "), "")
    verdicts = {(item.kind, item.label): item.verdict for item in items}
    assert verdicts["keyword", "stop"] == verdicts["reference", "a"] == "proven"
    assert verdicts.get(("reference", "stop")) != "proven"


def test_white_space_stands_before_a_move_only_where_its_own_rule_skips_it() -> None:
    """Behind "a" it may be the end of the text that skips it, and nothing else."""
    text = "M[noskipws]: items+=Item; Item[noskipws]: name='a' | name='b';"
    of = build(Definition("close"), metamodel_from_str(text))
    begun = Prefix.start(of).advance("a")
    assert [move.insert for move in begun.moves() if move.kind == "keyword"] == ["a", "b"]
    for move in begun.moves():
        of.metamodel.model_from_str(f"a{move.insert}")


@pytest.mark.parametrize(
    "text",
    [
        "M: marks*='-' arrow?='->' name=ID;",
        "M: words*=/[ab]+/ pair?='a b' ';';",
        "M: ('to' | 'total') name=ID;",
    ],
)
def test_no_move_is_what_a_shorter_terminal_takes_the_beginning_of(text: str) -> None:
    """For textX reads greedily, or takes the first that fits, and comes to no longer one."""
    of = build(Definition("greedy"), metamodel_from_str(text))
    for begun in ("", "-", "a ", "to"):
        prefix = Prefix.start(of).advance(begun)
        for move in prefix.moves() if prefix.alive else ():
            assert prefix.advance(move.insert).alive, (begun, move)


STRINGS = {
    "M: t+=T r*=R; T: 't' name=STRING; R: 'r' x=[T|STRING];": (
        "t 'foo' r ",
        "t 'foo' r 'f",
        "t 'foo' r \"fo",
        't "it\'s" r ',
        "t \"it's\" r 'it",
        "t \"it's\" r 'it\\",
    ),
    "M: t+=T 'e' r*=R; T: 't' name=N; R: 'r' x=[T|N]; N: ID | STRING;": (
        "t 'a b' e r ",
        "t 'a b' e r 'a",
        "t a e r ",
        "t a e r '",
    ),
    "M: s*=S 'e' t*=T; T: 't' name=STRING; S: 's' x=[T|STRING];": ("s 'a b' e ", "s 'a b' e t 'a"),
}


@pytest.mark.parametrize(
    ("grammar", "text"), [(grammar, text) for grammar in STRINGS for text in STRINGS[grammar]]
)
def test_names_that_are_strings_stand_in_quotes(grammar: str, text: str) -> None:
    """What is proposed goes on; what completes the text loads in textX."""
    of = build(Definition("strings"), metamodel_from_str(grammar))
    prefix = Prefix.start(of).advance(text)
    assert prefix.moves()
    for move in prefix.moves():
        assert prefix.advance(move.insert).alive, move
    verdict = prefix.completable()
    assert verdict.witness is not None
    of.metamodel.model_from_str(text + verdict.witness)


def test_a_string_that_is_the_only_name_left_is_not_ruled_out() -> None:
    grammar = "M: t+=T 'e' r*=R; T: 't' name=STRING; R: 'r' x=[T|STRING];"
    of = build(Definition("strings"), metamodel_from_str(grammar))
    begun = Prefix.start(of).advance("t 'a\\'b' e r ")
    for spelling in ("'a\\'b'", '"a\'b"', '"a\\\'b"'):
        of.metamodel.model_from_str(begun.text + spelling)
        for cut in range(1, len(spelling) + 1):
            assert begun.advance(spelling[:cut]).alive, spelling[:cut]
    assert not begun.advance("'c'").complete
