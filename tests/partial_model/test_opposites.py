"""Opposites are one relation, from whichever end it is stated."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from language_server.constraints import ConstraintSet
from language_server.constraints.graph import Graph
from language_server.constraints.problem import load_problem
from language_server.partial_model import Draft

CONSTRAINTS = ConstraintSet.of(
    load_problem(
        """
        class Person {
            Person[] knows
            Person[] friends opposite friends subsets knows
            Club[] favourites
            Club[] clubs opposite members subsets favourites
            contains Person[] children opposite parent
            container Person[0..1] parent opposite children
        }
        class Club {
            Person[] visitors
            Person[] members opposite clubs subsets visitors
            Person[] chairs subsets members
        }
        """
    )
)
PERSONS, CLUBS = st.integers(0, 2), st.integers(3, 4)
LINKS = st.lists(
    st.one_of(
        st.tuples(st.just("Person::friends"), PERSONS, PERSONS),
        st.tuples(st.just("Person::clubs"), PERSONS, CLUBS),
        st.tuples(st.sampled_from(["Club::members", "Club::chairs"]), CLUBS, PERSONS),
        st.tuples(st.sampled_from(["Person::children", "Person::parent"]), PERSONS, PERSONS),
    ),
    max_size=8,
)


def implied(symbol: str, source: int, target: int) -> set[tuple[str, int, int]]:
    """What a reference says with its opposite and what they are subsets of."""
    found: set[tuple[str, int, int]] = set()
    waiting = [(symbol, source, target)]
    while waiting:
        symbol, source, target = link = waiting.pop()
        if link not in found:
            found.add(link)
            feature = CONSTRAINTS.schema.features[symbol]
            waiting += [(superset, source, target) for superset in feature.supersets]
            waiting += [(feature.opposite, target, source)] if feature.opposite else []
    return found


@given(LINKS)
def test_both_ends_say_the_same(links: list[tuple[str, int, int]]) -> None:
    graph = Graph(CONSTRAINTS)
    objects = [graph.add(cls) for cls in ("Person",) * 3 + ("Club",) * 2]
    assert objects == list(range(5))
    for symbol, source, target in links:
        graph.link(source, symbol, target)
    model = graph.evaluate().model
    meant = {link for each in links for link in implied(*each)}
    for symbol in CONSTRAINTS.schema.features:
        stated = {(s, t) for name, s, t in meant if name == symbol}
        assert {(s, t) for s in objects for t in model.targets(s, symbol)} == stated
        assert {(s, t) for t in objects for s in model.sources(t, symbol)} == stated
    edges = model.to_networkx().edges(keys=True)
    assert {(name, s, t) for s, t, name in edges} == meant
    whole = {
        t: {s for name, s, o in meant if name == "Person::children" and o == t} for t in objects
    }
    assert {t: set(model.of(t).get("<contains", ())) for t in objects} == whole
    draft = Draft(model)
    for symbol, source, target in links:
        draft.unlink(CONSTRAINTS.schema.features[symbol], source, target)
    nothing = draft.commit()
    assert not nothing.stated
    assert not nothing.facts  # nor is it counted any more how often something is stated
