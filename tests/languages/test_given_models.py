"""Models that a language is given in code are texts for the linker, as textX sees them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textx import metamodel_from_str
from textx.scoping import ModelRepository, providers

from language_server.features.completion import propose
from language_server.languages import Language
from language_server.languages.language import Definition, build
from language_server.partial_model import Scopes
from language_server.partial_model.linking import gathered
from language_server.partial_model.resolution import Resolution
from language_server.projection import Prefix
from tests.partial_model.textx_links import Refused, by_textx, resolved

GRAMMAR = """
Model: imports*=Import (packages+=Package | things+=Thing | uses+=Use)*;
Import: 'import' importURI=STRING ('as' name=ID)?;
Package: 'package' name=ID '{' (packages+=Package | things+=Thing | uses+=Use)* '}';
Thing: 'thing' name=ID ('is' base=[Thing:FQN%s])?;
Use: 'use' targets+=[Thing:FQN%s][','];
FQN: ID+['.'];
"""
FIRST = "package p { thing a package q { thing b is p.a } } thing c"
SECOND = "package p { thing a thing d } package r { thing a is p.d }"


class Kind:
    """A user's class that any text may refer to."""

    def __init__(self, parent: Any, name: str) -> None:
        self.parent = parent
        self.name = name


def qualified(text: str) -> Any:
    """A model of the language under the provider FQN."""
    metamodel = metamodel_from_str(GRAMMAR % ("", ""))
    metamodel.register_scope_providers({"*.*": providers.FQN()})
    return metamodel.model_from_str(text)


def builtin_models(grammar: str, register: dict[str, Any]) -> Any:
    """A language that is given two models, of its own metamodel and of an equal one."""
    metamodel = metamodel_from_str(grammar, builtin_models=ModelRepository())
    metamodel.register_scope_providers({"*.*": providers.FQN()})
    first = metamodel.model_from_str(FIRST.replace(" is p.a", ""))
    metamodel.register_scope_providers({"*.*": providers.FQN(), **register})
    metamodel.builtin_models.add_model(first)
    metamodel.builtin_models.add_model(metamodel.model_from_str(SECOND.replace(" is p.d", "")))
    return metamodel


def importing() -> Any:
    """A language that is given a model that imports another one by a name."""
    metamodel = metamodel_from_str(GRAMMAR % ("", ""), builtin_models=ModelRepository())
    metamodel.register_scope_providers({"*.*": providers.FQNImportURI(importAs=True)})
    with TemporaryDirectory() as folder:
        first = Path(folder) / "first.given"
        first.write_text(FIRST)
        model = metamodel.model_from_str(
            "import 'first.given' as f thing g is f.p.a", file_name=str(first.with_name("g.given"))
        )
    for each in (model, *model._tx_model_repository.all_models):
        each._tx_filename = None  # it is in no file any more
    metamodel.builtin_models.add_model(model)
    return metamodel


def added(provider: Any) -> Any:
    metamodel = metamodel_from_str(GRAMMAR % ("", ""))
    metamodel.register_scope_providers({"*.*": providers.FQN()})
    for text in (FIRST, SECOND):
        provider.add_model(metamodel.model_from_str(text))
    metamodel.register_scope_providers({"*.*": provider})
    return metamodel


def builtins() -> Any:
    models = [qualified(FIRST), qualified(SECOND)]
    things = [models[0].packages[0].packages[0].things[0], models[1].packages[0].things[1]]
    thing = metamodel_from_str(GRAMMAR % ("", ""))["Thing"]
    metamodel = metamodel_from_str(
        GRAMMAR % ("", "|^packages*.things,things,things.~base.base"),
        builtins={each.name: each for each in things} | {"k": Kind(None, "k")},
    )
    assert thing._tx_fqn == metamodel["Thing"]._tx_fqn
    return metamodel


