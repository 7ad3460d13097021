"""What may come next: prefixes of the shipped languages, judged by hand and by textX."""

from __future__ import annotations

from dataclasses import replace

import pytest

from language_server.languages import Language, load_language
from language_server.projection import Effort, Prefix


@pytest.fixture(scope="module")
def clevr() -> Language:
    return load_language("clevr")


@pytest.fixture(scope="module")
def statechart() -> Language:
    return load_language("statechart")


def keywords(prefix: Prefix) -> set[str]:
    return {move.text for move in prefix.moves() if move.kind == "keyword"}


def test_advance_leaves_the_prefix_as_it_was(clevr: Language) -> None:
    before = Prefix.start(clevr).advance("graph LR\n1")
    moves = before.moves()
    before.advance('["scene"] --> 2["unique"]')
    assert before.text == "graph LR\n1"
    assert before.moves() == moves


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1000])
def test_pieces_equal_the_whole(statechart: Language, piece: int) -> None:
    text = statechart.examples[0].text
    prefix = Prefix.start(statechart)
    for begin in range(0, len(text), piece):
        prefix = prefix.advance(text[begin : begin + piece])
        assert prefix.alive
    assert prefix.complete


def test_a_type_error_is_refused_as_soon_as_it_is_certain(clevr: Language) -> None:
    prefix = Prefix.start(clevr).advance('graph LR\n1["scene"] --> 2["')
    assert "unique" in keywords(prefix)
    # query_color takes an object; the scene yields a set.
    assert "query_color" not in keywords(prefix)
    refused = prefix.advance('query_color"]')
    assert not refused.alive
    assert refused.reasons


def test_a_reference_may_be_to_something_not_declared_so_far(statechart: Language) -> None:
    prefix = Prefix.start(statechart).advance("statechart A\nevent go\ninitial state B { on go -> ")
    kinds = {(move.kind, move.text) for move in prefix.moves()}
    assert ("reference", "B") in kinds
    assert any(kind == "declaration" for kind, _ in kinds)


def test_an_undeclared_name_is_proposed_where_it_can_be_declared(statechart: Language) -> None:
    text = "statechart A\nevent go\ninitial state B { on go -> Home }\nstate "
    prefix = Prefix.start(statechart).advance(text)
    assert "Home" in [move.text for move in prefix.moves() if move.kind == "declaration"]


def test_what_a_keyword_must_go_on_with_is_forced(statechart: Language) -> None:
    assert Prefix.start(statechart).advance("statech").forced() == "art"
    # Before a terminal white space and comments are the writer's choice.
    assert Prefix.start(statechart).forced() == ""


def test_nothing_reaches_a_state_any_more(statechart: Language) -> None:
    prefix = Prefix.start(statechart).advance("statechart A\ninitial state B { }\nstate C { }\n")
    assert not prefix.complete
    assert any("C" in violation.message for violation in prefix.finished.obligations)  # type: ignore[union-attr]


def test_what_is_owed_is_counted(statechart: Language) -> None:
    """An initial state, then the state that is named and not declared; in between two values."""
    prefix = Prefix.start(statechart).advance("statechart Door\nevent open\n")
    assert prefix.obligations == 1
    prefix = prefix.advance("initial state Closed { on open -> Open }\n")
    assert prefix.obligations == 1
    assert prefix.advance("state Open\n").obligations == 0


def test_grammar_alone_knows_no_constraint(clevr: Language) -> None:
    text = 'graph LR\n1["scene"] --> 2["query_color"]'
    assert Prefix.of_grammar(clevr).advance(text).complete
    assert not Prefix.start(clevr).advance(text).alive


def test_what_was_tried_in_a_comment_changes_nothing(clevr: Language) -> None:
    """Behind the beginning of a comment no keyword can stand at once; that says nothing of it."""
    text = 'graph LR\n1["scene"] --> 2["filter_color_gray"]\n2 --> 3["'
    prefix = Prefix.start(clevr).advance(text)
    assert prefix.advance("%").readings
    assert not prefix.advance("s").alive
    assert prefix.advance("unique").alive


def test_a_text_by_the_grammar_alone_can_be_judged_at_any_place(clevr: Language) -> None:
    prefix = Prefix.of_grammar(clevr).advance('graph LR\n1["scene"] --> 2')
    assert prefix.judged.alive
    prefix = prefix.advance('["query_color"]')
    assert prefix.alive
    assert not prefix.judged.alive
    strict = Prefix.start(clevr)
    assert strict.judged is strict


