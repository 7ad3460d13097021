"""From a description to a text of a language: everything of this room put together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from language_server.decoding.aliases import in_own_words
from language_server.decoding.draft import artefact
from language_server.decoding.generation import (
    Event,
    Generation,
    GenerationError,
    OnEvent,
)
from language_server.decoding.guide import Guide, Unguided
from language_server.decoding.language_model import LanguageModel, Prompt
from language_server.decoding.layout import LayoutPolicy
from language_server.decoding.prompt import build_prompt
from language_server.decoding.reasoning import Thoughts, think
from language_server.decoding.run import Limits
from language_server.decoding.sampling import Sampler, Sampling
from language_server.decoding.strategies import DEFAULT_STRATEGY, GuideKind, strategy_named
from language_server.decoding.task import DEFAULT_MAX_TOKENS, Task
from language_server.diagnostic import Diagnostic

if TYPE_CHECKING:
    from language_server.languages import Language
    from language_server.syntax import ContextFree

# Texts the search for a witness may try at each look; the last witness nearly serves as a rule.
_TEXTS_PER_LOOK = 60
# Sizes of the solver's pool at each look: what needs more objects would not fit the budget.
_POOLS_PER_LOOK = (2, 6)
_CONFLICTS_PER_LOOK = 1500

Write = Callable[[Task], Generation]


def generate(
    language: Language,
    description: str,
    model: LanguageModel,
    strategy: str = DEFAULT_STRATEGY,
    seed: int = 0,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    deadline: float | None = None,
    prefix_text: str = "",
    cancel: threading.Event | None = None,
    on_event: OnEvent | None = None,
    sampling: Sampling | None = None,
    reasoning: int = 0,
    drift_control: bool = True,
    canonical_layout: bool = False,
    write: Write = Task.write,
) -> Generation:
    """Write a text of ``language`` that fits ``description``.

    Args:
        strategy: a name of ``STRATEGIES``, or ``cascade:`` and the name of another one.
        seed: equal seeds, models and limits give equal texts (a deadline aside).
        max_tokens: budget of the text that is added.
        deadline: seconds from now; the best there is then is returned.
        prefix_text: the beginning of the text; it stays as it is.
        cancel: set it to stop; what there is then is returned.
        on_event: called in this thread while the text grows.
        reasoning: tokens the model may think aloud before it writes; they are not of the budget.
        drift_control: whether ``assured`` takes back, or winds up, a text that circles, wanders or
            leads nowhere.
        canonical_layout: whether white space that the language's examples leave no choice about is
            written without asking the model.
        write: what is done with the text to write; a search writes it several times.

    Raises:
        GenerationError: no such strategy, a beginning that cannot go on, or a promise of
            ``assured`` that cannot be given.
    """
    chosen = strategy_named(strategy)
    ends_at = None if deadline is None else time.monotonic() + deadline
    guide = _guide(language, chosen.guide, prefix_text)
    prompt = build_prompt(model, language, description, prefix_text)
    to_draft = prompt
    if chosen.drafts and language.prompt.aliases:
        to_draft = build_prompt(model, language, description, prefix_text, aliases=True)
    thoughts = None
    if reasoning > 0:
        sampler = Sampler(sampling or Sampling(), seed)
        thoughts = think(model, prompt, sampler, Limits(reasoning, ends_at, cancel), on_event)
        prompt, to_draft = thoughts.precede(prompt), thoughts.precede(to_draft)
    policy = LayoutPolicy(canonical=canonical_layout).widened_to(
        example.text for example in language.examples
    )

    limits = Limits(max_tokens, ends_at, cancel, drift_control=drift_control)
    limits.effort = look_effort(limits.stop)
    limits.token_effort = replace(limits.effort, pools=())
    task = Task(
        guide,
        prompt,
        model,
        strategy,
        seed,
        limits,
        policy,
        sampling or Sampling(),
        on_event,
        judge=partial(_last_word, language, limits),
    )
    guided = task
    if chosen.guide != "none":
        syntax = partial(_syntax_behind, language, prefix_text)
        guided = replace(task, model=model.keeping(syntax))
    if chosen.drafts:
        draft = replace(task, prompt=to_draft)
        generation = _cascade(language, draft, lambda: write(guided))
    else:
        generation = write(guided)
    return _with_thoughts(generation, thoughts)


def generate_with(
    guide: Guide,
    prompt: Prompt,
    model: LanguageModel,
    *,
    strategy: str = DEFAULT_STRATEGY,
    seed: int = 0,
    limits: Limits | None = None,
    policy: LayoutPolicy | None = None,
    sampling: Sampling | None = None,
    on_event: OnEvent | None = None,
) -> Generation:
    """:func:`generate` with guide, prompt and layout policy given by the caller; no drafts.

    Raises:
        GenerationError: see :func:`generate`.
    """
    limits = limits if limits is not None else Limits(DEFAULT_MAX_TOKENS)
    sampling = sampling if sampling is not None else Sampling()
    task = Task(guide, prompt, model, strategy, seed, limits, policy, sampling, on_event)
    return task.write()


def _last_word(language: Language, limits: Limits, text: str) -> Diagnostic | None:
    """What is against a text that is guided: when the time is up, only what a guide cannot know."""
    has_more = language.has_code or language.links.has_own or language.definition.compiler
    if limits.stop() and not has_more:
        return None
    return _fault(language, text)


def _fault(language: Language, text: str) -> Diagnostic | None:
    return next((found for found in language.judge(text) if found.severity == "error"), None)


def _syntax_behind(language: Language, text: str) -> ContextFree | None:
    return language.grammar.context_free.after(text)


def look_effort(stop: Callable[[], bool]) -> Any:
    """What a look for a completion may cost while a text grows; ``stop`` ends it at once."""
    from language_server.projection import Effort

    return Effort(_TEXTS_PER_LOOK, _POOLS_PER_LOOK, _CONFLICTS_PER_LOOK, stop)


def _cascade(language: Language, task: Task, write: Callable[[], Generation]) -> Generation:
    """A free draft if it passes the language's checks, else the text that is guided.

    After the dual-phase cascade; ours draws with one seed in both phases, so that the guided text
    is the draft again up to where the language forbids it (where no aliases are told for it).
    """
    begun = task.guide.text
    draft = replace(task, guide=Unguided(begun), strategy="free").write()
    text = begun + _in_own_words(language, begun, artefact(draft.generated))
    fault = _fault(language, text)
    if fault is None:
        return replace(draft, text=text, strategy=task.strategy, complete=True)
    if task.on_event is not None:
        task.on_event(Event("backtrack", "", 0, 0, f"the draft does not pass: {fault.message}"))
    guided = write()
    return replace(
        guided,
        model_calls=guided.model_calls + draft.model_calls,
        seconds={part: guided.seconds[part] + draft.seconds[part] for part in draft.seconds},
        refused_draft=draft.generated,
    )


def _in_own_words(language: Language, begun: str, draft: str) -> str:
    from language_server.projection import Prefix

    aliases = language.prompt.aliases
    if not aliases:
        return draft
    return in_own_words(draft, aliases, Prefix.of_grammar(language).advance(begun))


def _with_thoughts(generation: Generation, thoughts: Thoughts | None) -> Generation:
    if thoughts is None:
        return generation
    seconds = dict(generation.seconds)
    for part in ("model", "total"):
        seconds[part] += thoughts.seconds
    return replace(
        generation,
        model_calls=generation.model_calls + thoughts.calls,
        seconds=seconds,
        thoughts=thoughts.text,
    )


def _guide(language: Language, kind: GuideKind, prefix_text: str) -> Guide:
    from language_server.projection import Prefix

    alone = not prefix_text and language.surroundings() is None
    starts: dict[GuideKind, Callable[[], Guide]] = {
        "none": Unguided,
        "grammar": lambda: Prefix.of_grammar(language),
        "language": lambda: _nothing_of(language) if alone else Prefix.start(language),
    }
    guide = starts[kind]()
    if prefix_text:
        guide = guide.advance(prefix_text)
    if not guide.alive:
        reasons = getattr(guide, "reasons", ())
        detail = f": {reasons[0]}" if reasons else ""
        raise GenerationError(f"the beginning of the text cannot be completed{detail}")
    return guide


@lru_cache(maxsize=16)
def _nothing_of(language: Language) -> Guide:
    """The empty text, kept with what has been found out of it: the first witness above all."""
    from language_server.projection import Prefix

    return Prefix.start(language)
