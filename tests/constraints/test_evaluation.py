"""Contradictions and obligations of a growing text, on two theories like the shipped ones."""

from __future__ import annotations

import pytest

from language_server.constraints import ConstraintSet, Evaluation, Violation
from language_server.constraints.problem import ProblemError, load_problem
from language_server.partial_model import Truth
from language_server.syntax.events import Assign, Close, Event, Open, Refer

CHART = ConstraintSet.of(
    load_problem(
        """
        class Machine { contains State[] states }
        class State {
            string[1] name
            boolean initial
            contains Transition[] transitions
            State refines
        }
        class Transition { State[1] target  string[0..1] trigger }
        pred step(State a, State b) <-> transitions(a, t), target(t, b).
        pred reached(State s) <-> initial(s) ; initial(i), State(i), step+(i, s).
        pred start(State s) <-> initial(s).
        @message("State {s} cannot be reached")
        error pred unreachable(State s) <-> !reached(s).
        error pred cyclic(State s) <-> refines+(s, s).
        error pred noStart() <-> count { start(_) } == 0.
        error pred manyStarts(State s) <-> start(s), count { start(_) } > 1.
        @severity(warning)
        error pred sameName(State a, State b) <-> name(a) == name(b), a != b.
        """
    )
)
GRAPH = ConstraintSet.of(
    load_problem(
        """
        class Graph { contains Edge[] edges }
        class Edge { Node[1] source  Node[1] target }
        @key(id) class Node { int[1] id  Function[1] label }
        enum Type { S, I }
        class Function { int[1] inputs  Type[0..1] takes  Type[1] gives }
        atom scene, filter, count, join.
        Function(scene). inputs(scene): 0. gives(scene, S).
        Function(filter). inputs(filter): 1. takes(filter, S). gives(filter, S).
        Function(count). inputs(count): 1. takes(count, S). gives(count, I).
        Function(join). inputs(join): 2. takes(join, S). gives(join, S).
        !exists(Function::new).
        pred input(Node a, Node b) <-> source(e, a), target(e, b).
        pred sink(Node n) <-> !input(n, _).
        error pred arity(Node n) <-> label(n, f), count { input(_, n) } != inputs(f).
        error pred tooMany(Node n) <-> label(n, f), count { input(_, n) } > inputs(f).
        error pred type(Node a, Node b) <->
            input(a, b), label(a, f), label(b, g), gives(f, t), !takes(g, t).
        error pred cyclic(Node n) <-> input+(n, n).
        error pred sinks() <-> count { sink(_) } != 1.
        """
    )
)


def chart(*states: str, closed: bool = False) -> list[Event]:
    """Events of a chart; ``*a>b,c`` is the initial state a with transitions to b and c."""
    events: list[Event] = [Open("Machine", None, False, 0)]
    for at, text in enumerate(states):
        name, _, targets = text.partition(">")
        name, _, refined = name.partition("<")
        events.append(Open("State", "states", True, 10 * at))
        if name.startswith("*"):
            events.append(Assign("initial", False, True, "BOOL", 10 * at, 10 * at + 1))
        name = name.strip("*")
        events.append(Assign("name", False, name, "ID", 10 * at + 1, 10 * at + 2))
        if refined:
            events.append(Refer("refines", False, "State", refined, "ID", 10 * at, 10 * at + 1))
        for target in targets.split(",") if targets else ():
            events.append(Open("Transition", "transitions", True, 10 * at + 3))
            events.append(Refer("target", False, "State", target, "ID", 10 * at + 4, 10 * at + 5))
            events.append(Close(10 * at + 5))
        events.append(Close(10 * at + 6))
    return [*events, Close(999)] if closed else events


def graph(*edges: str, closed: bool = False) -> list[Event]:
    """Events of a graph; ``1:scene 2:filter`` is an edge between two mentions."""
    events: list[Event] = [Open("Graph", None, False, 0)]
    for at, edge in enumerate(edges):
        events.append(Open("Edge", "edges", True, 10 * at))
        for feature, mention in zip(("source", "target"), edge.split(), strict=True):
            number, _, label = mention.partition(":")
            events.append(Open("Node", feature, False, 10 * at))
            events.append(Assign("id", False, int(number), "INT", 10 * at, 10 * at + 1))
            if label:
                events.append(Assign("label", False, label, "Label", 10 * at + 1, 10 * at + 2))
            events.append(Close(10 * at + 3))
        events.append(Close(10 * at + 4))
    return [*events, Close(999)] if closed else events


def codes(violations: tuple[Violation, ...]) -> list[tuple[str, tuple[str, ...]]]:
    return [(violation.code, violation.element_names) for violation in violations]


def read(constraints: ConstraintSet, events: list[Event]) -> Evaluation:
    return constraints.initial().refine_all(events)


