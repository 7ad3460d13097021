"""What real users of textX hit; each test is named after its trap."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import textx

from language_server.syntax import Assign, Grammar, Open, ParseState
from tests.syntax.brute import textx_reads


def grammar(text: str, **options: Any) -> Grammar:
    """The grammar ``text``."""
    return Grammar.of(textx.metamodel_from_str(text, **options))


def same_as_textx(text: str, *inputs: str, **options: Any) -> None:
    """Assert that each input is read iff textX reads it, as a document and as a prefix."""
    metamodel = textx.metamodel_from_str(text, **options)
    ours = Grammar.of(metamodel)
    for given in inputs:
        reads = textx_reads(metamodel._parser_blueprint, given)
        assert ours.parse(given).complete == reads, given
        assert (ours.start().advance(given).finish() is not None) == reads, given


def words(state: ParseState) -> set[str]:
    """The names of the terminals that may come."""
    return {expected.terminal.name for expected in state.expected()}


def with_deep_stack(job: Callable[[], Any]) -> Any:
    """Run ``job``, that calls textX, with a stack for deep texts."""
    result: list[Any] = []
    limit = sys.getrecursionlimit()
    previous = threading.stack_size(256 * 1024 * 1024)
    sys.setrecursionlimit(200_000)
    thread = threading.Thread(target=lambda: result.append(job()))
    thread.start()
    thread.join()
    threading.stack_size(previous)
    sys.setrecursionlimit(limit)
    return result[0]


def test_t6_unordered_group_swaps_values() -> None:
    """``('x' x=INT 'y' y=INT)#`` on ``y 1 x 2`` reads what textX reads, swapped as it is."""
    text = "M: ('x' x=INT 'y' y=INT)#;"
    metamodel = textx.metamodel_from_str(text)
    parse = grammar(text).parse("y 1 x 2")
    model = metamodel.model_from_str("y 1 x 2")
    values = {event.feature: event.value for event in parse.events() if isinstance(event, Assign)}
    assert values == {"x": model.x, "y": model.y} == {"x": 1, "y": 2}


def test_t7_separators_and_keywords_inside_a_group() -> None:
    """Any order is legal, duplicates are errors, an all-optional group may be empty."""
    same_as_textx("M: ('a' ',' 'b')#;", "a,b", ",ab", "ba,", "a,b,", "ab")
    same_as_textx("M: (a?='a' b?='b')# 'e';", "e", "a e", "b a e", "a a e")
    same_as_textx("M: ('a' 'b' 'c')#[','];", "a,b,c", "c,a,b", "a,b", "a b c", "a,b,c,")
    state = grammar("M: ('a' 'b' 'c')#;").start().advance("b")
    assert words(state) == {"a", "c"}


def test_t8_names_that_steal_keywords() -> None:
    """``ID`` swallows keywords, exactly as textX lets it; ``!'end' ID`` also forbids ``endX``."""
    same_as_textx("M: ids*=ID 'end';", "a b end", "end")
    same_as_textx("M: 'ref' r=ID? 'end';", "ref end", "ref a end", "ref end end")
    same_as_textx("M: xs+=X 'end'; X: !'end' v=ID;", "a end", "endX end", "a b end", "end")


def test_t9_keyword_boundaries() -> None:
    """Without ``autokwd`` ``entityFoo`` is two words; with it, it is not, and ``a-b`` is."""
    text = "M: 'entity' n=ID ('a-b' m=ID)?;"
    for autokwd in (False, True):
        same_as_textx(text, "entityFoo", "entity Foo", "entity Foo a-bc", autokwd=autokwd)
    cut = grammar(text, autokwd=True).start().advance("entity")
    assert cut.alive
    assert not cut.advance("F").alive
    assert grammar(text).start().advance("entityF").alive


def test_t10_ordered_choice_commits() -> None:
    """``INT|FLOAT`` on ``3.5`` and ``'in'|'int'`` on ``int`` fail."""
    same_as_textx("M: v=N; N: INT | FLOAT;", "3", "3.5")
    same_as_textx("M: v=K; K: 'in' | 'int';", "in", "int")
    state = grammar("M: v=K 'e'?; K: 'in' | 'int';").start().advance("int")
    assert not state.alive


def test_t11_lookahead_over_the_end_is_undecided() -> None:
    """What depends on text after the cursor is possible, never rejected."""
    state = grammar(r"M: /a(?=b)/ 'b' | 'a' !'x' 'c';").start().advance("a")
    assert state.alive
    assert state.advance("b").finish() is not None
    assert state.advance("c").finish() is not None
    assert not state.advance("x").alive


def test_t13_presence_comes_from_the_parse() -> None:
    """An empty model has no object; a feature that reads ``0`` is present, an absent one is not."""
    text = "M: n=INT? xs*=X; X: 'x';"
    ours = grammar(text)
    empty = ours.parse("")
    assert empty.complete
    assert list(empty.events()) == []
    events = list(ours.parse("0").events())
    assert isinstance(events[0], Open)
    assert [event.value for event in events if isinstance(event, Assign)] == [0]


def test_t13_empty_match_rule_gives_nothing() -> None:
    """A match rule that reads nothing assigns nothing."""
    events = list(grammar("M: 'm' v=V; V: 'v'?;").parse("m").events())
    assert not any(isinstance(event, Assign) for event in events)


NESTED = "M: e=E; E: l=T (o+='+' r+=T)*; T: v=INT | '(' s=E ')';"


