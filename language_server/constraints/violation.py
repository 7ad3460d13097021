"""Violated constraints, put so that a person understands them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from language_server.constraints.explanation import Explanation, Fact
from language_server.constraints.theory import Parameter, Predicate, PropagationRule
from language_server.partial_model import Fault, FeatureInfo, ObjectId, PartialModel
from language_server.partial_model.linking import gathered

if TYPE_CHECKING:
    from language_server.constraints.constraint_set import ConstraintSet
    from language_server.constraints.settling import Settled
    from language_server.constraints.shortfalls import Shortfall


class Grounds(Protocol):
    """What a violation rests on, found out when it is asked for."""

    def core(self) -> tuple[Fact, ...]:
        """The facts, and the absences of facts."""

    def degree(self) -> int:
        """How much is missing, at least 1."""


class _Stated(NamedTuple):
    """Grounds that are at hand."""

    found: tuple[Fact, ...]
    missing: int = 1

    def core(self) -> tuple[Fact, ...]:
        return self.found

    def degree(self) -> int:
        return self.missing


class _Explained:
    """Grounds of an error predicate or a rule, evaluated once more for these elements."""

    __slots__ = ("_constraints", "_name", "_row", "_settled")

    def __init__(
        self, constraints: ConstraintSet, settled: Settled, name: str, row: tuple[Any, ...]
    ) -> None:
        self._constraints = constraints
        self._settled = settled
        self._name = name
        self._row = row

    def core(self) -> tuple[Fact, ...]:
        # What only further text decides has no reason yet; rules and scopes have no name to tell.
        found = self._explanation().core(self._name, self._row)
        return tuple(fact for fact in found if " " not in fact.symbol)

    def degree(self) -> int:
        if not self._constraints.compares_counts(self._name):
            return 1
        return self._explanation().degree(self._name, self._row)

    def _explanation(self) -> Explanation:
        return Explanation(self._constraints, self._settled.state())


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint that does not hold.

    Attributes:
        constraint: its name (an error predicate, a feature, or the kind of built-in constraint).
        source: which part of the language is violated.
        code: stable, kebab-case identifier of the kind of problem.
        elements, element_names: the objects involved, in the order of the predicate's parameters.
        start, end: the best span to show, (-1, -1) where the text has none.
        related: (start, end, message) of further places.
        severity: of an error predicate; everything else is an error.
        grounds: finds out what the violation rests on, when that is asked for.
    """

    constraint: str
    source: Literal["reference", "metamodel", "constraint"]
    code: str
    message: str
    elements: tuple[ObjectId, ...] = ()
    element_names: tuple[str, ...] = ()
    start: int = -1
    end: int = -1
    related: tuple[tuple[int, int, str], ...] = ()
    severity: Literal["error", "warning", "information"] = "error"
    grounds: Grounds | None = field(default=None, compare=False, repr=False)

    @property
    def core(self) -> tuple[Fact, ...]:
        """The stated facts, and absences of facts, that the violation rests on."""
        return self.grounds.core() if self.grounds is not None else ()

    @property
    def facts(self) -> tuple[str, ...]:
        """The core as text."""
        return tuple(fact.text for fact in self.core)

    @property
    def degree(self) -> int:
        """How much is missing, at least 1 (a measure for search, not for people)."""
        return self.grounds.degree() if self.grounds is not None else 1


def violations(
    constraints: ConstraintSet, settled: Settled, certain_only: bool
) -> tuple[Violation, ...]:
    """All violations as the text stands, or only those that hold in every completion."""
    found = [
        *_of_references(settled.model, certain_only),
        *_of_features(settled, certain_only),
        *_of_predicates(constraints, settled, certain_only),
    ]
    return tuple(
        sorted(
            found, key=lambda violation: (violation.start, violation.constraint, violation.elements)
        )
    )


def _of_references(model: PartialModel, certain_only: bool) -> Iterator[Violation]:
    for (target, name), candidates in model.ambiguous.items():
        for reference in model.references(name, target):
            yield Violation(
                "reference",
                "reference",
                "ambiguous-reference",
                f"name '{name}' is not unique: {len(candidates)} objects of class {target} have it",
                candidates,
                tuple(model.label(node) for node in candidates),
                reference.start,
                reference.end,
                tuple(
                    (*model.name_span(node), f"'{name}' is declared here") for node in candidates
                ),
            )
    if certain_only and not model.closed:
        return
    for fault in model.faults:
        if not fault.by_default:
            yield _of_fault(model, fault)
    yield from _of_given(model)
    for reference in model.unresolved():
        mentioned = model.pending[reference.target_class, reference.name]
        source = model.label(reference.source)
        yield Violation(
            "reference",
            "reference",
            "unresolved-reference",
            f"{_words(reference.target_class)} '{reference.name}' is not declared",
            (mentioned,),
            (reference.name,),
            reference.start,
            reference.end,
            grounds=_Stated(
                (_link(reference.feature, reference.source, mentioned, source, reference.name),)
            ),
        )


