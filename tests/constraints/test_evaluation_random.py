"""Properties of the evaluation over random theories and texts, against plain enumeration."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from language_server.constraints import ConstraintSet, Evaluation, Theory
from language_server.partial_model import Truth
from language_server.syntax.events import Event
from tests.constraints.naive_evaluation import NaiveModel
from tests.constraints.random_cases import ruled_theories, sound_texts, texts, theories

RELAXED = settings(
    deadline=None,
    max_examples=20,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # shrinking takes minutes here
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def stated(evaluation: Evaluation) -> list[object]:
    """What an evaluation answers, for comparison."""
    return [evaluation.obligations, evaluation.contradictions]


def verdict(evaluation: Evaluation) -> tuple[set[object], set[object]]:
    """Violated error predicates and features with object numbers in textual order."""
    order = {
        node: number
        for number, node in enumerate(
            sorted(evaluation.model.objects(), key=lambda n: evaluation.model.span(n)[0])
        )
    }
    predicates: set[object] = set()
    features: set[object] = set()
    for violation in evaluation.obligations:
        elements = tuple(order[node] for node in violation.elements)
        if violation.source == "constraint":
            predicates.add((violation.constraint, elements))
        elif violation.source == "metamodel":
            features.add((violation.constraint, elements[0]))
    return predicates, features


def certain_facts_hold(theory: Theory, naive: NaiveModel, events: list[Event], cut: int) -> None:
    """What is true or false of the first events is so in the whole."""
    names = {naive.values["Node::name", n]: n for n in range(1, len(naive.cls))}
    evaluation = ConstraintSet.of(theory).initial().refine_all(events[:cut])
    model = evaluation.model
    known = [(node, names[model.name_of(node)]) for node in model.objects() if model.name_of(node)]
    for predicate in ("p", "q", "Node::next", "Node::uses", "A::parts"):
        rows = naive.links.get(predicate)
        whole = naive.rows(predicate) if rows is None else rows
        for one, first in known:
            for other, second in known:
                truth = evaluation.truth(predicate, (one, other))
                assert truth is not Truth.ERROR
                if truth is not Truth.UNKNOWN:
                    holds = (first, second) in whole
                    assert holds == truth.must, (predicate, first, second)


@RELAXED
@given(theories(), st.one_of(texts(), sound_texts(4), sound_texts(5)))
def test_document_view_equals_plain_enumeration(theory: Theory, events: list[Event]) -> None:
    naive = NaiveModel(theory, events)
    evaluation = ConstraintSet.of(theory).initial().refine_all(events)
    unresolved = any(v.source == "reference" for v in evaluation.obligations)
    assert unresolved == (not naive.sound)
    if naive.sound:
        predicates, features = verdict(evaluation)
        assert predicates == naive.violations()
        assert features == naive.missing()


@RELAXED
@given(theories(), texts(), st.data())
def test_incremental_equals_from_scratch(
    theory: Theory, events: list[Event], data: st.DataObject
) -> None:
    constraints = ConstraintSet.of(theory)
    evaluation = constraints.initial()
    for number, event in enumerate(events):
        evaluation = evaluation.refine(event)
        if data.draw(st.booleans()):
            anew = constraints.initial().refine_all(events[: number + 1])
            assert stated(evaluation) == stated(anew)
    assert stated(evaluation) == stated(constraints.initial().refine_all(events))


@RELAXED
@given(theories(), texts())
def test_earlier_values_stay_as_they_were(theory: Theory, events: list[Event]) -> None:
    evaluation = ConstraintSet.of(theory).initial()
    history = []
    for event in events:
        history.append((evaluation, stated(evaluation)))
        evaluation = evaluation.refine(event)
    for earlier, answers in history:
        again = Evaluation(earlier.constraints, earlier.model, earlier._base, earlier._pending)
        assert stated(again) == answers


def stays_consistent(theory: Theory, events: list[Event]) -> None:
    """Assert that no prefix of a text is contradictory and nothing is owed behind it."""
    evaluation = ConstraintSet.of(theory).initial()
    for event in events:
        assert not evaluation.contradictions, evaluation.contradictions
        evaluation = evaluation.refine(event)
    assert not evaluation.contradictions
    assert not evaluation.obligations


@RELAXED
@given(theories(), sound_texts(4))
def test_no_prefix_of_a_consistent_text_is_contradictory(
    theory: Theory, events: list[Event]
) -> None:
    naive = NaiveModel(theory, events)
    if not naive.sound or naive.violations() or naive.missing():
        return
    stays_consistent(theory, events)


@RELAXED
@given(theories(), sound_texts(5), st.data())
def test_what_is_certain_of_a_prefix_holds_in_the_whole(
    theory: Theory, events: list[Event], data: st.DataObject
) -> None:
    naive = NaiveModel(theory, events)
    certain_facts_hold(theory, naive, events, data.draw(st.integers(1, len(events))))


@RELAXED
@given(ruled_theories(), sound_texts(4))
def test_a_finished_text_contradicts_rules_where_their_conclusions_fail(
    theory: Theory, events: list[Event]
) -> None:
    naive = NaiveModel(theory, events)
    if not naive.sound:
        return
    found = ConstraintSet.of(theory).initial().refine_all(events).contradictions
    rules = {rule.name for rule in theory.rules}
    assert any(each.constraint in rules for each in found) == bool(naive.breaches())


@RELAXED
@given(ruled_theories(), sound_texts(4))
def test_a_rule_removes_no_completion(theory: Theory, events: list[Event]) -> None:
    """No prefix of a text in which all conclusions hold is contradictory."""
    naive = NaiveModel(theory, events)
    if not naive.sound or naive.violations() or naive.missing() or naive.breaches():
        return
    stays_consistent(theory, events)


@RELAXED
@given(ruled_theories(), sound_texts(4), st.data())
def test_what_follows_by_rules_holds_in_the_whole(
    theory: Theory, events: list[Event], data: st.DataObject
) -> None:
    """A conclusion about a prefix is true of each text in which all conclusions hold."""
    naive = NaiveModel(theory, events)
    if not naive.sound or naive.breaches():
        return
    certain_facts_hold(theory, naive, events, data.draw(st.integers(1, len(events))))
