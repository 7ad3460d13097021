"""What a model is told: options of ``langwright generate`` over what the manifest says."""

from __future__ import annotations

from pathlib import Path

import pytest

from language_server import decoding
from language_server.decoding import Context, Prompt, ReplayModel
from language_server.decoding.language_model import Stop, go_on

from .conftest import Command

RULE = "Thing: 'thing' name=ID;"


class Listening(ReplayModel):
    """Writes one thing, and keeps what it was told."""

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        self.told = prompt.messages[0].content
        return super().start(prompt, stop, seed)


@pytest.mark.parametrize(
    ("section", "options", "grammar", "name"),
    [
        ("", (), False, True),
        ("", ("--prompt-grammar",), True, True),
        ("", ("--hide-language",), False, False),
        ("", ("--prompt-grammar", "--hide-language"), True, False),
        ("grammar = true\nhide_language = true", (), True, False),
        ("grammar = true", ("--no-prompt-grammar",), False, True),
        ("hide_language = true", ("--name-language",), False, True),
        ("system = '{language} {grammar}'", (), True, True),
        ("system = '{language} {grammar}'\ngrammar = false", (), False, True),
    ],
)
def test_what_is_told(
    langwright: Command,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    section: str,
    options: tuple[str, ...],
    grammar: bool,
    name: bool,
) -> None:
    (here / "toy.tx").write_text(f"// A thing.\n{RULE}\n")
    (here / "langwright.toml").write_text(
        f'[[language]]\nname = "toy"\ngrammar = "toy.tx"\n[language.prompt]\n{section}\n'
    )
    model = Listening("thing lamp")
    monkeypatch.setattr(decoding, "load_model", lambda *_: model)
    outcome = langwright("generate", "a lamp", "-l", "toy", *options)
    assert (outcome.code, outcome.out.strip()) == (0, "thing lamp")
    assert (RULE in model.told) == grammar
    assert ("toy" in model.told) == name


def test_a_wrong_placeholder_is_told_at_its_place(langwright: Command, here: Path) -> None:
    (here / "toy.tx").write_text(RULE)
    (here / "langwright.toml").write_text(
        '[[language]]\nname = "toy"\ngrammar = "toy.tx"\nprompt = { user = "{tusk}" }\n'
    )
    outcome = langwright("generate", "a lamp", "-l", "toy", "--model", "random")
    assert outcome.code == 2
    assert "langwright.toml:4:20: '{tusk}' is no placeholder of 'user'" in outcome.err
