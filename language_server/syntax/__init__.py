"""Prefix parsing of any textX grammar, recovery, exact source spans."""

from language_server.syntax.context_free import ContextFree, gbnf
from language_server.syntax.document import Parse
from language_server.syntax.events import Assign, Close, Event, Open, Refer, Trail
from language_server.syntax.finding import GrammarFinding, GrammarPlace
from language_server.syntax.grammar import Grammar
from language_server.syntax.joints import comment_end, joint, stands_apart
from language_server.syntax.lexers import Lexer, LexicalState, Outcome
from language_server.syntax.openings import Opening
from language_server.syntax.prices import Price, Prices
from language_server.syntax.recovery import SyntaxFault
from language_server.syntax.state import Expected, ParseState
from language_server.syntax.terminals import Terminal

__all__ = [
    "Assign",
    "Close",
    "ContextFree",
    "Event",
    "Expected",
    "Grammar",
    "GrammarFinding",
    "GrammarPlace",
    "Lexer",
    "LexicalState",
    "Open",
    "Opening",
    "Outcome",
    "Parse",
    "ParseState",
    "Price",
    "Prices",
    "Refer",
    "SyntaxFault",
    "Terminal",
    "Trail",
    "comment_end",
    "gbnf",
    "joint",
    "stands_apart",
]
