"""The machine that runs threads over a text.

Threads are processed position by position, all threads of a position together, so that equal ones
merge and each terminal is matched once. Where a later branch of a choice is followed although an
earlier one may still succeed, its threads carry the earlier branch's ``Guard`` as a condition;
conditions are settled as soon as the text decides them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from language_server.syntax.events import Close, Trail
from language_server.syntax.frames import (
    NONE,
    OPEN_END,
    UNDECIDED,
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
from language_server.syntax.rush import rush
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
    from language_server.syntax.layout import Skipper


#: How what is skipped before a terminal ends: decided, in a possible comment, in a comment.
DECIDED, PERHAPS_COMMENT, IN_COMMENT = 0, 1, 2


class Waiting(NamedTuple):
    """A thread in front of a terminal that the end of the text leaves undecided."""

    thread: Thread
    start: int
    end: int
    comment: int


class Agenda(NamedTuple):
    """Threads by position, and the guards they depend on: everything a parse needs to go on.

    Attributes:
        open: undecided guards, with the conditions under which they have succeeded.
        won: guards that have succeeded and are still named by a frame.
    """

    threads: dict[int, dict[Any, Thread]]
    open: dict[Guard, tuple[Conditions, ...]]
    won: frozenset[Guard]

    def first(self) -> int:
        """The first position with threads."""
        return min(self.threads)


Task = tuple[Slot, Frame, Trail, "Pending | None", "Part | None", int, Conditions, Inside]


class Machine:
    """One run over a text.

    Attributes:
        base: the agenda before the first position that the end of the text leaves undecided.
        waiting: the threads in front of undecided terminals.
        accepted: threads that have read the whole text.
        furthest: the last position at which a terminal was tried in vain.
        tried: the threads in front of the terminals tried there.
        thorough: whether terminals are tried although the next character rules them out, so that
            ``tried`` is complete.
        sure_start: the last agenda with a single thread.
        comments: where the comments at a position end; found once for all terminals, as Arpeggio
            does.
        in_comment: whether a comment is being read, which holds no comments itself.
    """

    def __init__(
        self, skipper: Skipper, text: str, shift: int, closed: bool, agenda: Agenda
    ) -> None:
        self._skipper = skipper
        self.text = text
        self.shift = shift
        self.closed = closed
        self.threads = {at: dict(bucket) for at, bucket in agenda.threads.items()}
        self.open = agenda.open
        self.won = agenda.won
        self.base: Agenda | None = None
        self.waiting: list[Waiting] = []
        self.accepted: list[Thread] = []
        self.furthest = -1
        self.tried: list[Waiting] = []
        self.comments: dict[int, int] = {}
        self.in_comment = False
        self.thorough = False
        self.sure_start = agenda

    def run(self) -> None:
        """Process all positions."""
        while self.threads:
            if len(self.threads) == 1 and not self.open:
                rush(self)
                if not self.threads:
                    return
            self.step()

    def step(self) -> None:
        """Process the first position."""
        at = min(self.threads)
        if len(self.threads) == 1 and len(self.threads[at]) == 1 and not self.open:
            self.sure_start = Agenda({at: self.threads[at]}, {}, self.won)
        run = _Bucket(self, at)
        opened, won = self.open, self.won
        run.process(list(self.threads[at].values()))
        if run.undecided and self.base is None:
            self.base = Agenda({p: dict(b) for p, b in self.threads.items()}, opened, won)
        del self.threads[at]
        for end, thread in run.arrivals:
            self.threads.setdefault(end, {}).setdefault(thread.key(), thread)
        if self.open or self.won:
            self._settle()

    def sure(self) -> bool:
        """Whether some thread has succeeded under no condition."""
        return any(not thread.conditions for thread in self.accepted)

    # -- guards -----------------------------------------------------------------------------------

    def pending(self, conditions: Conditions) -> Conditions:
        """The conditions that are not yet known to hold."""
        if not conditions:
            return NONE
        return frozenset(
            guard
            for guard in conditions
            if guard in self.open or guard in self.won or guard is UNDECIDED
        )

    def _settle(self) -> None:
        """Decide guards, drop threads whose conditions have failed, forget what nobody asks for."""
        self.open = dict(self.open)
        survey = self._survey()
        while self._decide(survey.inside):
            survey = self._survey()
        named = survey.named
        for alternatives in self.open.values():
            for conditions in alternatives:
                named |= conditions
        self.open = {guard: value for guard, value in self.open.items() if guard in named}
        self.won = self.won & survey.lost
        self._keep(survey.dead)

    def _decide(self, inside: set[Guard]) -> bool:
        changed = False
        for guard, alternatives in list(self.open.items()):
            left = []
            for conditions in alternatives:
                if self.won.isdisjoint(conditions):
                    left.append(
                        frozenset(g for g in conditions if g in self.open or g is UNDECIDED)
                    )
            if any(not conditions for conditions in left):
                del self.open[guard]
                self.won |= {guard}
                changed = True
            elif not left and guard not in inside:
                del self.open[guard]
                changed = True
            else:
                self.open[guard] = tuple(dict.fromkeys(left))
        return changed

    def _survey(self) -> _Survey:
        survey = _Survey(self.won)
        for bucket in self.threads.values():
            for thread in bucket.values():
                survey.see(thread)
        for waiting in self.waiting:
            survey.see(waiting.thread)
        for thread in self.accepted:
            survey.see(thread)
        return survey

    def _keep(self, dead: set[int]) -> None:
        for at, bucket in list(self.threads.items()):
            kept: dict[Any, Thread] = {}
            for thread in bucket.values():
                if id(thread) not in dead:
                    settled = self._settled(thread)
                    kept.setdefault(settled.key(), settled)
            if kept:
                self.threads[at] = kept
            else:
                del self.threads[at]
        self.waiting = [w for w in self.waiting if id(w.thread) not in dead]
        self.accepted = [self._settled(t) for t in self.accepted if id(t) not in dead]

    def _settled(self, thread: Thread) -> Thread:
        conditions = self.pending(thread.conditions)
        if conditions == thread.conditions:
            return thread
        return Thread(
            thread.slot,
            thread.frame,
            thread.trail,
            thread.pending,
            thread.parts,
            thread.end,
            conditions,
            thread.inside,
        )

    # -- looking ahead ----------------------------------------------------------------------------

    def ahead(self, probe: Slot, at: int) -> bool | None:
        """Whether the text from ``at`` can be read from ``probe``; None if that is undecided."""
        return self._reach(probe, at, self.in_comment)[0]

    def comment(self, probe: Slot, at: int) -> tuple[bool | None, int]:
        """Whether a comment read from ``probe`` stands at ``at``, and where it ends."""
        return self._reach(probe, at, True)

    def _reach(self, probe: Slot, at: int, in_comment: bool) -> tuple[bool | None, int]:
        frame = Frame(None, at, None, None, Trail.root(), None, None)
        thread = Thread(probe, frame, frame.trail, None, None, at)
        agenda = Agenda({at: {thread.key(): thread}}, {}, frozenset())
        trial = _Trial(self._skipper, self.text, self.shift, self.closed, agenda)
        trial.in_comment = in_comment
        trial.comments = self.comments
        trial.run()
        for reached, thread in trial.reached:
            if not trial.pending(thread.conditions) and id(thread) in map(id, trial.accepted):
                return True, reached
        if trial.waiting:
            return None, trial.reached[0][0] if trial.accepted else -1
        settled = [
            (reached, thread) for reached, thread in trial.reached if thread in trial.accepted
        ]
        return (True, settled[0][0]) if settled else (False, -1)


class _Trial(Machine):
    """A run that only asks whether and where an expression ends."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.reached: list[tuple[int, Thread]] = []

    def _settled(self, thread: Thread) -> Thread:
        thread.conditions = self.pending(thread.conditions)
        return thread


