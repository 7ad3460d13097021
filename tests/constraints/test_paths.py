"""The features along which references are found, as their expressions (RREL) say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from language_server.constraints.paths import paths_of
from language_server.languages import load_language

GRAMMAR = """
Model: boxes+=Box uses*=Use;
Box: 'box' name=ID ('in' inside=[Box|ID])? '{{' things*=Thing boxes*=Box uses*=Use '}}';
Thing: 'thing' name=ID;
Use: 'use' box=[Box|ID] thing=[Thing|ID|{expression}];
"""


@pytest.mark.parametrize(
    ("expression", "paths"),
    [
        (".~box.things", [(False, ("Use::box", "Box::things"))]),
        (
            ".~box.~inside.things,.~box.things",
            [
                (False, ("Use::box", "Box::inside", "Box::things")),
                (False, ("Use::box", "Box::things")),
            ],
        ),
        ("^things", [(True, ("Box::things",))]),
        ("^~box.things", [(True, ("Use::box", "Box::things"))]),
        (".box.things", None),  # the box is named, too
        (".~box.'a'~boxes.things", None),  # only a box of that name
        (".~box.~boxes*.things", None),
        ("..things", None),  # from the object around it
        ("parent(Box).things", None),
        ("boxes.things", None),  # from the root
        ("+p:.~box.things", None),
    ],
)
def test_paths(expression: str, paths: object, tmp_path: Path) -> None:
    path = tmp_path / "boxes.tx"
    path.write_text(GRAMMAR.format(expression=expression), encoding="utf-8")
    constraints = load_language(str(path)).constraints
    feature = constraints.schema.features["Use::thing"]
    assert paths_of(constraints.schema, constraints.mapping.links, feature) == paths
    by_name = constraints.schema.features["Box::inside"]
    assert paths_of(constraints.schema, constraints.mapping.links, by_name) is None
