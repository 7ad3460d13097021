"""The shipped language requirements: every constraint, several files, generation."""

from __future__ import annotations

from pathlib import Path

import pytest

from language_server.decoding import RandomModel, generate
from language_server.features.completion import propose
from language_server.languages import Language, load_language
from language_server.languages.imports import Disk, Library
from language_server.projection import Prefix

D = "component D { out o: power gives 6.0 out s: data in b: power }\n"
S = "component S { in i: power needs 5.0 in j: light in k: data }\n"
PLAIN = "component B { }\n"


@pytest.fixture(scope="module")
def requirements() -> Language:
    return load_language("requirements")


def pair(connections: str, source: str = D) -> str:
    """A component with a part of D and one of S, and some connections."""
    return f"{source}{S}component A {{ part d: D part e: D part s: S {connections} }}"


# Each row: a constraint, a text that violates it, where that is shown with what is said, and a text
# that does not violate it.
CASES = [
    (
        "part_cycle",
        "component A { part b: B }\ncomponent B { part a: A }",
        [("A", "A is a part of itself"), ("B", "B is a part of itself")],
        f"component A {{ part b: B part c: B }}\n{PLAIN}",
    ),
    (
        "too_heavy",
        "component A mass 10 { part b: B x 3 }\ncomponent B mass 4 { }",
        [("b", "Part b weighs more than the whole, A")],
        "component A mass 12 { part b: B x 3 }\ncomponent B mass 4 { }",
    ),
    (
        "too_heavy",
        "component A mass 10 { part b: B }\ncomponent B mass 11 { }",
        [("b", "Part b weighs more than the whole, A")],
        "component A mass 10 { part b: B }\ncomponent B { }",
    ),
    (
        "no_part",
        f"component A {{ part b: B x 0 }}\n{PLAIN}",
        [("b", "Part b is there at least once")],
        f"component A {{ part b: B x 1 }}\n{PLAIN}",
    ),
    (
        "same_component",
        f"{PLAIN}{PLAIN}",
        [("B", "Another component is called B too")] * 2,
        f"{PLAIN}component C {{ }}",
    ),
    (
        "same_port",
        "component A { in p: data out p: data }",
        [("p", "Another port of A is called p too")] * 2,
        "component A { in p: data }\ncomponent B { out p: data }",
    ),
    (
        "same_part",
        f"component A {{ part p: B part p: B }}\n{PLAIN}",
        [("p", "Another part of A is called p too")] * 2,
        f"component A {{ part p: B }}\ncomponent C {{ part p: B }}\n{PLAIN}",
    ),
    (
        "connection_cycle",
        "component A { part d: X part e: X connect d.o -> e.i connect e.o -> d.i }\n"
        "component X { in i: data out o: data }",
        [("d", "Part d feeds itself"), ("e", "Part e feeds itself")],
        "component A { part d: X part e: X part f: X connect d.o -> e.i connect d.o -> f.i }\n"
        "component X { in i: data out o: data }",
    ),
    (
        "wrong_source",
        pair("connect s.i -> d.b"),
        [("connect s.i -> d.b", "i is an input: connections begin at outputs")],
        pair("connect d.o -> e.b"),
    ),
    (
        "wrong_target",
        pair("connect d.o -> e.o"),
        [("connect d.o -> e.o", "o is an output: connections end at inputs")],
        pair("connect d.o -> e.b"),
    ),
    (
        "kinds_differ",
        pair("connect d.o -> s.j"),
        [("connect d.o -> s.j", "o is power and j is light")],
        pair("connect d.o -> s.i connect d.s -> s.k"),
    ),
    (
        "too_weak",
        pair("connect d.o -> s.i", D.replace("6.0", "4.9")),
        [("connect d.o -> s.i", "o gives less than i needs")],
        pair("connect d.o -> s.i", D.replace("6.0", "5.0")),
    ),
    (
        "too_strong",
        pair("connect d.o -> s.i", D.replace("6.0", "7.6")),
        [("connect d.o -> s.i", "o gives more than one and a half times what i needs")],
        pair("connect d.o -> s.i", D.replace("6.0", "7.5")),
    ),
    (
        "fed_twice",
        pair("connect d.o -> s.i connect e.o -> s.i"),
        [("s", "More than one connection ends at i of part s")],
        pair("connect d.o -> s.i connect d.o -> e.b"),
    ),
    (
        "derivation_cycle",
        'requirement R "r" derived from Q requirement Q "q" derived from R',
        [
            ("Q", "Requirement Q is derived from itself"),
            ("R", "Requirement R is derived from itself"),
        ],
        'requirement R "r" derived from Q requirement Q "q"',
    ),
    (
        "same_requirement",
        'requirement R "r" requirement R "q"',
        [("R", "Another requirement is called R too")] * 2,
        'requirement R "r" requirement Q "r"',
    ),
    (
        "satisfied_twice",
        'requirement R "r" component C { satisfies R, R }',
        [("C", "C satisfies R twice")],
        'requirement R "r" component C { satisfies R } component B { satisfies R }',
    ),
    (
        "unsatisfied",
        f'requirement R "r" {PLAIN}',
        [("R", "No component here satisfies R")],
        f'requirement R "r" optional {PLAIN}',
    ),
    (
        "unverified",
        'requirement R "r" tags safety',
        [("R", "R matters for safety and has to be verified")],
        'requirement R "r" tags safety verified by "x", "x" requirement Q "q" tags cost',
    ),
    (
        "unverified",
        'requirement R "r" derived from Q requirement Q "q" derived from P verified by "x"\n'
        'requirement P "p" tags cost, safety verified by "x"',
        [("R", "R matters for safety and has to be verified")],
        'requirement R "r" derived from Q requirement Q "q" tags cost',
    ),
    (
        "critical_and_optional",
        'requirement R "r" optional tags safety verified by "x"',
        [("R", "R matters for safety, so it is not optional")],
        'requirement R "r" optional tags cost',
    ),
    (
        "dispensable",
        'requirement R "r" priority high optional',
        [("R", "R is of high priority, so it is not optional")],
        'requirement R "r" priority medium optional',
    ),
]


