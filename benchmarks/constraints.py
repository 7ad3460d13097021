"""What one more unit of text costs the constraints, beside solvers that decide the same checks.

The checks of ``LOCAL`` look at an object and its neighbours, ``RULE`` concludes what can no longer
be stated, the checks of ``GLOBAL`` follow references.
The solvers get the facts of the finished model, once from scratch at every unit, once by adding
what is new to what they have. They are told nothing about completions and find none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from time import thread_time
from typing import NamedTuple

from benchmarks.report import Table, Value
from benchmarks.timing import quantile
from language_server.constraints import ConstraintSet
from language_server.constraints.problem import load_problem
from language_server.partial_model.collection import collect_rarely
from language_server.syntax.events import Assign, Close, Event, Open, Refer

SIZES = (30, 1_000, 30_000)
#: Units that are measured at each size, and where a unit takes long.
UNITS, FEW = 2_000, 5

LOCAL = """
class Plant { contains Machine[] machines }
class Machine {
    string[1] name
    int[1] capacity
    Machine[0..3] feeds opposite fed
    Machine[] fed opposite feeds
}
error pred itself(Machine m) <-> feeds(m, m).
error pred mutual(Machine a, Machine b) <-> feeds(a, b), feeds(b, a), a != b.
error pred overloaded(Machine a) <-> count { feeds(_, a) } > capacity(a).
error pred narrowing(Machine a, Machine b) <-> feeds(a, b), capacity(b) < capacity(a) - 90.
"""
RULE = """
propagation rule oneWay(Machine a, Machine b) <-> must feeds(a, b) ==> !feeds(b, a).
"""
GLOBAL = """
error pred cyclic(Machine a) <-> feeds+(a, a).
pred last(Machine a) <-> !feeds(a, _).
error pred lost(Machine a) <-> last(b), b != a, !feeds+(a, b).
"""
ANSWER_SET = """
:- feeds(M, M).
:- feeds(A, B), feeds(B, A), A != B.
:- capacity(A, C), #count { B : feeds(B, A) } > C.
:- feeds(A, B), capacity(A, C), capacity(B, D), D < C - 90.
"""
ANSWER_SET_UNIT = """
#program unit(m, c, t, d, inputs).
feeds(m, t). capacity(m, c).
:- feeds(m, m).
:- feeds(t, m), t != m.
:- inputs > d.
:- d < c - 90.
"""


class Machine(NamedTuple):
    """One unit of the text: a machine that feeds an earlier one (the first feeds none)."""

    number: int
    capacity: int
    feeds: int

    def events(self) -> list[Event]:
        """What the parser says of it."""
        at = 10 * self.number
        link = [Refer("feeds", True, "Machine", f"m{self.feeds}", "ID", at + 3, at + 4)]
        return [
            Open("Machine", "machines", True, at),
            Assign("name", False, f"m{self.number}", "ID", at, at + 1),
            Assign("capacity", False, self.capacity, "INT", at + 1, at + 2),
            *(link if self.number else ()),
            Close(at + 5),
        ]


def machines(count: int) -> list[Machine]:
    """Machines of a consistent plant."""
    source = random.Random(1)
    return [
        Machine(number, source.randrange(50, 60), source.randrange(number or 1))
        for number in range(count)
    ]


def run() -> Iterator[Table]:
    """One more unit at three sizes, ours and the solvers."""
    collect_rarely()
    rows: list[tuple[Value, ...]] = []
    contenders: list[tuple[str, Callable[[list[Machine], int], list[float]]]] = [
        ("Langwright, local constraints", lambda plant, size: partial_model(LOCAL, plant, size)),
        (
            "Langwright, a propagation rule too",
            lambda plant, size: partial_model(LOCAL + RULE, plant, size),
        ),
        (
            "Langwright, cycles and reachability too",
            lambda plant, size: partial_model(LOCAL + GLOBAL, plant, size),
        ),
        ("clingo, from scratch", clingo_from_scratch),
        ("clingo, unit by unit", clingo_by_units),
    ]
    if find_spec("pysat") is not None:
        contenders += [
            ("PySAT (MiniCard), from scratch", pysat_from_scratch),
            ("PySAT (MiniCard), unit by unit", pysat_by_units),
        ]
    for name, measure in contenders:
        first = None
        for size in SIZES:
            seconds = measure(machines(size + UNITS), size)
            median, rare = (1e6 * quantile(seconds, share) for share in (0.5, 0.99))
            first = first or median
            rows.append((name, size, len(seconds), median, rare, median / first))
    yield Table(
        title="One more unit of text, all constraints decided",
        columns=("", "objects before", "units", "median, µs", "99 %, µs", "growth of the median"),
        rows=tuple(rows),
        note="A unit is a declaration with a name, a number and a reference (five parse events). "
        "Langwright's figures hold the model, propagation and the verdict on all completions; "
        "garbage is collected as the commands of Langwright do. Where a solver counts inputs unit "
        "by unit, clingo is told the count; the solvers decide the local constraints only.",
    )


def partial_model(theory: str, plant: list[Machine], size: int) -> list[float]:
    """Refinement of the partial model and the question for contradictions."""
    evaluation = ConstraintSet.of(load_problem(theory)).initial()
    evaluation = evaluation.refine(Open("Plant", None, False, 0))
    for machine in plant[:size]:
        evaluation = evaluation.refine_all(machine.events())
        assert not evaluation.contradictions
    seconds = []
    for machine in plant[size:]:
        events = machine.events()
        began = thread_time()
        evaluation = evaluation.refine_all(events)
        consistent = not evaluation.contradictions
        seconds.append(thread_time() - began)
        assert consistent
    return seconds


def clingo_from_scratch(plant: list[Machine], size: int) -> list[float]:
    """Grounding and solving the whole model."""
    import clingo

    seconds = []
    for count in range(size, size + FEW):
        facts = "".join(
            f"capacity({m.number},{m.capacity})."
            + (f"feeds({m.number},{m.feeds})." * (m.number > 0))
            for m in plant[:count]
        )
        began = thread_time()
        control = clingo.Control(["--warn=none"])
        control.add("base", [], ANSWER_SET + facts)
        control.ground([("base", [])])
        consistent = control.solve().satisfiable
        seconds.append(thread_time() - began)
        assert consistent
    return seconds


def clingo_by_units(plant: list[Machine], size: int) -> list[float]:
    """Grounding what is new, and solving."""
    import clingo

    control = clingo.Control(["--warn=none"])
    control.add("base", [], ANSWER_SET_UNIT)
    inputs = [0] * len(plant)

    def part(machine: Machine) -> tuple[str, list[clingo.Symbol]]:
        inputs[machine.feeds] += 1
        target = plant[machine.feeds]
        values = (*machine, target.capacity, inputs[machine.feeds])
        return "unit", [clingo.Number(value) for value in values]

    control.ground([part(machine) for machine in plant[1:size]])
    assert control.solve().satisfiable
    seconds = []
    for machine in plant[size : size + UNITS // 10]:
        began = thread_time()
        control.ground([part(machine)])
        consistent = control.solve().satisfiable
        seconds.append(thread_time() - began)
        assert consistent
    return seconds


class _Clauses:
    """The local constraints of the links so far, in a SAT solver with cardinality constraints."""

    def __init__(self, plant: list[Machine]) -> None:
        from pysat.solvers import Minicard

        self.solver = Minicard()
        self._plant = plant
        self._links: dict[tuple[int, int], int] = {}
        self._inputs: dict[int, list[int]] = {}

    def add(self, machine: Machine) -> None:
        """A machine with its link."""
        link = machine.number, machine.feeds
        variable = self._links[link] = len(self._links) + 1
        self.solver.add_clause([variable])
        inputs = self._inputs.setdefault(machine.feeds, [])
        inputs.append(variable)
        target = self._plant[machine.feeds]
        self.solver.add_atmost(inputs, target.capacity)
        back = self._links.get(link[::-1])
        if machine.feeds == machine.number or target.capacity < machine.capacity - 90:
            self.solver.add_clause([-variable])
        elif back is not None:
            self.solver.add_clause([-variable, -back])


def pysat_from_scratch(plant: list[Machine], size: int) -> list[float]:
    """Encoding and solving the whole model."""
    seconds = []
    for count in range(size, size + FEW):
        began = thread_time()
        clauses = _Clauses(plant)
        for machine in plant[1:count]:
            clauses.add(machine)
        consistent = clauses.solver.solve()
        seconds.append(thread_time() - began)
        assert consistent
    return seconds


def pysat_by_units(plant: list[Machine], size: int) -> list[float]:
    """Encoding what is new, and solving."""
    clauses = _Clauses(plant)
    for machine in plant[1:size]:
        clauses.add(machine)
    assert clauses.solver.solve()
    seconds = []
    for machine in plant[size : size + UNITS // 10]:
        began = thread_time()
        clauses.add(machine)
        consistent = clauses.solver.solve()
        seconds.append(thread_time() - began)
        assert consistent
    return seconds