def test_a_good_chart_has_no_problem() -> None:
    evaluation = read(CHART, chart("*a>b", "b>a,c", "c", closed=True))
    assert evaluation.obligations == ()
    assert evaluation.contradictions == ()


def test_an_unreached_state_is_an_obligation_while_it_can_be_mended() -> None:
    evaluation = read(CHART, chart("*a>a", "b"))
    assert codes(evaluation.obligations) == [("unreachable", ("b",))]
    assert evaluation.contradictions == ()  # a state to come may be initial too, or lead to b
    assert codes(evaluation.close().contradictions) == [("unreachable", ("b",))]


def test_message_names_the_element_and_its_place() -> None:
    (violation,) = read(CHART, chart("*a>a", "b")).obligations
    assert violation.message == "State b cannot be reached"
    assert (violation.start, violation.end) == (11, 12)
    assert violation.source == "constraint"


def test_a_dangling_reference_is_an_obligation_and_nothing_else() -> None:
    evaluation = read(CHART, chart("*a>b"))
    (violation,) = evaluation.obligations
    assert violation.message == "state 'b' is not declared"
    assert (violation.start, violation.end) == (4, 5)
    assert violation.source == "reference"
    assert evaluation.contradictions == ()
    assert codes(evaluation.close().contradictions) == [("unresolved-reference", ("b",))]
    assert [r.name for r in evaluation.model.unresolved()] == ["b"]


def test_a_forward_reference_resolves() -> None:
    evaluation = read(CHART, chart("*a>b", "b"))
    assert evaluation.obligations == ()
    assert evaluation.model.unresolved() == ()


def test_t23_a_name_need_be_unique_only_when_it_is_referred_to() -> None:
    assert "ambiguous-reference" not in {
        v.code for v in read(CHART, chart("*a", "b", "b")).obligations
    }
    for states in (("*a>b", "b", "b"), ("*a", "b", "b", "c>b"), ("*a", "b", "c>b", "b")):
        found = {v.code for v in read(CHART, chart(*states)).contradictions}
        assert "ambiguous-reference" in found


def test_a_cycle_is_a_contradiction_at_once() -> None:
    evaluation = read(CHART, chart("*a<b>a", "b<a"))
    assert ("cyclic", ("a",)) in codes(evaluation.contradictions)
    assert ("cyclic", ("b",)) in codes(evaluation.contradictions)


def test_counts_over_a_whole_predicate() -> None:
    assert ("no-start", ()) in codes(read(CHART, chart()).obligations)
    assert read(CHART, chart()).contradictions == ()
    assert ("many-starts", ("a",)) in codes(read(CHART, chart("*a>b", "*b")).contradictions)


def test_warnings_are_no_obligations() -> None:
    evaluation = read(CHART, chart("*a", "*a"))
    assert {v.constraint for v in evaluation.warnings} == {"sameName"}
    assert "sameName" not in {v.constraint for v in evaluation.obligations}


def test_a_missing_value_cannot_be_mended_once_its_object_is_closed() -> None:
    events = [Open("Machine", None, False, 0), Open("State", "states", True, 1)]
    events += [
        Open("Transition", "transitions", True, 2),
        Assign("trigger", False, "x", "ID", 3, 4),
    ]
    evaluation = read(CHART, events)
    assert ("missing-value", ("unnamed Transition",)) in codes(evaluation.obligations)
    assert evaluation.contradictions == ()
    (violation,) = evaluation.refine(Close(5)).contradictions
    assert violation.message == "'target' of transition needs a value"


def test_mentions_of_a_key_are_one_object() -> None:
    evaluation = read(GRAPH, graph("1:scene 2:filter", "2 3:count", closed=True))
    assert evaluation.obligations == ()
    assert len(list(evaluation.model.objects("Node"))) == 3


def test_a_label_may_stand_at_any_mention_and_be_repeated() -> None:
    evaluation = read(GRAPH, graph("1 2:filter", "2:filter 3:count", "1:scene 2", closed=True))
    assert evaluation.obligations == ()


def test_conflicting_mentions_are_a_contradiction() -> None:
    evaluation = read(GRAPH, graph("1:scene 2:filter", "2:count 3"))
    assert [v.code for v in evaluation.contradictions] == ["conflicting-values"]


def test_an_unknown_individual_is_named() -> None:
    evaluation = read(GRAPH, graph("1:scene 2:blur"))
    assert [v.message for v in evaluation.contradictions] == ["'blur' is no Function"]


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        (("1:scene 2:join",), set()),
        (("1:scene 2:filter", "3:scene 2"), {"arity", "too-many"}),
        (("1:scene 2:count", "2 3:filter"), {"type"}),
        (("1:filter 2:filter", "2 1"), {"cyclic"}),
        (("1:scene 2:scene",), {"arity", "too-many", "type"}),
    ],
)
def test_what_no_completion_mends(edges: tuple[str, ...], expected: set[str]) -> None:
    assert {v.code for v in read(GRAPH, graph(*edges)).contradictions} == expected


