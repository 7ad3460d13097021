"""Go to definition: from a reference to the name of the object that it means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from language_server.languages import BYTE_ORDER_MARK, Analysis, Language
from language_server.partial_model import Reference
from language_server.syntax import Close, Open


@dataclass(frozen=True, slots=True)
class Definition:
    """The name of a declared object.

    Attributes:
        path: the file that declares it; None for the text itself.
        start, end: the span of the name there.
    """

    path: Path | None
    start: int
    end: int


def definition(
    language: Language, text: str, offset: int, path: Path | None = None
) -> Definition | None:
    """The declaration that the reference at a place of a text means; None where there is none.

    Args:
        offset: the place; the end of a reference counts as within it.
        path: where the text belongs, which what it imports is relative to.
    """
    skipped = len(text) - len(text.removeprefix(BYTE_ORDER_MARK))
    analysis = language.analyse(text, path)
    found = next(_meant(language, analysis, offset - skipped, path), None)
    if found is None or found.path is not None:
        return found
    return replace(found, start=found.start + skipped, end=found.end + skipped)


def _meant(
    language: Language, analysis: Analysis, offset: int, path: Path | None
) -> Iterator[Definition]:
    """What the reference at a place means, best first: the language's own rules know better."""
    model = analysis.evaluation.model
    for link in model.links:
        if link.start <= offset <= link.end and link.name_start >= 0:
            file = Path(link.path) if link.path else None
            yield Definition(file, link.name_start, link.name_end)
    reference = _reference_at(analysis, offset)
    if reference is None:
        return
    rules = language.own_rules
    declared = [
        Definition(each.path, each.start, each.end)
        for each in (rules.declared(model, path) if rules is not None else ())
        if each.name == reference.name and each.start < each.end
    ]
    yield from (each for each in declared if each.path is None)
    for target in model.targets(reference.source, reference.feature):
        node = model.nodes[target]
        if node.name == reference.name and node.role == "declared":
            yield Definition(None, *model.name_span(target))
    yield from (each for each in declared if each.path is not None)


def _reference_at(analysis: Analysis, offset: int) -> Reference | None:
    """The reference by plain name that stands at a place."""
    for event in analysis.parse.events():
        if not isinstance(event, (Open, Close)) and event.start <= offset <= event.end:
            name = getattr(event, "name", None) or str(getattr(event, "value", ""))
            for reference in analysis.evaluation.model.references(name):
                if reference.start <= offset <= reference.end:
                    return reference
    return None
