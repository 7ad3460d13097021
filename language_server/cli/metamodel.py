"""``langwright metamodel``: the metamodel that a grammar implies, as a file to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from language_server.cli.console import write, write_json
from language_server.cli.options import AsJson
from language_server.languages import implied_theory, load_grammar, write_problem


def metamodel(
    grammar: Annotated[
        Path, typer.Argument(metavar="GRAMMAR.tx", help="The grammar.", show_default=False)
    ],
    as_json: AsJson = False,
) -> int:
    """Print the classes that a grammar implies, as a .problem file to begin with.

    Saved beside the grammar under the same name it is the language's metamodel; add multiplicities,
    opposites and error predicates to it.
    """
    theory = implied_theory(load_grammar(grammar))
    problem = write_problem(theory, grammar.stem)
    if as_json:
        write_json({"grammar": str(grammar), "classes": list(theory.classes), "problem": problem})
    else:
        write(problem)
    return 0