class _Survey:
    """What the living threads and the frames below them say about guards."""

    def __init__(self, won: frozenset[Guard]) -> None:
        self._won = won
        self._viable: dict[Frame, bool | None] = {}
        self.inside: set[Guard] = set()
        self.named: set[Guard] = set()
        self.lost: set[Guard] = set()
        self.dead: set[int] = set()

    def see(self, thread: Thread) -> None:
        """Note a thread, dead if it or every path below it is conditional on a guard that won."""
        if not self._won.isdisjoint(thread.conditions) or not self._lives(thread.frame):
            self.dead.add(id(thread))
            return
        self.named |= thread.conditions
        for entry in thread.inside:
            self.inside.add(entry[2])

    def _lives(self, frame: Frame) -> bool:
        viable = self._viable
        waiting = [frame]
        while waiting:
            top = waiting[-1]
            if top.clean:
                viable[top] = True
            known = viable.get(top)
            if known is not None:
                waiting.pop()
                continue
            edges = [e for e in top.edges() if self._won.isdisjoint(e.conditions)]
            missing = [e.parent for e in edges if e.parent is not None and e.parent not in viable]
            if missing and top not in viable:
                viable[top] = None
                waiting.extend(missing)
                continue
            waiting.pop()
            viable[top] = self._note(top, edges)
        return bool(viable[frame])

    def _note(self, frame: Frame, edges: list[Edge]) -> bool:
        lives = False
        for edge in edges:
            parent = edge.parent
            if parent is None or self._viable.get(parent):
                lives = True
                self.named |= edge.conditions
                for entry in edge.inside:
                    self.inside.add(entry[2])
        if self._won:
            for edge in frame.edges():
                self.lost |= self._won & edge.conditions
        return lives


