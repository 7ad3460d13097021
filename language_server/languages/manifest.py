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

[files]                             # optional: which language has files that several claim
"*.dsl" = "door"
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from language_server.languages.compiler import Compiler
from language_server.languages.error import LanguageError
from language_server.languages.grammar_file import read_text
from language_server.languages.language import Definition
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
}


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
    for entry in _list(content.get("language", []), path):
        definition = _definition(entry, path, text)
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
    )
    return with_compiler(definition, entry.get("compiler", ()))


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


def _place(text: str, word: str) -> tuple[int | None, int | None]:
    for number, row in enumerate(text.splitlines(), 1):
        if word in row:
            return number, row.index(word) + 1
    return None, None
