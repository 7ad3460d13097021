"""Faults of documents: all of them, in the right place, and a model of what can be read."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest
import textx
from textx.exceptions import TextXSyntaxError

from language_server.syntax import Assign, Grammar, Open, Parse, Refer
from tests.syntax.corpus import Case, cases, tokens

CHART = Grammar.of(
    textx.metamodel_from_str(
        r"""
        Chart: 'chart' name=ID states*=State;
        State: initial?='initial' 'state' name=ID ('{' moves*=Move '}')?;
        Move: on=ID '->' to=[State] ';';
        Comment: /\/\/.*$/;
        """
    )
)
CASES = cases()
LONG_ENOUGH = [case for case in CASES if case.model.stat().st_size >= 900]

needs_corpus = pytest.mark.skipif(not CASES, reason="the corpus is not beside the project")


def marked(parse: Parse) -> list[tuple[int, str]]:
    """Start and found text of each fault."""
    return [(fault.start, fault.found) for fault in parse.faults]


def names(parse: Parse) -> list[str]:
    """Names given to objects."""
    return [
        event.value
        for event in parse.events()
        if isinstance(event, Assign) and event.feature == "name"
    ]


def test_missing_terminal() -> None:
    """A missing terminal is one fault, and everything behind it is read."""
    parse = CHART.parse("chart c state a { x -> a } state b")
    assert marked(parse) == [(25, "}")]
    assert parse.faults[0].message == "expected ';' but found '}'"
    assert parse.faults[0].expected == ("';'",)
    assert names(parse) == ["c", "a", "b"]
    assert not parse.complete


def test_superfluous_text() -> None:
    """A lexeme too many is one fault."""
    parse = CHART.parse("chart c state a } state b { x -> a; }")
    assert marked(parse) == [(16, "}")]
    assert names(parse) == ["c", "a", "b"]


def test_misspelt_keyword() -> None:
    """A misspelt keyword is replaced."""
    parse = CHART.parse("chart c staet a { x -> a; } state b")
    assert marked(parse) == [(8, "staet")]
    assert parse.faults[0].message == (
        "expected 'initial', 'state' or the end of the text but found 'staet'"
    )
    assert "b" in names(parse)


def test_three_faults_are_three() -> None:
    """Separate faults are all reported, each in its place."""
    text = "chart c state a { x > a; } state { y -> a; } state d { z -> a }"
    parse = CHART.parse(text)
    assert [text[start : start + len(found)] for start, found in marked(parse)] == [">", "{", "}"]


def test_a_bracket_too_many_closes_nothing() -> None:
    """What a bracket closes too early is read on where the rest fits: one fault, none behind it."""
    text = "chart c state a { x -> a; } y -> a; z -> b; } state b { x -> a }"
    parse = CHART.parse(text)
    assert [text[start : start + len(found)] for start, found in marked(parse)] == ["y", "}"]
    moves = [event.name for event in parse.events() if isinstance(event, Refer)]
    assert moves == ["a", "a", "b", "a"]


def test_what_closes_the_whole_text_too_early() -> None:
    """Nothing may stand behind the whole; what was read last is taken back, over segments too."""
    grammar = Grammar.of(textx.metamodel_from_str("M: '{' xs*=X '}'; X: 'x' name=ID ';';"))
    items = [f"x name{number};" for number in range(400)]
    for number in (3, 50, 51, 52, 53, 54, 55, 200):
        early = [*items[:number], "}", *items[number:-1], "x;"]
        parse = grammar.parse("{" + " ".join(early) + "}")
        assert [fault.found for fault in parse.faults] == ["x", ";"]
        assert names(parse) == [f"name{number}" for number in range(399)]


def test_missing_value_leaves_a_hole() -> None:
    """What is missing is not made up."""
    parse = CHART.parse("chart c state { x -> a; }")
    assert names(parse) == ["c"]
    assert [event.cls for event in parse.events() if isinstance(event, Open)] == [
        "Chart",
        "State",
        "Move",
    ]


def test_cut_text() -> None:
    """A text that ends too early is faulted at its end, and what is there is kept."""
    parse = CHART.parse("chart c state a { x -> ")
    assert marked(parse) == [(23, "")]
    assert parse.faults[0].message == "expected ID but the text ends"
    assert names(parse) == ["c", "a"]


def test_rubbish_is_skipped() -> None:
    """Text that is nothing is skipped up to where a rule around can go on."""
    parse = CHART.parse("chart c state a { ?? !! 12 ** x } state b state d")
    assert parse.faults[0].start == 18
    assert names(parse)[-2:] == ["b", "d"]


@pytest.mark.parametrize("text", ["", "\x00", "chart", "}" * 50, "chart c " + "state {" * 60, "😀"])
def test_never_raises(text: str) -> None:
    """Whatever the text, there is an answer."""
    parse = CHART.parse(text)
    assert parse.faults
    assert not parse.complete


@needs_corpus
def test_mutations_are_faults_as_for_textx() -> None:
    """Models with one token deleted, inserted or replaced: a fault iff textX has one, there."""
    source = random.Random(3)
    check_mutations([(case, mutated(case, source)) for case in CASES[::2]])


@needs_corpus
@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_mutations_are_faults_as_for_textx(case: Case) -> None:
    """50 of each kind for every model."""
    source = random.Random(str(case))
    texts = [mutated(case, source, kind) for kind in MUTATIONS for _ in range(50)]
    check_mutations([(case, text) for text in texts])


def check_mutations(mutants: list[tuple[Case, str]]) -> None:
    """Assert the verdict of each, and that the first fault starts where textX blames the text.

    It may also start before the white space in front of that place, at the end of the last token
    that is good, but not for more than one mutant in twenty.
    """
    faulty = exact = 0
    for case, text in mutants:
        expected = textx_fault(case, text)
        parse = case.ours().parse(text)
        assert parse.complete == (expected is None), (str(case), text)
        assert bool(parse.faults) == (expected is not None)
        if expected is not None:
            start = parse.faults[0].start
            assert start <= expected, (str(case), text)
            assert text[start:expected].strip() == "", (str(case), text)
            faulty += 1
            exact += start == expected
    assert exact >= 0.95 * faulty


MUTATIONS = ("deleted", "inserted", "replaced")


#: What stands between two places is replaced by a text.
Change = tuple[int, int, str]


def mutated(case: Case, source: random.Random, kind: str = "") -> str:
    """The case's text with one token deleted, inserted or replaced by another of its tokens."""
    spans = tokens(case.metamodel(), case.text)
    kind = kind or source.choice(MUTATIONS)
    return changed(case.text, mutation(case.text, kind, source.choice(spans), source.choice(spans)))


