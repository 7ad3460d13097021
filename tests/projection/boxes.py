"""Small languages of boxes and pins, drawn at random, with a reading of them in plain Python.

A text declares items, in boxes if they are allowed to hold some; items point to others::

    model box a size 3 to b uses c , d { pin e to a }  pin b  box c  box d

A language is this grammar with some metamodel and some constraints. Each constraint is written
down three times: in the problem language, here over plain graphs, and for z3 (`boxes_z3`); neither
this file nor that one uses the product.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import textx
from textx.exceptions import TextXError

GRAMMAR = """
Model: 'model' items*=Item;
Item: Box | Pin;
Box: 'box' name=Name ('size' size=INT)? ('to' next=[Item:Name])? ('uses' uses+=[Box:Name][','])?
     ('{' parts*=Item '}')?;
Pin: 'pin' name=Name ('to' next=[Item:Name])?;
Name: /(?!(?:box|pin|size|to|uses|model)\\b)[a-z][a-z0-9]*/;
"""
#: The optional parts of an item, in the order of the text.
PARTS = {"box": ("size", "to", "uses", "{"), "pin": ("to",)}


@dataclass
class Item:
    """An item of a plain graph."""

    kind: str
    name: str
    size: int | None = None
    next: str | None = None
    uses: list[str] = field(default_factory=list)
    within: str | None = None  # name of the box that holds it


@dataclass(frozen=True)
class Graph:
    """A finished model: items by name, and what follows from them."""

    items: dict[str, Item]

    @cached_property
    def before(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {name: set() for name in self.items}
        for item in self.items.values():
            if item.next is not None:
                found[item.next].add(item.name)
        return found

    @cached_property
    def used(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {name: set() for name in self.items}
        for item in self.items.values():
            for name in item.uses:
                found[name].add(item.name)
        return found

    def ahead(self, name: str) -> set[str]:
        """What `next` leads to from an item, over one step or more."""
        found: set[str] = set()
        at = self.items[name].next
        while at is not None and at not in found:
            found.add(at)
            at = self.items[at].next
        return found

    def holders(self, name: str) -> set[str]:
        """The boxes that an item stands in, at any depth."""
        found = set()
        within = self.items[name].within
        while within is not None:
            found.add(within)
            within = self.items[within].within
        return found

    def boxes(self) -> Iterator[Item]:
        return (item for item in self.items.values() if item.kind == "box")

    def pins(self) -> Iterator[Item]:
        return (item for item in self.items.values() if item.kind == "pin")

    def starts(self) -> list[str]:
        return [name for name, before in self.before.items() if not before]

    def steps(self) -> Iterator[tuple[Item, Item]]:
        return ((i, self.items[i.next]) for i in self.items.values() if i.next is not None)


@dataclass(frozen=True)
class Rule:
    """A constraint: in the problem language, and over a plain graph (True where it holds)."""

    problem: str
    holds: Callable[[Graph, int], bool]
    bounds: tuple[int, ...] = (0,)


def _sum_of_step(graph: Graph, bound: int) -> bool:
    return all(
        a.size is None or b.size is None or a.size + b.size <= bound for a, b in graph.steps()
    )


RULES: dict[str, Rule] = {
    "no_self": Rule(
        "error pred no_self(Item a) <-> next(a, a).",
        lambda g, n: all(a is not b for a, b in g.steps()),
    ),
    "acyclic": Rule(
        "error pred acyclic(Item a) <-> next+(a, a).",
        lambda g, n: all(name not in g.ahead(name) for name in g.items),
    ),
    "one_start": Rule(
        "pred start(Item a) <-> !next(_, a).\n"
        "error pred one_start() <-> start(a), start(b), a != b ; !start(_).",
        lambda g, n: len(g.starts()) == 1,
    ),
    "pins_last": Rule(
        "error pred pins_last(Pin a) <-> next(a, _).",
        lambda g, n: all(pin.next is None for pin in g.pins()),
    ),
    "pins_reached": Rule(
        "error pred pins_reached(Pin a) <-> !next(_, a).",
        lambda g, n: all(g.before[pin.name] for pin in g.pins()),
    ),
    "few_uses": Rule(
        "error pred few_uses(Box a) <-> count { uses(a, _) } > {n}.",
        lambda g, n: all(len(set(box.uses)) <= n for box in g.boxes()),
        (1, 2),
    ),
    "much_used": Rule(
        "error pred much_used(Box a) <-> count { uses(_, a) } < {n}.",
        lambda g, n: all(len(g.used[box.name]) >= n for box in g.boxes()),
        (1, 2),
    ),
    "rising": Rule(
        "error pred rising(Item a, Item b) <-> next(a, b), size(a) > size(b).",
        lambda g, n: all(
            a.size is None or b.size is None or a.size <= b.size for a, b in g.steps()
        ),
    ),
    "large": Rule(
        "error pred large(Box a) <-> size(a) < {n}.",
        lambda g, n: all(box.size is None or box.size >= n for box in g.boxes()),
        (2, 5),
    ),
    "users_sized": Rule(
        "pred sized(Box a) <-> size(a) == size(a).\n"
        "error pred users_sized(Box a) <-> uses(a, _), !sized(a).",
        lambda g, n: all(not box.uses or box.size is not None for box in g.boxes()),
    ),
    "light": Rule(
        "error pred light(Item a, Item b) <-> next(a, b), size(a) + size(b) > {n}.",
        _sum_of_step,
        (6,),
    ),
    "reached": Rule(
        "pred first(Item a) <-> !next(_, a).\n"
        "error pred reached(Item a) <-> first(s), a != s, !next+(s, a).",
        lambda g, n: all(a == s or a in g.ahead(s) for s in g.starts() for a in g.items),
    ),
    "outside": Rule(
        "error pred outside(Box a, Item b) <-> uses(a, b), contains+(a, b).",
        lambda g, n: all(a.name not in g.holders(b) for a in g.boxes() for b in a.uses),
    ),
    "not_empty": Rule(
        "error pred not_empty(Box a) <-> !parts(a, _), !uses(a, _).",
        lambda g, n: all(
            box.uses or any(i.within == box.name for i in g.items.values()) for box in g.boxes()
        ),
    ),
    "at_least": Rule("scope Item = {n}..*.", lambda g, n: len(g.items) >= n, (2, 4)),
    "at_most": Rule("scope Box = 0..{n}.", lambda g, n: len(list(g.boxes())) <= n, (3, 60)),
    "users_step": Rule(
        "error pred users_step(Box a, Box b) <-> uses(a, b), !next(a, _).",
        lambda g, n: all(not box.uses or box.next is not None for box in g.boxes()),
    ),
    "mutual": Rule(
        "error pred mutual(Box a, Box b) <-> uses(a, b), !uses(b, a).",
        lambda g, n: all(a.name in g.items[b].uses for a in g.boxes() for b in a.uses),
    ),
}


@dataclass(frozen=True)
class Family:
    """One language: which multiplicities, whether boxes hold items, which rules with which bound.

    Attributes:
        must_step: every item points to a next one.
        before: how many items may point to one with `next`; None for any number.
        uses: how many boxes one box may use; None for any number.
        nested: whether boxes may hold items.
    """

    must_step: bool
    before: int | None
    uses: int | None
    nested: bool
    rules: tuple[tuple[str, int], ...]

    @staticmethod
    def drawn(source: random.Random) -> Family:
        """A random language."""
        names = source.sample(sorted(RULES), source.randint(1, 4))
        return Family(
            must_step=source.random() < 0.2,
            before=source.choice((None, None, None, 1, 2)),
            uses=source.choice((None, None, 1, 2)),
            nested=source.random() < 0.5,
            rules=tuple((name, source.choice(RULES[name].bounds)) for name in sorted(names)),
        )

    @property
    def grammar(self) -> str:
        return GRAMMAR if self.nested else GRAMMAR.replace("('{' parts*=Item '}')?", "")

    @property
    def problem(self) -> str:
        """The metamodel and the constraints."""
        step = "1" if self.must_step else "0..1"
        before = "" if self.before is None else f"0..{self.before}"
        uses = "" if self.uses is None else f"0..{self.uses}"
        parts = "contains Item[] parts" if self.nested else ""
        rules = "\n".join(RULES[name].problem.replace("{n}", str(n)) for name, n in self.rules)
        if not self.nested:
            rules = rules.replace("!parts(a, _), ", "")
        return f"""
