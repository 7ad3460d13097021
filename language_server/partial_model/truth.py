"""The four truth values of a partial model."""

from __future__ import annotations

from enum import Enum


class Truth(Enum):
    """What is known about a fact; ``value`` is the pair (may hold, must hold)."""

    FALSE = (False, False)
    UNKNOWN = (True, False)
    TRUE = (True, True)
    ERROR = (False, True)

    @staticmethod
    def of(may: bool, must: bool) -> Truth:
        """The truth value with the given bounds."""
        return _BY_BOUNDS[may, must]

    @property
    def may(self) -> bool:
        """Whether some refinement makes the fact true."""
        return self.value[0]

    @property
    def must(self) -> bool:
        """Whether every refinement makes the fact true."""
        return self.value[1]

    def meet(self, other: Truth) -> Truth:
        """Both pieces of knowledge together; ERROR where they disagree."""
        return Truth.of(self.may and other.may, self.must or other.must)

    def refines(self, other: Truth) -> bool:
        """Whether this value says at least as much as ``other``."""
        return self.meet(other) is self


_BY_BOUNDS = {truth.value: truth for truth in Truth}
