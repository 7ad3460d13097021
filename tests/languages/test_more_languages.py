"""Further public languages, without a file of ours: problems are found iff textX finds one.

The languages are not part of the project. ``LANGWRIGHT_MORE_LANGUAGES`` names a folder with one
folder a language: its grammar (the first ``.tx`` that imports all others) and, beside it, models,
good ones and bad ones. Those it was made for: from textX's examples and tests Entity, Rhapsody,
CustomIDL, Components, Interface, task_specification, rrel, metamodel_provider3, import/multiple,
issue140, user_classes and (to fail: its ``reference`` needs a language that is not installed)
flow_dsl; from packages on PyPI coloring and direction (textx-gen-coloring), iri and uri
(textx-lang-irirefs), json (textx-lang-json), secrules (secrules-parsing) and textX's own grammar.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
import textx
from textx.exceptions import TextXError

from language_server.cli.check import problems_of
from language_server.languages import LanguageError, load_language

FOLDER = os.environ.get("LANGWRIGHT_MORE_LANGUAGES", "")
LANGUAGES = sorted(path for path in Path(FOLDER).iterdir() if path.is_dir()) if FOLDER else []

pytestmark = pytest.mark.skipif(
    not LANGUAGES, reason="LANGWRIGHT_MORE_LANGUAGES names no folder of languages"
)


def test_there_are_fifteen() -> None:
    """Those that textX builds."""
    assert sum(built(grammar_of(folder)) is not None for folder in LANGUAGES) >= 15


@pytest.mark.parametrize("folder", LANGUAGES, ids=lambda folder: folder.name)
def test_the_verdicts_are_those_of_textx(folder: Path) -> None:
    """A language is refused iff textX refuses it, and then its models iff textX does."""
    grammar = grammar_of(folder)
    metamodel = built(grammar)
    if metamodel is None:
        with pytest.raises(LanguageError) as refused:
            load_language(str(grammar))
        assert grammar.name in str(refused.value)
        return
    language = load_language(str(grammar))
    models = [path for path in folder.iterdir() if path.is_file() and path.suffix != ".tx"]
    assert models
    for path in models:
        text = path.read_text(encoding="utf-8")
        found = [each for each in problems_of(language, text, path) if each.severity == "error"]
        assert bool(found) == (not loads(metamodel, path)), (path.name, found)


def grammar_of(folder: Path) -> Path:
    """The grammar that no other one imports."""
    grammars = sorted(folder.glob("*.tx"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in grammars)
    imported = set(re.findall(r"^import\s+(\S+)", text, re.MULTILINE))
    return next(path for path in grammars if path.stem not in imported)


def built(grammar: Path) -> Any:
    """The metamodel; None if textX refuses the grammar."""
    try:
        return textx.metamodel_from_file(str(grammar))
    except TextXError:
        return None


def loads(metamodel: Any, path: Path) -> bool:
    """Whether textX loads a model."""
    try:
        metamodel.model_from_file(str(path))
    except TextXError:
        return False
    return True
