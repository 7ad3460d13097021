"""Short texts that may be put in at some places of a text, for a feature that is missing there.

A best-first search over terminals: first those that begin what is wanted, then whatever brings the
text nearest to where what stands behind the place can follow.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import TYPE_CHECKING

from language_server.partial_model import PartialModel
from language_server.projection.names import new_names
from language_server.projection.prefix import Prefix
from language_server.projection.spelling import spelt
from language_server.syntax import Assign, Close, Expected, Open, Refer, Trail

if TYPE_CHECKING:
    from language_server.languages import Language

# Terminals of one text, and texts that are looked at.
_LONGEST = 12
_TEXTS = 250
# Names tried for one reference; characters that a new name counts for besides its own.
_NAMES = 4
_NEW_NAME = 8
_NEXT = re.compile(r"(\s*)(\w+|[^\w\s]+)?")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is missing.

    Attributes:
        features: symbols of features, any of which may help.
        owners: classes whose objects have them.
        names: of the objects that it is about, which are tried first.
    """

    features: frozenset[str]
    owners: frozenset[str]
    names: tuple[str, ...]


def insertions(
    language: Language, text: str, places: Iterable[int], model: PartialModel, wanted: Wanted
) -> Iterator[tuple[int, str]]:
    """What may be put in so that the rest can follow, the shortest first, and where.

    Args:
        places: ends of lexemes; what is put in stands there, or behind the white space there.
        model: of the whole text, which tells the names there are.
    """
    order, start = count(), Prefix.of_grammar(language)
    waiting = [((0, next(order)), place, 0, 0, start, text[:place]) for place in places]
    for _ in range(_TEXTS):
        if not waiting:
            return
        _, place, terminals, spent, before, terminal = heapq.heappop(waiting)
        prefix = before.advance((before.joint(terminal) if terminals else "") + terminal)
        if not prefix.state.alive:
            continue
        if terminals:
            yield from _followed(prefix, place, text, wanted)
        if terminals == _LONGEST:
            continue
        for expected in prefix.expected():
            if expected.terminal.kind == "end" or expected.typed:
                continue
            if terminals == 0 and not _begins(expected, model, wanted):
                continue
            cost = spent + expected.remaining + len(prefix.text) - place
            for next_one, new in _texts(language, expected, model, wanted):
                dearer = spent + new * _NEW_NAME
                rank = (cost + new * _NEW_NAME, next(order))
                heapq.heappush(waiting, (rank, place, terminals + 1, dearer, prefix, next_one))


def _followed(prefix: Prefix, place: int, text: str, wanted: Wanted) -> Iterator[tuple[int, str]]:
    """What a prefix has behind a place of the text, if it states something that is wanted.

    And only if the rest of the text can follow it.
    """
    following = _NEXT.match(text, place)
    assert following is not None
    white, lexeme = following[1], following[2]
    added = prefix.text[place:]
    if lexeme is None:
        trail = prefix.state.finish()
        if trail is not None and _states(trail, place, len(prefix.text), wanted):
            yield place, added
        return
    behind = prefix.joint(lexeme)
    after = prefix.state.advance((white or behind) + lexeme)
    if not any(_states(each.trail, place, len(prefix.text), wanted) for each in after.expected()):
        return
    if not white:
        yield place, added + behind
    elif "\n" in behind or not prefix.state.advance(behind + lexeme).alive:
        yield place, added
    else:  # on the line of what follows
        yield place + len(white), added.lstrip(prefix.state.skips()) + behind


def _states(trail: Trail, place: int, end: int, wanted: Wanted) -> bool:
    """Whether what a trail says of the text between two places has something that is wanted.

    It must not cut an object in two: end one that began before and begin one that goes on.
    """
    words = {symbol.rsplit("::", 1)[-1] for symbol in wanted.features}
    says = fills = begins = False
    ended = 0
    at: Trail | None = trail
    while at is not None and at.event is not None:
        event = at.event
        if (event.end <= place) if isinstance(event, Close) else (event.start < place):
            break
        if isinstance(event, Close):
            ended += 1
        else:
            says = says or (isinstance(event, Assign | Refer) and event.end <= end)
            fills = fills or event.feature in words
            if isinstance(event, Open):
                begins = begins or (ended == 0 and event.start < end)
                ended = max(ended - 1, 0)
        at = at.parent
    return says and fills and not (begins and ended)


def _begins(expected: Expected, model: PartialModel, wanted: Wanted) -> bool:
    """Whether a terminal begins what is wanted, or may lead to it within its object."""
    rules, mapped = model.schema.rules, model.schema.feature_map
    at: Trail | None = expected.trail
    opened = []
    while at is not None and isinstance(at.event, Open) and at.event.start >= expected.start:
        opened.append(at.event)
        at = at.parent
    for event in opened:
        info = rules.get(event.cls)
        if info is not None and info.name in wanted.owners:
            return True
    feature = mapped.get((expected.cls or "", expected.feature or ""))
    if feature is not None and feature.symbol in wanted.features:
        return True
    info = rules.get(expected.cls or "")
    return not opened and expected.feature is None and info is not None


def _texts(
    language: Language, expected: Expected, model: PartialModel, wanted: Wanted
) -> Iterator[tuple[str, bool]]:
    """Texts of the expected terminal, and whether they are names of something new."""
    if expected.terminal.kind == "keyword":
        yield expected.terminal.text, False
        return
    keywords = language.grammar.keywords
    info = model.schema.rules.get(expected.cls or "")
    identifies = info is not None and expected.feature in (info.key or ("name",))
    if expected.target is not None or identifies:
        known = [name for name, _ in model.candidates(expected.target or expected.cls or "")]
        preferred = [name for name in wanted.names if name in known or expected.target is None]
        if info is not None and identifies and not info.key:
            known = []  # the name of something new
        texts = (spelt(expected, name) for name in dict.fromkeys([*preferred, *known]))
        yield from islice(((text, False) for text in texts if text is not None), _NAMES)
    if identifies:
        taken = {str(name) for name, _ in model.candidates(expected.cls or "")}
        for name in islice(new_names(expected, expected.cls or "", taken, keywords), 1):
            yield name, True
    elif expected.target is None:
        example = expected.terminal.example(expected.typed)
        if example is not None:
            yield example, False
