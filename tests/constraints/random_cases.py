"""Random theories over one metamodel, and random texts of it as parse events (hypothesis)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from language_server.constraints.theory import (
    Arithmetic,
    Atom,
    AttributeOf,
    ClassSymbol,
    Comparison,
    Constant,
    Count,
    Feature,
    Literal,
    Parameter,
    Predicate,
    PropagationRule,
    Theory,
    Var,
)
from language_server.syntax.events import Assign, Close, Event, Open, Refer

CLASSES = {
    "Root": ClassSymbol("Root"),
    "Node": ClassSymbol("Node", abstract=True),
    "A": ClassSymbol("A", supertypes=("Node",)),
    "B": ClassSymbol("B", supertypes=("Node",)),
}
FEATURES = [
    Feature("Root", "nodes", "Node", 0, None, containment=True),
    Feature("Node", "name", "string"),
    Feature("Node", "flag", "boolean"),
    Feature("Node", "size", "int"),
    Feature("Node", "next", "Node"),
    Feature("Node", "uses", "A", 0, None),
    Feature("A", "parts", "Node", 0, None, containment=True),
    Feature("B", "best", "B", 1, 1),
]
REFERENCES = ("Root::nodes", "Node::next", "Node::uses", "A::parts", "B::best", "contains")
VARIABLES = ("x", "y", "z")


def _variable(local: str | None = None) -> st.SearchStrategy[Var]:
    names = VARIABLES if local is None else (*VARIABLES, local)
    return st.sampled_from(names).map(Var)


def _atoms(derived: tuple[str, ...], local: str | None = None) -> st.SearchStrategy[Atom]:
    variable = _variable(local)
    binary = st.sampled_from((*REFERENCES, *derived))
    return st.one_of(
        st.builds(lambda c, x: Atom(c, (x,)), st.sampled_from(("Node", "A", "B")), variable),
        st.builds(lambda r, x, y: Atom(r, (x, y)), binary, variable, variable),
        st.builds(lambda r, x, y: Atom(r, (x, y)), binary, variable, variable),
        st.builds(
            lambda r, x, y: Atom(r, (x, y), closure=True),
            st.sampled_from(("Node::next", "contains", *derived)),
            variable,
            variable,
        ),
    )


def _comparisons(derived: tuple[str, ...], index: int) -> st.SearchStrategy[Comparison]:
    op = st.sampled_from(("==", "!=", "<", "<=", ">", ">="))
    size = _variable().map(lambda x: AttributeOf("Node::size", x))
    number = st.integers(0, 3).map(Constant)
    count = _atoms(derived, f"c{index}").map(Count)
    term: Any = st.one_of(
        size,
        number,
        count,
        st.builds(Arithmetic, st.sampled_from(("+", "-", "*")), size, number),
    )
    return st.one_of(
        st.builds(Comparison, op, term, term),
        st.builds(
            lambda x, b: Comparison("==", AttributeOf("Node::flag", x), Constant(b)),
            _variable(),
            st.booleans(),
        ),
        st.builds(
            lambda o, x, y: Comparison(
                o, AttributeOf("Node::name", x), AttributeOf("Node::name", y)
            ),
            st.sampled_from(("==", "!=")),
            _variable(),
            _variable(),
        ),
        st.builds(Comparison, st.sampled_from(("==", "!=")), _variable(), _variable()),
    )


@st.composite
def _clauses(draw: Any, parameters: int, derived: tuple[str, ...]) -> Any:
    parts: list[Any] = []
    for index in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 4))
        if kind <= 1:
            parts.append(Literal(draw(_atoms(derived))))
        elif kind <= 3:
            parts.append(Literal(draw(_atoms(derived, f"w{index}")), negated=True))
        else:
            parts.append(draw(_comparisons(derived, index)))
    # every variable of the clause is an object of the graph
    used = {name for part in parts for name in _names(part) if name in VARIABLES}
    for name in sorted(used - set(VARIABLES[:parameters])):
        parts.append(Literal(Atom("Node", (Var(name),))))
    return tuple(parts)


def _names(part: Any) -> set[str]:
    if isinstance(part, Literal):
        return {t.name for t in part.atom.args if isinstance(t, Var)}
    found: set[str] = set()
    for side in (part.left, part.right):
        stack = [side]
        while stack:
            expression = stack.pop()
            if isinstance(expression, Var):
                found.add(expression.name)
            elif isinstance(expression, AttributeOf):
                stack.append(expression.of)
            elif isinstance(expression, Arithmetic):
                stack += [expression.left, expression.right]
            elif isinstance(expression, Count):
                stack += [t for t in expression.atom.args if isinstance(t, Var)]
    return found


@st.composite
def theories(draw: Any) -> Theory:
    """Two derived relations and up to two error predicates over the metamodel above."""
    predicates: dict[str, Predicate] = {}
    derived: tuple[str, ...] = ()
    for name in ("p", "q"):
        clauses = tuple(draw(st.lists(_clauses(2, derived), min_size=1, max_size=2)))
        parameters = (Parameter(Var("x"), "Node"), Parameter(Var("y"), "Node"))
        predicates[name] = Predicate(name, parameters, clauses)
        derived = (*derived, name)
    for index in range(draw(st.integers(1, 2))):
        arity = draw(st.integers(0, 2))
        clauses = tuple(draw(st.lists(_clauses(arity, derived), min_size=1, max_size=2)))
        parameters = tuple(Parameter(Var(v), "Node") for v in VARIABLES[:arity])
        predicates[f"e{index}"] = Predicate(f"e{index}", parameters, clauses, error=True)
    return Theory(
        classes=dict(CLASSES), features={f.symbol: f for f in FEATURES}, predicates=predicates
    )


@st.composite
def ruled_theories(draw: Any) -> Theory:
    """Theories with one or two propagation rules about what is stated and what is derived."""
    theory = draw(theories())
    rules = []
    for index in range(draw(st.integers(1, 2))):
        clauses = tuple(draw(st.lists(_clauses(2, ("p", "q")), min_size=1, max_size=2)))
        concluded = st.builds(
            lambda symbol, args, negated: Literal(Atom(symbol, args), negated),
            st.sampled_from(("Node::next", "Node::uses", "A::parts", "p", "q")),
            st.sampled_from([(Var(a), Var(b)) for a in "xy" for b in "xy"]),
            st.booleans(),
        )
        conclusions = tuple(draw(st.lists(concluded, min_size=1, max_size=2)))
        parameters = (Parameter(Var("x"), "Node"), Parameter(Var("y"), "Node"))
        rules.append(PropagationRule(f"r{index}", parameters, clauses, conclusions))
    return replace(theory, rules=tuple(rules))


@st.composite
def texts(draw: Any, size: int = 6) -> list[Event]:
    """The parse events of a finished text with up to ``size`` objects below the root."""
    events: list[Event] = [Open("Root", None, False, 0)]
    names = [f"n{i}" for i in range(size)]
    left = size
    depth = [("Root", "nodes")]

    def body(cls: str, number: int) -> None:
        at = number * 10
        if draw(st.integers(0, 5)):
            events.append(Assign("name", False, names[number], "ID", at, at + 1))
        for feature in draw(st.permutations(("flag", "size", "next", "uses", "best"))):
            chosen = draw(st.integers(0, 2))
            if chosen == 0:
                continue
            if feature == "flag":
                events.append(Assign("flag", False, True, "BOOL", at, at + 1))
            elif feature == "size":
                events.append(Assign("size", False, draw(st.integers(0, 3)), "INT", at, at + 1))
            elif feature == "next":
                name = draw(st.sampled_from(names))
                events.append(Refer("next", False, "Node", name, "ID", at, at + 1))
            elif feature == "uses":
                for name in draw(st.lists(st.sampled_from(names), max_size=2)):
                    events.append(Refer("uses", True, "A", name, "ID", at, at + 1))
            elif cls == "B":
                name = draw(st.sampled_from(names))
                events.append(Refer("best", False, "B", name, "ID", at, at + 1))

    while left:
        move = draw(st.integers(0, 3))
        if move == 0 and len(depth) > 1:
            events.append(Close(0))
            depth.pop()
        elif move == 3 and len(depth) == 1 and left < size:
            break
        elif depth[-1][0] in ("Root", "A"):
            cls = draw(st.sampled_from(("A", "B")))
            events.append(Open(cls, depth[-1][1], True, (size - left) * 10))
            body(cls, size - left)
            depth.append((cls, "parts"))
            left -= 1
        elif len(depth) > 1:
            events.append(Close(0))
            depth.pop()
    events.extend(Close(0) for _ in depth)
    return events


@st.composite
def sound_texts(draw: Any, size: int = 6) -> list[Event]:
    """Like ``texts``, but every reference resolves and no demanded value is missing."""
    events: list[Event] = []
    opened = 0
    for event in draw(texts(size)):
        events.append(event)
        if isinstance(event, Open) and event.cls != "Root":
            events.append(Assign("name", False, f"n{opened}", "ID", event.start, event.start + 1))
            opened += 1
            if event.cls == "B":
                events.append(Refer("best", False, "B", "?", "ID", event.start, event.start + 1))
        elif isinstance(event, (Assign, Refer)) and event.feature in ("name", "best"):
            events.pop()
    classes = [e.cls for e in events if isinstance(e, Open) and e.cls != "Root"]
    sound: list[Event] = []
    for event in events:
        if isinstance(event, Refer):
            fitting = [f"n{i}" for i, cls in enumerate(classes) if event.target in (cls, "Node")]
            if not fitting:
                continue
            name = event.name if event.name in fitting else draw(st.sampled_from(fitting))
            event = Refer(event.feature, event.many, event.target, name, "ID", 0, 1)
        sound.append(event)
    return sound
