"""Writes requirements.lock: one exact version for everything pyproject.toml asks for.

The lock names versions only: no host, no file, no hash of a file, so that plain pip installs it
from whatever index it is set up for. Run it with `make lock` after a change of the dependencies.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The newest torch on most indexes is a CUDA build of several gigabytes. This one is a CPU build
# where the project is tested; the figures in the documentation were measured with it.
PINS = ["torch==2.13.0"]

HEADER = """\
# Made by `make lock` from pyproject.toml; do not edit. Exact versions for what the Makefile runs,
# installed with plain pip: pip install -r requirements.lock
"""


def main() -> int:
    """Resolves the dependencies and writes the lock.

    Returns:
        The exit code of pip.
    """
    resolve = ["install", "--dry-run", "--ignore-installed", "-qq", "--report", "-"]
    report = subprocess.run(
        [sys.executable, "-m", "pip", *resolve, *requirements(), *PINS],
        stdout=subprocess.PIPE,
        text=True,
    )
    if report.returncode:
        return report.returncode
    locked = dict(name_and_version(found) for found in json.loads(report.stdout)["install"])
    lines = [f"{name}=={locked[name]}\n" for name in sorted(locked)]
    (ROOT / "requirements.lock").write_text(HEADER + "".join(lines))
    print(f"requirements.lock: {len(locked)} packages")
    return 0


def requirements() -> list[str]:
    """What pyproject.toml asks for: base, the extras, and the development group."""
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = asked["project"]
    extras = project["optional-dependencies"].values()
    development = asked["dependency-groups"]["dev"]
    return [*project["dependencies"], *(line for part in extras for line in part), *development]


def name_and_version(found: dict[str, dict[str, str]]) -> tuple[str, str]:
    """Name and version of one package, without the local part (`+cpu` names a build)."""
    metadata = found["metadata"]
    name = re.sub(r"[-_.]+", "-", metadata["name"]).lower()
    return name, metadata["version"].partition("+")[0]


if __name__ == "__main__":
    sys.exit(main())
