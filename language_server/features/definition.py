"""Go to definition: from a reference to the name of the object that it means.

An object with a key has no declaration: it is where it is mentioned. There the way leads from a
mention to the one that says what the object is, or to the first if none says more than the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from language_server.languages import BYTE_ORDER_MARK, Analysis, Language
from language_server.partial_model import Reference
from language_server.partial_model.refinement import identity_of
from language_server.partial_model.schema import ClassInfo
from language_server.syntax import Assign, Close, Event, Open


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
    language: Language, text: str, analysis: Analysis, offset: int, path: Path | None = None
) -> Definition | None:
    """The declaration that the reference at a place of a text means; None where there is none.

    Args:
        analysis: that of the text.
        offset: the place; the end of a reference counts as within it.
        path: where the text belongs, which what it imports is relative to.
    """
    skipped = len(text) - len(text.removeprefix(BYTE_ORDER_MARK))
    offset -= skipped
    found = next(_meant(language, analysis, offset, path), None) or _told(analysis, offset)
    if found is None or found.path is not None:
        return found
    return replace(found, start=found.start + skipped, end=found.end + skipped)


@dataclass(slots=True)
class _Mention:
    """A place that names an object by its key, and whether it says more of it."""

    info: ClassInfo | None
    key: dict[str, Assign] = field(default_factory=dict)
    more: bool = False

    def note(self, event: Event) -> None:
        """Something that the place says of the object."""
        if isinstance(event, Assign) and self.info is not None and event.feature in self.info.key:
            self.key.setdefault(event.feature, event)
        else:
            self.more = True

    @property
    def span(self) -> tuple[int, int]:
        """From the first to the last part of the key."""
        parts = self.key.values()
        return min(part.start for part in parts), max(part.end for part in parts)


def _told(analysis: Analysis, offset: int) -> Definition | None:
    """Where it is told what the object is whose key stands at a place; None if it is there."""
    schema = analysis.evaluation.model.schema
    known: dict[tuple[Any, ...], list[_Mention]] = {}
    here: list[_Mention] = []
    for mention in _mentions(analysis):
        assert mention.info is not None
        key = tuple(mention.key[part].value for part in mention.info.key)
        same = known.setdefault(identity_of(schema, mention.info, key), [])
        same.append(mention)
        if mention.span[0] <= offset <= mention.span[1]:
            here = same
    telling = [mention for mention in here if mention.more] or here[:1]
    if not telling:
        return None
    last = telling[0].info is not None and telling[0].info.conflict == "last"
    start, end = telling[-1 if last else 0].span
    return None if start <= offset <= end else Definition(None, start, end)


def _mentions(analysis: Analysis) -> Iterator[_Mention]:
    """All places that name an object by its key, in the order in which they end."""
    rules = analysis.evaluation.model.schema.rules
    around: list[_Mention] = []
    for event in analysis.parse.events():
        if isinstance(event, Close):
            mention = around.pop()
            if (
                mention.info is not None
                and mention.info.key
                and all(part in mention.key for part in mention.info.key)
            ):
                yield mention
            continue
        if around:
            around[-1].note(event)
        if isinstance(event, Open):
            around.append(_Mention(rules.get(event.cls)))


def _meant(
    language: Language, analysis: Analysis, offset: int, path: Path | None
) -> Iterator[Definition]:
    """What the reference at a place means, best first: the language's own rules know better."""
    model = analysis.evaluation.model
    for link in (*model.links, *analysis.targets):
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
