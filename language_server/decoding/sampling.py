"""How one token is chosen from logits: mask, then truncate, then draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from language_server.decoding.language_model import Logits
from language_server.decoding.token_filter import Keys, Search, State, TokenFilter

_ALL: Mapping[int, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters.

    Attributes:
        temperature: 0 takes the likeliest token.
        top_k: keep only the k likeliest allowed tokens.
        top_p: keep the smallest set of likeliest allowed tokens with at least this share of the
            mass.
        min_p: keep allowed tokens at least this likely, relative to the likeliest allowed one.
        repetition_penalty: what the logits of tokens that the text has already are divided by
            (multiplied where negative), before everything else: CTRL, Keskar et al. 2019.
    """

    temperature: float = 0.7
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise ValueError("temperature must not be negative")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError("top_k must be at least 1")
        for name in ("top_p", "min_p"):
            share = getattr(self, name)
            if share is not None and not 0 < share <= 1:
                raise ValueError(f"{name} must lie between 0 and 1")
        if self.repetition_penalty <= 0:
            raise ValueError("repetition_penalty must be greater than 0")

    @property
    def truncates(self) -> bool:
        """Whether some allowed tokens are never drawn."""
        return not (self.top_k is None and self.top_p is None and self.min_p is None)


class Sampler:
    """Draws tokens; the noise depends only on seed, place and attempt.

    Two strategies with one seed therefore choose the same token wherever the choice of the one is
    allowed by the other.
    """

    def __init__(self, sampling: Sampling, seed: int) -> None:
        self.sampling = sampling
        self._seed = seed & 0xFFFFFFFFFFFFFFFF

    def keys(self, logits: Logits, place: int, attempt: int) -> Keys:
        """Keys whose order is a sequence of draws without replacement (the Gumbel-max trick).

        Args:
            place: how many tokens stand before this one.
            attempt: how often tokens have been taken back so far.
        """
        if self.sampling.temperature == 0:
            return np.array(logits, dtype=np.float32)
        noise = self.noise(len(logits), place, attempt)
        return np.asarray(logits / np.float32(self.sampling.temperature) + noise, np.float32)

    def noise(self, count: int, place: int, attempt: int) -> npt.NDArray[np.float64]:
        """Gumbel noise for ``count`` tokens, see :meth:`keys`."""
        bits = np.random.PCG64([self._seed, place, attempt])
        # Not in single precision: a draw of exactly 0, one in some millions then, would be a noise
        # without bound, and a token without any likelihood would be chosen.
        exponential = np.random.Generator(bits).standard_exponential(count)
        return np.asarray(-np.log(np.maximum(exponential, np.finfo(np.float64).tiny)))

    def draw(
        self,
        token_filter: TokenFilter,
        state: State,
        logits: Logits,
        written: Sequence[int],
        attempt: int,
        shares: Mapping[int, float] = _ALL,
    ) -> Search:
        """The allowed tokens behind those ``written``, in the order in which they would be drawn.

        Args:
            attempt: how often tokens have been taken back so far.
            shares: what tokens' likelihoods are multiplied by; see `shares.py`.
        """
        logits = self.penalised(logits, written)
        keys = self.keys(logits, len(written), attempt)
        for token, share in shares.items():
            keys[token] += np.log(share) if share > 0 else -np.inf
        ends = token_filter.vocabulary.end_tokens
        end_key = max((float(keys[token]) for token in ends), default=-np.inf)
        if self.sampling.truncates:
            kept = self._kept(token_filter, state, logits)
            keys = np.where(kept, keys, -np.inf).astype(np.float32)
        return Search(token_filter, state, keys, end_key)

    def likelihoods(self, logits: Logits, written: Sequence[int] = ()) -> npt.NDArray[np.float64]:
        """What each token is drawn with before anything is ruled out; they sum up to 1.

        At temperature 0 as at 1: of what is not drawn the likelihood is told too.
        """
        scaled = self.penalised(logits, written) / np.float64(self.sampling.temperature or 1.0)
        likelihoods = np.exp(scaled - scaled.max())
        return np.asarray(likelihoods / likelihoods.sum())

    def likelihood(self, logits: Logits, token: int, written: Sequence[int] = ()) -> float:
        """That of one token as `likelihoods` has it, at a fraction of what all of them take."""
        scaled = self.penalised(logits, written) / np.float32(self.sampling.temperature or 1.0)
        found = log_probability(scaled, token)
        return math.exp(found) if found is not None else 0.0

    def penalised(self, logits: Logits, written: Sequence[int]) -> Logits:
        """The logits behind the repetition penalty."""
        penalty = np.float32(self.sampling.repetition_penalty)
        if penalty == 1 or not written:
            return logits
        seen = np.unique(np.asarray(written))
        changed = logits.copy()
        changed[seen] = np.where(
            changed[seen] > 0, changed[seen] / penalty, changed[seen] * penalty
        )
        return changed

    def _kept(self, token_filter: TokenFilter, state: State, logits: Logits) -> np.ndarray:
        """The allowed tokens that survive truncation, likeliest first until the cut is certain."""
        sampling = self.sampling
        temperature = sampling.temperature or 1.0
        kept = np.zeros(len(logits), dtype=np.bool_)
        if np.isneginf(logits).all():
            return kept
        mass = None
        if sampling.top_p is not None:
            weights = np.exp((logits - logits.max()) / temperature)
            mass = float(weights[token_filter.allowed(state)].sum()) * sampling.top_p
        best: float | None = None
        reached = 0.0
        for count, (token, _) in enumerate(Search(token_filter, state, logits)):
            best = float(logits[token]) if best is None else best
            if sampling.top_k is not None and count >= sampling.top_k:
                break
            if mass is not None and count > 0 and reached >= mass:
                break
            if sampling.min_p is not None:
                floor = best + temperature * float(np.log(sampling.min_p))
                if mass is None and sampling.top_k is None:
                    # Only the likeliest allowed token is needed: the search goes on with the rest.
                    return np.asarray(logits >= floor)
                if logits[token] < floor:
                    break
            kept[token] = True
            if mass is not None:
                reached += float(weights[token])
        return kept


def log_probability(logits: Logits | None, token: int) -> float | None:
    """The natural logarithm of a token's probability; None where it is not known, or 0."""
    if logits is None or np.isneginf(logits[token]):
        return None
    highest = logits.max()
    mass = np.exp(logits - highest, dtype=np.float32).sum(dtype=np.float64)
    return float(logits[token] - highest) - float(np.log(mass))
