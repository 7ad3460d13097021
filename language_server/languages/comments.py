"""How a language writes comments, derived from the ``Comment`` rule of its grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass

from textx.metamodel import TextXMetaModel

from language_server.languages.expressions import as_regex, grammar_classes, rule_of

_LINES = ("//", "#", "%%", "%", "--", ";;", ";", "'", "!", "REM ", "rem ", "\\", "*", "@")
_BLOCKS = (
    ("/*", "*/"),
    ("(*", "*)"),
    ("{-", "-}"),
    ("<!--", "-->"),
    ('"""', '"""'),
    ("'''", "'''"),
    ("#|", "|#"),
    ("--[[", "]]"),
    ("/#", "#/"),
    ("%{", "%}"),
    ("{", "}"),
    ("(", ")"),
)


@dataclass(frozen=True, slots=True)
class CommentStyle:
    """How comments begin and end.

    Attributes:
        line: what starts a comment that ends with its line, the most usual first.
        block: pairs of opening and closing text.
    """

    line: tuple[str, ...] = ()
    block: tuple[tuple[str, str], ...] = ()

    def write(self, text: str) -> str:
        """A text as a comment of the language; '' where the language has no comments."""
        rows = text.strip().splitlines() or [""]
        if self.line:
            return "\n".join(f"{self.line[0]} {row}".rstrip() for row in rows)
        if self.block:
            start, end = self.block[0]
            return f"{start} {' '.join(row.strip() for row in rows)} {end}"
        return ""

    def first(self, text: str) -> tuple[str, int] | None:
        """The words of the comment a text begins with, and the offset behind that comment.

        Neighbouring line comments are one comment.
        """
        at = len(text) - len(text.lstrip())
        for start, end in self.block:
            close = text.find(end, at + len(start))
            if text.startswith(start, at) and close >= 0:
                return _tidy(text[at + len(start) : close]), close + len(end)
        for sign in self.line:
            rows = []
            while text.startswith(sign, at):
                stop = text.find("\n", at)
                stop = len(text) if stop < 0 else stop
                rows.append(text[at + len(sign) : stop])
                behind = stop
                at = stop + 1 + len(text[stop + 1 :]) - len(text[stop + 1 :].lstrip(" \t"))
            if rows:
                return _tidy("\n".join(rows)), behind
        return None


NO_COMMENTS = CommentStyle()


def comment_style(metamodel: TextXMetaModel) -> CommentStyle:
    """The comment style of a language; `NO_COMMENTS` where its grammar has no ``Comment`` rule."""
    cls = grammar_classes(metamodel).get("Comment")
    source = as_regex(rule_of(cls)) if cls is not None else None
    if source is None:
        return NO_COMMENTS
    try:
        pattern = re.compile(source, re.MULTILINE)
    except re.error:
        return NO_COMMENTS
    lines = [sign for sign in _LINES if _is_line(pattern, sign)]
    blocks = [pair for pair in _BLOCKS if _is_block(pattern, *pair)]
    # `%%` also looks like a comment that begins with `%` and goes on with another one.
    lines = [
        sign
        for sign in lines
        if not any(sign != other and sign.startswith(other) for other in lines)
    ]
    return CommentStyle(tuple(lines), tuple(blocks))


def _is_line(pattern: re.Pattern[str], sign: str) -> bool:
    line = f"{sign} some text, 1 + 'x'"
    found = pattern.match(f"{line}\nnext line")
    return found is not None and found.end() in (len(line), len(line) + 1)


def _is_block(pattern: re.Pattern[str], start: str, end: str) -> bool:
    text = f"{start} some\ntext {end}"
    found = pattern.match(f"{text} behind {end}")
    return found is not None and found.end() == len(text)


def _tidy(text: str) -> str:
    rows = [row.strip().lstrip("*").strip() for row in text.splitlines()]
    return " ".join(row for row in rows if row)
