"""Facts that hold from the start: a closed vocabulary for one request."""

from __future__ import annotations

from language_server.constraints import Assertion, ConstraintSet
from language_server.constraints.problem import load_problem
from language_server.constraints.theory import Individual
from language_server.syntax.events import Assign, Close, Event, Open, Refer

TAXONOMY = ConstraintSet.of(
    load_problem(
        """
        class Taxonomy { contains Edge[] edges }
        class Edge { Concept[1] narrower  Concept[1] broader }
        @key(name, first) @ignorecase class Concept { string[1] name }
        pred under(Concept a, Concept b) <-> narrower(e, a), broader(e, b).
        pred root(Concept c) <-> !under(c, _).
        error pred roots() <-> count { root(_) } != 1.
        """
    )
)
VOCABULARY = (
    *(Assertion("Concept", (Individual(name),), "true") for name in ("thing", "Cat", "dog")),
    Assertion("exists", (Individual("Concept::new"),), "false"),
)


def edges(*pairs: tuple[str, str]) -> list[Event]:
    events: list[Event] = [Open("Taxonomy", None, False, 0)]
    for pair in pairs:
        events.append(Open("Edge", "edges", True, 1))
        for feature, name in zip(("narrower", "broader"), pair, strict=True):
            events.append(Open("Concept", feature, False, 1))
            events += [Assign("name", False, name, "Name", 1, 2), Close(2)]
        events.append(Close(3))
    return events


def test_given_objects_are_there_and_offered() -> None:
    start = TAXONOMY.initial(VOCABULARY)
    assert [name for name, _ in start.model.candidates("Concept")] == ["thing", "Cat", "dog"]
    assert [v.code for v in start.obligations] == ["roots"]
    assert start.contradictions == ()


def test_mentions_are_the_given_objects() -> None:
    evaluation = TAXONOMY.initial(VOCABULARY)
    evaluation = evaluation.refine_all(edges(("cat", "thing"), ("dog", "THING")))
    assert evaluation.close().obligations == ()
    assert len(list(evaluation.model.objects("Concept"))) == 3


def test_nothing_but_the_given_objects_may_be_mentioned() -> None:
    evaluation = TAXONOMY.initial(VOCABULARY).refine_all(edges(("bird", "thing")))
    (violation,) = evaluation.contradictions
    assert violation.code == "not-given"
    assert violation.message == "there is no concept 'bird'; there are Cat, dog, thing"


def test_without_exclusion_the_vocabulary_is_open() -> None:
    evaluation = TAXONOMY.initial(VOCABULARY[:-1]).refine_all(edges(("bird", "thing")))
    assert evaluation.contradictions == ()


def test_a_given_object_that_is_referred_to_is_still_to_be_declared() -> None:
    """A name means an object of the text for textX, so the text has to have it."""
    constraints = ConstraintSet.of(
        load_problem("class M { contains S[] states } class S { string[1] name  S next }")
    )
    given = (
        Assertion("S", (Individual("a"),), "true"),
        Assertion("exists", (Individual("S::new"),), "false"),
    )
    events: list[Event] = [Open("M", None, False, 0), Open("S", "states", True, 1)]
    evaluation = constraints.initial(given[:1]).refine_all(
        [*events, Refer("next", False, "S", "a", "ID", 2, 3), Close(4)]
    )
    assert [reference.name for reference in evaluation.model.unresolved()] == ["a"]
    declared: list[Event] = [
        Open("S", "states", True, 5),
        Assign("name", False, "a", "ID", 5, 6),
        Close(7),
    ]
    evaluation = evaluation.refine_all(declared)
    assert evaluation.model.unresolved() == ()
    assert len(list(evaluation.model.objects("S"))) == 2
    evaluation = constraints.initial(given).refine_all([*events, Close(2)])
    assert "not-given" in [v.code for v in evaluation.contradictions]
