"""The rules of a grammar without comments, as textX reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from textx import metamodel_from_file, metamodel_from_str

from language_server.languages.grammar_file import rules_of
from language_server.languages.shipped import shipped_grammars

TRICKY = r"""
/* a ';' in a comment */ reference other as o   reference third
import sub.words  // what is imported
Model: 'a  // b' "/* c */;" /\/\/[^;]*  ;"'/ words+=Word ';' ; // ;
Sum : 'it\'s;' |
    x=/'/;Last: "say \"//\""    /*;*/ ;
"""


def test_only_comments_and_blanks_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "tricky.tx").write_text(TRICKY)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "words.tx").write_text("import more\nWord: name=ID;\n")
    (tmp_path / "sub" / "more.tx").write_text("// more\nimport words\nMore: 'more';\n")
    assert rules_of(tmp_path / "tricky.tx") == (
        "reference other as o",
        "reference third",
        r"""Model: 'a  // b' "/* c */;" /\/\/[^;]*  ;"'/ words+=Word ';' ;""",
        r"Sum : 'it\'s;' | x=/'/;",
        r'Last: "say \"//\"" ;',
        "Word: name=ID;",
        "More: 'more';",
    )


@pytest.mark.parametrize("name", shipped_grammars())
def test_textx_reads_the_rules_as_it_reads_the_grammar(name: str) -> None:
    path = shipped_grammars()[name]
    whole, short = metamodel_from_file(str(path)), metamodel_from_str("\n".join(rules_of(path)))
    described = [
        {
            cls.__name__: sorted((a.name, a.mult, a.cls.__name__) for a in cls._tx_attrs.values())
            for cls in metamodel
        }
        for metamodel in (whole, short)
    ]
    assert described[0] == described[1]
    for example in path.with_suffix(".examples").glob("*.*"):
        assert type(short.model_from_file(example)).__name__ == whole.rootcls.__name__
