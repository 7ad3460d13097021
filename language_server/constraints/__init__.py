"""Metamodels with constraints: the problem language and its incremental evaluation."""

from language_server.constraints.constraint_set import ConstraintSet
from language_server.constraints.evaluation import Evaluation
from language_server.constraints.graph import Graph
from language_server.constraints.mapping import Mapping
from language_server.constraints.theory import Assertion, Theory
from language_server.constraints.violation import Violation

__all__ = [
    "Assertion",
    "ConstraintSet",
    "Evaluation",
    "Graph",
    "Mapping",
    "Theory",
    "Violation",
]
