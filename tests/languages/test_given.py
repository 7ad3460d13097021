"""Facts given for one request, as a file of assertions in the words of a language's metamodel."""

from __future__ import annotations

from pathlib import Path

import pytest

from language_server.constraints.problem import ProblemError, load_given
from language_server.decoding import RandomModel, generate
from language_server.languages import Language, LanguageError, load_language
from language_server.languages.language import build
from language_server.languages.manifest import read_manifest
from language_server.projection import Prefix

CONCEPTS = "Concept(animal). Concept(dog). Concept('polar bear'). !exists(Concept::new)."
DOOR = "State(Open). State(Closed). Event(push). !exists(State::new). !exists(Event::new)."
CHART = "statechart Door event push initial state Closed { on push -> Open } "


def given(name: str, facts: str, folder: Path) -> Language:
    file = folder / "facts.problem"
    file.write_text(facts, encoding="utf-8")
    return load_language(name).with_given(file)


def told(language: Language, text: str) -> list[tuple[str, str]]:
    found = language.analyse(text).diagnostics
    return [(each.constraint or each.code, each.message) for each in found]


def test_objects_that_are_given_are_there(tmp_path: Path) -> None:
    taxonomy = given("taxonomy", CONCEPTS, tmp_path)
    text = "dog is the child of animal"
    assert {name for name, _ in told(taxonomy, text)} == {"roots"}  # the polar bear is another root
    assert taxonomy.judge(text + "\nPolar Bear is the child of animal") == ()
    assert load_language("taxonomy").judge(text) == ()


def test_no_others_may_be_mentioned(tmp_path: Path) -> None:
    taxonomy = given("taxonomy", CONCEPTS, tmp_path)
    text = "dog is the child of animal\npolar bear is the child of bear"
    assert ("not-given", "there is no concept 'bear'; there are animal, dog, polar bear") in told(
        taxonomy, text
    )
    assert taxonomy.judge(text)


def test_given_objects_without_a_key_are_to_be_declared(tmp_path: Path) -> None:
    chart = given("statechart", DOOR, tmp_path)
    assert chart.judge(CHART + "state Open") == ()
    assert told(chart, CHART + "state Open { on push -> Ajar } state Ajar") == [
        ("not-given", "there is no state 'Ajar'; there are Closed, Open")
    ]
    assert told(chart, "statechart Door initial state Closed") == [
        ("given-undeclared", "event 'push' is given, and the text does not declare it"),
        ("given-undeclared", "state 'Open' is given, and the text does not declare it"),
    ]


def test_a_name_is_given_once(tmp_path: Path) -> None:
    chart = given("statechart", DOOR, tmp_path)
    found = [name for name, _ in told(chart, CHART + "state Open { region R { state Open } }")]
    assert "not-given" in found


def test_a_prefix_starts_from_the_facts(tmp_path: Path) -> None:
    chart = given("statechart", DOOR, tmp_path)
    start = Prefix.start(chart)
    for begun in ("", "statechart D", "statechart D event pu", CHART, CHART + "state"):
        verdict = start.advance(begun).completable()
        assert verdict.answer == "yes", begun
        assert chart.judge(begun + (verdict.witness or "")) == ()
    for wrong in ("statechart D event x", "statechart D event push event", CHART + "state A"):
        verdict = start.advance(wrong).completable()
        assert verdict.answer == "no", wrong
    moves = {move.text for move in start.advance(CHART + "state ").moves()}
    assert "Open" in moves
    assert "Closed" not in moves


def test_a_contradiction_is_explained(tmp_path: Path) -> None:
    chart = given("statechart", DOOR, tmp_path)
    verdict = Prefix.start(chart).advance(CHART + "state Ajar {").completable()
    assert verdict.reasons == ("there is no state 'Ajar'; there are Closed, Open",)


@pytest.mark.parametrize("seed", range(3))
def test_only_given_names_are_generated(tmp_path: Path, seed: int) -> None:
    for name, facts in (("taxonomy", CONCEPTS), ("statechart", DOOR)):
        language = given(name, facts, tmp_path)
        result = generate(language, "", RandomModel(), "assured", seed, max_tokens=150)
        assert language.judge(result.text) == ()
        model = language.analyse(result.text).evaluation.model
        cls = "Concept" if name == "taxonomy" else "State"
        wanted = {"animal", "dog", "polar bear"} if name == "taxonomy" else {"Open", "Closed"}
        assert {model.name_of(node) for node in model.objects(cls)} == wanted


def test_facts_about_keyed_objects(tmp_path: Path) -> None:
    clevr = given(
        "clevr", "Node('1'). function('1', scene). Node('2'). function('2', count).", tmp_path
    )
    assert clevr.judge("graph LR\n1 --> 2") == ()
    wrong = 'graph LR\n1["scene"] --> 2["exist"]'
    assert [code for code, _ in told(clevr, wrong)] == ["conflicting-values"]
    assert not Prefix.start(clevr).advance(wrong).alive


def test_an_open_vocabulary(tmp_path: Path) -> None:
    taxonomy = given("taxonomy", "Concept(animal). Concept(dog).", tmp_path)
    assert taxonomy.judge("dog is the child of animal\ncat is the child of animal") == ()
    assert taxonomy.judge("cat is the child of animal")


