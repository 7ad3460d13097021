"""Hard prefixes of the shipped languages: each has a witness, which is judged as a whole text."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from language_server.languages import Language, load_language
from language_server.languages.imports import Disk, Library
from language_server.projection import Prefix

LANGUAGES = ("clevr", "statechart", "flowchart", "taxonomy", "taxonomy_ccs", "blocks")
EXAMPLES, CUTS = 3, 4

CHART = "statechart A\nevent e\nvar n: int = 0\nvar b: bool\n"
PORTS = "component D { out o: data } component S { in i: data } component T { in j: data } "
BLOCKS = "(getProperty (singleton en.block) !type)"
PREFIXES = {
    "clevr": (
        'graph LR\n1["scene"] --> 2\n1["',
        'graph LR\n1["scene"] --> 2["unique"]\n2["',
        'graph LR\n1["scene"] --> 2["unique"]\n1 --> 3["unique"]\n1 --> 4["unique"]',
        "",
        "g",
        "%",
        "%% How many",
        "graph",
        "graph LR",
        "flowchart T",
        "graph LR\n%% a comment",
        "graph LR\n1",
        "graph LR\n1 -",
        "graph LR\n1 --> 1",  # another number, or it lies on a cycle
        'graph LR\n1["',
        'graph LR\n1["scene',
        'graph LR\n1["same_',
        'graph LR\n1["scene"] -->',
        'graph LR\n1["scene"] --> 2["count"]',
        'graph LR\n1["scene"] --> 2["count"]\n',
        'graph LR\n1["scene"] --> 2["unique"]\n2 --> 3["relate_left"]',
        'graph LR\n1["scene"] --> 2["filter_color_red"]\n1 --> 3["filter_color_blue"]\n2 --> 4["o',
        'graph LR\n1["scene"] --> 2["unique"]\n1 --> 3["unique"]',
        "graph LR\n1 --> 2\n3 --> 4\n5 --> 6",
        'graph LR\n1 --> 9["equal_color"]',
        'graph LR\n1 --> 2["less_than"]\n3 --> 2\n4["unique"]',
        'graph LR\n1["scene"] --> 2["count"]\n2 --> 3["equal_integer"] %% and',
    ),
    "flowchart": (
        'graph RL\n1["x"] --> 2["x"]\n3["x"] --> 2["',
        "",
        "flow",
        "%% c",
        "flowchart LR;",
        "graph TD\n0",
        'graph TD\n0["',
        'graph TD\n0{"Is it',
        'graph TD\n0["a"] -->',
        'graph TD\n0["a"] --> |"Yes"',
        'graph TD\n0["a"] --> |"Yes"|1["b"]',  # a decision needs two
        'graph TD\n0["a"] --> |"Yes"|1["b"]\n0 --> 2',
        "graph TD\n0 --> 1\n1 --> 2\n2 --> 0",  # nowhere to start
        "graph TD\n0 --> 1\n2 --> 3",
        'graph TD\n0["a"] --> 1["b"] %% then',
        'graph TD\n0["a"] --> 0',  # another number
        'graph TD\n0["a"] --> 1["b"]\n1 --> |"x"|0\n1 --> |"y"|1',
    ),
    "taxonomy": (
        "a is the child of b\na is the child of ",
        "",
        "/",
        "// Dogs",
        "\n\n",
        "dog",
        "dog is",
        "dog is the chi",
        "dog is the child of",
        "dog is the child of d",
        "dog is the child of dog",  # longer: dogma
        "dog is the child of mammal\n",
        "dog is the child of mammal\ncat is the child of animal",
        "dog is the child of mammal\ncat is the child of animal\nfish is the child of pet\n",
        "a is the child of b\nb is the child of c\nc",
        "a is the child of b\nb is the child of c\na",
        "a is the child of b // and",
        "A is the child of b\na",
    ),
    "taxonomy_ccs": (
        "1 is a subtopic of 12\n3 is a subtopic of 14\n2 is a subtopic of 5\n6 is a subtopic of 7",
        "",
        "// Topics",
        "Hash tables",
        "Hash tables is a sub",
        "Hash tables is a subtopic of",
        "Hash tables is a subtopic of Data\nSorting is a subtopic of Algorithms",
        "a is a subtopic of b\na is a subtopic of c",
        "a is a subtopic of b\na is a subtopic of c\nd is a subtopic of e",
        "a is a subtopic of b\nb is a subtopic of a",  # longer: ab
        "a is a subtopic of b\nb is a subtopic of c\na is a subtopic of c",
    ),
    "statechart": (
        "statechart A\nstate B {\n state",
        "statechart A\ninitial state B {\n state C\n state",
        "",
        "/",
        "/* A",
        "stat",
        "statechart",
        "statechart A",
        "statechart A\n// why",
        "statechart A\nev",
        "statechart A\nvar n",
        "statechart A\nvar n: bool =",
        "statechart A\nvar n: int = -",
        "statechart A\nstate B",
        "statechart A\ninitial",
        "statechart A\nfinal state B",
        "statechart A\nfinal state B {}\n",  # before any initial one
        "statechart A\nfinal state B {}\nfinal state C {}\nstate D",
        "statechart A\nstate B refines",
        "statechart A\nstate B refines B",  # longer
        "statechart A\nstate B refines C {",
        "statechart A\nstate B refines C {}\nstate C refines",
        "statechart A\ninitial state B {\n    on",
        "statechart A\ninitial state B {\n    on go",  # an event to be declared
        "statechart A\ninitial state B {\n    on go -> Home\n",
        "statechart A\ninitial state B {\n    on go -> Home\n}\nstate Away {",
        CHART + "initial state B {\n    on e [",
        CHART + "initial state B {\n    on e [n",
        CHART + "initial state B {\n    on e [n + 1",
        CHART + "initial state B {\n    on e [not (b or n > ",
        CHART + "initial state B {\n    on e [not (not (not ((b and",
        CHART + "initial state B {\n    on e [b == tr",
        CHART + "initial state B {\n    on e [x",
        CHART + "initial state B {\n    on e [x > 1.5 and y",
        CHART + "initial state B {\n    on e [b] /* to",
        CHART + "state B { state C { state D { state E { on e -> F",
        CHART + "state B { region R { state C { region S { state D {",
        CHART + "initial state B { region R { } region S { state C {}",
        CHART + "initial state B { state C {} state D {} state E {} ",
        CHART + "state B {}\nstate C {}\nstate D {}\nstate E {}\n",
        CHART + "initial state B { on e -> B2 on e -> B3 on e -> B4 }\nstate B5 refines B6",
    ),
    "blocks": (
        f"(listValue (filter {BLOCKS} shape = (concat",  # two shapes, which are alike
        # A comparison has an operator and a value, or neither.
        f"(listValue (filter {BLOCKS} shape",
        f"(listValue (filter {BLOCKS} (reverse above)",
        # A length has at least one inch, and the shortest number there is none.
        f"(listValue (filter {BLOCKS} length",
        "(listValue (concat 1 en.inch",
        "(listValue (concat en.block.block1",  # the other block, which is like this one
        f"(listValue (countSuperlative {BLOCKS} min (",
        f"(listValue (filter {BLOCKS} (reverse above) = (getProperty (",
        f"(listValue (filter {BLOCKS} height >= (ensureNumericEntity (concat 12 en.inch ",
        f"(listValue (aggregate avg (getProperty (filter {BLOCKS} ",
    ),
}
PREFIXES["requirements"] = (
    # Names that are linked when the text ends, and declared behind.
    "component A { part d: D",
    "component A { satisfies Fast",
    'requirement A "a" derived from B',
    "component M { part p: M",  # another component, or it is a part of itself
    PORTS + "component M { part s: S part d: D connect d",
    PORTS + "component M { part d: D part t: T part s: S connect d.o ->",
    # The port that is free, and one that the component has yet to get.
    PORTS + "component M { part d: D part s: S part s2: S connect d.o -> s.i connect d.o ->",
    "component M { part d: D part d2: D connect d.o -> d2.",
)
# Prefixes that nothing completes, with the reason.
IMPOSSIBLE = (
    # The first node of an edge has its output taken, and no function takes a truth value.
    ("clevr", 'graph LR\n1["equal_integer"]'),
    ("clevr", 'graph LR\n9["equal_color"]  --> 1'),
    ("clevr", 'graph LR\n1["scene"] --> 2["query_color"]'),
    ("flowchart", 'graph TD\n0["a"] --> 0\n'),
    ("flowchart", "graph TD\n0 --> 1\n1 --> 1\n"),
    ("taxonomy", "a is the child of b\nb is the child of a\n"),
    ("taxonomy", "a is the child of b\na is the child of c\n"),
    ("taxonomy_ccs", "a is a subtopic of A\n"),
    ("blocks", f"(listValue (filter {BLOCKS} shape <"),
    ("blocks", f"(listValue (aggregate sum {BLOCKS}"),
    # A region that is closed without an initial state.
    ("statechart", CHART + "initial state B { region S { state C {} }"),
    # Neither B, the only start, nor anything that it leads to can get a transition any more.
    ("statechart", CHART + "initial state B {}\nstate C {}\n"),
    ("statechart", CHART + "final state B { on e"),
    ("statechart", CHART + "initial state B { on e [n]"),
    ("statechart", CHART + "initial state B {}\ninitial state C {"),
)
CASES = [(language, text) for language, texts in PREFIXES.items() for text in texts]


@pytest.mark.parametrize(("name", "text"), CASES)
def test_a_hard_prefix_has_a_witness(name: str, text: str) -> None:
    has_a_witness(language(name), text)


@pytest.mark.parametrize(("name", "text"), IMPOSSIBLE)
def test_what_cannot_be_completed_has_none(name: str, text: str) -> None:
    verdict = Prefix.start(language(name)).advance(text).completable()
    assert verdict.answer == "no"
    assert verdict.witness is None
    assert verdict.reasons


@pytest.mark.parametrize("rule", ["things*=Thing", "'do'? things*=Thing", "things+=Thing"])
def test_a_text_that_may_be_empty_but_for_a_scope(rule: str, tmp_path: Path) -> None:
    path = tmp_path / "bag.tx"
    path.write_text(f"Bag: {rule};\nThing: 'thing' name=ID;\n", encoding="utf-8")
    path.with_suffix(".problem").write_text(
        "class Bag { contains Thing[] things }\nclass Thing { string[1] name }\n"
        "scope Thing = 2..3.\n",
        encoding="utf-8",
    )
    loaded = load_language(str(path))
    assert loaded.judge("") != ()
    has_a_witness(loaded, "")


NOTES = """
class Notes { contains Note[] notes contains Tag[] tags }
class Note { string[0..1] text  real[0..1] value }
class Tag { string[1] name }
error pred same(Note n) <-> Note(m), n != m, text(n) == text(m).
error pred one(Note n) <-> value(n) == 1.
error pred namesake(Tag t) <-> Tag(u), t != u, name(t) == name(u).
"""


@pytest.mark.parametrize(
    "text",
    ['"a" "a', "'a\"' 'a\"", "1", "1.", "1.0", "2 1", "-1 1.00", "tag a tag a", "tag a1 tag a1"],
)
def test_what_is_whole_but_wrong_goes_on(text: str, tmp_path: Path) -> None:
    """A value or a name at the end of the text that constraints forbid may become another one."""
    grammar = tmp_path / "notes.tx"
    grammar.write_text(
        "Notes: (notes+=Note | tags+=Tag)*; Note: text=STRING | value=NUMBER; Tag: 'tag' name=ID;"
    )
    grammar.with_suffix(".problem").write_text(NOTES)
    has_a_witness(load_language(str(grammar)), text)


@pytest.mark.parametrize("cut", range(len("k 1 val 5 k 1 "), 0, -1))
def test_a_value_is_stated_anew(cut: int, tmp_path: Path) -> None:
    """Where the last value counts, one that is forbidden is lifted by another one."""
    grammar = tmp_path / "last.tx"
    grammar.write_text("Keys: keys+=Key; Key: 'k' id=INT ('val' val=INT)?;")
    grammar.with_suffix(".problem").write_text(
        "class Keys { contains Key[] keys }\n@key(id, last) class Key { int[1] id int[0..1] val }\n"
        "error pred large(Key k) <-> val(k) > 3.\n"
    )
    has_a_witness(load_language(str(grammar)), "k 1 val 5 k 1 "[:cut])


def test_a_goal_is_written_with_qualified_names(tmp_path: Path) -> None:
    (tmp_path / "packages.tx").write_text(
        """
        Model: packages*=Package uses*=Use;
        Package: 'package' name=ID '{' things*=Thing '}';
        Thing: 'thing' name=ID;
        Use: 'use' one=[Thing:FQN|packages.things] 'and' two=[Thing:FQN|packages.things];
        FQN: ID+['.'];
        """
    )
    (tmp_path / "packages.problem").write_text(
        """
        class Model { contains Package[] packages  contains Use[] uses }
        class Package { string[1] name  contains Thing[] things }
        class Thing { string[1] name }
        class Use { Thing[1] one  Thing[1] two }
        error pred same(Use u) <-> one(u, t), two(u, t).
        """
    )
    packages = load_language(str(tmp_path / "packages.tx"))
    for text in ("package p { thing a } package q { thing a } use p.a and", "package p { thing a"):
        has_a_witness(packages, text)


CONNECTIONS = """\
component Plug { out mains: power gives 230.0 }
component Heater { in mains: power needs 230.0 }
component Machine {
    part plug: Plug
    part heater: Heater
    connect plug.mains -> heater.mains
"""


@pytest.mark.parametrize("end", ["connect", "plug", "plug.", "plug.mains", "->", "heater"])
def test_a_goal_keeps_to_the_paths_of_references(end: str) -> None:
    """A port is one of the part's type, a part one of what is around the connection."""
    at = CONNECTIONS.rindex(end) + len(end)
    # Every input is fed already, so what is connected is still to be declared.
    text = CONNECTIONS + "    " + CONNECTIONS[CONNECTIONS.index("connect") : at]
    has_a_witness(load_language("requirements"), text)


def test_a_reference_leads_to_what_only_another_file_declares() -> None:
    """The only port left is one that the text has not mentioned yet."""
    requirements = load_language("requirements")
    (machine,) = (e for e in requirements.examples if e.path.name == "coffee_machine.requirements")
    at_home = requirements.at(machine.path, Library(Disk()))
    text = machine.text[: machine.text.rindex("heater.") + len("heater.")]
    verdict = Prefix.start(at_home).advance(text).completable()
    assert verdict.answer == "yes"
    assert at_home.judge(text + str(verdict.witness)) == ()


@pytest.mark.parametrize("name", LANGUAGES)
def test_an_example_cut_anywhere_has_a_witness(name: str) -> None:
    source = random.Random(name)
    loaded = language(name)
    for example in source.sample(loaded.examples, EXAMPLES):
        for _ in range(CUTS):
            has_a_witness(loaded, example.text[: source.randrange(len(example.text))])


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_typist_is_never_without_a_witness(name: str) -> None:
    """Character by character along the shortest example, the witness carried on."""
    loaded = language(name)
    text = min((example.text for example in loaded.examples), key=len)
    prefix, witness = Prefix.start(loaded), None
    for char in text:
        prefix = prefix.advance(char)
        verdict = prefix.completable()
        assert verdict.answer == "yes", (prefix.text, verdict.reasons)
        if verdict.witness != (witness or "")[1:]:
            assert loaded.judge(prefix.text + (verdict.witness or "")) == ()
        witness = verdict.witness
    assert witness is not None


def test_the_witness_is_the_same_in_every_process() -> None:
    """Of goals that take as much, the same one is chosen whatever order sets have."""
    text = CHART + "event f\ninitial state B {\n    on e [n"
    text = text.replace("\ninitial", "\nvar m: int = 1\nstate C\nstate D\ninitial")
    code = (
        "from language_server.languages import load_language\n"
        "from language_server.projection import Prefix\n"
        f"print(Prefix.start(load_language('statechart')).advance({text!r}).completable())"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1
    assert "answer='yes'" in told.pop()


@cache
def language(name: str) -> Language:
    return load_language(name)


def has_a_witness(loaded: Language, text: str) -> None:
    verdict = Prefix.start(loaded).advance(text).completable()
    assert verdict.answer == "yes", (text, verdict.reasons)
    assert verdict.witness is not None
    assert loaded.judge(text + verdict.witness) == (), text + verdict.witness
