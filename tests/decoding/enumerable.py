"""Languages small enough to list, a model over them, and the exact distributions of its texts."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from language_server.decoding import Context, LanguageModel, Prompt, Vocabulary
from language_server.decoding.language_model import Logits, SpokenContext, Stop, go_on
from language_server.languages import Language, load_language

Distribution = Mapping[str, float]

# Ordered choices: what begins with the likelier letter has a tail the model dislikes.
PAIRS = "Toy[noskipws]: head='a' tail='b' last='b' | head='b' tail=/[ab]/ (last='a')?;"
# At most three letters, one of them a 'b': no token is ruled out for itself before the third.
SETS = (
    "Toy[noskipws]: items+=Item; Item[noskipws]: A | B; "
    "A[noskipws]: name='a'; B[noskipws]: name='b';"
)
SETS_PROBLEM = """
class Toy { contains Item[1..3] items }
abstract class Item { string[1] name }
class A extends Item {}
class B extends Item {}
pred hasB(Toy toy) <-> items(toy, item), B(item).
error pred withoutB(Toy toy) <-> !hasB(toy).
"""
# What is written in any case, and one of two units; one that begins with the likelier letter may
# turn out to be the one that may not be there.
UNITS = (
    "Toy[noskipws]: 'bb' unit=Unit; Unit: AA | AB | A | B; "
    "AA[noskipws]: name='aa'; AB[noskipws]: name='ab'; A[noskipws]: name='a'; "
    "B[noskipws]: name='b' tail=/[ab]/;"
)
UNITS_PROBLEM = """
class Toy { contains Unit[1] unit }
abstract class Unit { string[1] name }
class AA extends Unit {}
class AB extends Unit {}
class A extends Unit {}
class B extends Unit { string[1] tail }
error pred unwanted(AA unit) <-> AA(unit).
"""
LANGUAGES = {"pairs": (PAIRS, ""), "sets": (SETS, SETS_PROBLEM)}
LONGEST = 4


def toy(name: str, folder: Path) -> Language:
    """One of ``LANGUAGES``, written to a folder and loaded."""
    return written(name, *LANGUAGES[name], folder)


def written(name: str, grammar: str, problem: str, folder: Path) -> Language:
    """A language written to a folder and loaded."""
    path = folder / f"{name}.tx"
    path.write_text(grammar)
    if problem:
        path.with_suffix(".problem").write_text(problem)
    return load_language(str(path))


def texts_of(language: Language) -> list[str]:
    """All texts over ``ab`` that textX loads and that violate no constraint."""
    candidates = (
        "".join(letters) for n in range(LONGEST + 1) for letters in product("ab", repeat=n)
    )
    return [text for text in candidates if not language.judge(text)]


class LetterModel(LanguageModel):
    """Prefers ``a``; how much depends on what was said, in a fixed way."""

    def __init__(self) -> None:
        self.name = "letters"
        self.vocabulary = Vocabulary([b"a", b"b", b"ab", b"ba", None], end_tokens=[4])

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        return _Letters(self.vocabulary, prompt.answer)

    @cache  # noqa: B019
    def likelihoods(self, said: bytes) -> tuple[float, ...]:
        """The probability of each token."""
        draw = random.Random(said.decode())
        weights = [5, 1, 0.5, 0.5, 0.5]
        weights = [weight * draw.uniform(0.2, 2) for weight in weights]
        return tuple(weight / sum(weights) for weight in weights)


class _Letters(SpokenContext):
    def logits(self) -> Logits:
        self.calls += 1
        return np.log(np.array(LetterModel().likelihoods(self.said), dtype=np.float32))


def conditional(texts: Iterable[str], model: LetterModel, begun: str = "") -> Distribution:
    """The model's own distribution, given that the text is one of ``texts``.

    Args:
        begun: how all of them begin, without having been drawn.
    """
    wanted = set(texts)
    return _normalised(_spelt(model, wanted, lambda said, tokens: tokens, begun))


def locally_masked(texts: Iterable[str], model: LetterModel, begun: str = "") -> Distribution:
    """Each token drawn among those that some text of ``texts`` goes on with."""
    wanted = set(texts)

    def masked(said: str, tokens: dict[str, float]) -> dict[str, float]:
        open_ways = {
            token: likelihood
            for token, likelihood in tokens.items()
            if (said in wanted if not token else any(t.startswith(said + token) for t in wanted))
        }
        return _normalised(open_ways)

    return _normalised(_spelt(model, wanted, masked, begun))


def divergence(drawn: Iterable[str], exact: Distribution) -> float:
    """The Kullback-Leibler divergence of the drawn texts from a distribution, in nats."""
    counts = Counter(drawn)
    total = counts.total()
    return sum(
        count / total * math.log(count / total / exact[text]) for text, count in counts.items()
    )


def sampling_error(exact: Distribution, draws: int) -> float:
    """What the divergence of so many draws from their own distribution rarely exceeds.

    Twice the draws times the divergence has a chi-squared distribution (the G-test); this is its
    mean and four standard deviations.
    """
    freedom = len(exact) - 1
    return (freedom + 4 * math.sqrt(2 * freedom)) / (2 * draws)


def _spelt(
    model: LetterModel,
    wanted: set[str],
    choose: Callable[[str, dict[str, float]], Mapping[str, float]],
    begun: str,
) -> dict[str, float]:
    """The mass of each wanted text, over all ways to spell it; ``''`` is the end token."""
    mass: dict[str, float] = Counter()

    def follow(said: str, so_far: float) -> None:
        names = [(data or b"").decode() for data in model.vocabulary.token_bytes]
        tokens = dict(zip(names, model.likelihoods(said.encode()), strict=True))
        for token, likelihood in choose(said, tokens).items():
            if not token and said in wanted:
                mass[said] += so_far * likelihood
            elif token and len(said + token) <= LONGEST:
                follow(said + token, so_far * likelihood)

    follow(begun, 1.0)
    return mass


def _normalised(mass: Mapping[str, float]) -> dict[str, float]:
    total = sum(mass.values())
    return {key: value / total for key, value in mass.items() if value}
