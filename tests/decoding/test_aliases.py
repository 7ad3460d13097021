"""Operator aliases: readable words in a free draft, the language's own texts in what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from language_server.decoding import Context, Prompt, ReplayModel, generate
from language_server.decoding.aliases import in_own_words
from language_server.decoding.language_model import Stop, go_on
from language_server.languages import Language, load_language
from language_server.projection import Prefix

GRAMMAR = r"""
Model: 'let' name=ID '=' value=Or ';';
Or: operands+=And[/\\\//];
And: operands+=Test[/\/[\\]/];
Test: Order | Value;
Order: left=Value operator=Operator right=Value;
Operator: '<=' | '<';
Value: number=INT | text=STRING | name=ID;
Comment: /%[^\n]*/;
"""
ALIASES = (("and", "/\\"), ("or", "\\/"), ("at most", "<="), ("below", "<"), ("below or at", "<="))


@pytest.fixture(scope="module")
def logic(tmp_path_factory: pytest.TempPathFactory) -> Language:
    folder = tmp_path_factory.mktemp("logic")
    (folder / "logic.tx").write_text(GRAMMAR)
    table = ", ".join(f"'{alias}' = '{own}'" for alias, own in ALIASES)
    (folder / "langwright.toml").write_text(
        f'[[language]]\nname = "logic"\ngrammar = "logic.tx"\n'
        f"[language.prompt]\naliases = {{ {table} }}\n"
    )
    return load_language("logic", folder)


@pytest.mark.parametrize(
    ("draft", "wanted"),
    [
        ("let x = a and b or c;", r"let x = a /\ b \/ c;"),
        ("let x = 1 below or at 2 and 3 below 4;", r"let x = 1 <= 2 /\ 3 < 4;"),
        ("let x = 1 at most 2;", "let x = 1 <= 2;"),
        # Inside strings, comments and names they are what they are; so are names.
        ('let x = "a and b" and c;', r'let x = "a and b" /\ c;'),
        ("let x = a % this and that\nand b;", "let x = a % this and that\n/\\ b;"),
        ("let x = android and order;", r"let x = android /\ order;"),
        ("let or = and and or;", r"let or = and /\ or;"),
        # Text of the language, and what is no text of it either way.
        (r"let x = a /\ b;", r"let x = a /\ b;"),
        ("let x = a and and b;", r"let x = a /\ and b;"),
        ("let x y and b and c;", "let x y and b and c;"),
    ],
)
def test_what_an_alias_stands_for(logic: Language, draft: str, wanted: str) -> None:
    assert in_own_words(draft, ALIASES, Prefix.of_grammar(logic)) == wanted


def test_a_word_that_the_grammar_may_read_as_it_stands_is_left_alone(tmp_path: Path) -> None:
    """Behind a name, `and` may be the next name: what was meant would be a guess."""
    (tmp_path / "names.tx").write_text("Model: (names=ID | pairs=Pair)*; Pair: '&' name=ID;")
    names = Prefix.of_grammar(load_language(str(tmp_path / "names.tx")))
    assert in_own_words("a and b", (("and", "&"),), names) == "a and b"


class Listening(ReplayModel):
    """Keeps what it was told."""

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        self.told = [*getattr(self, "told", []), prompt.messages[0].content]
        return super().start(prompt, stop, seed)


def test_a_draft_with_aliases_is_kept_in_the_languages_own_words(logic: Language) -> None:
    model = Listening("let x = a and b;")
    kept = generate(logic, "", model, "cascade", max_tokens=60)
    assert (kept.text, kept.refused_draft) == ("let x = a /\\ b;", None)
    assert logic.judge(kept.text) == ()
    assert len(model.told) == 1
    assert "You may write and for /\\, or for \\/, at most for <=" in model.told[0]


def test_aliases_behind_a_given_beginning(logic: Language) -> None:
    model = ReplayModel("let x = a and b;")
    kept = generate(logic, "", model, "cascade", prefix_text="let x = a", max_tokens=60)
    assert kept.text == "let x = a /\\ b;"


def test_aliases_behind_a_beginning_that_is_no_text_of_the_language(logic: Language) -> None:
    model = ReplayModel("? a and b;")
    written = generate(logic, "", model, "cascade:free", prefix_text="?", max_tokens=60)
    assert written.text == "? a and b;"


def test_aliases_are_told_for_free_drafts_alone(logic: Language) -> None:
    model = Listening("let x = a and and;;")
    written = generate(logic, "", model, "cascade", max_tokens=60)
    assert written.refused_draft == "let x = a and and;;"
    assert logic.judge(written.text) == ()
    draft, guided = model.told
    assert "You may write" in draft
    assert "You may write" not in guided
    for strategy in ("assured", "mask", "grammar", "free"):
        alone = Listening("let x = a;")
        assert generate(logic, "", alone, strategy, max_tokens=60).text == "let x = a;"
        assert "You may write" not in alone.told[0]
