"""Random textX grammars over a small alphabet."""

from __future__ import annotations

import random
from dataclasses import dataclass

LETTERS = "abc"


@dataclass
class _Piece:
    """The source of an expression and whether it may read nothing."""

    source: str
    nullable: bool


class GrammarSource:
    """Writes one random grammar."""

    def __init__(self, source: random.Random) -> None:
        self._random = source
        self._feature = 0

    def write(self) -> str:
        """The grammar's text."""
        rules = [f"M: {self._common(3)};", f"A: {self._common(2)};", f"B: {self._common(2)};"]
        rules.append(f"V: {self._match().source};")
        if self._random.random() < 0.3:
            rules.append("Comment: /#[^\\n]*/;")
        return "\n".join(rules)

    def _common(self, depth: int) -> str:
        pieces = [self._expression(depth) for _ in range(self._random.randint(1, 3))]
        if all(piece.nullable for piece in pieces):
            pieces.append(_Piece(f"'{self._letter()}'", False))
        return " ".join(piece.source for piece in pieces)

    def _expression(self, depth: int) -> _Piece:
        ways = [self._letter_piece, self._letter_piece, self._assign, self._many, self._flag]
        if depth > 0:
            deeper = (self._choice, self._option, self._repeat, self._sequence, self._look)
            way = self._random.choice((*deeper, self._group, self._drop, None, None))
            if way is not None:
                return way(depth)
        return self._random.choice(ways)()

    def _letter(self) -> str:
        return self._random.choice((*LETTERS, "ab", "bc"))

    def _name(self) -> str:
        self._feature += 1
        return f"f{self._feature}"

    def _letter_piece(self) -> _Piece:
        if self._random.random() < 0.2:
            return _Piece(self._random.choice(("/a+/", "/b(?=c)/", "/[ab]c?/", "/c\\b/")), False)
        return _Piece(f"'{self._letter()}'", False)

    def _assign(self) -> _Piece:
        value = self._random.choice((f"'{self._letter()}'", "A", "B", "V", "V"))
        return _Piece(f"'{self._letter()}' {self._name()}={value}", False)

    def _many(self) -> _Piece:
        operator = self._random.choice(("+=", "*="))
        value = self._random.choice((f"'{self._letter()}'", "'a'", "/b/"))
        modifier = self._random.choice(("", "", "[',']", "[eolterm]", "[/c|,/]", "[',' eolterm]"))
        return _Piece(f"{self._name()}{operator}{value}{modifier}", operator == "*=")

    def _flag(self) -> _Piece:
        return _Piece(f"{self._name()}?='{self._letter()}'", True)

    def _choice(self, depth: int) -> _Piece:
        parts = [self._expression(depth - 1) for _ in range(self._random.randint(2, 3))]
        source = " | ".join(part.source for part in parts)
        return _Piece(f"({source})", any(part.nullable for part in parts))

    def _option(self, depth: int) -> _Piece:
        inner = self._expression(depth - 1)
        return _Piece(f"({inner.source})?", True) if not inner.nullable else inner

    def _repeat(self, depth: int) -> _Piece:
        inner = self._expression(depth - 1)
        if inner.nullable or "?=" in inner.source or "=" in inner.source:
            inner = self._letter_piece()
        operator = self._random.choice(("*", "+", "*[',']", "+[',']"))
        return _Piece(f"({inner.source}){operator}", operator.startswith("*"))

    def _group(self, _: int) -> _Piece:
        parts = [self._expression(0) for _ in range(self._random.randint(2, 3))]
        modifier = self._random.choice(("", "", "[',']"))
        source = " ".join(f"({part.source})" for part in parts)
        return _Piece(f"({source})#{modifier}", all(part.nullable for part in parts))

    def _sequence(self, depth: int) -> _Piece:
        parts = [self._expression(depth - 1) for _ in range(2)]
        return _Piece(
            f"({' '.join(part.source for part in parts)})", all(part.nullable for part in parts)
        )

    def _look(self, depth: int) -> _Piece:
        sign = self._random.choice("!&")
        ahead, after = self._letter_piece(), self._expression(depth - 1)
        return _Piece(f"({sign}{ahead.source} {after.source})", after.nullable)

    def _drop(self, depth: int) -> _Piece:
        after = self._expression(depth - 1)
        return _Piece(f"('{self._letter()}'- {after.source})", False)

    def _match(self) -> _Piece:
        first, second = self._letter_piece(), self._letter_piece()
        form = self._random.choice(("{0}", "{0} {1}", "{0} | {1}", "{0} ({1})*", "{0} ({1})?"))
        return _Piece(form.format(first.source, second.source), False)
