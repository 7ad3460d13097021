"""Positions against their definition: UTF-16 code units, counted by encoding."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from language_server.workspace.positions import LineIndex, Position, Range

TEXTS = st.text(alphabet=["a", "ä", "😀", "\n", "\r", "\u2028", "\f", " ", "\u0301"], max_size=30)


def position_by_definition(text: str, offset: int) -> Position:
    before = text[:offset]
    # A carriage return whose line feed follows is not yet the end of a line.
    if before.endswith("\r") and text[offset : offset + 1] == "\n":
        before = before[:-1] + "x"
    lines = re.split(r"\r\n|\n|\r", before)
    return Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)


@given(TEXTS, st.data())
def test_position_counts_utf16_units(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    assert LineIndex(text).position(offset) == position_by_definition(text, offset)


@given(TEXTS, st.data())
def test_offset_undoes_position(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] == "\r\n" and offset:
        offset -= 1
    lines = LineIndex(text)
    assert lines.offset(lines.position(offset)) == offset


def test_e10_word_behind_astral_characters() -> None:
    text = '"😀😀" oops'
    assert LineIndex(text).range(5, 9) == Range(Position(0, 7), Position(0, 11))


def test_e10_astral_characters_on_earlier_lines() -> None:
    text = "😀\n😀😀\noops"
    assert LineIndex(text).position(text.index("oops")) == Position(2, 0)


def test_place_within_a_surrogate_pair_is_the_character() -> None:
    assert LineIndex("a😀b").offset(Position(0, 2)) == 1


def test_places_outside_the_text_are_clamped() -> None:
    lines = LineIndex("ab\r\ncd")
    assert lines.offset(Position(0, 99)) == 2
    assert lines.offset(Position(7, 0)) == 6
    assert lines.offset(Position(-1, 4)) == 0
    assert lines.position(99) == Position(1, 2)


def test_only_protocol_line_ends_end_lines() -> None:
    text = "a\fb\u2028c\u0085d\rE\r\nF"
    lines = LineIndex(text)
    assert lines.line_count == 3
    assert lines.position(text.index("E")) == Position(1, 0)
    assert lines.position(text.index("F")) == Position(2, 0)


def test_people_count_characters_from_one() -> None:
    text = "ab\n😀cd\n"
    lines = LineIndex(text)
    assert lines.person(text.index("c")) == (2, 2)
    assert lines.offset_for_person(2, 2) == text.index("c")
    assert lines.offset_for_person(3, 1) == len(text)
    assert lines.offset_for_person(2, 9) is None
    assert lines.offset_for_person(0, 1) is None
    assert lines.offset_for_person(9, 1) is None
