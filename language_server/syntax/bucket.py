"""All threads of one position, run up to their next terminals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from language_server.syntax.agenda import DECIDED, IN_COMMENT, PERHAPS_COMMENT, Task, Waiting
from language_server.syntax.events import Close, Trail
from language_server.syntax.frames import (
    NONE,
    OPEN_END,
    Conditions,
    Edge,
    Frame,
    Guard,
    Inside,
    Thread,
    flush,
    rebased,
    rebased_parts,
)
from language_server.syntax.slots import (
    ASSIGN,
    GATHER,
    CallSlot,
    ChoiceSlot,
    CloseSlot,
    Layout,
    MatchSlot,
    Mode,
    Part,
    PredicateSlot,
    Result,
    Slot,
)
from language_server.syntax.tables import table_of
from language_server.syntax.terminals import Terminal
from language_server.syntax.values import (
    CLOSE,
    OPEN,
    TEXT,
    Pending,
    convert,
    fill,
    fold,
    join_texts,
)

if TYPE_CHECKING:
    from language_server.syntax.machine import Machine


#: A choice that comes again so often in one frame at one position goes round without reading: textX
#: would never come back from it.
MOST_VISITS = 200


class Bucket:
    """Processes all threads of one position."""

    def __init__(self, machine: Machine, at: int) -> None:
        self._machine = machine
        self._at = at
        self._stack: list[Task] = []
        self._frames: dict[Any, Frame] = {}
        self._returned: dict[Frame, list[tuple[Any, ...]]] = {}
        self._visits: dict[tuple[Slot, Frame], int] = {}
        self._matches: dict[tuple[Terminal, int], tuple[int, bool]] = {}
        self._starts: dict[Layout, tuple[int, int]] = {}
        self.arrivals: list[tuple[int, Thread]] = []
        self.undecided = False

    def process(self, threads: list[Thread]) -> None:
        """Run the threads up to their next terminals."""
        stack, machine = self._stack, self._machine
        for t in reversed(threads):
            stack.append(
                (t.slot, t.frame, t.trail, t.pending, t.parts, t.end, t.conditions, t.inside)
            )
        steps = (
            self._match,
            self._choose,
            self._close,
            self._call,
            self._return,
            self._look,
            self._assign,
            self._fail,
        )
        while stack:
            task = stack.pop()
            if task[6] and not machine.won.isdisjoint(task[6]):
                continue
            steps[task[0].op](task)
        for frame in self._frames.values():
            frame.clean = all(
                not edge.conditions
                and not edge.inside
                and (edge.parent is None or edge.parent.clean)
                for edge in frame.edges()
            )

    # -- one method per kind of slot --------------------------------------------------------------

    def _fail(self, task: Task) -> None:
        """Nothing follows: the thread ends."""

    def _match(self, task: Task) -> None:
        slot: Any = task[0]
        machine = self._machine
        start, comment = self._start(slot.layout)
        if comment == IN_COMMENT:
            self._wait(task, machine.shift + len(machine.text), -1, IN_COMMENT)
            return
        end, undecided = self._try(slot.terminal, start)
        if undecided and not machine.closed:
            self._wait(task, start, end, DECIDED)
        elif comment == PERHAPS_COMMENT:
            self._wait(task, machine.shift + len(machine.text), end, comment)
            undecided = True
        elif end < 0:
            self._note_failure(task, start, start)
            return
        if end >= 0:
            self._arrive(task, start, end, undecided and not machine.closed)

    def _note_failure(self, task: Task, start: int, blamed: int) -> None:
        machine = self._machine
        machine.blamed = max(machine.blamed, blamed)
        if start >= machine.furthest:
            if start > machine.furthest:
                machine.tried = []
            machine.furthest = start
            machine.tried.append(Waiting(_thread(task), start, -1, DECIDED))

    def _wait(self, task: Task, start: int, end: int, comment: int) -> None:
        self.undecided = True
        self._machine.waiting.append(Waiting(_thread(task), start, end, comment))

    def _arrive(self, task: Task, start: int, end: int, undecided: bool) -> None:
        slot, frame, trail, pending, parts, last, conditions, inside = task
        assert isinstance(slot, MatchSlot)
        if undecided:
            conditions |= OPEN_END
        if end == start and slot.terminal.kind == "regex":
            after = slot.after_empty
        else:
            after = slot.after
            if slot.loud:
                trail = flush(trail, pending, start)
                pending = None
                last = end
            if slot.effect == ASSIGN:
                trail = self._filled(slot, trail, start, end)
            elif slot.effect == GATHER and slot.result is not Result.NONE:
                parts = (parts, TEXT, self._read(slot, start, end), slot.reader, start, end)
        self.arrivals.append(
            (end, Thread(after, frame, trail, pending, parts, last, conditions, inside))
        )

    def _read(self, slot: MatchSlot, start: int, end: int) -> str:
        terminal = slot.terminal
        if terminal.kind == "keyword" and not terminal.boundary:
            return terminal.text
        shift = self._machine.shift
        return self._machine.text[start - shift : end - shift]

    def _filled(self, slot: MatchSlot, trail: Trail, start: int, end: int) -> Trail:
        assert slot.sink is not None
        machine = self._machine
        text: str | None = self._read(slot, start, end)
        if machine.skipper.uses_groups:
            group = slot.terminal.group(machine.text, start - machine.shift)
            text = group if group is not None else text
        return fill(trail, slot.sink, convert(text, slot.reader), start, end)

    def _choose(self, task: Task) -> None:
        slot, frame, trail, pending, parts, last, conditions, inside = task
        assert isinstance(slot, ChoiceSlot)
        visits = self._visits[slot, frame] = self._visits.get((slot, frame), 0) + 1
        if visits > MOST_VISITS:
            return
        branches = slot.branches
        fitting = self._fitting(slot, inside)
        if not fitting:
            return
        tasks: list[Task] = []
        final = fitting[-1]
        moved = NONE
        for index in fitting:
            branch = branches[index]
            if index == final:
                tasks.append(
                    (branch, frame, trail, pending, parts, last, conditions | moved, inside)
                )
                break
            within = inside
            if index in slot.moving:
                after_move = self._new_guard()
                within = (*within, (slot, -1 - index, after_move, conditions))
            guard = self._new_guard()
            within = (*within, (slot, index, guard, conditions | moved))
            tasks.append((branch, frame, trail, pending, parts, last, conditions | moved, within))
            if index in slot.moving:
                conditions |= {after_move}
                moved = frozenset([guard])
            else:
                conditions |= {guard}
                moved = NONE
        self._stack.extend(reversed(tasks))

    def _fitting(self, slot: ChoiceSlot, inside: Inside) -> Sequence[int]:
        """The branches that may read the text here, as far as its next character tells."""
        machine = self._machine
        everything = range(len(slot.branches))
        if machine.thorough or slot.moving:
            return everything
        table = table_of(slot)
        if not table.plain or table.layout is None:
            return everything
        start, comment = self._start(table.layout)
        local = start - machine.shift
        if comment != DECIDED or local >= len(machine.text):
            return everything
        return table.branches(slot, machine.text[local], bool(inside))

    def _new_guard(self) -> Guard:
        guard = Guard()
        machine = self._machine
        machine.open = {**machine.open, guard: ()}
        return guard

    def _close(self, task: Task) -> None:
        slot, frame, trail, pending, parts, last, conditions, inside = task
        assert isinstance(slot, CloseSlot)
        for index in range(len(inside) - 1, -1, -1):
            choice, branch, guard, before = inside[index]
            if choice is slot.choice and branch == slot.branch:
                self._succeed(guard, conditions - before)
                inside = inside[:index]
                break
        self._stack.append((slot.next, frame, trail, pending, parts, last, conditions, inside))

    def _succeed(self, guard: Guard, conditions: Conditions) -> None:
        machine = self._machine
        if guard not in machine.open:
            return
        conditions = machine.pending(conditions)
        machine.open = dict(machine.open)
        if conditions:
            machine.open[guard] = (*machine.open[guard], conditions)
        else:
            del machine.open[guard]
            machine.won |= {guard}

    def _call(self, task: Task) -> None:
        slot, parent, trail, pending, parts, last, conditions, inside = task
        assert isinstance(slot, CallSlot)
        body = slot.body
        frame = self._frames.get(body)
        if frame is None:
            frame = Frame(
                body, self._at, slot, parent, trail, pending, parts, conditions, inside, False
            )
            self._frames[body] = frame
            begun = pending if slot.opens is None else (pending, *slot.opens)
            gathered = (parts, OPEN, "", body.name, 0, 0) if body.mode is Mode.VALUE else None
            self._stack.append((body.start, frame, trail, begun, gathered, last, NONE, ()))
            return
        for edge in frame.edges():
            if (
                edge.call is slot
                and edge.parent is parent
                and edge.conditions == conditions
                and edge.inside == inside
            ):
                return
        edge = Edge(slot, parent, trail, pending, parts, conditions, inside)
        if frame.more is None:
            frame.more = []
        frame.more.append(edge)
        for returned in self._returned.get(frame, ()):
            self._go_back(frame, edge, *returned)

    def _return(self, task: Task) -> None:
        slot, frame, trail, pending, parts, last, conditions, _ = task
        result: Result = slot.result  # type: ignore[attr-defined]
        if frame.parent is None:
            self._machine.accept(_thread(task), self._at)
            return
        returned = (result, trail, pending, parts, last, conditions)
        if frame.start == self._at and frame in self._frames.values():
            self._returned.setdefault(frame, []).append(returned)
        won = self._machine.won
        for edge in reversed(frame.edges()):
            if won.isdisjoint(edge.conditions):
                self._go_back(frame, edge, *returned)

    def _go_back(
        self,
        frame: Frame,
        edge: Edge,
        result: Result,
        trail: Trail,
        pending: Pending | None,
        parts: Part | None,
        last: int,
        conditions: Conditions,
    ) -> None:
        body, call, parent = frame.body, edge.call, edge.parent
        assert body is not None and call is not None and parent is not None
        if edge is not frame:
            trail, pending = rebased(frame, edge, trail, pending)
            parts = rebased_parts(frame, edge, parts)
        if call.opens is not None:
            if pending is not None:
                pending = pending[0]
            else:
                trail = trail.then(Close(last))
        if body.mode is Mode.VALUE:
            parts = (parts, CLOSE, "", "", 0, 0) if result.true else edge.parts
        else:
            if body.mode is Mode.ABSTRACT and result is Result.TEXT and body.sink is not None:
                trail = fill(trail, body.sink, *join_texts(parts))
            parts = edge.parts
        left = self._machine.pending(conditions | edge.conditions)
        self._stack.append(
            (call.to(result), parent, trail, pending, parts, last, left, edge.inside)
        )

    def _look(self, task: Task) -> None:
        slot, frame, trail, pending, parts, last, conditions, inside = task
        assert isinstance(slot, PredicateSlot)
        answer = self._machine.ahead(slot.probe, self._at)
        if answer is None:
            self.undecided = True
            self._machine.looks.append(_thread(task))
            conditions |= OPEN_END
        elif answer != slot.wanted:
            layout = table_of(slot.probe).layout
            start = self._start(layout)[0] if layout is not None else self._at
            self._note_failure(task, start, self._at)
            return
        self._stack.append((slot.next, frame, trail, pending, parts, last, conditions, inside))

    def _assign(self, task: Task) -> None:
        slot: Any = task[0]
        _, frame, trail, pending, parts, last, conditions, inside = task
        value, start, end, before = fold(parts)
        trail = fill(trail, slot.sink, value, start, end)
        self._stack.append((slot.next, frame, trail, pending, before, last, conditions, inside))

    # -- the text ---------------------------------------------------------------------------------

    def _start(self, layout: Layout) -> tuple[int, int]:
        known = self._starts.get(layout)
        if known is None:
            known = self._machine.skipper.skip(self._machine, layout, self._at)
            self._starts[layout] = known
        return known

    def _try(self, terminal: Terminal, start: int) -> tuple[int, bool]:
        key = (terminal, start)
        known = self._matches.get(key)
        if known is None:
            machine = self._machine
            local = start - machine.shift
            end = terminal.match(machine.text, local)
            undecided = not machine.closed and terminal.undecided(machine.text, local, end)
            known = (end + machine.shift if end >= 0 else -1, undecided)
            self._matches[key] = known
        return known


def _thread(task: Task) -> Thread:
    return Thread(*task)
