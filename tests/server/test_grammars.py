"""`.tx` files as documents of the server."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from .conftest import Editor, eventually, start

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = """\
Model: items*=Item[',' eolterm];
Item: 'item' name=ID ('of' kind=[Kind])?;
Kind: 'kind' name=ID;
"""


def uri(name: str) -> str:
    return f"file:///grammars/{name}"


def marked(text: str, found: types.Diagnostic) -> str:
    """The text that a diagnostic of one line underlines."""
    start, end = found.range.start, found.range.end
    assert start.line == end.line
    return text.splitlines()[start.line][start.character : end.character]


async def define(editor: Editor, here: str, line: int, character: int) -> types.Location | None:
    answer = await editor.text_document_definition_async(
        types.DefinitionParams(types.TextDocumentIdentifier(here), types.Position(line, character))
    )
    assert answer is None or isinstance(answer, types.Location)
    return answer


async def fixes(
    editor: Editor, here: str, problems: list[types.Diagnostic]
) -> list[types.CodeAction]:
    answer = await editor.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(here), problems[0].range, types.CodeActionContext(problems)
        )
    )
    return [action for action in answer or [] if isinstance(action, types.CodeAction)]


async def test_what_the_server_offers(editor: Editor) -> None:
    assert editor.offered.definition_provider
    actions = editor.offered.code_action_provider
    assert isinstance(actions, types.CodeActionOptions)
    assert list(actions.code_action_kinds or ()) == ["quickfix"]


async def test_a_good_grammar_has_no_problem(editor: Editor) -> None:
    editor.open(uri("good.tx"), TEXT, "textx")
    assert await editor.diagnostics_of(uri("good.tx")) == []


async def test_syntax_errors_and_unknown_rules(editor: Editor) -> None:
    here = uri("bad.tx")
    text = TEXT.replace("[Kind]", "[Kidn]").replace("Kind:", "Kind")
    editor.open(here, text, "textx")
    found = await editor.diagnostics_of(here)
    assert [(each.code, marked(text, each)) for each in found] == [
        ("unresolved-reference", "Kidn"),
        ("syntax", "'kind'"),
    ]
    mended = text.replace("Kind '", "Kind: '")
    found = await editor.diagnostics_of(here, editor.replace(here, mended))
    assert [(each.code, marked(mended, each)) for each in found] == [
        ("unresolved-reference", "Kidn")
    ]


async def test_t14_a_flag_in_a_repetition(editor: Editor) -> None:
    here = uri("flag.tx")
    text = "Model: ('x' on?='on')*;\n"
    editor.open(here, text, "textx")
    (found,) = await editor.diagnostics_of(here)
    assert (found.severity, marked(text, found)) == (types.DiagnosticSeverity.Error, "on?='on'")


async def test_findings_are_warnings(editor: Editor) -> None:
    here = uri("finding.tx")
    text = "Model: 'ref' item=ID? 'end';\n"
    editor.open(here, text, "textx")
    (found,) = await editor.diagnostics_of(here)
    assert (found.severity, found.code) == (
        types.DiagnosticSeverity.Warning,
        "swallowed-keyword",
    )
    assert marked(text, found) == "item=ID"
    (related,) = found.related_information or []
    assert related.location.uri == here
    assert related.location.range.start.character == text.index("'end'")


@pytest.mark.parametrize("wrong", ["[eolterm, ',']", "[',', eolterm]", "[eolterm,\n  ',']"])
async def test_t12_a_quick_fix_puts_the_modifiers_right(editor: Editor, wrong: str) -> None:
    here = uri(f"modifiers{abs(hash(wrong))}.tx")
    editor.open(here, TEXT.replace("[',' eolterm]", wrong), "textx")
    problems = await editor.diagnostics_of(here)
    (fix,) = await fixes(editor, here, problems)
    assert fix.title == "Write [',' eolterm]"
    assert fix.kind == types.CodeActionKind.QuickFix
    assert fix.edit is not None and fix.edit.changes is not None
    (edit,) = fix.edit.changes[here]
    assert isinstance(edit, types.TextEdit)
    place = edit.range.start, edit.range.end
    version = editor.type(
        here, *((each.line, each.character) for each in place), text=edit.new_text
    )
    assert await editor.diagnostics_of(here, version) == []


async def test_no_fix_where_none_is_known(editor: Editor) -> None:
    here = uri("nofix.tx")
    editor.open(here, "Model: a=;\n", "textx")
    problems = await editor.diagnostics_of(here)
    assert problems
    assert await fixes(editor, here, problems) == []


async def test_rule_names_are_completed_where_a_rule_is_mentioned(editor: Editor) -> None:
    here = uri("complete.tx")
    editor.open(here, TEXT.replace("items*=Item", "items*="), "textx")
    items = await editor.complete(here, 0, len("Model: items*="))
    rules = {item.label for item in items if item.kind == types.CompletionItemKind.Reference}
    assert {"Model", "Item", "Kind", "ID", "STRING"} <= rules
    editor.replace(here, TEXT.replace("[Kind]", "[Ki]"))
    items = await editor.complete(here, 1, TEXT.splitlines()[1].index("[") + 3)
    assert items[0].label == "Kind"


async def test_go_to_rule(editor: Editor) -> None:
    here = uri("goto.tx")
    editor.open(here, TEXT, "textx")
    for line, word, target in ((0, "Item[", (1, 0, 4)), (1, "Kind]", (2, 0, 4))):
        found = await define(editor, here, line, TEXT.splitlines()[line].index(word) + 2)
        assert found is not None and found.uri == here
        place = found.range
        assert (place.start.line, place.start.character, place.end.character) == target
    assert await define(editor, here, 0, 1) is None


async def test_go_to_declaration_in_any_language(editor: Editor) -> None:
    here = uri("door.statechart")
    text = "statechart Door\n/* 😀 */ event open\ninitial state A { on open -> B }\nstate B\n"
    editor.open(here, text, "statechart")
    found = await define(editor, here, 2, text.splitlines()[2].index("open") + 1)
    assert found is not None
    start = len("/* 😀 */ event ".encode("utf-16-le")) // 2
    assert found.range == types.Range(
        types.Position(1, start), types.Position(1, start + len("open"))
    )


async def test_imported_grammars_and_the_workspace(tmp_path: Path) -> None:
    """Rules of imported grammars are known, gone to, and completed; closed files show findings."""
    (tmp_path / "langwright.toml").write_text('[[language]]\ngrammar = "main.tx"\n')
    text = "import words\nModel: words+=Word;\n"
    (tmp_path / "main.tx").write_text(text)
    (tmp_path / "words.tx").write_text("\n Word: 'on' | 'once';\n")
    editor = await start(tmp_path)
    words = (tmp_path / "words.tx").as_uri()
    (found,) = await eventually(lambda: shown(editor, words))
    assert (found.code, found.range.start) == ("doubtful-language", types.Position(1, 14))
    here = (tmp_path / "main.tx").as_uri()
    editor.open(here, text, "textx")
    assert await editor.diagnostics_of(here) == []
    location = await define(editor, here, 1, text.splitlines()[1].index("Word;"))
    assert location is not None and location.uri == words
    assert location.range == types.Range(types.Position(1, 1), types.Position(1, 5))
    editor.replace(here, text.replace("=Word", "="))
    items = await editor.complete(here, 1, len("Model: words+="))
    assert "Word" in {item.label for item in items}
    await editor.shutdown_session()


def shown(editor: Editor, here: str) -> list[types.Diagnostic] | None:
    published = editor.published.get(here)
    return list(published[-1].diagnostics) or None if published else None
