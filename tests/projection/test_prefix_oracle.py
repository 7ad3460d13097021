"""Texts that others wrote and found consistent: no beginning of them is rejected.

Each is cut behind every line, that is behind every edge. What is left must be completable, asked
without any memory of a shorter prefix, and with the witness textX loads it and no constraint is
violated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from language_server.languages import Language, load_language
from language_server.projection import Prefix
from tests.languages.corpus import clevr_text, rows

ORACLES = {
    "clevr": "clevr.jsonl",
    "flowchart": "flowchart.jsonl",
    "taxonomy": "taxonomy_wordnet.jsonl",
    "taxonomy_ccs": "taxonomy_ccs.jsonl",
}
PHRASES = {"taxonomy": "is the child of", "taxonomy_ccs": "is a subtopic of"}


def texts(name: str, shared: Path) -> Iterator[str]:
    """The consistent rows in the language, then the golds of the benchmark."""
    for row in rows(shared / "oracles" / ORACLES[name]):
        if row["consistent"] and row.get("in_language", True):
            yield row["text"]
    yield from golds(name, shared / "benchmarks")


def golds(name: str, benchmarks: Path) -> Iterator[str]:
    """The golds of the benchmark as texts."""
    if name == "clevr":
        yield from map(clevr_text, rows(benchmarks / "clevr" / "questions.jsonl"))
    elif name == "flowchart":
        yield from (gold["mermaid"] for gold in rows(benchmarks / "flowchart" / "paged.jsonl"))
    else:
        file = "wordnet.jsonl" if name == "taxonomy" else "ccs.jsonl"
        for gold in rows(benchmarks / "taxonomy" / file):
            yield "".join(f"{child} {PHRASES[name]} {parent}\n" for child, parent in gold["edges"])


def beginnings(whole: Iterable[str]) -> Iterator[str]:
    """All cuts behind lines, each once."""
    seen: set[str] = set()
    for text in whole:
        lines = text.rstrip("\n").split("\n")
        for count in range(1, len(lines) + 1):
            cut = "\n".join(lines[:count])
            if cut not in seen:
                seen.add(cut)
                yield cut


def check(language: Language, cuts: Iterable[str]) -> None:
    """Every cut has a witness that holds; all that fail are named."""
    asked, failed = 0, []
    for cut in cuts:
        asked += 1
        verdict = Prefix.start(language).advance(cut).completable()
        if verdict.answer != "yes":
            failed.append((verdict.answer, cut, verdict.reasons))
        elif language.judge(cut + (verdict.witness or "")):
            failed.append(("not valid", cut, verdict.witness))
    print(f"{language.name}: {asked} beginnings, {len(failed)} failures")
    assert not failed


@pytest.mark.parametrize("name", ORACLES)
def test_sample_of_beginnings(name: str, shared: Path) -> None:
    check(load_language(name), list(beginnings(list(texts(name, shared))[::100]))[::7])


@pytest.mark.long
@pytest.mark.parametrize("name", ORACLES)
def test_all_beginnings(name: str, shared: Path) -> None:
    check(load_language(name), beginnings(texts(name, shared)))
