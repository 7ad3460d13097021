"""The caps of the layout policy."""

from __future__ import annotations

from language_server.decoding import LayoutPolicy
from tests.decoding.guides import BracketGuide


def test_a_policy_is_widened_to_what_the_examples_show() -> None:
    text = (
        "# one\n# two\n(a"
        + " " * 30
        + "b\n\n\n\n  "
        + "w" * 50
        + ' 12345678901 "'
        + "q" * 90
        + '")'
    )
    policy = LayoutPolicy().widened_to([text, "x"])
    assert policy.spaces == 30
    assert policy.newlines == 4
    assert policy.digits == 11
    assert policy.word == 90
    assert policy.literal == 92
    assert policy.comment is not None
    assert policy.comment >= 100
    assert LayoutPolicy().widened_to(["a b"]) == LayoutPolicy()
    assert LayoutPolicy.free().widened_to([text]) == LayoutPolicy.free()


def test_comments_in_a_row_are_capped_together() -> None:
    policy = LayoutPolicy(comment=20, aside=30)
    layout = policy.start(BracketGuide(9, 0))
    guide = BracketGuide(9, 0)
    for piece in ("(", "# one two three", "\n", "# four five six"):
        after = guide.advance(piece)
        permitted = layout.permits(piece, guide, after)
        layout, guide = layout.after(piece, after), after
    assert not permitted
    assert layout.permits("\n", guide, guide.advance("\n"))
    layout, guide = layout.after("\n", guide.advance("\n")), guide.advance("\n")
    assert not layout.permits("# x", guide, guide.advance("# x"))
    assert layout.permits("word", guide, guide.advance("word"))
    layout, guide = layout.after("word", guide.advance("word")), guide.advance("word")
    assert layout.permits("# x", guide, guide.advance("# x"))


def test_a_carriage_return_is_no_way_around_the_cap_on_white_space() -> None:
    policy, guide = LayoutPolicy(spaces=4), BracketGuide(9, 0)
    layout = policy.start(guide)
    for piece in ("(", "\r", " \t", "\r"):
        after = guide.advance(piece)
        assert layout.permits(piece, guide, after)
        layout, guide = layout.after(piece, after), after
    for more in ("\r", "\t", "\r\t"):
        assert not layout.permits(more, guide, guide.advance(more))
    assert layout.permits("\n", guide, guide.advance("\n"))
