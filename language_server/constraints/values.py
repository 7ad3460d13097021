"""Values of expressions where not everything is known: plain values, intervals, unknown, absent."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final, NamedTuple


class _Mark:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


UNKNOWN: Final = _Mark("UNKNOWN")  # some value, not known so far
ABSENT: Final = _Mark("ABSENT")  # no value: every comparison with it is false


class Interval(NamedTuple):
    """A number between ``lower`` and ``upper`` (inclusive, ``math.inf`` where unbounded)."""

    lower: float
    upper: float


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(op: str, left: Any, right: Any) -> bool:
    """Whether a comparison of two plain values is true; never with ABSENT or of unlike types."""
    if left is ABSENT or right is ABSENT:
        return False
    if isinstance(left, tuple):
        return any(holds(op, one, right) for one in left)
    if isinstance(right, tuple):
        return any(holds(op, left, one) for one in right)
    try:
        return _OPERATORS[op](left, right)
    except TypeError:
        return False


def decided(op: str, left: Any, right: Any) -> bool | None:
    """Like ``holds`` for values that may be unknown: None where both outcomes are possible."""
    if left is ABSENT or right is ABSENT:
        return False
    if left is UNKNOWN or right is UNKNOWN:
        return None
    if not isinstance(left, Interval) and not isinstance(right, Interval):
        return holds(op, left, right)
    if isinstance(left, str) or isinstance(right, str):
        return op == "!="
    low, high = left if isinstance(left, Interval) else (left, left)
    other_low, other_high = right if isinstance(right, Interval) else (right, right)
    if op in (">", ">="):
        low, high, other_low, other_high = other_low, other_high, low, high
        op = "<" if op == ">" else "<="
    if op in ("==", "!="):
        if high < other_low or other_high < low:
            equal: bool | None = False
        else:
            equal = True if low == high == other_low == other_high else None
        return equal if op == "==" or equal is None else not equal
    compare = _OPERATORS[op]
    if compare(high, other_low):
        return True
    return None if compare(low, other_high) else False


def calculate(op: str, left: Any, right: Any) -> Any:
    """Arithmetic on plain values, intervals, UNKNOWN and ABSENT; ABSENT where it is undefined."""
    if left is ABSENT or right is ABSENT:
        return ABSENT
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, Interval) or isinstance(right, Interval):
        return _interval(op, left, right)
    try:
        if op == "+":
            return left + right
        if op == "-":
            return left - right
        if op == "*":
            return left * right
        if isinstance(left, int) and isinstance(right, int):
            return int(left / right) if right else ABSENT  # Refinery's int division truncates
        return left / right if right else ABSENT
    except TypeError:
        return ABSENT


def inverse(op: str, result: Any, *, left: Any = None, right: Any = None) -> Any:
    """The other side of ``left op right`` with which it is the result; None where there is none."""
    numbers = (result, right if left is None else left)
    if not all(isinstance(number, (int, float)) for number in numbers):
        return None
    if op == "+":
        return result - (right if left is None else left)
    if op == "-":
        return result + right if left is None else left - result
    dividend, divisor = (result, right if left is None else left) if op == "*" else (left, result)
    if op == "/" and left is None:
        return result * right
    return dividend / divisor if divisor else None


def near(value: Any, wanted: Any) -> tuple[Any, ...]:
    """Other numbers of a number's type, the nearest to it first: at, below and above another."""
    numbers = all(isinstance(each, (int, float)) for each in (value, wanted))
    if isinstance(value, bool) or not numbers:
        return ()
    at: tuple[float, ...] = (wanted,)
    if isinstance(value, int):
        at = (math.floor(wanted), math.ceil(wanted))
    found = {each for edge in at for each in (edge, edge - 1, edge + 1)} - {value}
    return tuple(sorted(found, key=lambda each: abs(each - value)))


def _interval(op: str, left: Any, right: Any) -> Any:
    low, high = left if isinstance(left, Interval) else (left, left)
    other_low, other_high = right if isinstance(right, Interval) else (right, right)
    if isinstance(low, str) or isinstance(other_low, str):
        return ABSENT
    if op == "+":
        return Interval(low + other_low, high + other_high)
    if op == "-":
        return Interval(low - other_high, high - other_low)
    if op == "*":
        corners = [
            0.0 if 0 in (a, b) else a * b for a in (low, high) for b in (other_low, other_high)
        ]
        return Interval(min(corners), max(corners))
    return Interval(-math.inf, math.inf)
