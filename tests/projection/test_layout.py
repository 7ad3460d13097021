"""White space as the examples write it."""

from __future__ import annotations

from language_server.projection.layout import Layout


def test_white_space_is_what_the_examples_have_most_often() -> None:
    layout = Layout({"on"}, ["state A {\n    on go\n}", "state B {\n    on stop\n}"])
    assert layout.between(layout.end_of("state C {"), "on") == "\n    "
    assert layout.between(layout.end_of("state C {\n    on go"), "}") == "\n"


def test_what_is_there_is_not_written_again() -> None:
    layout = Layout({"on"}, ["state A {\n    on go\n}"])
    assert layout.between(layout.end_of("state C {\n"), "on") == "    "
    assert layout.between(layout.end_of("state C {  "), "on") == ""


def test_without_examples_words_are_kept_apart() -> None:
    layout = Layout((), ())
    assert layout.between(layout.end_of("a"), "b") == " "
    assert layout.between(layout.end_of("a"), ",") == ""
    assert layout.between(layout.end_of(""), "b") == ""
