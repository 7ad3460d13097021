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
    Mode,
    Result,
)
from language_server.syntax.tables import Path, table_of
from language_server.syntax.values import (
    CLOSE,
    OPEN,
    TEXT,
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
    arrived, behind, goes_on = _run(machine, thread, at)
    if behind != at:
        machine.threads = {behind: {(): arrived}}
    return goes_on and not machine.closed


def _run(machine: Machine, thread: Thread, at: int) -> tuple[Thread, int, bool]:
    """Read terminal by terminal; stop before the first that is not plainly the only one.

    One long loop over plain variables: this is where whole documents are read.

    Returns:
        The thread as it came to the last place, before it returned from any rule there; that place;
        and whether something may certainly follow there.
    """
    skipper, closed = machine.skipper, machine.closed
    text, shift = machine.text, machine.shift
    length = len(text)
    slot, frame, trail, pending = thread.slot, thread.frame, thread.trail, thread.pending
    parts, last = thread.parts, thread.end
    arrived = (slot, frame, trail, pending, parts, last)
    goes_on = False
    layout: Layout | None = None
    start = 0
    while True:
        op = slot.op
        if op == CloseSlot.op:
            slot = slot.next  # type: ignore[attr-defined]
            continue
        if op == AssignSlot.op:
            value, begin, end, parts = fold(parts)
            trail = fill(trail, slot.sink, value, begin, end)  # type: ignore[attr-defined]
            slot = slot.next  # type: ignore[attr-defined]
            continue
        table = slot.table
        if table is None:
            table = table_of(slot)
        if not table.plain:
            break
        path: Path | None
        if table.layout is None:
            if not table.passes:
                break
            path = table.paths[0]
        else:
            if layout is not table.layout:
                layout = table.layout
                start = at - shift
                white = layout.white
                while start < length and text[start] in white:
                    start += 1
                if start == length:
                    goes_on = table.reads
                    break
                if skipper.begins_comment(text[start]):
                    start, undecided = skipper.skip(machine, layout, at)
                    start -= shift
                    if undecided or start == length:
                        break
            char = text[start]
            paths = table.by_char.get(char)
            if paths is None:
                paths = table.at(char)
            path = paths[0] if len(paths) == 1 else None
            if path is None or path.looks:
                path, goes_on = _fitting(machine, frame, paths, at, start, layout)
                if path is None:
                    break
        match = path.match
        if match is None:  # the rule ends here
            if not _can_return(machine, frame):
                break
            call, body, result = frame.call, frame.body, path.result
            assert call is not None and body is not None and frame.parent is not None
            if call.opens is not None:
                if pending is not None:
                    pending = pending[0]
                else:
                    trail = Trail(trail, Close(last))
            if body.mode is Mode.VALUE:
                parts = (parts, CLOSE, "", "", 0, 0) if result.true else frame.parts
            else:
                if body.mode is Mode.ABSTRACT and result is Result.TEXT and body.sink is not None:
                    trail = fill(trail, body.sink, *join_texts(parts))
                parts = frame.parts
            slot = call.to(result)
            frame = frame.parent
            continue
        terminal = match.terminal
        end = terminal.match(text, start)
        if not closed and terminal.undecided(text, start, end):
            goes_on = not path.looks
            break
        if end <= start:
            break
        for call in path.calls:
            body = call.body
            frame = Frame(body, at, call, frame, trail, pending, parts)
            if call.opens is not None:
                pending = (pending, *call.opens)
            parts = (parts, OPEN, "", body.name, 0, 0) if body.mode is Mode.VALUE else None
        at = end + shift
        if match.loud:
            if pending is not None:
                trail = flush(trail, pending, start + shift)
                pending = None
            last = at
        effect = match.effect
        if effect:
            plain = terminal.kind == "keyword" and not terminal.boundary
            value = terminal.text if plain else text[start:end]
            if effect == GATHER:
                if match.result is not Result.NONE:
                    parts = (parts, TEXT, value, match.reader, start + shift, at)
            elif effect == ASSIGN and match.sink is not None:
                if skipper.uses_groups:
                    group = terminal.group(text, start)
                    value = group if group is not None else value
                value = convert(value, match.reader)
                trail = fill(trail, match.sink, value, start + shift, at)
        slot = match.after
        arrived = (slot, frame, trail, pending, parts, last)
        layout = None
    return Thread(*arrived), at, goes_on


def _can_return(machine: Machine, frame: Frame) -> bool:
    """Whether there is one caller to return to, and no guard waits for it."""
    if frame.more is not None or frame.parent is None:
        return False
    return not machine.open or not (frame.conditions or frame.inside)


def _fitting(
    machine: Machine, frame: Frame, paths: tuple[Path, ...], at: int, start: int, layout: Layout
) -> tuple[Path | None, bool]:
    """The only one of ``paths`` that fits the text at ``start``, behind what is skipped at ``at``.

    Returns:
        The path, None if several fit or it is not clear; and whether something may certainly follow
        although it is not clear.
    """
    text = machine.text
    found: Path | None = None
    for path in paths:
        if found is not None and found.beats(path):
            continue
        if path.match is not None:
            terminal = path.match.terminal
            end = terminal.match(text, start)
            if not machine.closed and terminal.undecided(text, start, end):
                return None, not path.looks
            if end < 0:
                continue
        elif not _can_return(machine, frame):
            return None, False
        elif not _follows(frame, path.result, text[start], layout):
            continue
        for look in path.looks:
            answer = machine.ahead(look.probe, at)
            if answer is None:
                return None, False
            if answer != look.wanted:
                break
        else:
            if found is not None:
                return None, False
            found = path
    return found, False


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
