"""The files around a text: which of them textX would read for it, and what they say.

Each file is read by our own parser and kept as long as its text stays the same. Where a text is
found, on disk or in an editor's buffer, is the business of `Files`.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from language_server.languages.wording import syntax_message
from language_server.partial_model import Fault, Import, Scopes, Unit
from language_server.partial_model.ways import Imports

if TYPE_CHECKING:
    from language_server.languages.language import Language

BYTE_ORDER_MARK = "\ufeff"


class Files(Protocol):
    """Where texts are found.

    Attributes:
        root: the folder that globs of a language's own code are relative to.
    """

    @property
    def root(self) -> Path | None: ...

    def text(self, path: str) -> str | None:
        """The text of a file as it stands now; None if there is no such text."""

    def matching(self, pattern: str, recursive: bool, hidden: bool) -> list[str]:
        """The absolute paths that a glob matches.

        Args:
            recursive: whether ``**`` means any number of folders.
            hidden: whether names that begin with a dot are matched by wildcards.
        """

    def language(self, path: str) -> Language | None:
        """The language registered with textX for such a file, if there is one."""


class Disk:
    """Files as they are stored."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root

    def text(self, path: str) -> str | None:
        try:
            return Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def matching(self, pattern: str, recursive: bool, hidden: bool) -> list[str]:
        found = glob.glob(pattern, recursive=recursive, include_hidden=hidden)
        return [os.path.abspath(each) for each in found]

    def language(self, path: str) -> Language | None:
        from language_server.languages.registry import registered_language

        return registered_language(Path(path).name)


class Home(NamedTuple):
    """The file that a text is: where imports are found, and its path if it has one."""

    library: Library
    path: Path | None


class _Read(NamedTuple):
    """A file as it was read: its objects, or what is wrong with it."""

    text: str
    language: Language
    scopes: Scopes | None
    problem: str


class Library:
    """The files read so far, for all texts of a workspace.

    Args:
        files: where texts are found.
    """

    def __init__(self, files: Files) -> None:
        self.files = files
        self._read: dict[str, _Read] = {}

    def read(self, path: str, default: Language) -> _Read:
        """What a file says, in its own language or in that of the text that imports it."""
        text = self.files.text(path)
        language = self.files.language(path) or default
        known = self._read.get(path)
        same = known is not None and known.language.metamodel is language.metamodel
        if known is not None and same and known.text == text:
            return known
        if text is None:
            return _Read("", language, None, "the file cannot be read")
        found = self._read[path] = _parsed(text, language)
        return found


def _parsed(text: str, language: Language) -> _Read:
    body = text.removeprefix(BYTE_ORDER_MARK)
    parse = language.grammar.parse(body)
    for fault in parse.faults:
        line = body.count("\n", 0, fault.start) + 1
        return _Read(text, language, None, f"line {line}: {syntax_message(fault)}")
    scopes = Scopes.of(language.links, parse.events())
    if not scopes.things:
        return _Read(text, language, None, "textX cannot import a file without objects")
    return _Read(text, language, scopes, "")


class Neighbours:
    """The files around one text (see `Surroundings`)."""

    def __init__(self, library: Library, language: Language, path: Path | None) -> None:
        self._library = library
        self._language = language
        self._path = os.path.abspath(path) if path is not None else ""

    def gather(self, scopes: Scopes) -> tuple[tuple[Unit, ...], tuple[Fault, ...]]:
        """The text as the first unit with all files that are read for it, and failed imports."""
        cluster = _Cluster(self._library)
        if not scopes.things:  # textX makes a string of an empty text, and fails to import for it
            nothing = "textX does not load an empty text of a language that reads further files"
            if any(imports.used_by is None for imports in self._language.links.imports):
                cluster.faults.append(Fault("import", 0, 0, "", nothing))
            return (Unit("", scopes),), tuple(cluster.faults)
        main = cluster.add(self._path, self._language, scopes)
        cluster.load(main, None)
        return cluster.units(), tuple(cluster.faults)


@dataclass
class _Member:
    path: str
    language: Language
    scopes: Scopes
    visible: dict[int, None] = field(default_factory=dict)
    loaded: dict[int, list[int]] = field(default_factory=dict)


class _Cluster:
    """Texts in the order in which textX reads them: each one before those that it imports."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._members: list[_Member] = []
        self._numbers: dict[str, int] = {}
        self.faults: list[Fault] = []

    def units(self) -> tuple[Unit, ...]:
        return tuple(
            Unit(
                member.path,
                member.scopes,
                tuple(member.visible),
                {thing: tuple(numbers) for thing, numbers in member.loaded.items()},
            )
            for member in self._members
        )

    def add(self, path: str, language: Language, scopes: Scopes) -> int:
        number = len(self._members)
        self._members.append(_Member(path, language, scopes))
        if path:
            self._numbers[path] = number
        return number

    def load(self, number: int, cause: Import | None) -> None:
        """Read what a text imports.

        Args:
            number: the text.
            cause: the import of the first text that leads here; None in the first text itself.
        """
        member = self._members[number]
        for imports in member.language.links.imports:
            if imports.used_by is not None and not _is_used(imports, member.scopes):
                continue
            if imports.patterns is not None:
                for pattern in imports.patterns:
                    found = self._matching(self._from_root(pattern), imports)
                    self._take(member, None, found, pattern, cause, True)
                member.visible.update(dict.fromkeys(~model for model in imports.models))
                continue
            for one in member.scopes.imports():
                found = self._named(member, one, imports)
                named = bool(member.scopes.name(one.source))
                visible = not (imports.hides_named and named)
                self._take(member, one, found, one.uri, cause or one, visible)

    def _take(
        self,
        member: _Member,
        one: Import | None,
        paths: list[str],
        said: str,
        cause: Import | None,
        visible: bool,
    ) -> None:
        if not paths:
            self._fail(cause, said, f"there is no file '{said}'")
        for path in paths:
            number = self._numbers.get(path)
            if number is None:
                read = self._library.read(path, member.language)
                if read.scopes is None:
                    self._fail(cause, said, f"{path}: {read.problem}")
                    continue
                number = self.add(path, read.language, read.scopes)
                self.load(number, cause)
            if visible:
                member.visible[number] = None
            if one is not None:
                member.loaded.setdefault(one.source, []).append(number)

    def _named(self, member: _Member, one: Import, imports: Imports) -> list[str]:
        """The files that an import names."""
        name = imports.convert(one.uri) if imports.convert is not None else one.uri
        if not member.path:
            return []
        folder = os.path.dirname(member.path)
        if imports.search_path is None:
            return self._matching(os.path.abspath(os.path.join(folder, name)), imports)
        for place in (folder, *imports.search_path):
            path = os.path.abspath(os.path.join(place, name))
            if self._library.files.text(path) is not None:
                return [path]
        return []

    def _matching(self, pattern: str, imports: Imports) -> list[str]:
        return self._library.files.matching(pattern, imports.recursive, imports.hidden)

    def _from_root(self, pattern: str) -> str:
        root = self._library.files.root
        return os.path.join(root, pattern) if root is not None else pattern

    def _fail(self, cause: Import | None, said: str, problem: str) -> None:
        if cause is None:
            self.faults.append(Fault("import", 0, 0, said, problem))
        else:
            self.faults.append(Fault("import", cause.start, cause.end, cause.uri, problem))


def _is_used(imports: Imports, scopes: Scopes) -> bool:
    used: Iterable[tuple[str, str]] = imports.used_by or ()
    return any(("said", *place) in scopes.cells for place in used)
