"""How long reading a text takes, against textX, in one run on one machine."""

from __future__ import annotations

from collections.abc import Iterator

from textx import metamodel_from_str

from benchmarks.report import Table, Value
from benchmarks.texts import shipped
from benchmarks.timing import best_of
from language_server.syntax import Grammar

ROUNDS = 5

# Definitions that refer to each other, a language in which textX's linker is the larger cost.
WITH_REFERENCES = """
Model: items*=Item;
Item: 'def' name=ID ('uses' uses+=[Item|ID][','])? ';';
"""
# The same texts without the reference: what is left is the parsing.
WITHOUT_REFERENCES = WITH_REFERENCES.replace("[Item|ID]", "ID")


def run() -> Iterator[Table]:
    """The shipped languages on their examples, then one language on longer and longer texts."""
    yield on_examples()
    yield by_length("without references", WITHOUT_REFERENCES, (1_000, 4_000, 16_000))
    yield by_length("with references", WITH_REFERENCES, (250, 500, 1_000))


def on_examples() -> Table:
    """Reading the examples of the shipped languages: prefix parser, document analysis, textX."""
    rows: list[tuple[Value, ...]] = []
    for language, texts in shipped():
        parse, analyse, textx = best_of(
            ROUNDS,
            lambda texts=texts, language=language: [language.grammar.parse(text) for text in texts],
            lambda texts=texts, language=language: [language.analyse(text) for text in texts],
            lambda texts=texts, language=language: [
                language.metamodel.model_from_str(text) for text in texts
            ],
        )
        size = sum(map(len, texts))
        per_kilobyte = [1e6 * seconds / size for seconds in (parse, analyse, textx)]
        rows.append((language.name, len(texts), size, *per_kilobyte, parse / textx))
    columns = ("language", "texts", "characters", "our parse, ms/KB", "our analysis, ms/KB")
    return Table(
        title="Reading the shipped examples",
        columns=(*columns, "textX load, ms/KB", "our parse / textX load"),
        rows=tuple(rows),
        note=f"Best of {ROUNDS} interleaved rounds. The analysis parses, links, and checks the "
        "constraints; textX parses and links. A ratio below 1 means that we are faster.",
    )


def by_length(kind: str, grammar: str, sizes: tuple[int, ...]) -> Table:
    """Reading ever longer texts of one language."""
    metamodel = metamodel_from_str(grammar)
    ours = Grammar.of(metamodel)
    rows: list[tuple[Value, ...]] = []
    for items in sizes:
        text = definitions(items)
        assert ours.parse(text).complete
        parse, textx = best_of(
            2, lambda text=text: ours.parse(text), lambda text=text: metamodel.model_from_str(text)
        )
        rows.append((items, len(text), parse, textx, parse / textx))
    return Table(
        title=f"Longer texts, {kind}",
        columns=("definitions", "characters", "our parse, s", "textX load, s", "ratio"),
        rows=tuple(rows),
        note="textX resolves the references in this time too; our linker is not in this figure.",
    )


def definitions(items: int) -> str:
    """A text of so many definitions, each of which names two others."""
    return "\n".join(
        f"def item{n} uses item{n * 7 % items}, item{n * 13 % items};" for n in range(items)
    )
