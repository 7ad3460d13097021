"""``python -m language_server`` is the command ``langwright``."""

from __future__ import annotations

from language_server.cli import main

main()
