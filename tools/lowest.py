"""Prints, as requirements, the lowest versions that pyproject.toml allows of what the tests need.

The base dependencies stand at their lower bounds. The tools for development are as they are locked,
and so is tokenizers, with which the tests of the decoder make vocabularies.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Prints one requirement a line."""
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for line in asked["project"]["dependencies"]:
        print(re.sub(r">=([^,]+).*", r"==\1", line))
    locked = (ROOT / "requirements.lock").read_text()
    for line in (*asked["dependency-groups"]["dev"], "tokenizers"):
        name = re.split(r"[<>=]", line)[0].lower()
        print(re.search(rf"^{re.escape(name)}==.*$", locked, re.MULTILINE).group())


if __name__ == "__main__":
    main()