class Model {{ contains Item[] items }}
abstract class Item {{
    string[1] name
    int size
    Item[{step}] next opposite before
    Item[{before}] before opposite next
}}
class Box extends Item {{ Box[{uses}] uses  {parts} }}
class Pin extends Item.
{rules}
"""

    def parts(self, kind: str) -> tuple[str, ...]:
        """What may follow the name of an item, in order."""
        return tuple(part for part in PARTS[kind] if part != "{" or self.nested)

    def consistent(self, graph: Graph) -> bool:
        """Whether a finished model keeps multiplicities and rules."""
        for item in graph.items.values():
            if self.must_step and item.next is None:
                return False
            if self.before is not None and len(graph.before[item.name]) > self.before:
                return False
            if self.uses is not None and len(set(item.uses)) > self.uses:
                return False
        return all(RULES[name].holds(graph, n) for name, n in self.rules)


class Judge:
    """Says of a whole text whether textX loads it and whether it is consistent."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.metamodel: Any = textx.metamodel_from_str(family.grammar)

    def graph(self, text: str) -> Graph | None:
        """The model as textX reads it; None where it does not."""
        try:
            model = self.metamodel.model_from_str(text)
        except TextXError:
            return None
        within: dict[int, str | None] = {}
        found: dict[int, Any] = {}

        def collect(ones: Any, holder: str | None) -> None:
            for one in ones:
                found[id(one)] = one
                within[id(one)] = holder
                collect(getattr(one, "parts", ()), key(one))

        def key(one: Any) -> str:  # names need not be unique
            return f"{one.name}@{one._tx_position}"

        collect(getattr(model, "items", ()), None)
        items = {}
        for one in found.values():
            item = items[key(one)] = Item(type(one).__name__.lower(), key(one))
            item.within = within[id(one)]
            item.next = key(one.next) if one.next is not None else None
            if item.kind == "box":
                item.uses = [key(target) for target in one.uses]
                words = text[one._tx_position :].split(maxsplit=3)
                if len(words) > 2 and words[2] == "size":  # textX reads 0 where there is none
                    item.size = one.size
        return Graph(items)

    def accepts(self, text: str) -> bool:
        graph = self.graph(text)
        return graph is not None and self.family.consistent(graph)


