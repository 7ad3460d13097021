"""All texts over small alphabets: what may be completed, by the judgement of textX.

No prefix of a text that textX loads is rejected, a text is complete iff textX loads it, and a
prefix is completable only with a witness that textX loads. How often the answer is *unknown* is
printed for each grammar (``pytest -s``).
"""

from __future__ import annotations

from typing import Any

import pytest
from textx import metamodel_from_str

from language_server.languages.language import Definition, build
from language_server.projection import Effort, Prefix
from tests.syntax.brute import SMALL, Small

#: Texts tried in the default run; ``long`` tries more.
FEW, MANY = 40, 600
EFFORT = Effort(texts=60, pools=(2,))

_LOOKS_AHEAD = "texts are not looked for by what a lookahead asks for"
_HOPELESS = "nothing completes these prefixes, which no bounded search proves"
_TOO_LATE = "a name with scope rules of its own, where there is no place for declarations any more"
#: Why some prefixes of these grammars are unknown; all other grammars have none.
UNKNOWN = {
    "greedy repetition": _HOPELESS,
    "and": _LOOKS_AHEAD,
    "suppressed sequence": _HOPELESS,
    "regex lookahead": _LOOKS_AHEAD,
    "regex boundary": _LOOKS_AHEAD,
    "comment with structure": "the end of a comment is looked for among single terminals",
    "comments without skipping": _HOPELESS,
    "stolen terminator": _HOPELESS,
    "reference with a rule": _TOO_LATE,
    "user class and builtins": _TOO_LATE,
    "skipws off": _HOPELESS,
}
#: Only textX resolves these references, on finished texts: to objects of another language, which
#: stand in another file.
DECIDED_BY_TEXTX = {"reference of a language"}

GRAMMARS = [small for small in SMALL if small.name not in DECIDED_BY_TEXTX]


@pytest.mark.parametrize("small", GRAMMARS, ids=lambda small: small.name)
def test_short_prefixes(small: Small) -> None:
    """The shortest texts."""
    check(small, small.texts()[: FEW if small.name != "stolen terminator" else 6])


@pytest.mark.long
@pytest.mark.parametrize("small", GRAMMARS, ids=lambda small: small.name)
def test_prefixes(small: Small) -> None:
    """More of them."""
    check(small, small.texts()[: MANY if small.name != "stolen terminator" else 15])


def test_most_grammars_leave_nothing_unknown() -> None:
    """At least nine do; each of the others has a reason."""
    assert len(GRAMMARS) - len(UNKNOWN) >= 9
    assert UNKNOWN.keys() <= {small.name for small in GRAMMARS}


def check(small: Small, texts: list[tuple[str, ...]]) -> None:
    """Compare every text with textX; a text comes after its prefixes."""
    metamodel = small.metamodel()
    loading = {text for text in texts if loads(metamodel, "".join(text))}
    begun = {text[:end] for text in loading for end in range(len(text) + 1)}
    prefixes = {(): Prefix.start(build(Definition(small.name), metamodel))}
    asked = unknown = 0
    for text in texts:
        before = prefixes.get(text[:-1])
        if before is None:  # its beginning was rejected
            assert text not in loading, text
            continue
        prefix = prefixes[text] if text == () else before.advance(text[-1])
        assert prefix.complete == (text in loading), text
        verdict = prefix.completable(EFFORT)
        if verdict.answer == "no":
            assert text not in begun, text
            continue
        prefixes[text] = prefix
        asked += 1
        if verdict.answer == "unknown":
            unknown += 1
        else:
            assert loads(metamodel, prefix.text + str(verdict.witness)), (text, verdict.witness)
    print(f"{small.name}: {unknown} of {asked} prefixes unknown ({unknown / asked:.0%})")
    assert small.name in UNKNOWN or unknown == 0


def loads(metamodel: Any, text: str) -> bool:
    """Whether textX loads a text; an error of its own is no load."""
    try:
        metamodel.model_from_str(text)
    except Exception:  # textX trips over some of the texts itself
        return False
    return True


def test_a_name_without_a_place_for_its_declaration_is_no_dead_end_elsewhere() -> None:
    """What may still be declared, also as the object that is just being written, is no proof."""
    grammar = """
        M: bs*=B 'end' rs*=R; B: D | P; P: 'b' '{' ds*=D '}';
        D: 'd' r=[D]? ':' name=ID; R: r=[D];
    """
    of = build(Definition("late"), metamodel_from_str(grammar))
    answers = {
        "d x : a ": "yes",  # x may come
        "d a ": "yes",  # it may be itself
        "b { d x : a } ": "yes",
        "d x : a end ": "no",
        "d a : a end b ": "no",
        "d a : a end a ": "yes",
    }
    for text, answer in answers.items():
        verdict = Prefix.start(of).advance(text).completable()
        assert verdict.answer == answer, (text, verdict)
        if verdict.witness is not None:
            of.metamodel.model_from_str(text + verdict.witness)