def test_t15_depth_is_not_bounded_by_the_stack() -> None:
    """5,000 nested parentheses are read, as a document, as a prefix and with a fault in them."""
    ours, depth = grammar(NESTED), 5000
    text = "(" * depth + "1" + ")" * depth
    assert ours.parse(text).complete
    assert ours.start().advance(text).finish() is not None
    open_ = ours.start().advance("(" * depth + "1")
    assert min(expected.remaining for expected in open_.expected()) == depth
    fault = ours.parse(text[:-1] + "@").faults[0]
    assert (fault.start, fault.found) == (2 * depth, "@")


def test_t15_left_recursion_is_named() -> None:
    """A left-recursive rule is found when the grammar is loaded, and parsing it ends."""
    ours = grammar("M: e=E; E: A | v=INT; A: l=E '+' r=INT;")
    (finding,) = ours.findings
    assert finding.code == "left-recursion"
    assert set(finding.rules) == {"E", "A"}
    assert ours.parse("1 + 2 + 3") is not None


def test_t16_shared_prefixes_cost_little(
    count_calls: Callable[[Callable[[], object]], int],
) -> None:
    """The 2ⁿ grammar at depth 200 takes polynomial work; textX agrees at a depth it can do."""
    text = "M: x=X; X: P | Q; P: 'a' l=X? 'b'; Q: 'a' r=X? 'c';"
    same_as_textx(text, "a" * 8 + "bcbcbcbc", "a" * 8 + "bcbcbcb", "a" * 8 + "c" * 8)
    ours = grammar(text)
    assert ours.parse("a" * 200 + "bc" * 100).complete
    costs = [count_calls(lambda n=n: ours.parse("a" * 2 * n + "bc" * n)) for n in (12, 25, 50)]
    assert costs[2] < 5 * costs[1] < 25 * costs[0]


def test_t18_spans_are_the_text_and_values_are_joined() -> None:
    """``ID('.' ID)*`` on ``a . b`` has the value ``a.b`` and the span of ``a . b``."""
    parse = grammar("M: n=F; F: ID('.' ID)*;").parse("  a . b ")
    (value,) = [event for event in parse.events() if isinstance(event, Assign)]
    assert (value.value, value.start, value.end) == ("a.b", 2, 7)


def test_t25_repetition_eats_its_terminator() -> None:
    """``ids+=ID 'end'`` accepts nothing, which is told when it loads; prefixes stay possible."""
    text = "M: ids+=ID 'end';"
    same_as_textx(text, "a end", "end", "a b end")
    (finding,) = grammar(text).findings
    assert (finding.code, finding.rules) == ("swallowed-terminator", ("M",))
    assert grammar(text).start().advance("a end").alive


def test_d14_the_longest_match_of_a_terminal_is_not_the_only_one_to_hope_for() -> None:
    """What two terminals begin alike stays open for both: ``aaab`` is a keyword or a's and a b."""
    text = "M: head=/a+/ tail=/b+x/ | word='aaab' last='c';"
    same_as_textx(text, "aaabbx", "aaab c", "aaabbbx", "aaabx", "aabc", "aaabb")
    state = grammar(text).start()
    for character in "aaabbx":
        state = state.advance(character)
        assert state.alive
    assert grammar(text).start().advance("aaab").advance("c").alive


def test_d15_repetitions_of_nothing() -> None:
    """``("a"*)*`` and the like end."""
    same_as_textx("M: (xs*='a')* 'b';", "b", "aab", "a")
    same_as_textx("M: ('a'? 'b'?)* 'c';", "c", "abac", "bb")


def test_d15_where_textx_hangs_we_do_not() -> None:
    """Repetitions of true results that read nothing never end in textX; here they read nothing."""
    for text in ("M: (('a'*)?)* 'b';", "M: ''* 'b';", "M: (/a*/ ''?)* 'b';"):
        ours = grammar(text)
        assert ours.parse("ab") is not None
        assert ours.start().advance("ab") is not None


def test_d16_work_does_not_grow_with_the_text(
    count_calls: Callable[[Callable[[], object]], int],
) -> None:
    """Advancing by a few characters costs the same behind a long text as behind a short one."""
    state = grammar("M: xs*=X; X: 'x' n=INT ';';").start()
    short, long = state.advance("x 1;" * 10), state.advance("x 1;" * 20000)
    cost = [count_calls(lambda at=at: at.advance("x 1; x 2").expected()) for at in (short, long)]
    assert cost[1] < 2 * cost[0]


def test_d18_unproductive_rules_are_named() -> None:
    """A rule without a finite text is found when the grammar is loaded."""
    found = grammar("M: 'a' r=R; R: 'x' r=R;").findings
    assert {finding.code for finding in found} == {"unproductive-rule"}
    assert "R" in {rule for finding in found for rule in finding.rules}


def test_e7_both_readings_and_repeated_keywords() -> None:
    """Both readings of an ambiguous prefix are offered, and what follows an empty rule."""
    ours = grammar(
        "M: xs*=S; S: A | C; A: to=[N] '=' v=INT ';'; C: call=[N] '(' ')' ';'; N: 'n' name=ID;"
    )
    state = ours.start()
    assert {e.feature for e in state.expected()} == {"to", "call", None}
    assert words(state.advance("foo ")) == {"=", "("}
    twice = grammar("M: 'a' 'a' b=B? 'c'; B: 'b';").start().advance("a ")
    assert words(twice) == {"a"}
    assert words(twice.advance("a ")) == {"b", "c"}
