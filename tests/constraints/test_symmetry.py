"""Which individuals are alike: by what the theory says of them, not by how they are spelt."""

from __future__ import annotations

from language_server.constraints import ConstraintSet
from language_server.constraints.problem import load_problem
from language_server.constraints.symmetry import representative, unused_alike
from language_server.partial_model import PartialModel
from language_server.syntax.events import Assign, Event, Open

PROBLEM = """
    enum Kind { LENGTH, TASTE, COLOUR }
    class Property { Kind[1] kind }
    class M { contains Ask[] asks }
    class Ask { Property[1] of }
    error pred tasteless(Ask a) <-> of(a, p), kind(p, TASTE).
    Property(length). kind(length, LENGTH).
    Property(width). kind(width, LENGTH).
    Property(height). kind(height, LENGTH).
    Property(sweet). kind(sweet, TASTE).
    Property(colour). kind(colour, COLOUR).
    !exists(Property::new).
"""


def refined(*events: Event) -> tuple[ConstraintSet, PartialModel]:
    constraints = ConstraintSet.of(load_problem(PROBLEM), None)
    evaluation = constraints.initial()
    for event in events:
        evaluation = evaluation.refine(event)
    return constraints, evaluation.model


def names(constraints: ConstraintSet, model: PartialModel) -> list[list[str | None]]:
    return [
        [model.nodes[each].name for each in group] for group in unused_alike(constraints, model)
    ]


def test_what_the_theory_says_the_same_of_is_alike() -> None:
    assert names(*refined()) == [["length", "width", "height"]]


def test_what_the_text_refers_to_is_like_nothing_else() -> None:
    constraints, model = refined(
        Open("M", None, False, 0),
        Open("Ask", "asks", True, 0),
        Assign("of", False, "length", "Property", 1, 2),
    )
    assert names(constraints, model) == [["width", "height"]]
    told = [representative(constraints, model, each) for each in ("width", "height", "sweet")]
    assert told[0] == told[1] != told[2]


def test_names_that_differ_in_case_are_two() -> None:
    constraints, model = refined()
    assert representative(constraints, model, "width") == "length"
    assert representative(constraints, model, "length") is None  # or LENGTH, for all one knows
    assert representative(constraints, model, "Colour") is None
    assert representative(constraints, model, "weight") is None
