"""The server as an editor meets it, on the two shipped languages."""

from __future__ import annotations

import asyncio
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from language_server.workspace.positions import LineIndex, Position
from tests.texts import DOOR

from .conftest import GOLD, Editor, eventually, plain, start

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Seconds the editor waits for ghost text; more where other programs keep the processors busy.
PATIENCE = 0.75 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))

DESCRIPTION = "// A door that opens and closes\n"


def uri(name: str) -> str:
    return f"file:///models/{name}"


def span(found: types.Diagnostic) -> tuple[int, int, int, int]:
    start, end = found.range.start, found.range.end
    return start.line, start.character, end.line, end.character


async def test_a_consistent_model_has_no_problem(editor: Editor) -> None:
    editor.open(uri("fine.statechart"), DOOR, "statechart")
    assert await editor.diagnostics_of(uri("fine.statechart")) == []


async def test_a_dangling_reference_is_marked_and_goes_when_it_is_mended(editor: Editor) -> None:
    here = uri("dangling.statechart")
    editor.open(here, DOOR.replace("-> Open", "-> Opened"), "statechart")
    found = [each for each in await editor.diagnostics_of(here) if "Opened" in each.message]
    assert [span(each) for each in found] == [(6, 15, 6, 21)]
    version = editor.type(here, (6, 19), (6, 21), "")
    assert await editor.diagnostics_of(here, version) == []


async def test_a_violated_constraint_is_named(editor: Editor) -> None:
    here = uri("constraint.statechart")
    editor.open(here, DOOR.replace("state Open {", "initial state Open {"), "statechart")
    codes = {each.code for each in await editor.diagnostics_of(here)}
    assert "several_initial" in codes


async def quick_fixes(
    editor: Editor, here: str, problem: types.Diagnostic
) -> list[types.CodeAction]:
    answer = await editor.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(here), problem.range, types.CodeActionContext([problem])
        )
    )
    return [action for action in answer or [] if isinstance(action, types.CodeAction)]


@pytest.mark.parametrize(
    ("wrong", "constraint", "title"),
    [
        (
            DOOR.replace("state Open {", "initial state Open {"),
            "several_initial",
            "Remove 'initial'",
        ),
        (
            DOOR.replace("-> Open", "-> Opened"),
            "unresolved-reference",
            "Replace 'Opened' by 'Open'",
        ),
        (DOOR.replace("initial ", ""), "missing_initial", "Insert 'initial'"),
        ("// 😀\n" + DOOR.replace("state Open", "final state Open"), "final_left", ""),
    ],
)
async def test_a_quick_fix_lifts_what_is_violated(
    editor: Editor, wrong: str, constraint: str, title: str
) -> None:
    here = uri(f"lift{constraint}.statechart")
    editor.open(here, wrong, "statechart")
    before = await editor.diagnostics_of(here)
    problem = next(each for each in before if each.code == constraint)
    fix = (await quick_fixes(editor, here, problem))[0]
    assert fix.title.startswith(title)
    assert fix.kind == types.CodeActionKind.QuickFix
    assert list(fix.diagnostics or ()) == [problem]
    assert fix.edit is not None and fix.edit.changes is not None
    (edit,) = fix.edit.changes[here]
    place = (edit.range.start, edit.range.end)
    version = editor.type(here, *((at.line, at.character) for at in place), text=edit.new_text)
    after = await editor.diagnostics_of(here, version)
    assert len(after) < len(before)
    assert constraint not in {each.code for each in after}
    assert await quick_fixes(editor, here, problem) == []  # it is of another version


async def test_e2_all_syntax_errors_at_once(editor: Editor) -> None:
    here = uri("errors.statechart")
    editor.open(
        here, DOOR.replace("event open", "event").replace("on close ->", "on close"), "statechart"
    )
    lines = {each.range.start.line for each in await editor.diagnostics_of(here)}
    assert len(lines) >= 2


async def test_e10_places_count_utf16_units(editor: Editor) -> None:
    here = uri("smile.statechart")
    text = DOOR.replace("statechart Door", "// 😀😀 smile\nstatechart Door")
    editor.open(here, text.replace("on open -> Open", "/*😀😀*/ on open -> Nowhere"), "statechart")
    found = [each for each in await editor.diagnostics_of(here) if "Nowhere" in each.message]
    line = "    /*😀😀*/ on open -> Nowhere"
    start = len(line[: line.index("Nowhere")].encode("utf-16-le")) // 2
    assert [span(each) for each in found] == [(7, start, 7, start + len("Nowhere"))]


async def test_e10_only_utf16_is_offered(tmp_path: Path) -> None:
    editor = await start(tmp_path, position_encodings=["utf-8", "utf-32", "utf-16"])
    assert editor.offered.position_encoding in (None, types.PositionEncodingKind.Utf16)
    await editor.shutdown_session()


async def test_e14_e15_what_the_server_offers(editor: Editor) -> None:
    offered = editor.offered
    sync = offered.text_document_sync
    assert isinstance(sync, types.TextDocumentSyncOptions)
    assert sync.change == types.TextDocumentSyncKind.Incremental
    assert sync.open_close
    assert offered.inline_completion_provider
    assert offered.completion_provider


