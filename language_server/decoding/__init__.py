"""Language models, the token filter, and strategies that turn preferences into a text."""

from language_server.decoding.alternatives import SEARCH_NAMES, alternatives
from language_server.decoding.embedded import Progress
from language_server.decoding.generate import generate, generate_with
from language_server.decoding.generation import Event, Generation, GenerationError
from language_server.decoding.language_model import (
    Context,
    LanguageModel,
    Message,
    ModelError,
    Prompt,
)
from language_server.decoding.layout import LayoutPolicy
from language_server.decoding.load import ModelFacts, doctor, load_model
from language_server.decoding.random_model import RandomModel
from language_server.decoding.replay_model import ReplayModel
from language_server.decoding.run import Limits
from language_server.decoding.sampling import Sampling
from language_server.decoding.session import Session
from language_server.decoding.strategies import DEFAULT_STRATEGY, STRATEGIES
from language_server.decoding.vocabulary import Vocabulary

__all__ = [
    "DEFAULT_STRATEGY",
    "SEARCH_NAMES",
    "STRATEGIES",
    "Context",
    "Event",
    "Generation",
    "GenerationError",
    "LanguageModel",
    "LayoutPolicy",
    "Limits",
    "Message",
    "ModelError",
    "ModelFacts",
    "Progress",
    "Prompt",
    "RandomModel",
    "ReplayModel",
    "Sampling",
    "Session",
    "Vocabulary",
    "alternatives",
    "doctor",
    "generate",
    "generate_with",
    "load_model",
]
