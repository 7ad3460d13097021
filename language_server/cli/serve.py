"""``langwright serve``: the language server."""

from __future__ import annotations


def serve() -> int:
    """Run the language server on standard input and output, for an editor to talk to."""
    from language_server.server import serve as run_server

    run_server()
    return 0
