"""References with scope rules of their own mean what textX says, object by object."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textx import metamodel_from_str
from textx.scoping import providers

from language_server.constraints import Evaluation
from language_server.languages import Language, load_language
from language_server.languages.language import Definition, build
from language_server.partial_model import Fault, Scopes, Unit
from language_server.partial_model.linking import gathered
from language_server.partial_model.resolution import Resolution
from language_server.projection import Prefix
from tests.partial_model.textx_links import Links, Refused, by_textx, resolved
from tests.syntax.corpus import Case, cases

# ---- small languages, one for each construct -----------------------------------------------------

NEST = """
Model: packages*=Package uses*=Use;
Package: 'package' name=ID '{' (packages+=Package | things+=Thing | uses+=Use)* '}';
Thing: 'thing' name=ID ('is' base=[Thing:FQN%s])? ('{' parts*=Part uses*=Use '}')?;
Part: 'part' name=ID (':' type=[Thing:FQN%s])?;
Use: 'use' targets+=[Named:FQN%s][','] ('then' next=[Part:FQN%s])?;
Named: Package | Thing | Part;
FQN: ID+['.'];
"""
CLASSES = """
Model: classes*=Class instances*=Instance calls*=Call;
Class: 'class' name=ID ('extends' bases+=[Class][','])? '{' methods*=Method '}';
Method: 'method' name=ID;
Instance: 'object' name=ID ':' cls=[Class];
Call: 'call' object=[Instance] '.' method=[Method];
"""
SLASHES = """
Model: folders*=Folder links*=Link;
Folder: 'folder' name=ID '{' folders*=Folder '}';
Link: 'link' to=[Folder:Path|folders*];
Path[split='/']: ID+['/'];
"""
WITH_BUILTINS = """
Model: types*=Type fields*=Field;
Type: 'type' name=ID;
Field: 'field' name=ID ':' type=[Type];
"""


@cache
def language(name: str) -> Language:
    grammar, register = LANGUAGES[name]
    metamodel = metamodel_from_str(grammar, builtins=_builtins() if name == "builtins" else None)
    metamodel.register_scope_providers(register())
    return build(Definition(name), metamodel)


def _builtins() -> dict[str, Any]:
    metamodel = metamodel_from_str(WITH_BUILTINS)
    model = metamodel.model_from_str("type int type text")
    return {each.name: each for each in model.types}


EXPRESSIONS = {
    "outward": (
        "|^packages*.things",
        "|^packages*.things",
        "|^packages*,^packages*.things,^packages*.things.parts",
        "|^packages*.things.parts",
    ),
    "dots": (
        "|..things",
        "|packages*.things",
        "|packages*.(things,packages).parts*,.targets",
        "|.~targets.parts",
    ),
    "parent": (
        "|parent(Package).things",
        "|+p:^(packages,things)*",
        "|(..)*.(packages,things)*.parts,packages*",
        "|.~targets.~base.parts,.~targets.parts",
    ),
    "fixed name": (
        "|^things",
        "|.parent(Thing).~base.things,^things",
        "|'a'~packages.things,^packages*,^things",
        "|.~targets.(~base)*.parts",
    ),
    "through references": (
        "|(packages)*.things",
        "|..(~base)*.parts.~type,^packages*.things",
        "|^packages*,packages*.things.parts*,packages*.things",
        "|.(~targets)*.(~base)*.parts",
    ),
    "any name": (
        "|~packages*.things",
        "|~packages.~things*,(~packages)*.things",
        "|(~packages)*.(~packages,things),^(~packages)*.things.~parts",
        "|^(~things,~packages)*.~parts*,^~things.parts",
    ),
}
LANGUAGES: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    **{name: (NEST % ways, dict) for name, ways in EXPRESSIONS.items()},
    "qualified": (NEST % ("", "", "", ""), lambda: {"*.*": providers.FQN()}),
    "mixed": (
        NEST % ("", "", "|^packages*,^packages*.things", ""),
        lambda: {"*.*": providers.FQN(), "*.base": providers.PlainName()},
    ),
    "by text": (NEST % ("", "", "", ""), lambda: {"*.*": "^(packages,things,parts)*"}),
    "relative": (
        CLASSES,
        lambda: {"Call.method": providers.RelativeName("object.cls.methods")},
    ),
    "extended": (
        CLASSES,
        lambda: {"Call.method": providers.ExtRelativeName("object.cls", "methods", "bases")},
    ),
    "slashes": (SLASHES, dict),
    "builtins": (WITH_BUILTINS, dict),
}


def linked(of: Language, text: str) -> tuple[Links, list[Fault], Scopes]:
    """The links and faults of a text by our linker alone, and its objects."""
    parse = of.grammar.parse(text)
    assert not parse.faults, (text, parse.faults)
    scopes = Scopes.of(of.links, parse.events())
    return *resolved(Resolution((Unit("", scopes),))), scopes


def compare(of: Language, text: str) -> tuple[Refused | None, Scopes]:
    """Our links must be textX's; where it refuses the text, we must see that fault too."""
    links, faults, scopes = linked(of, text)
    try:
        expected = by_textx(of.metamodel, text)
    except Refused as refused:
        assert faults, (text, refused)
        if refused.offset is not None:
            assert refused.offset in {fault.start for fault in faults}, (text, refused)
        return refused, scopes
    assert faults == [], text
    assert links == expected, text
    return None, scopes


