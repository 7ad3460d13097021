"""The lock files give what the project asks for, and name no place to fetch it from."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

REMEDY = "run `make lock`"


@pytest.fixture(scope="module")
def asked(root: Path) -> list[Requirement]:
    """What pyproject.toml asks for: base, model, development."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    base = project["project"]["dependencies"]
    model = project["project"]["optional-dependencies"]["model"]
    return [Requirement(line) for line in (*base, *model, *project["dependency-groups"]["dev"])]


@pytest.fixture(scope="module")
def locked(root: Path) -> dict[str, Version]:
    """The locked version of each package."""
    lines = (root / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {name: Version(version) for name, version in pairs}


def test_lock_satisfies_what_the_project_asks_for(
    asked: list[Requirement], locked: dict[str, Version]
) -> None:
    assert not unsatisfied(asked, locked), REMEDY


def test_every_dependency_has_a_lower_and_an_upper_bound(asked: list[Requirement]) -> None:
    for need in asked:
        assert {bound.operator for bound in need.specifier} >= {">=", "<"}, need


def test_lock_is_closed(locked: dict[str, Version]) -> None:
    for name in locked:
        needed = (Requirement(line) for line in requires(name) or ())
        apply = (
            need for need in needed if need.marker is None or need.marker.evaluate({"extra": ""})
        )
        assert not unsatisfied(apply, locked), f"of {name}; {REMEDY}"


def test_lock_is_installed(locked: dict[str, Version]) -> None:
    installed = {name: Version(version(name).partition("+")[0]) for name in locked}
    assert installed == locked


def test_torch_is_the_version_with_a_cpu_build(locked: dict[str, Version]) -> None:
    assert locked["torch"] == Version("2.13.0")


def test_locks_name_no_place(root: Path) -> None:
    assert "://" not in (root / "requirements.lock").read_text(encoding="utf-8")
    assert '"resolved": "http' not in (root / "package-lock.json").read_text(encoding="utf-8")


def unsatisfied(requirements: Iterable[Requirement], locked: dict[str, Version]) -> list[str]:
    """The requirements that the lock does not satisfy."""
    return [
        str(need)
        for need in requirements
        if (found := locked.get(canonicalize_name(need.name))) is None
        or not need.specifier.contains(found, prereleases=True)
    ]
