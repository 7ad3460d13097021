"""The workspace manifest ``langwright.toml``: the languages of a workspace.

[[language]]
name = "door"
grammar = "grammars/door.tx"        # paths are relative to the manifest
problem = "grammars/door.problem"   # optional: by default the file of that name beside it
extensions = [".door"]              # optional: by default .<name>
patterns = ["doors/*.txt"]          # optional: globs of further model files
examples = "door-examples"          # optional: by default <grammar>.examples beside it
units = ["Door"]                    # optional: rules whose objects are checked when they end
compiler = ["doorc", "--check"]     # optional: has the last word on finished texts, in a file that
                                    # is named behind it; its exit code 0 means a text is right
given = "doors/house.problem"       # optional: facts that hold of every model from the start

[language.prompt]                   # optional: what a language model is told; see `PromptTemplate`
system = '''
You write {language} models.
{summary}
{grammar}'''                        # the first turn; also {facts}, {aliases}, {examples}
user = "The door: {task}"           # the last turn; also {language}
grammar = true                      # by default if `system` says {grammar}
hide_language = true
aliases = { unless = "!" }          # words a free draft may use for texts of the grammar

[files]                             # optional: which language has files that several claim
"*.dsl" = "door"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from language_server.languages.compiler import Compiler
from language_server.languages.error import LanguageError
from language_server.languages.grammar_file import read_text
from language_server.languages.language import Definition
from language_server.languages.prompt import (
    SYSTEM_PLACEHOLDERS,
    USER_PLACEHOLDERS,
    PromptTemplate,
    placeholders,
    wrong_placeholder,
)
from language_server.languages.shipped import shipped_folders

MANIFEST = "langwright.toml"
_KEYS = {
    "name",
    "grammar",
    "problem",
    "extensions",
    "patterns",
    "examples",
    "units",
    "given",
    "compiler",
    "prompt",
}
_PROMPT_KEYS: dict[str, tuple[type, str]] = {
    "system": (str, "a text"),
    "user": (str, "a text"),
    "grammar": (bool, "true or false"),
    "hide_language": (bool, "true or false"),
    "aliases": (dict, "a table"),
}
_ALIAS = re.compile(r"\w(.*\w)?")


@dataclass(frozen=True)
class Manifest:
    """What a workspace states: definitions by name, and the language of files by glob."""

    definitions: dict[str, Definition] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    path: Path | None = None


def read_manifest(workspace: Path | None) -> Manifest:
    """The manifest of a workspace; empty where it has none.

    Raises:
        LanguageError: it cannot be read, or says something that has no meaning.
    """
    if workspace is None or not (workspace / MANIFEST).is_file():
        return Manifest()
    path = workspace / MANIFEST
    text = read_text(path, "manifest")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LanguageError(f"the manifest is no TOML: {error}", path) from None
    for key in content:
        if key not in ("language", "files"):
            raise LanguageError(
                f"the manifest has no section '{key}'",
                path,
                *_place(text, key),
                "write [[language]] or [files]",
            )
    definitions: dict[str, Definition] = {}
    for number, entry in enumerate(_list(content.get("language", []), path)):
        definition = _definition(entry, path, _from_header(text, "[[language]]", number))
        if definition.name in definitions:
            raise LanguageError(f"language '{definition.name}' stands twice", path)
        definitions[definition.name] = definition
    files = content.get("files", {})
    if not isinstance(files, dict) or not all(isinstance(name, str) for name in files.values()):
        raise LanguageError("[files] gives each glob the name of a language", path)
    return Manifest(definitions, files, path)


def definition_of_grammar(grammar: Path, name: str | None = None) -> Definition:
    """The files that belong to a grammar by their names.

    The problem file lies beside the grammar, or in a folder ``metamodels`` beside the folder
    ``grammars`` of the grammar.
    """
    beside = grammar.with_suffix(".problem")
    candidates = [beside]
    if grammar.parent.name == "grammars":
        candidates.append(grammar.parent.parent / "metamodels" / beside.name)
    if grammar.parent in shipped_folders("grammars"):
        candidates += [folder / beside.name for folder in shipped_folders("metamodels")]
    problem = next((path for path in candidates if path.is_file()), None)
    examples = grammar.with_suffix(".examples")
    return Definition(
        name=name or grammar.stem,
        grammar=grammar,
        problem=problem,
        examples=examples if examples.is_dir() else None,
        extensions=(f".{name or grammar.stem}",),
    )


def _definition(entry: Any, path: Path, text: str) -> Definition:
    if not isinstance(entry, dict) or not isinstance(entry.get("grammar"), str):
        raise LanguageError(
            "a [[language]] needs a grammar",
            path,
            *_place(text, "[[language]]"),
            "grammar = 'X.tx'",
        )
    for key, value in entry.items():
        if key not in _KEYS:
            known = ", ".join(sorted(_KEYS))
            raise LanguageError(
                f"a [[language]] has no '{key}'", path, *_place(text, key), f"known are {known}"
            )
        if key in ("extensions", "patterns", "units", "compiler"):
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                raise LanguageError(f"'{key}' is a list of texts", path, *_place(text, key))
        elif key == "prompt":
            if not isinstance(value, dict):
                raise LanguageError(
                    "what a model is told is a table",
                    path,
                    *_place(text, key),
                    "write [language.prompt]",
                )
        elif not isinstance(value, str):
            raise LanguageError(f"'{key}' is a text", path, *_place(text, key))
    folder = path.parent
    grammar = folder / entry["grammar"]
    found = definition_of_grammar(grammar, entry.get("name"))
    examples = folder / entry["examples"] if "examples" in entry else found.examples
    if examples is not None and not examples.is_dir():
        raise LanguageError(
            f"the folder of examples {examples} does not exist", path, *_place(text, "examples")
        )
    definition = Definition(
        name=found.name,
        grammar=grammar,
        problem=folder / entry["problem"] if "problem" in entry else found.problem,
        examples=examples,
        extensions=tuple(
            ending if ending.startswith(".") else f".{ending}"
            for ending in entry.get("extensions", found.extensions)
        ),
        patterns=tuple(entry.get("patterns", ())),
        units=tuple(entry.get("units", ())),
        given=folder / entry["given"] if "given" in entry else None,
        prompt=_prompt(entry.get("prompt", {}), path, _from_header(text, "[language.prompt]")),
    )
    return with_compiler(definition, entry.get("compiler", ()))


def _prompt(table: dict[str, Any], path: Path, text: str) -> PromptTemplate:
    """The template of a section ``[language.prompt]``."""
    for key, value in table.items():
        if key not in _PROMPT_KEYS:
            known = ", ".join(_PROMPT_KEYS)
            raise LanguageError(
                f"[language.prompt] has no '{key}'", path, *_place(text, key), f"known are {known}"
            )
        kind, told = _PROMPT_KEYS[key]
        if not isinstance(value, kind):
            raise LanguageError(f"'{key}' is {told}", path, *_place(text, key))
    usual = PromptTemplate()
    system, user = table.get("system", usual.system), table.get("user", usual.user)
    for key, template, known_names in (
        ("system", system, SYSTEM_PLACEHOLDERS),
        ("user", user, USER_PLACEHOLDERS),
    ):
        wrong = wrong_placeholder(template, known_names)
        if wrong is not None:
            known = ", ".join(f"{{{name}}}" for name in known_names)
            raise LanguageError(
                f"'{wrong}' is no placeholder of '{key}'",
                path,
                *_place(text, wrong if wrong in text else key),
                f"known are {known}; a brace of the text itself is written twice",
            )
    if "task" not in placeholders(user):
        raise LanguageError(
            "'user' does not say what to write", path, *_place(text, "user"), "add {task}"
        )
    aliases = table.get("aliases", {})
    for alias, own in aliases.items():
        if not isinstance(own, str) or not _ALIAS.fullmatch(alias):
            raise LanguageError(
                "'aliases' gives words the texts of the grammar they stand for",
                path,
                *_place(text, alias or "aliases"),
                "write and = '&&'",
            )
    return PromptTemplate(
        system=system,
        user=user,
        grammar=table.get("grammar", "system" in table and "grammar" in placeholders(system)),
        hides_language=table.get("hide_language", usual.hides_language),
        aliases=tuple(aliases.items()),
    )


def with_compiler(definition: Definition, command: Sequence[str]) -> Definition:
    """A definition with the compiler of that command; an empty command means none."""
    if not command:
        return definition
    suffix = next(iter(definition.extensions), "")
    return replace(definition, compiler=Compiler(tuple(command), suffix))


def _list(entries: Any, path: Path) -> list[Any]:
    if not isinstance(entries, list):
        raise LanguageError("languages are listed as [[language]]", path)
    return entries


def _from_header(text: str, header: str, number: int = 0) -> str:
    """The text with the rows before a header left empty, so that places stay what they are.

    All of it where the header does not stand there that often: TOML has other ways to say it.
    """
    rows = text.splitlines()
    headers = [place for place, row in enumerate(rows) if row.strip().startswith(header)]
    first = headers[number] if number < len(headers) else 0
    return "\n".join([*[""] * first, *rows[first:]])


def _place(text: str, word: str) -> tuple[int | None, int | None]:
    for number, row in enumerate(text.splitlines(), 1):
        if word in row:
            return number, row.index(word) + 1
    return None, None
