"""Features that come together: in all texts that textX loads, of those with any set of features."""

from __future__ import annotations

from itertools import combinations

import pytest
import textx

from language_server.syntax import Grammar

WORDS = "abcdef"
BODIES = (
    "a=A (b=B c=C)? (d=D | e=E f*=F)?",
    "(a=A b=B | a=A c=C) d+=D (e=E f=F?)?",
    "(a=A b=B? (c=C d=D)?)? e?='e' (f+=F)?",
    "(a=A | b=B)? (c=C (d=D &'e' e=E | 'f')?)?",
    "a=A? (b=B c=C)? ('d' d=D (e=E f=F)?)?",
    "(a=A b=B)# c?='c' (d?='d' e=E | 'f')?",
    "(a*=A b=B | c=Empty d=D)? e=E? f?='f'",
)


@pytest.mark.parametrize("body", BODIES)
def test_as_in_the_texts_that_textx_loads(body: str) -> None:
    names = "".join(f"{word.upper()}: word='{word}';" for word in WORDS)
    metamodel = textx.metamodel_from_str(f"Thing: 'thing' {body} 'stop'; Empty: /c?/; {names}")
    seen: list[set[str]] = []
    for count in range(len(WORDS) + 1):
        for some in combinations(WORDS, count):
            for twice in ("", *some):  # 'd' is a keyword of one grammar, and then a value
                words = [word * (1 + (word == twice)) for word in some]
                text = " ".join(["thing", *" ".join(words).replace("", " ").split(), "stop"])
                try:
                    thing = metamodel.model_from_str(text)
                except textx.TextXSyntaxError:
                    continue
                seen.append({name for name in WORDS if getattr(thing, name, None)})
    told = Grammar.of(metamodel).companions
    features = {name for name in WORDS if any(name in each for each in seen)}
    assert features == {name for name in WORDS if name in metamodel["Thing"]._tx_attrs}
    for name in features:
        together = set.intersection(*(each for each in seen if name in each)) - {name}
        assert told.get(("Thing", name), frozenset()) == together, name
