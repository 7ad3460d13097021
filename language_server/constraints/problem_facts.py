"""The facts of a problem: assertions about individuals, and scopes of classes."""

from __future__ import annotations

import re
from typing import Any, Literal, cast

from language_server.constraints.problem_error import Collector, place_of
from language_server.constraints.problem_symbols import Symbol, Symbols, clean
from language_server.constraints.theory import Assertion, Constant, Individual, Scope

Value = Literal["true", "false", "unknown", "error"]


class FactReader:
    """Reads assertions and scopes; a name not declared becomes a node of the problem."""

    def __init__(self, symbols: Symbols, collector: Collector) -> None:
        self._symbols = symbols
        self._collector = collector
        self.assertions: list[Assertion] = []
        self.scopes: list[Scope] = []

    def read_scope(self, node: Any) -> None:
        """Reads ``scope A = 1..5, B = 2.``"""
        for item in node.items:
            if item.operator != "=":
                self._collector.add(
                    item, "'+=' is not supported in a scope", cure="write the whole range with '='"
                )
                continue
            name = clean(item.cls)
            symbol = self._symbols.resolve(item, name, self._collector)
            if symbol is None:
                continue
            if symbol.kind != "class" and symbol.name != "node":
                self._collector.add(item, f"'{name}' is no class")
                continue
            lower = int(item.lower)
            upper: int | None = lower
            if item.upper:
                upper = None if item.upper == "*" else int(item.upper)
            if upper is not None and upper < lower:
                self._collector.add(item, f"no number lies in {lower}..{upper}")
            self.scopes.append(Scope(symbol.name, lower, upper, place_of(item)))

    def read_assertion(self, node: Any) -> None:
        """Reads ``p(a, b).`` and its kin, and ``attribute(a): value.``"""
        symbol = self._symbols.resolve(node, node.symbol, self._collector)
        if symbol is None:
            return
        if node.polarity and node.value is not None:
            self._collector.add(node, "write either a sign in front or a value behind")
            return
        if symbol.kind == "feature" and self._symbols.features[symbol.name].is_attribute:
            self._read_attribute(node, symbol)
            return
        if len(node.arguments) != symbol.arity:
            self._collector.add(
                node,
                f"'{clean(node.symbol)}' takes {symbol.arity} "
                f"argument{'s' if symbol.arity != 1 else ''}, not {len(node.arguments)}",
            )
            return
        value: Value = {"!": "false", "?": "unknown"}.get(node.polarity, "true")  # type: ignore[assignment]
        if node.value is not None:
            if not node.value.truth:
                self._collector.add(node.value, "a relation is true, false, unknown or error")
                return
            value = cast(Value, node.value.truth)
        args = tuple(self._argument(argument) for argument in node.arguments)
        self.assertions.append(Assertion(symbol.name, args, value, node.default, place_of(node)))

    def _read_attribute(self, node: Any, symbol: Symbol) -> None:
        feature = self._symbols.features[symbol.name]
        if len(node.arguments) != 1:
            self._collector.add(node, f"write {feature.name}(object): value")
            return
        of = self._argument(node.arguments[0])
        constant = self._attribute_value(node, feature.target)
        if constant is _REFUSED:
            return
        value: Value = "true" if constant is not None else "unknown"
        self.assertions.append(
            Assertion(symbol.name, (of, constant), value, node.default, place_of(node))
        )

    def _attribute_value(self, node: Any, target: str) -> Constant | None:
        """The stated value; None where it is said to be unknown."""
        if node.polarity == "?" or (node.value is not None and node.value.truth == "unknown"):
            return None
        if node.value is None:
            if target != "boolean":
                self._collector.add(
                    node, f"a value of type {target} is missing", cure="write ': value'"
                )
                return _REFUSED
            return Constant(node.polarity != "!")
        if node.value.interval is not None:
            self._collector.add(
                node.value, "intervals are not supported as values", cure="state one value"
            )
            return _REFUSED
        if node.value.truth:
            value: int | float | str | bool = node.value.truth == "true"
            if node.value.truth == "error":
                self._collector.add(node.value, "an attribute cannot be stated as error")
                return _REFUSED
        else:
            term = node.value.constant
            value = (
                float(term.real) if term.real else int(term.integer) if term.integer else term.text
            )
        fits = {
            "boolean": isinstance(value, bool),
            "int": isinstance(value, int) and not isinstance(value, bool),
            "real": isinstance(value, (int, float)) and not isinstance(value, bool),
            "string": isinstance(value, str),
        }[target]
        if not fits:
            self._collector.add(node.value, f"a value of type {target} is expected")
            return _REFUSED
        return Constant(float(value) if target == "real" else value)

    def _argument(self, argument: Any) -> Individual | None:
        if argument.star or argument.wildcard:
            return None
        known = self._symbols.individual(argument.node)
        if known is not None:
            return Individual(known)
        name = clean(argument.node)
        if "::" in name:
            self._collector.add(argument, f"individual '{name}' is not declared")
        else:
            self._symbols.individuals[name] = "node"
        return Individual(name)


def written(assertion: Assertion) -> str:
    """An assertion as a problem file has it."""
    names = [_written(argument) for argument in assertion.args]
    symbol = assertion.symbol.rpartition("::")[2]
    last = assertion.args[-1]
    if isinstance(last, Constant):
        return f"{symbol}({', '.join(names[:-1])}): {names[-1]}."
    sign = {"true": "", "false": "!", "unknown": "?"}.get(assertion.value, "")
    return f"{sign}{symbol}({', '.join(names)})."


def _written(argument: Individual | Constant | None) -> str:
    if argument is None:
        return "*"
    if isinstance(argument, Individual):
        parts = argument.name.split("::")
        return "::".join(p if re.fullmatch(r"[^\d\W]\w*", p) else f"'{p}'" for p in parts)
    if isinstance(argument.value, str):
        return f'"{argument.value}"'
    return str(argument.value).lower()


_REFUSED = Constant("")  # compared by identity: a mistake has been recorded
