"""The four-valued typed graph that a text describes, refined parse event by parse event."""

from language_server.partial_model.model import (
    Cell,
    Draft,
    Node,
    ObjectId,
    PartialModel,
    Reference,
)
from language_server.partial_model.refinement import finish, identity_of, refine
from language_server.partial_model.schema import NEW, ClassInfo, FeatureInfo, Schema
from language_server.partial_model.truth import Truth

__all__ = [
    "NEW",
    "Cell",
    "ClassInfo",
    "Draft",
    "FeatureInfo",
    "Node",
    "ObjectId",
    "PartialModel",
    "Reference",
    "Schema",
    "Truth",
    "finish",
    "identity_of",
    "refine",
]
