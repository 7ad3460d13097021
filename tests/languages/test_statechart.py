"""The shipped language statechart: every construct, every constraint, the exact places."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from language_server.constraints import Violation
from language_server.languages import Language, load_language

HEAD = "statechart S\nevent e\n"


@pytest.fixture(scope="module")
def statechart() -> Language:
    return load_language("statechart")


def found(language: Language, text: str) -> list[tuple[str, str]]:
    """The name of each problem and the text it is shown at."""
    return [
        (diagnostic.constraint or diagnostic.code, text[diagnostic.start : diagnostic.end])
        for diagnostic in language.analyse(text).diagnostics
    ]


VALID = {
    "one state": "statechart S initial state A",
    "forward references": HEAD + "initial state A { on later [n > 0] -> B }\nstate B\n"
    "event later\nvar n: int",
    "nested states": HEAD + "initial state A { initial state B { on e -> C } state C }",
    "regions": HEAD
    + "initial state A { region X { initial state B } region Y { initial state C } }",
    "guards": HEAD + "var n: int = 1 var r: real = 0.5 var b: bool = true\n"
    "initial state A { on e [b and (not b or n + 2 * n >= r / 2 - 1) and b == false] -> A\n"
    "on e [true] -> A on e [n != -3] -> A }",
    "refinement": HEAD + "initial state A { on e -> B } state B refines A",
    "final state": HEAD + "initial state A { on e -> Z } final state Z",
    "inner target": HEAD + "initial state A { on e -> C } state B { initial state D state C }",
    "comments": "/* a\n b */ statechart S // c\ninitial state A { /**/ } // d",
    "names like keywords": "statechart stateful var nothing: bool event online\n"
    "initial state statement { on online [nothing] -> finally } state finally",
    "int in a real": "statechart S var r: real = 2 initial state A",
}


@pytest.mark.parametrize("name", VALID)
def test_valid(statechart: Language, name: str) -> None:
    assert found(statechart, VALID[name]) == []
    assert statechart.judge(VALID[name]) == ()


INVALID = {
    "dangling target": (
        HEAD + "initial state A { on e -> Nowhere }",
        [("unresolved-reference", "Nowhere")],
    ),
    "dangling event": (
        HEAD + "initial state A { on f -> A }",
        [("unresolved-reference", "f")],
    ),
    "dangling variable": (
        HEAD + "initial state A { on e [x] -> A }",
        [("unresolved-reference", "x")],
    ),
    "dangling refinement": (
        HEAD + "initial state A refines B",
        [("unresolved-reference", "B")],
    ),
    "two states of one name": (
        HEAD + "initial state A { on e -> B } state B state B",
        [("duplicate_name", "B"), ("duplicate_name", "B")],
    ),
    "no initial state": (HEAD + "state A", [("missing_initial", "S"), ("unreachable", "A")]),
    "no state": (HEAD, [("missing_initial", "S")]),
    "no inner initial state": (
        HEAD + "initial state A { on e -> B state B }",
        [("missing_initial", "A")],
    ),
    "no initial state in a region": (
        HEAD + "initial state A { on e -> B region R { state B } }",
        [("missing_initial", "R")],
    ),
    "two initial states": (
        HEAD + "initial state A initial state B",
        [("several_initial", "A"), ("several_initial", "B")],
    ),
    "final state left": (
        HEAD + "initial state A { on e -> Z } final state Z { on e -> A }",
        [("final_left", "Z")],
    ),
    "circular refinement": (
        HEAD + "initial state A refines B { on e -> B } state B refines A",
        [("refines_cycle", "A"), ("refines_cycle", "B")],
    ),
    "unreachable state": (HEAD + "initial state A state B", [("unreachable", "B")]),
    "unreachable although it has a self transition": (
        HEAD + "initial state A state B { on e -> B }",
        [("unreachable", "B")],
    ),
    "number as a condition": (
        HEAD + "var n: int initial state A { on e [n] -> A }",
        [("flag_type", "n")],
    ),
    "bool as a number": (
        HEAD + "var b: bool initial state A { on e [b > 1] -> A }",
        [("number_type", "b")],
    ),
    "real value of an int": (
        "statechart S var n: int = 1.5 initial state A",
        [("value_type", "n")],
    ),
    "bool value of a real": (
        "statechart S var n: real = true initial state A",
        [("value_type", "n")],
    ),
    "int value of a bool": ("statechart S var n: bool = 1 initial state A", [("value_type", "n")]),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid(statechart: Language, name: str) -> None:
    text, expected = INVALID[name]
    answer = found(statechart, text)
    if name.startswith("two states"):  # an ambiguous name is also no target
        assert {("duplicate_name", "B")} <= set(answer)
    else:
        assert sorted(answer) == sorted(expected)
    assert statechart.judge(text)


def test_the_whole_chart_is_the_root_region(statechart: Language) -> None:
    text = HEAD + "state A"
    places = {d.constraint: d for d in statechart.analyse(text).diagnostics}
    assert places["missing_initial"].elements == ("S",)
    assert "write 'initial'" in places["missing_initial"].message


@pytest.mark.parametrize(
    "keyword", ["state", "initial", "final", "event", "var", "on", "not", "int"]
)
def test_no_name_is_a_keyword(statechart: Language, keyword: str) -> None:
    """T8: an identifier must not swallow a keyword."""
    text = f"statechart S initial state {keyword}"
    assert statechart.judge(text)
    assert "syntax" in {d.source for d in statechart.analyse(text).diagnostics}
    assert statechart.judge(f"statechart S initial state {keyword}_1") == ()


def test_all_examples_are_valid_and_described(statechart: Language) -> None:
    assert len(statechart.examples) >= 12
    for example in statechart.examples:
        assert statechart.analyse(example.text).diagnostics == ()
        assert statechart.judge(example.text) == ()
        assert len(example.description.split()) > 4
        assert example.path is not None
        assert statechart.judge(example.path.read_text(encoding="utf-8")) == ()


def test_examples_of_clevr_are_valid_and_described() -> None:
    clevr = load_language("clevr")
    assert len(clevr.examples) >= 12
    for example in clevr.examples:
        assert clevr.judge(example.text) == ()
        assert example.description.endswith("?")


def test_a_state_that_nothing_can_reach_any_more(statechart: Language) -> None:
    """A dead end is known as soon as every reachable state is finished."""
    lost = HEAD + "initial state A { on e -> B } state B { } state C"
    open_to_c = HEAD + "initial state A { on e -> B } state C { } state B { on"
    assert [v.constraint for v in contradictions(statechart, lost)] == ["lost"]
    assert contradictions(statechart, open_to_c) == ()


def contradictions(language: Language, prefix: str) -> tuple[Violation, ...]:
    state = language.grammar.start().advance(prefix + " ")
    trail = state.expected()[0].trail
    return language.constraints.initial().refine_all(trail.events()).contradictions


@st.composite
def charts(draw: st.DrawFn) -> str:
    """Statecharts of up to five states, nested at random; many of them are valid."""
    count = draw(st.integers(1, 5))
    names = [f"S{number}" for number in range(count)]
    inside = [draw(st.integers(-1, number - 1)) for number in range(count)]

    def state(number: int) -> str:
        mark = draw(st.sampled_from(["", "", "", "final "]))
        if number == 0 or inside[number] not in inside[:number]:
            mark = draw(st.sampled_from(["initial "] * 5 + [mark]))
        parts = [
            f"on e -> {draw(st.sampled_from(names))}"
            for _ in range(0 if mark == "final " else draw(st.integers(0, 2)))
        ]
        parts += [state(inner) for inner in range(count) if inside[inner] == number]
        parts = draw(st.permutations(parts))
        return f"{mark}state {names[number]} {{ {' '.join(parts)} }}"

    roots = [state(number) for number in range(count) if inside[number] == -1]
    return HEAD + " ".join(draw(st.permutations(roots)))


@given(charts())
@settings(max_examples=60)
def test_no_prefix_of_a_valid_chart_is_contradictory(statechart: Language, text: str) -> None:
    parse = statechart.grammar.parse(text)
    assert parse.complete
    evaluation = statechart.constraints.initial()
    steps = []
    for event in parse.events():
        evaluation = evaluation.refine(event)
        steps.append(evaluation)
    if not evaluation.obligations:
        for step in steps:
            assert step.contradictions == (), text
