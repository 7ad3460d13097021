"""How long reading a text takes, at once and after an edit, against textX in the same run."""

from __future__ import annotations

import math
import random
import re
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from gc import collect
from time import perf_counter, thread_time

from textx import metamodel_from_file, metamodel_from_str

from benchmarks.report import Table, Value
from benchmarks.texts import Kind, kinds, shipped
from benchmarks.timing import best_of, quantile, undisturbed
from language_server.languages import Language
from language_server.languages.language import Definition, build
from language_server.syntax import Grammar

ROUNDS = 5
SIZES = (20_000, 200_000, 1_000_000)
#: Edits of one character in the middle; half of them take the other half back.
EDITS = 400
#: Edits of each kind that are taken back again.
EDITS_OF_A_KIND = 8
#: textX resolves a reference by walking through the model: longer texts would take it for ever.
LONGEST_LOAD = {"JSON": 200_000, "components": 20_000}


def run() -> Iterator[Table]:
    """The shipped languages on their examples, then documents of all lengths, then hard shapes."""
    yield on_examples()
    yield opening()
    yield after_an_edit()
    yield after_each_kind_of_edit()
    yield hard_shapes()


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


def opening() -> Table:
    """Reading documents of all lengths at once, against Arpeggio's bare parse."""
    rows: list[tuple[Value, ...]] = []
    for kind in kinds():
        metamodel = metamodel_from_file(str(kind.grammar))
        grammar = Grammar.of(metamodel)
        blueprint = metamodel._parser_blueprint
        shortest: tuple[int, float] | None = None
        for size in SIZES:
            text = kind.write(size)
            assert grammar.parse(text).complete
            ours, arpeggio = best_of(
                2 if size > 500_000 else ROUNDS,
                lambda text=text, grammar=grammar: grammar.parse(text),
                lambda text=text, blueprint=blueprint: blueprint.clone().parse(text),
            )
            load: Value = None
            if size <= LONGEST_LOAD[kind.name]:
                (load,) = best_of(
                    1, lambda text=text, metamodel=metamodel: metamodel.model_from_str(text)
                )
            exponent: Value = None
            if shortest is not None:
                exponent = math.log(ours / shortest[1]) / math.log(len(text) / shortest[0])
            shortest = shortest or (len(text), ours)
            bytes_kept = kept(lambda text=text, grammar=grammar: grammar.parse(text)) / len(text)
            rows.append(
                (kind.name, len(text), ours, arpeggio, ours / arpeggio, exponent, load, bytes_kept)
            )
    columns = ("document", "characters", "our parse, s", "Arpeggio parse, s", "ratio")
    return Table(
        title="Opening a document",
        columns=(*columns, "growth exponent", "textX load, s", "kept, bytes/character"),
        rows=tuple(rows),
        note="Best of interleaved rounds, time of the processor. Arpeggio only builds its parse "
        "tree; textX's load resolves references too, and is left out where it takes too long. The "
        "exponent is that of the growth since the shortest one. Kept is what a parse holds on to "
        "for the next edit.",
    )


