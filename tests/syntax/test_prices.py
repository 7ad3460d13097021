"""Prices are differences between texts: the shortest with one value more or less, by textX."""

from __future__ import annotations

import textx

from language_server.syntax import Grammar

GRAMMAR = """
Model: 'model' '(' parts*=Part ')' ('see' seen=[Part] ('and' seen=[Part])*)? End;
Part: Box | Pin | Group;
Box: 'box' name=ID ('size' '=' size=Length)? ('to' to+=[Part][','])? fixed?='fixed'
     ('{' inside*=Part '}')?;
Pin: ('pin' | 'a' 'pin') name=ID !'size' ('far' far=[Box] | near=[Box]);
Group: '[' parts+=Part[','] ']';
Length: INT ('mm' | 'milli' 'metres');
End: 'end' | 'the' 'end';
"""
METAMODEL = textx.metamodel_from_str(GRAMMAR)
PRICES = Grammar.of(METAMODEL).prices


def terminals(text: str) -> int:
    METAMODEL.model_from_str(text)
    return len(text.split())


def between(less: str, more: str) -> int:
    """What a text that textX loads has more than another one."""
    return terminals(more) - terminals(less)


BOX = "model ( box b ) end"


def test_of_the_first_value_and_of_further_ones() -> None:
    one, two = "model ( box b to b ) end", "model ( box b to b , b ) end"
    price = PRICES.values["Box", "to"]
    assert (price.first, price.further) == (between(BOX, one), between(one, two)) == (2, 2)


def test_of_a_value_with_its_words() -> None:
    for value, feature in {"size = 3 mm": "size", "fixed": "fixed"}.items():
        price = PRICES.values["Box", feature]
        assert price.first == between(BOX, BOX.replace(" )", f" {value} )"))


def test_of_values_in_several_places() -> None:
    none, one = BOX, BOX.replace("end", "see b end")
    two = BOX.replace("end", "see b and b end")
    price = PRICES.values["Model", "seen"]
    assert (price.first, price.further) == (between(none, one), between(one, two)) == (2, 2)


def test_of_objects_apart_from_what_holds_them() -> None:
    apart, inside = BOX.replace(" )", " box c )"), BOX.replace(" )", " { box c } )")
    more = BOX.replace(" )", " { box c box d } )")
    box = PRICES.objects["Box"] + PRICES.values["Box", "name"].first
    assert box + PRICES.values["Model", "parts"].further == between(BOX, apart)
    assert box + PRICES.values["Box", "inside"].first == between(BOX, inside)
    assert box + PRICES.values["Box", "inside"].further == between(inside, more)


def test_of_objects_in_a_row() -> None:
    none, one, two = (f"model ( {rest}) end" for rest in ("", "[ box b ] ", "[ box b , box c ] "))
    box = PRICES.objects["Box"] + PRICES.values["Box", "name"].first
    group, parts = PRICES.objects["Group"], PRICES.values["Group", "parts"]
    assert group + parts.first + box == between(none, one)
    assert parts.further + box == between(one, two)


def test_of_the_cheaper_way() -> None:
    near, far = BOX.replace(" )", " pin p b )"), BOX.replace(" )", " pin p far b )")
    long = BOX.replace(" )", " a pin p b )").replace("end", "the end")
    assert terminals(near) < terminals(long)
    pin = PRICES.objects["Pin"] + PRICES.values["Pin", "name"].first
    for text, feature in {near: "near", far: "far"}.items():
        assert pin + PRICES.values["Pin", feature].first == between(BOX, text)
