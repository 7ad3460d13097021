"""Linking equals textX: which texts load, and what their references mean (T23, T26)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from textx import metamodel_from_str
from textx.exceptions import TextXSemanticError

from language_server.constraints import ConstraintSet, Evaluation
from language_server.constraints.problem import load_problem
from language_server.syntax import Grammar

LANGUAGE = """
Model: items*=Item;
Item: Node | Edge | Group;
Node: First | Second;
First: 'first' name=ID ('next' next=[Node])? ('all' all+=[Second][','])?;
Second: 'second' ('on' on=[First])? name=ID;
Edge: 'edge' from=[Node] to=[Item];
Group: 'group' name=ID? '{' items*=Item '}';
"""
THEORY = """
class Model { contains Item[] items }
abstract class Item.
abstract class Node extends Item { string[1] name }
class First extends Node { Node[0..1] next  Second[] all }
class Second extends Node { First[0..1] on }
class Edge extends Item { Node[1] from  Item[1] to }
class Group extends Item { string[0..1] name  contains Item[] items }
"""
METAMODEL = metamodel_from_str(LANGUAGE)
GRAMMAR = Grammar.of(METAMODEL)
CONSTRAINTS = ConstraintSet.of(load_problem(THEORY))
REFERENCES = {"next": "First", "all": "First", "on": "Second", "from": "Edge", "to": "Edge"}


def read(text: str) -> Evaluation:
    parse = GRAMMAR.parse(text)
    assert not parse.faults, (text, parse.faults)
    return CONSTRAINTS.initial().refine_all(parse.events()).close()


NAMES = st.sampled_from(["a", "b", "c", "d"])


@st.composite
def items(draw: Any, depth: int = 0) -> str:
    kind = draw(st.integers(0, 3 if depth < 2 else 2))
    if kind == 0:
        text = f"first {draw(NAMES)}"
        if draw(st.booleans()):
            text += f" next {draw(NAMES)}"
        names = draw(st.lists(NAMES, max_size=2))
        return text + (f" all {', '.join(names)}" if names else "")
    if kind == 1:
        return f"second {f'on {draw(NAMES)} ' if draw(st.booleans()) else ''}{draw(NAMES)}"
    if kind == 2:
        return f"edge {draw(NAMES)} {draw(NAMES)}"
    inner = " ".join(draw(st.lists(items(depth + 1), max_size=3)))
    return f"group {draw(NAMES) if draw(st.booleans()) else ''} {{ {inner} }}"


def links_by_textx(model: Any) -> set[tuple[int, str, int]]:
    found = set()
    waiting = list(model.items)
    while waiting:
        item = waiting.pop()
        waiting.extend(getattr(item, "items", ()))
        for feature in REFERENCES:
            value = getattr(item, feature, None)
            for target in value if isinstance(value, list) else [value]:
                if target is not None:
                    found.add((item._tx_position, feature, target._tx_position))
    return found


def links_by_model(evaluation: Evaluation) -> set[tuple[int, str, int]]:
    model = evaluation.model
    return {
        (model.span(node)[0], feature, model.span(target)[0])
        for feature, owner in REFERENCES.items()
        for node in model.objects(owner)
        for target in model.targets(node, feature)
    }


@settings(max_examples=100)
@given(st.lists(items(), max_size=6))
def test_t23_references_mean_what_textx_says(parts: list[str]) -> None:
    text = " ".join(parts)
    evaluation = read(text)
    wrong = {v.code for v in evaluation.obligations}
    try:
        model = METAMODEL.model_from_str(text)
    except TextXSemanticError as error:
        expected = "ambiguous" if "not unique" in str(error) else "unresolved"
        assert f"{expected}-reference" in wrong, (text, str(error))
    else:
        assert wrong == set(), text
        if parts:
            assert links_by_model(evaluation) == links_by_textx(model), text


def test_a_declaration_takes_over_what_was_mentioned() -> None:
    evaluation = read("edge a b first b next b second a")
    assert evaluation.obligations == ()
    model = evaluation.model
    (edge,) = model.objects("Edge")
    assert [model.name_of(n) for n in model.targets(edge, "from")] == ["a"]
    assert model.targets(edge, "to") == tuple(model.objects("First"))


def test_spans_are_those_of_the_names() -> None:
    text = "second on x  y first x"
    model = read(text).model
    (second,) = model.objects("Second")
    start, end = model.name_span(second)
    assert text[start:end] == "y"
    (first,) = model.objects("First")
    assert text[slice(*model.span(first))] == "first x"


def test_unresolved_references_have_exact_places() -> None:
    text = "edge a bcd first a"
    violations = read(text).obligations
    assert [(v.message, text[v.start : v.end]) for v in violations] == [
        ("item 'bcd' is not declared", "bcd")
    ]


def test_t26_linking_costs_by_the_number_of_references(
    count_calls: Callable[[Callable[[], object]], int],
) -> None:
    def cost(number: int) -> int:
        names = " ".join(f"first n{i}" for i in range(number))
        edges = " ".join(f"edge n{i} n{(i * 7) % number}" for i in range(number))
        trail = list(GRAMMAR.parse(f"{edges} {names}").events())
        closed = []
        calls = count_calls(
            lambda: closed.append(CONSTRAINTS.initial().refine_all(trail).close().obligations)
        )
        assert closed == [()]
        return calls

    cost(50)
    assert cost(800) < 6 * cost(200)