@pytest.mark.parametrize(("name", "wrong", "places", "right"), CASES)
def test_constraints(
    requirements: Language, name: str, wrong: str, places: list[tuple[str, str]], right: str
) -> None:
    told = requirements.analyse(wrong).diagnostics
    assert {each.constraint for each in told} == {name}
    assert sorted((wrong[each.start : each.end], each.message) for each in told) == places
    warned = name in ("too_strong", "unsatisfied")
    assert {each.severity for each in told} == {"warning" if warned else "error"}
    assert requirements.analyse(right).diagnostics == ()
    assert requirements.judge(right) == ()


def test_every_constraint_is_tried(requirements: Language) -> None:
    theory = requirements.theory
    errors = {each.name for each in theory.predicates.values() if each.error}
    assert errors | {rule.name for rule in theory.rules} == {name for name, *_ in CASES}


def test_what_a_rule_excludes_is_not_offered(requirements: Language) -> None:
    prefix = Prefix.start(requirements).advance('requirement R "r" priority ')
    assert "optional" in {move.text for move in prefix.advance("low ").moves()}
    assert "optional" not in {move.text for move in prefix.advance("high ").moves()}
    assert prefix.advance("high optional ").completable().answer == "no"


@pytest.mark.parametrize(
    ("text", "code", "shown"),
    [
        ("component A { part b: B }", "unresolved-reference", "B"),
        (f"component A {{ part b: B connect b.p -> b.q }}\n{PLAIN}", "unresolved-reference", "p"),
        ("component A { satisfies R }", "unresolved-reference", "R"),
        ('requirement R "r" priority urgent', "syntax", "urgent"),
    ],
)
def test_names_and_words(requirements: Language, text: str, code: str, shown: str) -> None:
    told = requirements.analyse(text).diagnostics
    assert (code, shown) in [(each.code, text[each.start : each.end]) for each in told]
    assert requirements.judge(text)


def test_examples(requirements: Language) -> None:
    assert len(requirements.examples) >= 8
    several = 0
    for example in requirements.examples:
        assert example.path is not None
        text = example.path.read_text(encoding="utf-8")
        assert requirements.judge(text, example.path) == (), example.path
        several += "import" in text
    assert several >= 3


# ---- several files -------------------------------------------------------------------------------

NEEDS = 'requirement Quiet "It is quiet."\nrequirement Fast "It is fast." derived from Quiet\n'
PARTS = 'import "needs.requirements"\n' + D.replace("{", "{ satisfies Fast") + S
MAIN = 'import "parts.requirements"\ncomponent A { part d: D part s: S connect d.o -> s.i }\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "needs.requirements").write_text(NEEDS)
    (tmp_path / "parts.requirements").write_text(PARTS)
    (tmp_path / "main.requirements").write_text(MAIN)
    return tmp_path


