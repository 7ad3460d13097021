"""Putting a terminal behind a prefix so that it is read as a terminal of its own."""

from __future__ import annotations

from collections.abc import Iterator

from language_server.syntax.state import ParseState

# Of a comment of this length it can be seen how it ends.
_LONG_COMMENT = 200
# What may be needed behind the last character of a comment.
_ENDS = ("", "\n")


def joint(state: ParseState, terminal_text: str) -> str:
    """The text to append for ``terminal_text`` to be read as the next terminal behind ``state``.

    That is ``terminal_text`` behind the least white space that keeps it apart from what stands
    before it, and behind the end of a comment if the prefix ends in one. Where nothing helps,
    ``terminal_text`` itself.
    """
    for gap in _gaps(state):
        behind = state.advance(gap) if gap else state
        if stands_apart(state, gap + terminal_text) and _is_expected(behind, terminal_text):
            return gap + terminal_text
    return terminal_text


def _gaps(state: ParseState) -> Iterator[str]:
    """Texts that separate terminals, the shortest and plainest first."""
    if state.in_comment:
        ending = comment_end(state)
        if ending is not None:
            yield ending
        return
    yield ""
    yield from sorted(state.skips(), key=lambda char: (" \n\t\r".find(char) % 5, char))


def comment_end(state: ParseState) -> str | None:
    """A short text that ends the comment a prefix ends in; None if none is known."""
    for ending in _comment_endings(state):
        behind = state.advance(ending)
        if behind.alive and not behind.in_comment:
            return ending
    return None


def _comment_endings(state: ParseState) -> Iterator[str]:
    """Texts that may end a comment, the shorter ones of each kind first."""
    yield "\n"
    terminals = state.comment_terminals()
    # What ends the shortest comment of a kind ends a longer one too.
    shortest = [terminal.example() or "" for terminal in terminals]
    tails = {
        comment[at:] + end for comment in shortest for at in range(len(comment)) for end in _ENDS
    }
    yield from sorted(tails, key=lambda tail: (len(tail), tail))
    # Of several kinds in one pattern that is one; which it is here is seen from the beginning.
    begun = state.comment_begun()[:_LONG_COMMENT]
    for terminal in terminals:
        comment = terminal.example(begun)
        if comment is not None:
            yield from (comment[len(begun) :] + end for end in _ENDS)


def stands_apart(state: ParseState, added: str) -> bool:
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
