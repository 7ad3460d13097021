"""How a language is told to a language model: the template of the prompt, and what stands in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from string import Formatter

#: What a language is called where its name is hidden.
HIDDEN_NAME = "L"

SYSTEM_PLACEHOLDERS = ("language", "summary", "facts", "grammar", "aliases", "examples")
USER_PLACEHOLDERS = ("language", "task")

# What is told in any case: it stands behind a template that has no place for it.
_ALWAYS_TOLD = ("facts", "grammar", "aliases")
_SYSTEM = """\
You write models in the language {language}.
{summary}
{facts}
{grammar}
{aliases}
Answer with the model alone: no explanation, no code fence."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """What a manifest says in ``[language.prompt]``.

    Attributes:
        system: the first turn, with ``SYSTEM_PLACEHOLDERS`` in braces; where it does not say
            ``{examples}``, they are turns of their own between it and the last one.
        user: the last turn, and the one before the answer of each example, with
            ``USER_PLACEHOLDERS``.
        grammar: whether the grammar is told.
        hides_language: whether the language's name is kept from the model, which may know
            something else, or too little, under it.
        aliases: words that a free draft may use, each with the text of the grammar it stands for.
    """

    system: str = _SYSTEM
    user: str = "{task}"
    grammar: bool = False
    hides_language: bool = False
    aliases: tuple[tuple[str, str], ...] = ()

    def first_turn(self, parts: Mapping[str, str]) -> str:
        """The first turn, with a text for each of ``SYSTEM_PLACEHOLDERS``."""
        named = placeholders(self.system)
        missing = [f"{{{part}}}" for part in _ALWAYS_TOLD if part not in named]
        return _filled("\n".join([self.system, *missing]), parts)

    def question(self, parts: Mapping[str, str]) -> str:
        """A turn of the user, with a text for each of ``USER_PLACEHOLDERS``."""
        return _filled(self.user, parts)


def placeholders(template: str) -> set[str]:
    """The names that stand in braces."""
    return {name for row in template.splitlines() for name in _names(row)}


def wrong_placeholder(template: str, known: Collection[str]) -> str | None:
    """The first text in braces that is none of the placeholders, or a row with half a brace."""
    for row in template.splitlines():
        try:
            pieces = list(Formatter().parse(row))
        except ValueError:
            return row.strip()
        for _, name, form, conversion in pieces:
            if name is not None and (name not in known or form or conversion):
                tail = (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
                return f"{{{name}{tail}}}"
    return None


def without_name(text: str, name: str, keywords: Collection[str]) -> str:
    """A text that calls the language ``HIDDEN_NAME``; where its name is a keyword, it stays."""
    if name.lower() in map(str.lower, keywords):
        return text
    return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", HIDDEN_NAME, text, flags=re.IGNORECASE)


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """The template with its parts; rows of which nothing but empty parts would stand are left out.

    A row without placeholders stays, whatever it says.
    """
    rows = []
    for row in template.splitlines():
        names = list(_names(row))
        if not names or any(parts[name] for name in names):
            rows.append(row.format_map(parts))
    return "\n".join(rows).strip()


def _names(row: str) -> Iterator[str]:
    return (name for _, name, _, _ in Formatter().parse(row) if name is not None)
