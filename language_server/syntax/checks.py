"""What the rules of a grammar say of themselves, before any text is read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import arpeggio
import networkx

from language_server.syntax.finding import GrammarFinding, GrammarPlace
from language_server.syntax.measures import (
    LeastLengths,
    is_assignment,
    is_rule,
    least_lengths,
    pattern_of,
    reachable,
)
from language_server.syntax.places import Places

Node = Any  # an arpeggio.ParsingExpression with textX's attributes

_SAMPLES = ("0", "1", "1.5", "a", "a1", "true", "'a'", '"a"')


def checks(metamodel: Any, places: Places) -> Iterator[GrammarFinding]:
    """The faults of all rules of a metamodel, of those too that no text reaches."""
    namespaces = [names for name, names in metamodel.namespaces.items() if name != "__base__"]
    roots = [cls._tx_peg_rule for classes in namespaces for cls in classes.values()]
    rules = [node for node in reachable(roots) if is_rule(node)]
    least = least_lengths(roots)
    yield from _left_recursion(rules, least, places)
    yield from _unproductive(rules, least, places)
    yield from _swapping_groups(rules, places)
    yield from _lost_line_ends(rules, places)


# -- rules without end --------------------------------------------------------------------------


def _left_recursion(
    rules: list[Node], least: LeastLengths, places: Places
) -> Iterator[GrammarFinding]:
    graph = networkx.DiGraph()
    by_id = {id(rule): rule for rule in rules}
    for rule in rules:
        for called in _leftmost(rule, least):
            graph.add_edge(id(rule), id(called))
    for component in networkx.strongly_connected_components(graph):
        if len(component) > 1 or any(graph.has_edge(node, node) for node in component):
            involved = [rule for rule in rules if id(rule) in component]
            names = tuple(by_id[id(rule)].rule_name for rule in involved)
            way = " → ".join((*names, names[0]))
            yield GrammarFinding(
                "left-recursion",
                names,
                f"rule {names[0]} can call itself without reading anything ({way}); textX never "
                "comes back from there",
                "write it as a repetition: Term ('+' Term)*",
                places.of(involved[0]),
            )


def _leftmost(rule: Node, least: LeastLengths) -> list[Node]:
    """The rules that ``rule`` may call before it has read anything."""
    called = []
    waiting = list(_first_children(rule, least))
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if is_rule(node):
            called.append(node)
        else:
            waiting.extend(_first_children(node, least))
    return called


def _first_children(node: Node, least: LeastLengths) -> list[Node]:
    if not isinstance(node, arpeggio.Sequence) or isinstance(node, arpeggio.OrderedChoice):
        return list(node.nodes)
    children = []
    for child in node.nodes:
        children.append(child)
        if least.of(child) > 0:
            break
    return children


def _unproductive(
    rules: list[Node], least: LeastLengths, places: Places
) -> Iterator[GrammarFinding]:
    for rule in rules:
        if least.of(rule) == float("inf"):
            yield GrammarFinding(
                "unproductive-rule",
                (rule.rule_name,),
                f"rule {rule.rule_name} has no finite text: every way through it calls for more",
                "add an alternative that does not come back to the rule",
                places.of(rule),
            )


# -- expressions that do not do what they look like ---------------------------------------------


def _expressions(rules: list[Node]) -> Iterator[tuple[Node, Node]]:
    """All expressions with the rules they stand in."""
    for rule in rules:
        waiting = [rule]
        while waiting:
            node = waiting.pop()
            yield rule, node
            waiting.extend(child for child in reversed(node.nodes) if not is_rule(child))


def _swapping_groups(rules: list[Node], places: Places) -> Iterator[GrammarFinding]:
    """``('x' x=INT 'y' y=INT)#``: values are taken in the order of the grammar, not of keywords."""
    for rule, group in _expressions(rules):
        if not isinstance(group, arpeggio.UnorderedGroup):
            continue
        values = [(index, node) for index, node in _values(group) if is_assignment(node)]
        for (first, one), (second, other) in combinations(values, 2):
            labelled = _is_label(group, first - 1) or _is_label(group, second - 1)
            features = one._attr_name, other._attr_name
            if labelled and features[0] != features[1] and _read_alike(one, other):
                related = places.of_child(group, first)
                yield GrammarFinding(
                    "swapped-values",
                    (rule.rule_name,),
                    f"in the unordered group of rule {rule.rule_name}, a text may give the value "
                    f"meant for {features[1]} to {features[0]}: values are taken in the order of "
                    "the grammar, whatever keyword stands before them",
                    "put each keyword into parentheses with its value: (('x' x=INT) ('y' y=INT))#",
                    places.of_child(group, second),
                    _related(related, f"{features[0]} takes the first value"),
                )


def _related(place: GrammarPlace | None, how: str) -> tuple[tuple[GrammarPlace, str], ...]:
    return () if place is None else ((place, how),)


def _values(group: Node) -> Iterator[tuple[int, Node]]:
    for index, node in enumerate(group.nodes):
        while isinstance(node, arpeggio.Optional) and not node.root:
            node = node.nodes[0]
        yield index, node


def _is_label(group: Node, index: int) -> bool:
    """Whether a member of a group is a word by itself."""
    if index < 0:
        return False
    node = group.nodes[index]
    fixed = isinstance(node, (arpeggio.StrMatch, arpeggio.RegExMatch))
    return fixed and node.to_match.isidentifier()


def _read_alike(one: Node, other: Node) -> bool:
    """Whether the first assignment reads some whole text of the second."""
    reader, wanted = one.nodes[0], other.nodes[0]
    if reader is wanted:
        return True
    if not isinstance(reader, arpeggio.RegExMatch) or not isinstance(wanted, arpeggio.RegExMatch):
        return False
    patterns = pattern_of(reader), pattern_of(wanted)
    return any(all(pattern.fullmatch(text) for pattern in patterns) for text in _SAMPLES)


def _lost_line_ends(rules: list[Node], places: Places) -> Iterator[GrammarFinding]:
    """``ws`` inside ``eolterm``: Arpeggio restores the white space without line ends."""
    for rule, node in _expressions(rules):
        if not getattr(node, "eolterm", False):
            continue
        for inner in reachable(list(node.nodes)):
            if getattr(inner, "ws", None) is not None:
                related = places.of(inner)
                yield GrammarFinding(
                    "lost-line-ends",
                    (rule.rule_name, inner.rule_name),
                    f"in rule {rule.rule_name}, a repetition with eolterm calls {inner.rule_name}, "
                    "which has its own ws; textX then takes line ends for text in all that follows",
                    f"leave out ws of {inner.rule_name}, or eolterm here",
                    places.of(node),
                    _related(related, f"{inner.rule_name} has its own ws"),
                )
                break
