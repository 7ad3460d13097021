"""What decides how a text may go on, as a value: where it is equal, the same texts may follow.

That is the threads of the parse with the stacks below them, the guards they depend on, and the text
that is not decided yet. Places do not count, and of what has been read only what somebody asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from language_server.syntax.agenda import Agenda
from language_server.syntax.events import Trail
from language_server.syntax.frames import UNDECIDED, Conditions, Edge, Frame, Guard, Inside, Thread
from language_server.syntax.slots import Part

#: What the events of a trail come to, for whoever asks.
Told = Callable[[Trail], Hashable]


def future(agenda: Agenda, text: Hashable, told: Told | None) -> Hashable:
    """The future of a parse.

    Args:
        agenda: where it stands.
        text: from the first position of the agenda on, or what stands for it.
        told: what counts of the events read so far; None if nothing does.
    """
    return _Description(agenda, told).whole(text)


class _Description:
    """Frames, and guards that are not open any more, are named by the order they are met in."""

    def __init__(self, agenda: Agenda, told: Told | None) -> None:
        self._agenda = agenda
        self._told = told
        self._frames: dict[Frame, int] = {}
        # Sets of guards have no order of their own: those that are open are named by their age.
        self._guards = {guard: name for name, guard in enumerate((UNDECIDED, *agenda.open))}

    def whole(self, text: Hashable) -> Hashable:
        agenda = self._agenda
        first = agenda.first()
        threads = tuple(
            (at - first, *map(self._thread, bucket.values()))
            for at, bucket in agenda.threads.items()
        )
        frames: list[Hashable] = []
        while len(frames) < len(self._frames):
            for frame in list(self._frames)[len(frames) :]:
                frames.append((frame.body, *map(self._edge, frame.edges())))
        guards: list[Hashable] = []
        while len(guards) < len(self._guards):
            for guard in list(self._guards)[len(guards) :]:
                guards.append((guard in agenda.won, self._alternatives(guard)))
        return text, threads, tuple(frames), tuple(guards)

    def _thread(self, thread: Thread) -> Hashable:
        return (
            thread.slot,
            self._number(thread.frame),
            self._conditions(thread.conditions),
            self._inside(thread.inside),
            self._said(thread),
        )

    def _edge(self, edge: Edge) -> Hashable:
        return (
            edge.call,
            self._number(edge.parent),
            self._conditions(edge.conditions),
            self._inside(edge.inside),
            self._said(edge),
        )

    def _said(self, reading: Thread | Edge) -> Hashable:
        """What has been read; of an object that has only begun to be read, what it is."""
        if self._told is None:
            return None
        return self._told(reading.trail), reading.pending, _texts(reading.parts)

    def _number(self, frame: Frame | None) -> int:
        return -1 if frame is None else self._frames.setdefault(frame, len(self._frames))

    def _conditions(self, conditions: Conditions) -> Hashable:
        return frozenset(map(self._name, conditions)) if conditions else conditions

    def _inside(self, inside: Inside) -> Hashable:
        return tuple(
            (choice, branch, self._name(guard), self._conditions(conditions))
            for choice, branch, guard, conditions in inside
        )

    def _alternatives(self, guard: Guard) -> Hashable:
        alternatives = self._agenda.open.get(guard)
        return alternatives and tuple(map(self._conditions, alternatives))

    def _name(self, guard: Guard) -> int:
        return self._guards.setdefault(guard, len(self._guards))


def _texts(part: Part | None) -> Hashable:
    """The parts of a value, without their places."""
    texts: list[Any] = []
    while part is not None:
        texts.append(part[1:4])
        part = part[0]
    return tuple(texts)
