"""Full masks and going back, at every token of a language's examples, beside llguidance's.

``LANGWRIGHT_LANGUAGES`` names the languages, by comma. The vocabulary is the embedded model's.
llguidance gets the context-free grammar that servers get, or one written by hand below; it knows no
constraints, so that only the rows of the grammar are like for like.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from time import process_time

from benchmarks.report import Table, Value
from benchmarks.timing import quantile
from language_server.decoding import LayoutPolicy, Session, Vocabulary
from language_server.decoding.embedded import converted_folder
from language_server.decoding.memory import memory_of
from language_server.decoding.vocabulary import vocabulary_from_tokenizer_file
from language_server.languages import Language, load_language
from language_server.projection import Prefix
from language_server.syntax.context_free import gbnf

LANGUAGES = os.environ.get(
    "LANGWRIGHT_LANGUAGES",
    "clevr,statechart,flowchart,taxonomy,taxonomy_ccs,blocks,requirements,minizinc",
).split(",")
_Row = tuple[Value, ...]
TEXTS = 3
BACK = 5
#: Grammars that llguidance cannot make of the general one: it counts too many items.
LARK = {
    "statechart": r"""
start: "statechart" NAME (variable | event | state)*
variable: "var" NAME ":" ("int" | "real" | "bool") ("=" (NUMBER | "true" | "false"))?
event: "event" NAME
state: ("initial" | "final")? "state" NAME ("refines" NAME)? ("{" (move | state | region)* "}")?
region: "region" NAME "{" state* "}"
move: "on" NAME ("[" disjunction "]")? "->" NAME
disjunction: conjunction ("or" conjunction)*
conjunction: test ("and" test)*
test: sum ORDER sum | NAME (("==" | "!=") ("true" | "false"))? | "not" test | "(" disjunction ")"
sum: product (("+" | "-") product)*
product: operand (("*" | "/") operand)*
operand: NUMBER | NAME
ORDER: /==|!=|<=|>=|<|>/
NUMBER: /-?\d+(\.\d+)?/
NAME: /[a-zA-Z_]\w*/
%ignore /\s+|\/\/[^\n]*/
""",
}


def run() -> Iterator[Table]:
    """Masks, then rolling back."""
    file = converted_folder() / "tokenizer.json"
    vocabulary = vocabulary_from_tokenizer_file(str(file))
    memory_of(vocabulary).is_ready(lambda: False)
    warm: list[tuple[Value, ...]] = []
    cold: list[tuple[Value, ...]] = []
    backs: list[tuple[Value, ...]] = []
    for name in LANGUAGES:
        language = load_language(name)
        starts: tuple[tuple[str, Callable[[Language], Prefix]], ...] = (
            ("grammar", Prefix.of_grammar),
            ("and constraints", Prefix.start),
        )
        for guide, start in starts:
            again, new = _masks(language, start(language), vocabulary)
            warm.append((name, guide, *again))
            cold.append((name, guide, *new))
        theirs = _llguidance(language, file.read_text(encoding="utf-8"), vocabulary)
        if theirs is not None:
            warm.append((name, "llguidance", *theirs[0]))
            cold.append((name, "llguidance", *theirs[1]))
        backs.append((name, *_backs(language, vocabulary)))
    yield Table(
        title="A full mask where the like was met before, ms of the processor",
        columns=("language", "guide", "positions", "p50", "p95", "most", "token kept"),
        rows=tuple(warm),
        note=f"Free layout policy. Positions: every token of {TEXTS} examples that another session "
        "has read. Token kept: what reading on takes between two masks, p50.",
    )
    yield Table(
        title="A full mask in texts that nobody has read, ms of the processor",
        columns=("language", "guide", "p50", "p95", "first p50", "first p95"),
        rows=tuple(cold),
        note=f"The same positions before that, when only {TEXTS} other examples had been read. "
        "First: in those others, with nothing remembered.",
    )
    yield Table(
        title=f"Taking back {BACK} tokens, µs of the processor",
        columns=("language", "times", "p50", "p95"),
        rows=tuple(backs),
    )


def _masks(language: Language, start: Prefix, vocabulary: Vocabulary) -> tuple[_Row, _Row]:
    texts = [example.text for example in language.examples]
    measured, others = texts[:TEXTS], texts[TEXTS : 2 * TEXTS]
    first, _ = _spent(start, vocabulary, others)
    new, _ = _spent(start, vocabulary, measured)
    warm, kept = _spent(start, vocabulary, measured)
    return _rows(warm, kept, new, first)


def _rows(
    warm: list[float], kept: list[float], new: list[float], first: list[float]
) -> tuple[_Row, _Row]:
    """What the two tables say of these milliseconds."""
    again = (len(warm), quantile(warm, 0.5), quantile(warm, 0.95), max(warm), quantile(kept, 0.5))
    return again, tuple(quantile(each, share) for each in (new, first) for share in (0.5, 0.95))


def _spent(
    start: Prefix, vocabulary: Vocabulary, texts: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Milliseconds of each mask, and of each token that was kept."""
    masks, kept = [], []
    for text in texts:
        session = Session(start, vocabulary, LayoutPolicy.free())
        for token in vocabulary.encode(text):
            began = process_time()
            allowed = session.allowed()
            masks.append((process_time() - began) * 1e3)
            if not allowed[token]:
                raise AssertionError(f"refused behind {session.text[-40:]!r}")
            began = process_time()
            session.commit(token)
            kept.append((process_time() - began) * 1e3)
    return masks, kept


def _backs(language: Language, vocabulary: Vocabulary) -> tuple[Value, ...]:
    spent = []
    for example in language.examples[:TEXTS]:
        session = Session(Prefix.start(language), vocabulary, LayoutPolicy.free())
        for token in vocabulary.encode(example.text):
            session.commit(token)
            kept = list(session.tokens[-BACK:])
            if len(kept) == BACK:
                began = process_time()
                session.rollback(BACK)
                spent.append((process_time() - began) * 1e6)
                for token in kept:
                    session.commit(token)
    return len(spent), quantile(spent, 0.5), quantile(spent, 0.95)


def _llguidance(
    language: Language, tokenizer: str, vocabulary: Vocabulary
) -> tuple[_Row, _Row] | None:
    """The same of llguidance; None where it is not installed."""
    try:
        import llguidance
        from llguidance.gbnf_to_lark import gbnf_to_lark
    except ImportError:
        return None
    table = llguidance.LLTokenizer(tokenizer)
    lark = LARK.get(language.name) or gbnf_to_lark(gbnf(language.grammar.context_free))
    # What its converter writes and its reader does not take.
    lark = lark.replace("+?", "*").replace(r"\U10FFFF", r"\u{10FFFF}")
    grammar = llguidance.LLMatcher.grammar_from_lark(lark)
    texts = [example.text for example in language.examples]

    def spent(texts: Sequence[str]) -> tuple[list[float], list[float]]:
        masks, kept = [], []
        for text in texts:
            matcher = llguidance.LLMatcher(table, grammar)
            for token in vocabulary.encode(text):
                began = process_time()
                matcher.compute_bitmask()
                masks.append((process_time() - began) * 1e3)
                began = process_time()
                if not matcher.consume_token(token):
                    break  # it reads the text otherwise
                kept.append((process_time() - began) * 1e3)
        return masks, kept

    first, _ = spent(texts[TEXTS : 2 * TEXTS])
    new, _ = spent(texts[:TEXTS])
    warm, kept = spent(texts[:TEXTS])
    return _rows(warm, kept, new, first)
