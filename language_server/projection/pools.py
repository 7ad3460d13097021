"""How many new objects of each class a completion may need: what the solver is given to build with.

Some of each class, and for each violation of the shortest closing the objects of what lifts it with
the least text: a name that is declared nowhere asks for one more declaration and what it contains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from language_server.constraints.repair import repairing_symbols

if TYPE_CHECKING:
    from language_server.constraints import ConstraintSet, Violation

Pool = tuple[tuple[str, int], ...]

# Classes of which more are given for one violation.
_WAYS = 2


def size_of(pool: Pool) -> int:
    """How many objects there are in all."""
    return sum(number for _, number in pool)


class Pools:
    """What the objects of a language's classes contain at least.

    Attributes:
        concrete: the classes that new objects can be made of.
    """

    def __init__(self, constraints: ConstraintSet, root: str | None) -> None:
        self._theory = constraints.theory
        self._schema = constraints.schema
        classes = self._schema.classes
        self.concrete = tuple(
            name for name, info in classes.items() if not info.abstract and name in self._schema.new
        )
        self._content = self._least_contents()
        self._way = self._ways(root)

    def owed(self, violations: Iterable[Violation]) -> Counter[str]:
        """Objects that may lift the violations, besides some of each class."""
        found: Counter[str] = Counter()
        for violation in violations:
            if violation.source == "constraint":
                for name in self._lifting(violation.constraint):
                    for part, number in self._content[name].items():
                        found[part] += number * violation.degree
        return found

    def pool(self, each: int, owed: Counter[str]) -> Pool:
        """``each`` objects of every class and those that are owed."""
        return tuple((name, each + owed[name]) for name in self.concrete)

    def _lifting(self, constraint: str) -> list[str]:
        """The classes of objects that can lift a violation, those with the least text only."""
        found: set[str] = set()
        for symbol in repairing_symbols(self._theory, constraint):
            feature = self._schema.features.get(symbol)
            if feature is not None:
                found |= feature.sources
            elif symbol in self._schema.classes:
                found |= self._schema.classes[symbol].kinds
        able = [name for name in self.concrete if name in found and name in self._way]
        return sorted(able, key=lambda name: (self._cost(name), name))[:_WAYS]

    def _cost(self, name: str) -> int:
        return self._way[name] + self._content[name].total()

    def _least_contents(self) -> dict[str, Counter[str]]:
        """For each class the objects that one of it needs, itself included."""
        found: dict[str, Counter[str]] = {}
        changed = True
        while changed:
            changed = False
            for name in self.concrete:
                content = Counter({name: 1})
                for feature in self._schema.classes[name].containments:
                    if feature.lower:
                        parts = [found[each] for each in feature.targets if each in found]
                        if not parts:
                            break
                        least = min(parts, key=lambda part: (part.total(), sorted(part)))
                        content += Counter({k: n * feature.lower for k, n in least.items()})
                else:
                    if name not in found or content.total() < found[name].total():
                        found[name] = content
                        changed = True
        return found

    def _ways(self, root: str | None) -> dict[str, int]:
        """For each class how many objects stand around one of it at least."""
        start = root if root in self._content else None
        found = {start: 0} if start is not None else dict.fromkeys(self._content, 0)
        waiting = [start] if start is not None else []
        while waiting:
            name = waiting.pop(0)
            for feature in self._schema.classes[name].containments:
                for target in feature.targets:
                    way = found[name] + self._content[name].total()
                    if target in self._content and way < found.get(target, way + 1):
                        found[target] = way
                        waiting.append(target)
        return found


@lru_cache(maxsize=16)
def pools_of(constraints: ConstraintSet, root: str | None) -> Pools:
    """The pools of a language."""
    return Pools(constraints, root)
