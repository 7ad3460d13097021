"""Quick fixes: changes that mend a problem, as the language knows them, or found by trying."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from lsprotocol import types

from language_server.diagnostic import Diagnostic
from language_server.features.protocol import SOURCE, diagnostic, protocol_range, text_range
from language_server.languages import BYTE_ORDER_MARK, Analysis, Fix, Language
from language_server.projection.lifting import Lifting
from language_server.workspace.documents import Document

# For what is tried: for one problem of a version of a document, and before another one is begun.
_SECONDS = 0.4
_SECONDS_OF_ALL = 0.6


class QuickFixes:
    """The changes that mend problems of one version of a document; they are kept.

    Args:
        analysis: that of the document.
    """

    def __init__(self, language: Language, document: Document, analysis: Analysis) -> None:
        self._analysis = analysis
        self._language, self._document = language, document
        self._found: dict[Diagnostic, tuple[Fix, ...]] = {}

    def still_hold(self, document: Document, analysis: Analysis) -> bool:
        """Whether what was found is of use for a document with that analysis."""
        same = document == self._document
        return same and analysis.diagnostics == self._analysis.diagnostics

    def of(self, problems: Sequence[types.Diagnostic]) -> list[types.CodeAction]:
        """The changes for some problems, each once.

        Args:
            problems: what the editor shows where it asks.
        """
        begun = time.monotonic()
        found: dict[tuple[int, int, str], types.CodeAction] = {}
        for problem in problems:
            if problem.source == SOURCE:
                for rank, fix in enumerate(self._fixes(problem, begun + _SECONDS_OF_ALL)):
                    action = self._action(fix, problem, rank == 0)
                    found.setdefault((fix.start, fix.end, fix.text), action)
        return list(found.values())

    def _fixes(self, problem: types.Diagnostic, until: float) -> Sequence[Fix]:
        own = self._own(problem)
        if own:
            return own
        document = self._document
        for each in self._analysis.diagnostics:
            shown = diagnostic(each, document.lines, document.uri)
            if (shown.range, shown.message) == (problem.range, problem.message):
                return self._tried(each, until)
        return ()

    def _own(self, problem: types.Diagnostic) -> list[Fix]:
        """What the language itself knows."""
        rules, document = self._language.own_rules, self._document
        if rules is None:
            return []
        body = document.text.removeprefix(BYTE_ORDER_MARK)
        skipped = len(document.text) - len(body)
        start, end = document.lines.span(text_range(problem.range))
        return [
            replace(fix, start=fix.start + skipped, end=fix.end + skipped)
            for fix in rules.fixes(body, start - skipped, end - skipped)
        ]

    def _tried(self, problem: Diagnostic, until: float) -> tuple[Fix, ...]:
        document = self._document
        if problem not in self._found:
            if time.monotonic() > until:
                return ()
            deadline = time.monotonic() + _SECONDS
            lifting = Lifting(
                self._language,
                document.text,
                self._analysis,
                document.path,
                lambda: time.monotonic() >= deadline,
            )
            self._found[problem] = lifting.fixes(problem)
        return self._found[problem]

    def _action(self, fix: Fix, problem: types.Diagnostic, first: bool) -> types.CodeAction:
        document = self._document
        place = protocol_range(document.lines.range(fix.start, fix.end))
        edit = types.TextEdit(place, fix.text)
        return types.CodeAction(
            fix.title,
            types.CodeActionKind.QuickFix,
            [problem],
            is_preferred=first,
            edit=types.WorkspaceEdit(changes={document.uri: [edit]}),
        )