def broken_imports(model: PartialModel) -> tuple[Violation, ...]:
    """The imports of a text that has not ended which fail, however it goes on."""
    scopes = model.scopes
    if scopes is None or not scopes.things:
        return ()
    _, faults = gathered(scopes, model.surroundings)
    return tuple(_of_fault(model, fault) for fault in faults)


def _of_given(model: PartialModel) -> Iterator[Violation]:
    """Given objects that the text neither declares nor refers to."""
    for (cls, name), node in sorted(model.pending.items()):
        referred = any(model.references(name, cls))
        if name in model.facts.get(("given", cls), ()) and not referred:
            yield Violation(
                cls,
                "metamodel",
                "given-undeclared",
                f"{_words(cls)} '{name}' is given, and the text does not declare it",
                (node,),
                (name,),
                grounds=_Stated((Fact(f"{cls}({name}) is given", cls, (node,)),)),
            )


def _of_fault(model: PartialModel, fault: Fault) -> Violation:
    """A reference or an import that textX refuses, once the text has ended."""
    what = f"{_words(fault.target)} '{fault.name}'"
    related: tuple[tuple[int, int, str], ...] = ()
    if fault.kind == "ambiguous":
        code = "ambiguous-reference"
        message = f"name '{fault.name}' is not unique among the objects of class {fault.target}"
        related = _places(model, fault, f"'{fault.name}' is declared here")
    elif fault.kind == "circular":
        code, message = "circular-reference", f"what '{fault.name}' means depends on itself"
    elif fault.kind == "import":
        code, message = "unresolved-import", f"'{fault.name}' cannot be imported: {fault.target}"
    elif fault.found:
        code = "invisible-reference"
        names = ", ".join(dict.fromkeys(name for name, _, _ in fault.found))
        message = f"{what} is not declared where it can be referred to from here; there is {names}"
        related = _places(model, fault, "declared here")
    else:
        code, message = "unresolved-reference", f"{what} is not declared"
    return Violation(
        "reference",
        "reference",
        code,
        message,
        (),
        (fault.name,),
        model.place(fault.start),
        model.place(fault.end),
        related,
        grounds=_Stated((Fact(f"'{fault.name}' is referred to", "", ()),)),
    )


def _places(model: PartialModel, fault: Fault, message: str) -> tuple[tuple[int, int, str], ...]:
    found = (each for each in fault.found if each[1] >= 0)
    return tuple((model.place(start), model.place(end), message) for _, start, end in found)


def _of_features(settled: Settled, certain_only: bool) -> Iterator[Violation]:
    model = settled.model
    certain = certain_only and not model.closed
    for node, problems in (settled.shortfalls_must if certain else settled.shortfalls_now).items():
        for problem in problems:
            yield _of_feature(model, node, problem)


def _given_names(model: PartialModel, cls: str, but: str | None) -> Iterator[str]:
    if not model.schema.classes[cls].key:
        yield from model.given_names(cls)
        return
    for name, node in model.candidates(cls):
        if name != but and model.nodes[node].start < 0:
            yield name


def _of_feature(model: PartialModel, node: ObjectId, problem: Shortfall) -> Violation:
    feature, kind, detail = problem
    start, end = model.name_span(node)
    cls_name = model.cls_of(node)
    cls = _words(cls_name)
    name = model.name_of(node)
    what = f"{cls} '{name}'" if name else cls
    degree = 1
    if kind == "clash":
        return Violation(
            cls_name,
            "reference",
            "ambiguous-reference",
            f"{what} cannot be declared any more: '{name}' would not be unique",
            (node,),
            (model.label(node),),
            start,
            end,
        )
    if feature is None:
        others = sorted(_given_names(model, cls_name, name))[:5]
        hint = f"; there are {', '.join(others)}" if others else ""
        return Violation(
            cls_name,
            "metamodel",
            "not-given",
            f"there is no {what}{hint}",
            (node,),
            (model.label(node),),
            start,
            end,
        )
    if kind == "lower":
        code = "missing-value"
        degree = feature.lower - detail
        if feature.lower == 1:
            message = f"'{feature.name}' of {what} needs a value"
        else:
            message = (
                f"'{feature.name}' of {what} needs at least {feature.lower} values, not {detail}"
            )
    elif kind == "upper":
        code = "too-many-values"
        assert feature.upper is not None
        degree = detail - feature.upper
        message = f"'{feature.name}' of {what} holds at most {_count(feature.upper)}, not {detail}"
    elif kind == "conflict":
        code = "conflicting-values"
        before, value, *place = detail
        start, end = map(model.place, place)
        message = f"'{feature.name}' of {what} is {before!r} and cannot be {value!r} as well"
    else:
        code = "unknown-value"
        value, *place = detail
        start, end = map(model.place, place)
        message = f"'{value}' is no {feature.target}"
    return Violation(
        feature.symbol,
        "metamodel",
        code,
        message,
        (node,),
        (model.label(node),),
        start,
        end,
        grounds=_Stated(tuple(_stated(model, node, feature, kind)), degree),
    )


