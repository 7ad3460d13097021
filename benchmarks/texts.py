"""Texts to measure with: the examples that are shipped with the languages, and longer ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from language_server.languages import Language, load_language

LANGUAGES = ("statechart", "clevr")
#: Public grammars, beside the checkout.
CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"


class Sample(NamedTuple):
    """Some texts of one language."""

    language: Language
    texts: tuple[str, ...]

    @property
    def characters(self) -> int:
        """How many characters the texts have together."""
        return sum(map(len, self.texts))


def shipped() -> Iterator[Sample]:
    """The examples of each shipped language."""
    for name in LANGUAGES:
        language = load_language(name)
        yield Sample(language, tuple(example.text for example in language.examples))


class Kind(NamedTuple):
    """A kind of document that can be made of any length.

    Attributes:
        grammar: the public grammar it is written in.
        write: makes a document of at least so many characters.
        declaration: what stands before names in it, which others refer to where there are such.
        element: a further element.
        place: what such an element can stand before.
    """

    name: str
    grammar: Path
    write: Callable[[int], str]
    declaration: str
    element: str
    place: str


def kinds() -> list[Kind]:
    """Documents without references and with many; none where the public grammars are missing."""
    known = [
        Kind(
            "JSON",
            CORPUS / "textx-json/grammar/json.tx",
            json_text,
            declaration='"na',
            element='{ "id": 0, "new": [true] },\n',
            place='{\n "id"',
        ),
        Kind(
            "components",
            CORPUS / "textx-components-rrel/grammar/ComponentsRrel.tx",
            components_text,
            declaration="component Fil",
            element="  instance new : p1.Filter1\n  connect new.output to second.input\n",
            place="  instance first",
        ),
    ]
    return [kind for kind in known if kind.grammar.is_file()]


def json_text(characters: int) -> str:
    """A list of objects, indented as tools do it."""
    source = random.Random(1)
    items: list[str] = []
    size = 0
    while size < characters:
        number = len(items)
        item = {
            "id": number,
            "name": f"item {number}",
            "tags": ["a", f"b{number % 7}"],
            "at": {"x": source.random() * 100, "y": source.randrange(1000)},
            "ok": number % 3 == 0,
            "note": None,
        }
        items.append(json.dumps(item, indent=1))
        size += len(items[-1]) + 2
    return "[\n" + ",\n".join(items) + "\n]\n"


def components_text(characters: int) -> str:
    """Packages of components whose ports are connected, within a package and across."""
    parts = ["package interfaces {\n  interface A\n  interface B\n}\n"]
    size = 0
    while size < characters:
        number = len(parts)
        before, earlier = max(number - 1, 1), max(number - 3, 1)
        parts.append(
            f"""package p{number} {{
  component Source{number} {{
    out output (format interfaces.A)
  }}
  component Filter{number} {{
    in input (format interfaces.A, interfaces.B) // comment {number}
    out output (format interfaces.B)
  }}
  component Sink{number} extends Filter{number} {{
    in other
  }}
  instance first : Source{number}
  instance second : p{before}.Filter{before}
  instance third : p{earlier}.Sink{earlier}
  connect first.output to second.input
  connect second.output to third.input
}}
"""
        )
        size += len(parts[-1])
    return "".join(parts)
