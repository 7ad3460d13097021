"""Adaptive weighted rejection sampling by genlm-control, over our model, under our own potential.

Lipkin et al., Fast Controlled Generation from Language Models with Adaptive Weighted Rejection
Sampling (2025). genlm-control is no dependency of the product; without it the benchmark leaves the
row out. Its own engine keeps no cache behind the prompt and would read the text again for each
token, so the model is ours, as a potential.
"""

from __future__ import annotations

import asyncio
import importlib.util
import math
from collections.abc import Sequence
from time import process_time
from typing import Any, NamedTuple

from language_server.decoding.generate import look_effort
from language_server.decoding.language_model import Context, LanguageModel, Prompt, go_on
from language_server.decoding.vocabulary import Vocabulary
from language_server.languages import Language
from language_server.projection import Prefix


class Drawn(NamedTuple):
    """One text, and what it took.

    Attributes:
        text: without its end; None if it had not ended within the budget.
        seconds: of the processor.
        calls: forward passes of the model.
    """

    text: str | None
    tokens: int
    seconds: float
    calls: int


def is_there() -> bool:
    """Whether genlm-control is installed."""
    return importlib.util.find_spec("genlm") is not None


def draw(model: LanguageModel, prompt: Prompt, language: Language, seed: int, most: int) -> Drawn:
    """Write one text with one particle.

    Args:
        seed: of the draws.
        most: tokens of the text.
    """
    import torch

    torch.manual_seed(seed)
    began = process_time()
    answer = model.start(prompt)
    tokens = asyncio.run(_run(_Answer(answer, model.vocabulary), language, seed, most))
    seconds = process_time() - began
    ended = bool(tokens) and not isinstance(tokens[-1], int)
    spelt = [model.vocabulary.token_bytes[token] for token in tokens if isinstance(token, int)]
    text = b"".join(piece or b"" for piece in spelt).decode() if ended else None
    return Drawn(text, len(tokens), seconds, answer.calls)


async def _run(answer: _Answer, language: Language, seed: int, most: int) -> list[object]:
    from genlm.control import AWRS

    sampler = AWRS(
        answer.as_potential(),
        _condition(answer.vocabulary, language),
        seed=seed,
        # The weight of a single particle is compared with nothing: it need not be estimated.
        proper_weights=False,
        autobatch=False,
    )
    try:
        sequences = await sampler.smc(n_particles=1, ess_threshold=0.0, max_tokens=most)
    finally:
        await sampler.cleanup()
    (context,) = sequences.contexts
    return list(context)


class _Answer:
    """The logarithms of the probabilities of what may come next in the answer of a model."""

    def __init__(self, answer: Context, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._answer = answer
        self._spelt = _spelt(vocabulary)
        self._places = {token: place for place, token in enumerate(self._spelt)}
        self._said = 0

    def behind(self, tokens: Sequence[int]) -> Any:
        """Of each token that can be spelt, and of the end."""
        import torch

        # What the model has computed of it before it finds in its own cache.
        self._answer.rewind(self._said)
        self._answer.append(tokens)
        self._said = len(tokens)
        logits = torch.log_softmax(torch.from_numpy(self._answer.logits().copy()), -1)
        ends = logits[sorted(self.vocabulary.end_tokens)].logsumexp(0, keepdim=True)
        return torch.cat((logits[self._spelt], ends))

    def of(self, tokens: Sequence[int]) -> float:
        """Of the whole beginning."""
        return sum(
            float(self.behind(tokens[:place])[self._places[token]])
            for place, token in enumerate(tokens)
        )

    def as_potential(self) -> Any:
        """The same for genlm-control."""
        from genlm.control import Potential

        answer = self

        class Language(Potential):  # type: ignore[misc]
            async def logw_next(self, context: Sequence[int]) -> Any:
                return self.make_lazy_weights(answer.behind(context))

            async def prefix(self, context: Sequence[int]) -> float:
                return answer.of(context)

            async def complete(self, context: Sequence[int]) -> float:
                return answer.of(context) + float(answer.behind(context)[-1])

        return Language(self._spelt)


def _spelt(vocabulary: Vocabulary) -> list[int]:
    """The tokens that are text."""
    return [token for token, piece in enumerate(vocabulary.token_bytes) if piece]


def _condition(vocabulary: Vocabulary, language: Language) -> Any:
    """What can be completed, as a potential: 0 or minus infinity.

    Half a character can go on in too many ways to ask of each: it is taken for none.
    """
    from genlm.control import Potential

    prefixes = {b"": Prefix.start(language)}
    effort = look_effort(go_on)

    def prefix_of(context: Sequence[int]) -> Prefix:
        spelt = b"".join(vocabulary.token_bytes[token] or b"" for token in context)
        if spelt not in prefixes:
            before = prefix_of(context[:-1])
            text = spelt.decode()
            prefixes[spelt] = before.advance(text[len(before.text) :])
        return prefixes[spelt]

    class Completable(Potential):  # type: ignore[misc]
        async def prefix(self, context: Sequence[int]) -> float:
            try:
                prefix = prefix_of(context)
            except UnicodeDecodeError:
                return -math.inf
            alive = prefix.alive and prefix.completable(effort).answer != "no"
            return 0.0 if alive else -math.inf

        async def complete(self, context: Sequence[int]) -> float:
            prefix = prefix_of(context)
            return 0.0 if prefix.complete and not language.judge(prefix.text) else -math.inf

    return Completable(_spelt(vocabulary))
