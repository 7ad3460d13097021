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


def can_end(family: Family, tokens: tuple[str, ...], most: int | None = None) -> bool:
    """Whether so few tokens, or any number, complete the beginning, with `MORE` new items.

    Raises:
        TimeoutError: z3 did not find out in time.
    """
    reading = read(family, tokens)
    if reading.awaits != "name":
        return _Question(family, reading).has_answer(most)
    declared = {item.name for item in reading.items}
    top = reading.items[reading.top]
    for name in ["fresh*", *(n for n in _mentioned(reading) if n not in declared)]:
        top.name = name
        if _Question(family, reading).has_answer(most):
            return True
    return False


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
        self.solver = z3.Solver()
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
        true, false = _TRUE, _FALSE
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
        self._inside: dict[int, dict[int, Any]] = {}
        self.sized: list[Any] = [false] * self.n
        self.size: list[Any] = [z3.IntVal(0)] * self.n
        self.step: list[list[Any]] = [[false] * self.n for _ in self.all]
        self.uses: list[list[Any]] = [[false] * self.n for _ in self.all]
        self.within: list[list[Any]] = [[false] * self.n for _ in self.all]  # [item][holder]
        #: Tokens that come in any case, and those that come with a formula.
        self.tokens = len(reading.inside) + (reading.awaits == "name")
        self.costs: list[tuple[Any, int]] = []
        for at in range(self.known):
            self._state_known(at, begun[at])
        for at in self.new:
            self._state_new(at)
        self._place_new()
        self._multiplicities()
        for name, bound in family.rules:
            getattr(self, f"_{name}")(bound)

    def has_answer(self, most: int | None) -> bool:
        if most is not None:
            if most < self.tokens:
                return False
            self._say(z3.PbLe([(_FALSE, 1), *self.costs], most - self.tokens))
        result = self.solver.check()
        if result == z3.unknown:
            raise TimeoutError
        return bool(result == z3.sat)

    def _say(self, *formulas: Any) -> None:
        self.solver.add(*(formula for formula in formulas if not formula.eq(_TRUE)))

    def _pay(self, formula: Any, tokens: int) -> None:
        self.costs.append((formula, tokens))

    # ---- what is stated and what may be ------------------------------------------------------

    def _state_known(self, at: int, item: Begun) -> None:
        reading, true = self.reading, z3.BoolVal(True)
        awaits = reading.awaits if at == reading.top else ""
        parts = item.parts if at == reading.top else ()
        if item.size is not None:
            self.sized[at], self.size[at] = true, z3.IntVal(item.size)
        elif awaits == "int":
            self.sized[at], self.size[at] = true, z3.Int(f"size{at}")
            self.tokens += 1
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
                self._say(_implies(self.uses[at][to], _and(self.there[to], self.box[to])))
            for one in added:
                self._pay(one, 2)
            if awaits == "uses":
                # One stands here already: the first name, or one of those before once more.
                if not stated:
                    self._say(_or(*added))
                    self.tokens -= 1
                else:
                    self._pay(z3.Not(_or(*added)), 2)
                    self.tokens -= 1
        if item.within >= 0:
            self.within[at][item.within] = true

    def _option(self, row: list[Any], name: str, to: int) -> Any:
        row[to] = z3.Bool(name)
        return row[to]

    def _may_be_sized(self, at: int) -> None:
        self.sized[at], self.size[at] = z3.Bool(f"sized{at}"), z3.Int(f"size{at}")
        self._pay(self.sized[at], 2)

    def _may_step(self, at: int, must: bool = False) -> None:
        options = [self._option(self.step[at], f"step{at}_{to}", to) for to in self.all]
        for to, option in enumerate(options):
            self._say(_implies(option, self.there[to]))
            self._pay(option, 0 if must else 2)
        self._say(z3.AtMost(*options, 1))
        if must:
            self._say(_or(*options))
            self.tokens += 1

    def _state_new(self, at: int) -> None:
        self._pay(self.there[at], 2)
        self._may_be_sized(at)
        self._may_step(at)
        used = [self._option(self.uses[at], f"uses{at}_{to}", to) for to in self.all]
        for to, option in enumerate(used):
            self._say(_implies(option, _and(self.there[to], self.box[to], self.box[at])))
            self._pay(option, 2)
        self._say(_implies(self.sized[at], self.box[at]))
        for stated in (self.sized[at], *used, *self.step[at]):
            self._say(_implies(stated, self.there[at]))

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
                        _implies(option, _and(self.there[at], self.there[holder], self.box[holder]))
                    )
                    self._say(_implies(option, depth[at] > depth[holder]))
                    options.append(option)
            self._say(z3.AtMost(*options, 1))
        for holder in holders:
            if holder not in reading.inside:
                self._pay(_or(*(self.within[at][holder] for at in self.new if at != holder)), 2)

    # ---- the metamodel and the rules ---------------------------------------------------------

    def _into(self, to: int) -> list[Any]:
        return [self.step[at][to] for at in self.all]

    def _starts(self, at: int) -> Any:
        return _and(self.there[at], z3.Not(_or(*self._into(at))))

    def _steps(self) -> list[tuple[int, int, Any]]:
        """The steps that there are or may be."""
        return _cells(self.step)

    def _multiplicities(self) -> None:
        for at in self.all:
            if self.family.must_step:
                self._say(_implies(self.there[at], _or(*self.step[at])))
            if self.family.before is not None:
                self._say(_at_most(self._into(at), self.family.before))
            if self.family.uses is not None:
                self._say(_at_most(self.uses[at], self.family.uses))

    def _no_self(self, bound: int) -> None:
        self._say(*(z3.Not(self.step[at][at]) for at in self.all))

    def _acyclic(self, bound: int) -> None:
        rank = [z3.Int(f"rank{at}") for at in self.all]
        self._say(*(_implies(step, rank[a] < rank[b]) for a, b, step in self._steps()))

    def _one_start(self, bound: int) -> None:
        starts = [self._starts(at) for at in self.all]
        self._say(_at_most(starts, 1), _or(*starts))

    def _pins_last(self, bound: int) -> None:
        self._say(*(_implies(step, self.box[a]) for a, _, step in self._steps()))

    def _pins_reached(self, bound: int) -> None:
        for at in self.all:
            self._say(_or(z3.Not(self.there[at]), self.box[at], *self._into(at)))

    def _few_uses(self, bound: int) -> None:
        self._say(*(_at_most(self.uses[at], bound) for at in self.all))

    def _much_used(self, bound: int) -> None:
        for at in self.all:
            users = [used for _, to, used in _cells(self.uses) if to == at]
            enough = z3.PbGe([(_FALSE, 1), *((one, 1) for one in users)], bound)
            self._say(_implies(_and(self.there[at], self.box[at]), enough))

    def _sized_steps(self) -> list[tuple[int, int, Any]]:
        found = ((a, b, _and(s, self.sized[a], self.sized[b])) for a, b, s in self._steps())
        return [cell for cell in found if not z3.is_false(cell[2])]

    def _rising(self, bound: int) -> None:
        for a, b, sized in self._sized_steps():
            self._say(_implies(sized, self.size[a] <= self.size[b]))

    def _light(self, bound: int) -> None:
        for a, b, sized in self._sized_steps():
            self._say(_implies(sized, self.size[a] + self.size[b] <= bound))

    def _large(self, bound: int) -> None:
        self._say(*(_implies(self.sized[at], self.size[at] >= bound) for at in self.all))

    def _users_sized(self, bound: int) -> None:
        self._say(*(_implies(used, self.sized[a]) for a, _, used in _cells(self.uses)))

    def _reached(self, bound: int) -> None:
        far = [z3.Int(f"far{at}") for at in self.all]
        starts = [self._starts(at) for at in self.all]
        begins = _or(*starts)
        self._say(_at_most(starts, 1))
        for at in self.all:
            before = [_and(s, far[a] < far[at]) for a, b, s in self._steps() if b == at]
            self._say(_or(z3.Not(begins), z3.Not(self.there[at]), starts[at], *before))

    def _outside(self, bound: int) -> None:
        held = _cells(self.within)
        for used_by, target, used in _cells(self.uses):
            # The target itself and what holds it, one in another.
            for holder, inside in self._holders(target, held).items():
                if holder == used_by:
                    self._say(z3.Not(_and(used, inside)))

    def _holders(self, item: int, held: list[tuple[int, int, Any]]) -> dict[int, Any]:
        """The boxes that may hold an item, at any depth, each with a formula that follows then."""
        if item not in self._inside:
            reached, waiting = {item}, [item]
            for at in waiting:
                for inner, holder, _ in held:
                    if inner == at and holder not in reached:
                        reached.add(holder)
                        waiting.append(holder)
            known = {at: z3.Bool(f"inside{item}_{at}") for at in reached}
            known[item] = _TRUE
            for inner, holder, directly in held:
                if inner in reached and holder != item:
                    self._say(_implies(_and(known[inner], directly), known[holder]))
            self._inside[item] = {at: known[at] for at in reached if at != item}
        return self._inside[item]

    def _not_empty(self, bound: int) -> None:
        for at in self.all:
            held = [self.within[a][at] for a in self.all]
            self._say(_implies(_and(self.there[at], self.box[at]), _or(*held, *self.uses[at])))

    def _at_least(self, bound: int) -> None:
        self._say(z3.PbGe([(_FALSE, 1), *((there, 1) for there in self.there)], bound))

    def _at_most(self, bound: int) -> None:
        self._say(_at_most([_and(self.there[at], self.box[at]) for at in self.all], bound))

    def _users_step(self, bound: int) -> None:
        self._say(*(_implies(used, _or(*self.step[a])) for a, _, used in _cells(self.uses)))

    def _mutual(self, bound: int) -> None:
        self._say(*(_implies(used, self.uses[b][a]) for a, b, used in _cells(self.uses)))


