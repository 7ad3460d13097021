"""Which tokens may follow a prefix: the meeting point of a token table and a guide.

A token is allowed if the guide is alive behind its text. Tokens are bytes and may end inside a
code point; the half code point is then *pending* and some code point beginning with it must be
possible.

The allowed tokens are never all computed unless someone asks for them. :class:`Search` yields
them in the order of their keys: the few best are tried directly, then a best-first walk over the
trie of token bytes follows, where one dead prefix rules out all tokens below it. With keys
``logit + Gumbel noise`` its first result is a draw from the masked distribution, exactly as if
the full mask had been applied: it is "draw, check, redraw without the rejected one", with whole
subtrees rejected at once.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from language_server.decoding.code_points import code_points, named_by, samples, split_code_points
from language_server.decoding.guide import Guide
from language_server.decoding.language_model import Stop, go_on
from language_server.decoding.layout import Layout, LayoutPolicy
from language_server.decoding.masks import Flags, Kinds, Mask
from language_server.decoding.memory import memory_of
from language_server.decoding.vocabulary import Node, Vocabulary

Keys = npt.NDArray[np.float32]
Ids = npt.NDArray[np.intp]
_DIRECT_TRIES = 6
# Tokens that are passed over before those of their kind are left out.
_TRIES_OF_A_KIND = 2
# Tokens that may break a cap, those that fare alike counted once, that are tried, at most.
_MOST_DOUBTS = 400
# From this many tokens that begin beyond ASCII on it pays to ask first whether any may stand.
_MANY = 64


@dataclass(frozen=True, slots=True)
class State:
    """What is known behind some tokens: a persistent value.

    Attributes:
        guide: the prefix up to the last whole code point.
        layout: the runs that are open there.
        pending: the first bytes of a code point that is not finished yet.
        ended: the end token has been taken; nothing follows.
    """

    guide: Guide
    layout: Layout
    pending: bytes = b""
    ended: bool = False

    @property
    def may_end(self) -> bool:
        """Whether the end token is allowed."""
        return not self.ended and not self.pending and self.guide.complete


class TokenFilter:
    """The tokens of one vocabulary under one layout policy; stateless."""

    def __init__(
        self, vocabulary: Vocabulary, policy: LayoutPolicy | None = None, stop: Stop = go_on
    ) -> None:
        """Begin to filter.

        Args:
            stop: asked while something is waited for.
        """
        self.vocabulary = vocabulary
        self.policy = policy if policy is not None else LayoutPolicy()
        self._stop = stop

    def prepare(self) -> None:
        """Begin to make what masks need, beside whatever comes before the first one."""
        memory_of(self.vocabulary)

    def start(self, guide: Guide) -> State:
        """The state before the first token."""
        return State(guide, self.policy.start(guide))

    def step(self, state: State, token: int) -> State | None:
        """The state behind ``token``, or None if the guide rules it out (caps are not asked)."""
        if state.ended:
            return None
        if token in self.vocabulary.end_tokens:
            return State(state.guide, state.layout, ended=True) if state.may_end else None
        if not 0 <= token < len(self.vocabulary):
            return None
        data = self.vocabulary.token_bytes[token]
        if not data:
            return None
        after = self._read(state, data)
        if after is None or (after.pending and not _can_finish(after)):
            return None
        return after

    def follows_grammar(self, state: State, token: int) -> bool:
        """Whether the grammar alone lets the text go on with ``token``, as far as that is told."""
        data = self.vocabulary.token_bytes[token] or b""
        split = split_code_points(state.pending + data)
        return split is not None and bool(split[0] and state.guide.advance(split[0]).expected())

    def within_caps(self, state: State, after: State) -> bool:
        """Whether the layout policy likes the step from ``state`` to ``after``."""
        if after.pending and state.layout.ends_word_soon:
            return False  # what it becomes may be too much, and to ask of each kind takes long
        text = after.guide.text[len(state.guide.text) :] + "x" * bool(after.pending)
        return state.layout.permits(text, state.guide, after.guide)

    def allowed(self, state: State) -> npt.NDArray[np.bool_]:
        """The full mask: one entry per id of the vocabulary."""
        kinds = self.kinds(state, thorough=True)
        within = self.capped(state, kinds) if kinds is not None else None
        if kinds is not None and within is not None:
            mask = within if within.any() or kinds.complete else kinds.of >= 0
            mask[list(self.vocabulary.end_tokens)] = kinds.complete
            return mask
        mask = np.zeros(len(self.vocabulary), dtype=np.bool_)
        everything = np.zeros(len(self.vocabulary), dtype=np.float32)
        for token, _ in Search(self, state, everything):
            mask[token] = True
        return mask

    def kinds(self, state: State, thorough: bool = False) -> Kinds | None:
        """What the guide allows, caps and end tokens aside; None if to tell that takes long.

        Args:
            thorough: whether it may take long: as where a predicate looks ahead, and each character
                that may be next has to be read before what is open tells all.
        """
        if state.ended or state.pending:
            return None
        memory = memory_of(self.vocabulary)
        if not memory.is_ready(self._stop):
            return None
        future = state.guide.future
        known = memory.recall(future)
        if known is None and (thorough or state.guide.openings() is not None):
            mask = Mask(memory.walks(), lambda data: self._may_begin(state, data))
            known = memory.keep(future, mask.fill(state.guide))
        return known

    def capped(self, state: State, kinds: Kinds) -> Flags | None:
        """The allowed tokens that the layout policy likes; None if telling them takes long."""
        liked: Flags = kinds.of >= 0
        if state.layout.policy == LayoutPolicy.free():
            return liked
        runs = memory_of(self.vocabulary).runs
        liked &= runs.within(state.layout)
        if state.layout.ends_word_soon:
            liked &= ~runs.cut  # as `within_caps` has it
        doubts = np.flatnonzero(liked & (runs.length > state.layout.slack(state.guide)))
        groups = self._that_fare_alike(state, kinds, doubts)
        if len(groups) > _MOST_DOUBTS:
            return None
        for group in groups:
            # In tokens of a kind that begin alike, a literal or a comment is longer in longer ones.
            kept = bisect_left(group, True, key=lambda token: not self._likes(state, int(token)))
            liked[group[kept:]] = False
        return liked

    def _that_fare_alike(self, state: State, kinds: Kinds, tokens: Ids) -> list[Ids]:
        """Tokens of one kind that begin with as much white space, each lot by length.

        Those of which more must be known are alone.
        """
        runs = memory_of(self.vocabulary).runs
        alone = runs.has_gap[tokens] | np.isin(kinds.of[tokens], kinds.mixed)
        end = state.guide.comment_end.encode()
        if end:
            alone |= np.isin(tokens, self.vocabulary.trie.prefixes(end))
        begin = np.where(alone, 0, 1 + 2 * runs.white[tokens] + runs.cut[tokens])
        what = np.where(alone, tokens, kinds.of[tokens])
        order = np.lexsort((runs.length[tokens], what, begin))
        changes = np.diff(begin[order]).astype(np.bool_) | np.diff(what[order]).astype(np.bool_)
        lots: list[Ids] = np.split(tokens[order], np.flatnonzero(changes) + 1)
        return lots if len(tokens) else []

    def _likes(self, state: State, token: int) -> bool:
        after = self.step(state, token)
        return after is not None and self.within_caps(state, after)

    def _may_begin(self, state: State, data: bytes) -> bool:
        after = self._read(state, data)
        return after is not None and (not after.pending or _can_finish(after))

    def branches(self, state: State, node: Node) -> list[tuple[int, int, Node]]:
        """The children of ``node`` worth reading: place among all children, byte, child."""
        children = list(enumerate(self.vocabulary.trie.children(node)))
        if state.pending or not children:
            return [(place, byte, child) for place, (byte, child) in children]
        wide = [(place, byte, child) for place, (byte, child) in children if byte >= 0x80]
        if wide and node.high - wide[0][2].low >= _MANY:
            wide = wide if _may_stand(state.guide, 0x80, 0x10FFFF) else []
        may_follow = state.guide.may_follow
        return [
            (place, byte, child)
            for place, (byte, child) in children
            if byte < 0x80 and may_follow(chr(byte))
        ] + wide

    def _read(self, state: State, data: bytes) -> State | None:
        """The state behind some bytes; what is pending at the end is not judged here."""
        split = split_code_points(state.pending + data)
        if split is None:
            return None
        text, pending = split
        if not text:
            return State(state.guide, state.layout, pending)
        if not state.guide.may_follow(text[0]):
            return None
        guide = state.guide.advance(text)
        if not guide.alive:
            return None
        return State(guide, state.layout, pending)

    def settle(self, state: State, after: State) -> State:
        """``after`` with its layout brought up to date; once per token that is kept."""
        text = after.guide.text[len(state.guide.text) :]
        if not text:
            return after
        layout = state.layout.after(text, after.guide)
        return State(after.guide, layout, after.pending, after.ended)


class Search:
    """The allowed tokens behind a state with the states behind them, highest key first.

    Tokens that only the layout policy dislikes come after all others, if there are no others.
    """

    def __init__(
        self,
        token_filter: TokenFilter,
        state: State,
        keys: Keys,
        end_key: float = -np.inf,
    ) -> None:
        """Begin a search.

        Args:
            keys: one number per id; ids with ``-inf`` are never yielded.
            end_key: the highest key of an end token, allowed or not.
        """
        self._all_keys, self._end_key = keys, end_key
        self.rejections = 0
        self.turned_down: list[int] = []  # of the likeliest, those the guide has ruled out
        self._kinds: Kinds | None = None
        self._passed_over: list[int] = []
        self._tired_of: set[Hashable] = set()  # what tokens do of which enough were passed over
        self._filter = token_filter
        self._state = state
        self._trie = token_filter.vocabulary.trie
        usable = token_filter.vocabulary.text_tokens.copy()
        if state.may_end:
            usable[list(token_filter.vocabulary.end_tokens)] = True
        self._keys = np.where(usable, keys, -np.inf).astype(np.float32)
        self._by_bytes: Keys = self._keys[:0]
        self._heap: list[tuple[float, int, _Item]] = []
        self._pushed = 0

    def prefers_end(self, token: int) -> bool:
        """Whether an end token, allowed or not, would have come before ``token``."""
        return bool(self._end_key > self._all_keys[token])

    def pass_over(self, token: int) -> None:
        """Tell that a token is of no use; those of its kind are left out after a few of them."""
        self._passed_over.append(token)
        self._tire()

    def __iter__(self) -> Iterator[tuple[int, State]]:
        if self._state.ended:
            return
        over_caps: list[tuple[int, State]] = []
        subtrees: list[tuple[float, _Item]] = []
        found = False
        for token, after in self._likeliest():
            if self._filter.within_caps(self._state, after):
                found = True
                yield token, after
            else:
                over_caps.append((token, after))
        masks = self._masks()
        if masks is not None:
            for mask in masks:
                for token, after in self._in_order(mask):
                    found = True
                    yield token, after
                if found:
                    return
            yield from over_caps
            return
        self._expand_root()
        for token, after in self._best_first(subtrees):
            found = True
            yield token, after
        if not found:
            yield from over_caps
            for key, item in subtrees:
                self._push(key, item)
            yield from self._best_first(None)

    def _likeliest(self) -> Iterator[tuple[int, State]]:
        """The few best tokens, tried as wholes: where the model is right nothing is walked."""
        tries = min(_DIRECT_TRIES, len(self._keys))
        best = np.argpartition(self._keys, -tries)[-tries:]
        for token in best[np.argsort(-self._keys[best], kind="stable")].tolist():
            if self._keys[token] == -np.inf:
                return
            after = self._filter.step(self._state, token)
            self._keys[token] = -np.inf
            if after is None:
                self.rejections += 1
                self.turned_down.append(token)
            else:
                yield token, after

    def _masks(self) -> tuple[Flags, Flags] | None:
        """The mask within the caps and, where that is empty, the one without them."""
        self._kinds = self._filter.kinds(self._state)
        if self._kinds is None:
            return None
        self._tire()
        within = self._filter.capped(self._state, self._kinds)
        return None if within is None else (within, self._kinds.of >= 0)

    def _in_order(self, mask: Flags) -> Iterator[tuple[int, State]]:
        """The tokens of a mask and the end tokens, highest key first."""
        mask[list(self._filter.vocabulary.end_tokens)] = True
        tokens = np.flatnonzero(mask & (self._keys > -np.inf))
        for token in tokens[np.argsort(-self._keys[tokens], kind="stable")].tolist():
            if self._tired_of and self._does(token) in self._tired_of:
                continue
            after = self._filter.step(self._state, token)
            if after is None:
                self.rejections += 1
            else:
                yield token, after

    def _tire(self) -> None:
        counts = Counter(map(self._does, self._passed_over))
        self._tired_of = {
            does for does, count in counts.items() if does is not None and count >= _TRIES_OF_A_KIND
        }

    def _does(self, token: int) -> Hashable:
        """What a token does, as far as it is known; halves of characters are all alike."""
        if self._kinds is None or self._kinds.of[token] < 0:
            return None
        runs = memory_of(self._filter.vocabulary).runs
        if runs.cut[token]:
            return "cut"
        is_white = runs.white[token] == runs.length[token]
        return self._kinds.does[self._kinds.of[token]], bool(is_white)

    def _best_first(
        self, over_caps: list[tuple[float, _Item]] | None
    ) -> Iterator[tuple[int, State]]:
        """Walk the trie; subtrees over a cap are put aside into ``over_caps``, if it is given."""
        while self._heap:
            negative_key, _, item = heapq.heappop(self._heap)
            if over_caps is not None and item.breaks_a_cap():
                over_caps.append((-negative_key, item))
                continue
            after = self._resolve(item)
            if after is None:
                self.rejections += 1
            elif over_caps is not None and not self._filter.within_caps(self._state, after):
                over_caps.append((-negative_key, item))
            elif isinstance(item.what, Node):
                self._expand(item.what, after)
            else:
                yield item.what, after

    def _resolve(self, item: _Item) -> State | None:
        if item.byte is not None:
            return self._filter._read(item.state, bytes([item.byte]))
        if item.what in self._filter.vocabulary.end_tokens:
            return State(item.state.guide, item.state.layout, ended=True)
        return item.state if not item.state.pending or _can_finish(item.state) else None

    def _expand_root(self) -> None:
        self._by_bytes = self._keys[self._trie.order]
        self._expand(self._trie.root, self._state)
        for token in self._filter.vocabulary.end_tokens:
            self._push(float(self._keys[token]), _Item(token, self._state, None))

    def _expand(self, node: Node, state: State) -> None:
        for place in range(node.low, node.own):
            key = float(self._by_bytes[place])
            self._push(key, _Item(int(self._trie.order[place]), state, None))
        if node.own < node.high:
            below = self._by_bytes[node.own : node.high]
            best = np.maximum.reduceat(below, self._trie.child_starts(node))
            for place, byte, child in self._filter.branches(state, node):
                self._push(float(best[place]), _Item(child, state, byte))

    def _push(self, key: float, item: _Item) -> None:
        if key > -np.inf:
            # The counter keeps equal keys in a fixed order and items out of comparisons.
            heapq.heappush(self._heap, (-key, self._pushed, item))
            self._pushed += 1


@dataclass(frozen=True, slots=True)
class _Item:
    """A token behind ``state``, or the node that ``byte`` leads to from there."""

    what: Node | int
    state: State
    byte: int | None

    def breaks_a_cap(self) -> bool:
        """Whether the byte alone tells that the layout policy dislikes it."""
        if self.byte is None or self.byte >= 0x80 or self.state.pending:
            return False
        return not self.state.layout.permits_first(chr(self.byte), self.state.guide)


def _can_finish(state: State) -> bool:
    """Whether some code point beginning with the pending bytes may stand here."""
    low, high = code_points(state.pending)
    return _may_stand(state.guide, low, high)


def _may_stand(guide: Guide, low: int, high: int) -> bool:
    """Whether one of the code points from ``low`` to ``high`` (beyond ASCII) may stand here.

    Not all are tried. The regular expressions of textX's grammars (Python's ``re``) tell characters
    apart by general category, by white space, and by naming single characters or the ends of
    ranges; a model tells them apart by the names the text contains. One of each kind is enough.
    """
    named = {character for character in _named(guide) if low <= ord(character) <= high}
    return any(
        guide.may_follow(character) and guide.advance(character).alive
        for character in (*sorted(named), *samples(low, high))
    )


def _named(guide: Guide) -> set[str]:
    """Characters beyond ASCII that the terminals expected here, or the text itself, name."""
    found = set() if guide.text.isascii() else {c for c in guide.text if c > "\x7f"}
    for expected in guide.expected():
        found.update(named_by(expected.terminal))
    return found
