"""Goals of the solver: there is one where, by hand or by trying all graphs, there must be one.

A goal that is found is checked with the plain evaluator, which shares no code with the product.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from language_server.constraints import ConstraintSet
from language_server.constraints.goal import Begun, Goal, Wish
from language_server.constraints.problem import load_problem
from language_server.constraints.solver import solve
from language_server.constraints.theory import Theory
from language_server.partial_model import PartialModel
from language_server.syntax.events import Assign, Close, Event, Open, Refer
from tests.constraints.naive_evaluation import NaiveModel
from tests.constraints.random_cases import sound_texts, theories

ROOT = Open("M", None, False, 0)
NODE = Open("N", "ns", True, 1)
END = Close(9)
GRAPH = "class M { contains N[] ns } class N { string name  N[] next  boolean flag } "
LINE = GRAPH.replace("N[] next", "N[0..1] next")
DAG = GRAPH + "error pred cyclic(N x) <-> next+(x, x). "
PAIRS = "class M { contains A[] as  contains B[] bs } "
COLOURS = GRAPH.replace("boolean flag", "Colour[1] colour") + "enum Colour { red, green } "
DIFFERENT = COLOURS.replace("N[] ns", "N[2] ns") + (
    "error pred same(N x, N y) <-> colour(x, c), colour(y, c), x != y. "
)
KEYED = """
    class M { contains E[1..*] es }
    class E { Node[1] source  Node[1] target }
    @key(id) class Node { string[1] id  Function[0..1] does }
    class Function { int[1] inputs }
    pred leads(Node a, Node b) <-> source(e, a), target(e, b).
    error pred loop(Node n) <-> leads+(n, n).
    error pred idle(Node n) <-> !does(n, _).
    error pred arity(Node n) <-> does(n, f), count { leads(_, n) } != inputs(f).
"""
LABELLED = (Assign("id", False, "1", "INT", 1, 2), Assign("does", False, "one", "ID", 1, 2))
GIVEN = """
    Function(zero). inputs(zero): 0. Function(one). inputs(one): 1. !exists(Function::new).
