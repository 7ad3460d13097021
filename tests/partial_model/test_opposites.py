"""Opposites are one relation, from whichever end it is stated."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from language_server.constraints import ConstraintSet
from language_server.constraints.graph import Graph
from language_server.constraints.problem import load_problem
from language_server.partial_model import Draft, PartialModel

CONSTRAINTS = ConstraintSet.of(
    load_problem(
        """
        class Person {
            Person[] knows
            Person[] friends opposite friends subsets knows
            Person[] likes opposite likedBy subsets likedBy
            Person[] likedBy opposite likes
            Club[] favourites subsets near
            Club[] near subsets favourites
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
OBJECTS = range(5)
PERSONS, CLUBS = st.integers(0, 2), st.integers(3, 4)
LINKS = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["Person::friends", "Person::likes", "Person::likedBy"]),
            PERSONS,
            PERSONS,
        ),
        st.tuples(st.just("Person::near"), PERSONS, CLUBS),
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


def check(model: PartialModel, links: list[tuple[str, int, int]]) -> None:
    """The model says what the links say, and nothing else, from whichever end it is asked."""
    meant = {link for each in links for link in implied(*each)}
    for symbol in CONSTRAINTS.schema.features:
        stated = {(s, t) for name, s, t in meant if name == symbol}
        assert {(s, t) for s in OBJECTS for t in model.targets(s, symbol)} == stated
        assert {(s, t) for t in OBJECTS for s in model.sources(t, symbol)} == stated
    edges = model.to_networkx().edges(keys=True)
    assert {(name, s, t) for s, t, name in edges} == meant
    whole = {
        t: {s for name, s, o in meant if name == "Person::children" and o == t} for t in OBJECTS
    }
    assert {t: set(model.of(t).get("<contains", ())) for t in OBJECTS} == whole


@given(LINKS)
def test_both_ends_say_the_same(links: list[tuple[str, int, int]]) -> None:
    graph = Graph(CONSTRAINTS)
    assert [graph.add(cls) for cls in ("Person",) * 3 + ("Club",) * 2] == list(OBJECTS)
    for symbol, source, target in links:
        graph.link(source, symbol, target)
    model = graph.evaluate().model
    check(model, links)
    for taken_back, (symbol, source, target) in enumerate(links, 1):
        draft = Draft(model)
        draft.unlink(CONSTRAINTS.schema.features[symbol], source, target)
        model = draft.commit()
        check(model, links[taken_back:])
    assert not model.stated
    assert not model.facts  # nor is it counted any more how often something is stated
