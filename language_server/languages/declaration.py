"""What a language may know of its texts beyond grammar, metamodel and constraints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from language_server.diagnostic import Diagnostic
from language_server.partial_model import PartialModel


@dataclass(frozen=True, slots=True)
class Declaration:
    """An object that the references of a text may mean by the language's own rules.

    Attributes:
        name: as references spell it.
        cls: its class.
        path: the file that declares it; None for the text itself.
        start, end: the span of its name there; empty where the object stands in no text.
    """

    name: str
    cls: str
    path: Path | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that mends a problem: ``text`` replaces the characters from ``start`` to ``end``."""

    title: str
    start: int
    end: int
    text: str


class OwnRules(Protocol):
    """A language's own rules.

    Attributes:
        loader: what loads finished texts in place of textX's metamodel of the language.
    """

    loader: Any

    def declared(self, model: PartialModel, path: Path | None) -> Iterable[Declaration]:
        """What references may mean besides the objects of the text that bear a name alone."""

    def check(self, model: PartialModel, path: Path | None) -> Iterable[Diagnostic]:
        """What is wrong with a text that has no syntax error; must be quick."""

    def remarks(self, text: str, model: PartialModel, path: Path | None) -> Iterable[Diagnostic]:
        """What is to be said of a text that has no error; may take its time."""

    def fixes(self, text: str, start: int, end: int) -> Iterable[Fix]:
        """Changes that mend the problem at a place of a text."""
