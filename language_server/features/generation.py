"""*Generate model from comment*: where the description stands, and what the result replaces.

The description is the comment at the cursor, else what the user selected, else the user is asked.
The generated text continues the document behind the comment, so what stands before it holds for the
new text too. Comments behind it stay; if anything else stands there, the result takes its place;
the user sees that before saving, and one undo brings it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from language_server.diagnostic import Diagnostic
from language_server.languages import CommentStyle, Language
from language_server.projection import Prefix
from language_server.workspace.positions import LineIndex


class GenerationRefused(Exception):
    """There is no place for a generated text here; the message tells the user why."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, or several line comments under each other.

    Attributes:
        start, end: its span, from the first comment sign to behind the last character.
        description: its words, without the signs.
    """

    start: int
    end: int
    description: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be generated.

    Attributes:
        description: what the user wants.
        before: the text that the result continues: what stands before the description.
        lead: white space to write between the document and the result.
        start, end: the span of the document that lead and result replace.
        trail: white space to write behind the result.
    """

    description: str
    before: str
    lead: str
    start: int
    end: int
    trail: str

    def new_text(self, generated: str) -> str:
        """What to write into the span once the text has been generated."""
        return self.lead + generated.strip() + self.trail


def plan(
    language: Language,
    text: str,
    offset: int,
    selection: tuple[int, int] | None,
    description: str | None,
) -> Plan | None:
    """What the command means at this place.

    Args:
        offset: where the cursor is.
        selection: the span the user selected, if any.
        description: what the user was asked for and typed, if anything.

    Returns:
        The plan, or None if there is no description to go by.

    Raises:
        GenerationRefused: nothing can be written at this place.
    """
    if description is not None and description.strip():
        place = selection or (offset, offset)
        return _plan_for(language, text, _one_line(description), *place)
    comment = comment_at(text, offset, language.comment)
    if comment is not None and comment.description:
        return _plan_behind(language, text, comment)
    if selection is not None and text[slice(*selection)].strip():
        return _plan_for(language, text, _one_line(text[slice(*selection)]), *selection)
    return None


def comment_at(text: str, offset: int, style: CommentStyle) -> Comment | None:
    """The comment that holds the offset, or ends on the line before it with nothing between."""
    comments = list(_comments(text, style))
    for comment in comments:
        line_start = text.rfind("\n", 0, comment.start) + 1
        line_end = text.find("\n", comment.end)
        if line_start <= offset <= (len(text) if line_end < 0 else line_end):
            return comment
    above = [comment for comment in comments if comment.end <= offset]
    if above and not text[above[-1].end : offset].strip() and not _line_at(text, offset).strip():
        return above[-1]
    return None


def _plan_behind(language: Language, text: str, comment: Comment) -> Plan:
    """The result follows the comment.

    It is generated without the comment in front of it: a model that reads comments last goes on
    writing comments, and to the language they say nothing.
    """
    rest = text[comment.end :]
    before = text[: comment.start]
    if _says_nothing(before, language.comment):
        before = ""
    _check_room(language, before)
    end = comment.end + _replaced(language, rest)
    return Plan(comment.description, before, "\n", comment.end, end, "\n")


def _says_nothing(text: str, style: CommentStyle) -> bool:
    """Whether a text is nothing but comments and white space."""
    end = 0
    for comment in _comments(text, style):
        if text[end : comment.start].strip():
            return False
        end = comment.end
    return not text[end:].strip()


def _plan_for(language: Language, text: str, description: str, start: int, end: int) -> Plan:
    """The result replaces a span, or stands at an empty one."""
    before = text[:start]
    lead = "" if not before or before.endswith("\n") else "\n"
    _check_room(language, before + lead)
    end += _replaced(language, text[end:])
    return Plan(description, before + lead, lead, start, end, "\n")


def _replaced(language: Language, rest: str) -> int:
    """How much of what stands behind the description the result takes the place of.

    White space alone is replaced too.
    """
    return 0 if rest.strip() and _says_nothing(rest, language.comment) else len(rest)


def _check_room(language: Language, before: str) -> None:
    """Whether anything can follow a text.

    Raises:
        GenerationRefused: nothing can, and why.
    """
    prefix = Prefix.start(language).advance(before)
    if prefix.alive and (not prefix.complete or any(move.text for move in prefix.moves())):
        return
    if prefix.alive:
        raise GenerationRefused(
            "The model above is complete and nothing can follow it. "
            "Write the comment at the top or inside the model."
        )
    lines = LineIndex(before)
    for found in language.analyse(before).diagnostics:
        if found.severity == "error" and _is_lasting(found, before):
            line = lines.line_of(found.start) + 1
            raise GenerationRefused(
                f"Nothing can complete what stands above; mend line {line} first: {found.message}"
            )
    raise GenerationRefused(
        f"Nothing can complete what stands above; mend it first: {'; '.join(prefix.reasons)}"
    )


def _is_lasting(found: Diagnostic, text: str) -> bool:
    """Whether a problem is more than something that is still missing at the end."""
    return found.source != "syntax" or bool(text[found.start :].strip())


def _comments(text: str, style: CommentStyle) -> Iterator[Comment]:
    """All comments in order; neighbouring lines of line comments are one."""
    signs = [re.escape(sign) for sign in (*style.line, *(pair[0] for pair in style.block))]
    if not signs:
        return
    opening = re.compile("|".join(sorted(signs, key=len, reverse=True)))
    closing = dict(style.block)
    strings = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
    at = 0
    run: Comment | None = None
    while True:
        found = opening.search(text, at)
        if found is None:
            break
        string = strings.search(text, at)
        if string is not None and string.start() < found.start():
            at = string.end()
            continue
        sign = found.group()
        if sign in closing:
            if run is not None:
                yield run
                run = None
            close = text.find(closing[sign], found.end())
            inner = len(text) if close < 0 else close
            at = len(text) if close < 0 else close + len(closing[sign])
            yield Comment(found.start(), at, _one_line(text[found.end() : inner], "*"))
            continue
        end = text.find("\n", found.end())
        at = len(text) if end < 0 else end
        end = at - 1 if text[at - 1 : at] == "\r" else at
        words = _one_line(text[found.end() : end], sign)
        if run is not None and re.fullmatch(r"\r?\n[ \t]*", text[run.end : found.start()]):
            run = Comment(run.start, end, f"{run.description} {words}".strip())
        else:
            if run is not None:
                yield run
            run = Comment(found.start(), end, words)
    if run is not None:
        yield run


def _one_line(text: str, decoration: str = "") -> str:
    lines = (line.strip() for line in text.splitlines())
    return " ".join(" ".join(line.strip(decoration + " \t") for line in lines).split())


def _line_at(text: str, offset: int) -> str:
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return text[start : len(text) if end < 0 else end]
