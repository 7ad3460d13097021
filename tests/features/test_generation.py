"""Where the description stands and what the result replaces; `|` marks the cursor."""

from __future__ import annotations

import pytest

from language_server.features.generation import GenerationRefused, comment_at, plan
from language_server.languages import CommentStyle, Language, load_language

SLASHES = CommentStyle(line=("//",), block=(("/*", "*/"),))
PERCENT = CommentStyle(line=("%%",))


def cursor(marked: str) -> tuple[str, int]:
    offset = marked.index("|")
    return marked[:offset] + marked[offset + 1 :], offset


@pytest.fixture(scope="module")
def statechart() -> Language:
    return load_language("statechart")


@pytest.mark.parametrize(
    ("marked", "style", "description"),
    [
        ("// A door|", SLASHES, "A door"),
        ("|// A door", SLASHES, "A door"),
        ("// A door\n|", SLASHES, "A door"),
        ("// A door\n\n  |\n", SLASHES, "A door"),
        ("//   A door\n  // that|\n// opens.\nstate A", SLASHES, "A door that opens."),
        ("// A door\r\n// that| opens\r\n", SLASHES, "A door that opens"),
        ("state A // the first|", SLASHES, "the first"),
        ("/* A\n * door| */ state", SLASHES, "A door"),
        ("/* A door that is not closed|", SLASHES, "A door that is not closed"),
        ("%% How many| cubes?", PERCENT, "How many cubes?"),
        ('x "// no" // yes|', SLASHES, "yes"),
        ("// 😀 smile|", SLASHES, "😀 smile"),
    ],
)
def test_the_comment_at_the_cursor(marked: str, style: CommentStyle, description: str) -> None:
    found = comment_at(*cursor(marked), style)
    assert found is not None
    assert found.description == description


@pytest.mark.parametrize(
    ("marked", "style"),
    [
        ("state A|", SLASHES),
        ("// A door\nstate A\n|", SLASHES),
        ("// A door\nstate A|", SLASHES),
        ('x "// no|"', SLASHES),
        ("// A door|", PERCENT),
        ("// A door|", CommentStyle()),
        ("|", SLASHES),
    ],
)
def test_no_comment_at_the_cursor(marked: str, style: CommentStyle) -> None:
    assert comment_at(*cursor(marked), style) is None


def test_the_result_follows_the_comment(statechart: Language) -> None:
    text, offset = cursor("// A door|")
    planned = plan(statechart, text, offset, None, None)
    assert planned is not None
    assert planned.before == ""
    assert planned.description == "A door"
    new = text[: planned.start] + planned.new_text("statechart Door") + text[planned.end :]
    assert new == "// A door\nstatechart Door\n"


def test_white_space_behind_the_comment_is_replaced(statechart: Language) -> None:
    text, offset = cursor("// A door\n\n|\n\n")
    planned = plan(statechart, text, offset, None, None)
    assert planned is not None
    new = text[: planned.start] + planned.new_text("statechart Door\n") + text[planned.end :]
    assert new == "// A door\nstatechart Door\n"


def test_what_stands_above_is_continued(statechart: Language) -> None:
    text, offset = cursor("statechart Door\nevent open\n// two states|\n")
    planned = plan(statechart, text, offset, None, None)
    assert planned is not None
    assert planned.before == "statechart Door\nevent open\n"


def test_what_stands_below_is_replaced(statechart: Language) -> None:
    text, offset = cursor("// A door|\nstatechart Old\ninitial state A\n")
    planned = plan(statechart, text, offset, None, None)
    assert planned is not None
    new = text[: planned.start] + planned.new_text("statechart Door") + text[planned.end :]
    assert new == "// A door\nstatechart Door\n"


def test_comments_below_are_kept(statechart: Language) -> None:
    text, offset = cursor("// A door|\n\n// A window\n// of glass\n")
    planned = plan(statechart, text, offset, None, None)
    assert planned is not None
    new = text[: planned.start] + planned.new_text("statechart Door") + text[planned.end :]
    assert new == "// A door\nstatechart Door\n\n\n// A window\n// of glass\n"


def test_the_selection_is_the_description_where_there_is_no_comment(statechart: Language) -> None:
    text = "a door that\nopens"
    planned = plan(statechart, text, len(text), (0, len(text)), None)
    assert planned is not None
    assert planned.description == "a door that opens"
    assert planned.before == ""
    new = text[: planned.start] + planned.new_text("statechart Door") + text[planned.end :]
    assert new == "statechart Door\n"


def test_without_comment_and_selection_the_user_is_asked(statechart: Language) -> None:
    assert plan(statechart, "statechart A\n", 13, None, None) is None
    assert plan(statechart, "", 0, (0, 0), None) is None
    asked = plan(statechart, "", 0, None, "  a door  ")
    assert asked is not None
    assert asked.description == "a door"


def test_where_nothing_can_follow_the_user_is_told() -> None:
    clevr = load_language("clevr")
    text, offset = cursor("graph LR\n1[scene] --> 2[unique]\n] %% more|")
    with pytest.raises(GenerationRefused, match="line 2"):
        plan(clevr, text, offset, None, None)
