"""The loop all strategies share: a path of tokens, where each came from, and the limits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from language_server.decoding.generation import (
    Event,
    EventKind,
    Finish,
    GenerationError,
    OnEvent,
    Origin,
)
from language_server.decoding.guide import Clock, Guide, Metered
from language_server.decoding.language_model import Cancelled, Context, Logits
from language_server.decoding.sampling import Sampler, log_probability
from language_server.decoding.shares import Place, weigh
from language_server.decoding.token_filter import Search, State, TokenFilter
from language_server.diagnostic import Diagnostic

#: What a language has against a finished text by its last word; None if that is nothing.
Judge = Callable[[str], Diagnostic | None]


class Stopped(Exception):
    """The deadline has passed or the request was cancelled."""

    def __init__(self, finish: Finish) -> None:
        super().__init__(finish)
        self.finish: Finish = finish


@dataclass(frozen=True, slots=True)
class Step:
    """One token of the path and the state behind it.

    ``likelihood`` is the natural logarithm of the probability that the model gave the token before
    anything was ruled out; None where the model was not asked. ``chance`` is the probability with
    which it was to be drawn, at the sampling's temperature; 1 where nothing was drawn.
    """

    token: int
    origin: Origin
    state: State
    likelihood: float | None = None
    chance: float = 1.0


@dataclass(slots=True)
class Limits:
    """What a run may use.

    Attributes:
        max_tokens: tokens of text; the end token costs nothing.
        deadline: a moment of ``time.monotonic()``.
        forced_text: whether text that must come next is fed without asking the model.
        drift_control: whether a text that circles, wanders or leads nowhere is taken back, or
            wound up.
        first_effort, effort, token_effort: what the search for a completion may spend before the
            start, at each later look, and behind each token that is checked before it is taken
            (the projection's ``Effort``).
    """

    max_tokens: int
    deadline: float | None = None
    cancel: threading.Event | None = None
    forced_text: bool = True
    drift_control: bool = True
    first_effort: Any = None
    effort: Any = None
    token_effort: Any = None

    def stop(self) -> bool:
        """Whether the time is up or the request was cancelled."""
        return (self.cancel is not None and self.cancel.is_set()) or (
            self.deadline is not None and time.monotonic() >= self.deadline
        )


class Run:
    """One growing text under one guide. Strategies read and move it; nothing else does."""

    def __init__(
        self,
        context: Context,
        token_filter: TokenFilter,
        guide: Guide,
        sampler: Sampler,
        limits: Limits,
        on_event: OnEvent | None = None,
        judge: Judge | None = None,
    ) -> None:
        self.clock = Clock()
        self.limits = limits
        self.budget = limits.max_tokens  # of the whole path; a strategy may give up some of it
        self.filter = token_filter
        self.rejections = 0
        self.backtracks = 0
        self.lost = 0  # choices of the model that were taken back
        self._context = context
        self._sampler = sampler
        self._on_event = on_event
        self._judge = judge
        self._judged: dict[str, Diagnostic | None] = {}
        self._excluded: list[str] = []
        self._in_time = False  # whether questions to the guide are stopped as well
        self._start = token_filter.start(Metered(guide, self.clock, self._check_question))
        self._start_length = len(guide.text)
        self._unit = self._start_length  # where the last syntactic unit has ended, in characters
        self._path: list[Step] = []
        # For each place of the path, tokens not to be drawn again.
        self._banned: list[set[int]] = [set()]
        # What the model said of the next token, if it has been asked.
        self._said: Logits | None = None
        self._draw: Search | None = None  # the latest one
        self._shares = Place()  # of the model's mass by path, see `learn_refusals`

    # What is there ------------------------------------------------------------------------------

    @property
    def path(self) -> list[Step]:
        """The tokens so far."""
        return self._path

    @property
    def start_length(self) -> int:
        """Characters of the given beginning."""
        return self._start_length

    @property
    def length(self) -> int:
        """Number of tokens so far."""
        return len(self._path)

    @property
    def remaining(self) -> int:
        """Tokens the budget still holds."""
        return self.budget - len(self._path)

    @property
    def state(self) -> State:
        """The state behind the path."""
        return self._path[-1].state if self._path else self._start

    def state_at(self, length: int) -> State:
        """The state behind the first ``length`` tokens."""
        return self._path[length - 1].state if length else self._start

    def said(self, place: int) -> str:
        """What a token of the path added to the text."""
        begun = self.state_at(place).guide.text
        return self.state_at(place + 1).guide.text[len(begun) :]

    @property
    def model_calls(self) -> int:
        """Forward passes so far."""
        return self._context.calls

    def tokens_by_origin(self) -> dict[Origin, int]:
        """How many tokens of the path came from where."""
        counts: dict[Origin, int] = {"model": 0, "forced": 0, "witness": 0}
        for step in self._path:
            counts[step.origin] += 1
        return counts

    @property
    def likelihood(self) -> float | None:
        """The mean of the likelihoods that are known; None where none is."""
        known = [step.likelihood for step in self._path if step.likelihood is not None]
        return sum(known) / len(known) if known else None

    # Limits -------------------------------------------------------------------------------------

    def check_time(self) -> None:
        """Raise :class:`Stopped` at the deadline or on cancellation."""
        if self.limits.stop():
            cancelled = self.limits.cancel is not None and self.limits.cancel.is_set()
            raise Stopped("cancelled" if cancelled else "deadline")

    def stop_in_time(self, wanted: bool = True) -> None:
        """From here on the guide too is asked nothing more once the time is up, or is again."""
        self._in_time = wanted

    def _check_question(self) -> None:
        if self._in_time:
            self.check_time()

    @property
    def leaves_out(self) -> bool:
        """Whether :meth:`candidates` leaves out allowed tokens that the model likes least."""
        return self._sampler.sampling.truncates

    # Choosing -----------------------------------------------------------------------------------

    def candidates(self) -> Iterator[tuple[int, State]]:
        """The allowed next tokens in the order of their draw, banned ones left out.

        Raises:
            Stopped: at the deadline or on cancellation.
        """
        banned = self._banned[-1]
        # Behind a place that was gone back to, everything is drawn anew.
        written = [step.token for step in self._path]
        draw = self._draw = self._sampler.draw(
            self.filter, self.state, self._logits(), written, self.backtracks, self._shares_behind()
        )
        counted = 0
        for token, after in draw:
            self.rejections += draw.rejections - counted
            counted = draw.rejections
            if token not in banned and not self._is_excluded(after):
                yield token, after
            self.check_time()
        self.rejections += draw.rejections - counted

    def would_rather_end(self, token: int) -> bool:
        """Whether the model drew the end of the text before ``token``, allowed or not."""
        return self._draw is not None and self._draw.prefers_end(token)

    def learn_refusals(self) -> bool:
        """Take down what the guide, not the grammar, has turned down of the latest draw.

        Later draws here leave it out, and those before heed it (`shares.py`).

        Returns:
            Whether there was such a token, drawn before the one that was chosen.
        """
        said, turned_down = self._said, self._draw.turned_down if self._draw else []
        refused = [t for t in turned_down if self.filter.follows_grammar(self.state, t)]
        if said is None or not refused:
            return False
        likelihoods = self._sampler.likelihoods(said, [step.token for step in self._path])
        # Of what the grammar allows.
        whole = max(1e-9, 1 - float(likelihoods[turned_down].sum() - likelihoods[refused].sum()))
        places = self._places()
        for step in self._path[len(places) - 1 :]:
            places.append(places[-1].behind(step.token, step.chance))
        for token in refused:
            places[-1].behind(token, float(likelihoods[token]) / whole).bound(0.0)
        weigh(places)
        return True

    def share(self, length: int) -> float:
        """What of the model's mass behind the first ``length`` tokens may lead on, at most."""
        places = self._places()
        return places[length].share if length < len(places) else 1.0

    def _shares_behind(self) -> dict[int, float]:
        """Of the tokens that may come next, the shares that are known."""
        places = self._places()
        if len(places) <= len(self._path):
            return {}  # no draw has been here before
        return {token: behind.share for token, (_, behind) in places[-1].next.items()}

    def _places(self) -> list[Place]:
        """What is known of the shares of the path, from its beginning on, as far as it is."""
        places = [self._shares]
        for step in self._path:
            known = places[-1].next.get(step.token)
            if known is None:
                break
            places.append(known[1])
        return places

    def _logits(self) -> Logits:
        self.check_time()
        started = time.perf_counter()
        try:
            self._said = self._context.logits()
            return self._said
        except Cancelled:
            self.check_time()
            raise  # a model stopped that nobody asked to
        finally:
            self.clock.model += time.perf_counter() - started

    # Moving -------------------------------------------------------------------------------------

    def begin(self, path: Sequence[Step] = ()) -> None:
        """Take up the path of an earlier run; append the text that is forced behind it."""
        for step in path:
            self._path.append(step)
            self._banned.append(set())
        self._context.append([step.token for step in path])
        self._append_forced()

    def take(self, token: int, after: State, origin: Origin = "model") -> None:
        """Append a token, and the text it forces."""
        self._append(token, after, origin)
        self._append_forced()

    def write(self, tokens: list[int], origin: Origin) -> None:
        """Append tokens that are known to be allowed; what must come next counts as forced.

        Raises:
            RuntimeError: one of them is not; the guide has contradicted itself.
        """
        for token in tokens:
            after = self.filter.step(self.state, token)
            if after is None:
                raise RuntimeError(
                    f"the guide refuses its own text behind {self.state.guide.text!r}"
                )
            self._append(token, after, "forced" if self._is_forced(after) else origin)

    def conclude(self, text: str, tokens: Sequence[int]) -> None:
        """Append a whole rest that is known to be allowed, at once: the time is up.

        Args:
            tokens: how ``text`` is written. They all get the state behind the last one.
        """
        before = self.state
        after = State(before.guide.advance(text), before.layout)
        for token in tokens:
            self._path.append(Step(token, "witness", after))
            self._banned.append(set())
        self._context.append(tokens)
        self.emit("witness", text)

    def _is_forced(self, after: State) -> bool:
        guide = self.state.guide
        text = after.guide.text[len(guide.text) :]
        return self.limits.forced_text and text != "" and guide.forced().startswith(text)

    def back_to(self, length: int, why: str) -> None:
        """Take back all tokens behind the first ``length`` and forget what was tried there."""
        count = len(self._path) - length
        if count <= 0:
            return
        self.lost += sum(step.origin == "model" for step in self._path[length:])
        del self._path[length:]
        self._said = None
        del self._banned[length + 1 :]
        self._context.rewind(count)
        self._unit = min(self._unit, len(self.state.guide.text))
        self.backtracks += 1
        self.emit("backtrack", "", why)

    def ban(self, token: int) -> None:
        """Do not draw ``token`` again at this place as long as the path before it stays."""
        self._banned[-1].add(token)

    def exclude(self, text: str) -> None:
        """Do not draw what makes the text begin with ``text``, at whichever place."""
        self._excluded.append(text)

    def _is_excluded(self, after: State) -> bool:
        return bool(self._excluded) and after.guide.text.startswith(tuple(self._excluded))

    def fault(self, text: str | None = None) -> Diagnostic | None:
        """What the language has against a finished text, by default the text so far.

        None if that is nothing, or nobody is there to be asked.
        """
        if self._judge is None:
            return None
        text = self.state.guide.text if text is None else text
        if text not in self._judged:
            started = time.perf_counter()
            self._judged[text] = self._judge(text)
            self.clock.semantics += time.perf_counter() - started
        return self._judged[text]

    def refuse(self, token: int, after: State, why: str) -> None:
        """Count and report a candidate the strategy itself turns down; see ``Search.pass_over``."""
        self.rejections += 1
        if self._draw is not None:
            self._draw.pass_over(token)
        self.emit("rejection", after.guide.text[len(self.state.guide.text) :], why)

    def emit(self, kind: EventKind, text: str, detail: str = "") -> None:
        """Report an event to whoever listens; a listener may raise :class:`Stopped`."""
        if self._on_event is not None:
            length = len(self.state.guide.text) - self._start_length
            self._on_event(Event(kind, text, length, len(self._path), detail))

    def _append(self, token: int, after: State, origin: Origin) -> None:
        before = self.state
        likelihood, chance = None, 1.0
        if origin == "model" and self._said is not None:
            likelihood = log_probability(self._said, token)
            written = [step.token for step in self._path]
            chance = self._sampler.likelihood(self._said, token, written)
        self._said = None
        settled = self.filter.settle(before, after)
        self._path.append(Step(token, origin, settled, likelihood, chance))
        self._banned.append(set())
        self._context.append([token])
        kind: EventKind = "token" if origin == "model" else origin
        self.emit(kind, after.guide.text[len(before.guide.text) :])
        if self._on_event and not after.pending and after.guide.ends_unit(self._unit):
            self._unit = len(after.guide.text)
            self.emit("unit", "")

    def _append_forced(self) -> None:
        """Append what must come next and, in canonical layout, what usually does."""
        state = None
        while self.limits.forced_text and state is not self.state and not self.state.pending:
            state = self.state
            self._append_text(state.guide.forced())
            if self.filter.policy.canonical:
                self._append_text(self.state.guide.usual())

    def _append_text(self, text: str) -> None:
        try:
            tokens = self.filter.vocabulary.encode(text)
        except GenerationError:
            return  # no way on: that shows at the next token, where the strategy goes back
        for token in tokens:
            if self.remaining <= 0:
                return
            after = self.filter.step(self.state, token)
            if after is None:
                return
            self._append(token, after, "forced")
