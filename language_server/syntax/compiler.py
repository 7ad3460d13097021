"""From the parser model that textX builds for Arpeggio to slots.

The rules of the translation follow ``arpeggio`` 2.0 and ``textx.model`` 4.4 line by line, their
quirks included: a suppressed match returns ``None`` and lets an ordered choice go on, a false
result ends a repetition without backtracking, ``ws`` and ``skipws`` count on sequences and choices
only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import arpeggio
from textx.const import MULT_ONEORMORE, MULT_ZEROORMORE, RULE_ABSTRACT, RULE_MATCH

from language_server.syntax.measures import (
    is_assignment,
    is_rule,
    least_lengths,
    moving_expressions,
    pattern_of,
    sure_expressions,
)
from language_server.syntax.slots import (
    ASSIGN,
    GATHER,
    NOTHING,
    AssignSlot,
    Body,
    CallSlot,
    ChoiceSlot,
    CloseSlot,
    Continuation,
    FailSlot,
    Layout,
    MatchSlot,
    Mode,
    PredicateSlot,
    Result,
    ReturnSlot,
    Sink,
    Slot,
)
from language_server.syntax.terminals import Terminal

Node = Any  # an arpeggio.ParsingExpression with textX's attributes

ROOT = Sink(feature=None, many=False, target=None, flag=False, rule="")


@dataclass(frozen=True, slots=True)
class Environment:
    """What an expression inherits from the expressions around it."""

    white: str
    skips: bool
    line_ends: bool
    mode: Mode
    loud: bool
    cls: Any = None
    sink: Sink | None = None

    def layout(self) -> Layout:
        """What is skipped before a terminal here."""
        return _layout(self.white, self.skips, self.line_ends)

    def silent(self) -> Environment:
        """The same without meaning for the model."""
        return replace(self, mode=Mode.SILENT, cls=None, sink=None)


@cache
def _layout(white: str, skips: bool, line_ends: bool) -> Layout:
    if not skips:
        return Layout("", False)
    if line_ends:
        white = white.replace("\n", "").replace("\r", "")
    return Layout(white, True)


class Compiler:
    """Compiles the rules of one metamodel on demand."""

    def __init__(self, metamodel: Any) -> None:
        self._metamodel = metamodel
        parser = metamodel._parser_blueprint
        self.root = parser.parser_model
        self.comments = parser.comments_model
        self.white = parser._real_ws
        self.skips = bool(parser.skipws)
        self._bodies: dict[tuple[int, Environment], Body] = {}
        self._terminals: dict[tuple[Any, ...], Terminal] = {}
        roots = [self.root, *([self.comments] if self.comments else [])]
        self.least = least_lengths(roots)
        self.sure = sure_expressions(roots)
        self.moving = moving_expressions(roots)

    def body_of_root(self) -> Body:
        """The body that reads a whole text."""
        env = Environment(self.white, self.skips, False, Mode.ABSTRACT, False, sink=ROOT)
        return self._body(self.root, "Model", env)

    def body_of_comment(self, layout: Layout) -> Body:
        """The body that reads one comment where ``layout`` is skipped."""
        env = Environment(layout.white, layout.skips, False, Mode.SILENT, False)
        name = self.comments.rule_name or "Comment"
        if isinstance(self.comments, arpeggio.Match):
            return self._probe_body(self.comments, env, name)
        return self._body(self.comments, name, env)

    # -- rules ------------------------------------------------------------------------------------

    def _body(self, node: Node, name: str, env: Environment) -> Body:
        key = (id(node), env)
        body = self._bodies.get(key)
        if body is None:

            def start(body: Body) -> Slot:
                finish = Continuation(lambda result: ReturnSlot(body, _promote(node, result)), 0)
                return _Rule(self, body).expression(node, env, finish, None)

            cls = env.cls.__name__ if env.cls is not None else None
            body = Body(name, env.mode, cls, env.sink, self.least.of(node), start)
            self._bodies[key] = body
        return body

    def _probe_body(self, node: Node, env: Environment, name: str) -> Body:
        def start(body: Body) -> Slot:
            finish = Continuation(lambda result: ReturnSlot(body, result), 0)
            return _Rule(self, body).node(node, env, finish, None)

        return Body(name, Mode.SILENT, None, None, self.least.of(node), start)

    def terminal(self, node: Node) -> Terminal:
        """The terminal of an Arpeggio match."""
        if isinstance(node, arpeggio.EndOfFile):
            key: tuple[Any, ...] = ("end",)
        elif isinstance(node, arpeggio.RegExMatch):
            boundary = node.to_match != node.to_match_regex
            name = node.rule_name if node.root else node.to_match
            pattern = pattern_of(node)
            key = ("regex", name, node.to_match, pattern.pattern, pattern.flags, boundary)
        else:
            key = ("keyword", node.to_match, bool(node.ignore_case))
        terminal = self._terminals.get(key)
        if terminal is None:
            terminal = self._terminals[key] = self._make_terminal(node, key)
        return terminal

    def _make_terminal(self, node: Node, key: tuple[Any, ...]) -> Terminal:
        if key[0] == "end":
            return Terminal("end", "EOF")
        if key[0] == "keyword":
            return Terminal("keyword", key[1], text=key[1], ignore_case=key[2])
        ignore_case = bool(node.ignore_case)
        if key[5]:
            return Terminal(
                "keyword", key[2], key[2], key[3], pattern_of(node), ignore_case, boundary=True
            )
        return Terminal("regex", key[1], "", key[3], pattern_of(node), ignore_case)

    def sink(self, cls: Any, assignment: Node) -> Sink:
        """Where the values of an assignment go."""
        attribute = cls._tx_attrs[assignment._attr_name]
        rhs = assignment.nodes[0]
        flag = assignment.rule_name == "__asgn_optional"
        refers = bool(attribute.ref and not attribute.cont and not flag)
        return Sink(
            feature=attribute.name,
            many=attribute.mult in (MULT_ONEORMORE, MULT_ZEROORMORE),
            target=attribute.cls.__name__ if refers else None,
            flag=flag,
            rule="BOOL" if flag else (rhs.rule_name if rhs.root else "") or "STRING",
        )


class _Rule:
    """Compiles the body of one rule."""

    def __init__(self, compiler: Compiler, body: Body) -> None:
        self._compiler = compiler
        self._body = body
        self._least = compiler.least
        self._sure = compiler.sure

    def node(self, node: Node, env: Environment, after: Continuation, sink: Sink | None) -> Slot:
        """An expression inside a body: a terminal, the call of a rule, or a nested expression."""
        if node.suppress:
            env = replace(env.silent(), loud=False)
            given = after
            after = Continuation(lambda _: given(Result.NONE), given.rest)
            sink = None
        if isinstance(node, arpeggio.Match):
            return self._match(node, env, after, sink)
        if is_rule(node):
            return self._call(node, env, after, sink)
        return self.expression(node, env, after, sink)

    def expression(
        self, node: Node, env: Environment, after: Continuation, sink: Sink | None
    ) -> Slot:
        """An expression by its kind."""
        if env.mode is not Mode.ABSTRACT:
            given = after
            after = Continuation(lambda result: given(min(result, Result.TEXT)), given.rest)
        if is_assignment(node):
            if env.mode is Mode.OBJECT:
                sink = self._compiler.sink(env.cls, node)
            before = after
            after = Continuation(lambda result: before(_promote(node, result)), before.rest)
        if isinstance(node, arpeggio.OrderedChoice):
            return self._choice(node, _scoped(node, env), after, sink)
        if isinstance(node, arpeggio.Sequence):
            return self._sequence(node.nodes, 0, Result.NONE, _scoped(node, env), after, sink, {})
        if isinstance(node, arpeggio.Optional):
            return self._optional(node, env, after, sink)
        if isinstance(node, (arpeggio.ZeroOrMore, arpeggio.OneOrMore)):
            return self._repetition(node, env, after, sink)
        if isinstance(node, arpeggio.UnorderedGroup):
            return _Group(self, node, env, after).start()
        if isinstance(node, (arpeggio.Not, arpeggio.And)):
            return self._predicate(node, env, after)
        if isinstance(node, arpeggio.Match):
            return self._match(node, env, after, sink)
        return after(Result.NONE)

    # -- terminals and rules ----------------------------------------------------------------------

    def _match(self, node: Node, env: Environment, after: Continuation, sink: Sink | None) -> Slot:
        effect = NOTHING
        if env.mode is Mode.OBJECT and sink is not None:
            effect = ASSIGN
        elif env.mode in (Mode.VALUE, Mode.ABSTRACT) and not isinstance(node, arpeggio.EndOfFile):
            effect = GATHER
        return MatchSlot(
            self._body,
            node,
            self._compiler.terminal(node),
            env.layout(),
            env.loud and not node.suppress and not isinstance(node, arpeggio.EndOfFile),
            effect,
            node.rule_name,
            sink if sink is not None else env.sink,
            Result.NONE if node.suppress else Result.TEXT,
            after,
        )

    def _call(self, node: Node, env: Environment, after: Continuation, sink: Sink | None) -> Slot:
        if env.mode is Mode.ABSTRACT:
            sink = env.sink
        mode = self._mode_of_call(node, env.mode, sink)
        inner = replace(env, mode=mode, cls=None, sink=None)
        opens = None
        if mode is Mode.OBJECT:
            inner = replace(inner, cls=node._tx_class, loud=True)
            assert sink is not None
            opens = (node._tx_class.__name__, sink.feature, sink.many)
        elif mode is Mode.ABSTRACT:
            inner = replace(inner, sink=sink, loud=True)
        body = self._compiler._body(node, node.rule_name, inner)
        assigns = (
            mode is Mode.VALUE and env.mode in (Mode.OBJECT, Mode.ABSTRACT) and sink is not None
        )

        def to(result: Result) -> Slot:
            if not result.true:
                return after(result)
            following = after(Result.NODE if env.mode is Mode.ABSTRACT else Result.TEXT)
            if assigns and sink is not None:
                return AssignSlot(self._body, sink, following)
            return following

        return CallSlot(self._body, body, opens, sink, to, after.rest)

    def _mode_of_call(self, node: Node, mode: Mode, sink: Sink | None) -> Mode:
        if mode in (Mode.VALUE, Mode.SILENT) or sink is None:
            return mode if mode is Mode.VALUE else Mode.SILENT
        kind = node._tx_class._tx_type
        if sink.flag or sink.target is not None or kind == RULE_MATCH:
            return Mode.SILENT if sink.feature is None else Mode.VALUE
        return Mode.ABSTRACT if kind == RULE_ABSTRACT else Mode.OBJECT

    # -- composed expressions ---------------------------------------------------------------------

    def _sequence(
        self,
        nodes: list[Node],
        at: int,
        sum_: Result,
        env: Environment,
        after: Continuation,
        sink: Sink | None,
        known: dict[tuple[int, Result], Slot],
    ) -> Slot:
        if at == len(nodes):
            return after(sum_)
        slot = known.get((at, sum_))
        if slot is None:
            rest = after.rest + sum(self._least.of(node) for node in nodes[at + 1 :])

            def to(result: Result) -> Slot:
                return self._sequence(nodes, at + 1, add(sum_, result), env, after, sink, known)

            slot = self.node(nodes[at], muted(env, sum_), Continuation(to, rest), sink)
            known[at, sum_] = slot
        return slot

    def _choice(self, node: Node, env: Environment, after: Continuation, sink: Sink | None) -> Slot:
        suffixes: dict[int, Slot] = {}

        def suffix(first: int) -> Slot:
            """The choice among the alternatives from ``first`` on."""
            if first == len(node.nodes):
                return FailSlot(self._body)
            if first not in suffixes:
                alternatives = self._reachable(node.nodes[first:])
                least = min(self._least.of(alternative) for alternative in alternatives)
                suffixes[first] = ChoiceSlot(
                    self._body,
                    least + after.rest,
                    lambda choice: [
                        self.node(alternative, env, branch(choice, first, index), sink)
                        for index, alternative in enumerate(alternatives)
                    ],
                    frozenset(
                        index
                        for index, alternative in enumerate(alternatives)
                        if id(alternative) in self._compiler.moving
                    ),
                    (node, first),
                )
            return suffixes[first]

        def branch(choice: ChoiceSlot, first: int, index: int) -> Continuation:
            if index in choice.moving:
                return moving_branch(choice, first, index)

            def following(result: Result) -> Slot:
                if result is Result.NONE:
                    return suffix(first + index + 1)
                return after(_HELD[result])

            return Continuation(
                lambda result: CloseSlot(choice, index, after.rest, lambda: following(result)),
                after.rest,
            )

        def moving_branch(choice: ChoiceSlot, first: int, index: int) -> Continuation:
            def done(result: Result, at: int) -> Slot:
                if result is not Result.NONE:
                    return CloseSlot(choice, -1 - index, after.rest, lambda: after(_HELD[result]))
                if at == len(node.nodes):
                    return FailSlot(self._body)
                further = Continuation(lambda result: done(result, at + 1), after.rest)
                return self.node(node.nodes[at], env, further, sink)

            return Continuation(
                lambda result: CloseSlot(
                    choice, index, after.rest, lambda: done(result, first + index + 1)
                ),
                after.rest,
            )

        return suffix(0)

    def _reachable(self, alternatives: list[Node]) -> list[Node]:
        """The alternatives up to the first that cannot fail."""
        for index, alternative in enumerate(alternatives):
            if id(alternative) in self._sure:
                return alternatives[: index + 1]
        return alternatives

    def _optional(
        self, node: Node, env: Environment, after: Continuation, sink: Sink | None
    ) -> Slot:
        def make(choice: ChoiceSlot) -> list[Slot]:
            def close(result: Result) -> Slot:
                held = _HELD.get(result, Result.NONE)
                return CloseSlot(choice, 0, after.rest, lambda: after(held))

            taken = self.node(node.nodes[0], env, Continuation(close, after.rest), sink)
            if id(node.nodes[0]) in self._sure:
                return [taken]
            return [taken, after(Result.NONE)]

        return ChoiceSlot(self._body, after.rest, make, origin=(node, 0))

    def _repetition(
        self, node: Node, env: Environment, after: Continuation, sink: Sink | None
    ) -> Slot:
        inner = replace(env, line_ends=True) if node.eolterm else env
        rounds: dict[Result, Slot] = {}

        def more(sum_: Result) -> Slot:
            """Another round, or the end of the repetition."""
            if sum_ not in rounds:
                rounds[sum_] = ChoiceSlot(
                    self._body,
                    after.rest,
                    lambda choice: ways(choice, sum_),
                    origin=(node, 0),
                )
            return rounds[sum_]

        def ways(choice: ChoiceSlot, sum_: Result) -> list[Slot]:
            separated = node.sep is not None and sum_.true
            if id(node.nodes[0]) in self._sure and not separated:
                return [one_more(choice, sum_)]
            return [one_more(choice, sum_), after(_repeated(sum_))]

        def one_more(choice: ChoiceSlot, sum_: Result) -> Slot:
            def following(result: Result) -> Slot:
                return more(add(sum_, result)) if result.true else after(_repeated(sum_))

            close = Continuation(
                lambda result: CloseSlot(choice, 0, after.rest, lambda: following(result)),
                after.rest,
            )
            round_env = muted(inner, sum_)
            rest = after.rest + self._least.of(node.nodes[0])
            item = Continuation(lambda _: self.node(node.nodes[0], round_env, close, sink), rest)
            if node.sep is not None and sum_.true:
                return self.node(node.sep, inner, item, None)
            return item(Result.NONE)

        if isinstance(node, arpeggio.ZeroOrMore):
            return more(Result.NONE)

        def first_round(result: Result) -> Slot:
            return more(add(Result.NONE, result)) if result.true else after(Result.EMPTY)

        return self.node(node.nodes[0], inner, Continuation(first_round, after.rest), sink)

    def _predicate(self, node: Node, env: Environment, after: Continuation) -> Slot:
        wanted = isinstance(node, arpeggio.And)
        return PredicateSlot(
            self._body, lambda: self.probe(node.nodes[0], env), wanted, Result.NONE, after
        )

    def probe(self, node: Node, env: Environment) -> Slot:
        """A slot from which ``node`` can be tried without meaning for the model."""
        silent = replace(env.silent(), loud=False)
        name = f"lookahead in {self._body.name}"
        return self._compiler._probe_body(node, silent, name).start


class _Group:
    """Compiles an unordered group: slots by the set of elements still to come."""

    def __init__(self, rule: _Rule, node: Node, env: Environment, after: Continuation) -> None:
        self._rule = rule
        self._node = node
        self._outer = env
        self._env = replace(env, line_ends=True) if node.eolterm else env
        self._after = after
        self._rounds: dict[tuple[int, Result], Slot] = {}
        self._same = [
            next(
                i
                for i, other in enumerate(node.nodes)
                if other is node.nodes[j] or _equal(other, node.nodes[j])
            )
            for j in range(len(node.nodes))
        ]

    def start(self) -> Slot:
        """The group with all its elements to come."""
        if not self._node.nodes:
            return FailSlot(self._rule._body)
        return self._round((1 << len(self._node.nodes)) - 1, Result.NONE, True)

    def _round(self, remaining: int, sum_: Result, first: bool) -> Slot:
        if remaining == 0:
            return self._after(sum_)
        key = (remaining, sum_)
        if key not in self._rounds:
            self._rounds[key] = ChoiceSlot(
                self._rule._body,
                self._rest(remaining),
                lambda choice: self._ways(choice, remaining, sum_, first),
            )
        return self._rounds[key]

    def _ways(self, choice: ChoiceSlot, remaining: int, sum_: Result, first: bool) -> list[Slot]:
        separated = self._node.sep is not None and not first
        element = Continuation(
            lambda _: self._elements(remaining, remaining, sum_, choice), self._rest(remaining)
        )
        if separated:
            taken = self._rule.node(self._node.sep, self._env, element, None)
        else:
            taken = element(Result.NONE)
        if not self._may_end(remaining):
            return [taken]
        if not separated and self._is_sure(remaining):
            return [taken, self._after(sum_)]
        exits = PredicateSlot(
            self._rule._body,
            lambda: self._nothing_more(remaining, separated),
            True,
            sum_,
            self._after,
        )
        return [taken, exits]

    def _elements(self, candidates: int, remaining: int, sum_: Result, outer: ChoiceSlot) -> Slot:
        """The first of ``candidates`` that reads something, in the order of the grammar."""
        if candidates == 0:
            return FailSlot(self._rule._body)
        index = (candidates & -candidates).bit_length() - 1
        others = candidates & (candidates - 1)
        left = remaining & ~(1 << self._removed(index, remaining))

        def make(choice: ChoiceSlot) -> list[Slot]:
            def closed(result: Result) -> Slot:
                if not result.true:
                    return self._elements(others, remaining, sum_, outer)
                return CloseSlot(
                    outer, 0, rest, lambda: self._round(left, add(sum_, result), False)
                )

            rest = self._rest(left)
            close = Continuation(
                lambda result: CloseSlot(choice, 0, rest, lambda: closed(result)), rest
            )
            env = muted(self._env, sum_)
            branches = [self._rule.node(self._node.nodes[index], env, close, None)]
            if others and id(self._node.nodes[index]) not in self._rule._sure:
                branches.append(self._elements(others, remaining, sum_, outer))
            return branches

        return ChoiceSlot(self._rule._body, self._rest(remaining), make, origin=(self._node, index))

    def _removed(self, index: int, remaining: int) -> int:
        """Arpeggio removes the first element that *equals* the one that was read."""
        first = self._same[index]
        return first if remaining & (1 << first) else index

    def _may_end(self, remaining: int) -> bool:
        return all(
            self._rule._least.of(node) == 0
            for index, node in enumerate(self._node.nodes)
            if remaining & (1 << index)
        )

    def _is_sure(self, remaining: int) -> bool:
        return all(
            id(node) in self._rule._sure
            for index, node in enumerate(self._node.nodes)
            if remaining & (1 << index)
        )

    def _nothing_more(self, remaining: int, separated: bool) -> Slot:
        """A probe that succeeds where all remaining elements are there but empty."""
        rule = _Rule(self._rule._compiler, self._rule._body)
        env = replace(self._env.silent(), loud=False)
        body = self._rule._body
        nodes = [n for i, n in enumerate(self._node.nodes) if remaining & (1 << i)]

        def empty(at: int) -> Slot:
            if at == len(nodes):
                return ReturnSlot(body, Result.NONE)

            def to(result: Result) -> Slot:
                return FailSlot(body) if result.true else empty(at + 1)

            return rule.node(nodes[at], env, Continuation(to, 0), None)

        if not separated:
            return empty(0)

        def make(choice: ChoiceSlot) -> list[Slot]:
            close = Continuation(lambda _: CloseSlot(choice, 0, 0, lambda: empty(0)), 0)
            return [rule.node(self._node.sep, env, close, None), empty(0)]

        return ChoiceSlot(body, 0, make)

    def _rest(self, remaining: int) -> float:
        return self._after.rest + sum(
            self._rule._least.of(node)
            for index, node in enumerate(self._node.nodes)
            if remaining & (1 << index)
        )


#: What a one-element list of a result is.
_HELD = {
    Result.EMPTY: Result.HOLLOW,
    Result.BARE: Result.NODE,
    Result.HOLLOW: Result.HOLLOW,
    Result.TEXT: Result.TEXT,
    Result.NODE: Result.NODE,
}


def add(sum_: Result, result: Result) -> Result:
    """The result of a sequence that has ``sum_`` and reads ``result``: false ones are dropped."""
    return max(sum_, result) if result.true else sum_


def muted(env: Environment, sum_: Result) -> Environment:
    """Only the first non-terminal of an abstract rule is its value."""
    if env.mode is Mode.ABSTRACT and sum_ is Result.NODE:
        return env.silent()
    return env


def _repeated(sum_: Result) -> Result:
    return sum_ if sum_.true else Result.EMPTY


def _promote(node: Node, result: Result) -> Result:
    """What a root expression makes of its result."""
    return Result.BARE if node.root and result is Result.HOLLOW else result


def _scoped(node: Node, env: Environment) -> Environment:
    white, skips = getattr(node, "ws", None), getattr(node, "skipws", None)
    if white is not None:
        env = replace(env, white=white)
    if skips is not None:
        env = replace(env, skips=bool(skips))
    return env


def _equal(one: Node, other: Node) -> bool:
    return bool(one == other)
