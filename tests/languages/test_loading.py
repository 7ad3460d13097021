"""Loading languages: what is found where, and one clear line with a cure for every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from language_server.languages import LanguageError, load_language, registry

GRAMMAR = "Model: items*=Item; Item: 'item' name=ID ('uses' uses=[Item])?; Comment: /#.*$/;\n"
PROBLEM = "class Model { contains Item[] items }\nclass Item { string[1] name  Item[0..1] uses }\n"


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        stem, _, ending = name.rpartition("_")
        (folder / f"{stem}.{ending}").write_text(text, encoding="utf-8")
    return folder


def refusal(name: str | Path, workspace: Path | None = None) -> LanguageError:
    with pytest.raises(LanguageError) as caught:
        load_language(str(name), workspace)
    assert "\n" not in str(caught.value)
    return caught.value


def test_shipped_languages() -> None:
    known = registry()
    assert {"statechart", "clevr"} <= set(known.names)
    assert not known.failures
    for entry in known.entries:
        if entry.origin == "shipped":
            assert entry.load().name == entry.name
            assert entry.description


def test_a_grammar_alone(tmp_path: Path) -> None:
    write(tmp_path, toy_tx=GRAMMAR)
    toy = load_language(str(tmp_path / "toy.tx"))
    assert (toy.name, toy.extensions, toy.examples) == ("toy", (".toy",), ())
    assert toy.analyse("item a item b uses a").diagnostics == ()
    (found,) = toy.analyse("item a uses c").diagnostics
    assert (found.source, found.start, found.end) == ("reference", 12, 13)


def test_the_problem_file_beside_the_grammar(tmp_path: Path) -> None:
    write(
        tmp_path,
        toy_tx=GRAMMAR,
        toy_problem=PROBLEM + '@message("{i} uses itself") error pred loop(Item i) <-> uses(i, i).',
    )
    toy = load_language(str(tmp_path / "toy.tx"))
    (found,) = toy.analyse("item a uses a").diagnostics
    assert (found.constraint, found.message, found.elements) == ("loop", "a uses itself", ("a",))


def test_the_problem_file_in_metamodels_beside_grammars(tmp_path: Path) -> None:
    for folder in ("grammars", "metamodels"):
        (tmp_path / folder).mkdir()
    write(tmp_path / "grammars", toy_tx=GRAMMAR)
    write(tmp_path / "metamodels", toy_problem=PROBLEM + "error pred no(Item i) <-> exists(i).")
    toy = load_language(str(tmp_path / "grammars" / "toy.tx"))
    assert [d.constraint for d in toy.analyse("item a").diagnostics] == ["no"]


def test_examples_beside_the_grammar(tmp_path: Path) -> None:
    write(tmp_path, toy_tx=GRAMMAR)
    (tmp_path / "toy.examples").mkdir()
    (tmp_path / "toy.examples" / "one.toy").write_text("# One item,\n# and no more.\n\nitem a\n")
    (example,) = load_language(str(tmp_path / "toy.tx")).examples
    assert (example.description, example.text) == ("One item, and no more.", "item a")


def test_an_example_without_description(tmp_path: Path) -> None:
    write(tmp_path, toy_tx=GRAMMAR)
    (tmp_path / "toy.examples").mkdir()
    (tmp_path / "toy.examples" / "one.toy").write_text("item a\n")
    error = refusal(tmp_path / "toy.tx")
    assert error.path == tmp_path / "toy.examples" / "one.toy"
    assert "no description" in error.message


def test_unknown_language() -> None:
    error = refusal("statecharts")
    assert "'statecharts' is not known" in error.message
    assert "did you mean 'statechart'?" in error.cure
    assert ".tx" in error.cure


def test_missing_grammar(tmp_path: Path) -> None:
    error = refusal(tmp_path / "absent.tx")
    assert error.path == tmp_path / "absent.tx"
    assert "no such grammar" in error.message


def test_a_folder_is_no_grammar(tmp_path: Path) -> None:
    (tmp_path / "x.tx").mkdir()
    assert "folder" in refusal(tmp_path / "x.tx").message


def test_another_file_is_no_grammar(tmp_path: Path) -> None:
    write(tmp_path, toy_problem=PROBLEM)
    assert "name a .tx file" in refusal(tmp_path / "toy.problem").cure


def test_binary_grammar(tmp_path: Path) -> None:
    (tmp_path / "x.tx").write_bytes(b"\x00\xff\xfe")
    assert "not UTF-8" in refusal(tmp_path / "x.tx").message


def test_grammar_with_a_syntax_error(tmp_path: Path) -> None:
    write(tmp_path, toy_tx="Model: items*=Item;\nItem 'item' name=ID;\n")
    error = refusal(tmp_path / "toy.tx")
    assert (error.path, error.line, error.column) == (tmp_path / "toy.tx", 2, 6)


def test_grammar_with_an_unknown_rule(tmp_path: Path) -> None:
    write(tmp_path, toy_tx="Model:\n  items*=Itm;\n")
    error = refusal(tmp_path / "toy.tx")
    assert "Itm" in error.message


def test_t12_eolterm_in_the_wrong_place(tmp_path: Path) -> None:
    write(tmp_path, toy_tx="Model: items*=ID[eolterm, ','];\n")
    error = refusal(tmp_path / "toy.tx")
    assert error.line == 1


def test_t14_boolean_assignment_in_a_repetition(tmp_path: Path) -> None:
    write(tmp_path, toy_tx="Model: (b?='on')*;\n")
    assert refusal(tmp_path / "toy.tx").path == tmp_path / "toy.tx"


def test_grammar_that_imports_a_missing_one(tmp_path: Path) -> None:
    write(tmp_path, toy_tx="import absent\nModel: a=ID;\n")
    error = refusal(tmp_path / "toy.tx")
    assert "absent" in str(error)


def test_problem_naming_a_class_the_grammar_lacks(tmp_path: Path) -> None:
    write(tmp_path, toy_tx=GRAMMAR, toy_problem=PROBLEM + "\nclass Itm { string name }")
    error = refusal(tmp_path / "toy.tx")
    assert (error.path, error.line, error.column) == (tmp_path / "toy.problem", 4, 1)
    assert "'Itm'" in error.message


def test_problem_with_a_syntax_error(tmp_path: Path) -> None:
    write(tmp_path, toy_tx=GRAMMAR, toy_problem="class Model {\n  int\n}\n")
    error = refusal(tmp_path / "toy.tx")
    assert (error.path, error.line) == (tmp_path / "toy.problem", 3)


def test_problem_that_is_binary(tmp_path: Path) -> None:
    write(tmp_path, toy_tx=GRAMMAR)
    (tmp_path / "toy.problem").write_bytes(b"\xff\x00")
    assert refusal(tmp_path / "toy.tx").path == tmp_path / "toy.problem"


MANIFEST = """
[[language]]
name = "toy"
grammar = "lang/g.tx"
extensions = ["ty", ".tyy"]
patterns = ["toys/*.txt"]
units = ["Item"]

