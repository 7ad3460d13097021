"""The context-free grammar that has every text of a textX grammar, and some more.

Left out is what only takes texts away: that the first alternative counts, that repetition is
greedy, predicates, word boundaries, and how often an element of an unordered group may come.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import arpeggio

from language_server.syntax.characters import NOTHING, expression_of, literal, one_of
from language_server.syntax.compiler import Compiler
from language_server.syntax.context_free import (
    Choice,
    ContextFree,
    Expression,
    Repeat,
    Rule,
    Sequence,
)
from language_server.syntax.environment import Node
from language_server.syntax.measures import is_rule, pattern_of


@dataclass(frozen=True, slots=True)
class _Skipped:
    """What is skipped before a terminal."""

    white: str
    skips: bool
    comments: bool

    def within(self, node: Node) -> _Skipped:
        white, skips = getattr(node, "ws", None), getattr(node, "skipws", None)
        if white is not None:
            return replace(self, white=white, skips=self.skips if skips is None else bool(skips))
        return self if skips is None else replace(self, skips=bool(skips))

    def in_one_line(self) -> _Skipped:
        return replace(self, white=self.white.replace("\n", "").replace("\r", ""))


def approximation(compiler: Compiler, white: str, skips: bool) -> ContextFree:
    """The grammar of whole texts.

    Args:
        white, skips: what is skipped between terminals where no rule says otherwise.
    """
    return _Approximation(compiler).grammar(_Skipped(white, skips, compiler.comments is not None))


class _Approximation:
    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler
        self._rules: dict[str, Expression] = {}
        self._names: dict[tuple[Any, ...], str] = {}

    def grammar(self, skipped: _Skipped) -> ContextFree:
        start = self._rule(self._compiler.root, skipped)
        return ContextFree(self._rules, start.name)

    def _rule(self, node: Node, skipped: _Skipped) -> Rule:
        return self._named(
            (id(node), skipped), node.rule_name or "rule", lambda: self._body(node, skipped)
        )

    def _named(self, key: tuple[Any, ...], name: str, make: Any) -> Rule:
        known = self._names.get(key)
        if known is None:
            known = self._names[key] = f"{name}{len(self._names)}"
            self._rules[known] = make()
        return Rule(known)

    def _expression(self, node: Node, skipped: _Skipped) -> Expression:
        if is_rule(node) and not isinstance(node, arpeggio.Match):
            return self._rule(node, skipped)
        return self._body(node, skipped)

    def _body(self, node: Node, skipped: _Skipped) -> Expression:
        if isinstance(node, arpeggio.Match):
            return Sequence((self._layout(skipped), self._terminal(node)))
        if isinstance(node, arpeggio.OrderedChoice):
            return self._choice(node, skipped.within(node))
        if isinstance(node, arpeggio.Sequence):
            inner = skipped.within(node)
            return Sequence(tuple(self._expression(part, inner) for part in node.nodes))
        if isinstance(node, (arpeggio.Not, arpeggio.And)):
            return NOTHING
        inner = skipped.in_one_line() if getattr(node, "eolterm", False) else skipped
        if isinstance(node, arpeggio.Optional):
            return Repeat(self._expression(node.nodes[0], inner), 0, 1)
        if isinstance(node, (arpeggio.ZeroOrMore, arpeggio.OneOrMore)):
            item = self._expression(node.nodes[0], inner)
            several = self._several(item, node, inner)
            return Repeat(several, 0, 1) if isinstance(node, arpeggio.ZeroOrMore) else several
        if isinstance(node, arpeggio.UnorderedGroup):
            parts = tuple(self._expression(part, inner) for part in node.nodes)
            return Repeat(self._several(Choice(parts), node, inner), 0, 1)
        return NOTHING

    def _several(self, item: Expression, node: Node, skipped: _Skipped) -> Expression:
        """One or more of ``item``, with what separates them."""
        if node.sep is None:
            return Repeat(item, 1, None)
        separator = self._expression(node.sep, skipped)
        return Sequence((item, Repeat(Sequence((separator, item)), 0, None)))

    def _choice(self, node: Node, skipped: _Skipped) -> Expression:
        choice = Choice(tuple(self._expression(part, skipped) for part in node.nodes))
        # A suppressed alternative that has read something lets those behind it go on from there.
        moves = any(id(part) in self._compiler.moving for part in node.nodes)
        return Repeat(choice, 1, None) if moves else choice

    def _terminal(self, node: Node) -> Expression:
        if isinstance(node, arpeggio.EndOfFile):
            return NOTHING
        if isinstance(node, arpeggio.RegExMatch):
            return expression_of(pattern_of(node))
        return literal(node.to_match, bool(node.ignore_case))

    def _layout(self, skipped: _Skipped) -> Expression:
        white = skipped.white if skipped.skips else ""
        if not white and not skipped.comments:
            return NOTHING

        def make() -> Expression:
            kinds: list[Expression] = [one_of(white)] if white else []
            if skipped.comments:
                # The white space before a comment is that of the layout it is part of.
                within = replace(skipped, white="", comments=False)
                kinds.append(self._expression(self._compiler.comments, within))
            return Repeat(Choice(tuple(kinds)), 0, None)

        return self._named(("layout", white, skipped.comments), "layout", make)
