"""How textX resolves the references of a language, read off its scope providers and expressions.

What only the language's own Python code decides is left to textX: such a reference is accepted
while the text is written, and judged when it is complete.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from textx.metamodel import TextXMetaModel
from textx.scoping import ModelLoader, providers, rrel

from language_server.languages.expressions import has_twin
from language_server.languages.given_models import (
    GivenModels,
    features_of,
    identity_of,
    root_of,
)
from language_server.partial_model.ways import (
    EVERY_CLASS,
    OWN,
    PLAIN,
    Chain,
    Choice,
    Element,
    Enclosing,
    Expression,
    Group,
    Imports,
    LinkRules,
    Plain,
    Qualified,
    Relative,
    Star,
    Step,
    Up,
    Way,
)

_WITH_IMPORTS = (
    providers.ImportURI,
    providers.FQNImportURI,
    providers.PlainNameImportURI,
    providers.GlobalRepo,
    providers.FQNGlobalRepo,
    providers.PlainNameGlobalRepo,
)


def link_rules(metamodel: TextXMetaModel) -> LinkRules:
    """How the references of a language are resolved."""
    classes = _classes(metamodel)
    ways = {
        (name, attribute.name): way_of(attribute, metamodel, name)
        for name, cls in classes.items()
        for attribute in cls._tx_attrs.values()
        if attribute.ref and not attribute.cont
    }
    always = tuple(metamodel.builtin_models or ())
    builtins = metamodel.builtins if isinstance(metamodel.builtins, dict) else {}
    given = GivenModels(
        metamodel,
        (*always, *_added_models(metamodel), *map(root_of, builtins.values())),
        len(always),
    )
    targets = {
        attribute.cls.__name__: attribute.cls
        for cls in classes.values()
        for attribute in cls._tx_attrs.values()
        if attribute.ref
    }
    return LinkRules(
        ways=ways,
        features={name: features_of(cls) for name, cls in classes.items()},
        identity={name: identity_of(cls) for name, cls in classes.items()},
        fitting={name: _fitting(cls, classes) for name, cls in targets.items()},
        imports=tuple(_imports(metamodel, classes, given)),
        given=given.units,
        always=tuple(range(len(always))),
        builtins={
            name: (identity_of(type(thing)), given.place(thing)) for name, thing in builtins.items()
        },
    )


def way_of(attribute: Any, metamodel: TextXMetaModel, cls: str) -> Way:
    """How one reference is resolved, `OWN` where only textX can do it."""
    builtins = metamodel.builtins
    if (builtins and not isinstance(builtins, dict)) or _renames_imports(metamodel):
        return OWN
    if has_twin(cls, metamodel) or has_twin(attribute.cls.__name__, metamodel):
        return OWN
    provider = getattr(attribute, "scope_provider", None)
    for key in (f"{cls}.{attribute.name}", f"*.{attribute.name}", f"{cls}.*", "*.*"):
        provider = provider or metamodel.scope_providers.get(key)
    if provider is None or (type(provider) is providers.PlainName and not builtins):
        return (PLAIN if not builtins else Way(Plain())) if _looks_everywhere(provider) else OWN
    return _way(provider, attribute, metamodel)


def _way(provider: Any, attribute: Any, metamodel: TextXMetaModel) -> Way:
    kind = type(provider)
    if kind is providers.PlainName:
        return Way(Plain()) if _looks_everywhere(provider) else OWN
    if kind is providers.FQN:
        return Way(Qualified()) if provider.scope_redirection_logic is None else OWN
    if kind is providers.RelativeName:
        return Way(Relative(_path(provider.path_to_container_object), ()))
    if kind is providers.ExtRelativeName:
        return Way(
            Relative(
                _path(provider.path_to_definition_object),
                _path(provider.path_to_target),
                _path(provider.path_to_extension),
            )
        )
    if kind.__module__ == rrel.__name__:
        return _way_of_expression(provider, attribute, metamodel)
    if kind in _WITH_IMPORTS and _is_readable(provider):
        inner = provider.scope_provider
        if type(inner) is providers.FQN:
            redirected = inner.scope_redirection_logic
            if redirected is None or _is_import_as(provider):
                return Way(Qualified(through_imports=redirected is not None), elsewhere=True)
        elif type(inner) is providers.PlainName and _looks_everywhere(inner):
            return Way(Plain(), elsewhere=True)
    return OWN


def _way_of_expression(provider: Any, attribute: Any, metamodel: TextXMetaModel) -> Way:
    across = isinstance(provider, ModelLoader)
    if across and not _is_readable(provider):
        return OWN
    inner = provider.scope_provider if across else provider
    split = inner.split_string
    if split is None:
        rule = metamodel[attribute.match_rule_name]._tx_peg_rule
        split = str(getattr(rule, "split", "."))
    tree = inner.rrel_tree
    choice = _choice(tree.seq, metamodel)
    return Way(Expression(choice, split, across_files=tree.importURI, by_path=tree.use_proxy))


def _looks_everywhere(provider: Any) -> bool:
    return provider is None or bool(provider.multi_metamodel_support)


def _is_readable(provider: Any) -> bool:
    """Whether it is known which files a provider reads."""
    if any(model._tx_filename for model in getattr(provider, "models_to_be_added_directly", ())):
        return False  # such a model stands for its file
    unknown = set(provider.glob_args) - {"recursive", "include_hidden"}
    if unknown == {"root_dir"}:  # it counts for relative patterns only
        return all(map(os.path.isabs, getattr(provider, "filename_pattern_list", ())))
    return not unknown


def _is_import_as(provider: Any) -> bool:
    """Whether the scopes of an FQN provider are redirected by textX's own ``importAs`` only."""
    logic = provider.scope_provider.scope_redirection_logic
    code = getattr(logic, "__code__", None)
    if code is None or code.co_name != "my_scope_redirection_logic_def":
        return False
    return all(cell.cell_contents is None for cell in logic.__closure__ or ())


