"""``retry``: check at the end of each syntactic unit, go back and write on from there.

MeMoDecode's algorithm. Tokens follow the grammar; whenever a syntactic unit has ended, the partial
model is checked. If it can still become consistent, as far as propagation tells, the place is the
new snapshot; if not, the text goes back to the latest snapshot and is drawn anew, at most 50 times
in all. Then the rest is written by the grammar alone.

Ours differs in one point: the end of the text is checked like the end of a unit, by all rules of
the language, for nothing can mend it later.
"""

from __future__ import annotations

from language_server.decoding.generation import Finish
from language_server.decoding.run import Run
from language_server.decoding.strategies.mask import mask

_RETRIES = 50


class _Refused(Exception):
    """A check has failed."""


def retry(run: Run) -> Finish:
    """Grow the text; it is consistent if it has ended and no more than 50 checks have failed."""
    snapshot = run.length
    for _ in range(_RETRIES):
        try:
            while True:
                finish = _write_unit(run)
                if finish is not None:
                    return finish
                snapshot = run.length
                run.emit("snapshot", "", "the unit is consistent")
        except _Refused as why:
            run.back_to(snapshot, str(why))
    run.emit("rejection", "", f"{_RETRIES} checks have failed: from here on by the grammar alone")
    return mask(run, floor=snapshot)


def _write_unit(run: Run) -> Finish | None:
    """Write to the end of the next unit and check it; returns how the text has ended, if it has.

    Raises:
        _Refused: the unit, or the end of the text, leads to no consistent model.
    """
    begin = len(run.state.guide.text)
    while run.remaining > 0:
        choice = next(run.candidates(), None)
        if choice is None:
            raise _Refused("no token is allowed")
        token, after = choice
        if after.ended:
            fault = run.fault() if after.guide.judged.complete else None
            if after.guide.judged.complete and fault is None:
                return "end"
            run.ban(token)
            raise _Refused(fault.message if fault is not None else "the text must not end here")
        run.take(token, after)
        guide = run.state.guide
        if not run.state.pending and guide.ends_unit(begin):
            if guide.judged.alive:
                return None
            raise _Refused("the unit leads to no consistent model")
    return "budget"
