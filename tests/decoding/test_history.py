"""What is said of a text does not hang on what was asked before: a new process says the same.

Grammars with rules that read white space themselves (``noskipws``), where a text goes another way
behind one more space, and constraints that forbid values.
"""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from language_server.decoding import LayoutPolicy, Session, Vocabulary
from language_server.languages import (
    implied_theory,
    load_grammar,
    load_language,
    write_problem,
)
from language_server.projection import Prefix
from tests.syntax.random_grammars import grammars, guided, language_of

KINDS = """
Model: items+=Item;
Item: 'item' (kind=Kind '!' | raw=Raw) ';';
Kind: 'foo' | 'fox';
Raw[noskipws]: ' ' name=/[a-z]+/;
"""
NO_KINDS = """
enum Kind { foo, fox }
class Model { contains Item[1..*] items }
class Item { Kind[0..1] kind contains Raw[0..1] raw }
class Raw { string[1] name }
error pred isFoo(Item i) <-> kind(i, foo).
error pred isFox(Item i) <-> kind(i, fox).
"""
# The keyword belongs to `Raw` behind one space, and to `kind` behind two.
TWO_WAYS = KINDS.replace("kind=Kind '!' | raw=Raw", "raw=Raw | kind=Kind").replace(
    "/[a-z]+/", "'foo'"
)
NO_RAW = """
enum Kind { foo, fox }
class Model { contains Item[1..*] items }
class Item { Kind[0..1] kind contains Raw[0..1] raw }
class Raw { string[1] name }
error pred isRaw(Item i) <-> raw(i, _).
"""
# Of the grammar: its keywords, what separates them, and tokens in which a terminal ends.
TOKENS = [*"abcfox,;! \n#", " a", "a ", " b", "ab", "  ", "\na", " f", "o!", "o;"]


def forbidding(draw: st.DrawFn, grammar: str) -> str:
    """A metamodel of a grammar that forbids some of the values that it reads."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "random.tx"
        path.write_text(grammar, encoding="utf-8")
        theory = implied_theory(load_grammar(path))
    errors = []
    for feature in theory.features.values():
        value = draw(st.sampled_from(["a", "b", "c", "ab", "bc", "aa", ""]))
        if value and feature.upper == 1 and feature.is_attribute:
            is_flag = feature.target == "boolean"
            condition = f"{feature.name}(x) == {'true' if is_flag else repr(value)}"
            condition = condition.replace("'", '"')
            errors.append(f"error pred no_{feature.name}({feature.owner} x) <-> {condition}.")
    return "\n".join([write_problem(theory, "random"), *errors])


class Process:
    """What a process remembers that has loaded a language: nothing yet."""

    def __init__(self, grammar: str, problem: str) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "language.tx"
            path.write_text(grammar, encoding="utf-8")
            path.with_suffix(".problem").write_text(problem, encoding="utf-8")
            self.language = load_language(str(path))
        self._vocabulary = Vocabulary([t.encode() for t in TOKENS] + [None], [len(TOKENS)])

    def says(self, text: str) -> dict[str, Any]:
        """All that is asked of a prefix."""
        prefix = Prefix.start(self.language).advance(text)
        allowed = Session(prefix, self._vocabulary, LayoutPolicy.free()).allowed()
        return {
            "alive": prefix.alive,
            "reasons": prefix.reasons,
            "complete": prefix.complete,
            "moves": [(move.kind, move.insert) for move in prefix.moves()],
            "forced": prefix.forced(),
            "mask": [token for token, fits in zip(TOKENS, allowed[:-1], strict=True) if fits],
            "end": bool(allowed[-1]),
        }


def check(grammar: str, problem: str, texts: list[str], rng: random.Random) -> int:
    """Ask for all beginnings of some texts, in any order; how many are consistent."""
    process = Process(grammar, problem)
    beginnings = list({text[:end]: 0 for text in texts for end in range(len(text) + 1)})
    rng.shuffle(beginnings)
    answers = {text: process.says(text) for text in beginnings}
    for text in rng.sample(beginnings, min(4, len(beginnings))):
        assert answers[text] == Process(grammar, problem).says(text), text
    consistent = [text for text in texts if not process.language.judge(text)]
    for text in consistent:
        for end, character in enumerate(text):
            assert answers[text[:end]]["alive"], (text, end)
            assert character not in TOKENS or character in answers[text[:end]]["mask"], (text, end)
        assert answers[text]["complete"] and answers[text]["end"], text
    return len(consistent)


def check_random(grammar: str, data: st.DataObject) -> None:
    language = language_of(grammar)
    problem = forbidding(data.draw, grammar)
    texts = [guided(data.draw, language.grammar) for _ in range(3)]
    check(grammar, problem, texts, random.Random(0))


@settings(max_examples=12)
@given(grammars(), st.data())
def test_random_grammars(grammar: str, data: st.DataObject) -> None:
    check_random(grammar, data)


@pytest.mark.long
@settings(max_examples=500)
@given(grammars(), st.data())
def test_many_random_grammars(grammar: str, data: st.DataObject) -> None:
    check_random(grammar, data)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("grammar", "problem"), [(KINDS, NO_KINDS), (TWO_WAYS, NO_RAW)], ids=["one way", "two ways"]
)
def test_white_space_of_a_rule_of_its_own(grammar: str, problem: str, seed: int) -> None:
    texts = [
        f"item{white}{word}{end}"
        for white in (" ", "  ", "\n", " \n")
        for word in ("foo", "fox", "fo")
        for end in ("!;", ";", " !;")
    ]
    assert check(grammar, problem, texts, random.Random(seed)) > 1


def test_a_keyword_of_another_reading_saves_none() -> None:
    """Behind one space every keyword of `kind` is forbidden, though the same text is `raw`."""
    process = Process(KINDS, NO_KINDS)
    assert process.says("item ")["moves"] == [("declaration", "a")]
    assert not process.says("item  ")["alive"]
    assert " " not in process.says("item ")["mask"]
