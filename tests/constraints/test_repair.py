"""Which facts can lift a violation, by the definition of the error predicate."""

from __future__ import annotations

import pytest

from language_server.constraints.problem import load_problem
from language_server.constraints.repair import repairing_symbols

THEORY = load_problem("""
class Box { Box[] next opposite before  Box[] before opposite next  int size  boolean full }
pred linked(Box a) <-> next(a, _).
pred hidden(Box a) <-> !linked(a).
error pred lonely(Box a) <-> !linked(a).
error pred shown(Box a) <-> !hidden(a).
error pred doubly(Box a) <-> hidden(a).
error pred small(Box a) <-> size(a) < 3.
error pred few(Box a) <-> count { next(a, _) } < 2.
error pred loop(Box a) <-> next+(a, a).
scope Box = 2..5.
error pred odd(Box a) <-> linked(a), full(a) ; !hidden(a), !Box(a).
""")
NEXT = {"Box::next", "Box::before"}


@pytest.mark.parametrize(
    ("predicate", "symbols"),
    [
        ("lonely", NEXT),
        ("shown", set()),  # only fewer links could hide a box
        ("doubly", NEXT),
        ("small", {"Box::size"}),
        ("few", NEXT),
        ("loop", set()),
        ("odd", {"Box::full", "Box"}),
        ("scope Box lower", {"Box"}),
    ],
)
def test_repairing_symbols(predicate: str, symbols: set[str]) -> None:
    assert repairing_symbols(THEORY, predicate) == symbols
