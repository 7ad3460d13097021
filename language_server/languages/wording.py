"""How a syntax fault is told to a person: what was found, what was expected, what was meant."""

from __future__ import annotations

from difflib import get_close_matches

from language_server.syntax import SyntaxFault

_SHOWN = 6


def syntax_message(fault: SyntaxFault) -> str:
    """One sentence for a fault; a near miss among many expected words is named first."""
    expected = list(dict.fromkeys(fault.expected))
    if not expected:
        return fault.message
    found = fault.found.strip()
    plain = {word.strip("'\""): word for word in expected}
    close = get_close_matches(found, plain, n=1, cutoff=0.6) if found else []
    if close and close[0] != found:
        return f"'{found}' is not expected here; did you mean {plain[close[0]]}?"
    if len(expected) <= _SHOWN:
        return fault.message
    some = ", ".join(expected[:_SHOWN])
    subject = f"'{found}' is not expected here" if found else "the text ends too early"
    return f"{subject}; expected is one of {some} and {len(expected) - _SHOWN} more"