# ---- random models -------------------------------------------------------------------------------


def nest(random: Random) -> str:
    """A model of packages, things and uses, most of whose references lead nowhere."""

    def name() -> str:
        return random.choice("abc")

    def path() -> str:
        return ".".join(name() for _ in range(random.choice([1, 1, 1, 2, 2, 3])))

    def use() -> str:
        text = "use " + ", ".join(path() for _ in range(random.choice([1, 1, 2])))
        return text + (f" then {path()}" if random.random() < 0.3 else "")

    def thing() -> str:
        text = f"thing {name()}" + (f" is {path()}" if random.random() < 0.3 else "")
        if random.random() < 0.6:
            parts = [
                f"part {name()}" + (f" : {path()}" if random.random() < 0.4 else "")
                for _ in range(random.randint(0, 2))
            ]
            text += f" {{ {' '.join(parts)} {use() if random.random() < 0.5 else ''} }}"
        return text

    def package(depth: int) -> str:
        inner = []
        for _ in range(random.randint(0, 4)):
            chance = random.random()
            inner.append(
                package(depth + 1)
                if depth < 2 and chance < 0.3
                else thing()
                if chance < 0.7
                else use()
            )
        return f"package {name()} {{ {' '.join(inner)} }}"

    parts = [package(0) for _ in range(random.randint(1, 3))]
    return " ".join([*parts, *(use() for _ in range(random.randint(0, 2)))])


def classes(random: Random) -> str:
    def name(of: str) -> str:
        return of + random.choice("abcd")

    def cls(at: int) -> str:
        bases = [
            f"c{'abcd'[random.randrange(at)]}" for _ in range(random.randint(0, 2) if at else 0)
        ]
        extends = f" extends {', '.join(bases)}" if bases else ""
        methods = " ".join(f"method {name('m')}" for _ in range(random.randint(0, 2)))
        return f"class c{'abcd'[at]}{extends} {{ {methods} }}"

    parts = [cls(at) for at in range(4)]
    parts += [f"object o{letter} : {name('c')}" for letter in "abcd"]
    parts += [f"call {name('o')}.{name('m')}" for _ in range(random.randint(0, 3))]
    return " ".join(parts)


def try_to_repair(of: Language, text: str, random: Random) -> None:
    """Compare a text, and again with each reference that textX refuses led to something else."""
    qualified = "FQN" in of.metamodel
    for _ in range(12):
        refused, scopes = compare(of, text)
        if refused is None or refused.offset is None:
            return
        names = [scopes.names_down_to(thing) for thing in scopes.named()]
        parts = random.choice(names or [["a"]])
        name = ".".join(parts[random.randrange(len(parts)) :]) if qualified else parts[-1]
        rest = re.sub(r"^[\w.]+" if qualified else r"^\w+", "", text[refused.offset :])
        text = text[: refused.offset] + name + rest


NESTED = [*EXPRESSIONS, "qualified", "mixed", "by text"]


@pytest.mark.parametrize("name", NESTED)
@settings(max_examples=6, deadline=None)
@given(st.randoms(use_true_random=False))
def test_random_models_link_as_by_textx(name: str, random: Random) -> None:
    try_to_repair(language(name), nest(random), random)


