"""Languages registered with textX: a broken package takes no other with it (T1, T2, T5, T22)."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest
from textx import metamodel_from_file, metamodel_from_str
from textx.registration import LanguageDesc

import language_server.languages.installed as installed
from language_server.languages import LanguageError, load_language, registry
from language_server.languages.installed import installed_languages

GOOD = "Model: 'hello' name=ID;"


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Registers languages: a description, or the code of a module that fails."""
    entries: list[EntryPoint] = []
    monkeypatch.setattr(installed, "entry_points", lambda group: entries)
    monkeypatch.syspath_prepend(tmp_path)

    def add(name: str, value: LanguageDesc | str) -> None:
        module = f"plugin_{name}"
        if isinstance(value, str):
            (tmp_path / f"{module}.py").write_text(value)
        else:
            monkeypatch.setitem(sys.modules, module, SimpleNamespace(language=value))
        entry = EntryPoint(name, f"{module}:language", "textx_languages")
        entries.append(entry._for(SimpleNamespace(name=f"dist-{name}")))

    return add


def test_a_registered_language(register) -> None:
    register("hi", LanguageDesc("Hi", "*.hi *.hello", "Greets.", lambda: metamodel_from_str(GOOD)))
    (found,) = installed_languages()
    assert (found.name, found.package, found.patterns) == ("hi", "dist-hi", ("*.hi", "*.hello"))
    language = load_language("hi")
    assert language.extensions == (".hi", ".hello")
    assert language.analyse("hello world").diagnostics == ()
    assert [e.name for e in registry().for_file(Path("x.hello"))] == ["hi"]


def test_t1_a_package_that_does_not_import(register) -> None:
    register("bad", "import a_module_that_is_not_there")
    register("hi", LanguageDesc("hi", "*.hi", "", lambda: metamodel_from_str(GOOD)))
    bad, good = installed_languages()
    assert good.failure is None
    assert bad.failure is not None
    assert "dist-bad" in bad.failure.message
    assert "a_module_that_is_not_there" in bad.failure.message
    assert load_language("hi").name == "hi"
    with pytest.raises(LanguageError):
        load_language("bad")


def test_t2_a_language_without_pattern(register) -> None:
    register("plain", LanguageDesc("plain", None, "", lambda: metamodel_from_str(GOOD)))
    (found,) = installed_languages()
    assert found.patterns == ()
    assert registry().for_file(Path("x.plain")) == ()
    assert load_language("plain").analyse("hello you").diagnostics == ()


def test_t5_a_language_without_its_grammar_file(register, tmp_path: Path) -> None:
    missing = tmp_path / "missing.tx"
    register("gone", LanguageDesc("gone", "*.gone", "", lambda: metamodel_from_file(str(missing))))
    with pytest.raises(LanguageError) as caught:
        load_language("gone")
    assert str(missing) in caught.value.message
    assert "dist-gone" in caught.value.message


def test_t22_an_old_plugin(register) -> None:
    def metamodel():
        import textx

        return textx.function_that_textx_has_removed()

    register("old", LanguageDesc("old", "*.old", "", metamodel))
    with pytest.raises(LanguageError) as caught:
        load_language("old")
    assert "package dist-old fails" in caught.value.message
    assert "update dist-old" in caught.value.cure


def test_a_grammar_of_a_package_with_an_error(register) -> None:
    register("wrong", LanguageDesc("wrong", "*.w", "", lambda: metamodel_from_str("Model: x;")))
    with pytest.raises(LanguageError) as caught:
        load_language("wrong")
    assert "dist-wrong" in caught.value.message
