"""Putting a terminal behind a prefix so that it is read as a terminal of its own."""

from __future__ import annotations

from collections.abc import Iterator

from language_server.syntax.state import ParseState
from language_server.syntax.terminals import Terminal


def joint(state: ParseState, terminal_text: str) -> str:
    """The text to append for ``terminal_text`` to be read as the next terminal behind ``state``.

    That is ``terminal_text`` behind the least white space that keeps it apart from what stands
    before it, and behind the end of a comment if the prefix ends in one. Where nothing helps,
    ``terminal_text`` itself.
    """
    for gap in _gaps(state):
        behind = state.advance(gap) if gap else state
        if _stands_apart(state, gap + terminal_text) and _is_expected(behind, terminal_text):
            return gap + terminal_text
    return terminal_text


def _gaps(state: ParseState) -> Iterator[str]:
    """Texts that separate terminals, the shortest and plainest first."""
    if state.in_comment:
        for ending in _comment_endings(state.comment_terminals()):
            if not state.advance(ending).in_comment:
                yield ending
        return
    yield ""
    yield from sorted(state.skips(), key=lambda char: (" \n\t\r".find(char) % 5, char))


def _comment_endings(terminals: tuple[Terminal, ...]) -> Iterator[str]:
    endings = {"\n": None}
    for terminal in terminals:
        example = terminal.example() or ""
        for length in range(1, len(example) + 1):
            endings[example[-length:]] = None
    yield from sorted(endings, key=len)
    yield from (ending + "\n" for ending in sorted(endings, key=len))


def _stands_apart(state: ParseState, added: str) -> bool:
    """Whether no terminal that has begun before the end of the prefix reads any of ``added``."""
    gap = len(added) - len(added.lstrip(state.skips() or None))
    for begun in state.expected():
        if begun.typed:
            end = begun.terminal.match(begun.typed + added, 0)
            if end > len(begun.typed) + gap:
                return False
    return True


def _is_expected(behind: ParseState, text: str) -> bool:
    """Whether ``text`` may stand as a whole terminal at the end of ``behind``."""
    following = behind.advance(text)
    if following.in_comment and not behind.in_comment:
        return False
    if not following.alive and following.finish() is None:
        return False
    return any(
        expected.typed == ""
        and expected.start == behind.length
        and expected.terminal.match(text, 0) == len(text)
        for expected in behind.expected()
    )
