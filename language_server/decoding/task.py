"""What one text is written from, and writing it: a guide, a prompt, a model, a strategy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from language_server.decoding.generation import Finish, Generation, GenerationError, OnEvent
from language_server.decoding.layout import LayoutPolicy
from language_server.decoding.run import Judge, Limits, Run, Stopped
from language_server.decoding.sampling import Sampler, Sampling
from language_server.decoding.strategies import strategy_named
from language_server.decoding.token_filter import TokenFilter

if TYPE_CHECKING:
    from language_server.decoding.guide import Guide
    from language_server.decoding.language_model import Context, LanguageModel, Prompt

DEFAULT_MAX_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Task:
    """A text to write.

    Attributes:
        guide: the beginning of the text, and what it still allows.
        strategy: a name of ``STRATEGIES``, or ``cascade:`` and the name of another one.
        policy: caps on layout; the default ones where there are none given.
        sampler: how tokens are drawn, where that is not with ``sampling`` and ``seed`` alone.
        judge: who has the last word on the finished text, where there is somebody.
    """

    guide: Guide
    prompt: Prompt
    model: LanguageModel
    strategy: str
    seed: int = 0
    limits: Limits = field(default_factory=lambda: Limits(DEFAULT_MAX_TOKENS))
    policy: LayoutPolicy | None = None
    sampling: Sampling = field(default_factory=Sampling)
    on_event: OnEvent | None = None
    sampler: Sampler | None = None
    judge: Judge | None = None

    def write(self) -> Generation:
        """Write it.

        Raises:
            GenerationError: there is no such strategy, or it cannot promise what it has to.
        """
        run = self.run(self.start())
        run.begin()
        return self.generation(run, self.grow(run))

    def start(self) -> Context:
        """The model's answer, empty so far."""
        return self.model.start(self.prompt, self.limits.stop, self.seed)

    def run(self, context: Context) -> Run:
        """A run that has not begun."""
        if self.limits.max_tokens < 1:
            raise GenerationError("the token budget must be at least 1")
        strategy = strategy_named(self.strategy)
        guided = strategy.guide != "none"
        policy = self.policy if guided else LayoutPolicy.free()
        token_filter = TokenFilter(self.model.vocabulary, policy, self.limits.stop)
        if guided:
            token_filter.prepare()
        return Run(
            context,
            token_filter,
            self.guide,
            self.sampler or Sampler(self.sampling, self.seed),
            self.limits,
            self.on_event,
            self.judge if strategy.heeds_judge else None,
        )

    def grow(self, run: Run) -> Finish:
        """Let the strategy write a run that has begun to its end."""
        try:
            return strategy_named(self.strategy).run(run)
        except Stopped as stopped:
            return stopped.finish

    def generation(self, run: Run, finish: Finish) -> Generation:
        """What a run has come to."""
        run.stop_in_time(False)
        state = run.state
        guided = strategy_named(self.strategy).guide != "none"
        fault = run.fault() if state.may_end else None
        return Generation(
            text=state.guide.text,
            prefix_text=self.guide.text,
            strategy=self.strategy,
            model=self.model.name,
            seed=self.seed,
            finish=finish,
            complete=state.may_end and fault is None if guided else None,
            refusal=fault.message if fault is not None else None,
            tokens=run.tokens_by_origin(),
            model_calls=run.model_calls,
            rejections=run.rejections,
            backtracks=run.backtracks,
            likelihood=run.likelihood,
            seconds={
                "model": run.clock.model,
                "syntax": run.clock.syntax,
                "semantics": run.clock.semantics,
                "total": run.clock.elapsed(),
            },
        )

    def with_seed(self, seed: int, sampler: Sampler | None = None) -> Task:
        """The same text drawn with another seed, or by another sampler."""
        return replace(self, seed=seed, sampler=sampler)
