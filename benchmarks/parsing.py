"""How long reading a text takes, at once and after an edit, against textX in the same run."""

from __future__ import annotations

import math
import random
import re
import tracemalloc
from collections.abc import Callable, Iterator
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
#: Edits in the middle; each is taken back, which is an edit too.
EDITS = 200
#: textX resolves a reference by walking through the model: longer texts would take it for ever.
LONGEST_LOAD = {"JSON": 200_000, "components": 20_000}


def run() -> Iterator[Table]:
    """The shipped languages on their examples, then documents of all lengths, then hard shapes."""
    yield on_examples()
    yield opening()
    yield after_an_edit()
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
    """Reading and analysing a document again after small edits in the middle."""
    rows: list[tuple[Value, ...]] = []
    for kind in kinds():
        language = build(Definition(kind.name, kind.grammar))
        for size in SIZES:
            text = kind.write(size)
            parses = edited_parses(language.grammar, kind, text, random.Random(size))
            analyses = edited_analyses(language, kind, text, random.Random(size))
            for what, edits in (("parse", list(parses)), ("whole analysis", list(analyses))):
                times = [1000 * seconds for seconds, _ in edits]
                broken = sum(not complete for _, complete in edits)
                measures = (
                    quantile(times, 0.5),
                    quantile(times, 0.95),
                    *of_each_kind(times),
                    max(times),
                )
                rows.append((kind.name, len(text), what, len(edits), broken, *measures))
    columns = ("document", "characters", "what", "edits", "of them faulty")
    return Table(
        title="After an edit in the middle",
        columns=(*columns, "median, ms", "p95, ms", *CHANGES, "longest, ms"),
        rows=tuple(rows),
        note="Time of the processor. A letter is put into a name (that others refer to, in the "
        "components), a digit changed, a bracket taken out, any character put in, taken out or "
        "replaced, an element added; then the edit is taken back. The p95 of each kind of edit "
        "stands beside that of all. The whole analysis parses, changes the model, links, checks "
        "all constraints and makes the diagnostics; each starts from the analysis before. Some "
        "brackets change all that follows: without the one that ends a package all packages behind "
        "are within it, and without the one that begins an object of the JSON list a later one "
        "ends the list.",
    )


def of_each_kind(times: list[float]) -> Iterator[float]:
    """The p95 of the edits of each kind."""
    pairs = list(zip(times[::2], times[1::2], strict=True))
    for number in range(len(CHANGES)):
        of_kind = pairs[number :: len(CHANGES)]
        yield quantile([one for pair in of_kind for one in pair], 0.95)


def edited_parses(
    grammar: Grammar, kind: Kind, text: str, source: random.Random
) -> Iterator[tuple[float, bool]]:
    """Seconds for each of a chain of edits, and whether the text is in order after it."""
    known = grammar.parse(text)
    with undisturbed():
        for after in edits_of(kind, text, source):
            began = thread_time()
            known = grammar.parse(after, known)
            yield thread_time() - began, known.complete


def edited_analyses(
    language: Language, kind: Kind, text: str, source: random.Random
) -> Iterator[tuple[float, bool]]:
    """The same of the whole analysis."""
    known = language.analyse(text)
    with undisturbed():
        for after in edits_of(kind, text, source):
            began = thread_time()
            known = language.analyse(after, known=known)
            yield thread_time() - began, known.parse.complete


def edits_of(kind: Kind, text: str, source: random.Random) -> Iterator[str]:
    """The text after each of a chain of edits, every other of which takes one back."""
    changes = tuple(CHANGES.values())
    for number in range(EDITS // 2):
        yield changes[number % len(changes)](kind, text, source)
        yield text


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


def of_any_character(kind: Kind, text: str, source: random.Random) -> str:
    """Any character put in, taken out or replaced by another one of the text."""
    at, char = middle(text, source), source.choice(text)
    behind = source.choice((text[at:], text[at + 1 :]))
    return text[:at] + source.choice((char, "")) + behind


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
    "a bracket": of_a_bracket,
    "a character": of_any_character,
    "an element": with_an_element,
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
