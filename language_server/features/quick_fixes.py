"""Quick fixes: changes that mend a problem, as the language itself knows them."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from language_server.features.protocol import SOURCE, protocol_range, text_range
from language_server.languages import BYTE_ORDER_MARK, Language
from language_server.workspace.documents import Document


def quick_fixes(
    language: Language, document: Document, problems: Sequence[types.Diagnostic]
) -> list[types.CodeAction]:
    """The changes that mend some problems of a document, each once.

    Args:
        problems: what the editor shows where it asks.
    """
    if language.own_rules is None:
        return []
    skipped = len(document.text) - len(document.text.removeprefix(BYTE_ORDER_MARK))
    body = document.text[skipped:]
    found: dict[tuple[int, int, str], types.CodeAction] = {}
    for problem in problems:
        if problem.source != SOURCE:
            continue
        start, end = document.lines.span(text_range(problem.range))
        for fix in language.own_rules.fixes(body, start - skipped, end - skipped):
            place = document.lines.range(fix.start + skipped, fix.end + skipped)
            edit = types.TextEdit(protocol_range(place), fix.text)
            action = types.CodeAction(
                fix.title,
                types.CodeActionKind.QuickFix,
                [problem],
                is_preferred=True,
                edit=types.WorkspaceEdit(changes={document.uri: [edit]}),
            )
            found.setdefault((fix.start, fix.end, fix.text), action)
    return list(found.values())
