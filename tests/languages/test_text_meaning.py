"""What the problem language can say of texts, and that the rest is refused at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from language_server.languages import Language, LanguageError, load_language
from language_server.languages.language import build
from language_server.languages.manifest import definition_of_grammar
from language_server.projection import Prefix

GRAMMAR = """
Model: nodes*=Node;
Node: 'node' name=ID ('to' next*=[Node][','])? ('by' friend*=[Node][','])? ('kind' kind=Kind)?;
Kind: 'a' | 'b';
"""
CLASSES = """class Model { contains Node[] nodes }
class Node { string[1] name Node[] next Node[] friend Kind kind }
class Kind { int weight }
atom a, b. Kind(a). Kind(b). weight(a): 1. !exists(Kind::new).
pred near(Node x, Node y) <-> next(x, y).
pred good(Kind k).
"""
LINES = CLASSES.count("\n")


def language(folder: Path, further: str) -> Language:
    (folder / "graph.tx").write_text(GRAMMAR)
    (folder / "graph.problem").write_text(CLASSES + further)
    return build(definition_of_grammar(folder / "graph.tx"))


# What is refused of a metamodel, with its column and the message.
REFUSED = {
    "!next(x, y).": (1, "an assertion that is false has no meaning for texts"),
    "?good(a).": (1, "an assertion that is unknown has no meaning for texts"),
    "good(a): error.": (1, "an assertion that is error has no meaning for texts"),
    "!exists(a).": (1, "an assertion that is false has no meaning for texts"),
    "!exists(*).": (1, "'*' excludes no class"),
    "default good(*).": (1, "a default that is true has no meaning for texts"),
    "default ?good(*).": (1, "a default that is unknown has no meaning for texts"),
    "good(*).": (1, "an assertion about texts names single objects"),
    "near(a, b).": (1, "'near' is defined, so it cannot be asserted"),
    "equals(a, b).": (1, "'equals' cannot be asserted"),
    "multi m. good(m).": (10, "'m' stands for many objects, which no text can state"),
    "weight(b): 1..2.": (12, "intervals are not supported as values"),
    "class X { near y }": (11, "'near' is no type: it takes 2 arguments"),
    "class X { good y }": (11, "'good' is a predicate; a feature holds objects of a class"),
    "scope Node += 1.": (7, "'+=' is not supported in a scope"),
    "pred p(Node x) <-> candidate near(x, x).": (20, "the modality 'candidate' is not supported"),
    "pred p(Node x) <-> near*(x, x).": (20, "the reflexive closure is not supported"),
    "pred p(Node x) <-> p(x).": (1, "predicate 'p' is defined by itself"),
    "decision rule r(Node x) ==> Node(x).": (1, "only propagation rules are supported"),
    "concretization rule r(Node x) ==> Node(x).": (1, "only propagation rules are supported"),
    "propagation rule r(Node x) ==> near(x, x): error.": (32, "a rule cannot conclude 'error'"),
    "@severity(warning) propagation rule r(Node x) ==> Node(x).": (
        1,
        "@severity belongs to an error predicate",
    ),
}


@pytest.mark.parametrize("further", REFUSED)
def test_what_has_no_meaning_is_refused_at_its_place(tmp_path: Path, further: str) -> None:
    column, message = REFUSED[further]
    with pytest.raises(LanguageError) as caught:
        language(tmp_path, further)
    assert caught.value.message.startswith(message)
    assert caught.value.path == tmp_path / "graph.problem"
    assert (caught.value.line, caught.value.column) == (LINES + 1, column)


def test_what_an_import_says_is_refused_in_the_import(tmp_path: Path) -> None:
    (tmp_path / "more.problem").write_text("% What is given.\natom c.\n  !next(c, c).\n")
    with pytest.raises(LanguageError) as caught:
        language(tmp_path, "import more.\n")
    assert caught.value.message == REFUSED["!next(x, y)."][1]
    assert caught.value.path == tmp_path / "more.problem"
    assert (caught.value.line, caught.value.column) == (3, 3)


def test_a_class_of_an_import_that_the_grammar_lacks(tmp_path: Path) -> None:
    (tmp_path / "more.problem").write_text("\n\nclass Model { Edge[] edges }\nclass Edge.\n")
    (tmp_path / "graph.tx").write_text("Model: 'model' names*=ID;")
    (tmp_path / "graph.problem").write_text("import more.\n")
    with pytest.raises(LanguageError) as caught:
        build(definition_of_grammar(tmp_path / "graph.tx"))
    assert caught.value.path == tmp_path / "more.problem"
    assert caught.value.line in (3, 4)


def test_what_has_no_meaning_is_marked_in_the_problem_file(tmp_path: Path) -> None:
    """As the editor has it: at its place in the file, or above all where an import says it."""
    (tmp_path / "graph.tx").write_text(GRAMMAR)
    problem = load_language("problem")
    text = CLASSES + "!next(a, b)."
    (found,) = problem.analyse(text, tmp_path / "graph.problem").diagnostics
    assert text[found.start : found.end] == "!next(a, b)."
    (tmp_path / "more.problem").write_text("atom c. !exists(c).\n")
    imported = "import more.\n" + CLASSES
    (found,) = problem.analyse(imported, tmp_path / "graph.problem").diagnostics
    assert (found.start, found.end) == (0, 0)
    assert str(tmp_path / "more.problem") in found.message


# What has a meaning: what is declared, a text that violates it, and one that does not.
SUPPORTED = {
    "a rule that excludes": (
        "propagation rule r(Node x) <-> kind(x, a) ==> !next(x, x).",
        "node x to x kind a",
        "node x to x kind b",
    ),
    "a predicate as a part of a reference": (
        "pred close(Node x, Node y) subsets friend <-> next(x, y).",
        "node x to x",
        "node x to x by x",
    ),
    "a predicate as a type": (
        "pred loop(Node x) <-> next(x, x). error pred e(loop x) <-> kind(x, b).",
        "node x to x kind b",
        "node x kind b",
    ),
    "a shadow predicate": (
        "shadow pred loop(Node x) <-> next(x, x). error pred e(Node x) <-> loop(x).",
        "node x to x",
        "node x node y to x",
    ),
    "must and may": (
        "error pred e(Node x) <-> must next(x, y), !may friend(x, y).",
        "node x to x",
        "node x to x by x",
    ),
    "a base predicate": (
        "good(a). error pred e(Node x) <-> kind(x, k), !good(k).",
        "node x kind b",
        "node x kind a",
    ),
    "an attribute of an individual": (
        "error pred e(Node x) <-> kind(x, k), weight(k) > 0.",
        "node x kind a",
        "node x kind b",
    ),
    "a scope": ("scope Node = 1..2.", "node x node y node z", "node x node y"),
    "a scope from below": ("scope Node = 2..*.", "node x", "node x node y"),
    "equals": (
        "error pred e(Node x) <-> next(x, y), !equals(x, y).",
        "node x to y node y",
        "node x to x",
    ),
    "contains": ("error pred e(Node x) <-> contains(m, x), next(x, x).", "node x to x", "node x"),
    "container": ("error pred e(Node x) <-> container(x, m), next(x, x).", "node x to x", "node x"),
    "exists": (
        "error pred e(Node x) <-> exists(y), next(x, y), kind(y, a).",
        "node x to x kind a",
        "node x to x kind b",
    ),
    "a new object": (
        "error pred e(Node x) <-> next(x, y), !may friend(y, Node::new), !friend(y, y).",
        "node x to x",
        "node x to x by x",
    ),
    "a count over a condition": (
        "error pred e(Node x) <-> count { next(x, y), kind(y, a) } > 1.",
        "node x to x, y kind a node y kind a",
        "node x to x, y kind a node y kind b",
    ),
}


@pytest.mark.parametrize("name", SUPPORTED)
def test_what_has_a_meaning_is_checked(tmp_path: Path, name: str) -> None:
    further, wrong, right = SUPPORTED[name]
    loaded = language(tmp_path, further)
    assert [each.severity for each in loaded.analyse(wrong).diagnostics][:1] == ["error"]
    assert loaded.judge(wrong)
    assert loaded.judge(right) == ()
    verdict = Prefix.start(loaded).advance(right).completable()
    assert verdict.answer == "yes"


def test_a_part_of_a_reference_can_still_be_stated(tmp_path: Path) -> None:
    loaded = language(tmp_path, SUPPORTED["a predicate as a part of a reference"][0])
    (told,) = loaded.analyse("node x to x").diagnostics
    assert told.message == "close(x, x) holds, so friend(x, x) has to"
    prefix = Prefix.start(loaded).advance("node x to x")
    assert prefix.alive
    verdict = prefix.completable()
    assert verdict.answer == "yes"
    assert loaded.judge(prefix.text + (verdict.witness or "")) == ()


@pytest.mark.parametrize(
    "rule",
    [
        "propagation rule r(Node x, Node y) <-> !friend(_, _) ==> !next(x, y).",
        "propagation rule r(Node x) <-> !kind(x, a) ==> !next(x, x).",
        "propagation rule r(Node x) <-> Node(x), !other(x) ==> !next(x, x). "
        "pred other(Node x) <-> Node(y), x != y.",
    ],
)
def test_a_rule_about_what_there_is_not_is_decided_when_the_text_ends(
    tmp_path: Path, rule: str
) -> None:
    """While text may still state it nothing follows; a text that could end is judged as one."""
    loaded = language(tmp_path, rule)
    text = "node x to x"
    assert [each.constraint for each in loaded.judge(text)] == ["r"]
    prefix = Prefix.start(loaded).advance(text)
    assert prefix.alive
    assert not prefix.complete
    verdict = prefix.completable()
    assert verdict.answer == "yes"
    assert loaded.judge(text + (verdict.witness or "")) == ()
