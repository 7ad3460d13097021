"""The embedded SmolLM2 through transformers."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from language_server.decoding import (
    LanguageModel,
    Limits,
    Message,
    ModelError,
    Prompt,
    generate_with,
    load_model,
)
from language_server.decoding.generation import Event
from language_server.decoding.language_model import Cancelled
from tests.decoding.guides import BracketGuide

PROMPT = Prompt((Message("user", "Write nested brackets with words in them."),))


@pytest.mark.model
def test_rewinding_equals_a_fresh_replay(smollm2: LanguageModel) -> None:
    rng = random.Random(1)
    context = smollm2.start(PROMPT)
    kept: list[int] = []
    for _ in range(6):
        if kept and rng.random() < 0.4:
            count = rng.randint(1, len(kept))
            context.rewind(count)
            kept = kept[: len(kept) - count]
        else:
            added = [rng.randrange(100, 40000) for _ in range(rng.randint(1, 5))]
            context.append(added)
            kept += added
        logits = context.logits()
        other = smollm2.start(Prompt((Message("user", "Something else."),)))
        other.logits()
        fresh = smollm2.start(PROMPT)
        fresh.append(kept)
        # Prefill and single steps sum in different orders.
        assert np.abs(logits - fresh.logits()).max() < 0.05


@pytest.mark.model
def test_d3_vocabulary_is_byte_exact(smollm2: LanguageModel) -> None:
    vocabulary = smollm2.vocabulary
    for text in ("état 😀 日本\n\t<|im_end|>", "a1234 b", "  x\r\n"):
        assert vocabulary.decode(vocabulary.encode(text)) == text.encode()
    covered = {data for data in vocabulary.token_bytes if data and len(data) == 1}
    # Some control characters are not in this vocabulary.
    assert all(bytes([value]) in covered for value in (0x09, 0x0A, *range(0x20, 0x7F)))


@pytest.mark.model
def test_a_beginning_the_vocabulary_cannot_spell_is_read_all_the_same(
    smollm2: LanguageModel,
) -> None:
    missing = next(
        value for value in range(0x20) if bytes([value]) not in smollm2.vocabulary.token_bytes
    )
    context = smollm2.start(Prompt(PROMPT.messages, answer=f"a{chr(missing)}b"))
    assert np.isfinite(context.logits()).all()


@pytest.mark.model
def test_digits_are_spelt_one_by_one(smollm2: LanguageModel) -> None:
    tokens = smollm2.vocabulary.encode("2024")
    assert [smollm2.vocabulary.token_bytes[token] for token in tokens] == [b"2", b"0", b"2", b"4"]


@pytest.mark.model
def test_d9_end_of_turn_and_end_of_text_both_end(smollm2: LanguageModel) -> None:
    assert smollm2.vocabulary.end_tokens >= {0, 2}


@pytest.mark.model
def test_it_answers_a_question(smollm2: LanguageModel) -> None:
    context = smollm2.start(Prompt((Message("user", "What is the capital of France?"),)))
    said: list[int] = []
    while len(said) < 12:
        token = int(context.logits().argmax())
        if token in smollm2.vocabulary.end_tokens:
            break
        said.append(token)
        context.append([token])
    assert "Paris" in smollm2.vocabulary.decode(said).decode()


@pytest.mark.model
def test_prefill_is_cancelled_between_pieces(smollm2: LanguageModel) -> None:
    cancel = threading.Event()
    words = " ".join(f"word{n}" for n in range(200))
    context = smollm2.start(Prompt((Message("user", words),)), cancel.is_set)
    threading.Timer(0.2, cancel.set).start()
    started = time.perf_counter()
    with pytest.raises(Cancelled):
        context.logits()
    assert time.perf_counter() - started < 3
    cancel.clear()
    assert np.isfinite(context.logits()).all()


@pytest.mark.model
def test_cancelled_inside_a_piece_the_model_goes_on_as_if_nothing_had_been(
    smollm2: LanguageModel,
) -> None:
    """Some layers have computed the piece then and some have not, the first or a later one."""
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked == last

    words = " ".join(f"word{n}" for n in range(60))
    for last in (20, 50, 75):  # SmolLM2 has 30 layers
        prompt = Prompt((Message("user", f"{last} {words}"),))
        undisturbed = smollm2.start(prompt).logits()
        smollm2.start(PROMPT).logits()
        asked, context = 0, smollm2.start(prompt, stop)
        with pytest.raises(Cancelled):
            context.logits()
        assert np.abs(context.logits() - undisturbed).max() < 0.5
        assert context.logits().argmax() == undisturbed.argmax()


@pytest.mark.model
def test_assured_with_the_embedded_model_is_valid(smollm2: LanguageModel) -> None:
    for seed in range(2):
        events: list[Event] = []
        result = generate_with(
            BracketGuide(5, 3),
            PROMPT,
            smollm2,
            seed=seed,
            limits=Limits(40),
            on_event=events.append,
        )
        assert BracketGuide(5, 3).advance(result.text).complete
        # One call a token, those included that were taken back, and one for each way back.
        asked_for = sum(event.kind in ("token", "witness") for event in events)
        assert result.model_calls <= asked_for + result.backtracks + 1


def test_a_folder_that_is_no_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{", encoding="utf-8")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for spec, message in (
        (str(tmp_path), "it has no config.json"),
        (str(tmp_path / "broken"), "cannot be read"),
        (str(tmp_path / "other"), "names no model_type"),
        (str(tmp_path / "file"), "is a file, not a model folder"),
        (str(tmp_path / "absent"), "there is no model"),
        ("no such model", "there is no model"),
        (f"replay:{tmp_path / 'absent'}", "cannot read the text to replay"),
    ):
        with pytest.raises(ModelError, match=message) as raised:
            load_model(spec)
        assert "\n" not in str(raised.value)
