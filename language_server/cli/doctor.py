"""``langwright doctor``: what this installation can do, and what it is missing."""

from __future__ import annotations

import dataclasses
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from language_server.cli.console import note, write, write_json
from language_server.cli.options import AsJson, catalogue
from language_server.cli.refusal import refusal_of

_PACKAGES = ("langwright", "textX", "pygls", "torch", "transformers")


def doctor(as_json: AsJson = False) -> int:
    """Report the engine, threads and load time of the language model, and what is missing.

    Exit code 1 means that something is missing; everything that needs no model works all the same.
    """
    from language_server.decoding import doctor as examine

    note("Looking at the language model …")
    model = examine()
    failures = [str(refusal_of(error) or error) for error in catalogue().failures()]
    found: dict[str, Any] = {
        "python": f"{platform.python_version()} ({sys.executable})",
        "processors": os.cpu_count(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "model": {
            **dataclasses.asdict(model),
            "missing": list(model.missing),
        },
        "languages_failed": failures,
    }
    if as_json:
        write_json(found)
    else:
        _write_report(found)
    return 1 if model.missing or failures else 0


def _write_report(found: dict[str, Any]) -> None:
    model = found["model"]
    rows = [
        ("Python", found["python"]),
        ("Processors", found["processors"]),
        *((name, number or "not installed") for name, number in found["packages"].items()),
        ("Engine", model["engine"] or "not measured"),
        ("Number type", _dtype(model)),
        ("Threads", model["threads"]),
        ("Load time", _unit(model["load_seconds"], "s")),
        ("Per token", _unit(model["milliseconds_per_token"], "ms")),
        ("Weights", model["weights"] or "not there yet"),
        ("Converted", "yes" if model["converted"] else "no; done at the first generation"),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        if value is not None:
            write(f"{name:<{width}}  {value}\n")
    for missing in (*model["missing"], *found["languages_failed"]):
        write(f"{'Missing':<{width}}  {missing}\n")


def _dtype(model: dict[str, Any]) -> str | None:
    if model["dtype"] is None:
        return None
    return str(model["dtype"]) + (", int8 weights" if model["int8_weights"] else "")


def _unit(value: float | None, unit: str) -> str | None:
    return None if value is None else f"{value} {unit}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
