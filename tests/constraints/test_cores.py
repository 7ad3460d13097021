"""What an explanation names is a core: enough for the violation, and nothing of it is superfluous.

The judge is the plain evaluator of `naive_evaluation`: it is given the model with nothing but the
facts that are named, and with each of them left out in turn.
"""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from language_server.constraints import ConstraintSet
from language_server.constraints.problem import load_problem
from language_server.constraints.theory import Theory
from language_server.syntax.events import Event
from tests.constraints.naive_evaluation import NaiveModel
from tests.constraints.random_cases import sound_texts, theories

METAMODEL = """
class Root { contains Node[] nodes }
abstract class Node { string[1] name  boolean flag  int size  Node[0..1] next  A[] uses }
class A extends Node { contains Node[] parts }
class B extends Node { B[1] best }
"""
CONSTRAINTS = """
error pred path(Node a, Node b) <-> next+(a, b), flag(b) == true.
error pred cycle(Node a) <-> next+(a, a).
error pred chain(Node a) <-> next(a, b), next(b, c), next(c, _).
error pred many(Node a) <-> count { uses(a, _) } > 1.
error pred used(A a) <-> 2 <= count { uses(_, a) }.
error pred few(Node a) <-> count { uses(a, _) } < 2.
error pred uneven(Node a) <-> count { uses(a, _) } != 1.
error pred none(Node a) <-> count { uses(a, _) } == 0.
error pred one(Node a) <-> count { next(_, a) } == 1.
error pred more(Node a) <-> count { next(_, a) } > count { uses(a, _) }.
error pred sized(Node a) <-> count { uses(a, _) } >= size(a).
error pred large(Node a, Node b) <-> next(a, b), size(a) + 1 > size(b).
error pred lonely(Node a) <-> !next(_, a), !uses(a, _).
pred near(Node a, Node b) <-> next(a, b) ; uses(a, b), flag(a) == true.
error pred derived(Node a) <-> near(a, b), near(b, a).
pred linked(Node a, Node b) <-> next(a, b) ; uses(a, b).
error pred counted(Node a) <-> count { linked(a, _) } > 1.
error pred either(Node a) <-> next(a, a), flag(a) == true ; uses(a, _).
error pred global() <-> Node(a), Node(b), flag(a) == true, flag(b) == true, a != b.
"""
RELAXED = settings(
    deadline=None,
    max_examples=10,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # shrinking takes minutes here
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
Fact = tuple[str, tuple[int, ...]]


def named(facts: tuple[str, ...], naive: NaiveModel) -> tuple[list[Fact], set[Fact]]:
    """The facts of an explanation in a plain model, and those that absences make exceptions of."""
    numbers = {naive.values.get(("Node::name", n), "Root"): n for n in range(len(naive.cls))}
    symbols = {info.name: symbol for symbol, info in naive.theory.features.items()}

    def plain(fact: str) -> Fact:
        match = re.fullmatch(r"(\w+)\(([^)]*)\)(?:: .*)?", fact)
        assert match is not None, fact
        ends = tuple(numbers.get(end, 0) for end in match[2].split(", "))
        if match[1] == "contains":
            parts = ("Root::nodes", "A::parts")
            return next(symbol for symbol in parts if ends in naive.links[symbol]), ends
        return symbols[match[1]], ends

    stated = [plain(fact) for fact in facts if not fact.startswith("no ")]
    excepted: set[Fact] = set()
    for fact in facts:
        if fact.startswith("no ") and " but " in fact:
            excepted |= {
                plain(each) for each in re.findall(r"\w+\([^)]*\)", fact.split(" but ")[1])
            }
    return stated, excepted


def reduced(naive: NaiveModel, events: list[Event], facts: set[Fact]) -> NaiveModel:
    """The model with these facts alone."""
    found = NaiveModel(naive.theory, events)
    found.links = {symbol: {ends for s, ends in facts if s == symbol} for symbol in naive.links}
    found.values = {
        place: value
        for place, value in naive.values.items()
        if place[0] == "Node::name" or (place[0], (place[1],)) in facts
    }
    return found


def check(theory: Theory, events: list[Event], minimal: bool) -> list[str]:
    """Every violation of the text is explained by a core; which ones there were."""
    naive = NaiveModel(theory, events)
    if not naive.sound:
        return []
    evaluation = ConstraintSet.of(theory).initial().refine_all(events)
    places = sorted(evaluation.model.objects(), key=lambda node: evaluation.model.span(node)[0])
    number = {node: place for place, node in enumerate(places)}
    asked = []
    for violation in evaluation.obligations:
        if violation.source != "constraint":
            continue
        absent = {
            fact.split()[1].split("(")[0].rstrip("+")
            for fact in violation.facts
            if fact[:3] == "no "
        }
        if absent & theory.predicates.keys():
            continue  # what is not derived cannot be told to the judge as facts
        asked.append(violation.constraint)
        row = tuple(number[node] for node in violation.elements)
        core, excepted = named(violation.facts, naive)
        assert len(set(core)) == len(core)
        for fact in (None, *core) if minimal else (None,):
            left = {*core, *excepted} - {fact}
            holds = reduced(naive, events, left).holds(violation.constraint, row)
            assert holds == (fact is None), (violation.facts, fact)
    return asked


ALL = load_problem(METAMODEL + CONSTRAINTS)


@RELAXED
@given(sound_texts(4))
def test_minimal_cores(events: list[Event]) -> None:
    check(ALL, events, minimal=True)


@pytest.mark.long
def test_minimal_cores_of_each_constraint() -> None:
    asked: Counter[str] = Counter()

    @settings(RELAXED, max_examples=200)
    @given(sound_texts(5))
    def of_random_texts(events: list[Event]) -> None:
        asked.update(check(ALL, events, minimal=True))

    of_random_texts()
    assert asked.keys() == {name for name, p in ALL.predicates.items() if p.error}


@pytest.mark.long
@settings(RELAXED, max_examples=60)
@given(theories(), st.one_of(sound_texts(3), sound_texts(4)))
def test_cores_of_random_constraints(theory: Theory, events: list[Event]) -> None:
    check(theory, events, minimal=False)