def test_same_edge_twice_counts_once() -> None:
    evaluation = read(GRAPH, graph("1:scene 2:filter", "1 2", "2 3:count", closed=True))
    assert evaluation.obligations == ()


def test_truth_of_derived_predicates() -> None:
    evaluation = read(GRAPH, graph("1:scene 2:filter"))
    first, second = evaluation.model.objects("Node")
    assert evaluation.truth("input", (first, second)) is Truth.TRUE
    assert evaluation.truth("input", (second, first)) is Truth.UNKNOWN
    assert evaluation.close().truth("input", (second, first)) is Truth.FALSE
    assert evaluation.truth("sink", (first,)) is Truth.FALSE


def test_candidates_are_declared_then_mentioned_names() -> None:
    model = read(CHART, chart("*a>c", "b")).model
    assert [name for name, _ in model.candidates("State")] == ["a", "b", "c"]
    labels = [name for name, _ in read(GRAPH, graph()).model.candidates("Function")]
    assert labels == ["scene", "filter", "count", "join"]


def test_export_to_networkx() -> None:
    exported = read(CHART, chart("*a>b", "b")).model.to_networkx()
    names = {data["name"] for _, data in exported.nodes(data=True)}
    assert {"a", "b"} <= names
    assert "Transition::target" in {key for _, _, key in exported.edges(keys=True)}


def facts_of(constraints: ConstraintSet, events: list[Event], code: str) -> tuple[str, ...]:
    return next(v.facts for v in read(constraints, events).obligations if v.code == code)


def test_a_violation_tells_the_facts_it_rests_on() -> None:
    assert facts_of(GRAPH, graph("1:scene 2:filter", "3:count 2"), "arity") == (
        "label(2, filter)",
        "source(unnamed Edge, 1)",
        "target(unnamed Edge, 2)",
        "source(unnamed Edge, 3)",
        "inputs(filter): 1",
    )
    assert facts_of(CHART, chart("*a<b", "b<c", "c<a"), "cyclic") == (
        "refines(a, b)",
        "refines(b, c)",
        "refines(c, a)",
    )
    assert facts_of(CHART, chart("*a>zz"), "unresolved-reference") == (
        "target(unnamed Transition, zz)",
    )


def test_degree_measures_how_much_is_missing() -> None:
    (violation,) = [
        v for v in read(GRAPH, graph("3:join 4:count")).obligations if v.code == "arity"
    ]
    assert violation.degree == 2


def test_a_mention_may_be_the_object_that_has_no_name_yet() -> None:
    constraints = ConstraintSet.of(
        load_problem(
            """
            class Machine { contains State[] states }
            class State { string[1] name  boolean initial  State next }
            pred known(State s) <-> initial(s) ; next(_, s).
            error pred tooMany() <-> count { known(_) } > 1.
            """
        )
    )
    events = [
        Open("Machine", None, False, 0),
        Open("State", "states", True, 1),
        Assign("name", False, "a", "ID", 2, 3),
        Refer("next", False, "State", "b", "ID", 4, 5),
        Close(6),
        Open("State", "states", True, 7),
        Assign("initial", False, True, "BOOL", 7, 8),
    ]
    assert read(constraints, events).contradictions == ()
    named_b = [*events, Assign("name", False, "b", "ID", 9, 10)]
    assert read(constraints, named_b).contradictions == ()
    named_c = [*events, Assign("name", False, "c", "ID", 9, 10)]
    assert [v.code for v in read(constraints, named_c).contradictions] == ["too-many"]


def test_an_object_without_identity_counts_as_soon_as_it_begins() -> None:
    constraints = ConstraintSet.of(
        load_problem(
            """
            class Machine { contains State[] states }
            class State { string[1] name  boolean final  contains Transition[] transitions }
            class Transition { string[1] event }
            error pred left(State s) <-> final(s), transitions(s, _).
            """
        )
    )
    events = [
        Open("Machine", None, False, 0),
        Open("State", "states", True, 1),
        Assign("final", False, True, "BOOL", 1, 2),
        Assign("name", False, "a", "ID", 2, 3),
    ]
    assert read(constraints, events).contradictions == ()
    begun = [*events, Open("Transition", "transitions", True, 4)]
    assert [v.code for v in read(constraints, begun).contradictions] == ["left"]


