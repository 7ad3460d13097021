"""A language's own compiler: its verdict, where its errors are shown, what becomes of a bad one."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from language_server.languages import load_language
from language_server.languages.compiler import Compiler
from language_server.languages.error import LanguageError

GRAMMAR = "Model: words+=Word; Word: text=ID;"
#: Refuses texts with the word `bad`, in the manner of most compilers.
PROGRAM = """
import sys
text = open(sys.argv[-1]).read()
for number, line in enumerate(text.splitlines(), 1):
    if "bad" in line:
        column = line.index("bad") + 1
        print(f"Warning: this is only a warning\\n{sys.argv[-1]}:{number}:{column}: error: so bad")
        sys.exit(1)
"""


def compiler(tmp_path: Path, program: str, seconds: float = 20.0) -> Compiler:
    file = tmp_path / "compiler.py"
    file.write_text(program)
    return Compiler((sys.executable, str(file)), ".words", seconds)


def test_what_is_accepted_has_no_problem(tmp_path: Path) -> None:
    assert compiler(tmp_path, PROGRAM).problems("good\nbetter") == ()


def test_an_error_is_shown_at_its_place(tmp_path: Path) -> None:
    (found,) = compiler(tmp_path, PROGRAM).problems("good\n  bad")
    assert (found.start, found.end, found.severity) == (7, 8, "error")
    assert found.message.endswith(": so bad")


def test_an_error_with_two_columns_is_shown_between_them(tmp_path: Path) -> None:
    program = "import sys; print(f'Error: no\\n{sys.argv[-1]}:2.3-5'); sys.exit(1)"
    (found,) = compiler(tmp_path, program).problems("good\n  bad")
    assert (found.start, found.end) == (7, 10)


def test_a_refusal_without_a_place_is_shown_in_the_first_line(tmp_path: Path) -> None:
    (found,) = compiler(tmp_path, "import sys; sys.exit(3)").problems("good\nbetter")
    assert (found.start, found.end, found.code) == (0, 4, "compiler")


def test_what_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    # The child of the compiler would write the file later on.
    program = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1);"
        f' open("{mark}", "w")\'])\n'
        "time.sleep(60)\n"
    )
    (found,) = compiler(tmp_path, program, seconds=0.5).problems("good")
    assert found.code == "compiler-timeout"
    time.sleep(1.5)
    assert not mark.exists()


def test_what_is_not_installed_says_nothing() -> None:
    missing = Compiler(("no-such-compiler",))
    assert not missing.installed
    assert missing.problems("bad") == ()


def workspace(tmp_path: Path) -> Path:
    """A workspace whose manifest names the compiler."""
    program = compiler(tmp_path, PROGRAM).command
    (tmp_path / "words.tx").write_text(GRAMMAR)
    (tmp_path / "langwright.toml").write_text(
        f'[[language]]\nname = "words"\ngrammar = "words.tx"\ncompiler = {list(program)}\n'
    )
    return tmp_path


def test_in_a_workspace_without_trust_its_compiler_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGWRIGHT_UNTRUSTED", "1")
    assert load_language("words", workspace(tmp_path)).judge("good bad") == ()


def test_a_manifest_names_the_compiler(tmp_path: Path) -> None:
    words = load_language("words", workspace(tmp_path))
    assert words.judge("good better") == ()
    (found,) = words.judge("\ufeffgood bad")
    assert (found.start, found.code) == (6, "compiler")
    assert words.analyse("good bad").diagnostics == ()  # not while one types
    (syntax,) = words.judge("bad 3")  # what textX refuses is not asked about
    assert syntax.source == "syntax"


def test_the_compiler_is_a_list_of_texts(tmp_path: Path) -> None:
    (tmp_path / "words.tx").write_text(GRAMMAR)
    (tmp_path / "langwright.toml").write_text(
        '[[language]]\nname = "words"\ngrammar = "words.tx"\ncompiler = "words"\n'
    )
    with pytest.raises(LanguageError, match="'compiler' is a list of texts"):
        load_language("words", tmp_path)
