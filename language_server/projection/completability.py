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
from language_server.partial_model import ObjectId
from language_server.projection.bases import Base, bases, what_each_contradicts, what_refutes_each
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
_Forbidden = frozenset[tuple[str, ObjectId]]


def complete(prefix: Prefix, effort: Effort, known: Known | None) -> tuple[Verdict, Known | None]:
    """The verdict on a prefix that is alive, and what to remember of it.

    Args:
        known: what is remembered of an earlier prefix of the text.
    """
    if known is not None and known.text.startswith(prefix.text):
        return Verdict("yes", known.text[len(prefix.text) :]), known
    start = prefix.advance(prefix.comment_end)
    if start.in_comment:
        if prefix.complete:
            return Verdict("yes", ""), Known(prefix.text, ())
        return Verdict("unknown", None, ("no end of the comment was found",)), known
    search = Search(start, effort)
    still_open = search.begin()
    if search.found is None and known is not None:
        search.retry(known)
    found, spent = search.found, search.spent
    if found is None and known is not None:
        found = splice(start, known, search, effort)
    if found is None and (proof := what_each_contradicts(start)):
        return _proven(proof, spent), known
    if found is None:
        attempt = _reach_a_goal(start, effort, still_open)
        found, spent = attempt.found, spent + attempt.goals
        if attempt.proof:
            return _proven(attempt.proof, spent), known
        # Where there is no goal at all, a search would be in vain for all one can tell.
        if found is None and attempt.goals:
            search.run()
            found, spent = search.found, search.spent + attempt.goals
    if found is None:
        reasons = tuple(dict.fromkeys(violation.message for violation in still_open))
        return Verdict("unknown", None, reasons, spent), known
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


def _reach_a_goal(start: Prefix, effort: Effort, owed: tuple[Violation, ...]) -> _Attempt:
    """Ask the solver for a consistent model and write it.

    Few new objects are tried in every reading before more are in any.

    Args:
        owed: what the shortest closing violates.
    """
    language = start.language
    pools = pools_of(language.constraints, language.root)
    more = pools.owed(owed)
    readings = tuple(islice(bases(start), _BASES)) if effort.pools else ()
    goals = 0
    for place, pool in enumerate(_sizes(pools, more, effort)):
        for base in readings:
            attempt = _reach_a_goal_from(base, pool, effort)
            goals += attempt.goals
            if attempt.found is not None or effort.stop():
                return _Attempt(attempt.found, goals)
        if place == 0 and (proof := what_refutes_each(start)):
            return _Attempt(None, goals, proof)
    return _Attempt(None, goals)


def _sizes(pools: Pools, more: Counter[str], effort: Effort) -> list[Pool]:
    """What the solver gets to build with, in the order to try."""
    found = [pools.pool(each, more) for each in effort.pools]
    if found and size_of(found[0]) > _MANY_OBJECTS:
        found = [pools.pool(1, more), *found]
    return [pool for place, pool in enumerate(found) if not place or size_of(pool) <= _MOST_OBJECTS]


def _reach_a_goal_from(base: Base, pool: Pool, effort: Effort) -> _Attempt:
    """Write a goal of one reading; what cannot be written is ruled out in the next one."""
    goals = 0
    forbidden: _Forbidden = frozenset()
    for _ in range(_ROUNDS):
        goal = None if effort.stop() else _goal(base, pool, forbidden, effort)
        if goal is None:
            break
        goals += 1
        realisation = Realisation(base.prefix, base.model, goal)
        text = realisation.text()
        if text is not None:
            whole = base.prefix.advance(text)
            if whole.complete:
                return _Attempt(Known(whole.text, (base.prefix.state.length,)), goals)
        if text is not None or not realisation.stuck:
            break
        forbidden |= realisation.stuck
    return _Attempt(None, goals)


def _goal(base: Base, pool: Pool, forbidden: _Forbidden, effort: Effort) -> Goal | None:
    # Loading the solver takes a fifth of a second: only a question that needs it pays for it.
    from language_server.constraints.solver import solve

    language = base.prefix.language
    question = (base.says(), pool, forbidden)
    if question in effort.vain:
        return None
    root = None
    if base.model.frame is None and language.root in language.constraints.schema.rules:
        root = language.constraints.schema.rules[language.root].name
    wish = Wish(dict(pool), root, base.begun, forbidden, prices_of(language))
    goal = solve(language.constraints, base.model, wish, effort.conflicts, effort.stop)
    if goal is None and not effort.stop():
        effort.vain.add(question)
    return goal
