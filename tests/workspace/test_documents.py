from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from language_server.workspace.documents import (
    Document,
    Documents,
    Edit,
    path_of,
    same_uri,
    uri_of,
)
from language_server.workspace.files import FileProblem, read_text
from language_server.workspace.positions import LineIndex, Position, Range

TEXTS = st.text(alphabet=["a", "b", "😀", "\n", "\u2028", "\f"], max_size=20)


@given(TEXTS, TEXTS, st.data())
def test_edits_replace_exactly_their_range(text: str, new: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    document = Document("file:///a", 1, text)
    after = document.edited([Edit(document.lines.range(start, end), new)], 2)
    assert after.text == text[:start] + new + text[end:]
    assert after.version == 2
    assert after.lines.position(len(after.text)) == LineIndex(after.text).position(len(after.text))


def test_e14_each_edit_sees_the_result_of_the_one_before() -> None:
    documents = Documents()
    documents.open(Document("file:///a", 1, "state A\nstate B\n"))
    line_two = Range(Position(1, 0), Position(2, 0))
    documents.change(
        "file:///a",
        2,
        [Edit(line_two, ""), Edit(Range(Position(0, 6), Position(0, 7)), "C")],
    )
    document = documents.get("file:///a")
    assert document is not None
    assert document.text == "state C\n"


def test_an_edit_without_range_is_the_whole_text() -> None:
    assert Document("file:///a", 1, "old").edited([Edit(None, "new")], 2).text == "new"


def test_e11_an_older_version_is_not_current() -> None:
    documents = Documents()
    first = Document("file:///a", 1, "x")
    documents.open(first)
    assert documents.is_current(first)
    documents.change("file:///a", 2, [Edit(None, "y")])
    assert not documents.is_current(first)
    assert first.text == "x"


def test_change_of_a_document_that_is_not_open() -> None:
    assert Documents().change("file:///a", 2, [Edit(None, "y")]) is None


def test_e12_untitled_documents_have_a_name_and_no_path() -> None:
    document = Document("untitled:Untitled-1", 1, "")
    assert document.path is None
    assert document.name == "Untitled-1"


def test_e12_encoded_drive_letters_are_the_same_document() -> None:
    assert same_uri("file:///c%3A/m/a.x") == same_uri("file:///C:/m/a.x")
    documents = Documents()
    documents.open(Document("file:///c%3A/m/a.x", 1, "x"))
    assert documents.get("file:///C:/m/a.x") is not None
    assert Document("file:///c%3A/m/a%20b.x", 1, "").name == "a b.x"


@pytest.mark.parametrize(
    "name", ["plain.x", "with space.x", "hash#1.x", "what?.x", "ü.x", "100%.x"]
)
def test_e12_paths_survive_the_way_through_a_uri(name: str, tmp_path: Path) -> None:
    assert path_of(uri_of(tmp_path / name)) == tmp_path / name


def test_e12_other_schemes_have_no_path() -> None:
    assert path_of("vscode-remote://host/a.x") is None
    assert path_of("git:/a.x?%7B%7D") is None


class TestReadText:
    def test_byte_order_mark_is_dropped(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"\xef\xbb\xbfx\r\n")
        assert read_text(tmp_path / "a") == "x\r\n"

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"\x7fELF\0\0", "binary"),
            ("x".encode("utf-16"), "UTF-16"),
            (b"fine\nnot \xe9 fine", "line 2 is not UTF-8"),
        ],
    )
    def test_what_is_not_text_is_refused(
        self, content: bytes, message: str, tmp_path: Path
    ) -> None:
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(FileProblem, match=message) as caught:
            read_text(tmp_path / "a")
        assert caught.value.cure

    def test_missing_file_and_folder(self, tmp_path: Path) -> None:
        with pytest.raises(FileProblem, match="no such file"):
            read_text(tmp_path / "a")
        with pytest.raises(FileProblem, match="folder"):
            read_text(tmp_path)
