"""Unordered groups (``#``): slots by the set of elements that are still to come."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from language_server.syntax.environment import Environment, Node, add, muted
from language_server.syntax.slots import (
    ChoiceSlot,
    CloseSlot,
    Continuation,
    FailSlot,
    PredicateSlot,
    Result,
    ReturnSlot,
    Slot,
)

if TYPE_CHECKING:
    from language_server.syntax.compiler import Rule


class UnorderedGroup:
    """The slots of one group in one place."""

    def __init__(self, rule: Rule, node: Node, env: Environment, after: Continuation) -> None:
        self._rule = rule
        self._node = node
        self._env = replace(env, line_ends=True) if node.eolterm else env
        self._after = after
        self._rounds: dict[tuple[int, Result], Slot] = {}
        self._same = [
            next(
                i
                for i, other in enumerate(node.nodes)
                if other is node.nodes[j] or other == node.nodes[j]
            )
            for j in range(len(node.nodes))
        ]

    def start(self) -> Slot:
        """The group with all its elements to come."""
        if not self._node.nodes:
            return FailSlot(self._rule.body)
        return self._round((1 << len(self._node.nodes)) - 1, Result.NONE, True)

    def _round(self, remaining: int, sum_: Result, first: bool) -> Slot:
        if remaining == 0:
            return self._after(sum_)
        key = (remaining, sum_)
        if key not in self._rounds:
            self._rounds[key] = ChoiceSlot(
                self._rule.body,
                self._rest(remaining),
                lambda choice: self._ways(choice, remaining, sum_, first),
            )
        return self._rounds[key]

    def _ways(self, choice: ChoiceSlot, remaining: int, sum_: Result, first: bool) -> list[Slot]:
        separated = self._node.sep is not None and not first
        element = Continuation(
            lambda _: self._elements(remaining, remaining, sum_, choice), self._rest(remaining)
        )
        if separated:
            taken = self._rule.node(self._node.sep, self._env, element, None)
        else:
            taken = element(Result.NONE)
        if not self._may_end(remaining):
            return [taken]
        if not separated and self._is_sure(remaining):
            return [taken, self._after(sum_)]
        exits = PredicateSlot(
            self._rule.body,
            lambda: self._nothing_more(remaining, separated),
            True,
            sum_,
            self._after,
        )
        return [taken, exits]

    def _elements(self, candidates: int, remaining: int, sum_: Result, outer: ChoiceSlot) -> Slot:
        """The first of ``candidates`` that reads something, in the order of the grammar."""
        if candidates == 0:
            return FailSlot(self._rule.body)
        index = (candidates & -candidates).bit_length() - 1
        others = candidates & (candidates - 1)
        left = remaining & ~(1 << self._removed(index, remaining))

        def make(choice: ChoiceSlot) -> list[Slot]:
            def closed(result: Result) -> Slot:
                if not result.true:
                    return self._elements(others, remaining, sum_, outer)
                return CloseSlot(
                    outer, 0, rest, lambda: self._round(left, add(sum_, result), False)
                )

            rest = self._rest(left)
            close = Continuation(
                lambda result: CloseSlot(choice, 0, rest, lambda: closed(result)), rest
            )
            env = muted(self._env, sum_)
            branches = [self._rule.node(self._node.nodes[index], env, close, None)]
            if others and id(self._node.nodes[index]) not in self._rule.sure:
                branches.append(self._elements(others, remaining, sum_, outer))
            return branches

        return ChoiceSlot(self._rule.body, self._rest(remaining), make, origin=(self._node, index))

    def _removed(self, index: int, remaining: int) -> int:
        """Arpeggio removes the first element that *equals* the one that was read."""
        first = self._same[index]
        return first if remaining & (1 << first) else index

    def _may_end(self, remaining: int) -> bool:
        return all(
            self._rule.least.of(node) == 0
            for index, node in enumerate(self._node.nodes)
            if remaining & (1 << index)
        )

    def _is_sure(self, remaining: int) -> bool:
        return all(
            id(node) in self._rule.sure
            for index, node in enumerate(self._node.nodes)
            if remaining & (1 << index)
        )

    def _nothing_more(self, remaining: int, separated: bool) -> Slot:
        """A probe that succeeds where all remaining elements are there but empty."""
        rule = self._rule
        env = replace(self._env.silent(), loud=False)
        body = self._rule.body
        nodes = [n for i, n in enumerate(self._node.nodes) if remaining & (1 << i)]

        def empty(at: int) -> Slot:
            if at == len(nodes):
                return ReturnSlot(body, Result.NONE)

            def to(result: Result) -> Slot:
                return FailSlot(body) if result.true else empty(at + 1)

            return rule.node(nodes[at], env, Continuation(to, 0), None)

        if not separated:
            return empty(0)

        def make(choice: ChoiceSlot) -> list[Slot]:
            close = Continuation(lambda _: CloseSlot(choice, 0, 0, lambda: empty(0)), 0)
            return [rule.node(self._node.sep, env, close, None), empty(0)]

        return ChoiceSlot(body, 0, make)

    def _rest(self, remaining: int) -> float:
        return self._after.rest + sum(
            self._rule.least.of(node)
            for index, node in enumerate(self._node.nodes)
            if remaining & (1 << index)
        )
