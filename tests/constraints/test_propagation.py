"""Propagation rules: what they exclude cannot hold, what they demand must be possible."""

from __future__ import annotations

import pytest

from language_server.constraints import ConstraintSet, Evaluation
from language_server.constraints.problem import load_problem
from language_server.partial_model import Truth
from language_server.syntax.events import Assign, Close, Event, Open, Refer

GRAPH = """
class Graph { contains Node[] nodes }
class Node { string[1] name  boolean sink  Node[] next  Node[0..1] twin }
pred input(Node a, Node b) <-> next(a, b).
"""


def nodes(*declarations: tuple[str, bool, tuple[str, ...]], closed: bool = False) -> list[Event]:
    """Events of a graph: name, whether a sink, and the names of the next nodes."""
    events: list[Event] = [Open("Graph", None, False, 0)]
    for at, (name, sink, after) in enumerate(declarations):
        events.append(Open("Node", "nodes", True, at))
        events.append(Assign("name", False, name, "ID", at, at + 1))
        if sink:
            events.append(Assign("sink", False, True, "BOOL", at, at + 1))
        events += [Refer("next", True, "Node", target, "ID", at, at + 1) for target in after]
        events.append(Close(at + 1))
    return [*events, Close(99)] if closed else events


def evaluate(rules: str, events: list[Event]) -> Evaluation:
    return ConstraintSet.of(load_problem(GRAPH + rules)).initial().refine_all(events)


def named(evaluation: Evaluation, name: str) -> int:
    return next(n for n in evaluation.model.objects("Node") if evaluation.model.name_of(n) == name)


RULE = "propagation rule sinkEnds(Node a, Node b) <-> sink(a), Node(b) ==> !input(a, b)."


def test_what_a_rule_excludes_contradicts_the_text() -> None:
    evaluation = evaluate(RULE, nodes(("a", True, ("b",)), ("b", False, ())))
    (violation,) = evaluation.contradictions
    assert violation.constraint == "sinkEnds"
    assert violation.element_names == ("a", "b")


def test_what_a_rule_excludes_may_not_hold() -> None:
    constraints = ConstraintSet.of(load_problem(GRAPH + RULE))
    evaluation = constraints.initial().refine_all(nodes(("b", False, ())))
    evaluation = evaluation.refine(Open("Node", "nodes", True, 5))
    evaluation = evaluation.refine(Assign("name", False, "a", "ID", 5, 6))
    a, b = named(evaluation, "a"), named(evaluation, "b")
    assert evaluation.truth("input", (a, b)) is Truth.UNKNOWN
    evaluation = evaluation.refine(Assign("sink", False, True, "BOOL", 6, 7))
    assert evaluation.truth("input", (a, b)) is Truth.FALSE
    assert evaluation.truth("input", (b, a)) is Truth.FALSE  # b is closed
    assert not evaluation.contradictions


def test_what_a_rule_excludes_makes_a_constraint_unsatisfiable() -> None:
    rules = RULE + "error pred isolated(Node a) <-> !input(a, _)."
    assert not evaluate(rules, nodes(("a", False, ("a",)))).contradictions
    events = [*nodes(), Open("Node", "nodes", True, 1), Assign("name", False, "a", "ID", 1, 2)]
    assert not evaluate(rules, events).contradictions
    events.append(Assign("sink", False, True, "BOOL", 3, 4))
    violations = evaluate(rules, events).contradictions
    assert [v.constraint for v in violations] == []  # the new node may still be an input's target
    (violation,) = evaluate(rules, [*events, Close(5)]).contradictions
    assert violation.constraint == "isolated"


def test_what_a_rule_demands_must_be_possible() -> None:
    rules = "propagation rule loop(Node a) <-> sink(a) ==> input(a, a)."
    assert not evaluate(rules, nodes(("a", True, ("a",)))).contradictions
    (violation,) = evaluate(rules, nodes(("a", True, ()))).contradictions
    assert violation.constraint == "loop"
    events = nodes(("a", True, ()))[:-1]  # a is open: it may still loop
    evaluation = evaluate(rules, events)
    assert not evaluation.contradictions
    a = named(evaluation, "a")
    assert evaluation.truth("input", (a, a)) is Truth.TRUE


