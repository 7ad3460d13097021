"""Wrong use: one line on standard error with the file, the place and the cure; exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Command, Outcome


def assert_refused(outcome: Outcome, *words: str) -> None:
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    *notes, error = outcome.err.splitlines()
    assert all(note.startswith("loading ") for note in notes), outcome.err
    assert error.startswith("langwright: ")
    assert "internal error" not in error
    for word in words:
        assert word in error


def test_a_missing_file(langwright: Command, here: Path) -> None:
    assert_refused(langwright("check", "none.statechart"), "none.statechart", "no such file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(langwright: Command, door: Path) -> None:
    door.chmod(0)
    assert_refused(langwright("check", door), "door.statechart", "permission")


def test_a_folder(langwright: Command, here: Path) -> None:
    (here / "x.statechart").mkdir()
    assert_refused(langwright("check", "x.statechart"), "folder")


@pytest.mark.parametrize("command", ["check", "prefix", "complete"])
def test_a_binary_file(langwright: Command, here: Path, command: str) -> None:
    (here / "x.statechart").write_bytes(b"\x7fELF\x00\x01\xff")
    more = ["--at", "1:1"] if command == "complete" else []
    assert_refused(langwright(command, "x.statechart", *more), "x.statechart", "binary")


def test_text_in_another_encoding(langwright: Command, here: Path) -> None:
    (here / "x.statechart").write_bytes("statechart Tür".encode("latin-1"))
    assert_refused(langwright("check", "x.statechart"), "line 1", "UTF-8")


def test_binary_standard_input(langwright: Command, here: Path) -> None:
    outcome = langwright("prefix", "-", "-l", "statechart", stdin=b"\x00\xff")
    assert_refused(outcome, "<standard input>", "binary")


def test_a_grammar_with_a_syntax_error(langwright: Command, here: Path) -> None:
    (here / "g.tx").write_text("Model: 'model' name=ID;\nOops 'x'")
    (here / "a.g").write_text("model a")
    assert_refused(langwright("check", "--language", "g.tx", "a.g"), "g.tx:2:")
    assert_refused(langwright("metamodel", "g.tx"), "g.tx:2:")


def test_a_problem_file_that_names_a_class_the_grammar_lacks(
    langwright: Command, here: Path
) -> None:
    (here / "g.tx").write_text("Model: 'model' name=ID;")
    (here / "g.problem").write_text("class Model {\n    string name\n}\nclass Ghost.\n")
    (here / "a.g").write_text("model a")
    assert_refused(langwright("check", "--language", "g.tx", "a.g"), "g.problem:4:", "Ghost")


def test_a_problem_file_with_a_syntax_error(langwright: Command, here: Path) -> None:
    (here / "g.tx").write_text("Model: 'model' name=ID;")
    (here / "g.problem").write_text("class Model {\n    string name\n")
    (here / "a.g").write_text("model a")
    assert_refused(langwright("check", "--language", "g.tx", "a.g"), "g.problem:")


def test_an_unknown_language(langwright: Command, door: Path) -> None:
    outcome = langwright("check", "--language", "statechrat", door)
    assert_refused(outcome, "statechrat", "statechart")


def test_a_grammar_that_does_not_exist(langwright: Command, door: Path) -> None:
    assert_refused(langwright("check", "--language", "none.tx", door), "none.tx")


def test_a_file_no_language_claims(langwright: Command, here: Path) -> None:
    (here / "a.nothing").write_text("x")
    assert_refused(langwright("check", "a.nothing"), "a.nothing", "--language", ".statechart")


@pytest.mark.parametrize("model", ["./none", "replay:none.txt", "nonsense"])
def test_a_model_that_is_none(langwright: Command, here: Path, model: str) -> None:
    outcome = langwright("generate", "-l", "statechart", "--model", model, "x")
    assert_refused(outcome, model.removeprefix("replay:"))


def test_a_folder_that_is_no_model(langwright: Command, here: Path) -> None:
    (here / "empty").mkdir()
    outcome = langwright("generate", "-l", "statechart", "--model", "./empty", "x")
    assert_refused(outcome, "empty")


def test_an_unknown_strategy(langwright: Command, here: Path) -> None:
    arguments = ("--model", "random", "--strategy", "magic")
    assert_refused(langwright("generate", "-l", "statechart", *arguments, "x"), "magic", "assured")


@pytest.mark.parametrize("option", ["--top-p", "--min-p", "--repetition-penalty"])
def test_a_sampling_parameter_without_meaning(langwright: Command, here: Path, option: str) -> None:
    arguments = ("--model", "random", option, "-3")
    outcome = langwright("generate", "-l", "statechart", *arguments, "x")
    assert_refused(outcome, option.strip("-").replace("-", "_"))


def test_a_budget_that_holds_no_model(langwright: Command, here: Path) -> None:
    arguments = ("--model", "random", "--max-tokens", "1")
    outcome = langwright("generate", "-l", "statechart", *arguments, "x")
    assert_refused(outcome, "--max-tokens")


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        ("nonsense\n", ("line 1", "JSON")),
        ('{"id": 1}\n', ("record", '"text"')),
        ('{"id": 1, "text": "statechart A initial state B"}\n[]\n', (":2", "record")),
    ],
)
def test_json_lines_that_are_none(
    langwright: Command, here: Path, stdin: str, words: tuple[str, ...]
) -> None:
    outcome = langwright("check", "-l", "statechart", "--jsonl", stdin=stdin)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    for word in words:
        assert word in outcome.err.replace("<standard input>:1", "line 1")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("check",), "file"),
        (("check", "--jsonl"), "--language"),
        (("prefix",), "standard input"),
        (("prefix", "-"), "--language"),
        (("check", "--nonsense", "x"), "--nonsense"),
        (("frobnicate",), "frobnicate"),
        (("complete", "x.statechart"), "--at"),
        (("generate", "x"), "--language"),
        (("generate", "-l", "statechart", "--seed", "x", "y"), "--seed"),
        (("generate", "-l", "statechart", "--max-tokens", "0", "y"), "--max-tokens"),
    ],
)
def test_options(langwright: Command, here: Path, arguments: tuple[str, ...], word: str) -> None:
    assert_refused(langwright(*arguments), word)


def test_a_closed_pipe_is_no_error(door: Path) -> None:
    command = f"{sys.executable} -m language_server languages | head -c 1"
    outcome = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert outcome.stderr == ""


def test_the_module_is_the_command(door: Path) -> None:
    outcome = subprocess.run(
        [sys.executable, "-m", "language_server", "check", "none.statechart"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 2
    assert "no such file" in outcome.stderr
