"""Analyses of the versions of a document, each started from the one before."""

from __future__ import annotations

from language_server.languages import load_language
from language_server.workspace.analyses import Analyses
from language_server.workspace.documents import Document, Edit
from language_server.workspace.positions import Position, Range

TEXT = "statechart S\nevent e\ninitial state a {\n    on e -> b\n}\nstate b {}\n" + "// x\n" * 300


def test_each_version_is_analysed_from_the_one_before() -> None:
    """What is said of a version does not depend on the way to it; what is read does."""
    language = load_language("statechart")
    analyses = Analyses()
    document = Document("untitled:chart", 1, TEXT)
    before = analyses.of(document, language)
    for version, added in enumerate(("event", " f", "\nstate c refines a"), start=2):
        end = document.lines.position(len(document.text))
        document = document.edited([Edit(Range(end, end), added)], version)
        analysis = analyses.of(document, language)
        assert analysis.diagnostics == language.analyse(document.text).diagnostics
        assert analysis.parse.segments[0] is before.parse.segments[0]
    start = Position(0, 0)
    document = document.edited([Edit(Range(start, start), "?")], 9)
    assert (
        analyses.of(document, language).diagnostics == language.analyse(document.text).diagnostics
    )


def test_a_document_may_change_its_language() -> None:
    """An analysis in another language is no help and does no harm."""
    analyses = Analyses()
    document = Document("untitled:text", 1, TEXT)
    for name in ("statechart", "clevr", "statechart"):
        language = load_language(name)
        assert analyses.of(document, language).diagnostics == language.analyse(TEXT).diagnostics


def test_a_closed_document_is_forgotten() -> None:
    """An analysis that starts without the one before shares nothing with it."""
    language = load_language("statechart")
    analyses = Analyses()
    document = Document("file:///c%3A/chart.statechart", 1, TEXT)
    before = analyses.of(document, language)
    analyses.forget("file:///c:/chart.statechart")
    assert analyses.of(document, language).parse.segments[0] is not before.parse.segments[0]