# ---- formulas without what is known ---------------------------------------------------------

_TRUE, _FALSE = z3.BoolVal(True), z3.BoolVal(False)


def _cells(rows: list[list[Any]]) -> list[tuple[int, int, Any]]:
    """What of a relation may hold."""
    return [
        (a, b, cell)
        for a, row in enumerate(rows)
        for b, cell in enumerate(row)
        if cell is not _FALSE
    ]


def _and(*formulas: Any) -> Any:
    if any(z3.is_false(formula) for formula in formulas):
        return _FALSE
    left = [formula for formula in formulas if not z3.is_true(formula)]
    return z3.And(left) if len(left) > 1 else left[0] if left else _TRUE


def _or(*formulas: Any) -> Any:
    if any(z3.is_true(formula) for formula in formulas):
        return _TRUE
    left = [formula for formula in formulas if not z3.is_false(formula)]
    return z3.Or(left) if len(left) > 1 else left[0] if left else _FALSE


def _implies(given: Any, follows: Any) -> Any:
    if z3.is_false(given) or z3.is_true(follows):
        return _TRUE
    return follows if z3.is_true(given) else z3.Implies(given, follows)


def _at_most(formulas: list[Any], number: int) -> Any:
    left = [formula for formula in formulas if not z3.is_false(formula)]
    return z3.AtMost(*left, number) if len(left) > number else _TRUE
