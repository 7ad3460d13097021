"""Grammar-aligned sampling: texts as likely as the model finds them among the valid ones.

Masking token by token distorts: all mass of a place goes to the tokens that may follow, even where
they lead to what the model finds unlikely. Here each draw remembers, for the paths it has been on,
which share of the model's mass behind them leads to a text, and later draws weigh tokens by it
(ASAp: Park et al. 2024, *Grammar-Aligned Decoding*). Shares only shrink towards the true ones, so
that the distribution of draws goes from the masked one to the one conditioned on validity.

Ours differs in what is invalid: also what the constraints rule out, and a text that does not end
within the budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from language_server.decoding.generation import Generation, GenerationError
from language_server.decoding.language_model import Logits, Prompt
from language_server.decoding.sampling import _ALL, Sampler, Sampling
from language_server.decoding.shares import Place, weigh
from language_server.decoding.task import Task
from language_server.decoding.token_filter import Search, State, TokenFilter

# The mass of tokens too unlikely to be looked at, and how many others are looked at.
_REST = 1e-3
_MOST_TOKENS = 200


class Aligned:
    """Writes tasks; those with the same prompt learn from each other."""

    def __init__(self) -> None:
        self._starts: dict[Prompt, Place] = {}

    def __call__(self, task: Task) -> Generation:
        """One more draw.

        Raises:
            GenerationError: see ``Task.write``; or the sampling truncates.
        """
        sampling = task.sampling
        if sampling.truncates or sampling.temperature == 0:
            raise GenerationError(
                "aligned sampling draws from the whole distribution: no top-k, top-p or min-p, "
                "and a temperature above 0"
            )
        start = self._starts.setdefault(task.prompt, Place())
        sampler = _AlignedSampler(sampling, task.seed, start)
        # The model has to be asked of every token: forced ones have a likelihood too.
        limits = replace(task.limits, forced_text=False)
        task = replace(task, limits=limits, sampler=sampler)
        run = task.run(task.start())
        run.begin()
        finish = task.grow(run)
        if finish == "budget" and not run.state.may_end:
            sampler.rule_out([step.token for step in run.path])
        return task.generation(run, finish)


class _AlignedSampler(Sampler):
    def __init__(self, sampling: Sampling, seed: int, start: Place) -> None:
        super().__init__(sampling, seed)
        self._start = start
        # What the last draw was made behind, and from what.
        self._written: list[int] = []
        self._likelihoods: npt.NDArray[np.float64] = np.zeros(0)

    def draw(
        self,
        token_filter: TokenFilter,
        state: State,
        logits: Logits,
        written: Sequence[int],
        attempt: int,
        shares: Mapping[int, float] = _ALL,
    ) -> Search:
        path = self._path(written)
        if path is None:
            return super().draw(token_filter, state, logits, written, attempt, shares)
        place = path[-1]
        likelihoods = self.likelihoods(logits, written)
        self._written, self._likelihoods = list(written), likelihoods
        if place.allowed is None:
            allowed = _allowed(token_filter, state, likelihoods)
            place.allowed = np.packbits(allowed)
            place.bound(float(likelihoods[allowed].sum()))
            weigh(path)
        else:
            allowed = np.unpackbits(place.allowed, count=len(logits)).astype(np.bool_)
        weights = np.where(allowed, likelihoods, 0.0)
        for token, (_, behind) in place.next.items():
            weights[token] *= behind.share
        with np.errstate(divide="ignore"):
            keys = np.log(weights) + self.noise(len(weights), len(written), attempt)
        return Search(token_filter, state, keys.astype(np.float32))

    def rule_out(self, tokens: Sequence[int]) -> None:
        """Nothing valid is behind these tokens."""
        path = self._path(tokens)
        if path is not None:
            path[-1].allowed = np.packbits(np.zeros(len(self._likelihoods), np.bool_))
            path[-1].bound(0.0)
            weigh(path)

    def _path(self, tokens: Sequence[int]) -> list[Place] | None:
        """The places up to the one behind ``tokens``; None where others than the model wrote."""
        path = [self._start]
        for count, token in enumerate(tokens):
            known = path[-1].next.get(token)
            if known is None:
                if self._written != list(tokens[:count]):
                    return None
                path.append(path[-1].behind(token, float(self._likelihoods[token])))
            else:
                path.append(known[1])
        return path


def _allowed(
    token_filter: TokenFilter, state: State, likelihoods: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """The tokens that may follow, as far as they matter; the rest counts as allowed until drawn."""
    falling = np.sort(likelihoods)[::-1]
    least = falling[min(int(np.searchsorted(np.cumsum(falling), 1 - _REST)), len(falling) - 1)]
    with np.errstate(divide="ignore"):
        search = Search(token_filter, state, np.log(likelihoods).astype(np.float32))
    allowed = likelihoods < least
    for count, (token, _) in enumerate(search):
        # What is likelier and has not come up is not allowed.
        if likelihoods[token] < least:
            break
        if count == _MOST_TOKENS:
            allowed |= likelihoods <= likelihoods[token]
            break
        allowed[token] = True
    return np.asarray(allowed)