REFUSED = {
    "class A.": (1, "only facts can be given"),
    "scope Concept = 3.": (1, "only facts can be given"),
    "Concept(a). Animal(b).": (13, "'Animal' is not declared"),
    "Concept(a, b).": (1, "'Concept' takes 1 argument, not 2"),
    "Concept(*).": (1, "'*' gives no object"),
    "Edge(e).": (1, "a text has no name for objects of class Edge, so none can be given"),
    "Concept(a). Taxonomy(a).": (13, "'a' is given as Concept already"),
    "!Concept(a).": (1, "only what is true can be given"),
    "?Concept(a).": (1, "only what is true can be given"),
    "Concept(a): error.": (1, "only what is true can be given"),
    "default Concept(a).": (1, "a default is no fact"),
    "!exists(a).": (1, "only new objects can be excluded"),
    "exists(a).": (1, "'exists' cannot be given"),
    "Concept(a). Concept(b). under(a, b).": (25, "'under' is defined, so it cannot be given"),
    "narrower(e, a).": (1, "'e' is not given"),
    'Concept(a). name(a): "b".': (13, "'a' is its name already"),
    "Concept(a": (10, "unexpected"),
}


@pytest.mark.parametrize("facts", REFUSED)
def test_what_cannot_be_given_is_refused_at_its_place(facts: str) -> None:
    column, message = REFUSED[facts]
    with pytest.raises(ProblemError) as caught:
        load_given(facts, load_language("taxonomy").theory)
    assert caught.value.message.startswith(message) or "too early" in caught.value.message
    assert (caught.value.line, caught.value.column) == (1, column)


def test_what_a_text_states_itself_cannot_be_given() -> None:
    theory = load_language("statechart").theory
    for facts, message in {
        "State(A). State(B). refines(A, B).": "a text states itself what holds of A",
        "Type(t).": "Type is an enum and has all its literals already",
    }.items():
        with pytest.raises(ProblemError) as caught:
            load_given(facts, theory)
        assert caught.value.message.startswith(message)
    with pytest.raises(ProblemError, match="belongs to the metamodel"):
        load_given("Function(scene).", load_language("clevr").theory)


KINDS = """
enum Kind { soft, hard }
class Shop { contains Item[] items }
@key(name) class Item { string[1] name  Kind[1] kind }
pred soldOut(Kind kind).
pred dearer(Item item, Kind kind).
default !soldOut(*).
default !dearer(*, *).
error pred none(Item item) <-> kind(item, k), soldOut(k).
error pred dear(Item item) <-> kind(item, k), dearer(item, k).
"""


def test_what_the_messages_say_of_the_metamodel_helps(tmp_path: Path) -> None:
    """Facts about what belongs to the metamodel: each message is followed in turn."""
    grammar, file = tmp_path / "shop.tx", tmp_path / "facts.problem"
    grammar.write_text("Shop: items+=Item; Item: name=ID kind=Kind; Kind: 'soft' | 'hard';")
    grammar.with_suffix(".problem").write_text(KINDS)

    def refusal(facts: str) -> tuple[str, int | None]:
        file.write_text(facts)
        with pytest.raises(LanguageError) as caught:
            load_language(str(grammar)).with_given(file)
        return caught.value.cure, caught.value.column

    assert load_language(str(grammar)).judge("a soft") == ()
    assert refusal("Kind(soft). soldOut(soft).") == ("leave this out", 1)
    assert refusal("soldOut(soft).") == ("write this one there", 1)
    grammar.with_suffix(".problem").write_text(f"{KINDS}\nsoldOut(soft).")
    language = load_language(str(grammar))
    assert not Prefix.start(language).advance("a soft").alive
    assert [each.constraint for each in language.judge("a soft")] == ["none"]
    assert language.judge("a hard") == ()
    # A metamodel does not know the objects of texts: there is nothing to be done.
    assert refusal("Item(a). dearer(a, Kind::hard).") == ("", 10)


def test_a_mistake_is_told_with_its_file(tmp_path: Path) -> None:
    with pytest.raises(LanguageError) as caught:
        given("taxonomy", "Concept(a).\n  Concept(b) .\n Concep(c).", tmp_path)
    assert (caught.value.path, caught.value.line, caught.value.column) == (
        tmp_path / "facts.problem",
        3,
        2,
    )
    assert caught.value.cure == "did you mean 'Concept'?"


def test_a_manifest_gives_facts(tmp_path: Path) -> None:
    (tmp_path / "door.tx").write_text("Model: doors*=Door; Door: 'door' name=ID;")
    (tmp_path / "house.problem").write_text("Door(front). !exists(Door::new).")
    (tmp_path / "langwright.toml").write_text(
        '[[language]]\nname = "door"\ngrammar = "door.tx"\ngiven = "house.problem"\n'
    )
    door = build(read_manifest(tmp_path).definitions["door"])
    assert door.judge("door front") == ()
    assert [code for code, _ in told(door, "door front door back")] == ["not-given"]


def test_an_edit_is_analysed_from_the_same_facts(tmp_path: Path) -> None:
    """What is known of an analysis without the facts does not count with them."""
    text = "dog is the child of animal\npolar bear is the child of animal\n"
    plain, taxonomy = load_language("taxonomy"), given("taxonomy", CONCEPTS, tmp_path)
    known = plain.analyse(text)
    longer = text + "cat is the child of animal"
    assert plain.analyse(longer, known=known).diagnostics == ()
    found = taxonomy.analyse(longer, known=known).diagnostics
    assert [each.code for each in found] == ["not-given"]
