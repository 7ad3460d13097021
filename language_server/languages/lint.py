"""Mistakes in a grammar that textX accepts and users pay for later.

- A rule that begins with itself sends textX into endless recursion.
- A rule without a finite text (``Rest: 'x' Rest;``) can never be finished.
- A repetition that also takes the keyword behind it (``ids+=ID 'end'``) leaves nothing to read.
- In an unordered group keyword and value are separate members: ``('x' x=INT 'y' y=INT)#`` reads
  ``y 1 x 2`` as x=1, y=2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from textx.metamodel import TextXMetaModel

from language_server.languages.agreement import Mismatch
from language_server.languages.expressions import grammar_classes, kind_of, rule_of


def lint(metamodel: TextXMetaModel) -> tuple[Mismatch, ...]:
    """The mistakes of a grammar, each at its rule."""
    rules = {
        name: rule_of(cls) for name, cls in grammar_classes(metamodel).items() if name != "Comment"
    }
    places = {name: metamodel[name]._tx_position for name in rules if name in metamodel}
    finite = _finite(rules.values())
    found: list[Mismatch] = []

    def report(name: str, message: str, cure: str) -> None:
        at = places.get(name, 0)
        found.append(Mismatch("warning", f"rule '{name}' {message}", None, (at, at), cure))

    for name, rule in rules.items():
        if id(rule) not in finite:
            report(name, "has no finite text", "add an alternative that does not repeat the rule")
        elif _begins_with(rule, rule):
            report(
                name,
                "begins with itself, which textX cannot read",
                "write it as a repetition: Term ('+' Term)*",
            )
        for node in _inside(rule):
            word = _swallowed(node)
            if word is not None:
                report(
                    name,
                    f"never reads '{word}': the repetition in front of it takes the word",
                    f"exclude it there: !'{word}' ID",
                )
            if kind_of(node) == "UnorderedGroup" and _is_split(node):
                report(
                    name,
                    "has an unordered group whose keywords and values may part",
                    "put each keyword with its value in parentheses: (('x' x=INT) ('y' y=INT))#",
                )
    return tuple(found)


def _finite(roots: Any) -> set[int]:
    """The nodes that match some finite text, found by iteration to the fixed point."""
    nodes: dict[int, Any] = {}
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if id(node) not in nodes:
            nodes[id(node)] = node
            waiting.extend(getattr(node, "nodes", ()))
    finite: set[int] = set()
    grown = True
    while grown:
        grown = False
        for identity, node in nodes.items():
            if identity not in finite and _is_finite(node, finite):
                finite.add(identity)
                grown = True
    return finite


def _is_finite(node: Any, finite: set[int]) -> bool:
    kind = kind_of(node)
    parts = [id(part) in finite for part in getattr(node, "nodes", ())]
    if kind in ("ZeroOrMore", "Optional", "Not", "And") or not parts:
        return True
    return any(parts) if kind == "OrderedChoice" else all(parts)


def _begins_with(rule: Any, sought: Any) -> bool:
    """Whether a rule may come to itself before it has read anything."""
    seen: set[int] = set()
    waiting = list(_first(rule))
    while waiting:
        node = waiting.pop()
        if node is sought:
            return True
        if id(node) not in seen:
            seen.add(id(node))
            waiting.extend(_first(node))
    return False


def _first(node: Any) -> Iterator[Any]:
    """The parts of a node that may be tried at its own start."""
    parts = list(getattr(node, "nodes", ()))
    if kind_of(node) in ("OrderedChoice", "UnorderedGroup"):
        yield from parts
        return
    for part in parts:
        yield part
        if not _may_be_empty(part):
            return


def _may_be_empty(node: Any, seen: frozenset[int] = frozenset()) -> bool:
    if id(node) in seen:
        return False
    kind = kind_of(node)
    if kind in ("ZeroOrMore", "Optional", "Not", "And"):
        return True
    if kind == "RegExMatch":
        return re.compile(node.to_match_regex).match("") is not None
    parts = [_may_be_empty(part, seen | {id(node)}) for part in getattr(node, "nodes", ())]
    if not parts:
        return kind == "StrMatch" and not node.to_match
    return any(parts) if kind == "OrderedChoice" else all(parts)


def _inside(rule: Any) -> Iterator[Any]:
    """The nodes of a rule, without those of the rules it refers to."""
    waiting = [rule]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        waiting.extend(
            part for part in getattr(node, "nodes", ()) if not getattr(part, "_tx_class", None)
        )


def _swallowed(node: Any) -> str | None:
    """The keyword that the repetition in front of it takes, if there is one."""
    parts = list(getattr(node, "nodes", ())) if kind_of(node) == "Sequence" else []
    for repetition, behind in pairwise(parts):
        word = _word(behind)
        pattern = _repeated_pattern(repetition)
        if word and pattern and re.fullmatch(pattern, word):
            return word
    return None


def _word(node: Any) -> str | None:
    while kind_of(node) == "Sequence" and len(node.nodes) == 1:
        node = node.nodes[0]
    return str(node.to_match) if kind_of(node) == "StrMatch" else None


def _repeated_pattern(node: Any) -> str | None:
    """The regular expression that a repetition without separator repeats."""
    while kind_of(node) == "Sequence" and len(node.nodes) == 1:
        node = node.nodes[0]
    if kind_of(node) not in ("OneOrMore", "ZeroOrMore") or getattr(node, "sep", None):
        return None
    while getattr(node, "nodes", None) and len(node.nodes) == 1:
        node = node.nodes[0]
    return str(node.to_match_regex) if kind_of(node) == "RegExMatch" else None


def _is_split(group: Any) -> bool:
    """Whether an unordered group has values as members next to keywords."""
    members = list(getattr(group, "nodes", ()))
    keywords = [node for node in members if _word(node) is not None]
    values = [node for node in members if getattr(node, "_attr_name", None)]
    return len(keywords) > 1 and len(values) > 1