async def test_e11_only_the_last_version_of_fast_typing_is_analysed(editor: Editor) -> None:
    here = uri("fast.statechart")
    editor.open(here, DOOR, "statechart")
    await editor.diagnostics_of(here)
    for _ in range(20):
        version = editor.type(here, (0, 15), (0, 15), "x")
        await asyncio.sleep(0.005)
    await editor.diagnostics_of(here, version)
    seen = [params.version for params in editor.published[here]]
    assert seen == sorted(seen)
    assert len(seen) <= 4


async def test_e12_untitled_documents(editor: Editor) -> None:
    here = "untitled:Untitled-1"
    editor.open(here, DOOR.replace("-> Open", "-> Opened"), "statechart")
    assert await editor.diagnostics_of(here)
    assert await editor.complete(here, 6, 15)


async def test_e12_encoded_drive_letters(editor: Editor) -> None:
    here = "file:///c%3A/models/a.statechart"
    editor.open(here, DOOR, "statechart")
    assert await editor.diagnostics_of(here) == []
    assert await editor.complete(here, 6, 15)


async def test_e13_half_typed_text_never_fails(editor: Editor) -> None:
    here = uri("half.statechart")
    editor.open(here, "", "statechart")
    typed = ""
    for piece in re.findall(r"(?s).{1,17}", DOOR):
        typed += piece
        version = editor.replace(here, typed)
        row = typed.count("\n")
        await editor.complete(here, row, len(typed) - typed.rfind("\n") - 1)
    assert await editor.diagnostics_of(here, version) == []


async def test_e14_changes_are_incremental_and_in_order(editor: Editor) -> None:
    here = uri("incremental.statechart")
    editor.open(here, DOOR, "statechart")
    editor.type(here, (2, 0), (3, 0), "")
    version = editor.type(here, (1, 0), (1, 0), "\nevent open\n")
    assert await editor.diagnostics_of(here, version) == []


async def test_nonsense_does_not_end_the_server(editor: Editor) -> None:
    here = uri("nonsense.statechart")
    editor.open(here, "\x00\x01\ufffd{{{{" * 200, "statechart")
    assert await editor.diagnostics_of(here)
    editor.open(uri("unknown.nothing"), "whatever", "nothing")
    assert await editor.complete(uri("unknown.nothing"), 0, 0) == []
    assert await editor.complete("file:///never/opened.statechart", 3, 3) == []


async def test_closing_takes_the_diagnostics_away(editor: Editor) -> None:
    here = uri("closed.statechart")
    editor.open(here, "statechart", "statechart")
    assert await editor.diagnostics_of(here)
    editor.text_document_did_close(
        types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(here))
    )
    await editor.cleared(here)


class TestCompletion:
    async def test_e8_references_come_first_and_are_exact(self, editor: Editor) -> None:
        here = uri("target.statechart")
        editor.open(here, DOOR.replace("-> Open\n", "-> \n"), "statechart")
        items = await editor.complete(here, 6, 15)
        assert {item.label for item in items[:2]} == {"Closed", "Open"}
        assert items[0].kind == types.CompletionItemKind.Reference
        assert "target of Transition" in (items[0].detail or "")

    async def test_e7_the_typed_prefix_filters(self, editor: Editor) -> None:
        here = uri("filter.statechart")
        editor.open(here, DOOR.replace("-> Open\n", "-> Op\n"), "statechart")
        items = await editor.complete(here, 6, 17)
        assert [
            item.label for item in items if item.kind == types.CompletionItemKind.Reference
        ] == ["Open"]
        edit = items[0].text_edit
        assert isinstance(edit, types.TextEdit)
        assert (edit.range.start.character, edit.range.end.character) == (15, 17)
        assert edit.new_text == "Open"

    async def test_e1_e7_an_empty_document(self, editor: Editor) -> None:
        here = uri("empty.statechart")
        editor.open(here, "", "statechart")
        assert [item.label for item in await editor.complete(here, 0, 0)] == ["statechart"]

    async def test_a_dangling_reference_is_corrected(self, editor: Editor) -> None:
        here = uri("correct.statechart")
        editor.open(here, DOOR.replace("-> Open\n", "-> Opened\n"), "statechart")
        items = await editor.complete(here, 6, 21)
        open_item = next(item for item in items if item.label == "Open")
        edit = open_item.text_edit
        assert isinstance(edit, types.TextEdit)
        assert (edit.range.start.character, edit.range.end.character) == (15, 21)
        assert open_item.filter_text == "Opened"


class TestGhostText:
    async def test_it_completes_the_model(self, editor: Editor) -> None:
        here = uri("ghost.statechart")
        text = DOOR[: DOOR.index("-> Open") + 3]
        editor.open(here, text, "statechart")
        ghost = None
        for _ in range(20):  # what was too late is there when the editor asks again
            began = time.monotonic()
            ghost = ghost or await editor.ghost(here, 6, 15)
            assert time.monotonic() - began < PATIENCE
        assert ghost

    async def test_a_complete_model_has_none(self, editor: Editor) -> None:
        here = uri("done.statechart")
        editor.open(here, DOOR, "statechart")
        assert await editor.ghost(here, 11, 0) is None

    async def test_a_comment_has_none(self, editor: Editor) -> None:
        here = uri("comment.statechart")
        editor.open(here, "// A door", "statechart")
        assert await editor.ghost(here, 0, 9) is None


