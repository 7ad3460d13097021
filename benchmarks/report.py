"""What a benchmark answers with, and how it is shown and kept."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table as ScreenTable

MEASURED_WITH = ("textX", "Arpeggio", "pygls", "regex", "torch", "transformers")

Value = str | int | float | None


@dataclass(frozen=True)
class Table:
    """A table of measurements.

    Attributes:
        title: The question that the table answers.
        columns: Heads of the columns, with the unit.
        rows: One value a column.
        note: How it was measured, and what to keep in mind when reading it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    note: str = ""

    def show(self, console: Console) -> None:
        """Prints the table for a person."""
        screen = ScreenTable(title=self.title, caption=self.note, title_justify="left")
        for number, column in enumerate(self.columns):
            screen.add_column(column, justify="right" if number else "left")
        for row in self.rows:
            screen.add_row(*(shown(value) for value in row))
        console.print(screen)


def keep(name: str, tables: Sequence[Table], seconds: float, folder: Path) -> Path:
    """Writes the tables of one benchmark as JSON, with what they were measured on.

    Returns:
        The file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.json"
    result = {
        "benchmark": name,
        "seconds": round(seconds, 1),
        "surroundings": surroundings(),
        "tables": [asdict(table) for table in tables],
    }
    file.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


def surroundings() -> dict[str, Value]:
    """The machine, the versions and the commit that figures depend on."""
    facts: dict[str, Value] = {
        "commit": first_line("git", "describe", "--always", "--dirty"),
        "processor": processor(),
        "python": platform.python_version(),
    }
    return facts | {name: version(name) for name in MEASURED_WITH}


def processor() -> str:
    """The processor's name as Linux tells it, or as Python knows it elsewhere."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def first_line(*command: str) -> str | None:
    """The first line a command prints, or None where it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.partition("\n")[0]


def shown(value: Value) -> str:
    """A value with three significant digits."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value
