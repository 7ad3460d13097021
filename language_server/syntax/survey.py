"""Which threads and guards are alive."""

from __future__ import annotations

from language_server.syntax.frames import Edge, Frame, Guard, Thread


class Survey:
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
