"""The semantic test cases of the Refinery project, through a runner that reads such files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from language_server.constraints.problem import load_problem
from language_server.constraints.saturation import Saturation
from language_server.constraints.theory import Individual
from language_server.partial_model import Truth

CASES = Path(__file__).resolve().parents[3] / "shared" / "oracles" / "refinery"


@dataclass(frozen=True)
class Case:
    """One test of a file: its problem and what is expected of it."""

    name: str
    with_errors: bool
    problem: str
    expectations: tuple[tuple[str, str], ...]  # header, assertions


def cases(path: Path) -> list[Case]:
    shared, *parts = re.split(r"(?m)^% TEST", path.read_text(encoding="utf-8"))
    found = []
    for part in parts:
        header, _, body = part.partition("\n")
        problem, *rest = re.split(r"(?m)^% EXPECT", body)
        expectations = tuple(
            (text.partition("\n")[0].strip(" :"), text.partition("\n")[2]) for text in rest
        )
        modifiers, _, name = header.partition(":")
        found.append(Case(name.strip(), "WITH ERRORS" in modifiers, shared + problem, expectations))
    return found


ALL = [(path, case) for path in sorted(CASES.rglob("*.problem")) for case in cases(path)]


@pytest.mark.parametrize(
    ("path", "case"), ALL, ids=[f"{path.stem}: {case.name}" for path, case in ALL]
)
def test_refinery_case(path: Path, case: Case) -> None:
    given = load_problem(case.problem)
    result = Saturation(given)
    assert case.with_errors or result.consistent
    for header, assertions in case.expectations:
        whole = load_problem(case.problem + assertions)
        for assertion in whole.assertions[len(given.assertions) :]:
            names = [a.name for a in assertion.args if isinstance(a, Individual)]
            row = tuple(names)
            candidate = "CANDIDATE" in header
            found = (result.candidate if candidate else result.truth)(assertion.symbol, row)
            wanted = Truth[assertion.value.upper()]
            if "EXACTLY" in header:
                assert found is wanted, (assertion.symbol, row)
            else:
                assert found.refines(wanted), (assertion.symbol, row, found)


def test_the_cases_are_there(shared: Path) -> None:
    assert len(ALL) >= 25
