"""One prefix, token by token: what other people's decoding loops use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from language_server.decoding.guide import Guide
from language_server.decoding.layout import LayoutPolicy
from language_server.decoding.token_filter import State, TokenFilter
from language_server.decoding.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Committed:
    """What follows from a token.

    Attributes:
        forced: text that must come next; commit its tokens without asking the model.
        finished: the token was an end, or nothing but an end can follow.
    """

    forced: str
    finished: bool


class Session:
    """The tokens committed so far and the states behind them."""

    def __init__(
        self, guide: Guide, vocabulary: Vocabulary, policy: LayoutPolicy | None = None
    ) -> None:
        self._filter = TokenFilter(vocabulary, policy)
        self._states: list[State] = [self._filter.start(guide)]
        self._tokens: list[int] = []
        # To free the memory of states takes longer than to leave them: it waits for a commit.
        self._left: list[State] = []

    @property
    def state(self) -> State:
        """The state behind the committed tokens."""
        return self._states[-1]

    @property
    def tokens(self) -> tuple[int, ...]:
        """The committed tokens."""
        return tuple(self._tokens)

    @property
    def text(self) -> str:
        """The text so far, up to the last whole code point."""
        return self.state.guide.text

    def allowed(self) -> npt.NDArray[np.bool_]:
        """The full mask; all False only behind an end."""
        return self._filter.allowed(self.state)

    def admits(self, token: int) -> bool:
        """Whether the language allows ``token`` here; cheaper than a mask, layout caps aside."""
        return self._filter.step(self.state, token) is not None

    def commit(self, token: int) -> Committed:
        """Append a token.

        Raises:
            ValueError: the language does not allow it here; the session stays as it was.
        """
        after = self._filter.step(self.state, token)
        if after is None:
            raise ValueError(f"token {token} is not allowed behind {self.text[-40:]!r}")
        self._states.append(self._filter.settle(self.state, after))
        self._tokens.append(token)
        self._left.clear()
        forced = "" if after.ended or after.pending else after.guide.forced()
        return Committed(forced, after.ended)

    def rollback(self, count: int) -> None:
        """Take back the last ``count`` tokens; costs nothing but dropping references.

        Raises:
            ValueError: there are not that many.
        """
        if not 0 <= count < len(self._states):
            raise ValueError(f"cannot take back {count} of {len(self._states) - 1} tokens")
        if count:
            self._left += self._states[-count:]
            del self._states[-count:]
            del self._tokens[-count:]