class TestGenerate:
    async def test_a_comment_becomes_a_valid_model(self, editor: Editor) -> None:
        here = uri("generate.statechart")
        editor.open(here, DESCRIPTION, "statechart")
        answer = await ask(editor, here, 0, 5, "t1")
        assert answer["status"] == "ok"
        assert answer["version"] == 1
        kinds = [told["kind"] for told in editor.progress if told["token"] == "t1"]
        assert kinds[-1] == "done"
        assert "text" in kinds
        place = answer["edit"]["range"]
        assert place["start"] == {"line": 0, "character": len(DESCRIPTION) - 1}
        version = editor.type(
            here,
            (place["start"]["line"], place["start"]["character"]),
            (place["end"]["line"], place["end"]["character"]),
            answer["edit"]["newText"],
        )
        assert editor_text(DESCRIPTION, answer["edit"]) == DESCRIPTION + GOLD
        assert await editor.diagnostics_of(here, version) == []

    async def test_without_a_description_it_asks(self, editor: Editor) -> None:
        here = uri("ask.statechart")
        editor.open(here, "", "statechart")
        assert (await ask(editor, here, 0, 0, "t2"))["status"] == "needsInput"
        answer = await ask(editor, here, 0, 0, "t3", description="a lamp")
        assert answer["status"] == "ok"

    async def test_it_can_be_stopped_and_keeps_what_is_there(self, editor: Editor) -> None:
        here = uri("stop.statechart")
        editor.open(here, DESCRIPTION, "statechart")
        request = editor.protocol.send_request(
            "langwright/generate",
            {"uri": here, "position": {"line": 0, "character": 3}, "token": "stopped"},
            msg_id="stop-me",
        )
        await eventually(
            lambda: [told for told in editor.progress if told["token"] == "stopped"] or None
        )
        editor.protocol.notify("$/cancelRequest", types.CancelParams(id="stop-me"))
        answer = plain(await asyncio.wrap_future(request))
        assert answer["status"] in ("cancelled", "ok")
        if answer.get("edit"):
            editor.replace(here, editor_text(DESCRIPTION, answer["edit"]))
            assert await editor.diagnostics_of(here) == []

    async def test_a_language_nobody_knows(self, editor: Editor) -> None:
        here = uri("what.nothing")
        editor.open(here, "// A door", "nothing")
        answer = await ask(editor, here, 0, 0, "t4")
        assert answer["status"] == "error"
        assert answer["message"]


async def test_a_model_folder_that_is_none(tmp_path: Path) -> None:
    editor = await start(tmp_path, model=str(tmp_path / "none"))
    here = uri("no-model.statechart")
    editor.open(here, "// A door\n", "statechart")
    answer = await ask(editor, here, 0, 0, "t")
    assert answer["status"] == "error"
    assert "none" in answer["message"]
    assert "Traceback" not in answer["message"]
    assert [item.label for item in await editor.complete(here, 1, 0)] == ["statechart"]
    await editor.shutdown_session()


class TestWorkspaceLanguages:
    async def test_a_grammar_that_does_not_load_is_told_where_it_is(self, tmp_path: Path) -> None:
        (tmp_path / "broken.tx").write_text("Model: 'model' name=ID\nOops")
        (tmp_path / "langwright.toml").write_text(
            '[[language]]\nname = "broken"\ngrammar = "broken.tx"\nextensions = [".broken"]\n'
        )
        editor = await start(tmp_path)
        grammar = (tmp_path / "broken.tx").as_uri()
        found = (await eventually(lambda: editor.published.get(grammar)))[-1].diagnostics
        assert found[0].range.start.line == 1
        await eventually(lambda: editor.messages or None)
        here = (tmp_path / "a.broken").as_uri()
        editor.open(here, "model x", "broken")
        assert "cannot be checked" in (await editor.diagnostics_of(here))[0].message
        (tmp_path / "broken.tx").write_text("Model: 'model' name=ID;")
        editor.workspace_did_change_watched_files(
            types.DidChangeWatchedFilesParams(
                [types.FileEvent(grammar, types.FileChangeType.Changed)]
            )
        )
        await editor.cleared(here)
        await editor.cleared(grammar)
        await editor.shutdown_session()


def editor_text(text: str, edit: Any) -> str:
    """A text after an edit, as an editor applies it."""
    lines = LineIndex(text)
    start, end = (Position(**edit["range"][which]) for which in ("start", "end"))
    return text[: lines.offset(start)] + edit["newText"] + text[lines.offset(end) :]


async def ask(
    editor: Editor, where: str, line: int, character: int, token: str, **more: object
) -> dict[str, Any]:
    answer = await editor.protocol.send_request_async(
        "langwright/generate",
        {
            "uri": where,
            "position": {"line": line, "character": character},
            "token": token,
            **more,
        },
    )
    return plain(answer)
