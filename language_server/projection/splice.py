"""An old witness behind a text that went on otherwise: what closes the text, then the rest of it.

``x`` that was completed by `` > 0`` and goes on as ``x +`` needs ``1 > 0``: the shortest way to
where a part of the old witness fits again. A name that grew since is renamed in that part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from language_server.projection.verdict import Effort, Known
from language_server.syntax.document import shared_start

if TYPE_CHECKING:
    from language_server.projection.prefix import Prefix
    from language_server.projection.search import Search

# Terminals written before the rest of the witness, rests tried, texts judged.
_MIDDLE = 3
_RESTS = 10
_JUDGED = 8


def splice(start: Prefix, known: Known, search: Search, effort: Effort) -> Known | None:
    """A consistent text that begins as `start` and ends as `known`, None if none was found."""
    rests = tuple(dict.fromkeys(_rests(start.text, known.text)))
    judged = 0
    for middle in search.closing(start, _MIDDLE):
        for rest in rests:
            if effort.stop():
                return None
            whole = middle.advance(rest)
            if not whole.state.alive or whole.state.finish() is None:
                continue
            if search.accepts(whole):
                return Known(whole.text, (start.state.length,))
            judged += 1
            if judged == _JUDGED:
                return None
    return None


def _rests(text: str, known: str) -> Iterator[str]:
    """The ends of a witness from each word or sign on, first what is nearest to the text's end."""
    same = shared_start(text, known)
    old, new = _word_at(known, same), _word_at(text, len(text))
    rest = known[same:]
    cuts = [0, *(found.end() for found in re.finditer(r"\w+|\s+|[^\w\s]", rest))]
    for cut in cuts[:_RESTS]:
        end = rest[cut:]
        yield end
        if old and new and old != new:
            yield re.sub(rf"\b{re.escape(old)}\b", lambda _: new, end)


def _word_at(text: str, place: int) -> str:
    """The word that stands at a place, '' where there is none."""
    before = re.search(r"\w*\Z", text[:place])
    behind = re.match(r"\w*", text[place:])
    return (before[0] if before else "") + (behind[0] if behind else "")
