"""Which features of an object come together in the text.

In ``('=' operator=Operator value=Value)?`` whatever has an operator has a value too, although both
may be missing.
"""

from __future__ import annotations

from typing import Any

import arpeggio
from textx.const import RULE_COMMON

from language_server.syntax.measures import (
    LeastLengths,
    is_assignment,
    is_rule,
    least_terminals,
    reachable,
)

Node = Any  # an arpeggio.ParsingExpression with textX's attributes
_MAY_BE_NONE = (arpeggio.Optional, arpeggio.ZeroOrMore)
_LOOKS_ONLY = (arpeggio.Not, arpeggio.And)


def companions(root: Node) -> dict[tuple[str, str], frozenset[str]]:
    """For each (rule, feature) the other features that its objects have if they have it."""
    nodes = reachable([root])
    reader = _Reader(least_terminals([root]))
    found: dict[tuple[str, str], frozenset[str]] = {}
    for node in nodes:
        if not is_rule(node) or getattr(node, "_tx_class", None) is None:
            continue
        if node._tx_class._tx_type != RULE_COMMON:
            continue
        features = list(node._tx_class._tx_attrs)
        for feature in features:
            with_it = frozenset(
                other
                for other in features
                if other != feature
                and reader.may_have(node, feature, None)
                and not reader.may_have(node, feature, other)
            )
            place = (node._tx_class.__name__, feature)
            found[place] = found.get(place, with_it) & with_it
    return {place: others for place, others in found.items() if others}


class _Reader:
    """What the body of a rule may assign; what rules inside it read belongs to other objects."""

    def __init__(self, least: LeastLengths) -> None:
        self._least = least

    def may_have(self, node: Node, feature: str, without: str | None) -> bool:
        """Whether some text of the expression has a value of one feature and none of another."""
        if isinstance(node, _LOOKS_ONLY):
            return False
        ways = [self._part_has(child, feature, without) for child in node.nodes]
        if isinstance(node, arpeggio.OrderedChoice):
            return any(ways)
        free = [without is None or self._part_lacks(child, without) for child in node.nodes]
        return any(
            way and all(free[:place]) and all(free[place + 1 :]) for place, way in enumerate(ways)
        )

    def _part_has(self, node: Node, feature: str, without: str | None) -> bool:
        if is_assignment(node):
            return bool(node._attr_name == feature)
        return not is_rule(node) and self.may_have(node, feature, without)

    def _lacks(self, node: Node, feature: str) -> bool:
        """Whether some text of the expression has no value of a feature."""
        if isinstance(node, (*_LOOKS_ONLY, *_MAY_BE_NONE)):
            return True
        each = [self._part_lacks(child, feature) for child in node.nodes]
        return any(each) if isinstance(node, arpeggio.OrderedChoice) else all(each)

    def _part_lacks(self, node: Node, feature: str) -> bool:
        if is_assignment(node):
            return (
                node._attr_name != feature
                or isinstance(node, _MAY_BE_NONE)
                or any(self._least.of(child) == 0 for child in node.nodes)
            )
        return is_rule(node) or self._lacks(node, feature)
