"""Whether a prefix can be completed into a consistent model, and with which text.

From cheap to dear: the witness of an earlier prefix, as it is or as far as it still fits; the
shortest closing of the text; a goal from the solver, written down; a search over texts. Where the
solver finds no small goal, a proof by cases that there is none is tried before it gets more.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from language_server.constraints.goal import Goal, Wish
from language_server.partial_model import ObjectId, PartialModel, supposed
from language_server.projection.bases import Base, bases, what_each_contradicts, what_refutes_each
from language_server.projection.companions import companions_of
from language_server.projection.pools import Pool, Pools, pools_of, size_of
from language_server.projection.prices import prices_of
from language_server.projection.realisation import Realisation
from language_server.projection.search import Search
from language_server.projection.splice import splice
from language_server.projection.verdict import Effort, Known, Verdict

if TYPE_CHECKING:
    from language_server.constraints import Violation
    from language_server.projection.prefix import Prefix

# Readings for which a goal is looked for, and goals for one.
_BASES = 4
_ROUNDS = 6
# New objects that the solver is asked with: from how many on those of each class are tried first
# one by one, and how many it gets at most. Closures cost their number cubed.
_MANY_OBJECTS = 60
_MOST_OBJECTS = 150
# Objects that are owed from which on it is tried to do with few.
_MUCH_OWED = 4
_Forbidden = frozenset[tuple[str, ObjectId]]


def complete(prefix: Prefix, effort: Effort, known: Known | None) -> tuple[Verdict, Known | None]:
    """The verdict on a prefix that is alive, and what to remember of it.

    Args:
        known: what is remembered of an earlier prefix of the text.
    """
    if known is not None and known.text.startswith(prefix.text):
        return Verdict("yes", known.text[len(prefix.text) :]), known
    start = prefix.advance(prefix.comment_end)
    search = Search(start, effort)
    if start.in_comment:
        if search.accepts(prefix):
            return Verdict("yes", ""), Known(prefix.text, ())
        return Verdict("unknown", None, ("no end of the comment was found",)), known
    still_open = search.begin()
    if search.found is None and known is not None:
        search.retry(known)
    found, spent = search.found, search.spent
    if found is None and known is not None:
        found = splice(start, known, search, effort)
    if found is None and start.language.links.imports:
        search.refer()
        found, spent = search.found, search.spent
    if found is None and (proof := what_each_contradicts(start)):
        return _proven(proof, spent), known
    if found is None:
        attempt = _reach_a_goal(start, effort, still_open, search)
        found, spent = attempt.found, spent + attempt.goals
        if attempt.proof:
            return _proven(attempt.proof, spent), known
        # Where there is no goal at all, a search would be in vain for all one can tell. The solver
        # does not know what code refuses, nor that a text may state a value anew.
        features = start.language.constraints.schema.features.values()
        more = search.refusals or any(feature.revisable for feature in features)
        if found is None and (attempt.goals or more):
            search.run()
            found, spent = search.found, search.spent + attempt.goals
    if found is None:
        reasons = dict.fromkeys([*(each.message for each in still_open), *search.refusals])
        return Verdict("unknown", None, tuple(reasons), spent), known
    return Verdict("yes", found.text[prefix.state.length :], (), spent), found


def _proven(proof: tuple[Violation, ...], spent: int) -> Verdict:
    return Verdict("no", None, tuple(dict.fromkeys(each.message for each in proof)), spent)


class _Attempt(NamedTuple):
    """How many goals there were, and the text that one of them was written as.

    ``proof`` says of each reading why there cannot be any.
    """

    found: Known | None
    goals: int
    proof: tuple[Violation, ...] = ()


def _reach_a_goal(
    start: Prefix, effort: Effort, owed: tuple[Violation, ...], search: Search
) -> _Attempt:
    """Ask the solver for a consistent model and write it.

    Few new objects are tried in every reading before more are in any.

    Args:
        owed: what the shortest closing violates.
        search: says what is accepted; what code refuses is more than the solver knows.
    """
    if not effort.pools or search.refusals:
        return _Attempt(None, 0)
    language = start.language
    pools = pools_of(language.constraints, language.root)
    more = pools.owed(owed)
    tries = [_Try(base) for base in islice(bases(start), _BASES)]
    for place, sizes in enumerate(_sizes(pools, more, effort)):
        for each in tries:
            found = each.write(sizes, effort, search)
            if found is not None or effort.stop():
                return _Attempt(found, sum(one.goals for one in tries))
        if place == 0 and (proof := what_refutes_each(start, effort.stop)):
            return _Attempt(None, sum(one.goals for one in tries), proof)
    return _Attempt(None, sum(one.goals for one in tries))


def _sizes(pools: Pools, more: Counter[str], effort: Effort) -> list[tuple[Pool, ...]]:
    """What the solver gets to build with, in the order to try; of several the cheapest goal counts.

    Where much is owed one object may lift several violations: few of them are tried first, since
    among few the solver finds the cheapest.
    """
    each = list(effort.pools)
    if size_of(pools.pool(each[0], more)) > _MANY_OBJECTS:
        each = [1, *each]
    found = [pools.pool(number, more) for number in each]
    kept = [(pool,) for pool in found[1:] if size_of(pool) <= _MOST_OBJECTS]
    half = Counter({name: number // 2 for name, number in more.items()})
    few = [pools.pool(each[0], part) for part in (Counter[str](), half)]
    return [(*(few if more.total() > _MUCH_OWED else ()), found[0]), *kept]


class _Try:
    """The goals of one reading: what cannot be written is ruled out in all later ones.

    More to build with is of use only where there is no goal left; and after so many goals that
    could not be written it is no use at all.

    Attributes:
        goals: how many there were.
    """

    def __init__(self, base: Base) -> None:
        self._base = base
        self._model = supposed(base.model)
        self._forbidden: _Forbidden = frozenset()
        self._hopeless = False
        self.goals = 0

    def write(self, pools: tuple[Pool, ...], effort: Effort, search: Search) -> Known | None:
        """The text of the cheapest goal within the pools."""
        base = self._base
        while self.goals < _ROUNDS and not self._hopeless:
            goal: Goal | None = None
            for pool in pools:
                goal = _goal(base, self._model, pool, self._forbidden, effort, goal) or goal
            if goal is None or effort.stop():
                return None
            self.goals += 1
            realisation = Realisation(base.prefix, base.model, self._model, goal)
            text = realisation.text()
            if text is not None:
                whole = base.prefix.advance(text)
                if search.accepts(whole):
                    return Known(whole.text, (base.prefix.state.length,))
            self._hopeless = text is not None or not realisation.stuck
            self._forbidden |= realisation.stuck
        return None


def _goal(
    base: Base,
    model: PartialModel,
    pool: Pool,
    forbidden: _Forbidden,
    effort: Effort,
    dearer: Goal | None,
) -> Goal | None:
    """A goal within the pool, cheaper than one that is known."""
    if effort.stop():
        return None
    # Loading the solver takes a fifth of a second: only a question that needs it pays for it.
    from language_server.constraints.solver import solve

    language = base.prefix.language
    below = None if dearer is None else dearer.price
    question = (base.says(), pool, forbidden, below)
    if question in effort.vain:
        return None
    root = None
    if base.model.frame is None and language.root in language.constraints.schema.rules:
        root = language.constraints.schema.rules[language.root].name
    wish = Wish(
        dict(pool),
        root,
        base.begun,
        forbidden,
        prices_of(language),
        companions_of(language),
        below,
    )
    goal = solve(language.constraints, model, wish, effort.conflicts, effort.stop)
    if goal is None and not effort.stop():
        effort.vain.add(question)
    return goal
