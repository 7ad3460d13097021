"""Measures of expressions, computed once for all: how little they read, and which never fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import arpeggio

from language_server.syntax.terminals import least_width

Node = Any  # an arpeggio.ParsingExpression with textX's attributes


def is_assignment(node: Node) -> bool:
    """Whether an expression fills a feature with what it reads."""
    return bool(node.rule_name.startswith("__asgn"))


def is_rule(node: Node) -> bool:
    """Whether an expression is the body of a rule; textX marks assignments as roots too."""
    return bool(node.root and not is_assignment(node))


class LeastLengths:
    """The least length of a text of each expression; infinite where there is none."""

    def __init__(self, values: dict[int, float]) -> None:
        self._values = values

    def of(self, node: Node) -> float:
        """The least length of ``node``, a lower bound of what it reads."""
        return self._values.get(id(node), 0)


def least_lengths(roots: list[Node]) -> LeastLengths:
    """Least lengths, in characters, of all expressions reachable from ``roots``."""
    return _least_fixed_point(roots, _width)


def least_terminals(roots: list[Node]) -> LeastLengths:
    """Least lengths in terminals; one that may be empty counts nothing."""
    return _least_fixed_point(roots, lambda node: min(1, _width(node)))


def _least_fixed_point(roots: list[Node], width: Callable[[Node], float]) -> LeastLengths:
    nodes = reachable(roots)
    parents: dict[int, list[Node]] = {}
    for node in nodes:
        for child in node.nodes:
            parents.setdefault(id(child), []).append(node)
    values = {id(node): float("inf") for node in nodes}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        value = _least(node, values, width)
        if value < values[id(node)]:
            values[id(node)] = value
            waiting.extend(parents.get(id(node), ()))
    return LeastLengths(values)


def reachable(roots: list[Node]) -> list[Node]:
    """All expressions reachable from ``roots``, each once."""
    seen: dict[int, Node] = {}
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        waiting.extend(reversed(node.nodes))
        separator = getattr(node, "sep", None)
        if separator is not None:
            waiting.append(separator)
    return list(seen.values())


def sure_expressions(roots: list[Node]) -> frozenset[int]:
    """The expressions (by ``id``) that never fail, as far as that is easily seen."""
    return frozenset(_fixed_point(reachable(roots), _is_sure))


def _is_sure(node: Node, sure: set[int]) -> bool:
    if isinstance(node, (arpeggio.Optional, arpeggio.ZeroOrMore)):
        return True
    if isinstance(node, arpeggio.OrderedChoice):
        return False
    if isinstance(node, (arpeggio.Sequence, arpeggio.OneOrMore)):
        return all(id(child) in sure for child in node.nodes)
    return False


def moving_expressions(roots: list[Node]) -> frozenset[int]:
    """The expressions (by ``id``) that may read text and yet return ``None``.

    That is what suppressed matches do, and sequences of nothing but them and of what reads nothing.
    """
    nodes = reachable(roots)
    false = _fixed_point(nodes, _may_be_false)
    moved = _fixed_point(nodes, lambda node, known: _may_move(node, known, false))
    return frozenset(id(node) for node in nodes if id(node) in moved and _returns_none(node))


def _fixed_point(nodes: list[Node], holds: Callable[[Node, set[int]], bool]) -> set[int]:
    known: set[int] = set()
    changed = True
    while changed:
        changed = False
        for node in nodes:
            if id(node) not in known and holds(node, known):
                known.add(id(node))
                changed = True
    return known


def _may_be_false(node: Node, false: set[int]) -> bool:
    """Whether the result may be false for Python."""
    if node.suppress or isinstance(node, (arpeggio.Optional, arpeggio.ZeroOrMore)):
        return True
    if isinstance(node, arpeggio.RegExMatch):
        return _width(node) == 0
    if isinstance(node, (arpeggio.Not, arpeggio.And)):
        return True
    if isinstance(node, (arpeggio.Match, arpeggio.OrderedChoice)):
        return False
    return all(id(child) in false for child in node.nodes)


def _may_move(node: Node, moved: set[int], false: set[int]) -> bool:
    """Whether the result may be false although text was read."""
    if node.suppress:
        return True
    if isinstance(node, (arpeggio.Match, arpeggio.OrderedChoice, arpeggio.Not, arpeggio.And)):
        return False
    if isinstance(node, arpeggio.Sequence) and not all(id(c) in false for c in node.nodes):
        return False
    return any(id(child) in moved for child in node.nodes)


def _returns_none(node: Node) -> bool:
    """Whether a false result is ``None`` rather than an empty list."""
    return bool(node.suppress) or not isinstance(node, (arpeggio.ZeroOrMore, arpeggio.OneOrMore))


_WIDTHS: dict[tuple[str, int], int] = {}


def _least(node: Node, values: dict[int, float], width: Callable[[Node], float]) -> float:
    combine: Callable[[Iterable[float]], float] = sum
    if isinstance(node, arpeggio.Match):
        return width(node)
    if isinstance(node, (arpeggio.Not, arpeggio.And, arpeggio.Optional, arpeggio.ZeroOrMore)):
        return 0
    if isinstance(node, arpeggio.OrderedChoice):
        combine = min
    return combine(values[id(child)] for child in node.nodes) if node.nodes else 0


def pattern_of(node: Node) -> re.Pattern[str]:
    """The compiled pattern of a regex match; for textX's dummy ``OBJECT`` one without a match."""
    pattern: re.Pattern[str] | None = getattr(node, "regex", None)
    return pattern if pattern is not None else _NEVER


_NEVER = re.compile(r"(?!)")


def _width(node: Node) -> float:
    if isinstance(node, arpeggio.RegExMatch):
        pattern = pattern_of(node)
        key = (pattern.pattern, pattern.flags)
        if key not in _WIDTHS:
            _WIDTHS[key] = least_width(pattern)
        return _WIDTHS[key]
    return len(node.to_match) if isinstance(node, arpeggio.StrMatch) else 0
