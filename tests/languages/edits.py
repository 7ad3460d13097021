"""Random edits, and what an analysis says of a text, without how it came to be."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from language_server.languages import Analysis, Language, load_language
from language_server.languages.language import Definition, build
from language_server.partial_model import ObjectId, PartialModel
from tests.syntax.corpus import CORPUS

METAMODELS = Path(__file__).resolve().parents[2] / "metamodels"

#: References that say the same from both ends, that are in others, that a person may repeat;
#: lists of values, single values that may stand twice, given objects, names that may be missing.
FAMILY = """
Model: ('scores' scores*=INT)? things*=Thing;
Thing: Person | Club;
Person:
    'person' name=ID?
    ('age' age=INT)* ('plays' plays=Sport)* ('likes' likes+=Sport[','])?
    ('friends' friends+=[Person][','])? ('best' best=[Person])?
    ('clubs' clubs+=[Club][','])? ('knows' knows=[Thing])?
    ('tags' tags+=STRING)* ('{' children*=Person '}')?;
Club: 'club' name=ID ('members' members+=[Person][','])? ('chair' chair=[Person])?;
Sport: /[a-z]+/;
"""
FAMILY_PROBLEM = """
class Model { int[] scores  contains Thing[] things }
abstract class Thing { string[0..1] name }
enum Sport { chess, ball, golf }
class Person extends Thing {
    int[0..1] age
    Sport[0..1] plays
    Sport[] likes
    Person[] friends opposite friends
    Person[0..1] best subsets friends
    Club[0..2] clubs opposite members
    Thing[0..1] knows
    string[] tags
    contains Person[] children opposite parent
    container Person[0..1] parent opposite children
}
class Club extends Thing { Person[] members opposite clubs  Person[0..1] chair subsets members }
@message("{p} is among its own friends")
error pred ownFriend(Person p) <-> friends(p, p).
pred related(Person p, Person q) <-> children(p, q) ; best(p, q).
@message("{p} is related to itself")
error pred inCircles(Person p) <-> related+(p, p).
error pred lonely(Person p) <-> count { friends(p, _) } < 1, !clubs(p, _).
@severity("warning")
error pred sameAge(Person p, Person q) <-> children(p, q), age(p) == age(q).
error pred nobodyPlays() <-> !plays(_, chess), count { Person(_) } > 2.
"""
FAMILY_TEXT = """scores 1 2 3 2
person ann age 40 plays chess likes ball, golf friends bob, cid best bob clubs c {
  person bob age 7 tags "x" tags "y" knows c
  person { person cid friends ann }
}
club c members ann, bob chair ann
person dan friends eve, ann best eve plays polo
person eve friends dan, dan likes chess, chess
"""


@cache
def edited_language(name: str) -> tuple[Language, tuple[str, ...]]:
    """A language by its name, of the corpus, shipped or of this file, with some texts."""
    if name == "family":
        with TemporaryDirectory() as folder:
            grammar, problem = Path(folder, "family.tx"), Path(folder, "family.problem")
            grammar.write_text(FAMILY)
            problem.write_text(FAMILY_PROBLEM)
            return build(Definition(name, grammar, problem)), (FAMILY_TEXT,)
    if (CORPUS / name).is_dir():
        (entry,) = (e for e in json.loads((CORPUS / "index.json").read_text()) if e["name"] == name)
        folder_of = CORPUS / name
        texts = tuple((folder_of / m).read_text(encoding="utf-8") for m in entry["models"])
        return build(Definition(name, folder_of / entry["grammar"])), texts
    language = load_language(name)
    texts = tuple(example.text for example in language.examples)
    return language, texts or ((METAMODELS / "statechart.problem").read_text(encoding="utf-8"),)


def edited(text: str, random: Random) -> str:
    """The text after a keystroke, a word that comes or goes, or a piece that is moved or copied."""
    at = random.randrange(len(text) + 1)
    choice = random.randrange(6)
    if choice == 0:
        return text[:at] + random.choice(text or "a") + text[at:]
    if choice == 1:
        return text[:at] + text[at + 1 :]
    if choice == 2:
        return text[:at] + random.choice('{}[]()"\n ,a1') + text[at + random.randrange(2) :]
    words = text.split(" ")
    word = random.randrange(len(words))
    if choice == 3:
        words[word] = random.choice(words)
    elif choice == 4:
        words[word : word + random.randrange(1, 6)] = []
    else:
        begin = random.randrange(len(words))
        words[word:word] = words[begin : begin + random.randrange(1, 6)]
    return " ".join(words)


def said(analysis: Analysis) -> dict[str, Any]:
    """All that an analysis says: problems, objects at their places, facts, links."""
    model = analysis.evaluation.model
    keys = {node: _key(model, node) for node in model.nodes}
    assert len(set(keys.values())) == len(keys)
    place = model.place
    return {
        "diagnostics": analysis.diagnostics,
        "objects": Counter(keys.values()),
        "in order": [keys[node] for node in model.objects() if model.nodes[node].start >= 0],
        "facts": {
            _renamed(model, cell, keys): _value(cell, value, keys)
            for cell, value in model.facts.items()
            if cell[0] not in ("key", "mentions")
        },
        "extents": {cls: {keys[node] for node in nodes} for cls, nodes in model.extents.items()},
        "names": {
            name: (
                {keys[node] for node in bearers},
                {
                    (cls, keys[r.source], r.feature, r.name, place(r.start), place(r.end))
                    for cls, found in references.items()
                    for r in found
                },
            )
            for name, (bearers, references) in model.names.items()
        },
        "stated": {
            keys[node]: {
                key: value if key[0] == "=" else {keys[other] for other in value}
                for key, value in said.items()
            }
            for node, said in model.stated.items()
        },
        "pending": {cell: keys[node] for cell, node in model.pending.items()},
        "ambiguous": {cell: [keys[n] for n in nodes] for cell, nodes in model.ambiguous.items()},
        "values": {
            (keys[node], feature): (found, place(start), place(end))
            for (node, feature), (found, start, end) in model.unknown_values.items()
        },
        "links": list(model.links),
        "violated": Counter(
            (violation.constraint, violation.element_names, violation.start, violation.facts)
            for violation in analysis.evaluation.obligations
        ),
        "rows": {
            name: Counter(tuple(map(keys.get, row)) for row in analysis.evaluation.rows(name))
            for name in analysis.evaluation.constraints.theory.predicates
            if name in analysis.evaluation.constraints.compiler.definitions
        },
    }


def _key(model: PartialModel, node: ObjectId) -> Any:
    record = model.nodes[node]
    if record.role in ("individual", "new"):
        return node
    places = tuple(map(model.place, (record.start, record.end, record.name_start, record.name_end)))
    kinds = tuple(sorted(record.kinds))
    return (places, record.role, kinds, record.name or "", record.open, record.rule)


def _renamed(model: PartialModel, cell: Any, keys: dict[ObjectId, Any]) -> Any:
    if cell[0] == "again":
        ends = (keys[cell[2]], keys[cell[3]])
        if model.schema.features[cell[1]].opposite == cell[1]:
            return (*cell[:2], frozenset(ends))  # counted from the end with the lower number
        return (*cell[:2], *ends)
    return cell


def _value(cell: Any, value: Any, keys: dict[ObjectId, Any]) -> Any:
    return {keys[node] for node in value} if cell[0] == "#" else value
