"""Where the expressions of a grammar stand in its ``.tx`` files.

textX's parser graph knows no places, so the files are read once more with textX's own parser of
grammars, and its tree is walked beside the graph in the steps in which textX builds the one from
the other: a choice or a sequence of one part is that part, ``#`` takes the parts of its brackets,
and the brackets themselves leave nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import arpeggio
from textx.lang import comment, textx_model

from language_server.syntax.finding import GrammarPlace
from language_server.syntax.measures import is_rule

Node = Any  # an arpeggio.ParsingExpression with textX's attributes
Tree = Any  # an arpeggio.NonTerminal of textX's parse of a grammar


class Places:
    """The places of the rules and expressions of one metamodel.

    Args:
        metamodel: textX's metamodel.
        source: the text of its grammar, where that is not what its file says.
    """

    def __init__(self, metamodel: Any, source: str | None = None) -> None:
        self._nodes: dict[int, GrammarPlace] = {}
        self._children: dict[tuple[int, int], GrammarPlace] = {}
        self._path: Path | None = None
        for path, text, classes in _files(metamodel, source):
            self._path = path
            for tree in _parse(text):
                if tree.rule_name == "textx_rule":
                    self._rule(tree, classes)

    def of(self, node: Node) -> GrammarPlace | None:
        """Where an expression stands; of a rule, its name where it is declared.

        None for textX's base types, and where the text of the grammar is not known.
        """
        return self._nodes.get(id(node))

    def of_child(self, node: Node, index: int) -> GrammarPlace | None:
        """Where a part of an expression stands; the part may be the mention of a rule."""
        return self._children.get((id(node), index))

    def _rule(self, tree: Tree, classes: dict[str, Any]) -> None:
        name, body = tree[0], tree[-2]
        cls = classes.get(str(name))
        if cls is None or cls._tx_peg_rule.rule_name != str(name):
            return  # a rule that is nothing but the mention of another one has that one's graph
        root = cls._tx_peg_rule
        self._nodes[id(root)] = self._span(name)
        if _is_wrapped(root, body):
            self._child(root, 0, body, self._choice)
        else:
            self._choice(body, root)

    def _choice(self, tree: Tree, node: Node) -> None:
        sequences = [part for part in tree if part.rule_name == "sequence"]
        self._parts(sequences, node, self._sequence)

    def _sequence(self, tree: Tree, node: Node) -> None:
        self._parts(list(tree), node, self._repeatable)

    def _parts(self, trees: list[Tree], node: Node, walk: Any) -> None:
        if len(trees) == 1:
            walk(trees[0], node)
        elif len(trees) == len(node.nodes):
            for index, part in enumerate(trees):
                self._child(node, index, part, walk)

    def _repeatable(self, tree: Tree, node: Node) -> None:
        expression, *marks = tree
        operator = next((mark for mark in marks if mark.rule_name == "repeat_operator"), None)
        if operator is None:
            self._expression(expression, node)
            return
        if str(operator[0]) == "#":
            self._expression(expression, node)
        else:
            self._child(node, 0, expression, self._expression)
        self._separator(operator, node)

    def _expression(self, tree: Tree, node: Node) -> None:
        last = tree[-1]
        if last.rule_name == "assignment":
            self._child(node, 0, last[2][0], lambda *_: None)
            self._separator(last[2], node)
        elif len(tree) > 1:
            self._child(node, 0, last, self._operand)
        else:
            self._operand(last, node)

    def _operand(self, tree: Tree, node: Node) -> None:
        if tree.rule_name == "bracketed_choice":
            self._choice(tree[1], node)

    def _separator(self, tree: Tree, node: Node) -> None:
        separator = getattr(node, "sep", None)
        for modifiers in tree:
            if separator is not None and modifiers.rule_name == "repeat_modifiers":
                matches = [part for part in modifiers if part.rule_name == "simple_match"]
                self._nodes[id(separator)] = self._span(matches[-1])

    def _child(self, node: Node, index: int, tree: Tree, walk: Any) -> None:
        if index >= len(node.nodes):
            return
        child = node.nodes[index]
        self._children[id(node), index] = self._span(tree)
        if not is_rule(child):
            self._nodes[id(child)] = self._span(tree)
            walk(tree, child)

    def _span(self, tree: Tree) -> GrammarPlace:
        return GrammarPlace(self._path, tree.position, tree.position_end)


def _is_wrapped(root: Node, body: Tree) -> bool:
    """Whether textX has put the body of a rule into a sequence of its own."""
    if type(root) is not arpeggio.Sequence or len(root.nodes) != 1:
        return False
    return [part.rule_name for part in body] == ["sequence"] and len(body[0]) == 1


def _files(metamodel: Any, source: str | None) -> Iterator[tuple[Path | None, str, dict[str, Any]]]:
    """The files of a grammar, each with its text and its classes by name."""
    main = metamodel._namespace_for_file_name(metamodel.file_name)
    for name, classes in metamodel.namespaces.items():
        path = Path(metamodel.file_name).absolute() if metamodel.file_name else None
        if name == main:
            text = source
        elif name == "__base__" or path is None:
            continue
        else:
            path, text = path.parent.joinpath(*name.split(".")).with_suffix(".tx"), None
        if text is None and path is not None:
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue  # it has been moved since textX read it
        if text is not None:
            yield path, text, classes


def _parse(text: str) -> Iterator[Tree]:
    try:
        tree = _parser().parse(text)
    except (arpeggio.NoMatch, RecursionError):
        return iter(())  # the file has changed since textX read it
    return iter(tree)


@cache
def _parser() -> Any:
    return arpeggio.ParserPython(textx_model, comment_def=comment, memoization=True)