@pytest.mark.parametrize("name", ["relative", "extended"])
@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False))
def test_random_classes_link_as_by_textx(name: str, random: Random) -> None:
    try_to_repair(language(name), classes(random), random)


@pytest.mark.long
@pytest.mark.parametrize("name", NESTED)
@settings(max_examples=400, deadline=None)
@given(st.randoms(use_true_random=False))
def test_many_random_models_link_as_by_textx(name: str, random: Random) -> None:
    try_to_repair(language(name), nest(random), random)


CASES = [
    ("slashes", "folder a { folder b { } } folder c { } link a/b link c"),
    ("slashes", "folder a { folder b { } } link b"),
    ("builtins", "type own field f : own field g : int"),
    ("builtins", "type int field g : int"),
    ("builtins", "type int type int field g : int"),
    ("builtins", "field g : float"),
    ("qualified", "package a { package b { thing t } thing u is b.t thing v is a.b.t }"),
    ("qualified", "package a { thing a package b { use a, a.a, a.b } }"),  # a parent by its name
    ("qualified", "package a { thing x thing y is x { part p uses } }".replace(" uses", "")),
    ("qualified", "package a { thing t is u } package b { thing u }"),
    (
        "qualified",
        "package p { thing a { part x } thing b is a { part y : b.a } }",
    ),  # by a reference
    ("relative", "class c { method m } object o : c call o.m call o.n"),
    (
        "extended",
        "class a extends b { method m } class b extends a { method n } object o : a call o.n",
    ),
    ("extended", "class a { method m } class b extends a { } object o : b call o.m"),
    ("through references", "package a { thing t is t2 thing t2 is t { part p : q } }"),
]


@pytest.mark.parametrize(("name", "text"), CASES)
def test_cases_link_as_by_textx(name: str, text: str) -> None:
    compare(language(name), text)


# ---- the corpus ----------------------------------------------------------------------------------

CORPUS = [
    case
    for case in cases()
    if "rrel" in case.language or case.language in ("dflow", "demol-component", "riot-devices")
]


@pytest.mark.skipif(not CORPUS, reason="the corpus is not beside the project")
@pytest.mark.parametrize("case", CORPUS, ids=str)
def test_corpus_models_link_as_by_textx(case: Case) -> None:
    """The models of the languages with expressions, several files among them."""
    of = corpus_language(case.grammar)
    scopes = Scopes.of(of.links, of.grammar.parse(case.text).events())
    units, faults = gathered(scopes, of.surroundings(case.model))
    links, wrong = resolved(Resolution(units), case.model.name)
    assert (faults, wrong) == ((), [])
    assert links == by_textx(case.metamodel(), case.text, case.model)


@cache
def corpus_language(grammar: Path) -> Language:
    return load_language(str(grammar))


# ---- as the whole language sees it ---------------------------------------------------------------


def codes(of: Language, text: str) -> list[tuple[str, str]]:
    return [(found.code, text[found.start : found.end]) for found in of.analyse(text).diagnostics]


def evaluation(of: Language, text: str) -> Evaluation:
    """The model of a text that may go on."""
    events = of.grammar.parse(text).events()
    return of.constraints.initial().refine_all(list(events)[:-1])


def test_t21_qualified_names_are_resolved_by_the_registered_provider() -> None:
    of = language("qualified")
    text = "package a { package b { thing t } } use a.b.t"
    assert codes(of, text) == []
    model = of.analyse(text).evaluation.model
    (use,) = model.objects("Use")
    assert [model.name_of(target) for target in model.targets(use, "targets")] == ["t"]
    assert codes(of, text.replace("use a.b.t", "use t")) == [("invisible-reference", "t")]
    assert codes(of, text.replace("use a.b.t", "use zz")) == [("unresolved-reference", "zz")]


def test_E6_a_name_in_the_wrong_place_is_told_where_it_is() -> None:
    text = "package a { thing t } package b { thing t } use t"
    (found,) = language("qualified").analyse(text).diagnostics
    assert "a.t, b.t" in found.message
    assert [text[start:end] for start, end, _ in found.related] == ["t", "t"]


def test_E6_names_are_offered_as_they_must_be_written() -> None:
    text = "package a { thing t thing only } package b { thing t } use "
    prefix = Prefix.start(language("qualified")).advance(text)
    names = {move.text for move in prefix.moves() if move.kind == "reference"}
    assert names == {"a", "b", "a.t", "a.only", "b.t"}
    ports = "class c { method m } class d { method n } object o : c call o."
    prefix = Prefix.start(language("relative")).advance(ports)
    assert [move.text for move in prefix.moves() if move.kind == "reference"] == ["m"]


