"""What may come next, so that the whole can still be completed into a consistent model."""

from language_server.projection.moves import Move
from language_server.projection.prefix import Prefix
from language_server.projection.verdict import Effort, Verdict

__all__ = ["Effort", "Move", "Prefix", "Verdict"]
