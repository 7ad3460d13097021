"""The front end of the problem language: what it reads, and what it refuses at which place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from language_server.constraints.problem import ProblemError, load_problem, problem_errors
from language_server.constraints.theory import (
    Arithmetic,
    Assertion,
    Atom,
    AttributeOf,
    Comparison,
    Constant,
    Count,
    Individual,
    Literal,
    Scope,
    Var,
)

GRAPH = """
class Node {
    Node[] next
    int weight
    string[1] name
    boolean marked
}
"""


def clause(condition: str, parameters: str = "Node x", declared: str = GRAPH):
    theory = load_problem(declared + f"pred p({parameters}) <-> {condition}.")
    (only,) = theory.predicates["p"].clauses or ()
    return tuple(_without_places(part) for part in only)


def _without_places(part):
    if isinstance(part, Comparison):
        return Comparison(part.op, _plain(part.left), _plain(part.right))
    return Literal(_plain(part.atom), part.negated, part.modality)


def _plain(value):
    if isinstance(value, Atom):
        return Atom(value.symbol, value.args, value.closure, value.modality)
    if isinstance(value, Count):
        return Count(_plain(value.atom))
    return value


def test_classes_and_features() -> None:
    theory = load_problem(
        """
        abstract class Element { string[1] name }
        class Folder extends Element { contains Element[0..9] content opposite folder }
        class File extends Element, Sized { Element[2..*] links subsets all  Element[] all }
        abstract class Sized { int size }
        class Element2 extends Element.
        class Root extends Folder { Folder x; Folder[3] y }
    """.replace("Element[0..9] content opposite folder", "Element[0..9] content")
    )
    assert theory.classes["Element"].abstract
    assert theory.classes["File"].supertypes == ("Element", "Sized")
    content = theory.features["Folder::content"]
    assert (content.lower, content.upper, content.containment) == (0, 9, True)
    assert theory.features["File::links"].subsets == ("File::all",)
    assert theory.features["File::links"].upper is None
    assert (theory.features["Root::x"].lower, theory.features["Root::x"].upper) == (0, 1)
    assert (theory.features["Root::y"].lower, theory.features["Root::y"].upper) == (3, 3)
    assert theory.features["Sized::size"].is_attribute


def test_opposites_are_resolved_along_supertypes() -> None:
    theory = load_problem("""
        abstract class Whole { contains Part[] parts opposite whole }
        class Car extends Whole.
        class Part { container Whole whole opposite parts }
    """)
    assert theory.features["Whole::parts"].opposite == "Part::whole"
    assert theory.features["Part::whole"].opposite == "Whole::parts"
    assert not theory.features["Part::whole"].containment


def test_enum_literals_and_individuals() -> None:
    theory = load_problem("enum Color { RED, 'dark blue' } atom a, b. multi m. declare n. node(k).")
    assert theory.classes["Color"].literals == ("RED", "dark blue")
    assert theory.individuals == {
        "RED": "literal",
        "dark blue": "literal",
        "a": "atom",
        "b": "atom",
        "m": "multi",
        "n": "node",
        "k": "node",
    }


def test_literals_of_a_clause() -> None:
    x, y = Var("x"), Var("y")
    next_xy = Atom("Node::next", (x, y))
    assert clause("next(x, y)") == (Literal(next_xy),)
    assert clause("!next(x, y)") == (Literal(next_xy, negated=True),)
    assert clause("must next(x, y)") == (Literal(next_xy, modality="must"),)
    assert clause("must !next(x, y)") == (Literal(next_xy, negated=True, modality="must"),)
    may = Atom("Node::next", (x, y), modality="may")
    assert clause("!may next(x, y)") == (Literal(may, negated=True),)
    assert clause("next+(x, y)") == (Literal(Atom("Node::next", (x, y), closure=True)),)


def test_wild_cards_are_renamed_apart() -> None:
    (literal,) = clause("next(_, _)")
    first, second = literal.atom.args
    assert first != second
    assert first.name.startswith("_") and second.name.startswith("_")


def test_comparisons_and_arithmetic() -> None:
    weight = AttributeOf("Node::weight", Var("x"))
    (found,) = clause("weight(x) + 2 * 3 >= -1.5")
    product = Arithmetic("*", Constant(2), Constant(3))
    assert found == Comparison(">=", Arithmetic("+", weight, product), Constant(-1.5))
    assert clause("name(x) == \"a 'b'\"") == (
        Comparison("==", AttributeOf("Node::name", Var("x")), Constant("a 'b'")),
    )
    assert clause("marked(x)")[0].right == Constant(True)


def test_subtraction_is_left_associative() -> None:
    (found,) = clause("weight(x) - 2 - 3 == 0")
    inner = Arithmetic("-", AttributeOf("Node::weight", Var("x")), Constant(2))
    assert found.left == Arithmetic("-", inner, Constant(3))


def test_count_over_one_atom() -> None:
    (found,) = clause("count { next(x, _) } > 1")
    assert isinstance(found.left, Count)
    assert found.left.atom.symbol == "Node::next"


def test_count_over_a_condition_becomes_a_predicate() -> None:
    theory = load_problem(GRAPH + "pred p(Node x) <-> count { next(x, y), weight(y) > 2 } > 1.")
    ((comparison,),) = theory.predicates["p"].clauses or ()
    helper = theory.predicates[comparison.left.atom.symbol]
    assert [parameter.var.name for parameter in helper.parameters] == ["x", "y"]
    assert len((helper.clauses or ())[0]) == 2


def test_names_of_individuals_are_no_variables() -> None:
    declared = GRAPH + "atom root. enum Kind { A } class Typed { Kind kind }"
    (literal,) = clause("next(root, x)", declared=declared)
    assert literal.atom.args == (Individual("root"), Var("x"))
    (literal,) = clause("kind(t, Kind::A)", "Typed t", declared)
    assert literal.atom.args[1] == Individual("A")
    (literal,) = clause("next(x, Node::new)", declared=declared)
    assert literal.atom.args[1] == Individual("Node::new")


def test_a_quoted_name_is_a_name_and_no_text() -> None:
    """As in Refinery: texts stand in double quotes alone."""
    declared = GRAPH + "enum Order { '<=', '>' } class Test { Order order }"
    (literal,) = clause("order(t, '<=')", "Test t", declared)
    assert literal.atom.args == (Var("t"), Individual("<="))
    (error,) = problem_errors(GRAPH + "name(a): 'x'.")
    assert (error.line, error.column) == (8, 10)


def test_nodes_of_assertions_are_variables_in_clauses() -> None:
    theory = load_problem(GRAPH + "next(a, b). pred p(Node x) <-> next(x, a).")
    ((literal,),) = theory.predicates["p"].clauses or ()
    assert literal.atom.args[1] == Var("a")


def test_assertions() -> None:
    theory = load_problem(
        GRAPH
        + """
        next(a, b). !next(a, *). ?Node(a). next(b, a): error. default !next(*, _).
        weight(a): 5. name(a): "x". marked(a). !marked(b). weight(b): unknown.
        !exists(Node::new). equals(a, a): unknown.
        """
    )
    told = [(x.symbol, x.args, x.value, x.default) for x in theory.assertions]
    a, b = Individual("a"), Individual("b")
    assert told == [
        ("Node::next", (a, b), "true", False),
        ("Node::next", (a, None), "false", False),
        ("Node", (a,), "unknown", False),
        ("Node::next", (b, a), "error", False),
        ("Node::next", (None, None), "false", True),
        ("Node::weight", (a, Constant(5)), "true", False),
        ("Node::name", (a, Constant("x")), "true", False),
        ("Node::marked", (a, Constant(True)), "true", False),
        ("Node::marked", (b, Constant(False)), "true", False),
        ("Node::weight", (b, None), "unknown", False),
        ("exists", (Individual("Node::new"),), "false", False),
        ("equals", (a, a), "unknown", False),
    ]
    assert isinstance(theory.assertions[0], Assertion)


def test_scopes() -> None:
    theory = load_problem(GRAPH + "scope Node = 2..5. scope node = 3, Node = 1..*.")
    assert [(s.cls, s.lower, s.upper) for s in theory.scopes] == [
        ("Node", 2, 5),
        ("node", 3, 3),
        ("Node", 1, None),
    ]
    assert isinstance(theory.scopes[0], Scope)


def test_annotations() -> None:
    theory = load_problem("""
        #pred icon(string name).
        @key(id, kind, last) @icon("box.svg") class A { int id int kind }
        @ignorecase enum E { X }
        @message("{a} is wrong") @severity(warning) error pred wrong(A a) <-> id(a) < 0.
        @lookahead error pred late(A a) <-> id(a) > 9.
    """)
    assert theory.classes["A"].key == ("id", "kind")
    assert theory.classes["A"].conflict == "last"
    assert theory.classes["E"].ignore_case
    wrong = theory.predicates["wrong"]
    assert (wrong.error, wrong.message, wrong.severity) == (True, "{a} is wrong", "warning")
    assert theory.predicates["late"].lookahead and not wrong.lookahead


def test_propagation_rules() -> None:
    theory = load_problem(
        GRAPH + "propagation rule r(Node x) <-> must next(x, _) ==> !marked2(x). "
        "pred marked2(Node x)."
    )
    (rule,) = theory.rules
    assert rule.conclusions[0].negated
    assert rule.conclusions[0].atom.symbol == "marked2"


def test_comments_of_all_three_kinds() -> None:
    theory = load_problem("% one\n// two\n/* three\n */ class A. % four")
    assert list(theory.classes) == ["A"]


def test_empty_problem() -> None:
    assert load_problem("") == load_problem("% nothing\n")


def test_imports(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "base.problem").write_text("class Base { int size }")
    main = tmp_path / "main.problem"
    main.write_text("import lib::base. class A extends Base. pred p(base::Base b) <-> size(b) > 1.")
    theory = load_problem(main)
    assert theory.supertypes("A") == {"A", "Base"}
    assert theory.predicates["p"].parameters[0].type == "Base"


def test_import_errors(tmp_path: Path) -> None:
    main = tmp_path / "main.problem"
    main.write_text("import nowhere.\nimport main.")
    messages = [error.message for error in problem_errors(main)]
    assert messages == ["module nowhere is not found", "module main imports itself"]


def test_a_mistake_in_an_imported_file_is_placed_there(tmp_path: Path) -> None:
    (tmp_path / "base.problem").write_text("\nclass Base { Nothing x }")
    main = tmp_path / "main.problem"
    main.write_text("import base.")
    (error,) = problem_errors(main)
    assert error.path == tmp_path / "base.problem"
    assert (error.line, error.column) == (2, 14)


MISTAKES = {
    "class A { B x }": (1, 11, "'B' is not declared"),
    "class A.\nclass A.": (2, 1, "'A' is declared twice"),
    "class A extends A.": (1, 1, "class 'A' extends itself"),
    "class A { int x int x }": (1, 17, "'A' already has a feature 'x'"),
    "class A { A[3..1] x }": (1, 12, "no number lies in 3..1"),
    "class A { contains int x }": (1, 11, "an attribute of type int cannot be contained"),
    "class A { container A x }": (1, 11, "a container reference needs its opposite"),
    "class A { A x opposite y }": (1, 11, "'A' has no reference 'y'"),
    "class A { B x opposite y } class B { A y }": (1, 11, "'B::y' has another opposite, ''"),
    "class A { B x opposite y } class C { B x opposite y } class B { A y opposite x }": (
        1,
        38,
        "'B::y' has another opposite, 'A::x'",
    ),
    "enum E { X } enum F { X }": (1, 23, "individual 'X' is declared twice"),
    "pred p(A a).": (1, 8, "'A' is not declared"),
    "class A. pred p(A a, A a).": (1, 22, "parameter 'a' stands twice"),
    "class A. pred p(A a) <-> q(a).": (1, 26, "'q' is not declared"),
    "class A. pred p(A a) <-> A(a, a).": (1, 26, "'A' takes 1 argument, not 2"),
    "class A { int x } class B { int x } pred p(A a) <-> x(a) > 1.": (1, 53, "'x' is ambiguous"),
    "class A { int x } pred p(A a) <-> x(b) > 1.": (1, 35, "variable 'b' is not bound"),
    'class A { int x } pred p(A a) <-> x(a) > "1".': (
        1,
        35,
        "an integer cannot be compared with a string",
    ),
    "class A. pred p(A a, A b) <-> a < b.": (1, 31, "'<' does not order objects"),
    "class A { int x } pred p(A a) <-> x(a).": (
        1,
        35,
        "'x' is of type int and says nothing alone",
    ),
    "class A. pred p(A a) <-> candidate A(a).": (
        1,
        26,
        "the modality 'candidate' is not supported",
    ),
    "class A. pred p(A a) <-> equals*(a, a).": (1, 26, "the reflexive closure is not supported"),
    "class A. pred p(A a) <-> A+(a).": (1, 26, "only a relation of two arguments has a closure"),
    "class A. decision rule r(A a) ==> A(a).": (1, 10, "only propagation rules are supported"),
    "class A. propagation rule r(A a) ==> A(b).": (1, 38, "'b' is no parameter of the rule"),
    "class A. scope A += 1.": (1, 16, "'+=' is not supported in a scope"),
    "class A { int x } x(a): 1..2.": (1, 25, "intervals are not supported as values"),
    'class A { int x } x(a): "q".': (1, 25, "a value of type int is expected"),
    "class A { int x } x(a).": (1, 19, "a value of type int is missing"),
    "class A. !A(a): true.": (1, 10, "write either a sign in front or a value behind"),
    "class A. A(a): 5.": (1, 16, "a relation is true, false, unknown or error"),
    "@foo class A.": (1, 1, "annotation 'foo' is not declared"),
    "@key(x) class A.": (1, 1, "'A' has no feature 'x' to be its key"),
    '@message("x") class A.': (1, 1, "@message cannot stand at a class"),
    'class A. @message("{b}") error pred p(A a) <-> A(a).': (
        1,
        10,
        "the message mentions 'b', which is no parameter",
    ),
    "class A. error pred p(A a).": (1, 10, "an error predicate needs a definition"),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_refused_at_their_place(text: str) -> None:
    line, column, message = MISTAKES[text]
    with pytest.raises(ProblemError) as caught:
        load_problem(text)
    assert caught.value.message == message
    assert (caught.value.line, caught.value.column) == (line, column)


def test_cures_name_what_was_meant() -> None:
    (error,) = problem_errors("class Door. pred p(Dor d).")
    assert error.cure == "did you mean 'Door'?"
    errors = problem_errors("class A { int x } class B { int x } pred p(A a) <-> x(a) > 1.")
    assert errors[0].cure == "write A::x or B::x"


def test_syntax_errors_say_what_is_expected() -> None:
    (error,) = problem_errors("class A {\n    int\n}")
    assert (error.line, error.column) == (3, 1)
    assert "unexpected '}'" in error.message
    assert "a name" in error.message


def test_all_mistakes_are_found_at_once() -> None:
    with pytest.raises(ProblemError) as caught:
        load_problem("class A { B x }\npred p(C c).")
    assert [error.line for error in (caught.value, *caught.value.others)] == [1, 2]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary.problem"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    (error,) = problem_errors(binary)
    assert error.message == "the problem file is not UTF-8 text"
    (error,) = problem_errors(tmp_path / "absent.problem")
    assert "cannot read" in error.message


def test_deep_nesting_is_no_crash() -> None:
    text = GRAPH + "pred p(Node x) <-> weight(x) > " + "(" * 1000 + "1" + ")" * 1000 + "."
    (error,) = problem_errors(text)
    assert "nested too deeply" in error.message


def test_the_cases_of_refinery_are_read(shared: Path) -> None:
    read = 0
    for path in sorted((shared / "oracles" / "refinery").rglob("*.problem")):
        head, *cases = re.split(r"^% TEST", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for case in cases:
            declarations = case.split("\n", 1)[1]
            assert problem_errors(head + declarations) == (), path.name + case.split("\n")[0]
            read += 1
    assert read > 20
