"""Places in a text that goes on being edited.

An anchored place is one integer: the number of a segment of the text and an offset from where that
segment begins. It stays as it is when text before the segment is edited; only the place of the
segment changes.
"""

from __future__ import annotations

from collections.abc import Mapping

_BITS = 32
_MIDDLE = 1 << (_BITS - 1)  # an object may end before the segment that says so begins


def anchored(number: int, offset: int) -> int:
    """The anchored place at an offset from the begin of a segment; the segments count from 1."""
    return (number << _BITS) + _MIDDLE + offset


class Anchors:
    """Where anchored places are in a text now.

    Args:
        starts: where each segment begins, by its number.
    """

    def __init__(self, starts: Mapping[int, int]) -> None:
        self._starts = starts

    def __call__(self, place: int) -> int:
        """The offset in the text; what is no anchored place (-1 for none) stays as it is."""
        if place < _MIDDLE:
            return place
        number, offset = divmod(place, 1 << _BITS)
        return self._starts[number] + offset - _MIDDLE

    def segment(self, place: int) -> int:
        """Which of the segments the place belongs to, counted from 0."""
        return next(at for at, number in enumerate(self._starts) if number == place >> _BITS)


def as_it_is(place: int) -> int:
    """The offset of a place in a text that is not edited: the same."""
    return place
