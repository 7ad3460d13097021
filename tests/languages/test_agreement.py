"""Where grammar and problem file do not fit together, said with the places in both."""

from __future__ import annotations

import pytest
from textx import metamodel_from_str

from language_server.constraints import ConstraintSet
from language_server.constraints.problem import load_problem
from language_server.languages.agreement import Mismatch, agree

GRAMMAR = """
Model: items*=Item kind=Kind;
Item: 'item' name=ID ('size' size=INT)? ('of' of=[Item])? parts*=Part deep?='deep';
Part: 'part' item=Item | 'other' ref=[Item];
Kind: 'big' | 'small';
"""
PROBLEM = """
class Model { contains Item[] items  Kind kind }
class Item { string name  int size  Item of  contains Part[] parts  boolean deep }
class Part { contains Item item  Item ref }
enum Kind { big, small }
"""


def mismatches(problem: str) -> list[Mismatch]:
    return list(agree(metamodel_from_str(GRAMMAR), load_problem(problem)).mismatches)


def test_all_fits() -> None:
    agreement = agree(metamodel_from_str(GRAMMAR), load_problem(PROBLEM))
    assert agreement.mismatches == ()
    assert agreement.mapping.features["Part", "ref"] == "Part::ref"


WRONG = {
    "class Extra { int x }": ("error", "the grammar has no rule 'Extra' for this class"),
    "abstract class Extra.": ("error", "the grammar has no rule 'Extra' for this class"),
    "Item { string name": ("error", "no rule of the grammar fills 'Item::nam'"),
    "int size": (
        "error",
        "'Item::size' is of type string, but the grammar gives values of type int",
    ),
    "Item of": ("error", "'Item::of' is an attribute of type int, but the grammar gives"),
    "contains Part[] parts": ("error", "'Item::parts' is a plain reference, but the grammar gives"),
    "Item ref": ("error", "'Part::ref' is a containment, but the grammar gives references"),
    "contains Item item": ("error", "'Part::item' is a feature of type Model"),
    "enum Kind { big, small }": ("error", "enum 'Kind' lacks the literal 'small'"),
    "Kind kind": ("warning", "'Model' has no feature 'kind', so constraints cannot see it"),
    "big, small": ("warning", "no text of the grammar means the literal 'huge' of 'Kind'"),
}
INSTEAD = {
    "Item { string name": "Item { string nam",
    "int size": "string size",
    "Item of": "int of",
    "contains Part[] parts": "Part[] parts",
    "Item ref": "contains Item ref",
    "contains Item item": "contains Model item",
    "enum Kind { big, small }": "enum Kind { big }",
    "Kind kind": "",
    "big, small": "big, small, huge",
}


@pytest.mark.parametrize("part", WRONG)
def test_what_does_not_fit(part: str) -> None:
    severity, message = WRONG[part]
    if part in INSTEAD:
        assert part in PROBLEM
        problem = PROBLEM.replace(part, INSTEAD[part], 1)
    else:
        problem = PROBLEM + part
    found = [m for m in mismatches(problem) if m.message.startswith(message)]
    assert len(found) == 1, mismatches(problem)
    assert found[0].severity == severity


def test_places_in_both_files() -> None:
    problem = PROBLEM.replace("int size", "string size")
    (found,) = mismatches(problem)
    assert found.in_problem is not None and found.in_grammar is not None
    assert problem[slice(*found.in_problem)] == "string size"
    assert GRAMMAR[found.in_grammar[0] :].startswith("size=INT")


def test_helpers_of_the_problem_file_are_no_mismatch() -> None:
    """Abstract classes with subclasses, classes with individuals, derived opposites."""
    problem = """
    abstract class Named { string name }
    class Model { contains Item[] items opposite model  Kind kind }
    class Item extends Named {
        int size  Item of  contains Part[] parts  boolean deep
        container Model model opposite items
    }
    class Part { contains Item item  Item ref }
    class Kind { int weight }
    atom big, small. Kind(big). Kind(small). weight(big): 1.
    """
    assert mismatches(problem) == []


def test_containment_of_a_keyed_class_is_a_reference() -> None:
    grammar = "Graph: edges+=Edge; Edge: from=Node '->' to=Node; Node: id=INT;"
    problem = (
        "class Graph { contains Edge[] edges } class Edge { Node from Node to }"
        "@key(id) class Node { int id }"
    )
    assert agree(metamodel_from_str(grammar), load_problem(problem)).mismatches == ()


def test_references_with_scope_rules_of_their_own_are_linked_when_the_text_ends() -> None:
    grammar = "M: as*=A bs*=B; A: 'a' name=ID; B: 'b' plain=[A] scoped=[A:ID|+m:as] own=[A];"
    problem = "class M { contains A[] as contains B[] bs } class A { string name } "
    problem += "class B { A[1] plain A[1] scoped A[1] own }"
    metamodel = metamodel_from_str(grammar)
    metamodel.register_scope_providers({"B.own": lambda *_: None})
    theory = load_problem(problem)
    agreement = agree(metamodel, theory)
    mapping = agreement.mapping
    features = ConstraintSet.of(theory, mapping).schema.features
    assert not features["B::plain"].late
    assert features["B::scoped"].late
    assert ("B", "own") not in mapping.features  # the language's own code decides: left to textX
    assert [features[f"B::{name}"].lower for name in ("plain", "scoped", "own")] == [1, 1, 0]
    (mismatch,) = agreement.mismatches
    assert (mismatch.severity, "'own' of 'B'" in mismatch.message) == ("warning", True)
