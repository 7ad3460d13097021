"""What the model reads before it writes: a task, a few examples, the description.

The examples are the nearest ones to the description (BM25 over their descriptions), the nearest
last, as many as fit into a token budget.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from language_server.decoding.language_model import LanguageModel, Message, Prompt

_WORD = re.compile(r"[A-Za-z]+|\d+")
_SHOTS = 4
_PROMPT_TOKENS = 1024


class Example(Protocol):
    """A description and the text it describes."""

    @property
    def description(self) -> str: ...

    @property
    def text(self) -> str: ...


def build_prompt(
    model: LanguageModel,
    language: str,
    task: str,
    examples: Sequence[Example],
    description: str,
    answer: str = "",
    max_tokens: int = _PROMPT_TOKENS,
) -> Prompt:
    """A chat of examples that ends with the description.

    Args:
        model: counts the tokens.
        language: the language's name.
        task: what the language tells a model about its text form and its answer; may be empty.
        examples: all examples of the language.
        description: what to write.
        answer: the beginning of the answer that is already there.
        max_tokens: budget of the whole prompt; examples are left out to keep it, nearest last.
    """
    system = Message("system", _system(language, task))
    question = Message("user", description.strip() or f"Write a {language} model.")
    shots = nearest(examples, description, _SHOTS)
    while True:
        turns = [
            turn
            for shot in reversed(shots)
            for turn in (
                Message("user", shot.description.strip()),
                Message("assistant", shot.text.strip("\n")),
            )
        ]
        prompt = Prompt((system, *turns, question), answer)
        if not shots or model.count_tokens(prompt) <= max_tokens:
            return prompt
        shots = shots[:-1]


def nearest(examples: Sequence[Example], description: str, count: int) -> list[Example]:
    """The examples whose descriptions are most like ``description``, nearest first."""
    words = _words(description)
    corpus = [_words(example.description) for example in examples]
    known = {word for document in corpus for word in document}
    if len(examples) <= 1 or not known.intersection(words):
        return list(examples[:count])
    import bm25s  # type: ignore[import-untyped]

    index = bm25s.BM25()
    index.index(corpus, show_progress=False)
    scores = index.get_scores([word for word in words if word in known])
    order = sorted(range(len(examples)), key=lambda place: (-float(scores[place]), place))
    return [examples[place] for place in order[:count]]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _system(language: str, task: str) -> str:
    return task.strip() or (
        f"You write {language} models. Answer with the text of the model only: "
        "no explanation, no code fence."
    )
