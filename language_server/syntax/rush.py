"""The fast way through a text: one thread, no conditions, one fitting path at a time.

``rush`` runs the only thread of a machine as long as exactly one path fits and no guard is touched;
the first place where several fit, or where the end of the text leaves something open, is left to
the machine's general step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from language_server.syntax.events import Close, Trail
from language_server.syntax.frames import Frame, Thread, flush
from language_server.syntax.slots import (
    ASSIGN,
    GATHER,
    AssignSlot,
    CloseSlot,
    Layout,
    MatchSlot,
    Mode,
    Part,
    Result,
    Slot,
)
from language_server.syntax.tables import Path, table_of
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


def rush(machine: Machine) -> bool:
    """Run the only thread of ``machine`` as far as one path at a time fits.

    Returns:
        True if it has come to the end of the text and something may certainly follow there.
    """
    ((at, bucket),) = machine.threads.items()
    if len(bucket) != 1:
        return False
    (thread,) = bucket.values()
    if thread.conditions or any(entry[2] in machine.open for entry in thread.inside):
        return False
    run = _Rush(machine, thread, at)
    run.run()
    if run.at != at:
        machine.threads = {run.at: {(): run.arrived}}
    return run.goes_on and not machine.closed


class _Rush:
    """The thread that runs, taken apart."""

    __slots__ = (
        "_machine",
        "arrived",
        "at",
        "frame",
        "goes_on",
        "last",
        "parts",
        "pending",
        "slot",
        "trail",
    )

    def __init__(self, machine: Machine, thread: Thread, at: int) -> None:
        self._machine = machine
        self.at = at
        self.slot: Slot = thread.slot
        self.frame: Frame = thread.frame
        self.trail: Trail = thread.trail
        self.pending: Pending | None = thread.pending
        self.parts: Part | None = thread.parts
        self.last = thread.end
        self.arrived = thread
        self.goes_on = False

    def _thread(self) -> Thread:
        """The thread as it is now."""
        return Thread(self.slot, self.frame, self.trail, self.pending, self.parts, self.last)

    def run(self) -> None:
        """Read terminal by terminal; stop before the first that is not plainly the only one.

        ``arrived`` is then the thread as it came to that place, before it returned from any rule
        there.
        """
        machine = self._machine
        skipper = machine.skipper
        text, shift = machine.text, machine.shift
        length = len(text)
        layout: Layout | None = None
        start = 0
        while True:
            slot = self.slot
            op = slot.op
            if op == CloseSlot.op:
                self.slot = slot.next  # type: ignore[attr-defined]
                continue
            if op == AssignSlot.op:
                self._assign(slot)  # type: ignore[arg-type]
                continue
            table = slot.table or table_of(slot)
            if not table.plain:
                return
            if table.layout is None:
                if not table.passes or not self._can_return():
                    return
                self._return(table.paths[0].result)
                continue
            if layout is not table.layout:
                layout = table.layout
                start = self.at - shift
                white = layout.white
                while start < length and text[start] in white:
                    start += 1
                if start == length:
                    self.goes_on = table.reads
                    return
                if skipper.begins_comment(text[start]):
                    start, undecided = skipper.skip(machine, layout, self.at)
                    start -= shift
                    if undecided or start == length:
                        return
            char = text[start]
            paths = table._by_char.get(char)
            if paths is None:
                paths = table.at(char)
            if len(paths) != 1 or paths[0].looks:
                fitting = self._fitting(paths, start, char, layout)
                if fitting is None:
                    return
                path = fitting
            else:
                path = paths[0]
            match = path.match
            if match is None:
                if not self._can_return():
                    return
                self._return(path.result)
                continue
            terminal = match.terminal
            end = terminal.match(text, start)
            if not machine.closed and terminal.undecided(text, start, end):
                self.goes_on = not path.looks
                return
            if end <= start:
                return
            self._read(path, match, start, end)
            self.arrived = self._thread()
            layout = None

    def _can_return(self) -> bool:
        frame = self.frame
        if frame.more is not None or frame.parent is None:
            return False
        return not self._machine.open or not (frame.conditions or frame.inside)

    def _fitting(
        self, paths: tuple[Path, ...], start: int, char: str, layout: Layout
    ) -> Path | None:
        """The only one of ``paths`` that fits the text; None if several do or it is not clear."""
        machine = self._machine
        text = machine.text
        found: Path | None = None
        for path in paths:
            if found is not None and found.beats(path):
                continue
            if path.match is not None:
                terminal = path.match.terminal
                end = terminal.match(text, start)
                if not machine.closed and terminal.undecided(text, start, end):
                    self.goes_on = not path.looks
                    return None
                if end < 0:
                    continue
            elif not self._can_return():
                return None
            elif not _follows(self.frame, path.result, char, layout):
                continue
            for look in path.looks:
                answer = machine.ahead(look.probe, self.at)
                if answer is None:
                    return None
                if answer != look.wanted:
                    break
            else:
                if found is not None:
                    return None
                found = path
        return found

    def _read(self, path: Path, match: MatchSlot, start: int, end: int) -> None:
        machine = self._machine
        shift = machine.shift
        frame, trail, pending, parts = self.frame, self.trail, self.pending, self.parts
        at = self.at
        for call in path.calls:
            frame = Frame(call.body, at, call, frame, trail, pending, parts)
            if call.opens is not None:
                pending = (pending, *call.opens)
            parts = (
                (parts, OPEN, "", call.body.name, 0, 0) if call.body.mode is Mode.VALUE else None
            )
        if match.loud:
            if pending is not None:
                trail = flush(trail, pending, start + shift)
                pending = None
            self.last = end + shift
        effect = match.effect
        if effect:
            terminal = match.terminal
            if terminal.kind == "keyword" and not terminal.boundary:
                value = terminal.text
            else:
                value = machine.text[start:end]
            if effect == GATHER:
                if match.result is not Result.NONE:
                    parts = (parts, TEXT, value, match.reader, start + shift, end + shift)
            elif effect == ASSIGN and match.sink is not None:
                if machine.skipper.uses_groups:
                    group = terminal.group(machine.text, start)
                    value = group if group is not None else value
                converted = convert(value, match.reader)
                trail = fill(trail, match.sink, converted, start + shift, end + shift)
        self.frame, self.trail, self.pending, self.parts = frame, trail, pending, parts
        self.slot = match.after
        self.at = end + shift

    def _return(self, result: Result) -> None:
        frame = self.frame
        call, body = frame.call, frame.body
        assert call is not None and body is not None and frame.parent is not None
        if call.opens is not None:
            if self.pending is not None:
                self.pending = self.pending[0]
            else:
                self.trail = self.trail.then(Close(self.last))
        if body.mode is Mode.VALUE:
            self.parts = (self.parts, CLOSE, "", "", 0, 0) if result.true else frame.parts
        else:
            if body.mode is Mode.ABSTRACT and result is Result.TEXT and body.sink is not None:
                self.trail = fill(self.trail, body.sink, *join_texts(self.parts))
            self.parts = frame.parts
        self.slot = call.to(result)
        self.frame = frame.parent

    def _assign(self, slot: AssignSlot) -> None:
        value, start, end, self.parts = fold(self.parts)
        self.trail = fill(self.trail, slot.sink, value, start, end)
        self.slot = slot.next


def _follows(frame: Frame, result: Result, char: str, layout: Layout) -> bool:
    """Whether something that starts with ``char`` may stand behind ``frame``; True if not known."""
    climbed: list[tuple[Frame, Result]] = []
    answer = True
    while True:
        known = frame.follows.get((result, char, layout)) if frame.follows is not None else None
        if known is not None:
            answer = known
            break
        if frame.more is not None or frame.call is None or frame.parent is None:
            break
        climbed.append((frame, result))
        slot = frame.call.to(result)
        while isinstance(slot, (CloseSlot, AssignSlot)):
            slot = slot.next
        table = table_of(slot)
        if not table.plain or (table.layout is not None and table.layout != layout):
            break
        if table.layout is None and not table.passes:
            break
        paths = table.at(char)
        if any(path.match is not None for path in paths):
            break
        if not paths:
            answer = False
            break
        if len(paths) > 1:
            break
        frame, result = frame.parent, paths[0].result
    for passed, with_result in climbed:
        if passed.follows is None:
            passed.follows = {}
        passed.follows[with_result, char, layout] = answer
    return answer