def test_a_text_without_a_file_imports_from_the_current_folder(
    requirements: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = 'import "parts.requirements"\ncomponent Bike { part lamp: Lamp }'
    (missing,) = requirements.judge(text)
    assert str(tmp_path / "parts.requirements") in missing.message
    (tmp_path / "parts.requirements").write_text("component Lamp {}")
    assert requirements.judge(text) == ()


def test_references_lead_into_other_files(requirements: Language, folder: Path) -> None:
    main = folder / "main.requirements"
    assert requirements.judge(MAIN, main) == ()
    for wrong, shown in ((": D ", ": E "), "E"), (("d.o", "d.p"), "p"):
        text = MAIN.replace(*wrong)
        told = requirements.analyse(text, main).diagnostics
        assert shown in [text[each.start : each.end] for each in told]
        assert requirements.judge(text, main)
    (folder / "needs.requirements").unlink()
    told = requirements.analyse(PARTS, folder / "parts.requirements").diagnostics
    assert "unresolved-import" in {each.code for each in told}


def test_nothing_completes_a_text_whose_import_fails(requirements: Language, folder: Path) -> None:
    here = requirements.at(folder / "main.requirements", Library(Disk()))
    part = "component A {\n  part d: D x"
    for wrong in ('import "part.requirements"\n', 'import "needs.requirements" import "x" '):
        assert here.judge(f"{wrong}{part} 2 }} component D {{}}")  # whatever follows
        verdict = Prefix.start(here).advance(wrong + part).completable()
        assert verdict.answer == "no"
        assert "there is no file" in verdict.reasons[0]
    (folder / "parts.requirements").write_text("component {")
    assert Prefix.start(here).advance(MAIN[:-3]).completable().answer == "no"
    # A file may import itself, and textX reads no files as long as nothing may be in them.
    for right in ('import "main.requirements" component A { part d: D', 'import "x" component A'):
        verdict = Prefix.start(here).advance(right).completable()
        assert verdict.answer == "yes", right
        assert here.judge(right + (verdict.witness or "")) == ()


def test_a_failed_import_hides_no_item(requirements: Language, folder: Path) -> None:
    here = requirements.at(folder / "main.requirements", Library(Disk()))
    text = MAIN.replace("parts", "part")
    before, _, after = text.partition(": D")
    items = propose(here, Prefix.start(here).advance(before + ": "), after)
    assert items
    assert {item.verdict for item in items} == {"unknown"}


def test_what_another_file_says_of_the_direction_counts(
    requirements: Language, folder: Path
) -> None:
    text = MAIN.replace("d.o -> s.i", "s.i -> d.b")
    told = requirements.analyse(text, folder / "main.requirements").diagnostics
    assert [each.constraint for each in told] == ["wrong_source"]


def test_completion_across_files(requirements: Language, folder: Path) -> None:
    here = requirements.at(folder / "main.requirements", Library(Disk()))
    start = Prefix.start(here)
    moves = start.advance(MAIN.partition(": D")[0] + ": ").moves()
    assert {"D", "S"} <= {move.text for move in moves if move.kind == "reference"}
    moves = start.advance(MAIN.partition("d.o")[0] + "d.").moves()
    assert {"o", "s", "b"} == {move.text for move in moves if move.kind == "reference"}
    parts = requirements.at(folder / "parts.requirements", Library(Disk()))
    moves = (
        Prefix.start(parts).advance('import "needs.requirements" component C { satisfies ').moves()
    )
    assert {"Quiet", "Fast"} <= {move.text for move in moves if move.kind == "reference"}


def test_a_witness_across_files(requirements: Language, folder: Path) -> None:
    here = requirements.at(folder / "main.requirements", Library(Disk()))
    for cut in (MAIN[:28], MAIN.partition("}")[0], MAIN.partition(": D")[0]):
        verdict = Prefix.start(here).advance(cut).completable()
        assert verdict.answer == "yes", cut
        assert here.judge(cut + (verdict.witness or "")) == (), cut


@pytest.mark.parametrize("seed", range(3))
def test_assured_with_the_random_model_is_valid(requirements: Language, seed: int) -> None:
    result = generate(requirements, "", RandomModel(), "assured", seed, max_tokens=150)
    assert requirements.judge(result.text) == ()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_longer_texts_of_the_random_model_are_valid(requirements: Language, seed: int) -> None:
    result = generate(requirements, "", RandomModel(), "assured", seed, max_tokens=400)
    assert requirements.judge(result.text) == ()
