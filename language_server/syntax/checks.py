"""What is wrong with a grammar before any text is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import arpeggio
import networkx

from language_server.syntax.measures import LeastLengths, reachable


@dataclass(frozen=True, slots=True)
class GrammarFinding:
    """A fault of a grammar.

    Attributes:
        code: ``left-recursion``, ``unproductive-rule``, ``swapped-values``, ``swallowed-keyword``,
            ``swallowed-terminator``, ``dead-alternative`` or ``lost-line-ends``.
        rules: names of the rules involved; the first is where the message belongs.
        message: one sentence for a person.
    """

    code: str
    rules: tuple[str, ...]
    message: str


def findings(root: Any, least: LeastLengths) -> tuple[GrammarFinding, ...]:
    """The faults of the grammar below ``root``, which stands for a whole text."""
    rules = [node for node in reachable([root]) if _is_rule(node) and node is not root]
    return (*_left_recursion(rules, least), *_unproductive(rules, least))


def _is_rule(node: Any) -> bool:
    return bool(node.root and not node.rule_name.startswith("__asgn"))


def _left_recursion(rules: list[Any], least: LeastLengths) -> list[GrammarFinding]:
    graph = networkx.DiGraph()
    names = {id(rule): rule.rule_name for rule in rules}
    for rule in rules:
        for called in _leftmost(rule, least):
            graph.add_edge(id(rule), id(called))
    found = []
    for component in networkx.strongly_connected_components(graph):
        if len(component) > 1 or any(graph.has_edge(node, node) for node in component):
            involved = tuple(names[id(rule)] for rule in rules if id(rule) in component)
            way = " → ".join((*involved, involved[0]))
            found.append(
                GrammarFinding(
                    "left-recursion",
                    involved,
                    f"rule {involved[0]} can call itself without reading anything ({way}); "
                    "textX cannot load any text that reaches it",
                )
            )
    return found


def _leftmost(rule: Any, least: LeastLengths) -> list[Any]:
    """The rules that ``rule`` may call before it has read anything."""
    called = []
    waiting = list(_first_children(rule, least))
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if _is_rule(node):
            called.append(node)
        else:
            waiting.extend(_first_children(node, least))
    return called


def _first_children(node: Any, least: LeastLengths) -> list[Any]:
    if not isinstance(node, arpeggio.Sequence) or isinstance(node, arpeggio.OrderedChoice):
        return list(node.nodes)
    children = []
    for child in node.nodes:
        children.append(child)
        if least.of(child) > 0:
            break
    return children


def _unproductive(rules: list[Any], least: LeastLengths) -> list[GrammarFinding]:
    return [
        GrammarFinding(
            "unproductive-rule",
            (rule.rule_name,),
            f"rule {rule.rule_name} has no finite text: every way through it calls it again",
        )
        for rule in rules
        if least.of(rule) == float("inf")
    ]