def test_scopes_bound_the_number_of_objects() -> None:
    constraints = ConstraintSet.of(
        load_problem(
            """
            class Machine { contains State[] states }
            class State { string[1] name  State next }
            scope State = 2..3.
            """
        )
    )

    def states(number: int) -> list[Event]:
        events: list[Event] = [Open("Machine", None, False, 0)]
        for at in range(number):
            events.append(Open("State", "states", True, at))
            events += [Assign("name", False, f"s{at}", "ID", at, at + 1), Close(at + 1)]
        return events

    assert [v.code for v in read(constraints, states(1)).obligations] == ["scope-state-lower"]
    assert read(constraints, states(1)).contradictions == ()
    assert read(constraints, states(3)).obligations == ()
    (violation,) = read(constraints, states(4)).contradictions
    assert violation.message == "at most 3 objects of class State are allowed"


@pytest.mark.parametrize(
    "definitions",
    [
        "pred p(X x) <-> p(x).",
        "pred p(X x) <-> !q(x). pred q(X x) <-> count { p(_) } > 1.",
        "pred p(q x) <-> X(x). pred q(X x) <-> p+(x, x).",
    ],
)
def test_a_predicate_defined_by_itself_is_refused(definitions: str) -> None:
    with pytest.raises(ProblemError, match="defined by itself"):
        load_problem(f"class X {{ X next }} {definitions.replace('p+(x, x)', 'p(x)')}")


def test_of_an_undeclared_object_nothing_else_is_reported() -> None:
    constraints = ConstraintSet.of(
        load_problem(
            """
            class M { contains V[] vars  contains U[] uses }
            class V { string[1] name  boolean flag }
            class U { V[1] of }
            error pred noFlag(U u, V v) <-> of(u, v), flag(v) == false.
            """
        )
    )
    events = [Open("M", None, False, 0), Open("U", "uses", True, 1)]
    events += [Refer("of", False, "V", "x", "ID", 2, 3), Close(3)]
    assert [v.code for v in read(constraints, events).obligations] == ["unresolved-reference"]
    events += [Open("V", "vars", True, 4), Assign("name", False, "x", "ID", 5, 6), Close(6)]
    assert [v.code for v in read(constraints, events).contradictions] == ["no-flag"]


def test_a_mention_that_is_split_again_takes_its_possibilities_along() -> None:
    constraints = ConstraintSet.of(
        load_problem(
            """
            class Root { contains Node[] nodes }
            abstract class Node { string[1] name  Node next  B best }
            class A extends Node.
            class B extends Node.
            pred linked(Node n) <-> next(n, m), B(m).
            error pred unlinked(A n) <-> !linked(n).
            """
        )
    )
    events = [
        Open("Root", None, False, 0),
        Open("A", "nodes", True, 1),
        Assign("name", False, "a", "ID", 1, 2),
        Refer("next", False, "Node", "c", "ID", 3, 4),
        Close(5),
        Open("B", "nodes", True, 6),
        Assign("name", False, "b", "ID", 6, 7),
        Refer("best", False, "B", "c", "ID", 8, 9),  # so c is a B, as far as is known
        Close(10),
    ]
    evaluation = read(constraints, events)
    assert evaluation.contradictions == ()
    evaluation = evaluation.refine(Open("A", "nodes", True, 11))
    assert evaluation.contradictions == ()
    evaluation = evaluation.refine(Assign("name", False, "c", "ID", 12, 13))
    assert ("unlinked", ("a",)) in codes(evaluation.contradictions)


@pytest.mark.parametrize("name", ["new", "kinds", "open", "gone", "role", "bounds", "end", "start"])
def test_a_class_may_have_any_name(name: str) -> None:
    theory = f"class Root {{ contains {name}[] parts }} class {name} {{ Root[1] of }}"
    events = [Open("Root", None, False, 0), Open(name, "parts", True, 1), Close(2), Close(3)]
    evaluation = read(ConstraintSet.of(load_problem(theory)), events)
    assert codes(evaluation.obligations) == [("missing-value", (f"unnamed {name}",))]


def test_values_stated_before_the_key_come_to_the_object_that_is_there() -> None:
    theory = """
    class Graph { contains Node[] nodes }
    @key(id) class Node { int[1] id  string[] tags  contains Part[] parts }
    class Part { int[0..1] size }
    """
    known = [Open("Node", "nodes", True, 1), Assign("id", False, 1, "INT", 1, 2), Close(2)]
    tags = [Assign("tags", True, tag, "ID", 6, 7) for tag in ("red", "old", "red")]
    part = [Open("Part", "parts", True, 4), Close(5)]
    again = [Open("Node", "nodes", True, 3), *part, *tags, Assign("id", False, 1, "INT", 7, 8)]
    constraints = ConstraintSet.of(load_problem(theory))
    evaluation = read(constraints, [Open("Graph", None, False, 0), *known, *again, Close(9)])
    (node,) = evaluation.model.objects("Node")
    assert evaluation.model.value(node, "tags") == ("red", "old", "red")
    assert len(evaluation.model.targets(node, "parts")) == 1
