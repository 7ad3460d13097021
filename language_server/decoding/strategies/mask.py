"""``mask``: each token must keep the guide alive (projectional decoding).

With a guide of the grammar alone this is ``grammar``, with one that allows everything it is
``free``. It does not look ahead: it may run out of budget, or into a place where no token is
allowed. From such a place it takes one token back and tries another, a bounded number of times.
"""

from __future__ import annotations

from language_server.decoding.generation import Finish
from language_server.decoding.run import Run

_STEPS_BACK = 50


def mask(run: Run, floor: int = 0) -> Finish:
    """Grow the text until the model ends it or the budget is used up.

    Args:
        floor: the first so many tokens are never taken back.
    """
    steps_back = 0
    while run.remaining > 0:
        choice = next(run.candidates(), None)
        if choice is None:
            if steps_back == _STEPS_BACK or not step_back(run, floor):
                return "dead-end"
            steps_back += 1
            continue
        token, after = choice
        if after.ended:
            return "end"
        run.take(token, after)
    return "budget"


def step_back(run: Run, floor: int) -> bool:
    """Take back the model's last choice and what it forced, and do not make it again.

    Returns:
        False if there is no choice of the model behind the first ``floor`` tokens.
    """
    place = run.length - 1
    while place >= floor and run.path[place].origin != "model":
        place -= 1
    if place < floor:
        return False
    token = run.path[place].token
    run.back_to(place, "no token is allowed")
    run.ban(token)
    return True