def test_modalities_inside_of_negations() -> None:
    rules = """
    propagation rule unless(Node a, Node b) <-> sink(b), Node(a), !must next(a, _)
        ==> !input(b, a).
    """
    events = nodes(("a", False, ()), ("b", True, ("a",)))
    assert [v.constraint for v in evaluate(rules, events).contradictions] == ["unless"]
    events = nodes(("a", False, ("a",)), ("b", True, ("a",)))
    assert not evaluate(rules, events).contradictions


@pytest.mark.parametrize(
    ("rule", "declared", "facts"),
    [
        (RULE, (("a", True, ("b",)), ("b", False, ())), ("sink(a): True", "next(a, b)")),
        (
            "propagation rule loop(Node a) <-> sink(a) ==> input(a, a).",
            (("a", True, ()),),
            ("sink(a): True", "no input(a, a)"),
        ),
        (
            "propagation rule one(Node a) <-> next(a, b), next(b, c), b != a ==> twin(a, a).",
            (("a", False, ("b",)), ("b", False, ("b",))),
            ("next(a, b)", "next(b, b)", "no twin(a, a)"),
        ),
    ],
)
def test_what_a_contradiction_rests_on(
    rule: str, declared: tuple[tuple[str, bool, tuple[str, ...]], ...], facts: tuple[str, ...]
) -> None:
    """The body of the rule, and the conclusion that fails."""
    violation = evaluate(rule, nodes(*declared, closed=True)).contradictions[0]
    assert violation.facts == facts


CHAIN = """
pred a(Node x).  pred b(Node x).  pred c(Node x).  pred d(Node x).
propagation rule first(Node x) <-> sink(x) ==> a(x).
propagation rule second(Node x) <-> a(x) ==> b(x).
propagation rule third(Node x) <-> b(x) ==> c(x), !d(x).
"""


def test_conclusions_feed_the_bodies_of_further_rules() -> None:
    constraints = ConstraintSet.of(load_problem(GRAPH + CHAIN))
    evaluation = constraints.initial().refine_all(nodes(("n", True, ()), ("m", False, ())))
    n, m = named(evaluation, "n"), named(evaluation, "m")
    for symbol, value in {"a": Truth.TRUE, "b": Truth.TRUE, "c": Truth.TRUE}.items():
        assert evaluation.truth(symbol, (n,)) is value
        assert evaluation.truth(symbol, (m,)) is not Truth.TRUE
    assert evaluation.truth("d", (n,)) is Truth.FALSE


def test_what_the_last_rule_of_a_chain_excludes_contradicts_the_text() -> None:
    """In whatever order the rules stand: what follows does not depend on it."""
    rules = (
        "pred a(Node x).",
        "propagation rule last(Node x, Node y) <-> a(x), Node(y) ==> !input(x, y).",
        "propagation rule along(Node x) <-> marked(x) ==> a(x).",
        "pred marked(Node x) <-> start(x).",
        "pred start(Node x).",
        "propagation rule begin(Node x) <-> sink(x) ==> start(x).",
    )
    for order in (rules, rules[::-1]):
        evaluation = evaluate("\n".join(order), nodes(("n", True, ("n",))))
        assert {v.constraint for v in evaluation.contradictions} == {"last"}
        assert not evaluate("\n".join(order), nodes(("n", False, ("n",)))).contradictions


def test_a_rule_may_lead_back_to_itself() -> None:
    """What follows along three references follows; what does not follow stays open."""
    rules = """
    pred far(Node x, Node y).
    propagation rule near(Node x, Node y) <-> next(x, y) ==> far(x, y).
    propagation rule on(Node x, Node z) <-> far(x, y), next(y, z) ==> far(x, z).
    """
    declared = nodes(
        ("n", False, ("m",)), ("m", False, ("o",)), ("o", False, ("p",)), ("p", False, ())
    )
    evaluation = evaluate(rules, declared)
    n, p = named(evaluation, "n"), named(evaluation, "p")
    assert evaluation.truth("far", (n, p)) is Truth.TRUE
    assert evaluation.truth("far", (p, n)) is not Truth.TRUE
