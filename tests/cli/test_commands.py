"""The commands on the two shipped languages."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.texts import DOOR

from .conftest import Command


class TestLanguages:
    def test_shipped_languages_are_listed(self, langwright: Command, here: Path) -> None:
        outcome = langwright("languages", "--json")
        assert outcome.code == 0
        rows = {row["name"]: row for row in outcome.json["languages"]}
        assert rows["statechart"]["origin"] == rows["clevr"]["origin"] == "shipped"
        assert rows["statechart"]["extensions"] == [".statechart"]
        assert rows["statechart"]["loads"]
        assert rows["statechart"]["examples"] > 0

    def test_what_does_not_load_is_listed_with_the_reason(
        self, langwright: Command, here: Path
    ) -> None:
        (here / "broken.tx").write_text("Model: 'model' name=ID\n")
        (here / "langwright.toml").write_text(
            '[[language]]\nname = "broken"\ngrammar = "broken.tx"\n'
        )
        outcome = langwright("languages", "--json")
        assert outcome.code == 0
        assert outcome.json["failures"][0]["path"].endswith("broken.tx")
        assert outcome.json["failures"][0]["line"]
        told = langwright("languages")
        assert "statechart" in told.out
        assert "broken.tx" in told.err

    def test_doubtful_grammars_are_listed_with_the_place(
        self, langwright: Command, here: Path
    ) -> None:
        (here / "value.tx").write_text("Model: value=Value;\nValue: INT | FLOAT;\n")
        (here / "langwright.toml").write_text('[[language]]\ngrammar = "value.tx"\n')
        rows = {row["name"]: row for row in langwright("languages", "--json").json["languages"]}
        (warning,) = rows["value"]["warnings"]
        assert (warning["line"], warning["column"]) == (2, 14)
        assert rows["statechart"]["warnings"] == []
        told = langwright("languages")
        assert told.code == 0
        assert f"{here / 'value.tx'}:2:14: warning: in rule Value, INT" in told.out


class TestCheck:
    def test_a_consistent_model(self, langwright: Command, door: Path) -> None:
        outcome = langwright("check", door)
        assert (outcome.code, outcome.out) == (0, "")

    def test_a_dangling_reference(self, langwright: Command, door: Path) -> None:
        door.write_text(DOOR.replace("-> Open", "-> Opened"))
        outcome = langwright("check", door)
        assert outcome.code == 1
        assert any(line.startswith(f"{door}:7:16: error: ") for line in outcome.out.splitlines())
        problems = langwright("check", door, "--json").json[0]["problems"]
        found = next(each for each in problems if each["source"] == "reference")
        assert found["range"] == {
            "start": {"line": 6, "character": 15},
            "end": {"line": 6, "character": 21},
        }
        assert found["severity"] == "error"
        assert found["code"]
        assert "Opened" in found["message"]

    def test_a_violated_constraint_names_itself_and_the_elements(
        self, langwright: Command, door: Path
    ) -> None:
        door.write_text(DOOR.replace("state Open {", "initial state Open {"))
        problems = langwright("check", door, "--json").json[0]["problems"]
        found = [each for each in problems if each.get("constraint") == "several_initial"]
        assert found
        assert found[0]["source"] == "constraint"
        assert {"Closed", "Open"} & set(found[0]["elements"])

    def test_what_would_lift_a_problem(self, langwright: Command, here: Path) -> None:
        (here / "door.statechart").write_text(DOOR.replace("initial ", ""))
        told = langwright("check", "door.statechart").out
        assert "note: would be lifted by: Insert 'initial'" in told
        assert "lifted" not in langwright("check", "door.statechart", "--no-fixes").out
        (answer,) = langwright("check", "door.statechart", "--json").json
        assert not any("fixes" in problem for problem in answer["problems"])
        record = json.dumps({"id": 1, "text": DOOR.replace("initial ", "")})
        outcome = langwright("check", "-l", "statechart", "--jsonl", "--fixes", stdin=record)
        problems = json.loads(outcome.out)["problems"]
        (missing,) = [each for each in problems if each["code"] == "missing-initial"]
        assert missing["fixes"][0]["title"].startswith("Insert 'initial'")
        assert missing["fixes"][0]["text"].strip() == "initial"
        place = missing["fixes"][0]["range"]
        assert place["start"] == place["end"]

    def test_several_files(self, langwright: Command, door: Path) -> None:
        Path("bad.statechart").write_text("statechart")
        outcome = langwright("check", door, "bad.statechart", "--json")
        assert outcome.code == 1
        assert [row["file"] for row in outcome.json] == ["door.statechart", "bad.statechart"]
        assert outcome.json[0]["problems"] == []
        assert outcome.json[1]["problems"]

    def test_json_lines(self, langwright: Command, here: Path) -> None:
        records = [{"id": 7, "text": DOOR}, {"id": "x", "text": "statechart"}]
        stdin = "\n".join(map(json.dumps, records)) + "\n\n"
        outcome = langwright("check", "--language", "statechart", "--jsonl", stdin=stdin)
        assert outcome.code == 1
        assert [line["id"] for line in outcome.lines] == [7, "x"]
        assert outcome.lines[0]["problems"] == []
        assert outcome.lines[1]["problems"][0]["source"] == "syntax"

    def test_a_grammar_of_ones_own(self, langwright: Command, here: Path) -> None:
        (here / "list.tx").write_text("List: items+=Item; Item: 'item' name=ID;")
        (here / "a.txt").write_text("item a item b")
        assert langwright("check", "--language", "list.tx", "a.txt").code == 0
        (here / "a.txt").write_text("item a itm b")
        assert langwright("check", "--language", "list.tx", "a.txt").code == 1

    def test_t17_byte_order_mark(self, langwright: Command, door: Path) -> None:
        door.write_bytes(b"\xef\xbb\xbf" + DOOR.encode())
        assert langwright("check", door).code == 0


class TestPrefix:
    def test_the_witness_completes_it(self, langwright: Command, door: Path) -> None:
        begun = DOOR[: DOOR.index("-> Open") + 3]
        door.write_text(begun)
        outcome = langwright("prefix", door, "--json")
        assert outcome.code == 0
        assert outcome.json["verdict"] == "completable"
        door.write_text(begun + outcome.json["witness"])
        assert langwright("check", door).code == 0

    def test_a_text_that_nothing_completes(self, langwright: Command, here: Path) -> None:
        outcome = langwright("prefix", "-", "-l", "statechart", "--json", stdin="statechart )")
        assert outcome.code == 1
        assert outcome.json["verdict"] == "not_completable"
        assert outcome.json["witness"] is None
        assert outcome.json["reasons"]

    def test_json_lines(self, langwright: Command, here: Path) -> None:
        stdin = '{"id": 1, "text": "statech"}\n{"id": 2, "text": "nonsense"}\n'
        outcome = langwright("prefix", "--jsonl", "-l", "statechart", stdin=stdin)
        assert [line["verdict"] for line in outcome.lines] == ["completable", "not_completable"]


class TestComplete:
    def test_references(self, langwright: Command, door: Path) -> None:
        door.write_text(DOOR.replace("-> Open\n", "-> \n"))
        outcome = langwright("complete", door, "--at", "7:16", "--json")
        assert outcome.code == 0
        first = outcome.json["items"][:2]
        assert {item["label"] for item in first} == {"Open", "Closed"}
        assert first[0]["verdict"] == "proven"
        assert first[0]["range"]["start"] == {"line": 6, "character": 15}
        told = langwright("complete", door, "--at", "7:16")
        assert "target of Transition" in told.out

    @pytest.mark.parametrize(
        ("at", "message"),
        [
            ("99:1", "there is no line 99"),
            ("0:1", "there is no line 0"),
            ("1:99", "line 1 has no column 99"),
            ("1", "LINE:COLUMN"),
            ("a:b", "LINE:COLUMN"),
        ],
    )
    def test_a_place_that_is_none(
        self, langwright: Command, door: Path, at: str, message: str
    ) -> None:
        outcome = langwright("complete", door, "--at", at)
        assert outcome.code == 2
        assert message in outcome.err
        assert outcome.err.count("\n") == 1


class TestGenerate:
    def test_the_random_model_gives_a_valid_text(self, langwright: Command, here: Path) -> None:
        limits = ("--max-tokens", "60", "--deadline", "4")
        outcome = langwright("generate", "-l", "statechart", "--model", "random", *limits, "x")
        assert outcome.code == 0
        assert "Valid" in outcome.err
        Path("a.statechart").write_text(outcome.out)
        assert langwright("check", "a.statechart").code == 0

    def test_replay(self, langwright: Command, here: Path) -> None:
        (here / "gold.txt").write_text("statechart D\n\ninitial state A")
        arguments = ("generate", "-l", "statechart", "--model", "replay:gold.txt")
        outcome = langwright(*arguments, "a door")
        assert outcome.out == "statechart D\n\ninitial state A\n"
        assert outcome.code == 0
        told = langwright(*arguments, "a door", "--json").json
        assert told["text"] == "statechart D\n\ninitial state A"
        assert told["valid"]
        assert told["tokens"].keys() >= {"model", "forced", "witness"}
        assert told["seconds"].keys() >= {"model", "syntax", "semantics"}
        assert {"model_calls", "rejections"} <= told.keys()

    def test_the_story_of_a_generation(self, langwright: Command, here: Path) -> None:
        gold = "statechart D\n\n" + "\n".join(f"event e{i}" for i in range(6)) + "\ninitial state A"
        (here / "gold.txt").write_text(gold)
        arguments = ("--model", "replay:gold.txt", "--trace", "--repetition-penalty", "1.2")
        outcome = langwright("generate", "-l", "statechart", *arguments, "a door")
        assert outcome.out == f"{gold}\n"
        told = [line.split()[1] for line in outcome.err.splitlines() if line[:5].strip().isdigit()]
        assert {"model", "forced", "snapshot:"} <= set(told)

    def test_the_best_of_several(self, langwright: Command, here: Path) -> None:
        arguments = ("generate", "-l", "statechart", "--model", "random", "--max-tokens", "60")
        told = langwright(*arguments, "--n", "3", "--json", "x").json
        likelihoods = [told["likelihood"], *(one["likelihood"] for one in told["alternatives"])]
        assert len(likelihoods) == 3
        assert likelihoods == sorted(likelihoods, reverse=True)
        outcome = langwright(*arguments, "--n", "3", "x")
        assert outcome.code == 0
        assert outcome.out == told["text"].removesuffix("\n") + "\n"
        assert "The best of 3 different texts." in outcome.err

    def test_an_invalid_result_is_told(self, langwright: Command, here: Path) -> None:
        (here / "bad.txt").write_text("statechart")
        arguments = ("--strategy", "free", "--model", "replay:bad.txt")
        outcome = langwright("generate", "-l", "statechart", *arguments, "a door")
        assert outcome.code == 1
        assert outcome.out == "statechart\n"
        assert "Not valid" in outcome.err


class TestMetamodel:
    def test_the_classes_of_a_grammar(self, langwright: Command, here: Path) -> None:
        (here / "list.tx").write_text("List: items+=Item; Item: 'item' name=ID;")
        outcome = langwright("metamodel", "list.tx")
        assert outcome.code == 0
        assert "class Item" in outcome.out
        (here / "list.problem").write_text(outcome.out)
        (here / "a.txt").write_text("item a")
        assert langwright("check", "--language", "list.tx", "a.txt").code == 0


def test_the_command_starts_quickly_and_without_torch(door: Path) -> None:
    code = (
        "import sys; from language_server import cli; code = cli.run(sys.argv[1:]);"
        "heavy = {'torch', 'transformers', 'numpy', 'lsprotocol'} & sys.modules.keys();"
        "sys.exit(f'imported {heavy}' if heavy else code)"
    )
    command = [sys.executable, "-c", code, "check", str(door)]
    subprocess.run(command, check=True, capture_output=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 2.0