def test_t24_a_reference_is_open_as_long_as_something_inner_may_shadow_its_target() -> None:
    of = language("qualified")
    text = "package a { thing t } package b { package a { } thing u is a.t }"
    outer = of.analyse(text).evaluation.model
    inner = of.analyse(text.replace("package a { } thing u", "package a { thing t } thing u"))
    for model, parent in ((outer, "a"), (inner.evaluation.model, "a")):
        (u,) = [thing for thing in model.objects("Thing") if model.name_of(thing) == "u"]
        (target,) = model.targets(u, "base")
        (package,) = model.sources(target, "Package::things")
        assert model.name_of(package) == parent
        places = model.span(target)
        assert (places[0] > text.index("package b")) == (model is not outer)
    begun = evaluation(of, "package a { thing t } package b { thing u is a.t")
    (u,) = [n for n in begun.model.objects("Thing") if begun.model.name_of(n) == "u"]
    (t,) = [n for n in begun.model.objects("Thing") if begun.model.name_of(n) == "t"]
    assert begun.truth("Thing::base", (u, t)).name == "UNKNOWN"
    assert begun.contradictions == ()


def test_t24_no_prefix_of_a_model_is_refused_and_what_completes_it_loads() -> None:
    of = language("qualified")
    text = "package b { use a.t package a { thing t } } package a { thing t }"
    prefix = Prefix.start(of)
    for character in text:
        prefix = prefix.advance(character)
        assert prefix.alive
        if prefix.complete:
            by_textx(of.metamodel, prefix.text)
    assert prefix.complete
    dangling = Prefix.start(of).advance("package a { } use a.t ")
    assert dangling.alive
    assert not dangling.complete


def test_t24_a_witness_declares_what_a_reference_needs() -> None:
    of = language("qualified")
    for text in ("package b { use t ", "package b { thing b { part p : "):
        verdict = Prefix.start(of).advance(text).completable()
        assert verdict.answer == "yes", verdict
        by_textx(of.metamodel, text + (verdict.witness or ""))


@pytest.mark.parametrize("name", ["qualified", "outward"])
def test_t26_linking_costs_by_the_number_of_references(
    name: str, count_calls: Callable[[Callable[[], object]], int]
) -> None:
    of = language(name)

    def cost(number: int) -> int:
        things = " ".join(f"thing t{i} {{ part x }}" for i in range(number))
        uses = " ".join(f"use p.t{(i * 7) % number}.x" for i in range(number))
        text = f"package p {{ {things} }} {uses}"
        if name == "outward":
            text = text.replace(".x", "")
        scopes = Scopes.of(of.links, of.grammar.parse(text).events())
        outcome = []
        calls = count_calls(lambda: outcome.append(Resolution((Unit("", scopes),))))
        assert outcome[0].faults == []
        assert len(outcome[0].targets) == number
        return calls

    cost(50)
    assert cost(800) < 5 * cost(200)


def test_t26_references_through_references_are_not_tried_again_and_again(
    count_calls: Callable[[Callable[[], object]], int],
) -> None:
    """Textx needs as many passes as references follow each other."""
    of = language("extended")

    def cost(number: int) -> int:
        text = "class c0 { method m } " + " ".join(
            f"class c{i} extends c{i - 1} {{ }}" for i in range(1, number)
        )
        text += f" object o : c{number - 1} call o.m"
        scopes = Scopes.of(of.links, of.grammar.parse(text).events())
        outcome = []
        calls = count_calls(lambda: outcome.append(Resolution((Unit("", scopes),))))
        assert outcome[0].faults == []
        return calls

    cost(50)
    assert cost(800) < 5 * cost(200)


def test_t13_a_text_without_objects_has_nothing_to_link() -> None:
    for name in LANGUAGES:
        assert codes(language(name), "") == []


def test_t19_a_target_is_shown_at_its_name() -> None:
    text = "package a { thing   t } use a.t"
    (target,) = language("qualified").analyse(text).evaluation.model.links
    assert text[target.start : target.end] == "a.t"
    assert (target.name_start, target.name_end) == (text.index(" t }") + 1, text.index(" t }") + 2)
