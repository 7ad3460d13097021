"""A consistent model that refines a partial one, found by an answer set solver (clingo).

The solver sees neither the order of the text nor numbers and strings that are not stated yet: what
it finds is a *goal* that still has to be written, and it is checked as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import clingo

from language_server.constraints.constraint_set import ConstraintSet
from language_server.constraints.goal import Begun, Goal, Wish
from language_server.constraints.program import Program, arguments, program_of, value_term
from language_server.constraints.symmetry import unused_alike
from language_server.partial_model import FeatureInfo, ObjectId, PartialModel, is_foreign
from language_server.partial_model.model import Frame

# Of clingo's settings these reach most goals within the conflicts: what costs is tried as false.
_OPTIONS = ("--seed=0", "--configuration=frumpy", "--opt-heuristic=sign", "--warn=none")
# Seconds between two looks at whether the answer is still wanted.
_GLANCE = 0.03


def solve(
    constraints: ConstraintSet,
    model: PartialModel,
    wish: Wish,
    conflicts: int = 6000,
    stop: Callable[[], bool] = lambda: False,
) -> Goal | None:
    """A goal that takes little to write; None if there is none within the pool and the effort.

    The answer depends on nothing but the arguments.

    Args:
        conflicts: what the solver may run into, then it returns the best goal it has: its effort,
            the same on every machine.
        stop: asked every few hundredths of a second, but not while the program is grounded; once
            it is true there is no goal.
    """
    program = program_of(constraints)
    control = clingo.Control(_OPTIONS, message_limit=0)
    control.configuration.solve.solve_limit = str(conflicts)  # type: ignore[union-attr]
    control.add("base", [], program.text)
    control.add("base", [], "\n".join(_Facts(program, model, wish).lines()))
    if stop():
        return None
    control.ground([("base", [])])
    if wish.below is not None:
        control.configuration.solve.opt_mode = f"opt,{wish.below - 1}"  # type: ignore[union-attr]
    found: list[tuple[tuple[clingo.Symbol, ...], int]] = []

    def keep(answer: clingo.Model) -> None:
        found.append((tuple(answer.symbols(shown=True)), sum(answer.cost)))

    with control.solve(on_model=keep, async_=True) as search:
        while not search.wait(_GLANCE):
            if stop():
                search.cancel()
                return None
    return program.read(*found[-1]) if found else None


class _Facts:
    """What is known of one model, as facts for a program."""

    def __init__(self, program: Program, model: PartialModel, wish: Wish) -> None:
        self._program = program
        self._model = model
        self._wish = wish
        self._pool = dict(self._new_objects())
        self._written = {each.symbol for each in program.schema.feature_map.values()}
        self._forbidden = set(wish.forbidden)
        self._alike_groups = list(unused_alike(program.constraints, model))
        self._alike = {node for group in self._alike_groups for node in group}
        for begun in wish.begun:
            node = begun.frame.node
            if node is not None and model.nodes[node].role != "keyed":
                self._forbid(node, begun)

    def lines(self) -> Iterator[str]:
        """The facts and the choices."""
        yield from self._objects()
        yield from self._identities()
        yield from self._prices()
        yield from self._orders()
        yield from self._companies()
        for feature in self._program.schema.features.values():
            yield from self._attribute(feature) if feature.attribute else self._reference(feature)
        # The order of lines decides among equally cheap goals, so it must not be that of hashes.
        for cell in sorted(cell for cell in self._model.facts if cell[0] == "base"):
            if (name := self._program.base(cell[1])) is not None:
                for row in sorted(self._model.facts[cell]):
                    yield f"{name}{arguments(str(item) for item in row)}."

    def _new_objects(self) -> Iterator[tuple[ObjectId, str]]:
        model, schema = self._model, self._program.schema
        number, pool = model.next_id, self._wish.pool
        for name, info in schema.classes.items():
            if not info.abstract and schema.new.get(name) in model.nodes:
                for _ in range(pool if isinstance(pool, int) else pool.get(name, 0)):
                    yield number, name
                    number += 1

    def _objects(self) -> Iterator[str]:
        schema = self._program.schema
        new = set(schema.new.values())
        for node, record in self._model.nodes.items():
            if node in new:
                continue
            kinds = sorted(record.kinds)
            if is_foreign(record):
                yield f"obj({node}). foreign({node})."
                common = frozenset.intersection(*(schema.classes[k].ancestors for k in kinds))
                yield from (f"{self._program.cls(name)}({node})." for name in sorted(common))
                continue
            if len(kinds) == 1:
                yield f"{self._program.kind(kinds[0])}({node})."
            else:
                options = "; ".join(f"{self._program.kind(kind)}({node})" for kind in kinds)
                yield f"1 {{{options}}} 1."
            if record.role == "keyed":
                if not self._is_under_construction(node):
                    yield f"keyed({node})."
            elif record.role == "mentioned":
                yield f"boxed({node})."
            else:
                yield f"inside({node})."
        roots = []
        root = self._root()
        for number, name in self._pool.items():
            kind = self._program.kind(name)
            yield f"pool{kind[1:]}({number}). new({number})."
            if schema.classes[name].key:
                yield f"keyed({number}). inside({number})."
            elif name == root:
                roots.append(number)
            else:
                yield f"boxed({number})."
        if roots:
            yield f"inside({roots[0]}). {self._program.kind(root or '')}({roots[0]})."
            yield from (f":- obj({number})." for number in roots[1:])

    def _prices(self) -> Iterator[str]:
        """What to keep low."""
        prices, program = self._wish.prices, self._program
        for name, info in program.schema.classes.items():
            if not info.abstract:
                kind, price = program.kind(name), prices.objects.get(name, 3)
                yield f"#minimize{{{price},{kind},X : {kind}(X), boxed(X)}}."
        for feature in program.schema.features.values():
            place = program.feature(feature.symbol)[1:]
            first, further = (
                each.get(feature.symbol, 1) for each in (prices.first, prices.further)
            )
            if feature.attribute:
                if not program.is_key(feature):
                    yield f"#minimize{{{first},{place},X : stated{place}(X)}}."
                continue
            yield f"#minimize{{{further},{place},X,Y : stated{place}(X,Y)}}."
            if first != further:
                yield (
                    f"#minimize{{{first - further},{place},X : stated{place}(X,_), "
                    f"not was{place}(X,_), not next{place}(X)}}."
                )
        for begun in self._wish.begun:
            for symbol in sorted(begun.next) if begun.frame.node is not None else ():
                yield f"next{program.feature(symbol)[1:]}({begun.frame.node})."

    def _orders(self) -> Iterator[str]:
        """Of individuals that are alike the first ones are taken."""
        for group in self._alike_groups:
            for one, next_one in pairwise(group):
                yield f":- taken({next_one}), not taken({one})."

    def _companies(self) -> Iterator[str]:
        """What must not be stated alone."""
        features, number = self._program.schema.features, self._program.feature
        for (name, symbol), others in sorted(self._wish.companions.items()):
            stated = f"stated{number(symbol)[1:]}(X{'' if features[symbol].attribute else ',_'})"
            for other in sorted(others):
                value = "1" if features[other].target == "boolean" else "_"
                has = f"{number(other)}(X,{value})"
                yield f":- {self._program.kind(name)}(X), {stated}, not {has}."

    def _root(self) -> str | None:
        """The class of the root where the model does not have it yet."""
        if not self._wish.begun:
            return self._wish.root
        frame = self._wish.begun[0].frame
        return frame.info.name if frame.node is None and frame.info is not None else None

    def _identities(self) -> Iterator[str]:
        """Which object one under construction is whose name or key is not known yet."""
        above: str | None = None
        for depth, begun in enumerate(self._wish.begun):
            frame = begun.frame
            if frame.info is None:
                above = None
            elif frame.node is not None:
                above = str(frame.node)
                yield from self._required(begun, above, "")
            else:
                choices = list(self._identified_by(frame, begun))
                if not choices:
                    yield ":- ."
                    return
                options = "; ".join(f"is{depth}({node})" for node in choices)
                kind = self._program.kind(frame.info.name)
                yield f"1 {{{options}}} 1. :- is{depth}(X), not {kind}(X)."
                if frame.feature is not None and above is not None:
                    feature = self._program.feature(frame.feature.symbol)
                    source = above if above[0] != "U" else "U"
                    is_above = "" if above[0] != "U" else f", is{above[1:]}(U)"
                    yield f":- is{depth}(X){is_above}, not {feature}({source},X)."
                above = f"U{depth}"
                yield from self._required(begun, "X", f", is{depth}(X)")

    def _required(self, begun: Begun, node: str, condition: str) -> Iterator[str]:
        # What a keyed object has already may be stated again, and the name of a mentioned one is.
        info = begun.frame.info
        keyed = info is not None and bool(info.key)
        for symbol in sorted(begun.required):
            place = self._program.feature(symbol)[1:]
            feature = self._program.schema.features[symbol]
            again = keyed or feature.name == "name"
            fact = f"f{place}" if again else f"stated{place}"
            arguments_ = f"({node})" if feature.attribute and not again else f"({node},_)"
            yield f":- not {fact}{arguments_}{condition}."

    def _identified_by(self, frame: Frame, begun: Begun) -> Iterator[ObjectId]:
        assert frame.info is not None
        name = frame.info.name
        begun_alike = [
            other.frame.info.name
            for other in self._wish.begun
            if other.frame.node is None and other.frame.info is not None
        ]
        for number, kind in self._pool.items():
            if kind == name:
                yield number
                if not frame.info.key:
                    self._forbid(number, begun)
                if begun_alike.count(name) == 1:
                    break  # the new ones are alike
        for node, record in self._model.nodes.items():
            if name in record.kinds and record.role in ("mentioned", "keyed"):
                yield node

    def _forbid(self, node: ObjectId, begun: Begun) -> None:
        info = begun.frame.info
        for feature in info.features.values() if info is not None else ():
            if feature.symbol not in begun.features:
                self._forbidden.add((feature.symbol, node))

    def _is_under_construction(self, node: ObjectId) -> bool:
        frame = self._model.frame
        while frame is not None:
            if frame.node == node:
                return True
            frame = frame.parent
        return False

    def _reference(self, feature: FeatureInfo) -> Iterator[str]:
        place = self._program.feature(feature.symbol)[1:]
        for node in self._model.nodes:
            for target in sorted(self._model.of(node).get(feature.forward, ())):
                if target in self._model.nodes and node in self._model.nodes:
                    yield f"was{place}({node},{target})."
        yield from self._sources(feature, place)
        for node, record in self._model.nodes.items():
            if (
                record.role == "new"
                or is_foreign(record)
                or record.kinds.isdisjoint(feature.targets)
            ):
                continue
            if record.role == "declared" and not self._means_one(record.name, feature):
                continue
            if not feature.containment or record.role in ("mentioned", "keyed"):
                yield f"dst{place}({node})."
                if node in self._alike:
                    yield f"taken({node}) :- stated{place}(_,{node})."
        for number, name in self._pool.items():
            if name in feature.targets:
                yield f"dst{place}({number})."

    def _means_one(self, name: str | None, feature: FeatureInfo) -> bool:
        """Whether a reference to an object by its plain name is not ambiguous."""
        model = self._model
        alike = model.use_of(name).bearers if model.scopes is None else ()
        return len([each for each in alike if model.nodes[each].kinds <= feature.targets]) < 2

    def _attribute(self, feature: FeatureInfo) -> Iterator[str]:
        place = self._program.feature(feature.symbol)[1:]
        for node, record in self._model.nodes.items():
            value = self._model.of(node).get(feature.forward)
            if value is None and record.role == "mentioned" and feature.name == "name":
                value = record.name
            for each in value if isinstance(value, tuple) else () if value is None else (value,):
                yield f"was{place}({node},{value_term(each)})."
                if isinstance(each, int) and not isinstance(each, bool):
                    yield f"integer({each})."
        yield from self._sources(feature, place)

    def _sources(self, feature: FeatureInfo, place: str) -> Iterator[str]:
        if feature.symbol not in self._written:
            return  # it only follows from others
        for node, record in self._model.nodes.items():
            if (
                record.role != "new"
                and not is_foreign(record)
                and (feature.symbol, node) not in self._forbidden
                and self._model.may_fill(feature, node)
            ):
                yield f"src{place}({node})."
        for number, name in self._pool.items():
            if name in feature.sources and (feature.symbol, number) not in self._forbidden:
                yield f"src{place}({number})."


__all__ = ["Begun", "Goal", "Wish", "solve"]