def _renames_imports(metamodel: TextXMetaModel) -> bool:
    """Whether code of the language gives imports their names when it loads a text."""
    return any(
        getattr(provider, "importURI_to_scope_name", None) is not None
        for provider in metamodel.scope_providers.values()
    )


def _path(dotted: str) -> tuple[str, ...]:
    return tuple(dotted.split("."))


# ---- reference expressions -----------------------------------------------------------------------


def _choice(sequence: Any, metamodel: TextXMetaModel) -> Choice:
    return Choice(tuple(_chain(path, metamodel) for path in sequence.paths))


def _chain(path: Any, metamodel: TextXMetaModel) -> Chain:
    return Chain(tuple(_element(element, metamodel) for element in path.path_elements))


def _element(element: Any, metamodel: TextXMetaModel) -> Element:
    if isinstance(element, rrel.RRELDots):
        return Up(element.num)
    if isinstance(element, rrel.RRELParent):
        classes = _classes(metamodel)
        known = element.type in classes
        return Enclosing(_fitting(classes[element.type], classes) if known else frozenset())
    if isinstance(element, rrel.RRELNavigation):
        return Step(element.name, bool(element.consume_name), element.fixed_name)
    if isinstance(element, rrel.RRELZeroOrMore):
        return Star(_choice(element.path_element.seq, metamodel))
    return Group(_choice(element.seq, metamodel))


# ---- classes and files ---------------------------------------------------------------------------


def _classes(metamodel: TextXMetaModel) -> dict[str, Any]:
    """The classes of all rules by name, those of imported grammars included."""
    found: dict[str, Any] = {}
    for cls in metamodel:
        found.setdefault(cls.__name__, cls)
    for name, namespace in metamodel.namespaces.items():
        if name != "__base__":
            for cls in namespace.values():
                found.setdefault(cls.__name__, cls)
    return {name: cls for name, cls in found.items() if hasattr(cls, "_tx_attrs")}


def _fitting(cls: Any, classes: dict[str, Any]) -> frozenset[str]:
    """The qualified names of the classes whose objects textX takes for objects of a class."""
    if cls.__name__ == "OBJECT":
        return EVERY_CLASS
    found: set[str] = set()
    waiting = [cls]
    while waiting:
        one = waiting.pop()
        name = str(one._tx_fqn)
        if name not in found:
            found.add(name)
            waiting.extend(one._tx_inh_by)
            waiting.extend(other for other in classes.values() if issubclass(other, one))
    return frozenset(found)


def _added_models(metamodel: TextXMetaModel) -> Iterator[Any]:
    for provider in metamodel.scope_providers.values():
        yield from getattr(provider, "models_to_be_added_directly", ())


def _imports(
    metamodel: TextXMetaModel, classes: dict[str, Any], given: GivenModels
) -> Iterator[Imports]:
    seen: set[int] = set()
    #: Textx gives all that have no file one name, so that the last one takes the place of each.
    added = list(_added_models(metamodel))
    for provider in metamodel.scope_providers.values():
        if isinstance(provider, ModelLoader) and id(provider) not in seen:
            seen.add(id(provider))
            patterns = getattr(provider, "filename_pattern_list", None)
            search_path = provider.search_path
            yield Imports(
                patterns=None if patterns is None else tuple(patterns),
                search_path=None if search_path is None else tuple(map(str, search_path)),
                recursive=bool(provider.glob_args.get("recursive")),
                hidden=bool(provider.glob_args.get("include_hidden")),
                models=tuple(
                    given.place(added[-1])[0]
                    for _ in getattr(provider, "models_to_be_added_directly", ())
                ),
                hides_named=bool(provider.importAs),
                convert=provider.importURI_converter,
            )
    used_by = frozenset(
        (name, attribute.name)
        for name, cls in classes.items()
        for attribute in cls._tx_attrs.values()
        if isinstance(getattr(attribute, "scope_provider", None), ModelLoader)
    )
    if used_by:
        yield Imports(used_by=used_by)
