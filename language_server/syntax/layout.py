"""White space and comments between terminals, as Arpeggio skips them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import arpeggio

from language_server.syntax.agenda import DECIDED, IN_COMMENT, PERHAPS_COMMENT
from language_server.syntax.compiler import Compiler
from language_server.syntax.measures import reachable
from language_server.syntax.slots import Layout, Slot
from language_server.syntax.terminals import Terminal

if TYPE_CHECKING:
    from language_server.syntax.machine import Machine


class Skipper:
    """Skips white space and comments before the terminals of one grammar.

    Attributes:
        uses_groups: textX's ``use_regexp_group``.
    """

    def __init__(self, compiler: Compiler, uses_groups: bool) -> None:
        self.uses_groups = uses_groups
        self._compiler = compiler
        self._probes: dict[Layout, Slot] = {}
        self._by_char: dict[str, tuple[Terminal, ...]] = {}
        self._comments = _simple_comments(compiler)
        self._comment_starts: dict[str, bool] = {}

    @cached_property
    def terminals(self) -> tuple[Terminal, ...]:
        """The terminals of the grammar."""
        roots = [self._compiler.root, self._compiler.comments]
        nodes = reachable([root for root in roots if root is not None])
        matches = [node for node in nodes if isinstance(node, arpeggio.Match)]
        return tuple(dict.fromkeys(self._compiler.terminal(match) for match in matches))

    @cached_property
    def looks_back(self) -> bool:
        """Whether a terminal may ask for what stands before it."""
        return any(terminal.looks_back for terminal in self.terminals)

    def terminals_at(self, char: str) -> tuple[Terminal, ...]:
        """Those of them that may start with ``char``."""
        known = self._by_char.get(char)
        if known is None:
            known = tuple(terminal for terminal in self.terminals if terminal.can_start(char))
            self._by_char[char] = known
        return known

    def comment_terminals(self) -> tuple[Terminal, ...] | None:
        """The terminals that are whole comments; None if comments have structure."""
        return self._comments

    def begins_comment(self, char: str) -> bool:
        """Whether a comment may start with ``char``."""
        known = self._comment_starts.get(char)
        if known is None:
            known = self._comment_starts[char] = self._begins_comment(char)
        return known

    def _begins_comment(self, char: str) -> bool:
        if self._compiler.comments is None:
            return False
        if self._comments is None:
            return True
        return any(terminal.can_start(char) for terminal in self._comments)

    def skip(self, machine: Machine, layout: Layout, at: int) -> tuple[int, int]:
        """Where a terminal behind ``at`` starts, and how what is skipped ends (``DECIDED`` ...)."""
        first = start = self._skip_white(machine, layout, at)
        if self._compiler.comments is None or machine.in_comment:
            return start, DECIDED
        if layout.skips and start in machine.comments:
            return machine.comments[start], DECIDED
        while True:
            if start - machine.shift == len(machine.text):
                machine.skipped[layout] = None
            end, undecided = self._comment(machine, layout, start)
            if undecided and not machine.closed:
                machine.skipped[layout] = None
                return start, IN_COMMENT if end > start else PERHAPS_COMMENT
            if end <= start:
                machine.comments[first] = start
                return start, DECIDED
            start = self._skip_white(machine, layout, end)

    def _skip_white(self, machine: Machine, layout: Layout, at: int) -> int:
        text, white = machine.text, layout.white
        if not white:
            return at
        local, length = at - machine.shift, len(text)
        while local < length and text[local] in white:
            local += 1
        return local + machine.shift

    def _comment(self, machine: Machine, layout: Layout, at: int) -> tuple[int, bool]:
        """Where the comment at ``at`` ends (-1 if there is none), and whether that is undecided."""
        local = at - machine.shift
        if local == len(machine.text):
            return -1, False
        if self._comments is None:
            answer, end = machine.comment(self._probe(layout), at)
            return end, answer is None
        for terminal in self._comments:
            if not terminal.can_start(machine.text[local]):
                continue
            end = terminal.match(machine.text, local)
            if not machine.closed and terminal.undecided(machine.text, local, end):
                return (end + machine.shift if end > local else -1), True
            if end > local:
                return end + machine.shift, False
        return -1, False

    def _probe(self, layout: Layout) -> Slot:
        probe = self._probes.get(layout)
        if probe is None:
            probe = self._probes[layout] = self._compiler.body_of_comment(layout).start
        return probe


def _simple_comments(compiler: Compiler) -> tuple[Terminal, ...] | None:
    node = compiler.comments
    if node is None:
        return ()
    if isinstance(node, arpeggio.OrderedChoice) and all(
        isinstance(child, arpeggio.Match) and not child.suppress for child in node.nodes
    ):
        return tuple(compiler.terminal(child) for child in node.nodes)
    if isinstance(node, arpeggio.Match):
        return (compiler.terminal(node),)
    return None
