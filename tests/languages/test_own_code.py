"""References that only code of the language resolves: the verdict and the links are textX's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textx import metamodel_from_str
from textx.exceptions import TextXError
from textx.scoping import Postponed, providers
from textx.scoping.tools import needs_to_be_resolved

from language_server.features.completion import propose
from language_server.features.definition import definition
from language_server.languages import Language
from language_server.languages.imports import Disk, Library
from language_server.languages.language import Definition, build
from language_server.projection import Prefix

GRAMMAR = """
Model: imports*=Import (packages+=Package | aliases+=Alias | uses+=Use)*;
Import: 'import' importURI=STRING ('as' name=ID)?;
Package: 'package' name=ID '{' (packages+=Package | things+=Thing | aliases+=Alias | uses+=Use)*
         '}';
Alias: 'alias' name=ID '=' of=[Package:FQN];
Thing: 'thing' name=ID;
Use: 'use' targets+=[Thing:FQN][','];
FQN: ID+['.'];
"""


def through_aliases(thing: Any) -> Any:
    """What an alias stands for is a scope as well, as soon as it is known."""
    if type(thing).__name__ != "Alias":
        return []
    return Postponed() if needs_to_be_resolved(thing, "of") else [thing.of]


def last_of_name(thing: Any, attribute: Any, reference: Any) -> Any:
    """The last object of a name around the reference, whatever its qualifiers say."""
    word, found = reference.obj_name.split(".")[-1], None
    while hasattr(thing, "parent"):
        thing = thing.parent
        parts = getattr(thing, "packages", []) + getattr(thing, "things", [])
        fitting = [each for each in parts if type(each) is attribute.cls and each.name == word]
        found = found or (fitting[-1] if fitting else None)
    return found


class OuterFirst(providers.FQN):  # type: ignore[misc]
    """Looks from the root before it looks around the reference."""

    def __call__(self, thing: Any, attribute: Any, reference: Any) -> Any:
        root = thing
        while hasattr(root, "parent"):
            root = root.parent
        found = super().__call__(root, attribute, reference)
        return found or super().__call__(thing, attribute, reference)


LANGUAGES: dict[str, Callable[[], dict[str, Any]]] = {
    "redirected": lambda: {"*.*": providers.FQN(through_aliases)},
    "a function": lambda: {"*.*": last_of_name},
    "a class": lambda: {"*.*": OuterFirst()},
    "of each class": lambda: {"*.*": providers.PlainName(multi_metamodel_support=False)},
    "one of two": lambda: {"*.*": providers.FQN(), "Use.targets": last_of_name},
    "redirected behind imports": lambda: {
        "*.*": providers.FQNImportURI(importAs=True, scope_redirection_logic=through_aliases)
    },
    "named imports": lambda: {
        "*.*": providers.FQNImportURI(
            importAs=True, importURI_to_scope_name=lambda one: one.importURI.split(".")[0]
        )
    },
}
LIB = "package p { thing a package q { thing b } } alias k = p.q"
CASES = [
    ("redirected", "package p { thing a } alias k = p use k.a", {}),
    ("redirected", "alias j = k alias k = p package p { thing a } use j.a, k.a", {}),
    ("redirected", "alias k = k use k.a", {}),
    ("redirected", "package p { thing a } alias k = p use k.b", {}),
    ("a function", "package p { thing a thing a use x.a }", {}),
    ("a function", "package p { use zz }", {}),
    ("a class", "package p { thing a package p { thing a use p.a } }", {}),
    ("of each class", "package p { thing a thing b thing a } use a, b, a", {}),
    ("one of two", "package p { thing a } alias k = p package p { thing a use a }", {}),
    ("one of two", "package p { thing a } alias k = q use p.a", {}),
    ("redirected behind imports", "import 'lib.own' as l use l.p.a, l.k.b", {"lib.own": LIB}),
    ("redirected behind imports", "import 'lib.own' alias m = p use m.q.b", {"lib.own": LIB}),
    ("redirected behind imports", "import 'none.own' use p.a", {}),
    ("named imports", "import 'lib.own' use lib.p.a", {"lib.own": LIB}),
    ("named imports", "import 'lib.own' use p.a", {"lib.own": LIB}),
    ("named imports", "import 'lib.own' use lib.p.zz", {"lib.own": LIB}),
]


def language_of(name: str) -> Language:
    metamodel = metamodel_from_str(GRAMMAR, textx_tools_support=True)
    metamodel.register_scope_providers(LANGUAGES[name]())
    return build(Definition(name), metamodel)


def by_textx(language: Language, text: str, path: Path | None) -> dict[int, tuple[str, int]] | None:
    """Where the target of each reference is declared, as textX records it; None if it refuses."""
    try:
        model = language.metamodel.model_from_str(text, file_name=str(path) if path else None)
    except (TextXError, OSError, RecursionError):
        return None
    found = {}
    for each in getattr(model, "_pos_crossref_list", ()):  # an empty text is a string
        file = Path(each.def_file_name or "")
        source = text if not each.def_file_name or file == path else file.read_text()
        name = re.compile(r"\w+\s+").match(source, each.def_pos_start)
        assert name is not None
        found[each.ref_pos_start] = (str(file) if source is not text else "", name.end())
    return found


def check(language: Language, text: str, path: Path | None = None) -> bool:
    """Verdict, links and completeness of a text are textX's; whether it loads."""
    expected = by_textx(language, text, path)
    analysis = language.analyse(text, path)
    errors = [found for found in analysis.diagnostics if found.severity == "error"]
    assert (errors == []) == (expected is not None), (text, errors)
    if expected:
        links = [*analysis.evaluation.model.links, *analysis.targets]
        assert {each.start: (each.path, each.name_start) for each in links} == expected, text
    if path is None:
        assert Prefix.start(language).advance(text).complete == (expected is not None), text
    return expected is not None


