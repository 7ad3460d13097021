"""What it takes to write an object or one more value of a feature, in terminals.

A price is what a text grows by at least: ``'uses' uses+=[Box][',']`` takes two terminals for the
first box, and two for each further one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import arpeggio
from textx.const import RULE_COMMON, RULE_MATCH

from language_server.syntax.measures import (
    LeastLengths,
    is_assignment,
    is_rule,
    least_terminals,
    reachable,
)

Node = Any  # an arpeggio.ParsingExpression with textX's attributes
_NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Price:
    """Terminals for the first value of a feature, and for each further one."""

    first: int
    further: int


@dataclass(frozen=True, slots=True)
class Prices:
    """What parts of a model take at least, in terminals.

    Attributes:
        objects: for each rule what an object takes without the values of its features.
        values: for each (rule, feature) what its values take, the objects among them not counted.
    """

    objects: dict[str, int]
    values: dict[tuple[str, str], Price]


def prices(root: Node) -> Prices:
    """The prices of all objects and features that the grammar below ``root`` writes."""
    nodes = reachable([root])
    reader = _Reader(least_terminals([root]))
    objects: dict[str, int] = {}
    values: dict[tuple[str, str], Price] = {}
    for node in nodes:
        if not _is_rule(node) or node._tx_class._tx_type != RULE_COMMON:
            continue
        name = node._tx_class.__name__
        own = reader.own(node)
        if own == _NEVER:
            continue  # no text is such an object
        objects[name] = min(int(own), objects.get(name, int(own)))
        for feature in node._tx_class._tx_attrs:
            first, again = reader.once(node, feature) - own, reader.again(node, feature)
            if first < _NEVER:
                values[name, feature] = Price(int(first), int(again if again < _NEVER else first))
    return Prices(objects, values)


class _Reader:
    """Sums over the body of a rule; what rules of objects read is theirs and counts nothing."""

    def __init__(self, least: LeastLengths) -> None:
        self._least = least

    def own(self, node: Node) -> float:
        """The fewest terminals without any value of a feature."""
        if isinstance(node, (arpeggio.Not, arpeggio.And, arpeggio.Optional, arpeggio.ZeroOrMore)):
            return 0
        return self._of_children(node, [self._own_part(child) for child in node.nodes])

    def once(self, node: Node, feature: str) -> float:
        """The fewest terminals with a value of the feature; infinite where it has no place."""
        if isinstance(node, (arpeggio.Not, arpeggio.And)):
            return _NEVER
        own = [self._own_part(child) for child in node.nodes]
        ways = []
        for place, child in enumerate(node.nodes):
            found = self._once_part(child, feature)
            if not isinstance(node, arpeggio.OrderedChoice):
                found += sum(own[:place] + own[place + 1 :])
            ways.append(found)
        return min(ways, default=_NEVER)

    def again(self, node: Node, feature: str) -> float:
        """The fewest terminals of another round with the feature; infinite without repetition."""
        ways = [_NEVER]
        for child in node.nodes:
            if not _is_rule(child) and not is_assignment(child):
                ways.append(self.again(child, feature))
            if is_assignment(child) and child._attr_name == feature and _repeats(child):
                ways.append(self._value(child) + self._separator(child))
            if _repeats(node) and not is_assignment(node):
                ways.append(self._once_part(child, feature) + self._separator(node))
        return min(ways)

    def _own_part(self, node: Node) -> float:
        if is_assignment(node) or (_is_rule(node) and node._tx_class._tx_type != RULE_MATCH):
            return 0
        if _is_rule(node) or isinstance(node, arpeggio.Match):
            return self._least.of(node)
        return self.own(node)

    def _once_part(self, node: Node, feature: str) -> float:
        if is_assignment(node):
            return self._value(node) if node._attr_name == feature else _NEVER
        return _NEVER if _is_rule(node) else self.once(node, feature)

    def _value(self, assignment: Node) -> float:
        return max((self._own_part(child) for child in assignment.nodes), default=0)

    def _separator(self, node: Node) -> float:
        return self._least.of(node.sep) if node.sep is not None else 0

    def _of_children(self, node: Node, values: list[float]) -> float:
        if isinstance(node, arpeggio.OrderedChoice):
            return min(values)
        return sum(values)


def _is_rule(node: Node) -> bool:
    return is_rule(node) and hasattr(node, "_tx_class")


def _repeats(node: Node) -> bool:
    return isinstance(node, (arpeggio.ZeroOrMore, arpeggio.OneOrMore))
