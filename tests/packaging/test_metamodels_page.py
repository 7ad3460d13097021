"""The examples of docs/metamodels.md work as the page says."""

from __future__ import annotations

import re
from pathlib import Path

from language_server.constraints.problem import load_given, load_problem
from language_server.languages import load_language
from language_server.languages.language import build
from language_server.languages.manifest import definition_of_grammar


def test_the_examples_work(root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "metamodels.md").read_text(encoding="utf-8")
    grammar, predicate, vocabulary = re.findall(r"```\n(.*?)```", page, re.DOTALL)
    model = "Model: (needs=Requirement | components=Component)*;\n"
    (tmp_path / "parts.tx").write_text(
        f"{model}{grammar}Requirement: 'requirement' name=ID;\n", encoding="utf-8"
    )
    (tmp_path / "parts.problem").write_text(
        "class Model { contains Requirement[] needs contains Component[] components }\n"
        "class Requirement { string[1] name }\n"
        "class Component { string[1] name contains Satisfaction[] satisfactions }\n"
        f"class Satisfaction {{ Requirement[1] requirement }}\n{predicate}",
        encoding="utf-8",
    )
    parts = build(definition_of_grammar(tmp_path / "parts.tx"))
    told = parts.analyse("requirement r component c satisfies r, r").diagnostics
    assert [each.constraint for each in told] == ["satisfied_twice"]
    assert parts.judge("requirement r component c satisfies r") == ()
    assert len(load_given(vocabulary, load_language("taxonomy").theory)) == 4


def test_every_annotation_is_described(root: Path) -> None:
    page = (root / "docs" / "metamodels.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\| `@([a-z]+)", page, re.MULTILINE))
    uses = {
        "key": "@key(x) class A { string x }",
        "ignorecase": "@ignorecase enum E { X }",
        "message": 'class A. @message("m") error pred p(A a) <-> A(a).',
        "severity": "class A. @severity(warning) error pred p(A a) <-> A(a).",
        "lookahead": "class A. @lookahead error pred p(A a) <-> A(a).",
    }
    assert described == set(uses)
    for text in uses.values():
        load_problem(text)
