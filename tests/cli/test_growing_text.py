"""What appears on standard output while a text grows, and the story told beside it."""

from __future__ import annotations

import io

from language_server.cli.growing_text import Appending
from language_server.cli.story import Story
from language_server.decoding import Event

EVENTS = [
    Event("token", "ab", 2, 1),
    Event("token", "cd", 4, 2),
    Event("snapshot", "", 4, 2, "1 token completes it"),
    Event("token", "e", 5, 3),
    Event("rejection", "x", 5, 3, "nothing completes it"),
    Event("backtrack", "", 4, 2, "no token is allowed"),
    Event("forced", "f", 5, 3),
    Event("witness", "g", 6, 4),
]


def appended(goes_back: bool, events: list[Event]) -> str:
    stream = io.StringIO()
    growing = Appending(stream, goes_back)
    for event in events:
        growing.hear(event)
    return stream.getvalue()


def test_text_that_may_be_taken_back_waits() -> None:
    assert appended(True, EVENTS) == ""
    assert appended(False, EVENTS[:2]) == "abcd"


def test_the_end_is_written_in_any_case() -> None:
    stream = io.StringIO()
    growing = Appending(stream, goes_back=True)
    for event in EVENTS:
        growing.hear(event)
    growing.hear(Event("backtrack", "", 1, 1, "a text that leaves less to the witness"))
    growing.finish("axy")
    assert stream.getvalue() == "axy\n"


def test_the_story_has_a_line_for_each_writer_and_each_turn() -> None:
    lines: list[str] = []
    story = Story(lines.append)
    for event in EVENTS:
        story.hear(event)
    story.finish()
    assert [line.split(maxsplit=1) for line in lines] == [
        ["2", "model 'abcd'"],
        ["2", "snapshot: 1 token completes it"],
        ["3", "model 'e'"],
        ["3", "rejection 'x': nothing completes it"],
        ["2", "backtrack: no token is allowed"],
        ["3", "forced 'f'"],
        ["4", "witness 'g'"],
    ]


def test_the_story_says_nothing_twice() -> None:
    lines: list[str] = []
    story = Story(lines.append)
    for event in (
        Event("token", "a", 1, 1),
        Event("snapshot", "", 1, 1, "1 token completes it"),
        Event("token", "b", 2, 2),
        Event("snapshot", "", 2, 2, "1 token completes it"),
        Event("token", "c", 3, 3),
        Event("unit", "", 3, 3),
        Event("token", "d", 4, 4),
        Event("rejection", "x", 4, 4, "nothing completes it"),
        Event("rejection", "y", 4, 4, "nothing completes it"),
        Event("rejection", "", 4, 4, "the text does not pass"),
    ):
        story.hear(event)
    story.finish()
    assert [line.split(maxsplit=1) for line in lines] == [
        ["1", "model 'a'"],
        ["1", "snapshot: 1 token completes it"],
        ["3", "model 'bc'"],
        ["4", "model 'd'"],
        ["4", "rejection 'x', 'y': nothing completes it"],
        ["4", "rejection: the text does not pass"],
    ]
