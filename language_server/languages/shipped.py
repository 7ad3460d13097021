"""The languages that come with the product, and where their files are.

A shipped language ``X`` is ``grammars/X.tx``, ``metamodels/X.problem`` and the folder
``grammars/X.examples`` of example models. In a checkout ``grammars/`` and ``metamodels/`` are
top-level folders beside the package. A wheel holds them as package data:

    grammars/     ->  language_server/_shipped/grammars/
    metamodels/   ->  language_server/_shipped/metamodels/

Both places are looked at, the package's own first. Whoever builds a wheel has to copy the folders
whole (``.tx``, ``.problem`` and the example folders); nothing else of the checkout is needed.
"""

from __future__ import annotations

from pathlib import Path

from language_server.constraints.shipped import shipped_file, shipped_folders

__all__ = [
    "SHIPPED_COMPILERS",
    "SHIPPED_EXTENSIONS",
    "shipped_file",
    "shipped_folders",
    "shipped_grammars",
]

#: Endings of the model files of shipped languages that are not named after their language.
SHIPPED_EXTENSIONS = {"textx": (".tx",), "minizinc": (".mzn",)}

#: Compilers of shipped languages: each judges a file that is named behind it.
SHIPPED_COMPILERS = {"minizinc": ("minizinc", "--model-check-only")}


def shipped_grammars() -> dict[str, Path]:
    """The grammars of the shipped languages by name, in alphabetical order."""
    found: dict[str, Path] = {}
    for folder in shipped_folders("grammars"):
        for grammar in folder.glob("*.tx"):
            found.setdefault(grammar.stem, grammar)
    return dict(sorted(found.items()))
