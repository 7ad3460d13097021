"""Guided decoding inside other people's loops: a ``LogitsProcessor`` for ``model.generate``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers import LogitsProcessor

from language_server.decoding.generation import GenerationError
from language_server.decoding.guide import Guide
from language_server.decoding.layout import LayoutPolicy
from language_server.decoding.token_filter import State, TokenFilter
from language_server.decoding.transformers_model import end_tokens
from language_server.decoding.vocabulary import Vocabulary, vocabulary_from_backend

_Answer = tuple[int, ...]


class GuidedLogitsProcessor(LogitsProcessor):
    """Rules out every token behind which nothing completes the text (strategy ``mask``).

    For one call of ``model.generate``, with any batch and any number of beams: states are values,
    and each row finds its own by its tokens. It masks and no more: that a text ends within the
    budget, and valid, is what ``generate(..., strategy="assured")`` promises.
    """

    def __init__(
        self,
        guide: Guide,
        vocabulary: Vocabulary,
        prompt_length: int,
        num_beams: int = 1,
        policy: LayoutPolicy | None = None,
    ) -> None:
        """Guide the text behind a prompt.

        Args:
            guide: what each answer begins with: ``Prefix.start(language)`` for a whole text.
            vocabulary: the model's, see ``vocabulary_of``.
            prompt_length: tokens of the prompt, padding included: ``input_ids.shape[1]``.
            num_beams: as given to ``model.generate``; the rows of one search lie side by side.
        """
        self._filter = TokenFilter(vocabulary, policy)
        self._prompt_length = prompt_length
        self._num_beams = num_beams
        self._start = self._filter.start(guide)
        # Behind the answers of the last call; None behind one that nothing completes.
        self._states: dict[_Answer, State | None] = {}

    def __call__(self, input_ids: torch.LongTensor, scores: torch.Tensor) -> torch.Tensor:
        """The scores, minus infinity for what must not come next.

        Args:
            input_ids: (rows, length), prompts included.
            scores: (rows, width of the model's output).

        Raises:
            GenerationError: nothing may follow in a row, or in any beam of a search.
        """
        answers = [tuple(row) for row in input_ids[:, self._prompt_length :].tolist()]
        self._states = {answer: self._state_behind(answer) for answer in answers}
        allowed = np.zeros(tuple(scores.shape), dtype=np.bool_)
        for row, answer in enumerate(answers):
            mask = self._mask(self._states[answer])
            # An output may be wider than the vocabulary: what lies beyond says nothing.
            width = min(len(mask), allowed.shape[1])
            allowed[row, :width] = mask[:width]
        for first in range(0, len(answers), self._num_beams):
            if not allowed[first : first + self._num_beams].any():
                written = self._filter.vocabulary.decode(answers[first]).decode(errors="replace")
                raise GenerationError(f"no token of the model may follow {written[-40:]!r}")
        return scores.masked_fill(torch.from_numpy(~allowed).to(scores.device), float("-inf"))

    def _state_behind(self, answer: _Answer) -> State | None:
        if answer in self._states:
            return self._states[answer]
        known = answer[:-1] in self._states and bool(answer)
        state = self._states[answer[:-1]] if known else self._start
        for token in answer[-1:] if known else answer:
            if state is None or state.ended:
                break  # what stands behind an end is padding
            after = self._filter.step(state, token)
            state = self._filter.settle(state, after) if after is not None else None
        return state

    def _mask(self, state: State | None) -> npt.NDArray[np.bool_]:
        if state is not None and not state.ended:
            return self._filter.allowed(state)
        mask = np.zeros(len(self._filter.vocabulary), dtype=np.bool_)
        if state is not None:
            mask[list(self._filter.vocabulary.end_tokens)] = True
        return mask


def vocabulary_of(model: Any, tokenizer: Any) -> Vocabulary:
    """The byte-exact vocabulary of a model and its fast tokenizer, both from ``transformers``."""
    return vocabulary_from_backend(tokenizer.backend_tokenizer, end_tokens(model, tokenizer))
