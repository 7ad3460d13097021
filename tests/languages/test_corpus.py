"""Public languages without a file of ours: they load, and their models have no problems."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from textx import get_model

from language_server.languages import Language, load_language
from language_server.partial_model.schema import FeatureInfo
from tests.syntax.corpus import Case, cases

CASES = cases()
#: Span of an object, name of its feature, span of the object referred to.
Link = tuple[tuple[int, int], str, tuple[int, int]]

needs_corpus = pytest.mark.skipif(not CASES, reason="the corpus is not beside the project")


@needs_corpus
@pytest.mark.parametrize("case", CASES, ids=str)
def test_models_have_no_problems(case: Case) -> None:
    """Neither in the document view nor before the final judge, and textX agrees."""
    language = loaded(case.grammar)
    assert case.metamodel().model_from_file(str(case.model)) is not None
    assert language.analyse(case.text, case.model).diagnostics == ()
    assert language.judge(case.text, case.model) == ()


@needs_corpus
@pytest.mark.parametrize("case", CASES, ids=str)
def test_references_by_name_mean_what_textx_says(case: Case) -> None:
    """Each reference leads to the object textX finds, as far as that is in the same file."""
    language = loaded(case.grammar)
    model = language.analyse(case.text, case.model).evaluation.model
    by_us = {
        (model.span(source), name, model.span(target))
        for (cls, name), feature in model.schema.feature_map.items()
        if refers(feature)
        for source in model.objects(cls)
        for target in model.targets(source, feature.symbol)
        if model.nodes[target].role != "individual"  # the literal of an enum, a value for textX
        and model.nodes[target].start >= 0  # in this file
    }
    theirs = case.metamodel().model_from_file(str(case.model))
    assert by_us == links(theirs, set(model.schema.feature_map))


def refers(feature: FeatureInfo) -> bool:
    """Whether a feature is a reference that we resolve."""
    return not feature.attribute and not feature.containment


def links(model: Any, features: set[tuple[str, str]]) -> set[Link]:
    """Where the references of a model textX has loaded lead, for some features of some classes."""
    found: set[Link] = set()
    waiting = [model]
    while waiting:
        node = waiting.pop()
        for attribute in getattr(type(node), "_tx_attrs", {}).values():
            value = getattr(node, attribute.name)
            for target in value if isinstance(value, list) else [value]:
                if attribute.cont:
                    waiting.append(target)
                elif (type(node).__name__, attribute.name) in features and _is_of(target, model):
                    found.add((span(node), attribute.name, span(target)))
    return found


def _is_of(target: Any, model: Any) -> bool:
    return target is not None and get_model(target) is model


def span(node: Any) -> tuple[int, int]:
    """Where textX read an object."""
    return node._tx_position, node._tx_position_end


@cache
def loaded(grammar: Path) -> Language:
    """The language of a grammar."""
    return load_language(str(grammar))
