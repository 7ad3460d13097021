"""Go to definition: from every reference to the name of what textX resolves it to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import textx

from language_server.features import definition as feature
from language_server.features.definition import Definition
from language_server.languages import Language, load_language
from language_server.syntax import Refer

GRAMMAR = """
Model: things*=Thing uses*=Use;
Thing: 'thing' name=ID ('is' parent=[Thing])? ';';
Use: 'use' things+=[Thing][','] ';';
"""


@pytest.fixture
def things(tmp_path: Path) -> Language:
    (tmp_path / "things.tx").write_text(GRAMMAR.replace("parent=", "general="))
    return load_language(str(tmp_path / "things.tx"))


def definition(
    language: Language, text: str, offset: int, path: Path | None = None
) -> Definition | None:
    return feature.definition(language, text, language.analyse(text, path), offset, path)


def references(language: Language, text: str) -> list[Refer]:
    events = language.analyse(text).parse.events()
    return [event for event in events if isinstance(event, Refer)]


def test_every_reference_leads_to_its_name(things: Language) -> None:
    text = "thing a is b; thing  b ; thing c is a; use c, a ,b;"
    model = things.metamodel.model_from_str(text)
    resolved = [model.things[0].general, model.things[2].general, *model.uses[0].things]
    found = references(things, text)
    assert len(found) == len(resolved) == 5
    for reference, target in zip(found, resolved, strict=True):
        name = text.index(target.name, target._tx_position + len("thing"))
        expected = Definition(None, name, name + 1)
        for offset in (reference.start, reference.end):
            assert definition(things, text, offset) == expected


def test_t19_the_name_is_meant_not_the_object(things: Language) -> None:
    text = "thing  a; use a;"
    assert definition(things, text, text.rindex("a")) == Definition(None, 7, 8)


def test_where_there_is_nothing_to_go_to(things: Language) -> None:
    text = "thing a; use a, nobody;"
    assert definition(things, text, text.index("nobody")) is None
    assert definition(things, text, text.index("use")) is None
    assert definition(things, text, text.index("a;")) is None  # a declaration is no reference
    assert definition(things, "", 0) is None
    assert definition(things, "thing ((( use", 9) is None


def test_a_text_with_an_error_elsewhere(things: Language) -> None:
    text = "thing a; thing ; use a;"
    assert definition(things, text, text.rindex("a")) == Definition(None, 6, 7)


def test_a_byte_order_mark_counts(things: Language) -> None:
    text = "\ufeffthing a; use a;"
    assert definition(things, text, text.rindex("a")) == Definition(None, 7, 8)


def test_the_references_of_statecharts_are_those_of_textx() -> None:
    language = load_language("statechart")
    for example in language.examples[:6]:
        text = example.text
        model = language.metamodel.model_from_str(text)
        named = {}
        for thing in textx.get_children(lambda each: hasattr(each, "name"), model):
            named.setdefault((type(thing).__name__, thing.name), thing)
        for reference in references(language, text):
            found = definition(language, text, reference.start)
            assert found is not None, reference
            assert text[found.start : found.end] == reference.name
            target = _of_class(named, reference, language)
            assert target._tx_position <= found.start < target._tx_position_end


def _of_class(named: dict[tuple[str, str], Any], reference: Refer, language: Language) -> Any:
    """The object of the name whose class is the one referred to, or a special case of it."""
    wanted = language.metamodel[reference.target]
    (found,) = {
        id(thing): thing
        for (cls, name), thing in named.items()
        if name == reference.name and textx.textx_isinstance(thing, wanted)
    }.values()
    return found


class TestKeys:
    """Objects that are where they are mentioned: what is told of them is gone to."""

    def test_from_a_mention_to_the_one_that_says_more(self) -> None:
        language = load_language("clevr")
        text = 'graph LR\n1["scene"] --> 2\n2 --> 3["count"]\n2["unique"] --> 3\n'
        told = {2: text.index("2["), 3: text.index("3[")}
        for word, number in (("2\n2", 2), ("2 -->", 2), ("3\n", 3)):
            at = text.index(word)
            assert definition(language, text, at) == Definition(
                None, told[number], told[number] + 1
            )
        for number in told.values():
            assert definition(language, text, number) is None  # there already

    def test_of_labels_that_change_the_last_counts(self) -> None:
        language = load_language("flowchart")
        text = 'graph LR\n1["a"] --> 2\n2 --> 1["b"]\n'
        assert definition(language, text, text.index("1[")) == Definition(
            None, text.index('1["b'), text.index('1["b') + 1
        )

    def test_to_the_first_mention_if_none_says_more(self) -> None:
        language = load_language("flowchart")
        text = "graph LR\n1 --> 2\n2 --> 1\n"
        found = definition(language, text, text.rindex("1"))
        assert found == Definition(None, text.index("1"), text.index("1") + 1)


class TestGrammars:
    def test_from_a_mention_to_the_rule(self) -> None:
        language = load_language("textx")
        text = "M: items+=Item x=[Item|Name];\nItem: 'i' name=Name; Name: ID;\n"
        for word, at in (("Item x", "Item:"), ("Item|", "Item:"), ("Name]", "Name:")):
            found = definition(language, text, text.index(word))
            assert found == Definition(None, text.index(at), text.index(at) + 4)
        assert definition(language, text, text.index("ID")) is None

    def test_to_a_rule_of_an_imported_grammar(self, tmp_path: Path) -> None:
        language = load_language("textx")
        (tmp_path / "parts").mkdir()
        base = tmp_path / "parts" / "base.tx"
        base.write_text("// é\nShape: 'shape' name=Word; Word: ID;\n")
        text = "import parts.base\nM: s=Shape w=[Shape|Word] t=[Shape];\nWord: 'w';\n"
        main = tmp_path / "main.tx"
        for word in ("Shape w", "Shape|", "Shape]"):
            assert definition(language, text, text.index(word), main) == Definition(base, 5, 10)
        # The grammar's own rule is meant before an imported one.
        own = text.index("Word:")
        found = definition(language, text, text.index("Word]"), main)
        assert found == Definition(None, own, own + 4)

    def test_of_rules_with_one_name_the_last_counts(self) -> None:
        text = "M: a=A; A: 'x'; A: 'y';"
        assert definition(load_language("textx"), text, 5) == Definition(None, 16, 17)
