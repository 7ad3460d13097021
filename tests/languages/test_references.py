"""How textX resolves references, read off a metamodel; what cannot be read off is left to textX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textx import metamodel_from_str
from textx.scoping import providers

from language_server.languages.language import Definition, build
from language_server.languages.references import link_rules
from language_server.partial_model.ways import (
    OWN,
    PLAIN,
    Expression,
    Plain,
    Qualified,
    Relative,
    Way,
)

GRAMMAR = """
Model: imports*=Import packages*=Package uses*=Use;
Import: 'import' importURI=STRING;
Package: 'package' name=ID '{' things*=Thing '}';
Thing: 'thing' name=ID;
Use: 'use' target=[Thing:FQN];
FQN[split='/']: ID+['/'];
"""


class OwnFQN(providers.FQN):  # type: ignore[misc]
    """A provider of a language's own, which may do anything."""


def way(provider: Any) -> Way:
    metamodel = metamodel_from_str(GRAMMAR)
    if provider is not None:
        metamodel.register_scope_providers({"Use.target": provider})
    return link_rules(metamodel).way("Use", "target")


READ: list[tuple[Any, Way]] = [
    (None, PLAIN),
    (providers.PlainName(), PLAIN),
    (providers.FQN(), Way(Qualified())),
    (providers.PlainNameImportURI(), Way(Plain(), elsewhere=True)),
    (providers.FQNImportURI(), Way(Qualified(), elsewhere=True)),
    (providers.FQNImportURI(importAs=True), Way(Qualified(True), elsewhere=True)),
    (providers.ImportURI(providers.FQN()), Way(Qualified(), elsewhere=True)),
    (
        providers.FQNImportURI(glob_args={"root_dir": "x", "include_hidden": True}),
        Way(Qualified(), elsewhere=True),
    ),
    (providers.PlainNameGlobalRepo("*.x"), Way(Plain(), elsewhere=True)),
    (providers.FQNGlobalRepo("*.x"), Way(Qualified(), elsewhere=True)),
    (providers.RelativeName("a.b"), Way(Relative(("a", "b"), ()))),
    (
        providers.ExtRelativeName("a.b", "c", "d"),
        Way(Relative(("a", "b"), ("c",), ("d",))),
    ),
]


@pytest.mark.parametrize(("provider", "expected"), READ)
def test_providers_of_textx_are_read(provider: Any, expected: Way) -> None:
    assert way(provider) == expected


@pytest.mark.parametrize(
    ("expression", "across", "by_path"),
    [
        ("packages.things", False, False),
        ("+m:packages.things", True, False),
        ("+mp:packages.things", True, True),
    ],
)
def test_expressions_are_read(expression: str, across: bool, by_path: bool) -> None:
    scope = way(expression).scope
    assert isinstance(scope, Expression)
    assert (scope.split, scope.across_files, scope.by_path) == ("/", across, by_path)


def given_file() -> providers.FQNGlobalRepo:
    found = providers.FQNGlobalRepo()
    metamodel = metamodel_from_str(GRAMMAR)
    found.add_model(metamodel.model_from_str("package p { thing t }", file_name="t.x"))
    return found


LEFT: dict[str, Callable[[], Any]] = {
    "a function": lambda: lambda obj, attr, ref: None,
    "a class of its own": OwnFQN,
    "scopes redirected by code": lambda: providers.FQN(lambda obj: []),
    "the last of a name": lambda: providers.PlainName(multi_metamodel_support=False),
    "another provider inside": lambda: providers.ImportURI(OwnFQN()),
    "redirected inside": lambda: providers.FQNImportURI(scope_redirection_logic=lambda obj: []),
    "redirected behind imports": lambda: providers.FQNImportURI(
        importAs=True, scope_redirection_logic=lambda obj: []
    ),
    "names from code": lambda: providers.FQNImportURI(importURI_to_scope_name=lambda obj: "x"),
    "globs of another folder": lambda: providers.FQNGlobalRepo("*.x", glob_args={"root_dir": "x"}),
    "a file given in code": given_file,
}


@pytest.mark.parametrize("name", LEFT)
def test_what_code_decides_is_left_to_textx(name: str) -> None:
    """What it refers to is not searched for; see `test_own_code` for what becomes of it."""
    metamodel = metamodel_from_str(GRAMMAR)
    metamodel.register_scope_providers({"Use.target": LEFT[name]()})
    assert link_rules(metamodel).way("Use", "target") == OWN
    language = build(Definition("left"), metamodel)
    assert language.judge("package p { thing t } use whatever")
