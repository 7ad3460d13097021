"""Brings the answers of all queries up to date with a changed model, by what the change touches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from immutables import Map

from language_server.constraints.constraint_set import ConstraintSet
from language_server.constraints.query import Closure, Counting, Query, Row, View
from language_server.constraints.shortfalls import Shortfall, shortfalls
from language_server.constraints.state import NONE, Key, State
from language_server.partial_model import Cell, ObjectId, PartialModel

_MISSING: Any = object()


class Settled:
    """All answers for one model; a persistent value.

    Attributes:
        memo: answers that others rest on, by query and arguments; of the ``now`` ones that are kept
            up to date for each object of a class no empty ones that nothing rests on.
        readers: for each cell the answers that rest on it.
        extents, sizes: rows of the predicates that are kept as a whole, and how many.
        violated: rows of violated error predicates as the text stands, and in every completion.
        watched: the answers to keep for ``violated_must``, because the constraint is violated now.
        shortfalls: problems of objects with their features, likewise.
    """

    __slots__ = (
        "extents",
        "memo",
        "model",
        "readers",
        "shortfalls_must",
        "shortfalls_now",
        "sizes",
        "violated_must",
        "violated_now",
        "watched",
    )

    def __init__(self, model: PartialModel) -> None:
        empty: Any = Map()
        self.model = model
        self.memo: Map[Key, Any] = empty
        self.readers: Map[Cell, Any] = empty
        self.extents: Map[tuple[str, View], Map[ObjectId, Any]] = empty
        self.sizes: Map[tuple[str, View], int] = empty
        self.violated_now: Map[Key, Any] = empty
        self.violated_must: Map[Key, Any] = empty
        self.watched: Map[Key, None] = empty
        self.shortfalls_now: Map[ObjectId, tuple[Shortfall, ...]] = empty
        self.shortfalls_must: Map[ObjectId, tuple[Shortfall, ...]] = empty

    def state(self) -> State:
        """A state for further questions; their answers are not kept."""
        memo, readers = self.memo.mutate(), self.readers.mutate()
        return State(self.model, memo, readers, self.extents, self.sizes)


def settle(
    constraints: ConstraintSet, before: Settled, model: PartialModel, touched: Iterable[Cell]
) -> Settled:
    """The answers for the model, made from those for an earlier one and what was touched since."""
    return _Settling(constraints, before, model).run(touched)


class _Settling:
    def __init__(self, constraints: ConstraintSet, before: Settled, model: PartialModel) -> None:
        self._constraints = constraints
        self.after = after = Settled(model)
        after.extents = before.extents
        after.sizes = before.sizes
        after.violated_now = before.violated_now
        after.violated_must = before.violated_must
        #: Of a closed model nothing else is asked; only what rules conclude is always certain.
        self._only_now = model.closed and not constraints.rules
        after.watched = after.watched if self._only_now else before.watched
        after.shortfalls_now = before.shortfalls_now
        after.shortfalls_must = before.shortfalls_must
        self._answered: Any = before.memo
        self._memo: Any = before.memo.mutate()
        self._readers: Any = before.readers.mutate()
        self._state = State(model, self._memo, self._readers, after.extents, after.sizes)
        self._waiting: dict[int, dict[Key, None]] = {}  # by stratum what must be looked at again
        self._looks: dict[Row, tuple[Query, ...]] = {}  # and checks, by their anchor
        self._changed_edges: dict[Key, set[ObjectId]] = {}

    def run(self, touched: Iterable[Cell]) -> Settled:
        """Bring everything up to date."""
        model = self.after.model
        checked: set[ObjectId] = set()
        rooted: set[ObjectId] = set()
        new: set[ObjectId] = set()
        readers, own, extents = self._readers, self._constraints.own, self._constraints.extents
        for cell in touched:
            kind = cell[0]
            if kind == "new":
                new.add(cell[1])
                continue
            if len(cell) == 2 and cell[1] in new:
                continue  # nothing rests on it so far, and it is looked at as a whole
            if kind == "bounds":
                checked.add(cell[1])
                continue
            if cell in readers:
                self._fire(cell)
            if kind in own:
                self._fire_own(*own[kind], cell[1])
            elif kind == "open":
                checked.add(cell[1])
            elif kind in ("kinds", "role"):
                checked.add(cell[1])
                rooted.add(cell[1])
            elif kind == "gone":
                self._forget(cell[1])
            elif kind == "end" and self._constraints.rules:
                self._look_again()
            elif kind == "start":
                self._look_at((), self._constraints.unanchored)
        if new:
            self._fire(("objects",))
        for node in sorted(rooted | new):
            self._add_roots(node)
        for node in checked | new:
            if node in model.nodes and node >= 0:
                self._check(node)
        while self._waiting or self._looks:
            if not self._waiting:
                self._look(*self._looks.popitem())
                continue
            for key in self._waiting.pop(min(self._waiting)):
                if key[0] in extents:
                    self._renew_extent(key)
                else:
                    self._renew(key)
        self.after.memo = self._memo.finish()
        self.after.readers = self._readers.finish()
        return self.after

    def _look_again(self) -> None:
        """The text has ended: whatever could hold may be what nothing can state any more."""
        for key in self._answered:
            asked = key[0]
            if isinstance(asked, Counting) or asked.view != "now":
                self._schedule(key)
        self._look_at((), self._constraints.unanchored)
        for node in self.after.model.nodes:
            self._add_roots(node)

    # ---- queries -----------------------------------------------------------------------------

    def _fire(self, cell: Any) -> None:
        """A cell has changed: whatever rests on it must be looked at again."""
        keys = self._readers.get(cell)
        if keys is not None:
            del self._readers[cell]
            for key in keys:
                if isinstance(key[0], Closure) and len(key[1]) < 2:
                    self._changed_edges.setdefault(key, set()).add(cell[1][0])
                self._schedule(key)

    def _fire_own(
        self, asked: tuple[Query, ...], errors: tuple[Query, ...], node: ObjectId
    ) -> None:
        """A cell has changed that queries read of their only argument, this object."""
        args = (node,)
        record = self.after.model.nodes.get(node) if node >= 0 else None
        for query in asked:
            key = (query, args)
            if key in self._memo or (record is not None and query in self._constraints.extents):
                self._schedule(key)
        if errors and record is not None and record.role != "mentioned":
            self._look_at(args, errors)

    def _schedule(self, key: Key) -> None:
        query, args = key
        if query in self._constraints.checks:
            self._look_at(args, (query,))
            if query not in self._constraints.compiler.asked:
                return
        stratum = query.stratum
        waiting = self._waiting.get(stratum)
        if waiting is None:
            self._waiting[stratum] = {key: None}
        else:
            waiting[key] = None

    def _look_at(self, args: Row, checks: tuple[Query, ...]) -> None:
        known = self._looks.get(args)
        if known is not None:
            checks = tuple(dict.fromkeys((*known, *checks)))
        self._looks[args] = checks

    def _add_roots(self, node: ObjectId) -> None:
        record = self.after.model.nodes.get(node)
        if record is None or node < 0:
            return
        args = (node,)
        for kind in record.kinds:
            if record.role != "mentioned":
                self._look_at(args, self._constraints.checks_of(kind))
            for query in self._constraints.extents_of(kind):
                key = (query, args)
                if key not in self._memo and not (self._only_now and query.view != "now"):
                    self._schedule(key)

    def _look(self, args: Row, checks: Iterable[Query]) -> None:
        """The rows of error predicates as the text stands, and of what contradicts rules.

        All that they ask is up to date.
        """
        state, violated = self._state, self.after.violated_now
        if args and args[0] not in state.nodes:
            return
        for query in checks:
            rows = query.run(state, *args)
            if state.deps:
                state.rest((query, args))
            if state.changed:
                self._fire_changes()
            if query.view == "must":
                self._update_must((query, args), rows)
            elif (rows or violated) and rows != violated.get((query, args), NONE):
                self._update_violation((query, args), rows)

    def _renew_extent(self, key: Any) -> None:
        """An answer that is kept up to date for an object, whether or not anything rests on it."""
        query, args = key
        memo, state = self._memo, self._state
        if args and args[0] not in state.nodes:
            if key in memo:
                del memo[key]
            return
        is_now = query.view == "now"
        before = memo.get(key, NONE if is_now else _MISSING)
        value = state.answer(key)
        if state.changed:
            self._fire_changes()
        if value == before:
            return
        if value or not is_now or self._readers.get(key):
            memo[key] = value
        else:
            del memo[key]
        self._fire(key)
        self._update_extent(query, args, value)
        if self._is_needed(key):
            self._update_must(key, value)

    def _renew(self, key: Key) -> None:
        """An answer that is kept as long as something rests on it."""
        asked, args = key
        if isinstance(asked, Closure) and len(args) < 2:
            self._renew_closure(key)
            return
        nodes, needed = self._state.nodes, self._is_needed(key)
        wanted = needed or self._readers.get(key)
        if not wanted or any(argument not in nodes for argument in args):
            if key in self._memo:
                del self._memo[key]
            return
        before = self._memo.get(key, _MISSING)
        value = self._state.compute(key)
        self._fire_changes()
        if value != before:
            self._fire(key)
            if needed:
                self._update_must(key, value)

    def _renew_closure(self, key: Key) -> None:
        changed = self._changed_edges.pop(key, set())
        if key[1] and key[1][0] not in self.after.model.nodes:
            if key in self._memo:
                del self._memo[key]
            return
        self._state.renew_closure(key, changed)
        self._fire_changes()

    def _fire_changes(self) -> None:
        """Cells of closures have changed while they were renewed."""
        changes = self._state.changed
        self._state.changed = []
        for cell in changes:
            self._fire(cell)

    def _is_needed(self, key: Key) -> bool:
        """Whether a ``must`` answer is wanted because the constraint is violated now."""
        return key in self.after.watched

    def _update_extent(self, query: Query, args: Row, rows: Any) -> None:
        name, view = self._constraints.extents[query]
        place = (name, view)
        extent: Any = self.after.extents.get(place)
        if extent is None:
            extent = Map()
        size = self.after.sizes.get(place, 0) - len(extent.get(args[0], ()))
        if rows:
            extent = extent.set(args[0], rows)
        elif args[0] in extent:
            extent = extent.delete(args[0])
        else:
            return
        self.after.extents = self.after.extents.set(place, extent)
        self.after.sizes = self.after.sizes.set(place, size + len(rows))
        self._state.extents = self.after.extents
        self._state.sizes = self.after.sizes
        self._fire(("extent", name, view))

    def _update_violation(self, key: tuple[Query, Row], rows: Any) -> None:
        query, args = key
        must = (self._constraints.errors[query].must, args)
        if rows:
            self.after.violated_now = self.after.violated_now.set(key, rows)
            if not self._only_now and must not in self.after.watched:
                self.after.watched = self.after.watched.set(must, None)
                self._schedule(must)
        else:
            if key in self.after.violated_now:
                self.after.violated_now = self.after.violated_now.delete(key)
            self._unwatch(must)

    def _update_must(self, key: Key, rows: Any) -> None:
        if rows:
            self.after.violated_must = self.after.violated_must.set(key, rows)
        elif key in self.after.violated_must:
            self.after.violated_must = self.after.violated_must.delete(key)

    def _unwatch(self, key: Key) -> None:
        after = self.after
        if key in after.watched:
            after.watched = after.watched.delete(key)
        if key in after.violated_must:
            after.violated_must = after.violated_must.delete(key)

    def _forget(self, node: ObjectId) -> None:
        """An object turned out to be another one: its answers go."""
        after = self.after
        self._fire(("objects",))
        for closure in self._constraints.compiler.closures:
            self._fire((closure.step, (node,)))
        for query in self._constraints.rules:
            self._unwatch((query, (node,)))
        for query in self._constraints.errors:
            if (query, (node,)) in after.violated_now:
                self._update_violation((query, (node,)), ())
        for query in self._constraints.extents:
            if (query, (node,)) in self._memo:
                self._update_extent(query, (node,), ())
                del self._memo[query, (node,)]
        if node in after.shortfalls_now:
            after.shortfalls_now = after.shortfalls_now.delete(node)
        if node in after.shortfalls_must:
            after.shortfalls_must = after.shortfalls_must.delete(node)

    def _check(self, node: ObjectId) -> None:
        """The built-in constraints of one object."""
        after = self.after
        now, must = shortfalls(after.model, node)
        after.shortfalls_now = _put(after.shortfalls_now, node, now)
        after.shortfalls_must = _put(after.shortfalls_must, node, must)


def _put(entries: Any, node: ObjectId, value: tuple[Shortfall, ...]) -> Any:
    if value:
        return entries.set(node, value)
    return entries.delete(node) if node in entries else entries