@pytest.mark.parametrize(("name", "text", "files"), CASES)
def test_cases_are_judged_and_linked_as_by_textx(
    tmp_path: Path, name: str, text: str, files: dict[str, str]
) -> None:
    for file, content in files.items():
        (tmp_path / file).write_text(content)
    language = language_of(name)
    check(language, text, tmp_path / "main.own" if language.links.imports else None)


def some_text(random: Random) -> str:
    """Packages, things, aliases and uses, nested; the references mostly lead somewhere."""

    def name() -> str:
        return random.choice("pqab")

    def path() -> str:
        return ".".join(name() for _ in range(random.choice((1, 1, 2))))

    def item(depth: int) -> str:
        match random.randrange(8 if depth < 3 else 5):
            case 0 | 1 | 2:
                return f"thing {random.choice('ab')}"
            case 3:
                return f"use {path()}"
            case 4:
                return f"alias {random.choice('pq')} = {random.choice('pq')}"
        inner = " ".join(item(depth + 1) for _ in range(random.randrange(4)))
        return f"package {random.choice('pq')} {{ {inner} }}"

    items = (item(0) for _ in range(random.randrange(1, 6)))
    return " ".join(each for each in items if not each.startswith("thing"))


@pytest.mark.parametrize("name", [name for name in LANGUAGES if "imports" not in name])
def test_random_texts_are_judged_and_linked_as_by_textx(name: str) -> None:
    language = language_of(name)
    seen = {True: 0, False: 0}

    @settings(max_examples=60, deadline=None, database=None)
    @given(st.randoms(use_true_random=False))
    def run(random: Random) -> None:
        seen[check(language, some_text(random))] += 1

    run()
    assert min(seen.values()) >= 5, seen


def test_what_may_be_meant_is_offered_by_its_class() -> None:
    language = language_of("redirected")
    text = "package p { thing a } package q { thing b } alias k = p use "
    proposals = propose(language, Prefix.start(language).advance(text), "")
    offered = {each.text for each in proposals if each.kind == "reference"}
    assert offered == {"a", "b"}


def test_a_witness_is_what_the_code_accepts() -> None:
    language = language_of("a function")
    text = "package p { package q { thing a } thing b use "
    verdict = Prefix.start(language).advance(text).completable()
    assert verdict.answer == "yes"
    assert by_textx(language, text + (verdict.witness or ""), None) is not None


def test_go_to_definition_leads_where_the_code_leads(tmp_path: Path) -> None:
    (tmp_path / "lib.own").write_text(LIB)
    language, text = language_of("named imports"), "import 'lib.own' use lib.p.q.b"
    path = tmp_path / "main.own"
    found = definition(language, text, language.analyse(text, path), len(text), path)
    assert found is not None
    assert (found.path, found.start) == (tmp_path / "lib.own", LIB.index("b }"))


def test_nothing_is_said_where_a_neighbour_is_not_saved(tmp_path: Path) -> None:
    """Textx would read what is on the disk, not what is open in an editor."""

    class Editor(Disk):
        def text(self, path: str) -> str | None:
            return "package p { thing new }" if path.endswith("lib.own") else super().text(path)

    (tmp_path / "lib.own").write_text(LIB)
    path = tmp_path / "main.own"
    language = language_of("named imports").at(path, Library(Editor()))
    assert language.analyse("import 'lib.own' use lib.p.new", path).diagnostics == ()


def test_rules_of_one_name_in_two_grammars_are_told_apart_by_textx(tmp_path: Path) -> None:
    (tmp_path / "main.tx").write_text(
        "import other\nModel: ds*=D us*=U; D: 'd' name=ID ('=' r=[D])?;"
    )
    (tmp_path / "other.tx").write_text("U: 'u' name=ID '=' r=[D] ('{' ds*=D '}')?; D: 'o' name=ID;")
    language = build(Definition("twins", grammar=tmp_path / "main.tx"))
    assert [each for each in language.doubts if "called 'D' as well" in str(each)]
    texts = ("d a d b = a", "d a u b = a", "u b = a { o a }", "d a u b = a { o a }", "d b = a")
    assert [check(language, text) for text in texts] == [True, False, True, True, False]
