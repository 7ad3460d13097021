"""The four-valued typed graph that a text describes, refined parse event by parse event."""

from language_server.partial_model.draft import Draft
from language_server.partial_model.linking import Surroundings, Target
from language_server.partial_model.model import (
    UNSAID,
    Cell,
    Node,
    ObjectId,
    PartialModel,
    Reference,
)
from language_server.partial_model.naming import closed_names, names_for, undeclared_names
from language_server.partial_model.objects import Unit
from language_server.partial_model.reading import Reading
from language_server.partial_model.refinement import finish, identity_of, refine
from language_server.partial_model.resolution import Fault
from language_server.partial_model.schema import NEW, ClassInfo, FeatureInfo, Schema, entailments
from language_server.partial_model.scopes import Import, Scopes
from language_server.partial_model.supposing import is_foreign, said_since, supposed
from language_server.partial_model.truth import Truth
from language_server.partial_model.ways import LinkRules

__all__ = [
    "NEW",
    "UNSAID",
    "Cell",
    "ClassInfo",
    "Draft",
    "Fault",
    "FeatureInfo",
    "Import",
    "LinkRules",
    "Node",
    "ObjectId",
    "PartialModel",
    "Reading",
    "Reference",
    "Schema",
    "Scopes",
    "Surroundings",
    "Target",
    "Truth",
    "Unit",
    "closed_names",
    "entailments",
    "finish",
    "identity_of",
    "is_foreign",
    "names_for",
    "refine",
    "said_since",
    "supposed",
    "undeclared_names",
]
