"""References that lead into other files, as textX resolves them; unsaved texts win."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from textx import clear_language_registrations, metamodel_from_str, register_language
from textx.scoping import providers

from language_server.languages import Language, load_language
from language_server.languages.imports import Disk, Library
from language_server.languages.language import Definition, build
from language_server.partial_model import Scopes
from language_server.partial_model.resolution import Fault, Resolution
from language_server.projection import Prefix
from language_server.workspace.documents import Document, Documents, uri_of
from language_server.workspace.sources import Sources
from tests.partial_model.textx_links import Links, Refused, by_textx, resolved

PACKAGES = """
Model: imports*=Import packages*=Package uses*=Use;
Import: 'import' importURI=STRING ('as' name=ID)?;
Package: 'package' name=ID '{' (packages+=Package | things+=Thing | uses+=Use)* '}';
Thing: 'thing' name=ID ('is' base=[Thing:FQN])?;
Use: 'use' targets+=[Thing:FQN][','];
FQN: ID+['.'];
"""
EXPRESSIONS = PACKAGES.replace("base=[Thing:FQN]", "base=[Thing:FQN|+m:^packages*.things]").replace(
    "targets+=[Thing:FQN]", "targets+=[Thing:FQN|+mp:packages*.things,+^~packages.things]"
)
EXPRESSIONS = EXPRESSIONS.replace(",+^~packages", ",^~packages")
LANGUAGES: dict[str, tuple[str, Callable[[], Any] | None]] = {
    "plain": (PACKAGES, providers.PlainNameImportURI),
    "plain recursive": (
        PACKAGES,
        lambda: providers.PlainNameImportURI(glob_args={"recursive": True}),
    ),
    "qualified": (PACKAGES, providers.FQNImportURI),
    "qualified as": (PACKAGES, lambda: providers.FQNImportURI(importAs=True)),
    "converted": (
        PACKAGES,
        lambda: providers.FQNImportURI(importURI_converter=lambda uri: f"{uri}.lib"),
    ),
    "expressions": (EXPRESSIONS, None),
}
LIB = "package p { thing a thing b package q { thing c is a } }"
CASES = [
    ("plain", "import 'lib.lib' use a, c", {"lib.lib": LIB}),
    ("plain", "import 'lib.lib' use zz", {"lib.lib": LIB}),
    ("plain", "import 'lib.lib' package m { thing a } use a, b", {"lib.lib": LIB}),
    ("plain", "import 'lib.lib' use a", {"lib.lib": "package p { thing a thing a }"}),
    ("plain", "import 'lib.lib' use b", {"lib.lib": "package p { thing a thing a thing b }"}),
    ("plain", "import 'none.lib' package m { thing a } use a", {}),
    ("plain", "import 'l*.lib' use a, b", {"l1.lib": "package p { thing a }", "l2.lib": LIB}),
    ("plain", "import '**/l.lib' use a", {"l.lib": "package p { }", "x/y/l.lib": LIB}),
    ("plain recursive", "import '**/l.lib' use a", {"l.lib": "package p { }", "x/y/l.lib": LIB}),
    ("plain", "import 'l1.lib' use a", {"l1.lib": "import 'l2.lib' package o {}", "l2.lib": LIB}),
    (
        "plain",
        "import 'x/l1.lib' use b",
        {"x/l1.lib": "import 'l2.lib' package o { use a }", "x/l2.lib": LIB},
    ),
    ("plain", "import 'l1.lib' use a", {"l1.lib": LIB + " use zz"}),
    ("plain", "import 'l1.lib' use a", {"l1.lib": "package { thing a }"}),
    ("plain", "import 'l1.lib' use a", {"l1.lib": ""}),
    ("plain", "import 'main.lib' package m { thing a } use a", {}),
    (
        "plain",
        "import 'l1.lib' package m { thing k } use a",
        {"l1.lib": "import 'main.lib' " + LIB + " use k"},
    ),
    ("qualified", "import 'lib.lib' use p.a, p.q.c", {"lib.lib": LIB}),
    ("qualified", "import 'lib.lib' use a", {"lib.lib": LIB}),
    ("qualified", "import 'lib.lib' package p { thing z use a }", {"lib.lib": LIB}),
    ("qualified", "import 'lib.lib' package p { thing z use p.a, z }", {"lib.lib": LIB}),
    ("qualified", "import 'lib.lib' as l use l.p.a", {"lib.lib": LIB}),
    ("qualified", "import 'lib.lib' as l use p.a", {"lib.lib": LIB}),
    ("qualified as", "import 'lib.lib' as l use l.p.a, l.p.q.c", {"lib.lib": LIB}),
    ("qualified as", "import 'lib.lib' as l use p.a", {"lib.lib": LIB}),
    ("qualified as", "import 'lib.lib' use p.a", {"lib.lib": LIB}),
    (
        "qualified as",
        "import 'l1.lib' as l import 'l2.lib' as k use l.p.a, k.p.a",
        {"l1.lib": LIB, "l2.lib": LIB},
    ),
    ("converted", "import 'lib' use p.a", {"lib.lib": LIB}),
    ("expressions", "import 'lib.lib' use p.a, p.q.c", {"lib.lib": LIB}),
    ("expressions", "import 'lib.lib' package m { thing z is p.a } use m.z", {"lib.lib": LIB}),
    ("expressions", "import 'lib.lib' package m { thing z is p.zz }", {"lib.lib": LIB}),
    ("expressions", "import 'none.lib' package m { thing z }", {}),
    ("expressions", "", {}),
    ("plain", "", {}),
    ("expressions", "import 'none.lib' package m { thing z } use m.z", {}),
    ("expressions", "import 'l1.lib' use p.a", {"l1.lib": "import 'l2.lib'", "l2.lib": LIB}),
    (
        "expressions",
        "import 'l1.lib' use o.k",
        {"l1.lib": "import 'l2.lib' package o { thing k is p.a }", "l2.lib": LIB},
    ),
]


def language_of(name: str) -> Language:
    grammar, provider = LANGUAGES[name]
    metamodel = metamodel_from_str(grammar)
    if provider is not None:
        metamodel.register_scope_providers({"*.*": provider()})
    return build(Definition("test"), metamodel)


def linked(language: Language, text: str, path: Path) -> tuple[Links, list[Fault]]:
    """The links of a text among the files around it, and what is wrong with them."""
    around = language.surroundings(path)
    assert around is not None
    scopes = Scopes.of(language.links, language.grammar.parse(text).events())
    units, failed = around.gather(scopes)
    links, faults = resolved(resolution := Resolution(units), path.name)
    elsewhere = [fault for unit, fault in resolution.faults if unit > 0]
    return links, [*failed, *faults, *elsewhere]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("name", "text", "files"), CASES)
def test_references_into_files_mean_what_textx_says(
    tmp_path: Path, name: str, text: str, files: dict[str, str]
) -> None:
    language = language_of(name)
    main = tmp_path / "main.lib"
    write(tmp_path, {**files, "main.lib": text})
    links, faults = linked(language, text, main)
    analysis = language.analyse(text, main)
    try:
        expected = by_textx(language.metamodel, text, main)
    except Refused as refused:
        assert faults, refused
        assert analysis.diagnostics
        if refused.offset is not None and "main.lib" in str(refused):
            assert refused.offset in {found.start for found in analysis.diagnostics}
    else:
        assert (links, faults) == (expected, [])
        assert analysis.diagnostics == ()


# ---- global repositories -------------------------------------------------------------------------

REPOSITORIES = [
    (providers.FQNGlobalRepo, "use p.a, p.q.c", {"lib/l.lib": LIB}),
    (providers.FQNGlobalRepo, "package p { thing z use p.a }", {"lib/l.lib": LIB}),
    (providers.FQNGlobalRepo, "use p.zz", {"lib/l.lib": LIB}),
    (providers.PlainNameGlobalRepo, "use a, b", {"lib/l.lib": LIB}),
    (providers.PlainNameGlobalRepo, "use zz", {"lib/l.lib": LIB}),
    (providers.PlainNameGlobalRepo, "package m { thing a } use a", {}),
]


@pytest.mark.parametrize(("provider", "text", "files"), REPOSITORIES)
def test_t4_globs_of_a_repository_are_relative_to_the_workspace(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    provider: Any,
    text: str,
    files: dict[str, str],
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    metamodel = metamodel_from_str(PACKAGES)
    metamodel.register_scope_providers({"*.*": provider("lib/*.lib")})
    main = tmp_path / "models" / "main.lib"
    write(tmp_path, {**files, "models/main.lib": text})
    language = build(Definition("test"), metamodel).at(main, Library(Disk(tmp_path)))
    links, faults = linked(language, text, main)
    try:
        expected = by_textx(metamodel, text, main, project_root=str(tmp_path))
    except Refused:
        assert faults
        assert language.analyse(text, main).diagnostics
        assert language.judge(text, main)
    else:
        assert (links, faults) == (expected, [])
        assert language.analyse(text, main).diagnostics == ()
        assert language.judge(text, main) == ()


# ---- several languages ---------------------------------------------------------------------------


class OfKind(Disk):
    """Files whose ending says which of some languages they are in."""

    def __init__(self, languages: dict[str, Language]) -> None:
        super().__init__()
        self._languages = languages

    def language(self, path: str) -> Language | None:
        return self._languages.get(Path(path).suffix)


def test_a_model_refers_to_a_model_of_another_language(tmp_path: Path) -> None:
    types_metamodel = metamodel_from_str(
        "Types: types*=Type; Type: 'type' name=ID ('is' is=[Type])?;"
    )
    clear_language_registrations()
    try:
        register_language("lk-types", "*.lktypes", metamodel=types_metamodel)
        data_metamodel = metamodel_from_str(
            "reference lk-types as t\n"
            "Data: imports*=Import fields*=Field;"
            "Import: 'import' importURI=STRING;"
            "Field: 'field' name=ID ':' type=[t.Type];"
        )
        for metamodel in (types_metamodel, data_metamodel):
            metamodel.register_scope_providers({"*.*": providers.PlainNameImportURI()})
        types = build(Definition("types"), types_metamodel)
        data = build(Definition("data"), data_metamodel)
        main = tmp_path / "main.lkdata"
        write(tmp_path, {"a.lktypes": "type int type number is int"})
        for text in (
            "import 'a.lktypes' field f : int field g : number",
            "import 'a.lktypes' field f : text",
            "field f : int",
        ):
            here = data.at(main, Library(OfKind({".lktypes": types})))
            links, faults = linked(here, text, main)
            try:
                expected = by_textx(data_metamodel, text, main)
            except Refused as refused:
                assert refused.offset in {fault.start for fault in faults}
            else:
                assert (links, faults) == (expected, [])
                assert here.analyse(text).diagnostics == ()
    finally:
        clear_language_registrations()


# ---- files that change ---------------------------------------------------------------------------


def test_t23_a_name_must_be_unique_in_the_file_that_is_searched(tmp_path: Path) -> None:
    write(tmp_path, {"lib.lib": "package p { thing a thing a }"})
    language, main = language_of("plain"), tmp_path / "main.lib"
    assert language.analyse("import 'lib.lib' package m { thing a } use a", main).diagnostics == ()
    text = "import 'lib.lib' use a"
    (found,) = language.analyse(text, main).diagnostics
    assert (found.code, text[found.start : found.end]) == ("ambiguous-reference", "a")


def test_E3_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    main, lib = tmp_path / "main.lib", tmp_path / "lib.lib"
    language = language_of("qualified").at(main, Library(Disk()))
    text = "import 'lib.lib' use p.a"
    write(tmp_path, {"lib.lib": LIB})
    assert language.analyse(text).diagnostics == ()
    lib.write_text("package p { thing other }", encoding="utf-8")
    (found,) = language.analyse(text).diagnostics
    assert text[found.start : found.end] == "p.a"
    lib.unlink()
    assert {found.code for found in language.analyse(text).diagnostics} == {
        "unresolved-import",
        "unresolved-reference",
    }


def test_a_file_that_stays_the_same_is_not_read_again(tmp_path: Path) -> None:
    main = tmp_path / "main.lib"
    library = Library(Disk())
    language = language_of("qualified").at(main, library)
    write(tmp_path, {"lib.lib": LIB})
    path = str(tmp_path / "lib.lib")
    language.analyse("import 'lib.lib' use p.a")
    before = library.read(path, language)
    language.analyse("import 'lib.lib' use p.b")
    assert library.read(path, language) is before


def test_E4_an_unsaved_text_counts_and_nothing_is_written(tmp_path: Path) -> None:
    main = tmp_path / "main.lib"
    documents = Documents()
    write(tmp_path, {"lib.lib": "package p { }"})
    language = language_of("qualified").at(main, Library(Sources(tmp_path, documents)))
    text = "import 'lib.lib' use p.a"
    assert [found.code for found in language.analyse(text).diagnostics] == ["unresolved-reference"]
    documents.open(Document(uri_of(tmp_path / "lib.lib"), 1, LIB))
    assert language.analyse(text).diagnostics == ()
    documents.close(uri_of(tmp_path / "lib.lib"))
    assert [found.code for found in language.analyse(text).diagnostics] == ["unresolved-reference"]
    assert [path.name for path in tmp_path.iterdir()] == ["lib.lib"]


@pytest.mark.parametrize("uri", ["none.lib", "none*.lib", "."])
def test_E5_an_import_that_finds_no_file_is_shown_where_it_stands(tmp_path: Path, uri: str) -> None:
    text = f"import '{uri}' package m {{ thing a }}"
    (found,) = language_of("qualified").analyse(text, tmp_path / "main.lib").diagnostics
    assert (found.code, text[found.start : found.end]) == ("unresolved-import", f"'{uri}'")


def test_E5_what_is_wrong_in_an_imported_file_is_shown_at_the_import(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "l1.lib": "import 'l2.lib' package o { }",
            "l2.lib": "package p {\n thing }",
            "l3.lib": "use x",
        },
    )
    language = language_of("qualified")
    text = "import 'l1.lib' package m { }"
    (found,) = language.analyse(text, tmp_path / "main.lib").diagnostics
    assert (found.code, text[found.start : found.end]) == ("unresolved-import", "'l1.lib'")
    assert "l2.lib: line 2" in found.message
    (found,) = language.analyse("import 'l3.lib'", tmp_path / "main.lib").diagnostics
    assert "l3.lib: 'x' is not known there" in found.message


def test_E5_a_language_whose_imports_load_nothing_is_doubtful(tmp_path: Path) -> None:
    (tmp_path / "plain.tx").write_text(PACKAGES, encoding="utf-8")
    (tmp_path / "expressions.tx").write_text(EXPRESSIONS, encoding="utf-8")
    (doubt,) = load_language(str(tmp_path / "plain.tx")).doubts
    assert "imports nothing" in str(doubt)
    assert doubt.line == PACKAGES[: PACKAGES.index("importURI")].count("\n") + 1
    assert load_language(str(tmp_path / "expressions.tx")).doubts == ()


def test_what_textx_says_about_another_file_is_not_placed_in_this_one(tmp_path: Path) -> None:
    write(tmp_path, {"lib.lib": "package p {\n thing a is zz }"})
    language, text = language_of("qualified"), "import 'lib.lib' package m { }"
    (found,) = language.judge(text, tmp_path / "main.lib")
    assert (found.code, found.start) == ("textx-import", 0)
    assert "lib.lib:2:13" in found.message
    (found,) = language.judge("import 'none.lib' package m { }", tmp_path / "main.lib")
    assert (found.code, "none.lib" in found.message) == ("textx-import", True)


def test_a_prefix_in_a_file_sees_what_it_imports(tmp_path: Path) -> None:
    main = tmp_path / "main.lib"
    write(tmp_path, {"lib.lib": LIB})
    language = language_of("qualified").at(main, Library(Disk()))
    assert Prefix.start(language).advance("import 'lib.lib' use p.a").complete
    assert not Prefix.start(language).advance("import 'lib.lib' use p.zz").complete
    nowhere = Prefix.start(language_of("qualified")).advance("import 'lib.lib' use p.a")
    assert not nowhere.complete  # without a file textX cannot import anything


# ---- random files --------------------------------------------------------------------------------


def random_file(random: Random, names: str) -> str:
    """A text that imports some of the files ``f0.lib`` … and refers to what may be there."""

    def path() -> str:
        return ".".join(random.choice(names) for _ in range(random.choice([1, 2, 2, 3])))

    parts = []
    for number in random.sample(range(3), random.randint(0, 2)):
        alias = f" as {random.choice(names)}" if random.random() < 0.3 else ""
        parts.append(f"import 'f{number}.lib'{alias}")
    for _ in range(random.randint(1, 2)):
        things = [f"thing {random.choice(names)}" for _ in range(random.randint(0, 2))]
        if random.random() < 0.3:
            things.append(f"thing {random.choice(names)} is {path()}")
        parts.append(f"package {random.choice(names)} {{ {' '.join(things)} }}")
    if random.random() < 0.4:
        parts.append(f"use {path()}")
    return " ".join(parts)


def compare_files(language: Language, folder: Path, random: Random) -> bool:
    """Whether some random files load; they must be linked as textX links them if they do."""
    files = {f"f{number}.lib": random_file(random, "abc") for number in range(3)}
    write(folder, files)
    text, main = files["f0.lib"], folder / "f0.lib"
    links, faults = linked(language, text, main)
    diagnostics = language.analyse(text, main).diagnostics
    try:
        expected = by_textx(language.metamodel, text, main)
    except Refused as refused:
        assert faults and diagnostics, (files, refused)
        return False
    assert faults == [], files
    assert diagnostics == (), files
    assert links == expected, files
    return True


@pytest.mark.parametrize("name", ["plain", "qualified", "qualified as", "expressions"])
def test_random_files_link_as_by_textx(tmp_path: Path, name: str) -> None:
    """Files that import each other, in circles too."""
    language = language_of(name)
    loaded = [compare_files(language, tmp_path, Random(seed)) for seed in range(40)]
    assert any(loaded)
    assert not all(loaded)
