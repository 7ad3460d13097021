"""``--given FILE``: facts that hold from the start, for each command that starts a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Command

FACTS = "State(Open). State(Closed). !exists(State::new).\n"


@pytest.fixture
def facts(door: Path) -> Path:
    Path("facts.problem").write_text(FACTS)
    return Path("facts.problem")


def test_check(langwright: Command, door: Path, facts: Path) -> None:
    assert langwright("check", door, "--given", facts).code == 0
    door.write_text(door.read_text() + "state Ajar\n")
    outcome = langwright("check", door, "--given", facts)
    assert outcome.code == 1
    assert f"{door}:12:7: error: there is no state 'Ajar'; there are Closed, Open" in outcome.out
    assert "[not-given]" not in langwright("check", door).out


def test_check_of_many(langwright: Command, door: Path, facts: Path) -> None:
    line = '{"id": 1, "text": "statechart D initial state Shut"}'
    arguments = ("check", "--jsonl", "-l", "statechart")
    assert langwright(*arguments, stdin=line).code == 0
    outcome = langwright(*arguments, "--given", facts, stdin=line)
    assert {each["code"] for each in outcome.lines[0]["problems"]} == {
        "not-given",
        "given-undeclared",
    }


def test_prefix(langwright: Command, door: Path, facts: Path) -> None:
    arguments = ("prefix", "-", "-l", "statechart", "--given", facts)
    outcome = langwright(*arguments, stdin="statechart D initial state Ajar {")
    assert outcome.code == 1
    assert outcome.out.splitlines()[1].strip().startswith("there is no state 'Ajar'")
    begun = "statechart D initial state Op"
    outcome = langwright(*arguments, "--json", stdin=begun)
    assert outcome.json["verdict"] == "completable"
    assert "state Closed" in outcome.json["witness"]


def test_complete(langwright: Command, door: Path, facts: Path) -> None:
    Path("half.statechart").write_text("statechart D\ninitial state ")
    outcome = langwright("complete", "half.statechart", "--at", "2:15", "--given", facts, "--json")
    labels = {item["label"] for item in outcome.json["items"]}
    assert {"Open", "Closed"} == labels


def test_generate(langwright: Command, door: Path, facts: Path) -> None:
    arguments = ("generate", "a door", "-l", "statechart", "--model", f"replay:{door}")
    outcome = langwright(*arguments, "--given", facts, "--json")
    assert outcome.code == 0
    assert outcome.json["text"].split() == door.read_text().split()
    facts.write_text("State(Shut). !exists(State::new).")
    outcome = langwright(*arguments, "--given", facts, "--json", "--max-tokens", "100")
    assert outcome.json["valid"]
    assert "Shut" in outcome.json["text"]
    assert "initial state Closed" not in outcome.json["text"]


@pytest.mark.parametrize("command", ["check", "prefix", "complete"])
def test_a_mistake_in_the_facts(langwright: Command, door: Path, facts: Path, command: str) -> None:
    facts.write_text(FACTS + "\n  Stat(Ajar).\n")
    more = ["--at", "1:1"] if command == "complete" else []
    outcome = langwright(command, door, "--given", facts, *more)
    assert outcome.code == 2
    assert outcome.out == ""
    (line,) = outcome.err.splitlines()
    assert f"{facts.name}:3:3: 'Stat' is not declared. did you mean 'State'?" in line


def test_no_such_file(langwright: Command, door: Path) -> None:
    outcome = langwright("check", door, "--given", "none.problem")
    assert outcome.code == 2
    assert "none.problem: there is no such file of given facts" in outcome.err
