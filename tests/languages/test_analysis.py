"""The two judgements on a text: never an exception, exact places, textX as the last word."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textx import metamodel_from_str

from language_server.languages import Language, load_language
from language_server.languages.textx_judge import load_problems, run_on_large_stack
from language_server.syntax import document

METAMODELS = Path(__file__).resolve().parents[2] / "metamodels"

CHART = """statechart Door
event open
event close
initial state Closed {
    on open -> Opened
}
state Opened {
    on close -> Closed
}
"""


@pytest.fixture(scope="module")
def statechart() -> Language:
    return load_language("statechart")


def test_a_dangling_reference_at_its_exact_place(statechart: Language) -> None:
    text = CHART.replace("-> Opened", "-> Openned")
    found = {d.code: d for d in statechart.analyse(text).diagnostics}
    dangling = found["unresolved-reference"]
    assert text[dangling.start : dangling.end] == "Openned"
    assert (dangling.severity, dangling.source) == ("error", "reference")


def test_all_faults_of_a_text(statechart: Language) -> None:
    """E2: each with its own range."""
    text = CHART.replace("event open", "event 7").replace("on close", "on ->")
    faults = [d for d in statechart.analyse(text).diagnostics if d.source == "syntax"]
    assert len(faults) >= 2
    assert text[faults[0].start : faults[0].end].startswith("7")


def test_a_fault_hides_no_certain_problem(statechart: Language) -> None:
    text = CHART + "initial state Other {}\nstate ["
    names = {d.constraint or d.source for d in statechart.analyse(text).diagnostics}
    assert {"syntax", "several_initial"} <= names


def test_a_fault_brings_no_doubtful_problem(statechart: Language) -> None:
    """What a person is about to write may mend everything that is missing."""
    text = CHART.replace("state Opened {", "state {").removesuffix("}\n")
    sources = {d.source for d in statechart.analyse(text).diagnostics}
    assert sources == {"syntax"}


def test_t17_byte_order_mark(statechart: Language) -> None:
    plain = CHART.replace("-> Opened", "-> Nowhere")
    marked = "\ufeff" + plain
    without = [(d.start + 1, d.end + 1, d.code) for d in statechart.analyse(plain).diagnostics]
    assert without
    assert [(d.start, d.end, d.code) for d in statechart.analyse(marked).diagnostics] == without
    (judged, *_) = statechart.judge(marked)
    assert marked[judged.start : judged.end] == "Nowhere"


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\ufeff", "\x00", "//", "/*", "statechart", "}"])
def test_texts_that_are_hardly_any(statechart: Language, text: str) -> None:
    assert statechart.analyse(text).diagnostics
    assert statechart.judge(text)


@given(st.data())
@settings(max_examples=25)
def test_analysis_never_fails(data: st.DataObject) -> None:
    """E13: whatever is cut out of a text or put into it."""
    language = load_once()
    start = data.draw(st.integers(0, len(CHART)))
    end = data.draw(st.integers(start, min(len(CHART), start + 30)))
    insert = data.draw(st.text(alphabet='{}[]()->/*"state on \n\u00e9\U0001f600', max_size=8))
    text = CHART[:start] + insert + CHART[end:]
    analysis = language.analyse(text)
    assert not any(d.code == "internal" for d in analysis.diagnostics)
    assert all(0 <= d.start <= d.end <= len(text) for d in analysis.diagnostics)
    if not analysis.diagnostics:
        assert language.judge(text) == ()
    elif not language.judge(text):
        pytest.fail(f"textX loads it and no constraint is violated: {analysis.diagnostics}")


_loaded: list[Language] = []


def load_once() -> Language:
    if not _loaded:
        _loaded.append(load_language("statechart"))
    return _loaded[0]


def test_t15_deep_nesting(statechart: Language) -> None:
    guard = "(" * 300 + "true" + ")" * 300
    text = CHART.replace("on open ->", f"on open [{guard}] ->")
    assert statechart.judge(text) == ()
    assert statechart.analyse(text).diagnostics == ()


def test_textx_does_not_finish() -> None:
    metamodel = metamodel_from_str("M: 'a';")
    blocked = threading.Event()
    metamodel.register_model_processor(lambda model, mm: blocked.wait(20))
    (found,) = load_problems(metamodel, "a", seconds=0.2)
    blocked.set()
    assert found.code == "textx-timeout"


def test_t20_processors_that_fail() -> None:
    metamodel = metamodel_from_str("M: items+=Item; Item: 'i' n=INT;")

    def process(item):
        return 1 // item.n

    metamodel.register_obj_processors({"Item": process})
    assert load_problems(metamodel, "i 1 i 2") == ()
    (found,) = load_problems(metamodel, "i 1 i 0")
    assert "ZeroDivisionError" in found.message


def test_the_recursion_limit_is_given_back() -> None:
    import sys

    before = sys.getrecursionlimit()
    seen: list[int] = []
    assert run_on_large_stack(lambda: seen.append(sys.getrecursionlimit()), 10)
    assert seen[0] > before
    assert sys.getrecursionlimit() == before


def test_problem_files_are_analysed_like_any_language(tmp_path: Path) -> None:
    problem = load_language("problem")
    text = "class A { B x }\npred p(A a) <-> a(a, a).\n"
    found = problem.analyse(text, tmp_path / "x.problem").diagnostics
    assert [(text[d.start : d.end], d.source) for d in found] == [
        ("B x", "metamodel"),
        ("a(a, a)", "metamodel"),
    ]
    for name in ("clevr", "statechart"):
        path = load_language(name).definition.problem
        assert path is not None
        assert problem.analyse(path.read_text(encoding="utf-8"), path).diagnostics == ()


def test_a_problem_file_is_held_against_its_grammar(tmp_path: Path) -> None:
    (tmp_path / "toy.tx").write_text("Model: items*=Item; Item: 'item' name=ID;")
    text = "class Model { contains Item[] items }\nclass Itm { string name }\n"
    text = text.replace("Item[]", "Itm[]")
    found = load_language("problem").analyse(text, tmp_path / "toy.problem").diagnostics
    messages = [d.message for d in found]
    assert any("no rule 'Itm'" in message for message in messages)
    assert all(d.code == "mismatch" for d in found)


def test_typing_at_the_end_costs_little(
    count_calls: Callable[[Callable[[], object]], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands before a change is neither read nor refined nor checked again."""
    monkeypatch.setattr(document, "STRIDE", 100)
    language = load_language("statechart")
    text = "statechart S\ninitial state s0 {}\n"
    text += "".join(f"state s{n} {{ on e -> s0 }}\n" for n in range(1, 150))
    known = language.analyse(text + "event e")
    known = language.analyse(text + "event e state", known=known)
    whole = count_calls(lambda: language.analyse(text + "event e state s"))
    assert count_calls(lambda: language.analyse(text + "event e state s", known=known)) < whole / 3
