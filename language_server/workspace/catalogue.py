"""Which language a file has, and the languages that are loaded.

A language is loaded when it is first needed and kept; one that does not load is not tried again. A
catalogue does not notice changes on disk: make a new one when a definition has changed.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath

from language_server.languages import Language, LanguageError, load_language, registry
from language_server.languages.imports import Disk, Files, Library
from language_server.languages.registry import Entry, Registry
from language_server.workspace.documents import Document

logger = logging.getLogger(__name__)


class UnknownLanguage(LanguageError):
    """No known language claims a file."""


class Catalogue:
    """The languages of one workspace folder, or of none.

    Args:
        root: the workspace folder.
        files: where texts that import others find them; by default as they are on disk.
    """

    def __init__(self, root: Path | None, files: Files | None = None) -> None:
        self.root = root
        self._loaded: dict[str, Language | LanguageError] = {}
        self._library = Library(files or Disk(root))
        self._at: dict[tuple[str, Path], Language] = {}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All known languages, by precedence."""
        return self._registry.entries

    def named(self, name: str) -> Language:
        """The language of a name, or of the path of a grammar.

        Raises:
            LanguageError: there is none, or it does not load.
        """
        if name.endswith(".tx") or "/" in name or "\\" in name:
            return load_language(name, self.root)
        return self.load(self._registry.entry(name))

    def for_file(self, path: Path) -> Language:
        """The language of a file, by its name.

        Raises:
            LanguageError: no language claims it, or the one that does cannot be loaded.
        """
        claiming = self._registry.for_file(path)
        if not claiming:
            raise self._unclaimed(path.name)
        return self.at(path, self.load(claiming[0]))

    def at(self, path: Path, language: Language) -> Language:
        """The language for the text of one file, with what that text may import."""
        known = self._at.get((language.name, path))
        if known is None or known.metamodel is not language.metamodel:
            known = self._at[language.name, path] = language.at(path, self._library)
        return known

    def for_document(self, document: Document) -> Language:
        """The language of an open document, by its name, else by what the editor says.

        Raises:
            LanguageError: there is none, or it cannot be loaded.
        """
        claiming = self.claiming(document)
        known = {entry.name.lower(): entry for entry in self.entries}
        entry = claiming[0] if claiming else known.get(document.language_id.lower())
        if entry is None:
            raise self._unclaimed(document.name)
        language = self.load(entry)
        return language if document.path is None else self.at(document.path, language)

    def claiming(self, document: Document) -> tuple[Entry, ...]:
        """The languages that claim a document by its name; of several the first one has it."""
        path = document.path or PurePosixPath(document.name)
        return self._registry.for_file(Path(path)) if document.name else ()

    def load(self, entry: Entry) -> Language:
        """The language of an entry.

        Raises:
            LanguageError: it does not load.
        """
        found = self._loaded.get(entry.name)
        if found is None:
            try:
                found = entry.load()
            except LanguageError as error:
                found = error
            except Exception as error:
                # A language is somebody else's grammar and code; the others must go on working.
                logger.exception("language %s does not load", entry.name)
                found = LanguageError(
                    f"language '{entry.name}' does not load ({type(error).__name__}: {error})",
                    entry.definition.grammar,
                    cure="this is a fault of Langwright; please report it with the grammar",
                )
            self._loaded[entry.name] = found
        if isinstance(found, LanguageError):
            raise found
        return found

    def failures(self) -> tuple[LanguageError, ...]:
        """What is wrong with the manifest, the workspace's languages and installed packages."""
        return (*self._registry.failures, *self._failing())

    def warnings(self) -> tuple[LanguageError, ...]:
        """What users of the workspace's languages will pay for though the languages load."""
        found: list[LanguageError] = []
        for entry in self.entries:
            if entry.origin == "workspace":
                with contextlib.suppress(LanguageError):
                    found += self.load(entry).warnings
        return tuple(found)

    def _failing(self) -> Iterator[LanguageError]:
        for entry in self.entries:
            if entry.failure is not None:
                yield entry.failure
            elif entry.origin == "workspace":
                try:
                    self.load(entry)
                except LanguageError as error:
                    yield error

    def _unclaimed(self, name: str) -> UnknownLanguage:
        endings = sorted(
            {ending for entry in self.entries for ending in entry.definition.extensions}
        )
        return UnknownLanguage(
            f"no known language has files like {name}",
            cure=f"name one with --language; endings that are known: {', '.join(endings)}",
        )

    @cached_property
    def _registry(self) -> Registry:
        return registry(self.root)