"""


def named(name: str) -> tuple[Event, Event]:
    """An object that has begun; before its name it might be one that is mentioned already."""
    return NODE, Assign("name", False, name, "ID", 2, 3)


def to(name: str) -> Refer:
    return Refer("next", True, "N", name, "ID", 4, 5)


@dataclass(frozen=True)
class Case:
    """A theory with the events of a text that has not ended, and what a goal must be like.

    Attributes:
        holds: how many objects of each class, or links of each reference, the least goal has;
            None where there is no goal.
    """

    name: str
    problem: str
    events: tuple[Event, ...]
    holds: dict[str, int] | None
    pool: int = 2

    def model(self) -> tuple[ConstraintSet, PartialModel]:
        """The theory and what the events say."""
        return refined(self.problem, *self.events)


CASES = (
    # Containment and multiplicities.
    Case("nothing is needed", GRAPH, (ROOT,), {"M": 1, "N": 0}),
    Case("two are needed", GRAPH.replace("N[] ns", "N[2..3] ns"), (ROOT,), {"N": 2}),
    Case("more than there may be", GRAPH.replace("N[] ns", "N[3] ns"), (ROOT,), None),
    Case("one is there", GRAPH.replace("N[] ns", "N[2] ns"), (ROOT, NODE, END), {"N": 2}, 1),
    Case(
        "within each other",
        "class M { contains A[1] a } class A { contains B[1] b } class B.",
        (ROOT,),
        {"A": 1, "B": 1, "M::a": 1, "A::b": 1},
        1,
    ),
    Case(
        "one of the concrete classes",
        "class M { contains N[1] n } abstract class N. class A extends N. class B extends N."
        "error pred a(A x) <-> A(x).",
        (ROOT,),
        {"A": 0, "B": 1},
    ),
    Case(
        "a container with no place",
        "class M { contains A[] as } class A. class B. error pred none() <-> !B(_).",
        (ROOT,),
        None,
    ),
    Case(
        "a target each",
        GRAPH.replace("N[] next", "N[1] next"),
        (ROOT, *named("a")),
        {"N::next": 1},
        0,
    ),
    Case("closed for good", GRAPH.replace("N[] next", "N[1] next"), (ROOT, NODE, END), None),
    Case(
        "no second target",
        LINE + "error pred few(N x) <-> count { next(x, _) } < 2.",
        (ROOT, *named("a")),
        None,
    ),
    # Opposites and subsets.
    Case(
        "opposites come together",
        PAIRS + "class A { B[0..1] b opposite a } class B { A[0..1] a opposite b } "
        "error pred alone(A x) <-> !b(x, _).",
        (ROOT, Open("A", "as", True, 1)),
        {"A::b": 1, "B::a": 1, "B": 1},
        1,
    ),
    Case(
        "an opposite is taken",
        PAIRS + "class A { B[1] b opposite a } class B { A[1] a opposite b } scope A = 2, B = 1.",
        (ROOT,),
        None,
    ),
    Case(
        "a subset is part of the whole",
        PAIRS + "class A { B[0..1] all  B[0..1] best subsets all } class B. "
        "error pred worse(A x) <-> !best(x, _).",
        (ROOT, Open("A", "as", True, 1)),
        {"A::best": 1, "A::all": 1},
        1,
    ),
    # Predicates.
    Case(
        "reached in two steps",
        DAG + "error pred far(N x) <-> flag(x), N(y), !next+(x, y), x != y. "
        "error pred two(N x) <-> count { next(x, _) } > 1. error pred n() <-> count {N(_)} != 3.",
        (ROOT, *named("a"), Assign("flag", False, True, "BOOL", 2, 3)),
        {"N": 3, "N::next": 2},
    ),
    Case(
        "a cycle is asked for and forbidden",
        DAG + "error pred last(N x) <-> !next(x, _). error pred none() <-> !N(_).",
        (ROOT,),
        None,
        3,
    ),
    Case(
        "one of two",
        GRAPH + "pred good(N x) <-> flag(x) ; next(x, x). error pred bad(N x) <-> !good(x). "
        "error pred self(N x) <-> next(x, x).",
        (ROOT, *named("a")),
        {"N::flag": 1, "N::next": 0},
        0,
    ),
    Case(
        "counted",
        GRAPH + "error pred three(N x) <-> flag(x), count { next(x, _) } != 3.",
        (ROOT, *named("a"), Assign("flag", False, True, "BOOL", 2, 3)),
        {"N": 3, "N::next": 3},
    ),
    Case(
        "counted in vain",
        GRAPH + "error pred three(N x) <-> flag(x), count { next(x, _) } != 3.",
        (ROOT, *named("a"), Assign("flag", False, True, "BOOL", 2, 3)),
        None,
        1,
    ),
    Case(
        "counts compared",
        GRAPH + "error pred all(N x) <-> count { next(x, _) } != count { N(_) }.",
        (ROOT, *named("a")),
        {"N": 1, "N::next": 1},
        1,
    ),
    # Names that are still to be declared.
    Case("a name to declare", GRAPH, (ROOT, *named("a"), to("b")), {"N": 2, "N::next": 1}, 0),
    Case(
        "declared and pointing back",
        GRAPH + "error pred last(N x) <-> !next(x, _).",
        (ROOT, *named("a"), to("b"), END),
        {"N": 2, "N::next": 2},
        0,
    ),
    # Booleans and enumerations.
    Case("a flag", GRAPH + "error pred e(N x) <-> !flag(x).", (ROOT, *named("a")), {"N::flag": 1}),
    Case("no flag", GRAPH + "error pred e(N x) <-> flag(x).", (ROOT, *named("a")), {"N::flag": 0}),
    Case("too late for a flag", GRAPH + "error pred e(N x) <-> !flag(x).", (ROOT, NODE, END), None),
    Case("a literal", COLOURS, (ROOT, *named("a")), {"N::colour": 1}),
    Case(
        "no literal is left",
        COLOURS + "error pred r(N x) <-> colour(x, red). error pred g(N x) <-> colour(x, green).",
        (ROOT, *named("a")),
        None,
    ),
    Case("as many literals as objects", DIFFERENT, (ROOT, *named("a")), {"N": 2, "N::colour": 2}),
    Case("a literal short", DIFFERENT.replace("[2]", "[3]"), (ROOT, *named("a")), None, 3),
    # Scopes.
    Case("at least", GRAPH + "scope N = 2..3.", (ROOT,), {"N": 2}),
    Case("exactly", GRAPH + "scope N = 1.", (ROOT, NODE, END), {"N": 1}),
    Case("at most", GRAPH + "scope N = 0..1.", (ROOT, NODE, END, *named("a")), None),
    # Objects by key, and given ones.
    Case("keyed", KEYED + GIVEN, (ROOT,), {"E": 1, "Node": 2, "Node::does": 2}),
    Case(
        "keyed and taken",
        KEYED + GIVEN,
        (ROOT, Open("E", "es", True, 1), Open("Node", "source", False, 1), *LABELLED),
        {"E": 2, "Node": 3, "Node::does": 3},
    ),
    Case("no given one fits", KEYED + GIVEN.replace("(zero): 0", "(zero): 2"), (ROOT,), None, 3),
    Case("nothing given", KEYED + "!exists(Function::new).", (ROOT,), None),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_goal_where_there_is_one(case: Case) -> None:
    constraints, model = case.model()
    goal = solve(constraints, model, Wish(case.pool))
    if case.holds is None:
        assert goal is None
        return
    assert goal is not None
    is_checked(constraints.theory, goal, model)
    assert {symbol: size(goal, symbol) for symbol in case.holds} == case.holds


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_asked_twice_it_answers_the_same(case: Case) -> None:
    first, again = case.model(), case.model()
    assert solve(*first, Wish(case.pool)) == solve(*first, Wish(case.pool))
    assert solve(*first, Wish(case.pool)) == solve(*again, Wish(case.pool))


def test_which_literal() -> None:
    problem = COLOURS + "error pred red(N x) <-> colour(x, red)."
    constraints, model = refined(problem, ROOT, *named("a"))
    goal = solve(constraints, model, Wish(0))
    assert goal is not None
    (target,) = (target for symbol, _, target in goal.links if symbol == "N::colour")
    assert target == constraints.schema.classes["Colour"].individuals["green"]


def test_a_root_that_is_not_begun() -> None:
    constraints, model = refined(GRAPH.replace("N[] ns", "N[1] ns"))
    goal = solve(constraints, model, Wish(1, root="M"))
    assert goal is not None
    assert (size(goal, "M"), size(goal, "N"), size(goal, "M::ns")) == (1, 1, 1)
    assert min(goal.kinds) >= model.next_id


def test_forbidden_features_are_not_stated() -> None:
    problem = GRAPH + "pred good(N x) <-> flag(x) ; next(x, _). error pred bad(N x) <-> !good(x)."
    constraints, model = refined(problem, ROOT, *named("a"))
    (node,) = model.objects("N")
    for barred, other in (("N::flag", "N::next"), ("N::next", "N::flag")):
        goal = solve(constraints, model, Wish(0, forbidden=frozenset({(barred, node)})))
        assert goal is not None
        assert (size(goal, barred), size(goal, other)) == (0, 1)
    both = frozenset({("N::flag", node), ("N::next", node)})
    assert solve(constraints, model, Wish(3, forbidden=both)) is None


@pytest.mark.parametrize(
    ("features", "required", "found"),
    [
        ({"N::flag", "N::next"}, set(), {"N::flag": 0, "N::next": 0}),
        ({"N::flag", "N::next"}, {"N::flag"}, {"N::flag": 1, "N::next": 0}),
        ({"N::flag", "N::next"}, {"N::next"}, {"N::flag": 0, "N::next": 1}),
        ({"N::flag"}, {"N::flag"}, {"N::flag": 1}),
        (set(), {"N::flag"}, None),
        ({"N::flag"}, {"N::next"}, None),
    ],
)
def test_what_the_innermost_object_gets(
    features: set[str], required: set[str], found: dict[str, int] | None
) -> None:
    """Of an object under construction, only what its text can still state, and what it must."""
    constraints, model = refined(GRAPH, ROOT, *named("a"))
    frame = model.frame
    assert frame is not None and frame.parent is not None
    outer = Begun(frame.parent, frozenset({"M::ns"}))
    inner = Begun(frame, frozenset(features), frozenset(required))
    goal = solve(constraints, model, Wish(1, begun=(outer, inner)))
    if found is None:
        assert goal is None
    else:
        assert goal is not None
        assert {symbol: size(goal, symbol) for symbol in found} == found


def test_what_is_stated_together_or_not_at_all() -> None:
    problem = GRAPH.replace("N[] next", "N[] next  N[] other")
    constraints, model = refined(problem + "error pred e(N x) <-> !next(x, _).", ROOT, *named("a"))
    for feature, count in (("N::other", 1), ("N::flag", 1), ("N::name", 0)):
        wish = Wish(0, companions={("N", "N::next"): frozenset({feature})})
        goal = solve(constraints, model, wish)
        assert goal is not None
        assert (size(goal, "N::next"), size(goal, feature)) == (1, count)
    apart = Wish(0, companions={("N", "N::flag"): frozenset({"N::other"})})
    goal = solve(constraints, model, apart)
    assert goal is not None
    assert (size(goal, "N::flag"), size(goal, "N::other")) == (0, 0)


def test_an_object_stands_in_one_place() -> None:
    """Two features that each need an object need two."""
    constraints, model = refined("class M { contains N[1] a  contains N[1] b } class N.", ROOT)
    assert solve(constraints, model, Wish(1)) is None
    goal = solve(constraints, model, Wish(2))
    assert goal is not None
    assert size(goal, "N") == 2


def test_an_object_in_a_part_of_a_feature_stands_in_one_place() -> None:
    problem = "class M { contains N[1] a subsets all  contains N[] all } class N."
    constraints, model = refined(problem, ROOT)
    goal = solve(constraints, model, Wish(1))
    assert goal is not None
    assert (size(goal, "N"), size(goal, "M::a"), size(goal, "M::all")) == (1, 1, 1)


def test_a_pool_by_class() -> None:
    constraints, model = refined(PAIRS + "class A. class B. scope A = 2, B = 1.", ROOT)
    assert solve(constraints, model, Wish({"A": 1, "B": 2})) is None
    assert solve(constraints, model, Wish({"A": 2, "B": 1})) is not None


def test_an_object_around_may_get_nothing_more() -> None:
    constraints, model = refined(GRAPH + "scope N = 2.", ROOT, *named("a"))
    frame = model.frame
    assert frame is not None and frame.parent is not None
    inner = Begun(frame, frozenset())
    closed, still_open = (Begun(frame.parent, frozenset(names)) for names in ((), ("M::ns",)))
    assert solve(constraints, model, Wish(2, begun=(closed, inner))) is None
    assert solve(constraints, model, Wish(2, begun=(still_open, inner))) is not None


@pytest.mark.parametrize(
    "beyond",
    [
        "error pred heavy(N x) <-> weight(x) > 1.5.",
        "pred heavy(N x) <-> weight(x) > 1.5. error pred light(N x) <-> !heavy(x).",
        "pred heavy(N x) <-> weight(x) > 1.5. pred at(N x) <-> heavy(x). "
        "error pred few() <-> count { at(_) } < 1.",
        'error pred late(N x) <-> N(x), name(x) < "b".',
    ],
)
def test_what_cannot_be_said_is_left_out(beyond: str) -> None:
    """Orders of numbers with a point and of words: neither refuses a goal; the rest still holds."""
    weighed = GRAPH.replace("boolean flag", "boolean flag  real weight")
    rest = "error pred unflagged(N x) <-> !flag(x)."
    constraints, model = refined(weighed + beyond + rest, ROOT, *named("a"))
    goal = solve(constraints, model, Wish(0))
    assert goal is not None
    assert size(goal, "N::flag") == 1
    constraints, model = refined(weighed + beyond + rest, ROOT, *named("a"), END)
    assert solve(constraints, model, Wish(0)) is None


# ---- against an oracle -----------------------------------------------------------------------

_PARTS = (
    "next(x, y)",
    "!next(x, y)",
    "next+(x, y)",
    "!next+(x, y)",
    "!next(x, _)",
    "!next(_, y)",
    "p(x, y)",
    "!p(y, x)",
    "!p(x, _)",
    "p+(x, x)",
    "flag(x)",
    "!flag(y)",
    "x != y",
    "count { next(_, x) } > 1",
    "count { p(y, _) } == 1",
    "count { N(_) } > 2",
    "count { N(_) } < 3",
)
_BODY = st.lists(st.sampled_from(_PARTS), min_size=1, max_size=3, unique=True).map(", ".join)
_SAFE = st.sampled_from([part for part in _PARTS if "p" not in part.replace("next", "")])


@given(
    st.lists(_SAFE, min_size=1, max_size=2, unique=True),
    st.lists(_BODY, min_size=1, max_size=4, unique=True),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=80)
def test_there_is_a_goal_iff_some_graph_is_consistent(
    definition: list[str], errors: list[str], flag: bool, has_more: bool
) -> None:
    """All graphs with one more node at most, two nodes being there, of which one is finished."""
    lines = [LINE, "pred p(N x, N y) <-> ", " ; ".join(f"N(x), N(y), {d}" for d in definition), "."]
    lines += [f" error pred e{i}() <-> N(x), N(y), {body}." for i, body in enumerate(errors)]
    stated = [Assign("flag", False, True, "BOOL", 2, 3)] if flag else []
    events = [ROOT, NODE, *stated, END, *named("a")]
    constraints, model = refined("".join(lines), *events)
    goal = solve(constraints, model, Wish(int(has_more)))
    graphs = _graphs(constraints.theory, flag, has_more)
    assert (goal is not None) == any(not graph.violations() for graph in graphs)
    if goal is not None:
        is_checked(constraints.theory, goal, model)


def _graphs(theory: Theory, flag: bool, has_more: bool) -> Any:
    """Objects 0 (root), 1 (a node that is finished), 2, and perhaps 3."""
    for number in (3, 4) if has_more else (3,):
        open_nodes = range(2, number)
        targets = (None, *range(1, number))
        for nexts in itertools.product(targets, repeat=len(open_nodes)):
            for flags in itertools.product((False, True), repeat=len(open_nodes)):
                graph = NaiveModel(theory, [])
                graph.cls = ["M"] + ["N"] * (number - 1)
                graph.links["M::ns"] = {(0, node) for node in range(1, number)}
                pairs = zip(open_nodes, nexts, strict=True)
                graph.links["N::next"] = {(s, t) for s, t in pairs if t is not None}
                graph.values = {("N::flag", n): f for n, f in zip(open_nodes, flags, strict=True)}
                graph.values["N::flag", 1] = flag
                yield graph


@given(theories(), sound_texts(4), st.data())
@settings(max_examples=40)
def test_goals_of_random_theories_are_consistent(
    theory: Theory, events: list[Event], data: Any
) -> None:
    """Wherever the text is cut."""
    constraints = ConstraintSet.of(theory)
    cut = data.draw(st.integers(1, len(events)))
    evaluation = constraints.initial().refine_all(events[:cut])
    assume(not evaluation.contradictions)
    goal = solve(constraints, evaluation.model, Wish(1))
    if goal is not None:
        is_checked(theory, goal, evaluation.model)


# ---- reading and checking ----------------------------------------------------------------------


def refined(problem: str, *events: Event) -> tuple[ConstraintSet, PartialModel]:
    constraints = ConstraintSet.of(load_problem(problem))
    return constraints, constraints.initial().refine_all(events).model


def size(goal: Goal, symbol: str) -> int:
    """How many objects of a class, links of a reference, or values of an attribute there are."""
    if "::" not in symbol:
        return list(goal.kinds.values()).count(symbol)
    links = sum(link[0] == symbol for link in goal.links)
    return links + sum(value[0] == symbol for value in goal.values)


class Unstated:
    """A value that a goal leaves to the text: equal to itself, before and behind nothing."""

    def __lt__(self, other: object) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__


def is_checked(theory: Theory, goal: Goal, model: PartialModel) -> None:
    """Asserts that a goal refines the model and is consistent."""
    graph = as_graph(theory, goal, model)
    assert graph.missing() == set()
    if not any(symbol.literals or symbol.key for symbol in theory.classes.values()):
        assert graph.violations() == set()
    contained = [
        target
        for symbol, feature in theory.features.items()
        if feature.containment
        for _, target in graph.links[symbol]
    ]
    assert len(set(contained)) == len(contained)
    for symbol, feature in theory.features.items():
        if feature.opposite is not None and not feature.is_attribute:
            assert {(t, s) for s, t in graph.links[symbol]} == graph.links[feature.opposite]
        for whole in feature.subsets:
            assert graph.links[symbol] <= graph.links[whole]
    for node, record in model.nodes.items():
        if node >= 0 and record.role != "new":
            assert goal.kinds[node] in record.kinds
            kind = model.schema.classes[goal.kinds[node]]
            for feature in kind.features.values():
                if not feature.attribute:
                    known = {(feature.symbol, node, t) for t in model.targets(node, feature.symbol)}
                    assert known <= goal.links


def as_graph(theory: Theory, goal: Goal, model: PartialModel) -> NaiveModel:
    """The goal in the plain evaluator, with the values that the text has stated."""
    nodes = sorted(goal.kinds)
    place = {node: at for at, node in enumerate(nodes)}
    graph = NaiveModel(theory, [])
    graph.cls = [goal.kinds[node] for node in nodes]
    for symbol, source, target in goal.links:
        graph.links[symbol].add((place[source], place[target]))
    for (symbol, node), value in goal.values.items():
        graph.values[symbol, place[node]] = Unstated() if value is None else value
    for node in nodes:
        record = model.nodes.get(node)
        for feature in model.schema.classes[goal.kinds[node]].features.values():
            if record is not None and feature.attribute:
                stated = model.value(node, feature.symbol)
                if record.role == "mentioned" and feature.name == "name":
                    stated = record.name  # it will be declared under the name it is mentioned by
                if stated is not None:
                    graph.values[feature.symbol, place[node]] = stated
    return graph
