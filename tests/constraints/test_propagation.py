"""Propagation rules: what they exclude cannot hold, what they demand must be possible."""

from __future__ import annotations

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
