"""Full masks, mostly from memory.

Most tokens stay inside the terminals that are open behind a prefix. Which these are depends on
nothing but the *openings* there (``projection.Openings``): the terminals, what they can still
become, and the white space skipped before them. They are walked over the trie of the vocabulary
once, all nodes of a depth at a time, and the result is kept. What a mask costs then is: to ask
which openings the partial model admits, to take the union of their tokens, and to follow by the
parser the few ways on which a terminal ends inside a token. Where a terminal has ended, what
follows is the same whether white space stands between or not, so that one step of the parser
serves for all characters that may follow.

The split into tokens that can be judged once and those that cannot is that of XGrammar (Dong et
al. 2024) and DOMINO (Beurer-Kellner et al. 2024); here it is made at each place where a terminal
ends, and the rest of the token is judged from memory again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from language_server.decoding.code_points import split_code_points
from language_server.decoding.flat_trie import Ints
from language_server.decoding.guide import Guide, Openings
from language_server.decoding.walks import Entry, Group, Walk, Walks

Flags = npt.NDArray[np.bool_]


class Kinds(NamedTuple):
    """Which tokens may follow, and which of them do the same.

    Attributes:
        of: for each token the number of its kind, -1 where it may not follow.
        does: what the tokens of a kind leave open, by number; equal for kinds that differ in what
            was said alone. -1 for one whose tokens may differ.
        complete: whether the text may end.
    """

    of: npt.NDArray[np.signedinteger[Any]]
    does: tuple[int, ...]
    complete: bool

    @property
    def mixed(self) -> list[int]:
        """The kinds whose tokens may differ."""
        return [kind for kind, does in enumerate(self.does) if does < 0]


class Mask:
    """One mask in the making.

    Attributes:
        kinds: by place, the number of the token's kind; -1 where it may not follow.
        does: what the tokens of each kind leave open; None where they may differ.
    """

    def __init__(self, walks: Walks, ask: Callable[[bytes], bool]) -> None:
        """Begin with nothing allowed.

        Args:
            ask: whether bytes that end inside a code point may stand behind the prefix.
        """
        self._walks = walks
        self._trie = walks.trie
        self._ask = ask
        self._kept: list[Guide] = []
        self._entered: dict[int, tuple[int, Openings]] = {}
        self._behind: dict[tuple[int, bytes], tuple[Guide, Openings | None] | None] = {}
        self._numbers: dict[Hashable, int] = {}
        self.kinds = np.full(len(walks.trie.order), -1, dtype=np.int32)
        self.does: list[Hashable] = []

    def fill(self, guide: Guide) -> Kinds:
        """Find the tokens that may follow."""
        self._fill(guide, guide.openings(), 0, b"")
        by_id = np.full(self._trie.size, -1, dtype=np.min_scalar_type(-1 - len(self.does)))
        by_id[self._trie.order] = self.kinds
        by_id.flags.writeable = False
        numbers: dict[Hashable, int] = {None: -1}
        does = tuple(numbers.setdefault(does, len(numbers)) for does in self.does)
        return Kinds(by_id, does, guide.complete)

    def _fill(self, guide: Guide, openings: Openings | None, node: int, said: bytes) -> None:
        """Mark the tokens below a node whose bytes, ``said``, the guide has read."""
        if self._trie.end[node] == node + 1:
            return
        if openings is None:
            self._read_all(guide, node, said, b"")
            return
        start = self._enter(openings)
        walk = self._walks.walk(start, node)
        self._apply(guide, openings, start, walk, node, said)

    def _enter(self, openings: Openings) -> int:
        known = self._entered.get(id(openings))
        if known is None:
            known = self._entered[id(openings)] = (self._walks.enter(openings), openings)
        return known[0]

    def _apply(
        self, guide: Guide, openings: Openings, start: int, walk: Walk, node: int, said: bytes
    ) -> None:
        trie = self._trie
        for numbers, places in walk.inside:
            if any(openings.admits(number) is True for number in numbers):
                self._mark(places, (id(openings), numbers), (openings.each, numbers))
                continue
            for number in numbers:
                self._spell(self._walks.entries(start), number, openings, node, places)
        for exit_node in walk.exits:
            self._leave(guide, openings, start, node, exit_node, said)
        for place in walk.asks:
            self._mark_asked(place, said + trie.path(node, int(trie.home[place])))
        for group in walk.apart:
            self._set_apart(guide, openings, start, walk, group, node, said)

    def _leave(
        self,
        guide: Guide,
        openings: Openings,
        start: int,
        node: int,
        exit_node: int,
        said: bytes,
    ) -> None:
        path = self._trie.path(node, exit_node)
        key = (id(guide), self._walks.without_white(start, path, int(openings.behind)))
        known = self._behind.get(key)
        if known is None:
            known = self._behind[key] = self._advance(guide, openings, key[1])
        if known is not None:
            own = slice(int(self._trie.low[exit_node]), int(self._trie.own[exit_node]))
            after, behind = known
            self._mark(own, id(after), behind.each if behind is not None else id(after))
            self._fill(*known, exit_node, said + path)

    def _advance(
        self, guide: Guide, openings: Openings, path: bytes
    ) -> tuple[Guide, Openings | None] | None:
        after = guide.advance(path.decode())
        if not after.alive:
            return None
        self._kept.append(guide)  # so that no other one gets its place in memory
        behind = after.openings()
        # Where what was read says nothing, and the same may come again, nothing is asked anew.
        same = behind is not None and openings.each == behind.each and _same_future(guide, after)
        return (guide, openings) if same else (after, behind)

    def _set_apart(
        self,
        guide: Guide,
        openings: Openings,
        start: int,
        walk: Walk,
        group: Group,
        node: int,
        said: bytes,
    ) -> None:
        """Judge what follows where terminals have ended: as whatever may stand behind them."""
        path = self._trie.path(node, group[0])
        after = guide.advance(path.decode()) if path else guide
        behind = after.openings_behind()
        if behind is not None:
            stand = self._enter(behind)
            part = self._walks.part(walk, group, stand)
            self._apply(after, behind, stand, part, group[0], said + path)
            return
        nodes, places = walk.apart[group]
        for exit_node in nodes:
            self._leave(guide, openings, start, node, exit_node, said)
        for place in places:
            self._mark_asked(place, said + self._trie.path(node, int(self._trie.home[place])))

    def _mark(self, places: Ints | slice, kind: Hashable, does: Hashable) -> None:
        number = self._numbers.get(kind)
        if number is None:
            number = self._numbers[kind] = len(self.does)
            self.does.append(does)
        self.kinds[places] = number

    def _mark_asked(self, place: int, word: bytes) -> None:
        if self.kinds[place] < 0 and self._ask(word):
            self._mark(slice(place, place + 1), None, None)

    def _spell(
        self, entries: Iterable[Entry], number: int, openings: Openings, node: int, places: Ints
    ) -> None:
        """Mark those of some places whose tokens spell a beginning of one of the only texts."""
        texts = openings.admits(number)
        if isinstance(texts, bool):
            return
        entry = next(entry for entry in entries if entry.number == number)
        spelt: dict[int, str] = {}
        for root in [node] if entry.begun else self._behind_white(node, entry.white):
            if root != node:
                spelt.update(dict.fromkeys(self._own(root), ""))
            for text in texts:
                at: int | None = root
                for byte in text.encode():
                    at = self._trie.child(at, byte) if at is not None else None
                    if at is not None:
                        spelt.update(dict.fromkeys(self._own(at), text))
        for place in np.intersect1d(places, np.fromiter(spelt, dtype=np.int32)).tolist():
            text = spelt[place]
            does = (openings.each, number, text)
            self._mark(slice(place, place + 1), (id(openings), number, text), does)

    def _own(self, node: int) -> range:
        return range(int(self._trie.low[node]), int(self._trie.own[node]))

    def _behind_white(self, node: int, white: str) -> Iterable[int]:
        yield node
        for char in white:
            child = self._trie.child(node, ord(char)) if ord(char) < 0x80 else None
            if child is not None:
                yield from self._behind_white(child, white)

    def _read_all(self, guide: Guide, node: int, said: bytes, pending: bytes) -> None:
        """Advance to every node below, where the openings do not tell what may follow."""
        trie = self._trie
        for child in map(int, trie.children(node)):
            byte = bytes([int(trie.byte[child])])
            split = split_code_points(pending + byte)
            if split is None:
                continue
            char, rest = split
            own = slice(int(trie.low[child]), int(trie.own[child]))
            if rest:
                if self._ask(said + byte):
                    self._mark(own, None, None)
                    self._read_all(guide, child, said + byte, rest)
            elif guide.may_follow(char):
                after = guide.advance(char)
                if after.alive:
                    self._kept.append(after)
                    self._mark(own, id(after), id(after))
                    self._fill(after, after.openings(), child, said + byte)


def _same_future(one: Guide, other: Guide) -> bool:
    return one.future is not None and one.future == other.future