def enumerated(family: Family, length: int, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All texts of the grammar up to a number of tokens, over some names and the sizes 1 and 9."""

    def items(left: int, depth: int) -> Iterator[tuple[str, ...]]:
        yield ()
        for item in one(left, depth):
            for rest in items(left - len(item), depth):
                yield (*item, *rest)

    def one(left: int, depth: int) -> Iterator[tuple[str, ...]]:
        for kind in ("box", "pin"):
            if left >= 2:
                for name in names:
                    for rest in parts(family.parts(kind), left - 2, depth):
                        yield (kind, name, *rest)

    def parts(open_parts: tuple[str, ...], left: int, depth: int) -> Iterator[tuple[str, ...]]:
        if not open_parts or left < 2:
            yield ()
            return
        part, behind = open_parts[0], open_parts[1:]
        yield from parts(behind, left, depth)
        for begun in stated(part, left, depth):
            for rest in parts(behind, left - len(begun), depth):
                yield (*begun, *rest)

    def stated(part: str, left: int, depth: int) -> Iterator[tuple[str, ...]]:
        if part == "size":
            yield from (("size", number) for number in ("1", "9"))
        elif part == "to":
            yield from (("to", name) for name in names)
        elif part == "uses":
            for name in names:
                yield ("uses", name)
                if left >= 4:
                    yield from (("uses", name, ",", other) for other in names if other != name)
        elif depth < 2:
            yield from (("{", *inside, "}") for inside in items(left - 2, depth + 1))

    return sorted({("model", *text) for text in items(length - 1, 0)}, key=lambda t: (len(t), t))


def drawn_text(family: Family, source: random.Random, size: int) -> tuple[str, ...]:
    """The tokens of a random text of some items, cut anywhere behind the last but one.

    Most items point to the next one in half of the texts, to anything or nothing in the others; a
    few names are not declared by any of the items.
    """
    names = [f"n{number}" for number in range(size + 2)]
    chain = source.random() < 0.5
    busy = source.choice((0.03, 0.15, 0.4))
    tokens, depth, begun = ["model"], 0, 0
    for number in range(size):
        begun = len(tokens)
        kind = "pin" if source.random() < 0.3 else "box"
        tokens += [kind, names[number]]
        opened = False
        for part in family.parts(kind):
            if part == "to" and chain and source.random() < 0.95:
                tokens += ["to", names[number + 1]]
            elif source.random() >= busy:
                continue
            elif part == "size":
                tokens += ["size", str(source.choice((1, 3, 4, 9)))]
            elif part == "to":
                tokens += ["to", source.choice(names)]
            elif part == "uses":
                used = source.sample(names, source.choice((1, 1, 2)))
                tokens += ["uses", *", ".join(used).replace(",", " ,").split()]
            elif depth < 2:
                tokens.append("{")
                depth, opened = depth + 1, True
        if depth and not opened and source.random() < 0.5:
            tokens.append("}")
            depth -= 1
    return tuple(tokens[: source.randint(begun + 1, len(tokens))])
