"""Documents that import others: what is typed into one counts in those that import it."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from tests.server.conftest import Editor, eventually, start

GRAMMAR = """
Model: imports*=Import rooms*=Room doors*=Door;
Import: 'import' importURI=STRING;
Room: 'room' name=ID;
Door: 'door' to=[Room:ID|+m:rooms];
"""
MANIFEST = '[[language]]\nname = "plan"\ngrammar = "plan.tx"\nextensions = [".plan"]\n'


def last(editor: Editor, uri: str) -> list[str]:
    """The codes of the problems a document is shown with now."""
    published = editor.published.get(uri, [])
    return [str(each.code) for each in published[-1].diagnostics] if published else ["none so far"]


async def becomes(editor: Editor, uri: str, codes: list[str]) -> None:
    await eventually(lambda: True if last(editor, uri) == codes else None)


async def test_e3_e4_importers_follow_what_they_import(tmp_path: Path) -> None:
    (tmp_path / "plan.tx").write_text(GRAMMAR)
    (tmp_path / "langwright.toml").write_text(MANIFEST)
    (tmp_path / "upstairs.plan").write_text("room attic")
    main, upstairs = ((tmp_path / name).as_uri() for name in ("main.plan", "upstairs.plan"))
    editor = await start(tmp_path)
    editor.open(main, "import 'upstairs.plan' door attic")
    await becomes(editor, main, [])
    editor.open(upstairs, "room attic")
    editor.replace(upstairs, "room loft")  # not saved
    await becomes(editor, main, ["unresolved-reference"])
    editor.replace(upstairs, "room attic room loft")
    await becomes(editor, main, [])
    editor.replace(upstairs, "room")
    await becomes(editor, main, ["unresolved-import", "unresolved-reference"])
    editor.text_document_did_close(
        types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(upstairs))
    )
    await becomes(editor, main, [])
    (tmp_path / "upstairs.plan").write_text("room cellar")
    editor.workspace_did_change_watched_files(
        types.DidChangeWatchedFilesParams([types.FileEvent(upstairs, types.FileChangeType.Changed)])
    )
    await becomes(editor, main, ["unresolved-reference"])
    await editor.shutdown_session()


async def test_a_definition_in_a_file_that_is_gone(tmp_path: Path) -> None:
    """The answer is the place while it can be told, and none from then on; never an error."""
    (tmp_path / "plan.tx").write_text(GRAMMAR)
    (tmp_path / "langwright.toml").write_text(MANIFEST)
    (tmp_path / "upstairs.plan").write_text("room attic")
    main = (tmp_path / "main.plan").as_uri()
    text = "import 'upstairs.plan' door attic"
    editor = await start(tmp_path)
    editor.open(main, text)
    await becomes(editor, main, [])
    place = types.DefinitionParams(
        types.TextDocumentIdentifier(main), types.Position(0, text.index("attic"))
    )
    found = await editor.text_document_definition_async(place)
    assert isinstance(found, types.Location)
    assert found.range == types.Range(types.Position(0, 5), types.Position(0, 10))
    (tmp_path / "upstairs.plan").write_bytes(b"room attic // \xff")
    assert await editor.text_document_definition_async(place) is None
    (tmp_path / "upstairs.plan").unlink()
    assert await editor.text_document_definition_async(place) is None
    await editor.shutdown_session()
