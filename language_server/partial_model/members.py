"""Persistent sets that mostly are small."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from immutables import Map

SMALL = 12  # members up to which a plain frozenset is cheaper than a persistent map


def grown(members: Any, member: Any) -> Collection[Any]:
    """A set (None if there was none) with one more member."""
    if members is None:
        return frozenset((member,))
    if isinstance(members, frozenset):
        if len(members) < SMALL:
            return members | {member}
        mutation: Any = Map().mutate()
        for one in members:
            mutation[one] = None
        mutation[member] = None
        large: Collection[Any] = mutation.finish()
        return large
    larger: Collection[Any] = members.set(member, None)
    return larger


def shrunk(members: Any, member: Any) -> Collection[Any]:
    """A set with one member less."""
    left: Collection[Any]
    left = members - {member} if isinstance(members, frozenset) else members.delete(member)
    return left
