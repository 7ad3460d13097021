"""How the references of a language are resolved, as a description that `linking` carries out.

The words are textX's (`textx.scoping`), the reference expressions those of its RREL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from language_server.partial_model.objects import Unit

# ---- reference expressions (RREL) ----------------------------------------------------------------
# Nodes are compared by identity: a search visits an object once by each node. ``local`` says that
# an expression begins at the object that holds the reference, ``at_root`` that at the model's root.


@dataclass(frozen=True, eq=False, slots=True)
class Up:
    """``.``, ``..``, ``...``: the object itself, its parent, the parent of that."""

    levels: int
    local: ClassVar[bool] = True
    at_root: ClassVar[bool] = False


@dataclass(frozen=True, eq=False, slots=True)
class Enclosing:
    """``parent(T)``: the nearest enclosing object of a class, given by all names it goes by."""

    classes: frozenset[str]
    local: ClassVar[bool] = True
    at_root: ClassVar[bool] = False


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """``a`` (takes a part of the name), ``~a`` (takes none), ``'x'~a`` (the one named x)."""

    feature: str
    takes_name: bool
    fixed_name: str | None = None
    local: ClassVar[bool] = False
    at_root: ClassVar[bool] = True


class Chain:
    """``a.b.c``: one element behind the other."""

    __slots__ = ("at_root", "elements", "local")

    def __init__(self, elements: tuple[Element, ...]) -> None:
        self.elements = elements
        self.local: bool = elements[0].local
        self.at_root: bool = elements[0].at_root


class Choice:
    """``a,b``: one chain after the other."""

    __slots__ = ("at_root", "chains", "local")

    def __init__(self, chains: tuple[Chain, ...]) -> None:
        self.chains = chains
        self.local: bool = any(chain.local for chain in chains)
        self.at_root: bool = any(chain.at_root for chain in chains)


class Group:
    """``(a,b)``."""

    __slots__ = ("at_root", "choice", "local")

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self.local: bool = choice.local
        self.at_root: bool = choice.at_root


class Star(Group):
    """``(a,b)*``: none, one or more of them."""

    __slots__ = ()


Element = Up | Enclosing | Step | Group


# ---- scopes --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plain:
    """By plain name, anywhere in the file; the name must be unique there."""


@dataclass(frozen=True, slots=True)
class Qualified:
    """By qualified name (FQN): from the object outward, the first object that all parts lead to.

    Attributes:
        through_imports: whether a named import is a scope with what it imports (``importAs``).
    """

    through_imports: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """By a reference expression.

    Attributes:
        split: what separates the parts of a name.
        across_files: whether a root stands for the roots of imported files as well (``+m``).
        by_path: whether the last object that took a name is meant (``+p``).
    """

    choice: Choice
    split: str = "."
    across_files: bool = False
    by_path: bool = False


@dataclass(frozen=True, slots=True)
class Relative:
    """By name in a list found along a path of features (``parent(T)`` may begin it).

    Attributes:
        start: path from the object that holds the reference.
        extension: path from there to further objects of its kind; None for ``RelativeName``.
        target: path to the list from each of them.
    """

    start: tuple[str, ...]
    target: tuple[str, ...]
    extension: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Own:
    """Python code of the language decides, or something else that only textX can follow."""


Scope = Plain | Qualified | Expression | Relative | Own


@dataclass(frozen=True, slots=True)
class Imports:
    """Which further files a way to resolve references reads.

    Attributes:
        patterns: fixed globs (a global repository); None where the text says it (``importURI``).
        search_path: folders in which a file is looked for, None where names are globs.
        recursive: whether ``**`` means any number of folders.
        hides_named: whether a named import is no part of what is visible (``importAs``).
        hidden: whether ``*`` and ``**`` match names that begin with a dot.
        models: models that are added in code behind the files of the patterns: their positions
            among those that the language is given.
        convert: from what the text says to the name of a file.
        used_by: the (class, feature) pairs of which the text must have a reference, or nothing is
            read; None where the files are read in any case.
    """

    patterns: tuple[str, ...] | None = None
    search_path: tuple[str, ...] | None = None
    recursive: bool = False
    hidden: bool = False
    models: tuple[int, ...] = ()
    hides_named: bool = False
    convert: Callable[[str], str] | None = None
    used_by: frozenset[tuple[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """How one reference feature is resolved.

    Attributes:
        elsewhere: whether the scope is applied to the visible other files when it fails here.
        plain: whether nothing but the plain default is at work: refinement links it as it reads.
    """

    scope: Scope
    elsewhere: bool = False
    plain: bool = False

    @property
    def by_type(self) -> bool:
        """Whether, for all we know, any object of the right class and name may be meant."""
        return isinstance(self.scope, Plain | Own)

    @property
    def is_own(self) -> bool:
        """Whether it is left to textX."""
        return isinstance(self.scope, Own)


PLAIN = Way(Plain(), plain=True)
OWN = Way(Own())


class _EveryClass(frozenset[str]):
    """All classes, those of other languages too."""

    def __contains__(self, name: object) -> bool:
        return name is not None


EVERY_CLASS: frozenset[str] = _EveryClass()


@dataclass(frozen=True, eq=False)
class LinkRules:
    """What the linker must know of a grammar.

    Attributes:
        ways: how to resolve each (class, feature).
        features: of each class the features that hold objects, in the grammar's order.
        identity: the qualified name of each class, equal for equal classes of two languages.
        fitting: the qualified names of all classes that a class stands for.
        imports: which further files a text makes visible, in order.
        given: models that are there in any text.
        always: which of them any text sees, in textX's order.
        builtins: name to the qualified name of the class of each object that is always there, and
            where it is: its model's position among the given ones, its number there.
    """

    ways: Mapping[tuple[str, str], Way]
    features: Mapping[str, tuple[str, ...]]
    identity: Mapping[str, str]
    fitting: Mapping[str, frozenset[str]]
    imports: tuple[Imports, ...] = ()
    given: tuple[Unit, ...] = ()
    always: tuple[int, ...] = ()
    builtins: Mapping[str, tuple[str, tuple[int, int]]] = field(default_factory=dict)

    @property
    def beyond_plain(self) -> bool:
        """Whether there is more to link than what refinement links by plain name."""
        return any(not way.plain and way != OWN for way in self.ways.values())

    @cached_property
    def has_own(self) -> bool:
        """Whether there are references that are left to textX."""
        return any(way.is_own for way in self.ways.values())

    def way(self, cls: str, feature: str) -> Way:
        """How a reference is resolved."""
        return self.ways.get((cls, feature), PLAIN)
