"""What the model reads before it writes: what its language tells, a few examples, the description.

The examples are the nearest ones to the description (BM25 over their descriptions), the nearest
last, as many as fit into a token budget.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from language_server.decoding.language_model import LanguageModel, Message, Prompt
from language_server.languages.prompt import placeholders

if TYPE_CHECKING:
    from language_server.languages import Example, Language

_WORD = re.compile(r"[A-Za-z]+|\d+")
_SHOTS = 4
_PROMPT_TOKENS = 1024
_GRAMMAR_TOKENS = 1024
_MORE_RULES = "// (further rules are left out)"


def build_prompt(
    model: LanguageModel,
    language: Language,
    description: str,
    answer: str = "",
    max_tokens: int = _PROMPT_TOKENS,
    grammar_tokens: int = _GRAMMAR_TOKENS,
    aliases: bool = False,
) -> Prompt:
    """A chat that ends with the description, as the language's template says.

    Args:
        model: counts the tokens.
        description: what to write.
        answer: the beginning of the answer that is already there.
        max_tokens: budget of the whole prompt without the grammar; examples are left out to keep
            it, nearest last.
        grammar_tokens: budget of the grammar, where it is told; whole rules are left out to keep
            it, the last first.
        aliases: whether the language's aliases are told: only where what is written need not be
            text of the language as it stands.
    """
    template = language.prompt
    parts = dict(language.told, examples="", grammar="", aliases="")
    if aliases and template.aliases:
        said = ", ".join(f"{alias} for {own}" for alias, own in template.aliases)
        parts["aliases"] = f"You may write {said}."
    if template.grammar:
        parts["grammar"] = _grammar(model, language.grammar_rules, grammar_tokens)
        max_tokens += _size(model, parts["grammar"])
    name = "" if template.hides_language else f"{language.name} "
    task = description.strip() or f"Write a {name}model."
    shots = nearest(language.examples, description, _SHOTS)
    while True:
        prompt = _chat(language, parts, shots, task, answer)
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


def _chat(
    language: Language, parts: dict[str, str], shots: Sequence[Example], task: str, answer: str
) -> Prompt:
    """The turns, with the examples (nearest first) inside the first one or between."""
    template = language.prompt

    def asked(text: str) -> str:
        return template.question({"language": parts["language"], "task": text})

    pairs = [(asked(shot.description.strip()), shot.text.strip("\n")) for shot in reversed(shots)]
    turns: list[Message] = []
    if "examples" in placeholders(template.system):
        parts = dict(parts, examples="\n\n".join("\n".join(pair) for pair in pairs))
    else:
        for question, text in pairs:
            turns += [Message("user", question), Message("assistant", text)]
    first = template.first_turn(parts)
    system = [Message("system", first)] if first else []
    return Prompt((*system, *turns, Message("user", asked(task))), answer)


def _grammar(model: LanguageModel, rules: Sequence[str], max_tokens: int) -> str:
    """As many rules, from the first on, as fit."""

    def told(count: int) -> str:
        left_out = [] if count == len(rules) else [_MORE_RULES]
        return "\n".join(["The grammar, in textX's notation:", *rules[:count], *left_out])

    if not rules or _size(model, told(len(rules))) <= max_tokens:
        return told(len(rules)) if rules else ""
    counts = range(len(rules))
    fitting = bisect_right(counts, max_tokens, key=lambda count: _size(model, told(count)))
    return told(fitting - 1) if fitting > 1 else ""


def _size(model: LanguageModel, text: str) -> int:
    return model.count_tokens(Prompt((Message("user", text),)))
