"""What the tokens of a vocabulary do to the openings behind a prefix, remembered.

A *stand* is a set of openings some bytes later. The tokens below a node of the trie are walked
from a stand once, all nodes of a depth at a time, and the result is kept: it depends on nothing but
the openings.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from language_server.decoding.code_points import code_points, named_by, samples, split_code_points
from language_server.decoding.flat_trie import FlatTrie, Ints
from language_server.decoding.guide import Openings
from language_server.syntax import Lexer, LexicalState, Outcome

_DEAD = 0
_UNKNOWN = np.iinfo(np.int32).min
_NOTHING = np.zeros(0, dtype=np.int32)
#: What is remembered at most: a kibibyte for each stand, four bytes for each place.
_MOST_STANDS = 30_000
_MOST_PLACES = 20_000_000
BeginsComment = Callable[[str], bool]


class Entry(NamedTuple):
    """One opening a few characters later."""

    number: int
    lexical: LexicalState
    white: str
    begun: bool


@dataclass(eq=False, slots=True)
class Stand:
    """The openings some bytes later: those still open, and the beginning of a code point.

    Attributes:
        begins_comment: whether a comment may begin with a character.
        numbers: of the openings that are left; none for an unfinished code point.
    """

    entries: tuple[Entry, ...]
    pending: bytes
    begins_comment: BeginsComment
    numbers: tuple[int, ...] = ()


#: A node, and the numbers of the openings that end behind it.
Group = tuple[int, tuple[int, ...]]
#: Openings that end before a character, by number; None if the character says nothing of others.
Ended = tuple[int, ...] | None


@dataclass(eq=False, slots=True)
class Walk:
    """All tokens below a node, behind one stand.

    Attributes:
        inside: for each set of openings, the places of the tokens that leave just these.
        exits: nodes at which a terminal has ended, to be advanced to one by one.
        asks: places of tokens that end inside a code point and leave no opening.
        apart: groups of nodes and places, by the node behind whose text terminals end and by
            these: what follows there is judged behind white space.
    """

    inside: list[tuple[tuple[int, ...], Ints]]
    exits: list[int]
    asks: list[int]
    apart: dict[Group, tuple[list[int], list[int]]] = field(default_factory=dict)
    parts: dict[tuple[Group, int], Walk] = field(default_factory=dict)


class Walks:
    """The walks over one vocabulary; may be asked by several threads."""

    def __init__(self, trie: FlatTrie) -> None:
        self.trie = trie
        self._lock = threading.RLock()
        self._stands: list[Stand] = [Stand((), b"", _no_comment)]
        self._numbers: dict[tuple[tuple[Entry, ...], bytes], int] = {}
        self._table = np.full((64, 256), _UNKNOWN, dtype=np.int32)
        self._ended: list[Ended] = [None]
        self._walks: dict[tuple[int, int], Walk] = {}
        self._places = 0  # in all walks together

    @property
    def is_full(self) -> bool:
        """Whether it remembers so much that it should be thrown away."""
        return len(self._stands) > _MOST_STANDS or self._places > _MOST_PLACES

    def enter(self, openings: Openings) -> int:
        """The number of the stand before any byte."""
        entries = tuple(
            Entry(number, opening.lexical, opening.white, opening.begun)
            for number, opening in enumerate(openings.each)
        )
        return self._number(entries, b"", openings.begins_comment)

    def entries(self, stand: int) -> tuple[Entry, ...]:
        """The openings of a stand."""
        return self._stands[stand].entries

    def walk(self, start: int, node: int) -> Walk:
        """The tokens below a node behind a stand."""
        known = self._walks.get((start, node))
        if known is None:
            with self._lock:
                known = self._walks[start, node] = self._walk_anew(start, node)
        return known

    def part(self, walk: Walk, group: Group, stand: int) -> Walk:
        """What is judged behind a stand instead, of what ends apart in a walk."""
        known = walk.parts.get((group, stand))
        if known is None:
            known = walk.parts[group, stand] = self._part(
                self.walk(stand, group[0]), *walk.apart[group]
            )
        return known

    def without_white(self, start: int, path: bytes, kept: int) -> bytes:
        """``path`` without the white space it begins with, if that is skipped behind a stand.

        Args:
            kept: so much of it is left all the same: what keeps terminals apart.
        """
        skipped = 0
        while skipped < len(path) - 1 and self._step(start, path[skipped]) == start:
            skipped += 1
        return path[max(0, skipped - kept) :]

    def _part(self, walk: Walk, nodes: list[int], places: list[int]) -> Walk:
        """What of a walk lies at or below some nodes, or at some places."""
        trie = self.trie
        kept = np.zeros(len(trie.order), dtype=np.bool_)
        kept_nodes = np.zeros(len(trie), dtype=np.bool_)
        for node in nodes:
            kept[trie.low[node] : trie.high[node]] = True
            kept_nodes[node : trie.end[node]] = True
        kept[places] = True
        part = Walk(
            [(numbers, found[kept[found]]) for numbers, found in walk.inside],
            [node for node in walk.exits if kept_nodes[node]],
            [place for place in walk.asks if kept[place]],
        )
        for key, (inner, ends) in walk.apart.items():
            inner = [node for node in inner if kept_nodes[node]]
            ends = [place for place in ends if kept[place]]
            if inner or ends:
                part.apart[key] = (inner, ends)
        self._places += sum(len(places) for _, places in part.inside)
        part.inside = [(numbers, found) for numbers, found in part.inside if len(found)]
        return part

    # -- what is remembered -----------------------------------------------------------------------

    def _number(
        self, entries: tuple[Entry, ...], pending: bytes, begins_comment: BeginsComment
    ) -> int:
        key = (entries, pending)
        known = self._numbers.get(key)
        if known is not None:
            return known
        with self._lock:
            known = len(self._stands)
            numbers = tuple(entry.number for entry in entries) if not pending else ()
            self._stands.append(Stand(entries, pending, begins_comment, numbers))
            if known >= len(self._table):
                grown = np.full((2 * len(self._table), 256), _UNKNOWN, dtype=np.int32)
                grown[: len(self._table)] = self._table
                self._table = grown
            self._numbers[key] = known
        return known

    def _walk_anew(self, start: int, node: int) -> Walk:
        trie = self.trie
        at = np.zeros(int(trie.end[node]) - node, dtype=np.int32)
        at[0] = start
        left: list[Ints] = []
        for level in trie.levels(node):
            before = at[trie.parent[level] - node]
            level, before = level[before > 0], before[before > 0]
            if not len(level):
                break
            after = self._table[before, trie.byte[level]]
            missing = after == _UNKNOWN
            if missing.any():
                codes = before[missing].astype(np.int64) * 256 + trie.byte[level][missing]
                for code in np.unique(codes).tolist():
                    self._step(code >> 8, code & 0xFF)
                after = self._table[before, trie.byte[level]]
            at[level - node] = after
            left.append(level[after < 0])
        return self._gather(at, node, np.concatenate(left) if left else _NOTHING)

    def _gather(self, at: Ints, node: int, left: Ints) -> Walk:
        trie = self.trie
        first = int(trie.own[node])
        ends = at[trie.home[first : trie.high[node]] - node]
        inside: dict[tuple[int, ...], list[Ints]] = {}
        walk = Walk([], [], [])
        for stand in np.unique(ends[ends > 0]).tolist():
            places = np.flatnonzero(ends == stand).astype(np.int32) + first
            found = self._stands[stand]
            numbers, leaves = found.numbers, 0
            if found.pending:
                numbers, leaves = self._finish(found)
            if numbers:
                inside.setdefault(numbers, []).append(places)
            if leaves < 0:
                for place in places.tolist():
                    above = self._whole(node, int(trie.home[place]), len(found.pending))
                    self._note(walk, above, leaves, None, place)
        walk.inside = [
            (numbers, np.sort(np.concatenate(places))) for numbers, places in inside.items()
        ]
        self._places += sum(len(places) for _, places in walk.inside)
        for exit_node in left.tolist():
            above = int(trie.parent[exit_node])
            while above != node and self._stands[at[above - node]].pending:
                above = int(trie.parent[above])
            self._note(walk, above, int(at[exit_node - node]), exit_node, None)
        return walk

    def _whole(self, node: int, home: int, pending: int) -> int:
        for _ in range(pending):
            if home == node:
                break
            home = int(self.trie.parent[home])
        return home

    def _note(
        self, walk: Walk, above: int, leaves: int, node: int | None, place: int | None
    ) -> None:
        ended = self._ended[-leaves]
        if ended is None:
            if node is not None:
                walk.exits.append(node)
            elif place is not None:
                walk.asks.append(place)
            return
        nodes, places = walk.apart.setdefault((above, ended), ([], []))
        if node is not None:
            nodes.append(node)
        elif place is not None:
            places.append(place)

    # -- one byte, one character ------------------------------------------------------------------

    def _step(self, stand: int, byte: int) -> int:
        known = int(self._table[stand, byte])
        if known == _UNKNOWN:
            known = self._step_anew(self._stands[stand], byte)
            self._table[stand, byte] = known
        return known

    def _step_anew(self, stand: Stand, byte: int) -> int:
        split = split_code_points(stand.pending + bytes([byte]))
        if split is None:
            return _DEAD
        char, pending = split
        if pending:
            return self._number(stand.entries, pending, stand.begins_comment)
        return self._read(stand, char)

    def _read(self, stand: Stand, char: str) -> int:
        """The stand behind a character: a number, ``_DEAD``, or a negative one of what ends."""
        left: list[Entry] = []
        ended: list[int] = []
        alone = False
        for entry in stand.entries:
            if not entry.begun and char in entry.white:
                left.append(entry)
                continue
            if not entry.begun and stand.begins_comment(char):
                alone = True
                continue
            lexical = entry.lexical.then(char)
            if lexical.outcome is Outcome.OPEN:
                left.append(Entry(entry.number, lexical, entry.white, True))
            elif lexical.outcome is Outcome.ENDED:
                if entry.begun and lexical.apart:
                    ended.append(entry.number)
                else:
                    alone = True
        whole = [entry.number for entry in stand.entries if entry.begun and entry.lexical.whole]
        if ended and ended == whole and not left and not alone:
            return self._leaving(tuple(ended))
        if ended or alone:
            return self._leaving(None)
        return self._number(tuple(left), b"", stand.begins_comment) if left else _DEAD

    def _leaving(self, ended: Ended) -> int:
        if ended not in self._ended[1:]:
            self._ended.append(ended)
        return -self._ended.index(ended, 1)

    def _finish(self, stand: Stand) -> tuple[tuple[int, ...], int]:
        """Which openings some code point that begins with the pending bytes leaves."""
        low, high = code_points(stand.pending)
        lexers = {entry.lexical.lexer for entry in stand.entries}
        named = {char for lexer in lexers for char in _named(lexer) if low <= ord(char) <= high}
        # Characters that no terminal tells apart are asked about once.
        kinds = {
            (*(lexer.kind(char) for lexer in lexers), char.isspace()): char
            for char in (*sorted(named), *samples(low, high))
        }
        numbers: dict[int, None] = {}
        leaves: dict[int, None] = {}
        for char in kinds.values():
            after = self._read(stand, char)
            if after > 0:
                numbers.update(dict.fromkeys(self._stands[after].numbers))
            elif after < 0:
                leaves[after] = None
        several = self._leaving(None) if len(leaves) > 1 else 0
        return tuple(numbers), next(iter(leaves)) if len(leaves) == 1 else several


def _no_comment(char: str) -> bool:
    return False


@lru_cache(maxsize=4096)
def _named(lexer: Lexer) -> frozenset[str]:
    return frozenset(named_by(lexer.terminal))