@pytest.mark.parametrize(
    ("text", "since", "units", "ended"),
    [
        ("statechart A", 0, (), False),
        ("statechart A event e", 12, (), False),  # the name may go on
        ("statechart A event e ", 12, (), True),
        ("statechart A event e ", 20, (), False),
        ("statechart A event e state B {", 20, (), False),  # an object has begun, none has ended
        ("statechart A event e state B { on e -> C ", 20, (), True),
        ("statechart A event e state B { on e -> C ", 20, ("State",), False),
        ("statechart A event e state B { on e -> C }", 20, ("State",), True),
        ("statechart A event e state B { on e [x > 1] -> C", 20, ("Comparison",), True),
        ("statechart A event e state B { on e [x > 1] -> C", 20, ("Variable",), False),
    ],
)
def test_where_a_unit_has_ended(
    statechart: Language, text: str, since: int, units: tuple[str, ...], ended: bool
) -> None:
    language = replace(statechart, definition=replace(statechart.definition, units=units))
    for start in (Prefix.start, Prefix.of_grammar):
        assert start(language).advance(text).ends_unit(since) is ended


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("clevr", ""),
        ("clevr", 'graph LR\n    1["scene"] --> 2["filter_color_gray"]\n    1 --> 3["unique"]'),
        ("statechart", ""),
        ("statechart", "statechart A\nevent go\ninitial state B {\n    on go -> "),
        ("statechart", "statechart A\nevent go\ninitial state B {\n    on go -> Home\n"),
        ("statechart", "statechart A\nvar x: int\nevent e\ninitial state S { on e [x "),
    ],
)
def test_a_witness_completes_to_what_textx_loads(language: str, text: str) -> None:
    loaded = load_language(language)
    verdict = Prefix.start(loaded).advance(text).completable()
    assert verdict.answer == "yes"
    assert verdict.witness is not None
    assert loaded.judge(text + verdict.witness) == ()


def test_a_witness_serves_as_long_as_the_text_follows_it(clevr: Language) -> None:
    prefix = Prefix.start(clevr).advance('graph LR\n    1["scene"] --> 2["unique"]')
    first = prefix.completable()
    assert first.witness is not None and first.spent > 0
    later = prefix.advance(first.witness[:5]).completable()
    assert later.witness == first.witness[5:]
    assert later.spent == 0


def test_without_effort_the_answer_is_unknown(clevr: Language) -> None:
    prefix = Prefix.start(clevr).advance('graph LR\n    1["scene"] --> 2["unique"]')
    verdict = prefix.completable(Effort(texts=1, pools=()))
    assert verdict.answer == "unknown"
    assert verdict.reasons


@pytest.mark.parametrize("function", ["equal_shape", "equal_color", "equal_size", "equal_material"])
def test_what_a_node_has_may_be_stated_again_and_nothing_else(
    clevr: Language, function: str
) -> None:
    """Functions that are like each other are so only as long as the text uses none of them."""
    head = (
        'graph LR\n1["scene"] --> 5\n1 --> 6\n5["unique"] --> 7["equal_shape"]\n6["unique"] --> 7["'
    )
    prefix = Prefix.start(clevr).advance(head)
    assert prefix.advance(function).alive == (function == "equal_shape")
    for end in range(1, len(function) + 1):
        if "equal_shape".startswith(function[:end]):
            assert prefix.advance(function[:end]).alive, function[:end]


@pytest.mark.parametrize(
    ("target", "begun", "alive"),
    [
        ("Red", "state ", False),  # nothing can lead to another state any more
        ("Red", "state Gr", False),
        ("Green", "state Gr", True),  # it may become the one that is waited for
        ("Green", "state Blue", True),  # a transition of Green may lead there
    ],
)
def test_an_object_that_no_name_can_save_is_not_begun(
    statechart: Language, target: str, begun: str, alive: bool
) -> None:
    """Else a name would go on until the budget is used up: only behind it the fault shows."""
    head = f"statechart T\nevent a\ninitial state Red {{ on a -> {target} }}\n"
    prefix = Prefix.start(statechart).advance(head + begun)
    assert prefix.alive == alive
    assert prefix.advance("x ").alive == alive
