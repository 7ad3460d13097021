"""Whether a beginning of a text of boxes can be completed, and how cheaply, as a question to z3.

An encoding of its own: it reads the tokens itself and knows the rules of `boxes` by name only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import z3

from tests.projection.boxes import Family

#: Items that a completion may add beside those that are mentioned already.
MORE = 3


@dataclass
class Begun:
    """An item as far as the tokens tell; `parts` may still follow."""

    kind: str
    parts: tuple[str, ...]
    within: int
    name: str | None = None
    size: int | None = None
    next: str | None = None
    uses: list[str] = field(default_factory=list)


@dataclass
class Reading:
    """What a row of tokens says.

    Attributes:
        top: index of the item that the text is in the midst of, -1 for none.
        awaits: what must come next: "name", "int", "to" or "uses" (a name), or nothing.
        inside: indices of the boxes whose braces are open.
    """

    items: list[Begun]
    top: int = -1
    awaits: str = ""
    inside: list[int] = field(default_factory=list)


def read(family: Family, tokens: tuple[str, ...]) -> Reading:
    """The items of a beginning that follows the grammar."""
    reading = Reading([])
    for token in tokens[1:]:
        item = reading.items[reading.top] if reading.top >= 0 else None
        if reading.awaits:
            assert item is not None
            if reading.awaits == "name":
                item.name = token
            elif reading.awaits == "int":
                item.size = int(token)
            elif reading.awaits == "to":
                item.next = token
            else:
                item.uses.append(token)
            reading.awaits = ""
        elif token in ("box", "pin"):
            within = reading.inside[-1] if reading.inside else -1
            reading.items.append(Begun(token, family.parts(token), within))
            reading.top, reading.awaits = len(reading.items) - 1, "name"
        elif token == "}":
            reading.inside.pop()
            reading.top = -1
        else:
            assert item is not None
            part = "uses" if token == "," else token
            if token != ",":
                item.parts = item.parts[item.parts.index(part) + 1 :]
            if token == "{":
                reading.inside.append(reading.top)
                reading.top = -1
            else:
                reading.awaits = "int" if part == "size" else part
    return reading


def cheapest(family: Family, tokens: tuple[str, ...]) -> int | None:
    """The fewest tokens that complete the beginning; None where `MORE` new items do not do."""
    reading = read(family, tokens)
    costs = []
    if reading.awaits == "name":
        declared = {item.name for item in reading.items}
        top = reading.items[reading.top]
        for name in [*(n for n in _mentioned(reading) if n not in declared), "fresh*"]:
            top.name = name
            costs.append(_Question(family, reading).answer())
    else:
        costs.append(_Question(family, reading).answer())
    return min((cost for cost in costs if cost is not None), default=None)


def _mentioned(reading: Reading) -> dict[str, bool]:
    """The names that are referred to, and whether a box must have them."""
    found: dict[str, bool] = {}
    for item in reading.items:
        if item.next is not None:
            found.setdefault(item.next, False)
        for name in item.uses:
            found[name] = True
    return found


class _Question:
    """Unknown are the features that may still be stated, and the items that may still come."""

    def __init__(self, family: Family, reading: Reading) -> None:
        self.family, self.reading = family, reading
        self.solver = z3.Optimize()
        self.solver.set("timeout", 20_000)
        begun = reading.items
        declared = [item.name for item in begun]
        wanted = {n: box for n, box in _mentioned(reading).items() if n not in declared}
        self.names: list[str | None] = [*declared, *wanted, *[None] * MORE]
        self.known = len(begun)
        self.n = len(self.names)
        self.all = range(self.n)
        self.new = range(self.known, self.n)
        self.index = {name: at for at, name in enumerate(self.names) if name is not None}
        must_be_box = {self.index[n] for n, box in _mentioned(reading).items() if box}
        true, false = z3.BoolVal(True), z3.BoolVal(False)
        first_optional = self.known + len(wanted)
        self.there = [true if at < first_optional else z3.Bool(f"there{at}") for at in self.all]
        for at in range(first_optional, self.n - 1):
            self._say(z3.Implies(self.there[at + 1], self.there[at]))
        self.box = [
            z3.BoolVal(begun[at].kind == "box") if at < self.known else z3.Bool(f"box{at}")
            for at in self.all
        ]
        for at in must_be_box:
            self._say(self.box[at])
        self.sized: list[Any] = [false] * self.n
        self.size: list[Any] = [z3.IntVal(0)] * self.n
        self.step: list[list[Any]] = [[false] * self.n for _ in self.all]
        self.uses: list[list[Any]] = [[false] * self.n for _ in self.all]
        self.within: list[list[Any]] = [[false] * self.n for _ in self.all]  # [item][holder]
        self.cost: Any = z3.IntVal(len(reading.inside) + (reading.awaits == "name"))
        for at in range(self.known):
            self._state_known(at, begun[at])
        for at in self.new:
            self._state_new(at)
        self._place_new()
        self._multiplicities()
        for name, bound in family.rules:
            getattr(self, f"_{name}")(bound)

    def answer(self) -> int | None:
        total = self.solver.minimize(self.cost)
        result = self.solver.check()
        if result == z3.unknown:
            raise TimeoutError
        return None if result == z3.unsat else int(str(self.solver.lower(total)))

    def _say(self, *formulas: Any) -> None:
        self.solver.add(*formulas)

    # ---- what is stated and what may be ------------------------------------------------------

    def _state_known(self, at: int, item: Begun) -> None:
        reading, true = self.reading, z3.BoolVal(True)
        awaits = reading.awaits if at == reading.top else ""
        parts = item.parts if at == reading.top else ()
        if item.size is not None:
            self.sized[at], self.size[at] = true, z3.IntVal(item.size)
        elif awaits == "int":
            self.sized[at], self.size[at] = true, z3.Int(f"size{at}")
            self.cost += 1
        elif "size" in parts:
            self._may_be_sized(at)
        if item.next is not None:
            self.step[at][self.index[item.next]] = true
        elif awaits == "to" or "to" in parts:
            self._may_step(at, must=awaits == "to")
        for name in item.uses:
            self.uses[at][self.index[name]] = true
        last_is_uses = item.kind == "box" and bool(item.uses or awaits == "uses")
        after_uses = parts in (self.family.parts("box")[3:], ())
        if (
            awaits == "uses"
            or "uses" in parts
            or (at == reading.top and last_is_uses and after_uses)
        ):
            stated = {self.index[name] for name in item.uses}
            added = [
                self._option(self.uses[at], f"uses{at}_{to}", to)
                for to in self.all
                if to not in stated
            ]
            for to in self.all:
                self._say(z3.Implies(self.uses[at][to], z3.And(self.there[to], self.box[to])))
            number = z3.Sum([z3.If(one, 1, 0) for one in added])
            if awaits == "uses":
                if not stated:
                    self._say(number >= 1)
                self.cost += z3.If(number >= 1, 2 * number - 1, 1)
            else:
                self.cost += 2 * number
        if item.within >= 0:
            self.within[at][item.within] = true

    def _option(self, row: list[Any], name: str, to: int) -> Any:
        row[to] = z3.Bool(name)
        return row[to]

    def _may_be_sized(self, at: int) -> None:
        self.sized[at], self.size[at] = z3.Bool(f"sized{at}"), z3.Int(f"size{at}")
        self.cost += z3.If(self.sized[at], 2, 0)

    def _may_step(self, at: int, must: bool = False) -> None:
        options = [self._option(self.step[at], f"step{at}_{to}", to) for to in self.all]
        for to, option in enumerate(options):
            self._say(z3.Implies(option, self.there[to]))
        number = z3.Sum([z3.If(option, 1, 0) for option in options])
        self._say(number == 1 if must else number <= 1)
        self.cost += 1 if must else 2 * number

    def _state_new(self, at: int) -> None:
        self.cost += z3.If(self.there[at], 2, 0)
        self._may_be_sized(at)
        self._may_step(at)
        used = [self._option(self.uses[at], f"uses{at}_{to}", to) for to in self.all]
        for to, option in enumerate(used):
            self._say(z3.Implies(option, z3.And(self.there[to], self.box[to], self.box[at])))
        self.cost += 2 * z3.Sum([z3.If(option, 1, 0) for option in used])
        self._say(z3.Implies(self.sized[at], self.box[at]))
        self._say(z3.Implies(z3.Not(self.there[at]), z3.Not(z3.Or(self.sized[at], *used))))
        self._say(z3.Implies(z3.Not(self.there[at]), z3.Not(z3.Or(self.step[at]))))

    def _place_new(self) -> None:
        """New items stand at the top, in open boxes, or in boxes that are new or may be opened."""
        if not self.family.nested:
            return
        reading = self.reading
        top = reading.top
        holders = [*reading.inside, *self.new]
        if top >= 0 and reading.items[top].kind == "box":
            holders.append(top)
        depth = [z3.Int(f"depth{at}") for at in self.all]
        for at in self.new:
            options = []
            for holder in holders:
                if holder != at:
                    option = self._option(self.within[at], f"within{at}_{holder}", holder)
                    self._say(
                        z3.Implies(
                            option,
                            z3.And(self.there[at], self.there[holder], self.box[holder]),
                        )
                    )
                    self._say(z3.Implies(option, depth[at] > depth[holder]))
                    options.append(option)
            self._say(z3.AtMost(*options, 1))
        for holder in holders:
            if holder not in reading.inside:
                held = z3.Or([self.within[at][holder] for at in self.new if at != holder])
                self.cost += z3.If(held, 2, 0)

    # ---- the metamodel and the rules ---------------------------------------------------------

    def _number(self, formulas: Any) -> Any:
        return z3.Sum([z3.If(formula, 1, 0) for formula in formulas])

    def _into(self, to: int) -> list[Any]:
        return [self.step[at][to] for at in self.all]

    def _starts(self, at: int) -> Any:
        return z3.And(self.there[at], z3.Not(z3.Or(self._into(at))))

    def _pairs(self) -> list[tuple[int, int]]:
        return [(a, b) for a in self.all for b in self.all]

    def _multiplicities(self) -> None:
        for at in self.all:
            if self.family.must_step:
                self._say(z3.Implies(self.there[at], z3.Or(self.step[at])))
            if self.family.before is not None:
                self._say(self._number(self._into(at)) <= self.family.before)
            if self.family.uses is not None:
                self._say(self._number(self.uses[at]) <= self.family.uses)

    def _no_self(self, bound: int) -> None:
        self._say(*(z3.Not(self.step[at][at]) for at in self.all))

    def _acyclic(self, bound: int) -> None:
        rank = [z3.Int(f"rank{at}") for at in self.all]
        self._say(*(z3.Implies(self.step[a][b], rank[a] < rank[b]) for a, b in self._pairs()))

    def _one_start(self, bound: int) -> None:
        self._say(self._number(map(self._starts, self.all)) == 1)

    def _pins_last(self, bound: int) -> None:
        for at in self.all:
            self._say(z3.Or(self.box[at], z3.Not(z3.Or(self.step[at]))))

    def _pins_reached(self, bound: int) -> None:
        for at in self.all:
            self._say(z3.Or(z3.Not(self.there[at]), self.box[at], *self._into(at)))

    def _few_uses(self, bound: int) -> None:
        self._say(*(self._number(self.uses[at]) <= bound for at in self.all))

    def _much_used(self, bound: int) -> None:
        for at in self.all:
            users = self._number(self.uses[a][at] for a in self.all)
            self._say(z3.Implies(z3.And(self.there[at], self.box[at]), users >= bound))

    def _both_sized(self, a: int, b: int) -> Any:
        return z3.And(self.step[a][b], self.sized[a], self.sized[b])

    def _rising(self, bound: int) -> None:
        for a, b in self._pairs():
            self._say(z3.Implies(self._both_sized(a, b), self.size[a] <= self.size[b]))

    def _light(self, bound: int) -> None:
        for a, b in self._pairs():
            self._say(z3.Implies(self._both_sized(a, b), self.size[a] + self.size[b] <= bound))

    def _large(self, bound: int) -> None:
        self._say(*(z3.Implies(self.sized[at], self.size[at] >= bound) for at in self.all))

    def _users_sized(self, bound: int) -> None:
        self._say(*(z3.Implies(z3.Or(self.uses[at]), self.sized[at]) for at in self.all))

    def _reached(self, bound: int) -> None:
        far = [z3.Int(f"far{at}") for at in self.all]
        starts = [self._starts(at) for at in self.all]
        begins = z3.Or(starts)
        self._say(self._number(starts) <= 1)
        for at in self.all:
            before = [z3.And(self.step[a][at], far[a] < far[at]) for a in self.all]
            self._say(z3.Or(z3.Not(begins), z3.Not(self.there[at]), starts[at], *before))

    def _outside(self, bound: int) -> None:
        inside = [[z3.Bool(f"inside{a}_{b}") for b in self.all] for a in self.all]
        for a, b in self._pairs():
            if not z3.is_false(self.within[b][a]):
                self._say(z3.Implies(self.within[b][a], inside[a][b]))
                for c in self.all:
                    self._say(z3.Implies(z3.And(inside[c][a], self.within[b][a]), inside[c][b]))
            self._say(z3.Implies(self.uses[a][b], z3.Not(inside[a][b])))

    def _not_empty(self, bound: int) -> None:
        for at in self.all:
            held = [self.within[a][at] for a in self.all]
            self._say(
                z3.Implies(z3.And(self.there[at], self.box[at]), z3.Or(*held, *self.uses[at]))
            )

    def _at_least(self, bound: int) -> None:
        self._say(self._number(self.there) >= bound)

    def _at_most(self, bound: int) -> None:
        boxes = [z3.And(self.there[at], self.box[at]) for at in self.all]
        self._say(self._number(boxes) <= bound)

    def _users_step(self, bound: int) -> None:
        for at in self.all:
            self._say(z3.Implies(z3.Or(self.uses[at]), z3.Or(self.step[at])))

    def _mutual(self, bound: int) -> None:
        self._say(*(z3.Implies(self.uses[a][b], self.uses[b][a]) for a, b in self._pairs()))
