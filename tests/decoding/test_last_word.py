"""A language's last word on finished texts: its compiler, and textX's processors."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from textx import TextXSemanticError, metamodel_from_str

from language_server.decoding import Event, Generation, RandomModel, ReplayModel, generate
from language_server.languages import Language, load_language
from language_server.languages.language import Definition, build

WORDS = "Model: words+=Word; Word: text=ID;"
#: Compilers that take no text with the word ``bad``: one tells where it stands, one does not, one
#: takes nothing at all.
PLACED = """
import sys
text = open(sys.argv[-1]).read()
if "bad" in text:
    print(f"{sys.argv[-1]}:1:{text.index('bad') + 1}: error: so bad")
    sys.exit(1)
"""
SILENT = """
import sys
sys.exit("bad" in open(sys.argv[-1]).read())
"""
NEVER = "raise SystemExit('error: not today')"


def manifest(folder: Path, program: str) -> Language:
    """Words, and a compiler for them."""
    (folder / "words.tx").write_text(WORDS)
    (folder / "compiler.py").write_text(program)
    command = [sys.executable, str(folder / "compiler.py")]
    (folder / "langwright.toml").write_text(
        f'[[language]]\nname = "words"\ngrammar = "words.tx"\ncompiler = {command}\n'
    )
    return load_language("words", folder)


def processed(name: str) -> Language:
    """Words, of which a processor of textX refuses one."""

    def refuse(word: object) -> None:
        if word.text == "bad":  # type: ignore[attr-defined]
            raise TextXSemanticError("so bad", line=1, col=word._tx_position + 1)  # type: ignore[attr-defined]

    def refuse_model(model: object, metamodel: object) -> None:
        for word in model.words:  # type: ignore[attr-defined]
            refuse(word)

    metamodel = metamodel_from_str(WORDS)
    if name == "object":
        metamodel.register_obj_processors({"Word": refuse})
    else:
        metamodel.register_model_processor(refuse_model)
    return build(Definition("words"), metamodel)


def written(
    language: Language, text: str, strategy: str, events: list[Event] | None = None
) -> Generation:
    hear = events.append if events is not None else None
    return generate(language, "", ReplayModel(text), strategy, max_tokens=40, on_event=hear)


@pytest.fixture(params=["placed", "silent", "object", "model"])
def words(request: pytest.FixtureRequest, tmp_path: Path) -> Language:
    programs = {"placed": PLACED, "silent": SILENT}
    if request.param in programs:
        return manifest(tmp_path, programs[request.param])
    return processed(request.param)


@pytest.mark.parametrize("strategy", ["assured", "cascade"])
def test_what_the_last_word_refuses_is_not_returned(words: Language, strategy: str) -> None:
    events: list[Event] = []
    result = written(words, "good bad", strategy, events)
    assert words.judge(result.text) == ()
    assert (result.complete, result.refusal) == (True, None)
    assert any("bad" in event.detail or "not accept" in event.detail for event in events)
    assert result.refused_draft == ("good bad" if strategy == "cascade" else None)
    accepted = written(words, "all good", strategy)
    assert (accepted.text, accepted.refusal, accepted.refused_draft) == ("all good", None, None)


def test_what_stands_before_the_place_of_a_fault_stays(tmp_path: Path) -> None:
    result = written(manifest(tmp_path, PLACED), "fine and good bad", "assured")
    assert result.text.startswith("fine and good ")
    assert result.tokens["model"] > len("fine and good ")


def test_a_beginning_that_is_given_is_kept(tmp_path: Path) -> None:
    """The fault is told to be in it: it is what follows that makes the word."""
    language = manifest(tmp_path, PLACED)
    result = generate(language, "", ReplayModel("d too"), max_tokens=40, prefix_text="so ba")
    assert result.text.startswith("so ba")
    assert language.judge(result.text) == ()


@pytest.mark.parametrize("strategy", ["assured", "cascade", "mask", "retry"])
def test_where_nothing_passes_the_result_says_so(tmp_path: Path, strategy: str) -> None:
    result = written(manifest(tmp_path, NEVER), "good", strategy)
    assert result.complete is False
    assert "not today" in str(result.refusal)
    assert "not today" in result.to_json()["refusal"]


def test_mask_does_not_go_back_but_tells(tmp_path: Path) -> None:
    result = written(manifest(tmp_path, PLACED), "all bad", "mask")
    assert (result.text, result.complete) == ("all bad", False)
    assert "so bad" in str(result.refusal)


def test_a_grammar_has_no_last_word(tmp_path: Path) -> None:
    result = written(manifest(tmp_path, PLACED), "all bad", "grammar")
    assert (result.text, result.complete, result.refusal) == ("all bad", True, None)


@pytest.mark.parametrize("seed", range(4))
def test_one_word_in_many_is_avoided_by_any_model(tmp_path: Path, seed: int) -> None:
    """A compiler that wants an even number of characters."""
    odd = "import sys\nsys.exit(len(open(sys.argv[-1]).read()) % 2)"
    language = manifest(tmp_path, odd)
    result = generate(language, "", RandomModel(), seed=seed, max_tokens=30)
    assert len(result.text) % 2 == 0
    assert result.complete


def test_a_refused_text_that_was_cancelled_falls_back_on_the_first_completion(
    tmp_path: Path,
) -> None:
    language, cancel = manifest(tmp_path, PLACED), threading.Event()

    def hear(event: Event) -> None:
        if event.text == "d":
            cancel.set()

    result = generate(
        language, "", ReplayModel("a bad and more"), max_tokens=40, cancel=cancel, on_event=hear
    )
    assert result.finish == "cancelled"
    assert language.judge(result.text) == ()
