"""What of a model's mass leads on, by path: learnt from the places where little of it did.

A token that is drawn may turn out to have been the wrong one only later, where nearly nothing of
what the model wants to say may follow. Here its *share* is kept: of the mass behind it at most so
much leads on. A token drawn with its likelihood times its share comes the nearer to the
distribution conditioned on what is allowed the more is known (ASAp: Park et al. 2024,
*Grammar-Aligned Decoding*).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class Place:
    """A path of tokens that a draw has been on.

    Attributes:
        share: of the model's mass behind it, at most so much leads on.
        allowed: the tokens that may follow, as bits; None where they have not been told.
        next: the places behind, each with what the model gives to the token in between.
    """

    __slots__ = ("_mass", "allowed", "next", "share")

    def __init__(self) -> None:
        self.share = 1.0
        self.allowed: npt.NDArray[np.uint8] | None = None
        self.next: dict[int, tuple[float, Place]] = {}
        self._mass = 1.0

    def behind(self, token: int, likelihood: float) -> Place:
        """The place behind a token; ``likelihood`` is what the model gives to it."""
        return self.next.setdefault(token, (likelihood, Place()))[1]

    def bound(self, mass: float) -> None:
        """Take down what the model gives to the tokens that may follow, together and at most."""
        self._mass = mass
        self.weigh()

    def weigh(self) -> None:
        """Bring the share up to date with those of the places behind."""
        lost = sum(likelihood * (1 - place.share) for likelihood, place in self.next.values())
        self.share = max(0.0, self._mass - lost)


def weigh(path: Sequence[Place]) -> None:
    """Bring the shares of a path up to date, what is known behind its last place having changed."""
    for place in reversed(path):
        place.weigh()
