"""The metamodel that a textX grammar implies, as a theory and as the text of a problem file.

Encodings:

- A common rule is a class, an abstract rule an abstract class, a match rule a primitive type, or an
  enum where it is a choice of fixed words.
- A feature is as textX types it: lists are ``[]``, all else ``[0..1]``, since a rule alone does not
  say what its text always has. The grammar sees to what must be there.
- textX keeps the order of lists and their duplicates, relations do not: a list of objects keeps
  every object (each is its own), a list of references or of primitive values becomes a set.
- A feature that holds objects as well as primitive values has no counterpart and is left out.
- Where text may refer to any object (``[OBJECT]``), the class of that name is above all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from textx.metamodel import TextXMetaModel

from language_server.constraints.theory import ClassSymbol, Feature, Place, Theory
from language_server.languages.expressions import (
    BASE_TYPES,
    choices,
    gives_object,
    grammar_classes,
    rule_of,
)

_MANY = ("0..*", "1..*")
_ANYTHING = "OBJECT"  # textX's name for the class of all objects


def implied_theory(metamodel: TextXMetaModel) -> Theory:
    """The classes, enums and features a grammar implies; textX's own rules are all that holds."""
    theory = Theory()
    classes = grammar_classes(metamodel)
    enums = _enums(classes)
    for name, literals in enums.items():
        theory.classes[name] = ClassSymbol(name, literals=literals)
        theory.individuals.update(dict.fromkeys(literals, "literal"))
    above: tuple[str, ...] = ()
    if any(_refers_to_anything(a) for cls in classes.values() for a in cls._tx_attrs.values()):
        above = (_ANYTHING,)
        theory.classes[_ANYTHING] = ClassSymbol(_ANYTHING, abstract=True)
    for name, cls in classes.items():
        if cls._tx_type != "match":
            theory.classes[name] = ClassSymbol(
                name,
                abstract=cls._tx_type == "abstract",
                supertypes=tuple(_supertypes(name, classes)) or above,
                place=Place(cls._tx_position, cls._tx_position_end),
            )
    for name, cls in classes.items():
        if cls._tx_type != "match":
            for attribute in cls._tx_attrs.values():
                target = _target(attribute, theory, classes)
                if target is not None:
                    feature = Feature(
                        owner=name,
                        name=attribute.name,
                        target=target,
                        upper=None if attribute.mult in _MANY else 1,
                        containment=bool(attribute.ref and attribute.cont),
                    )
                    theory.features[feature.symbol] = feature
    return theory


def write_problem(theory: Theory, language: str) -> str:
    """The text of a problem file with the classes of a theory, to begin with."""
    blocks = [
        f"% The metamodel of {language}, as its grammar implies it.\n"
        "% Add what the grammar cannot say: multiplicities, opposites, error predicates."
    ]
    blocks += [_write_class(theory, symbol) for symbol in theory.classes.values()]
    return "\n\n".join(blocks) + "\n"


def primitive_of(cls: Any, classes: dict[str, Any]) -> str | None:
    """The primitive type of the values a match rule gives, None if it gives objects."""
    name = cls.__name__
    if name in BASE_TYPES:
        return BASE_TYPES[name]
    if name in classes and cls._tx_type == "match":
        return "string"
    return None


def is_mixed(cls: Any) -> bool:
    """Whether an abstract rule leads to primitive values as well as to objects."""
    return cls._tx_type == "abstract" and not gives_object(rule_of(cls), cls, frozenset())


def _enums(classes: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Match rules that are choices of words; a word of two of them makes neither an enum."""
    found: dict[str, tuple[str, ...]] = {}
    for name, cls in classes.items():
        if cls._tx_type == "match" and name != "Comment":
            words = choices(rule_of(cls))
            if words is not None and len(words) > 1 and all(_quotable(word) for word in words):
                found[name] = words
    everything = [word for words in found.values() for word in words]
    return {
        name: words
        for name, words in found.items()
        if all(everything.count(word) == 1 for word in words)
    }


def _refers_to_anything(attribute: Any) -> bool:
    return bool(attribute.ref and not attribute.cont and attribute.cls.__name__ == _ANYTHING)


def _quotable(word: str) -> bool:
    return bool(word) and "'" not in word and "\n" not in word


def _supertypes(name: str, classes: dict[str, Any]) -> Iterator[str]:
    for other, cls in classes.items():
        if cls._tx_type == "abstract" and other != name:
            yield from (other for sub in cls._tx_inh_by if sub.__name__ == name)


def _target(attribute: Any, theory: Theory, classes: dict[str, Any]) -> str | None:
    cls = attribute.cls
    if cls.__name__ in theory.classes:
        return None if attribute.cont and is_mixed(cls) else str(cls.__name__)
    return primitive_of(cls, classes)


def _write_class(theory: Theory, symbol: ClassSymbol) -> str:
    if symbol.literals is not None:
        return f"enum {symbol.name} {{ {', '.join(map(_name, symbol.literals))} }}"
    head = ("abstract " if symbol.abstract else "") + f"class {symbol.name}"
    if symbol.supertypes:
        head += f" extends {', '.join(symbol.supertypes)}"
    features = [f for f in theory.features.values() if f.owner == symbol.name]
    if not features:
        return head + "."
    rows = [
        f"    {'contains ' if f.containment else ''}{f.target}{_multiplicity(f)} {_name(f.name)}"
        for f in features
    ]
    return head + " {\n" + "\n".join(rows) + "\n}"


def _multiplicity(feature: Feature) -> str:
    if (feature.lower, feature.upper) == (0, None):
        return "[]"
    if feature.lower == feature.upper:
        return f"[{feature.lower}]"
    return f"[{feature.lower}..{'*' if feature.upper is None else feature.upper}]"


def _name(word: str) -> str:
    return word if re.fullmatch(r"[^\d\W]\w*", word) else f"'{word}'"
