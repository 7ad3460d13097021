"""Words that a free draft may use for a language's own: `and` for `&&`, say.

After the operator aliases of the dual-phase cascade. Ours maps back where that is no guess: where
the grammar cannot read the alias as it stands, but the text it stands for. An alias inside a string
or a comment, or one that may be a name there, stays what it is; so a draft that is text of the
language already is left alone. While decoding is constrained there are none: which text an alias is
depends on what comes behind it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from language_server.decoding.guide import Guide


def in_own_words(draft: str, aliases: Sequence[tuple[str, str]], grammar: Guide) -> str:
    """The draft with the language's own texts in place of aliases.

    Args:
        draft: what was written behind the prefix of ``grammar``.
        aliases: words, each with the text of the grammar it stands for.
        grammar: what the grammar alone allows behind the prefix.
    """
    own = dict(aliases)
    words = "|".join(map(re.escape, sorted(own, key=len, reverse=True)))
    written: list[str] = []
    place = 0
    for found in re.finditer(rf"(?<!\w)(?:{words})(?!\w)", draft) if own else ():
        between, alias = draft[place : found.start()], found[0]
        grammar = grammar.advance(between)
        if not grammar.alive:
            break
        behind = draft[found.end() : found.end() + 1]
        said = own[alias] if _stands_for(alias, own[alias], behind, grammar) else alias
        grammar = grammar.advance(said)
        written += [between, said]
        place = found.end()
    return "".join([*written, draft[place:]])


def _stands_for(alias: str, own: str, behind: str, grammar: Guide) -> bool:
    if grammar.advance(alias + behind).alive:
        return False
    between_words = any(not each.typed for each in grammar.expected())
    return between_words and grammar.advance(own + behind).alive
