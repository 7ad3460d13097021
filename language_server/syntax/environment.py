"""What an expression of a grammar inherits from those around it, and what it hands on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from language_server.syntax.slots import Layout, Mode, Result, Sink

Node = Any  # an arpeggio.ParsingExpression with textX's attributes


@dataclass(frozen=True, slots=True)
class Environment:
    """What an expression inherits from the expressions around it."""

    white: str
    skips: bool
    line_ends: bool
    mode: Mode
    loud: bool
    cls: Any = None
    sink: Sink | None = None

    def layout(self) -> Layout:
        """What is skipped before a terminal here."""
        return _layout(self.white, self.skips, self.line_ends)

    def silent(self) -> Environment:
        """The same without meaning for the model."""
        return replace(self, mode=Mode.SILENT, cls=None, sink=None)


@cache
def _layout(white: str, skips: bool, line_ends: bool) -> Layout:
    if not skips:
        return Layout("", False)
    if line_ends:
        white = white.replace("\n", "").replace("\r", "")
    return Layout(white, True)


def scoped(node: Node, env: Environment) -> Environment:
    """With the white space that an expression sets for itself."""
    white, skips = getattr(node, "ws", None), getattr(node, "skipws", None)
    if white is not None:
        env = replace(env, white=white)
    if skips is not None:
        env = replace(env, skips=bool(skips))
    return env


def add(sum_: Result, result: Result) -> Result:
    """The result of a sequence that has ``sum_`` and reads ``result``: false ones are dropped."""
    return max(sum_, result) if result.true else sum_


def muted(env: Environment, sum_: Result) -> Environment:
    """Only the first non-terminal of an abstract rule is its value."""
    if env.mode is Mode.ABSTRACT and sum_ is Result.NODE:
        return env.silent()
    return env
