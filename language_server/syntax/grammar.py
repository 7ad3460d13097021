"""The grammar of a textX language, ready to parse prefixes and documents."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from language_server.syntax.ambiguities import ambiguities
from language_server.syntax.approximation import approximation
from language_server.syntax.checks import checks
from language_server.syntax.companions import companions
from language_server.syntax.compiler import Compiler
from language_server.syntax.context_free import ContextFree
from language_server.syntax.document import Parse, parse
from language_server.syntax.events import Trail
from language_server.syntax.finding import GrammarFinding
from language_server.syntax.frames import Frame, Thread
from language_server.syntax.layout import Skipper
from language_server.syntax.places import Places
from language_server.syntax.prices import Prices, prices
from language_server.syntax.state import ParseState, start

if TYPE_CHECKING:
    from textx.metamodel import TextXMetaModel


class Grammar:
    """A textX grammar compiled from the parser model of its metamodel.

    Args:
        metamodel: textX's metamodel.
        source: the text of the grammar, where that is not what the metamodel's file says.
    """

    def __init__(self, metamodel: TextXMetaModel, source: str | None = None) -> None:
        self._metamodel = metamodel
        self._source = source
        self._compiler = Compiler(metamodel)
        self._skipper = Skipper(self._compiler, bool(metamodel.use_regexp_group))

    @staticmethod
    def of(metamodel: TextXMetaModel, source: str | None = None) -> Grammar:
        """Compile the grammar of ``metamodel``."""
        return Grammar(metamodel, source)

    @cached_property
    def findings(self) -> tuple[GrammarFinding, ...]:
        """What in the grammar its users will pay for though textX builds it; found at first use."""
        places = Places(self._metamodel, self._source)
        start = self._compiler.body_of_root()
        return (*checks(self._metamodel, places), *ambiguities(start, places))

    def start(self) -> ParseState:
        """The state before any text."""
        return start(self._skipper, self._first_thread())

    def parse(self, text: str, known: Parse | None = None) -> Parse:
        """Read a whole document; never raises, whatever the text.

        Args:
            text: the document.
            known: a parse of an earlier version of it by this grammar. Only what a change affects
                is read again.
        """
        return parse(self._skipper, self._first_thread(), text, known)

    @cached_property
    def keywords(self) -> frozenset[str]:
        """The texts that the grammar writes literally."""
        return frozenset(
            terminal.text for terminal in self._skipper.terminals if terminal.kind == "keyword"
        )

    def writes(self, text: str) -> bool:
        """Whether some terminal of the grammar can be exactly that text."""
        return any(each.match(text, 0) == len(text) for each in self._skipper.terminals)

    @cached_property
    def context_free(self) -> ContextFree:
        """A context-free grammar that has every text of this one, and some more."""
        return approximation(self._compiler, self._compiler.white, self._compiler.skips)

    @cached_property
    def prices(self) -> Prices:
        """What objects and values take to write, in terminals."""
        return prices(self._compiler.root)

    @cached_property
    def companions(self) -> dict[tuple[str, str], frozenset[str]]:
        """For each (rule, feature) the other features that its objects have if they have it."""
        return companions(self._compiler.root)

    def _first_thread(self) -> Thread:
        body = self._compiler.body_of_root()
        root = Trail.root()
        frame = Frame(body, 0, None, None, root, None, None)
        return Thread(body.start, frame, root, None, None, 0)