class _Bucket:
    """Processes all threads of one position."""

    def __init__(self, machine: Machine, at: int) -> None:
        self._machine = machine
        self._at = at
        self._stack: list[Task] = []
        self._frames: dict[Any, Frame] = {}
        self._returned: dict[Frame, list[tuple[Any, ...]]] = {}
        self._seen: set[Any] = set()
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
            self._note_failure(task, start)
            return
        if end >= 0:
            self._arrive(task, start, end, undecided and not machine.closed)

    def _note_failure(self, task: Task, start: int) -> None:
        machine = self._machine
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
        if machine._skipper.uses_groups:
            group = slot.terminal.group(machine.text, start - machine.shift)
            text = group if group is not None else text
        return fill(trail, slot.sink, convert(text, slot.reader), start, end)

    def _choose(self, task: Task) -> None:
        slot, frame, trail, pending, parts, last, conditions, inside = task
        assert isinstance(slot, ChoiceSlot)
        key = (slot, frame, conditions, inside)
        if key in self._seen:
            return
        self._seen.add(key)
        branches = slot.branches
        fitting = self._fitting(slot)
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
            conditions |= moved
            if index in slot.moving:
                conditions |= {after_move}
                moved = frozenset([guard])
            else:
                conditions |= {guard}
                moved = NONE
        self._stack.extend(reversed(tasks))

    def _fitting(self, slot: ChoiceSlot) -> Sequence[int]:
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
        return table.branches(slot, machine.text[local])

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
            self._accept(_thread(task))
            return
        returned = (result, trail, pending, parts, last, conditions)
        if frame.start == self._at and frame in self._frames.values():
            self._returned.setdefault(frame, []).append(returned)
        won = self._machine.won
        for edge in reversed(frame.edges()):
            if won.isdisjoint(edge.conditions):
                self._go_back(frame, edge, *returned)

    def _accept(self, thread: Thread) -> None:
        machine = self._machine
        machine.accepted.append(thread)
        if isinstance(machine, _Trial):
            machine.reached.append((self._at, thread))

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
            conditions |= OPEN_END
        elif answer != slot.wanted:
            layout = table_of(slot.probe).layout
            self._note_failure(task, self._start(layout)[0] if layout is not None else self._at)
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
            known = self._machine._skipper.skip(self._machine, layout, self._at)
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