def after_an_edit() -> Table:
    """Reading and analysing a document again after one character has changed in the middle."""
    rows: list[tuple[Value, ...]] = []
    for kind, language, text in documents():
        texts = list(edits_of(text, of_a_character, kind, EDITS // 2))
        for what, edits in (
            ("parse", edited_parses(language.grammar, texts)),
            ("whole analysis", edited_analyses(language, texts)),
        ):
            times = [1000 * seconds for seconds, _ in edits]
            broken = sum(not complete for _, complete in edits)
            measures = (quantile(times, 0.5), quantile(times, 0.95), max(times))
            rows.append((kind.name, len(text), what, len(edits), broken, *measures))
    columns = ("document", "characters", "what", "edits", "of them faulty")
    return Table(
        title="After an edit of one character in the middle",
        columns=(*columns, "median, ms", "p95, ms", "longest, ms"),
        rows=tuple(rows),
        note="Time of the processor. At a place like any other a character of the text is put in, "
        "taken out or replaced; then the edit is taken back, which is an edit too. The whole "
        "analysis parses, changes the model, links, checks all constraints and makes the "
        "diagnostics; each starts from the analysis before.",
    )


def after_each_kind_of_edit() -> Table:
    """How long the whole analysis takes after edits that people make."""
    rows: list[tuple[Value, ...]] = []
    for kind, language, text in documents():
        longest = []
        for change in CHANGES.values():
            edits = edited_analyses(language, list(edits_of(text, change, kind, EDITS_OF_A_KIND)))
            longest.append(max(1000 * seconds for seconds, _ in edits))
        rows.append((kind.name, len(text), 2 * EDITS_OF_A_KIND, *longest))
    return Table(
        title="After edits of each kind in the middle: the longest analysis, ms",
        columns=("document", "characters", "edits of each", *CHANGES),
        rows=tuple(rows),
        note="Time of the processor. A letter is put into a name (that others refer to, in the "
        "components), a digit changed, an element added, a bracket taken out; then the edit is "
        "taken back. Some brackets change all that follows: without the one that ends a package "
        "all packages behind are within it, and without the one that begins an object of the JSON "
        "list a later one ends the list.",
    )


def documents() -> Iterator[tuple[Kind, Language, str]]:
    """The documents of each kind and size."""
    for kind in kinds():
        language = build(Definition(kind.name, kind.grammar))
        for size in SIZES:
            yield kind, language, kind.write(size)


def edited_parses(grammar: Grammar, texts: Sequence[str]) -> list[tuple[float, bool]]:
    """Seconds for each of a chain of edits, and whether the text is in order after it.

    Args:
        texts: the text before the first edit, and after each.
    """
    known, edits = grammar.parse(texts[0]), []
    with undisturbed():
        for after in texts[1:]:
            began = thread_time()
            known = grammar.parse(after, known)
            edits.append((thread_time() - began, known.complete))
    return edits


def edited_analyses(language: Language, texts: Sequence[str]) -> list[tuple[float, bool]]:
    """The same of the whole analysis."""
    known, edits = language.analyse(texts[0]), []
    with undisturbed():
        for after in texts[1:]:
            began = thread_time()
            known = language.analyse(after, known=known)
            edits.append((thread_time() - began, known.parse.complete))
    return edits


Change = Callable[[Kind, str, random.Random], str]


def edits_of(text: str, change: Change, kind: Kind, number: int) -> Iterator[str]:
    """The text, and the one after each of a chain of edits, each of which is taken back."""
    source = random.Random(len(text))
    yield text
    for _ in range(number):
        yield change(kind, text, source)
        yield text


def of_a_character(kind: Kind, text: str, source: random.Random) -> str:
    """A character put in, taken out or replaced by another one of the text."""
    at, char = middle(text, source), source.choice(text)
    return source.choice(
        (
            text[:at] + char + text[at:],
            text[:at] + text[at + 1 :],
            text[:at] + char + text[at + 1 :],
        )
    )


def in_a_name(kind: Kind, text: str, source: random.Random) -> str:
    """One more letter in a name that is declared."""
    at = text.index(kind.declaration, middle(text, source)) + len(kind.declaration)
    return text[:at] + "x" + text[at:]


def in_a_number(kind: Kind, text: str, source: random.Random) -> str:
    """Another digit."""
    found = re.compile(r"\d").search(text, middle(text, source))
    assert found is not None
    digit = str((int(found.group()) + 1) % 10)
    return text[: found.start()] + digit + text[found.end() :]


def of_a_bracket(kind: Kind, text: str, source: random.Random) -> str:
    """One bracket less."""
    quarter = range(3 * len(text) // 8, 5 * len(text) // 8)
    at = source.choice([place for place in quarter if text[place] in "{}"])
    return text[:at] + text[at + 1 :]


def with_an_element(kind: Kind, text: str, source: random.Random) -> str:
    """One more element."""
    at = text.index(kind.place, middle(text, source))
    return text[:at] + kind.element + text[at:]


def middle(text: str, source: random.Random) -> int:
    """A place in the middle quarter of a text."""
    return len(text) // 2 + source.randrange(-len(text) // 8, len(text) // 8)


CHANGES = {
    "a name": in_a_name,
    "a number": in_a_number,
    "an element": with_an_element,
    "a bracket": of_a_bracket,
}


def kept(make: Callable[[], object]) -> int:
    """The bytes that what ``make`` returns holds on to."""
    collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        result = make()
        collect()
        after, _ = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return after - before


def hard_shapes() -> Table:
    """Texts that are deep, long, or can be read in very many ways."""
    rows: list[tuple[Value, ...]] = []
    for name, grammar, text in shapes():
        ours = Grammar.of(metamodel_from_str(grammar))
        began = perf_counter()
        complete = ours.parse(text).complete
        rows.append((name, len(text), perf_counter() - began, "yes" if complete else "no"))
    return Table(
        title="Hard shapes",
        columns=("text", "characters", "our parse, s", "read to its end"),
        rows=tuple(rows),
        note="Arpeggio ends with a RecursionError at a few hundred parentheses. Under the last "
        "grammar a text of depth n has 2ⁿ ways to be read until its end.",
    )


def shapes() -> Iterator[tuple[str, str, str]]:
    """Name, grammar and text of each."""
    depth, elements, ways = 5_000, 100_000, 200
    yield (
        f"{depth:,} nested parentheses",
        "M: e=E; E: '(' inner=E ')' | value=INT;",
        "(" * depth + "1" + ")" * depth,
    )
    yield (
        f"{elements:,} elements of one list",
        "M: '[' items*=INT[','] ']';",
        "[" + ", ".join(map(str, range(elements))) + "]",
    )
    yield (
        f"2ⁿ ways, depth {ways}",
        "M: x=X; X: P | Q; P: 'a' x=X? 'b'; Q: 'a' x=X? 'c';",
        "a" * ways + "c" * ways,
    )