def _stated(model: PartialModel, node: ObjectId, feature: FeatureInfo, kind: str) -> Iterator[Fact]:
    symbol, label = feature.symbol, model.label(node)
    if feature.attribute:
        value = model.value(node, symbol)
        if value is not None:
            yield Fact(f"{feature.name}({label}): {value!r}", symbol, (node,))
    for target in model.targets(node, symbol):
        yield _link(symbol, node, target, label, model.label(target))
    if kind == "lower":
        yield Fact(f"no {feature.name}({label}, _)", symbol, (node, None), stated=False)


def _link(symbol: str, source: ObjectId, target: ObjectId, *labels: str) -> Fact:
    return Fact(f"{_plain(symbol)}({', '.join(labels)})", symbol, (source, target))


def is_contradictory(settled: Settled) -> bool:
    """Whether an open text has anything at all that is violated in every completion."""
    return bool(settled.violated_must or settled.shortfalls_must or settled.model.ambiguous)


def _of_predicates(
    constraints: ConstraintSet, settled: Settled, certain_only: bool
) -> Iterator[Violation]:
    by_must = {error.must: error.predicate for error in constraints.errors.values()}
    by_now = {error.now: error.predicate for error in constraints.errors.values()}
    certain = certain_only and not settled.model.closed
    entries: Any = settled.violated_must if certain else settled.violated_now
    predicates = by_must if certain else by_now
    for (query, args), rows in settled.violated_must.items():
        if query in constraints.rules:  # what contradicts a rule is certain, or it is nothing
            rule = constraints.rules[query]
            for row in rows:
                elements = (*args, *row)
                grounds = _Explained(constraints, settled, query.name, elements)
                yield _of_rule(settled.model, rule, elements, grounds)
    for (query, args), rows in entries.items():
        if query in constraints.rules:
            continue
        if predicates[query].lookahead and not certain:
            continue  # it only says early what other constraints say of the finished text
        for row in rows:
            elements = (*args, *row)
            if certain or not any(_is_undeclared(settled.model, node) for node in elements):
                yield _of_predicate(constraints, settled, predicates[query], elements)


def _is_undeclared(model: PartialModel, node: Any) -> bool:
    """Whether this is an object that is not declared; that alone is reported of it.

    What is declared in another file is closed.
    """
    record = model.nodes.get(node)
    return record is not None and record.role == "mentioned" and record.open


def _of_predicate(
    constraints: ConstraintSet, settled: Settled, predicate: Predicate, elements: tuple[Any, ...]
) -> Violation:
    model = settled.model
    names = tuple(_named(model, value) for value in elements)
    objects = tuple(value for value in elements if value in model.nodes)
    places = [model.name_span(node) for node in objects if model.nodes[node].start >= 0]
    start, end = places[0] if places else (-1, -1)
    if predicate.message is not None:
        message = _filled(predicate.message, predicate.parameters, names)
    else:
        inside = ", ".join(names)
        message = f"{_words(predicate.name)}{': ' if inside else ''}{inside}"
    return Violation(
        predicate.name,
        "constraint",
        _kebab(predicate.name),
        message,
        objects,
        tuple(_named(model, node) for node in objects),
        start,
        end,
        tuple((*span, "involved here") for span in places[1:] if span != (start, end)),
        severity=predicate.severity,
        grounds=_Explained(constraints, settled, predicate.name, elements),
    )


def _of_rule(
    model: PartialModel, rule: PropagationRule, elements: tuple[ObjectId, ...], grounds: Grounds
) -> Violation:
    names = tuple(_named(model, value) for value in elements)
    message = f"contradicts what follows for {', '.join(names)}: {_words(rule.name)}"
    if rule.message is not None:
        message = _filled(rule.message, rule.parameters, names)
    places = [model.name_span(node) for node in elements if model.nodes[node].start >= 0]
    return Violation(
        rule.name,
        "constraint",
        _kebab(rule.name),
        message,
        elements,
        names,
        *(places[0] if places else (-1, -1)),
        grounds=grounds,
    )


def _filled(message: str, parameters: Iterable[Parameter], names: Iterable[str]) -> str:
    """A message with the names of the elements that its parameters stand for."""
    known = {p.var.name: name for p, name in zip(parameters, names, strict=True)}
    return re.sub(r"\{(\w+)\}", lambda match: known.get(match[1], match[0]), message)


def _named(model: PartialModel, value: Any) -> str:
    return model.label(value) if value in model.nodes else str(value)


def _plain(symbol: str) -> str:
    return symbol.rsplit("::", 1)[-1]


def _count(number: int) -> str:
    return "one value" if number == 1 else f"{number} values"


def _words(name: str) -> str:
    """A camel-case name as words for a sentence."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").lower()


def _kebab(name: str) -> str:
    return _words(name).replace(" ", "-")
