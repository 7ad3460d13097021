"""Languages: grammar, metamodel and constraints put together, and where they are found."""

from language_server.languages.analysis import BYTE_ORDER_MARK, Analysis
from language_server.languages.comments import CommentStyle
from language_server.languages.declaration import Declaration, Fix, OwnRules
from language_server.languages.error import LanguageError
from language_server.languages.examples import Example
from language_server.languages.grammar_file import load_grammar
from language_server.languages.language import Definition, Language
from language_server.languages.manifest import MANIFEST
from language_server.languages.metamodel import implied_theory, write_problem
from language_server.languages.registry import Entry, Registry, load_language, registry

__all__ = [
    "BYTE_ORDER_MARK",
    "MANIFEST",
    "Analysis",
    "CommentStyle",
    "Declaration",
    "Definition",
    "Entry",
    "Example",
    "Fix",
    "Language",
    "LanguageError",
    "OwnRules",
    "Registry",
    "implied_theory",
    "load_grammar",
    "load_language",
    "registry",
    "write_problem",
]
