"""Runs the benchmarks: all of them, or those named on the command line."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path
from time import perf_counter

from rich.console import Console

from benchmarks import __path__ as package_path
from benchmarks.report import keep

RESULTS = Path(__file__).parent / "results"


def main(wanted: list[str]) -> int:
    """Runs benchmarks, shows their tables and keeps them as JSON.

    Args:
        wanted: Names of benchmarks; none means all.

    Returns:
        0, or 2 where a name is none of a benchmark.
    """
    known = {
        name: module.run
        for name in sorted(info.name for info in pkgutil.iter_modules(package_path))
        if name != "__main__"
        and hasattr(module := importlib.import_module(f"benchmarks.{name}"), "run")
    }
    console = Console()
    unknown = [name for name in wanted if name not in known]
    if unknown:
        console.print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(known)}")
        return 2
    for number, name in enumerate(wanted or known, 1):
        console.print(f"[{number}/{len(wanted or known)}] {name}", markup=False, style="bold")
        began = perf_counter()
        tables = []
        for table in known[name]():
            table.show(console)
            tables.append(table)
        file = keep(name, tables, perf_counter() - began, RESULTS)
        console.print(
            f"kept in {file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
