"""The main job, end to end, through the command line that users have.

A description becomes a model with the embedded language model: once guided by the default strategy,
once without guidance. textX and the constraints then judge both. Every command is shown before it
runs, so that it can be repeated by hand.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(sys.executable).parent

DESCRIPTIONS = {
    "statechart": "A door that can be opened and closed, and locked while it is closed.",
    "clevr": "How many red metal things are left of the big cube?",
}
SEED = "1"
MAX_TOKENS = "160"

# What textX itself says, in a process of its own: the grammar, the text, and nothing of ours.
TEXTX = """
import sys
from textx import metamodel_from_file
from textx.exceptions import TextXError
try:
    metamodel_from_file(sys.argv[1]).model_from_file(sys.argv[2])
except TextXError as error:
    print(f"textX does not load it: {error.message} ({error.line}:{error.col})")
    sys.exit(1)
print("textX loads it.")
"""


def main(wanted: list[str]) -> int:
    """Runs the demonstration.

    Args:
        wanted: Languages to show; none means all.

    Returns:
        0 where every guided model is valid, else 1.
    """
    unknown = ", ".join(sorted(set(wanted) - set(DESCRIPTIONS)))
    if unknown:
        print(f"no demonstration for {unknown}; there is: {', '.join(DESCRIPTIONS)}")
        return 2
    valid = True
    with tempfile.TemporaryDirectory(prefix="langwright-demo-") as folder:
        for language in wanted or DESCRIPTIONS:
            valid &= demonstrate(language, DESCRIPTIONS[language], Path(folder))
    return 0 if valid else 1


def demonstrate(language: str, description: str, folder: Path) -> bool:
    """Generates and judges one description, guided and unguided.

    Returns:
        Whether the guided model is valid.
    """
    heading(f"{language}: guided by the grammar, the metamodel and the constraints (assured)")
    guided = folder / f"guided.{language}"
    generate(language, "assured", description, guided)
    good = judge(language, guided)

    heading(f"{language}: the same language model without guidance (free)")
    unguided = folder / f"unguided.{language}"
    generate(language, "free", description, unguided)
    free = judge(language, unguided)

    print(f"\n{language}: guided {verdict(good)}, unguided {verdict(free)}.", flush=True)
    return good


def generate(language: str, strategy: str, description: str, file: Path) -> None:
    """Generates a model, shows it as it grows, and keeps it in a file."""
    command = ["generate", "--language", language, "--strategy", strategy]
    command += ["--seed", SEED, "--max-tokens", MAX_TOKENS, description]
    show(command)
    # The notes of the command say what takes long; bars of the libraries would tear the text.
    surroundings = os.environ | {"TQDM_DISABLE": "1"}
    process = subprocess.Popen(
        [BIN / "langwright", *command], stdout=subprocess.PIPE, env=surroundings
    )
    assert process.stdout is not None
    with file.open("wb") as kept:
        while piece := os.read(process.stdout.fileno(), 4096):
            kept.write(piece)
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    if process.wait() not in (0, 1):
        sys.exit(f"langwright generate ended with exit code {process.returncode}")


def judge(language: str, file: Path) -> bool:
    """What textX says of a file, then what the constraints say.

    Returns:
        Whether neither found anything.
    """
    print()
    grammar = Path(__file__).parent.parent / "grammars" / f"{language}.tx"
    loads = subprocess.run([sys.executable, "-c", TEXTX, grammar, file]).returncode == 0
    command = ["check", "--language", language, file.name]
    show(command)
    checked = subprocess.run([BIN / "langwright", *command], cwd=file.parent)
    return loads and checked.returncode == 0


def verdict(valid: bool) -> str:
    """The word for a judgement."""
    return "valid" if valid else "not valid"


def heading(text: str) -> None:
    """Prints a heading."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


def show(command: list[str]) -> None:
    """Prints a command as a person would type it."""
    print("$ " + shlex.join(["langwright", *command]), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
