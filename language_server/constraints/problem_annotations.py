"""Annotations of a problem file: which there are, and what they say about a declaration.

``@key(feature, ...)``, ``@ignorecase``, ``@message("...")``, ``@severity(...)`` and ``@lookahead``
are built in; ``#pred name(...).`` declares further ones, which are for other tools.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from language_server.constraints.problem_error import Collector
from language_server.constraints.theory import ClassSymbol

_CONFLICTS = ("error", "first", "last")
_SEVERITIES = ("error", "warning", "information")
_OF_CLASSES = ("key", "ignorecase")
_OF_PREDICATES = ("message", "severity", "lookahead")

Severity = Literal["error", "warning", "information"]


@dataclass(frozen=True, slots=True)
class ErrorAnnotations:
    """What annotations say about an error predicate."""

    message: str | None
    severity: Severity
    lookahead: bool


def known_annotations(statements: Iterable[Any]) -> frozenset[str]:
    """The names that may follow ``@``."""
    declared = {
        statement.name
        for statement in statements
        if statement.__class__.__name__ == "AnnotationDeclaration"
    }
    return frozenset(declared) | {*_OF_CLASSES, *_OF_PREDICATES}


def class_annotations(
    statement: Any,
    cls: ClassSymbol,
    has_feature: Callable[[str], bool],
    known: frozenset[str],
    collector: Collector,
) -> ClassSymbol:
    """The class with what its annotations say."""
    for annotation in statement.annotations:
        if annotation.name == "key":
            names = [_word(argument) for argument in annotation.arguments]
            conflict = "error"
            if names and names[-1] in _CONFLICTS and not has_feature(names[-1]):
                conflict = names.pop()
            if not names:
                collector.add(annotation, "@key names at least one feature", cure="@key(id)")
            for name in names:
                if not has_feature(name):
                    collector.add(annotation, f"'{cls.name}' has no feature '{name}' to be its key")
            cls = replace(
                cls,
                key=tuple(names),
                conflict=cast(Literal["error", "first", "last"], conflict),
            )
        elif annotation.name == "ignorecase":
            cls = replace(cls, ignore_case=True)
        else:
            _refuse(annotation, known, "class", collector)
    return cls


def predicate_annotations(
    statement: Any, parameters: Iterable[str], known: frozenset[str], collector: Collector
) -> ErrorAnnotations:
    """What the annotations of a predicate or a propagation rule state."""
    message: str | None = None
    severity: Severity = "error"
    lookahead = False
    is_error = statement.kind.startswith("error")
    is_rule = statement.kind.startswith("propagation")
    for annotation in statement.annotations:
        words = [_word(argument) for argument in annotation.arguments]
        told = annotation.name == "message" and is_rule
        if annotation.name in _OF_PREDICATES and not (is_error or told):
            collector.add(annotation, f"@{annotation.name} belongs to an error predicate")
        elif annotation.name == "message":
            if len(words) != 1:
                collector.add(annotation, "@message takes one text", cure='@message("...")')
                continue
            message = words[0]
            for name in re.findall(r"\{(.*?)\}", message):
                if name not in set(parameters):
                    collector.add(
                        annotation, f"the message mentions '{name}', which is no parameter"
                    )
        elif annotation.name == "severity":
            if len(words) != 1 or words[0] not in _SEVERITIES:
                collector.add(annotation, f"@severity takes one of {', '.join(_SEVERITIES)}")
            else:
                severity = cast(Severity, words[0])
        elif annotation.name == "lookahead":
            lookahead = True
        else:
            _refuse(annotation, known, "predicate", collector)
    return ErrorAnnotations(message, severity, lookahead)


def _refuse(annotation: Any, known: frozenset[str], what: str, collector: Collector) -> None:
    if annotation.name in (*_OF_CLASSES, *_OF_PREDICATES):
        collector.add(annotation, f"@{annotation.name} cannot stand at a {what}")
    elif annotation.name not in known:
        collector.add(
            annotation,
            f"annotation '{annotation.name}' is not declared",
            cure=f"declare it: #pred {annotation.name}().",
        )


def _word(argument: Any) -> str:
    return str(argument.number or argument.symbol or argument.text)