def mutation(text: str, kind: str, token: tuple[int, int], other: tuple[int, int]) -> Change:
    """How ``text`` is mutated at a token, with the text of another one."""
    (start, end), put = token, text[other[0] : other[1]]
    match kind:
        case "deleted":
            return start, end, ""
        case "inserted":
            return start, start, put + " "
        case _:
            return start, end, put


def changed(text: str, *changes: Change) -> str:
    """The text with changes made in it; they are given in textual order."""
    for start, end, put in reversed(changes):
        text = text[:start] + put + text[end:]
    return text


@needs_corpus
@pytest.mark.parametrize("case", LONG_ENOUGH[::4], ids=str)
def test_three_faults_of_a_model(case: Case) -> None:
    """Three separate faults are three, each in its place; a fault hides nothing behind it."""
    check_three_faults(case, random.Random(str(case)))


@needs_corpus
@pytest.mark.long
@pytest.mark.parametrize("case", LONG_ENOUGH, ids=str)
def test_many_threes_of_faults(case: Case) -> None:
    """The same for all models, with other places."""
    for seed in range(10):
        check_three_faults(case, random.Random(f"{case} {seed}"))


def check_three_faults(case: Case, source: random.Random) -> None:
    """Plant a fault into each third of the text and assert that all are found, and no other."""
    text, spans = case.text, tokens(case.metamodel(), case.text)
    places = []
    for third in range(3):
        first, last = (third * len(spans) // 3, (third + 1) * len(spans) // 3)
        margin = (last - first) // 3
        candidates = spans[first + margin : last - margin]
        source.shuffle(candidates)
        places.append(next(at for at, _ in candidates if not reads_rubbish(case, text, at)))
    for at in reversed(places):
        text = text[:at] + RUBBISH + text[at:]
    shifted = [at + index * len(RUBBISH) for index, at in enumerate(places)]
    faults = case.ours().parse(text).faults
    assert len(faults) == 3
    for at, fault in zip(shifted, faults, strict=True):
        assert fault.start <= at < fault.end
        assert text[fault.start : at].strip() == ""


#: Models, and changes of single tokens of them of which each is one fault and no more.
SINGLE_FAULTS: tuple[tuple[str, tuple[Change, ...]], ...] = (
    # what a fault costs is seen only further on
    ("textx-json-example4.json", ((2039, 2039, "} "),)),
    ("textx-json-example4.json", ((296, 296, "} "), (2039, 2039, "} "), (2775, 2775, ", "))),
    ("textx-pyflies-experiment.pf", ((1525, 1525, "shape "),)),
    ("dflow-audiobook.dflow", ((1758, 1759, ""),)),
    ("dflow-audiobook.dflow", ((2538, 2538, "token: "),)),
    ("dflow-book_appointment_ac.dflow", ((1590, 1590, "str "),)),
    ("dflow-book_appointment.dflow", ((377, 380, "ActionGroup"),)),
    ("dflow-log_food.dflow", ((767, 771, "str"),)),
    ("demol-component-esp32_wroom_32.hwd", ((2998, 2998, "gpio "),)),
    # ... much further, behind the end of what was skipped for want of a cheap repair
    ("riot-connections-example1.con", ((132, 132, "-- "),)),
    # the fault is seen behind a terminal that is missing, or wrong, or superfluous
    ("dflow-audiobook.dflow", ((2380, 2381, ""),)),
    ("textx-rrel-multifile-navigation1.model", ((965, 965, "A "),)),
    # a string is one lexeme, whatever begins with its quotes
    ("dflow-buy_amazon.dflow", ((1794, 1794, '"Please help me find and buy a " '),)),
    # no repair of the first swallows the second
    ("riot-devices-bme680.hwd", ((137, 137, "name: "), (234, 243, ""), (324, 324, "scl "))),
    ("dflow-audiobook.dflow", ((291, 291, ", "), (1759, 1759, "end "), (2538, 2538, "token: "))),
)


@needs_corpus
@pytest.mark.parametrize(("name", "changes"), SINGLE_FAULTS)
def test_a_change_is_one_fault(name: str, changes: tuple[Change, ...]) -> None:
    """Each change of a token is one fault, at it or behind it, and nothing that follows is one."""
    (case,) = (case for case in CASES if str(case) == name)
    text = changed(case.text, *changes)
    assert len(case.ours().parse(text).faults) == len(changes)
    assert case.ours().parse(text).faults[0].start == textx_fault(case, text)


@pytest.mark.parametrize("part", ("state ( s { a -> s; }\n", "state s { a -> -> s; }\n", "? "))
def test_many_faults_cost_by_their_number(
    part: str, count_calls: Callable[[Callable[[], object]], int]
) -> None:
    """What is taken back before a fault is looked up no further back than the one before."""
    some, more = (CHART.parse("chart c\n" + part * number) for number in (20, 40))
    few = count_calls(lambda: CHART.parse(some.text))
    assert count_calls(lambda: CHART.parse(more.text)) < 2.5 * few


@needs_corpus
def test_however_much_is_missing_each_fault_is_behind_the_one_before() -> None:
    """Where keywords are names what a missing bracket costs is not mended in one place."""
    (case,) = (case for case in CASES if str(case) == "dflow-ask_weather_ac.dflow")
    for change in ((315, 316, ""), (707, 708, "")):
        faults = case.ours().parse(changed(case.text, change, (941, 942, ""))).faults
        assert len({fault.start for fault in faults}) == len(faults)


def test_where_repairs_lead_nowhere_text_is_skipped() -> None:
    """Sixteen comments that never end are one fault, and what stands behind them is read."""
    grammar = Grammar.of(
        textx.metamodel_from_str(
            r"""
            List: 'list' name=ID '{' items*=Item '}';
            Item: Set | Call;
            Set: 'set' name=ID '=' value=INT ';';
            Call: 'call' to=ID '(' args*=Value[','] ')' ';';
            Value: STRING | INT;
            Comment: /\/\/.*$/ | /\/\*(.|\n)*?\*\//;
            """
        )
    )
    parse = grammar.parse("list a { " + "/* " * 16 + "\nset b = 1; }")
    assert marked(parse) == [(9, "/")]
    assert names(parse) == ["a", "b"]


@needs_corpus
@pytest.mark.parametrize("kind", MUTATIONS)
def test_three_mutations_of_a_model(kind: str) -> None:
    """A token deleted, inserted or replaced in each third of a model: a fault for each."""
    for case in LONG_ENOUGH[::4]:
        changes = three_mutations(case, kind, random.Random(f"{case} {kind}"))
        assert len(case.ours().parse(changed(case.text, *changes)).faults) >= 3


@needs_corpus
@pytest.mark.long
@pytest.mark.parametrize("kind", MUTATIONS)
def test_many_threes_of_mutations(kind: str) -> None:
    """The same for all models, with other places: exactly three, but for a few in a hundred.

    A bracket that comes or goes may honestly be two faults: what it opens or closes ends elsewhere.
    """
    counts: dict[bool, Counter[int]] = {False: Counter(), True: Counter()}
    for case in LONG_ENOUGH:
        for seed in range(25):
            changes = three_mutations(case, kind, random.Random(f"{case} {seed} {kind}"))
            faults = case.ours().parse(changed(case.text, *changes)).faults
            touched = "".join(case.text[start:end] + put for start, end, put in changes)
            counts[any(bracket in touched for bracket in "()[]{}")][len(faults)] += 1
            assert len(faults) >= 3, (str(case), changes)
    print(kind, {name: dict(sorted(found.items())) for name, found in counts.items()})
    assert counts[False][3] >= 0.98 * counts[False].total()
    assert counts[True][3] >= 0.95 * counts[True].total()


def three_mutations(case: Case, kind: str, source: random.Random) -> list[Change]:
    """A token mutated in each third of the text, where textX has a fault in that third alone."""
    text, spans = case.text, tokens(case.metamodel(), case.text)
    changes = []
    for third in range(3):
        first, last = third * len(spans) // 3, (third + 1) * len(spans) // 3
        margin = (last - first) // 3
        candidates = spans[first + margin : last - margin] * 5
        source.shuffle(candidates)
        tried = (mutation(text, kind, token, source.choice(spans)) for token in candidates)
        end = spans[last - 1][1]
        changes.append(next(each for each in tried if is_fault_before(case, each, end)))
    return changes


def is_fault_before(case: Case, change: Change, end: int) -> bool:
    """Whether textX has a fault at a change, and not behind ``end`` in the text as it was."""
    text = changed(case.text, change)
    fault = textx_fault(case, text)
    return fault is not None and change[0] <= fault + 1 <= end + 1 + len(text) - len(case.text)


#: What hardly any language has a place for.
RUBBISH = "\u00a4\u00a4 "


def reads_rubbish(case: Case, text: str, at: int) -> bool:
    """Whether textX reads the text with rubbish put in at a place, or blames another place."""
    return textx_fault(case, text[:at] + RUBBISH + text[at:]) != at


def textx_fault(case: Case, text: str) -> int | None:
    """Where textX reports a syntax error; None if it reads the text."""
    try:
        case.metamodel()._parser_blueprint.clone().parse(text)
    except TextXSyntaxError as error:
        before = text.split("\n")[: error.line - 1]
        return sum(len(line) + 1 for line in before) + error.col - 1
    return None


def test_a_predicate_that_fails_is_blamed_where_textx_blames_it() -> None:
    """``!`` fails before the white space; what is found there is told without it."""
    text = "M: 'm' names+=Name 'end'; Name: !'end' ID;"
    parse = Grammar.of(textx.metamodel_from_str(text)).parse("m  end")
    with pytest.raises(TextXSyntaxError) as error:
        textx.metamodel_from_str(text).model_from_str("m  end")
    (fault,) = parse.faults
    assert (fault.start, fault.end, fault.found) == (error.value.col - 1, 6, "end")


def test_a_quote_too_many_does_not_turn_the_rest_inside_out() -> None:
    """Where strings may hold line ends, all behind a quote too many is a lexeme gone wrong."""
    grammar = Grammar.of(
        textx.metamodel_from_str("M: items*=Item; Item: 'item' text=STRING tags+=STRING[','] ';';")
    )
    lines = [f'item "text {n}" "a", "b";' for n in range(40)]
    lines[5] = lines[5].replace('"a"', 'a"')
    text = "\n".join(lines)
    parse = grammar.parse(text)
    assert [fault.start for fault in parse.faults] == [text.index(' a"') + 1]
    read = [event.value for event in parse.events() if isinstance(event, Assign)]
    assert [f"text {n}" for n in range(7, 40)] == [v for v in read if v.startswith("text ")][-33:]
