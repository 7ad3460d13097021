"""Why the collector of cycles may rest: models and answers go with the last reference to them."""

from __future__ import annotations

import gc

from language_server.languages import load_language
from language_server.projection import Prefix


def test_a_growing_text_leaves_no_garbage_that_refers_to_itself() -> None:
    language = load_language("statechart")
    text = min((example.text for example in language.examples), key=len)
    grow(language, text)  # what is made once stays
    gc.collect()
    gc.disable()
    try:
        grow(language, text)
        assert gc.collect() == 0
    finally:
        gc.enable()


def grow(language: object, text: str) -> None:
    prefix = Prefix.start(language)  # type: ignore[arg-type]
    for char in text:
        prefix = prefix.advance(char)
        assert prefix.alive
    assert prefix.complete
