"""References that only code of the language resolves: textX is asked about a text that is complete.

While such a text is written, any object of the right class may be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textx import get_children, get_model

from language_server.diagnostic import Diagnostic
from language_server.languages.imports import Disk
from language_server.languages.textx_judge import NOT_IN_TIME, load
from language_server.partial_model import Scopes, Target
from language_server.syntax import Parse

if TYPE_CHECKING:
    from language_server.languages.imports import Library
    from language_server.languages.language import Language

#: Seconds that textX may take for a text that somebody is writing.
PATIENCE = 5.0


@dataclass(frozen=True)
class Decision:
    """What textX makes of a text.

    Attributes:
        problems: the first one, none if the text loads or nothing is known.
        loads: whether it does, as far as known.
        targets: what references mean that only code of the language resolves.
    """

    problems: tuple[Diagnostic, ...]
    loads: bool
    targets: tuple[Target, ...] = ()


def decide(
    language: Language, library: Library, text: str, parse: Parse, path: Path | None
) -> Decision:
    """Asks textX about a complete text of a language with code of its own.

    Nothing is known where textX does not come to an end, or would read other files than those that
    are open in an editor.
    """
    scopes = Scopes.of(language.links, parse.events())
    if path is not None and _has_unsaved_neighbours(language, library, scopes, path):
        return Decision((), False)
    model, problems = load(language.metamodel, text, path, PATIENCE, library.files.root)
    if problems:
        unknown = problems[0].code == NOT_IN_TIME
        return Decision(() if unknown else problems, False)
    return Decision((), True, tuple(_targets(language, library, scopes, model)))


def _has_unsaved_neighbours(
    language: Language, library: Library, scopes: Scopes, path: Path
) -> bool:
    around = language.surroundings(path)
    units = around.gather(scopes)[0][1:] if around is not None else ()
    saved = Disk()
    return any(saved.text(unit.path) != library.files.text(unit.path) for unit in units)


def _targets(language: Language, library: Library, scopes: Scopes, model: Any) -> Iterator[Target]:
    """What the references left to textX mean, in the order of the text."""
    here = _Names(scopes)
    elsewhere: dict[str, _Names] = {}
    objects = {_place(thing): thing for thing in get_children(lambda _: True, model)}
    seen: dict[tuple[int, str], int] = {}
    for mention in scopes.mentions():
        source = scopes.things[mention.source]
        cell = (mention.source, mention.feature)
        position = seen[cell] = seen.get(cell, -1) + 1
        if not language.links.way(source.cls, mention.feature).is_own:
            continue
        value = getattr(objects.get((source.cls, source.start)), mention.feature, None)
        if isinstance(value, list):
            value = _of_several(value, mention.name, position)
        place = None if value is None else _place(value)
        if place is None:
            continue
        root = get_model(value)
        file = "" if root is model else str(getattr(root, "_tx_filename", None) or "")
        if root is not model and not file:
            continue  # it is always there
        if file and file not in elsewhere:
            read = library.read(file, language).scopes
            elsewhere[file] = _Names(read or Scopes.empty(language.links))
        span = (elsewhere[file] if file else here).span(place)
        yield Target(mention.start, mention.end, file, *span)


def _of_several(values: list[Any], name: str, position: int) -> Any:
    """What a reference among others means; those that textX could not resolve at once come last."""
    word = re.split(r"\W", name)[-1]
    namesakes = {id(each): each for each in values if getattr(each, "name", None) == word}
    if len(namesakes) == 1:
        return next(iter(namesakes.values()))
    return values[position] if position < len(values) else None


class _Names:
    """Where the names of the objects of a text stand, by class and begin of the object."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._numbers = {(each.cls, each.start): n for n, each in scopes.things.items()}

    def span(self, place: tuple[str, int]) -> tuple[int, int]:
        """The span of an object's name, else where the object begins."""
        number = self._numbers.get(place)
        return (place[1], place[1]) if number is None else self._scopes.name_span(number)


def _place(thing: Any) -> tuple[str, int] | None:
    """The class and the begin of an object of textX, None if it is of no text."""
    start = getattr(thing, "_tx_position", None)
    return None if start is None else (type(thing).__name__, start)
