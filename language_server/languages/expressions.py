"""What a grammar rule matches, read off textX's parser graph without running it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from textx.metamodel import TextXMetaModel

from language_server.syntax.measures import is_assignment, is_rule, reachable

BASE_TYPES = {
    "ID": "string",
    "STRING": "string",
    "INT": "int",
    "BOOL": "boolean",
    "FLOAT": "real",
    "STRICTFLOAT": "real",
    "NUMBER": "real",
    "BASETYPE": "string",
}


def grammar_classes(metamodel: TextXMetaModel) -> dict[str, Any]:
    """The classes of the rules of a grammar (imported grammars included) by name."""
    found: dict[str, Any] = {}
    for cls in metamodel:
        if cls.__name__ not in (*BASE_TYPES, "OBJECT"):
            found.setdefault(cls.__name__, cls)
    return found


def has_twin(name: str, metamodel: TextXMetaModel) -> bool:
    """Whether several rules of objects have a name, in grammars that import each other.

    TextX tells their classes apart; here they have one name.
    """
    classes = (namespace.get(name) for namespace in metamodel.namespaces.values())
    with_objects = [cls for cls in classes if getattr(cls, "_tx_type", "match") != "match"]
    return len({cls._tx_fqn for cls in with_objects}) > 1


def drops_references(metamodel: TextXMetaModel) -> bool:
    """Whether there are references in objects that nobody holds.

    TextX makes an object of what a common rule reads with a rule that it assigns to no feature, and
    resolves its references, but no model has it.
    """
    classes = grammar_classes(metamodel).values()
    dropped = [
        node for cls in classes if cls._tx_type == "common" for node in _unassigned(rule_of(cls))
    ]
    return any(
        attribute.ref and not attribute.cont
        for node in reachable(dropped)
        for attribute in getattr(getattr(node, "_tx_class", None), "_tx_attrs", {}).values()
    )


def _unassigned(rule: Any) -> Iterator[Any]:
    """The rules of objects that a rule calls without an assignment."""
    waiting = list(rule.nodes)
    while waiting:
        node = waiting.pop()
        if is_rule(node):
            if getattr(getattr(node, "_tx_class", None), "_tx_type", "match") != "match":
                yield node
        elif not is_assignment(node):
            waiting += node.nodes


def choices(rule: Any) -> tuple[str, ...] | None:
    """The texts of a match rule that is a choice of fixed texts; None for any other rule."""
    kind = kind_of(rule)
    if kind == "StrMatch":
        return None if rule.ignore_case else (str(rule.to_match),)
    if kind == "OrderedChoice" or (kind == "Sequence" and len(rule.nodes) == 1):
        found: list[str] = []
        for node in rule.nodes:
            texts = choices(node)
            if texts is None:
                return None
            found.extend(texts)
        return tuple(dict.fromkeys(found))
    return None


def as_regex(rule: Any, seen: frozenset[int] = frozenset()) -> str | None:
    """A regular expression for what a match rule matches; None where it recurses or predicts."""
    if id(rule) in seen:
        return None
    seen |= {id(rule)}
    kind = kind_of(rule)
    if kind == "StrMatch":
        return re.escape(str(rule.to_match))
    if kind == "RegExMatch":
        return f"(?:{rule.to_match_regex})"
    parts = [as_regex(node, seen) for node in getattr(rule, "nodes", ())]
    if any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    if kind == "OrderedChoice":
        return f"(?:{'|'.join(known)})"
    body = r"\s*".join(known)
    suffix = {"Sequence": "", "ZeroOrMore": "*", "OneOrMore": "+", "Optional": "?"}.get(kind)
    return None if suffix is None else f"(?:{body}){suffix}"


def gives_object(rule: Any, within: Any, seen: frozenset[int]) -> bool:
    """Whether every way to match a rule of the abstract class `within` gives an object."""
    cls = getattr(rule, "_tx_class", None)
    if cls is not None and cls is not within and cls._tx_type != "abstract":
        # A common rule that reads nothing makes no object.
        return bool(cls._tx_type == "common") and not _may_be_empty(rule, frozenset())
    if id(rule) in seen:
        return True
    if kind_of(rule) in ("Optional", "ZeroOrMore", "Not", "And"):
        return False
    parts = [gives_object(node, within, seen | {id(rule)}) for node in getattr(rule, "nodes", ())]
    if not parts:
        return False
    return all(parts) if kind_of(rule) == "OrderedChoice" else any(parts)


def _may_be_empty(rule: Any, seen: frozenset[int]) -> bool:
    """Whether a rule may be read without any text; patterns that match nothing are left out."""
    if id(rule) in seen:
        return False
    parts = (_may_be_empty(node, seen | {id(rule)}) for node in getattr(rule, "nodes", ()))
    match kind_of(rule):
        case "Optional" | "ZeroOrMore" | "Not" | "And":
            return True
        case "OrderedChoice":
            # An alternative that reads nothing has failed, but for a repetition.
            return any(kind_of(node) == "ZeroOrMore" for node in rule.nodes)
        case "Sequence" | "OneOrMore" | "UnorderedGroup":
            return all(parts)
        case _:
            return False


def rule_of(cls: Any) -> Any:
    """The parser graph of a rule."""
    return cls._tx_peg_rule


def kind_of(rule: Any) -> str:
    """The kind of parsing expression a node of the parser graph is."""
    # textX derives classes of its own from Arpeggio's, so the known bases are looked for.
    for cls in type(rule).__mro__:
        if cls.__name__ in (
            "StrMatch",
            "RegExMatch",
            "OrderedChoice",
            "Optional",
            "ZeroOrMore",
            "OneOrMore",
            "UnorderedGroup",
            "Not",
            "And",
            "Sequence",
        ):
            return cls.__name__
    return type(rule).__name__
