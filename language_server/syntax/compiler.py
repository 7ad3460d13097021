"""From the parser model that textX builds for Arpeggio to slots.

The rules of the translation follow ``arpeggio`` 2.0 and ``textx.model`` 4.4 line by line, their
quirks included: a suppressed match returns ``None`` and lets an ordered choice go on, a false
result ends a repetition without backtracking, ``ws`` and ``skipws`` count on sequences and choices
only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import arpeggio
from textx.const import MULT_ONEORMORE, MULT_ZEROORMORE, RULE_ABSTRACT, RULE_MATCH

from language_server.syntax.environment import Environment, Node, add, muted, scoped
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
from language_server.syntax.unordered import UnorderedGroup

ROOT = Sink(feature=None, many=False, target=None, flag=False, rule="")


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
                return Rule(self, body).expression(node, env, finish, None)

            cls = env.cls.__name__ if env.cls is not None else None
            body = Body(name, env.mode, cls, env.sink, self.least.of(node), start)
            self._bodies[key] = body
        return body

    def _probe_body(self, node: Node, env: Environment, name: str) -> Body:
        def start(body: Body) -> Slot:
            finish = Continuation(lambda result: ReturnSlot(body, result), 0)
            return Rule(self, body).node(node, env, finish, None)

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


class Rule:
    """Compiles the body of one rule."""

    def __init__(self, compiler: Compiler, body: Body) -> None:
        self._compiler = compiler
        self.body = body
        self.least = compiler.least
        self.sure = compiler.sure

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
            return self._choice(node, scoped(node, env), after, sink)
        if isinstance(node, arpeggio.Sequence):
            return self._sequence(node.nodes, 0, Result.NONE, scoped(node, env), after, sink, {})
        if isinstance(node, arpeggio.Optional):
            return self._optional(node, env, after, sink)
        if isinstance(node, (arpeggio.ZeroOrMore, arpeggio.OneOrMore)):
            return self._repetition(node, env, after, sink)
        if isinstance(node, arpeggio.UnorderedGroup):
            return UnorderedGroup(self, node, env, after).start()
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
            self.body,
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
                return AssignSlot(self.body, sink, following)
            return following

        return CallSlot(self.body, body, opens, sink, to, after.rest)

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
            rest = after.rest + sum(self.least.of(node) for node in nodes[at + 1 :])

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
                return FailSlot(self.body)
            if first not in suffixes:
                alternatives = self._reachable(node.nodes[first:])
                least = min(self.least.of(alternative) for alternative in alternatives)
                suffixes[first] = ChoiceSlot(
                    self.body,
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
                    return FailSlot(self.body)
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
            if id(alternative) in self.sure:
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
            if id(node.nodes[0]) in self.sure:
                return [taken]
            return [taken, after(Result.NONE)]

        return ChoiceSlot(self.body, after.rest, make, origin=(node, 0))

    def _repetition(
        self, node: Node, env: Environment, after: Continuation, sink: Sink | None
    ) -> Slot:
        inner = replace(env, line_ends=True) if node.eolterm else env
        rounds: dict[Result, Slot] = {}

        def more(sum_: Result) -> Slot:
            """Another round, or the end of the repetition."""
            if sum_ not in rounds:
                rounds[sum_] = ChoiceSlot(
                    self.body,
                    after.rest,
                    lambda choice: ways(choice, sum_),
                    origin=(node, 0),
                )
            return rounds[sum_]

        def ways(choice: ChoiceSlot, sum_: Result) -> list[Slot]:
            separated = node.sep is not None and sum_.true
            if id(node.nodes[0]) in self.sure and not separated:
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
            rest = after.rest + self.least.of(node.nodes[0])
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
            self.body, lambda: self.probe(node.nodes[0], env), wanted, Result.NONE, after
        )

    def probe(self, node: Node, env: Environment) -> Slot:
        """A slot from which ``node`` can be tried without meaning for the model."""
        silent = replace(env.silent(), loud=False)
        name = f"lookahead in {self.body.name}"
        return self._compiler._probe_body(node, silent, name).start


#: What a one-element list of a result is.
_HELD = {
    Result.EMPTY: Result.HOLLOW,
    Result.BARE: Result.NODE,
    Result.HOLLOW: Result.HOLLOW,
    Result.TEXT: Result.TEXT,
    Result.NODE: Result.NODE,
}


def _repeated(sum_: Result) -> Result:
    return sum_ if sum_.true else Result.EMPTY


def _promote(node: Node, result: Result) -> Result:
    """What a root expression makes of its result."""
    return Result.BARE if node.root and result is Result.HOLLOW else result
