"""What can be asked of an evaluation state: queries, counts and closures under three views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

View = Literal["now", "must", "may"]
Pattern = tuple[bool, ...]
Row = tuple[Any, ...]
DUAL: dict[View, View] = {"now": "now", "must": "may", "may": "must"}


class Query:
    """A predicate with a binding pattern under a view, compiled.

    Attributes:
        run: takes the evaluation state and the bound arguments; gives the rows of the free ones,
            under ``may`` an iterator that finds each when it is asked for, else the set of all.
        stratum: higher than that of all queries it asks.
    """

    __slots__ = ("counting", "name", "pattern", "run", "stratum", "view")

    def __init__(self, name: str, pattern: Pattern, view: View) -> None:
        self.name = name
        self.pattern = pattern
        self.view = view
        self.stratum = 0
        self.counting = Counting(self)
        self.run: Callable[..., Any] = _not_compiled

    def __repr__(self) -> str:
        marks = "".join("b" if bound else "f" for bound in self.pattern)
        return f"{self.view} {self.name}/{marks}"


class Counting:
    """How many rows a ``may`` query can have at most."""

    __slots__ = ("query",)

    def __init__(self, query: Query) -> None:
        self.query = query

    @property
    def stratum(self) -> int:
        """That of the query."""
        return self.query.stratum


class Closure:
    """The transitive closure of a binary relation under a view, followed from one end.

    Attributes:
        step: the query for the neighbours of an object.
        check: the query whether two objects are neighbours (under ``may``; else the same).
    """

    __slots__ = ("check", "forward", "step", "stratum", "symbol", "view")

    def __init__(self, symbol: str, view: View, forward: bool, step: Query, check: Query) -> None:
        self.symbol = symbol
        self.view = view
        self.forward = forward
        self.step = step
        self.check = check
        self.stratum = step.stratum + 1

    def __repr__(self) -> str:
        return f"{self.view} {self.symbol}+ {'forward' if self.forward else 'backward'}"


def _not_compiled(*_: Any) -> Any:
    raise RuntimeError("the query is being compiled")
