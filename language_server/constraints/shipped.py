"""Where the files shipped with the product are: ``grammars/`` and ``metamodels/``.

In a checkout they are top-level folders beside the package; in an installed wheel they are package
data in ``language_server/_shipped/`` (see `language_server.languages.shipped`).
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped_folders(kind: str) -> tuple[Path, ...]:
    """The existing folders of a kind (``grammars`` or ``metamodels``), best first."""
    candidates = (_PACKAGE / "_shipped" / kind, _PACKAGE.parent / kind)
    return tuple(folder for folder in candidates if folder.is_dir())


def shipped_file(kind: str, name: str) -> Path | None:
    """The shipped file of that name, None where there is none."""
    for folder in shipped_folders(kind):
        if (folder / name).is_file():
            return folder / name
    return None