[files]
"*.dsl" = "toy"
"""


def test_manifest(tmp_path: Path) -> None:
    (tmp_path / "lang").mkdir()
    write(tmp_path / "lang", g_tx=GRAMMAR, g_problem=PROBLEM)
    (tmp_path / "langwright.toml").write_text(MANIFEST)
    known = registry(tmp_path)
    entry = known.entry("toy")
    assert (entry.origin, entry.definition.extensions) == ("workspace", (".ty", ".tyy"))
    assert entry.definition.problem == tmp_path / "lang" / "g.problem"
    for name in ("a.ty", "b.tyy", "toys/c.txt", "x/d.dsl"):
        assert [e.name for e in known.for_file(Path(name))] == ["toy"], name
    assert known.for_file(Path("c.txt")) == ()
    toy = load_language("toy", tmp_path)
    assert (toy.name, toy.units) == ("toy", ("Item",))


def test_manifest_with_a_unit_the_grammar_lacks(tmp_path: Path) -> None:
    write(tmp_path, toy_tx=GRAMMAR)
    manifest = '[[language]]\nname="toy"\ngrammar="toy.tx"\nunits=["Itme"]\n'
    (tmp_path / "langwright.toml").write_text(manifest)
    with pytest.raises(LanguageError, match="the grammar has no rule 'Itme'") as caught:
        load_language("toy", tmp_path)
    assert caught.value.path == tmp_path / "toy.tx"


def test_manifest_wins_over_shipped(tmp_path: Path) -> None:
    write(tmp_path, clevr_tx=GRAMMAR)
    (tmp_path / "langwright.toml").write_text('[[language]]\nname="clevr"\ngrammar="clevr.tx"\n')
    assert registry(tmp_path).entry("clevr").origin == "workspace"
    assert load_language("clevr", tmp_path).analyse("item a").diagnostics == ()


def test_t3_files_that_two_languages_claim(tmp_path: Path) -> None:
    write(tmp_path, a_tx=GRAMMAR, b_tx=GRAMMAR)
    both = "".join(
        f'[[language]]\nname="{name}"\ngrammar="{name}.tx"\nextensions=[".x"]\n' for name in "ab"
    )
    (tmp_path / "langwright.toml").write_text(both)
    assert [e.name for e in registry(tmp_path).for_file(Path("m.x"))] == ["a", "b"]
    (tmp_path / "langwright.toml").write_text(both + '[files]\n"*.x" = "b"\n')
    assert [e.name for e in registry(tmp_path).for_file(Path("m.x"))] == ["b"]


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("[[language]", "no TOML"),
        ("[languages]\nx = 1", "no section 'languages'"),
        ("[[language]]\nname = 'x'", "needs a grammar"),
        ("[[language]]\ngrammar = 'x.tx'\ncolour = 'red'", "no 'colour'"),
        ("[[language]]\ngrammar = 'x.tx'\nextensions = 'x'", "list of texts"),
        ("[[language]]\ngrammar = 'x.tx'\nexamples = 'none'", "does not exist"),
        ("[[language]]\ngrammar = 'x.tx'\nunits = 'Item'", "list of texts"),
        ("files = 3", "[files]"),
    ],
)
def test_mistakes_in_the_manifest(tmp_path: Path, manifest: str, message: str) -> None:
    (tmp_path / "langwright.toml").write_text(manifest)
    known = registry(tmp_path)
    (error,) = known.failures
    assert message in error.message
    assert error.path == tmp_path / "langwright.toml"
    assert {"clevr", "statechart"} <= set(known.names)


def test_a_mistake_in_a_manifest_is_shown_in_the_section_of_its_language(tmp_path: Path) -> None:
    (tmp_path / "x.tx").write_text("Model: 'x';")
    (tmp_path / "langwright.toml").write_text(
        '[[language]]\nname = "a"\ngrammar = "x.tx"\nunits = []\n'
        '[[language]]\nname = "b"\ngrammar = "x.tx"\nunits = 3\n'
    )
    with pytest.raises(LanguageError, match="'units' is a list") as caught:
        load_language("b", tmp_path)
    assert caught.value.line == 8


def test_binary_manifest(tmp_path: Path) -> None:
    (tmp_path / "langwright.toml").write_bytes(b"\xff\x00")
    (error,) = registry(tmp_path).failures
    assert "not UTF-8" in error.message


def test_a_feature_that_hides_what_textx_needs(tmp_path: Path) -> None:
    """With `parent=Item` textX ends in a RecursionError on every model."""
    write(tmp_path, toy_tx="Model: items*=Item;\nItem: 'item' name=ID ('in' parent=Item)?;\n")
    toy = load_language(str(tmp_path / "toy.tx"))
    (warning,) = toy.warnings
    assert (warning.line, warning.column) == (2, 28)
    assert "'parent'" in warning.message


def test_warnings_of_a_language_have_their_place(tmp_path: Path) -> None:
    """What the grammar's users will pay for, in the file where it stands."""
    write(tmp_path, toy_tx="import items\nModel: items*=Item;\n")
    write(tmp_path, items_tx="// Items\nItem: 'item' ids+=ID 'end';\n")
    (warning,) = load_language(str(tmp_path / "toy.tx")).warnings
    assert (warning.path, warning.line, warning.column) == (tmp_path / "items.tx", 2, 19)
    assert warning.end == (2, 21)
    assert "never ends" in warning.message
    assert r"!/end\b/" in warning.cure


def test_shipped_grammars_are_clean() -> None:
    for entry in registry().entries:
        if entry.origin == "shipped":
            assert entry.load().warnings == ()
