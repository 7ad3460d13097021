"""Thinking aloud before writing: free text between ``<think>`` and ``</think>``."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from language_server.decoding.generation import Event, OnEvent
from language_server.decoding.guide import Unguided
from language_server.decoding.language_model import LanguageModel, Prompt
from language_server.decoding.layout import LayoutPolicy
from language_server.decoding.run import Limits, Run, Stopped
from language_server.decoding.sampling import Sampler
from language_server.decoding.token_filter import TokenFilter

_BEGIN, _END = "<think>\n", "</think>"
_REQUEST = f"First think, between {_BEGIN.strip()} and {_END}."


@dataclass(frozen=True, slots=True)
class Thoughts:
    """What was thought, and the model's share of the work.

    Attributes:
        text: with its marks; closed, however far the model came.
        calls: forward passes.
        seconds: in the model.
    """

    text: str
    calls: int
    seconds: float

    def precede(self, prompt: Prompt) -> Prompt:
        """The prompt with the thoughts as the beginning of the answer."""
        return Prompt(_asking(prompt).messages, self.text + prompt.answer)


def think(
    model: LanguageModel,
    prompt: Prompt,
    sampler: Sampler,
    limits: Limits,
    on_event: OnEvent | None = None,
) -> Thoughts:
    """Let the model think about a prompt, for at most ``limits.max_tokens`` tokens."""
    asked = Prompt(_asking(prompt).messages, _BEGIN)
    token_filter = TokenFilter(model.vocabulary, LayoutPolicy.free())
    run = Run(model.start(asked, limits.stop), token_filter, Unguided(), sampler, limits)
    with suppress(Stopped):  # what follows looks at the time itself
        while run.remaining > 0 and _END not in run.state.guide.text:
            choice = next(run.candidates(), None)
            if choice is None or choice[1].ended:
                break
            run.take(*choice)
    thought, _, _ = run.state.guide.text.partition(_END)
    if on_event is not None:
        on_event(Event("thought", thought.strip(), 0, 0, f"{run.length} tokens"))
    text = f"{_BEGIN}{thought.rstrip()}\n{_END}\n"
    return Thoughts(text, run.model_calls, run.clock.model)


def _asking(prompt: Prompt) -> Prompt:
    """The prompt with the request to think in its last turn."""
    *before, last = prompt.messages
    return Prompt((*before, replace(last, content=f"{last.content}\n\n{_REQUEST}")), prompt.answer)
