"""Which languages there are: in the workspace's manifest, shipped, registered with textX.

Where two languages have one name, the workspace's wins over the shipped one and that over the
installed one; the same order decides about files that several claim, unless the manifest does.
"""

from __future__ import annotations

import fnmatch
import os
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Literal

from language_server.languages.error import LanguageError
from language_server.languages.installed import Installed, installed_languages
from language_server.languages.language import Definition, Language, build
from language_server.languages.manifest import (
    Manifest,
    definition_of_grammar,
    read_manifest,
    with_compiler,
)
from language_server.languages.shipped import (
    SHIPPED_COMPILERS,
    SHIPPED_EXTENSIONS,
    shipped_grammars,
)

Origin = Literal["workspace", "shipped", "installed"]

#: Set by an editor whose user does not trust the workspace: no program that it names is run then.
UNTRUSTED = "LANGWRIGHT_UNTRUSTED"


@dataclass(frozen=True)
class Entry:
    """A known language, not loaded yet.

    Attributes:
        origin: where it is known from.
        description: one line about it.
        failure: why it is known not to load; None says nothing about its files.
    """

    name: str
    origin: Origin
    definition: Definition
    description: str = ""
    installed: Installed | None = None

    @property
    def failure(self) -> LanguageError | None:
        return self.installed.failure if self.installed is not None else None

    def claims(self, path: Path) -> bool:
        """Whether a file of that name is a model of the language."""
        if path.suffix and path.suffix in self.definition.extensions:
            return True
        return any(_matches(path, pattern) for pattern in self.definition.patterns)

    def load(self) -> Language:
        """The language itself.

        Raises:
            LanguageError: something is wrong with its files or its package.
        """
        if self.installed is None:
            return build(self.definition)
        return build(self.definition, self.installed.metamodel())


@dataclass(frozen=True)
class Registry:
    """The known languages, by precedence.

    Attributes:
        entries: one for each name.
        manifest: what the workspace states.
        failures: what is wrong with the manifest itself, if anything.
    """

    entries: tuple[Entry, ...]
    manifest: Manifest
    failures: tuple[LanguageError, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries)

    def entry(self, name: str) -> Entry:
        """The entry of that name (textX's names know no case).

        Raises:
            LanguageError: no such language is known.
        """
        for entry in self.entries:
            if entry.name == name:
                return entry
        for entry in self.entries:
            if entry.name.lower() == name.lower():
                return entry
        if self.failures:
            raise self.failures[0]
        close = get_close_matches(name, self.names, n=1)
        known = ", ".join(self.names)
        raise LanguageError(
            f"language '{name}' is not known",
            cure=(f"did you mean '{close[0]}'? " if close else "")
            + f"Known are {known}; or give the path of a .tx file",
        )

    def for_file(self, path: Path) -> tuple[Entry, ...]:
        """The languages that claim a file, the one to take first; several mean a conflict."""
        for pattern, name in self.manifest.files.items():
            if _matches(path, pattern):
                return (self.entry(name),)
        return tuple(entry for entry in self.entries if entry.claims(path))


def registry(workspace: Path | None = None) -> Registry:
    """The languages known in a workspace; never raises."""
    failures: list[LanguageError] = []
    try:
        manifest = read_manifest(workspace)
    except LanguageError as error:
        manifest = Manifest()
        failures.append(error)
    entries: dict[str, Entry] = {}
    for name, definition in manifest.definitions.items():
        if UNTRUSTED in os.environ:
            definition = replace(definition, compiler=None)
        entries[name] = Entry(name, "workspace", definition)
    for name, grammar in shipped_grammars().items():
        definition = definition_of_grammar(grammar)
        extensions = SHIPPED_EXTENSIONS.get(name, definition.extensions)
        definition = with_compiler(
            replace(definition, extensions=extensions), SHIPPED_COMPILERS.get(name, ())
        )
        entries.setdefault(name, Entry(name, "shipped", definition, _first_line(grammar)))
    for installed in installed_languages():
        definition = Definition(
            name=installed.name,
            extensions=tuple(p[1:] for p in installed.patterns if _is_ending(p)),
            patterns=tuple(p for p in installed.patterns if not _is_ending(p)),
        )
        entries.setdefault(
            installed.name,
            Entry(installed.name, "installed", definition, installed.description, installed),
        )
    return Registry(tuple(entries.values()), manifest, tuple(failures))


def load_language(name_or_path: str, workspace: Path | None = None) -> Language:
    """A language by its name, or by the path of its grammar.

    Args:
        name_or_path: a known name, or a path that ends in ``.tx``; the problem file and the
            examples of that name are found beside it.
        workspace: the folder whose manifest counts.

    Raises:
        LanguageError: it is not known, or something is wrong with its files.
    """
    if name_or_path.endswith(".tx") or "/" in name_or_path or "\\" in name_or_path:
        path = Path(name_or_path)
        if path.is_file() and path.suffix != ".tx":
            raise LanguageError("a grammar is expected here", path, cure="name a .tx file")
        return build(definition_of_grammar(path))
    return registry(workspace).entry(name_or_path).load()


def registered_language(name: str) -> Language | None:
    """The language that alone is registered with textX for files of that name, if it loads."""
    claiming = [entry for entry in _registered() if entry.claims(Path(name))]
    if len(claiming) != 1:
        return None
    try:
        return _loaded(claiming[0].name)
    except LanguageError:
        return None


@cache
def _registered() -> tuple[Entry, ...]:
    return tuple(entry for entry in registry().entries if entry.origin == "installed")


@cache
def _loaded(name: str) -> Language:
    return next(entry for entry in _registered() if entry.name == name).load()


def _matches(path: Path, pattern: str) -> bool:
    """Whether a glob means a file: by its name, or by the end of its path."""
    return fnmatch.fnmatch(path.name, pattern) or fnmatch.fnmatch(
        f"/{path.as_posix()}", f"*/{pattern}"
    )


def _first_line(grammar: Path) -> str:
    """The first line of the comment a grammar begins with."""
    try:
        with grammar.open(encoding="utf-8-sig") as file:
            row = file.readline()
    except (OSError, UnicodeDecodeError):
        return ""
    return row[2:].strip() if row.startswith("//") else ""


def _is_ending(pattern: str) -> bool:
    return pattern.startswith("*.") and not set(pattern[2:]) & set("*?[")
