"""Full masks and going back, at every token of a language's examples, beside llguidance's.

``LANGWRIGHT_LANGUAGES`` names the languages, by comma. The vocabulary is the embedded model's.
llguidance gets a grammar of its own for each language, written by hand below; it knows no
constraints, so that only the rows of the grammar are like for like.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from time import process_time

from benchmarks.report import Table, Value
from benchmarks.timing import quantile
from language_server.decoding import LayoutPolicy, Session, Vocabulary
from language_server.decoding.embedded import converted_folder
from language_server.decoding.vocabulary import vocabulary_from_tokenizer_file
from language_server.languages import Language, load_language
from language_server.projection import Prefix

LANGUAGES = os.environ.get("LANGWRIGHT_LANGUAGES", "clevr,statechart,taxonomy,textx").split(",")
TEXTS = 3
BACK = 5
LARK = {
    "clevr": r"""
start: HEAD (LINE)* "\n"*
HEAD: "graph LR\n"
LINE: /[ ]*\d+(\["[A-Za-z_]+"\])? --> \d+(\["[A-Za-z_]+"\])?\n/
""",
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
    masks: list[tuple[Value, ...]] = []
    backs: list[tuple[Value, ...]] = []
    for name in LANGUAGES:
        language = load_language(name)
        starts: tuple[tuple[str, Callable[[Language], Prefix]], ...] = (
            ("grammar", Prefix.of_grammar),
            ("grammar and constraints", Prefix.start),
        )
        for guide, start in starts:
            masks.append((name, guide, *_masks(language, start(language), vocabulary)))
        theirs = _llguidance(language, file.read_text(encoding="utf-8"), vocabulary)
        if theirs is not None:
            masks.append((name, "llguidance", *theirs))
        backs.append((name, *_backs(language, vocabulary)))
    yield Table(
        title="A full mask, ms of the processor",
        columns=("language", "guide", "positions", "p50", "p95", "most", "first time, p50"),
        rows=tuple(masks),
        note=f"Free layout policy. Positions: every token of {TEXTS} examples; as many others "
        "have been read before. First time: with nothing remembered at all.",
    )
    yield Table(
        title=f"Taking back {BACK} tokens, µs of the processor",
        columns=("language", "times", "p50", "p95"),
        rows=tuple(backs),
    )


def _masks(language: Language, start: Prefix, vocabulary: Vocabulary) -> tuple[Value, ...]:
    texts = [example.text for example in language.examples]
    measured, others = texts[:TEXTS], texts[TEXTS : 2 * TEXTS]
    first = [spent for text in others for spent in _spent(start, vocabulary, text)]
    # The texts to be measured are read by another session: no prefix of them is known.
    again = [spent for text in measured for spent in _spent(start, vocabulary, text)]
    warm = [spent for text in measured for spent in _spent(start, vocabulary, text)]
    cold = first or again
    return len(warm), quantile(warm, 0.5), quantile(warm, 0.95), max(warm), quantile(cold, 0.5)


def _spent(start: Prefix, vocabulary: Vocabulary, text: str) -> list[float]:
    session = Session(start, vocabulary, LayoutPolicy.free())
    spent = []
    for token in vocabulary.encode(text):
        began = process_time()
        allowed = session.allowed()
        spent.append((process_time() - began) * 1e3)
        if not allowed[token]:
            raise AssertionError(f"refused behind {session.text[-40:]!r}")
        session.commit(token)
    return spent


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
) -> tuple[Value, ...] | None:
    """The same of llguidance; None where it is not installed or has no grammar."""
    if language.name not in LARK:
        return None
    try:
        import llguidance
    except ImportError:
        return None
    table = llguidance.LLTokenizer(tokenizer)
    grammar = llguidance.LLMatcher.grammar_from_lark(LARK[language.name])
    spent = []
    for example in language.examples[:TEXTS]:
        matcher = llguidance.LLMatcher(table, grammar)
        for token in vocabulary.encode(example.text):
            began = process_time()
            matcher.compute_bitmask()
            spent.append((process_time() - began) * 1e3)
            if not matcher.consume_token(token):
                break  # it reads the text otherwise
    return len(spent), quantile(spent, 0.5), quantile(spent, 0.95), max(spent), None