LANGUAGES: dict[str, Callable[[], Any]] = {
    "qualified": lambda: builtin_models(GRAMMAR % ("", ""), {"*.*": providers.FQNImportURI()}),
    "imported as": lambda: builtin_models(
        GRAMMAR % ("", ""), {"*.*": providers.FQNImportURI(importAs=True)}
    ),
    "plain": lambda: builtin_models(GRAMMAR % ("", ""), {"*.*": providers.PlainNameImportURI()}),
    "expressions": lambda: builtin_models(
        GRAMMAR % ("|+m:^packages*.things", "|+mp:packages*.things,packages.things.~base"), {}
    ),
    "importing": importing,
    "added": lambda: added(providers.FQNGlobalRepo()),
    "added, plain": lambda: added(providers.PlainNameGlobalRepo()),
    "builtins": builtins,
}
CASES = [
    ("qualified", "use p.a, c, p.d, r.a, p.q.b"),
    ("qualified", "package p { thing z use a }"),
    ("qualified", "package p { thing z use z, p.a }"),
    ("imported as", "use p.a, p.q.b"),
    ("plain", "use c, d, b"),
    ("plain", "use a"),
    ("plain", "thing a use a"),
    ("importing", "use g, f.p.a, f.p.q.b"),
    ("importing", "use p.a"),
    ("expressions", "use p.a, c, r.a"),
    ("expressions", "package m { thing z is p.a } use m.z, p.q.b"),
    ("expressions", "use p.zz"),
    ("added", "use p.a, p.d, c"),
    ("added", "use q.b"),
    ("added, plain", "use c, d"),
    ("added, plain", "use a"),
    ("builtins", "use b"),
    ("builtins", "use d thing d"),
    ("builtins", "thing e is b use e, b, e.a"),
    ("builtins", "thing e is d use e, d, e.a"),
    ("builtins", "use k"),
]


def language_of(name: str) -> Language:
    return build(Definition(name), LANGUAGES[name]())


def check(language: Language, text: str, path: Path) -> bool:
    """The links of a text are textX's, or both refuse it; whether it loads."""
    scopes = Scopes.of(language.links, language.grammar.parse(text).events())
    units, failed = gathered(scopes, language.surroundings(path))
    links, faults = resolved(Resolution(units), path.name)
    refused = bool(failed or faults)
    assert bool(language.analyse(text, path).diagnostics) == refused, text
    try:
        expected = by_textx(language.metamodel, text, path)
    except Refused as error:
        assert refused, (text, error)
        return False
    assert not refused, (text, faults)
    assert links == expected, text
    return True


@pytest.mark.parametrize(("name", "text"), CASES)
def test_references_into_given_models_mean_what_textx_says(
    tmp_path: Path, name: str, text: str
) -> None:
    language = language_of(name)
    assert not language.links.has_own
    check(language, text, tmp_path / "main.given")


def some_text(random: Random) -> str:
    """Packages, things and uses; most references lead somewhere."""

    def path() -> str:
        return ".".join(random.choices("pqrab", k=random.choice((1, 1, 2)))) or "a"

    def item(depth: int) -> str:
        match random.randrange(7 if depth < 3 else 5):
            case 0 | 1:
                return f"thing {random.choice('abcd')}"
            case 2:
                return f"thing {random.choice('abcd')} is {path()}"
            case 3 | 4:
                return f"use {random.choice(['c', 'b', 'd', 'p.a', 'r.a', path()])}"
        inner = " ".join(item(depth + 1) for _ in range(random.randrange(4)))
        return f"package {random.choice('pqr')} {{ {inner} }}"

    return "thing x " + " ".join(item(0) for _ in range(random.randrange(4)))


@pytest.mark.parametrize("name", LANGUAGES)
def test_random_texts_among_given_models_link_as_by_textx(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    language, path = language_of(name), tmp_path_factory.mktemp("given") / "main.given"
    seen = {True: 0, False: 0}

    @settings(max_examples=60, deadline=None, database=None)
    @given(st.randoms(use_true_random=False))
    def run(random: Random) -> None:
        seen[check(language, some_text(random), path)] += 1

    run()
    assert min(seen.values()) >= 5, seen


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qualified", {"p.a", "p.q.b", "c", "p.d", "r.a"}),
        ("plain", {"a", "b", "c", "d"}),
        ("added", {"p.a", "p.d", "r.a"}),
        ("builtins", {"b", "d"}),
    ],
)
def test_what_is_given_is_offered_as_it_must_be_written(name: str, expected: set[str]) -> None:
    language = language_of(name)
    prefix = Prefix.start(language).advance("use ")
    offered = {each.text for each in propose(language, prefix, "") if each.kind == "reference"}
    assert offered == expected
