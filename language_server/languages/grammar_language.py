"""What the language of textX grammars has beyond its grammar and its metamodel.

Names that a grammar mentions may be rules of the grammars it imports, or classes of the languages
it refers to. Whether textX builds a grammar is asked of textX in the end, and what users of the
language will pay for is found in what it has built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from textx import metamodel_for_language, metamodel_from_str
from textx.metamodel import TextXMetaMetaModel

from language_server.diagnostic import Diagnostic
from language_server.languages.declaration import Declaration, Fix
from language_server.languages.error import LanguageError
from language_server.languages.grammar_file import load_grammar, refusal
from language_server.languages.shipped import shipped_file
from language_server.languages.textx_judge import offset_of
from language_server.partial_model import ObjectId, PartialModel
from language_server.syntax import Assign, Grammar, Open

_PARAMETERS = ("skipws", "noskipws", "ws", "split")

_MODIFIER = re.compile(
    r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|/(?:\\.|[^/\\\n])+/|\beolterm\b"""
)
#: The modifiers of a repetition with commas among them.
_MODIFIERS = re.compile(rf"\[(?:\s|,|{_MODIFIER.pattern})+\]")


def grammar_language(grammar_file: Path | None, grammar: Grammar) -> GrammarLanguage | None:
    """The own rules of the shipped language of grammars; None for any other grammar."""
    ours = shipped_file("grammars", "textx.tx")
    if grammar_file is None or ours is None or grammar_file.resolve() != ours.resolve():
        return None
    return GrammarLanguage(grammar)


class GrammarLanguage:
    """The language's own rules, as `OwnRules` describes them.

    Args:
        grammar: the grammar of grammars.
    """

    loader = TextXMetaMetaModel()

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._read: dict[Path, tuple[str, tuple[Declaration, ...]]] = {}

    def declared(self, model: PartialModel, path: Path | None) -> Iterator[Declaration]:
        """Rules of imported grammars, classes of other languages, and rules that stand twice.

        Of rules with one name textX takes the last. A class is not looked for where its feature
        has values of several types, which then may be anything; nor are the names in a rule of
        which another one takes the place.
        """
        for _, last in _rules_twice(model):
            name = str(model.name_of(last))
            yield Declaration(name, "Rule", None, *model.name_span(last))
        for name, _, file in _imports(model, path):
            for found in self._rules_of(file):
                yield found
                qualified = f"{name}.{found.name}"
                yield Declaration(qualified, "Rule", file, found.start, found.end)
        for reference in model.objects("LanguageReference"):
            language = str(model.value(reference, "language"))
            alias = model.value(reference, "alias") or language
            for name in _classes(language):
                yield Declaration(f"{alias}.{name}", "Rule", None, 0, 0)
        for name in (*_ignored_classes(model), *_ignored_names(model)):
            yield Declaration(name, "Rule", None, 0, 0)

    def check(self, model: PartialModel, path: Path | None) -> Iterator[Diagnostic]:
        """What textX refuses, where neither the linker nor a constraint sees it."""
        for name, span, file in _imports(model, path):
            if path is not None and not file.is_file():
                yield _error(span, "import", f"grammar {name} is not there: no file {file}")
        for pattern in model.objects("Pattern"):
            problem = _problem_of_regex(str(model.value(pattern, "pattern"))[1:-1])
            if problem:
                yield _error(model.span(pattern), "pattern", problem)
        yield from _wrong_parameters(model)
        yield from _late_flags(model)
        yield from _circles(model)
        yield from _groups_of_one_rule(model)

    def remarks(self, text: str, model: PartialModel, path: Path | None) -> Iterator[Diagnostic]:
        """What textX has against a grammar, else what is found in it."""
        try:
            metamodel = metamodel_from_str(text, file_name=str(path) if path else None)
        except Exception as error:  # textX lets some of Python's own errors through
            yield _refusal(error, text, model, path)
            return
        for rule, last in _rules_twice(model):
            message = f"rule {model.name_of(rule)} stands twice; textX takes the last one"
            counts = (*model.name_span(last), "this one counts")
            yield _warning(model.name_span(rule), "repeated-rule", message, (counts,))
        own = path.absolute() if path is not None else None
        for finding in Grammar.of(metamodel, text).findings:
            place = finding.place
            if place is not None and place.path == own:  # others are shown in their own files
                related = tuple(
                    (there.start, there.end, how)
                    for there, how in finding.related
                    if there.path == own
                )
                message = f"{finding.message} ({finding.cure})"
                yield _warning((place.start, place.end), finding.code, message, related)

    def fixes(self, text: str, start: int, end: int) -> Iterator[Fix]:
        """``[eolterm, ',']``: modifiers of a repetition stand side by side, the separator first."""
        for found in _MODIFIERS.finditer(text):
            if found.start() <= start and end <= found.end():
                parts = [part.group() for part in _MODIFIER.finditer(found.group())]
                parts.sort(key=lambda part: part == "eolterm")
                mended = f"[{' '.join(dict.fromkeys(parts))}]"
                if "".join(mended.split()) != "".join(found.group().split()):
                    yield Fix(f"Write {mended}", found.start(), found.end(), mended)

    def _rules_of(self, file: Path) -> tuple[Declaration, ...]:
        """The rules of a grammar file as far as they can be read."""
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ()
        known = self._read.get(file)
        if known is None or known[0] != text:
            known = self._read[file] = (text, tuple(self._rules_in(text, file)))
        return known[1]

    def _rules_in(self, text: str, file: Path) -> Iterator[Declaration]:
        opened = ""
        for event in self._grammar.parse(text).events():
            if isinstance(event, Open):
                opened = event.cls
            elif isinstance(event, Assign) and (opened, event.feature) == ("Rule", "name"):
                yield Declaration(str(event.value), "Rule", file, event.start, event.end)


# ---- what a grammar brings together -------------------------------------------------------------


def _imports(model: PartialModel, path: Path | None) -> Iterator[tuple[str, tuple[int, int], Path]]:
    """The name of each imported grammar, the span of the import, and the file."""
    folder = path.absolute().parent if path is not None else Path()
    for one in model.objects("Import"):
        name = str(model.value(one, "grammar"))
        yield name, model.span(one), folder.joinpath(*name.split(".")).with_suffix(".tx")


def _classes(language: str) -> tuple[str, ...]:
    """The classes of a language registered with textX; none if it is not, or does not load."""
    try:
        return tuple(cls.__name__ for cls in metamodel_for_language(language))
    except Exception:  # the language's own code runs here
        return ()


def _rules_twice(model: PartialModel) -> Iterator[tuple[ObjectId, ObjectId]]:
    """Each rule that stands again further down, with the last one of the name."""
    last = {model.name_of(rule): rule for rule in _in_order(model, "Rule")}
    for rule in _in_order(model, "Rule"):
        if last[model.name_of(rule)] != rule:
            yield rule, last[model.name_of(rule)]


def _in_order(model: PartialModel, cls: str) -> list[ObjectId]:
    """The objects of a class that stand in the text, in the order of the text."""
    found = [thing for thing in model.objects(cls) if model.nodes[thing].role == "declared"]
    return sorted(found, key=lambda thing: model.span(thing)[0])


# ---- what textX refuses -------------------------------------------------------------------------


def _problem_of_regex(pattern: str) -> str:
    try:
        re.compile(pattern, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        return f"this is no regular expression: {error}"
    return ""


def _wrong_parameters(model: PartialModel) -> Iterator[Diagnostic]:
    for parameter in model.objects("Parameter"):
        name, value = str(model.name_of(parameter)), model.value(parameter, "value")
        message = ""
        if name not in _PARAMETERS:
            message = f"rules have no parameter {name}; known are {', '.join(_PARAMETERS)}"
        elif name == "noskipws" and value is not None:
            message = "noskipws takes no text"
        elif name in ("ws", "split") and len(value or "") < (2 if name == "ws" else 3):
            message = f"{name} needs a text: [{name}=' ']"
        if message:
            yield _error(model.span(parameter), "parameter", message)


def _late_flags(model: PartialModel) -> Iterator[Diagnostic]:
    """``a=ID a?='x'``: a flag that is assigned before."""
    for feature, assignments in _features(model):
        for assignment in assignments[1:]:
            if _operator(model, assignment) == "?=":
                message = f"'?=' where {feature} has been assigned before; write the flag first"
                yield _error(model.span(assignment), "late-flag", message)


def _ignored_classes(model: PartialModel) -> Iterator[str]:
    """The classes of features that are assigned values of several types."""
    for _, assignments in _features(model):
        types = {_type(model, assignment) for assignment in assignments}
        if len(types) > 1:
            yield from (name for is_class, name in types if is_class)


def _ignored_names(model: PartialModel) -> set[str]:
    """The names that only those rules mention that textX does not take."""
    ignored = [model.span(rule) for rule, _ in _rules_twice(model)]
    if not ignored:
        return set()
    names: dict[bool, set[str]] = {True: set(), False: set()}
    for cls, feature in (("Call", "rule"), ("ObjectReference", "class")):
        for mention in model.objects(cls):
            at, _ = model.span(mention)
            inside = any(start <= at < end for start, end in ignored)
            names[inside].update(str(model.name_of(t)) for t in model.targets(mention, feature))
    return names[True] - names[False]


def _features(model: PartialModel) -> Iterator[tuple[str, list[ObjectId]]]:
    """Each feature of each rule, with its assignments in order."""
    rules = _in_order(model, "Rule")
    found: dict[tuple[ObjectId, str], list[ObjectId]] = {}
    for assignment in _in_order(model, "Assignment"):
        while len(rules) > 1 and model.span(rules[1])[0] <= model.span(assignment)[0]:
            rules.pop(0)
        feature = str(model.value(assignment, "feature"))
        found.setdefault((rules[0], feature), []).append(assignment)
    for (_, feature), assignments in found.items():
        yield feature, assignments


def _operator(model: PartialModel, thing: ObjectId) -> str | None:
    """How an assignment or a repetition is written."""
    return next((model.name_of(each) for each in model.targets(thing, "operator")), None)


def _type(model: PartialModel, assignment: ObjectId) -> tuple[bool, str]:
    """Whether an assignment refers to objects of a class, and the name of its type."""
    if _operator(model, assignment) == "?=":
        return False, "BOOL"
    for value in model.targets(assignment, "value"):
        for feature in ("class", "rule"):
            if model.cls_of(value) in ("Call", "ObjectReference"):
                for rule in model.targets(value, feature):
                    return feature == "class", str(model.name_of(rule))
    return False, "STRING"


def _circles(model: PartialModel) -> Iterator[Diagnostic]:
    """Rules that are nothing but each other's names, which textX follows for ever."""
    last = dict(_rules_twice(model))
    called = {rule: _only_call(model, rule) for rule in model.objects("Rule") if rule not in last}
    meant = {rule: last.get(call, call) for rule, call in called.items() if call is not None}
    for rule in meant:
        way = [rule]
        while (following := meant.get(way[-1])) is not None and following not in way:
            way.append(following)
        if following == rule:
            names = " → ".join(str(model.name_of(each)) for each in (*way, rule))
            message = f"rule {model.name_of(rule)} is nothing but itself ({names})"
            yield _error(model.name_span(rule), "left-recursion", message)


def _only_call(model: PartialModel, rule: ObjectId) -> ObjectId | None:
    """The rule that is all there is to a rule."""
    if model.targets(rule, "parameters"):
        return None
    return _only_call_of(model, model.targets(rule, "body"))


def _only_call_of(model: PartialModel, choice: tuple[ObjectId, ...]) -> ObjectId | None:
    """The rule that is all there is to a choice."""
    while choice:
        sequences = model.targets(choice[0], "alternatives")
        elements = model.targets(sequences[0], "elements") if len(sequences) == 1 else ()
        if len(elements) != 1 or model.targets(elements[0], "repetition"):
            return None
        (expression,) = model.targets(elements[0], "expression") or (-1,)
        if expression >= 0 and model.cls_of(expression) == "Call":
            return next(iter(model.targets(expression, "rule")), None)
        choice = _grouped(model, expression)
    return None


def _grouped(model: PartialModel, expression: ObjectId) -> tuple[ObjectId, ...]:
    is_group = expression >= 0 and model.cls_of(expression) == "Group"
    return model.targets(expression, "choice") if is_group else ()


def _groups_of_one_rule(model: PartialModel) -> Iterator[Diagnostic]:
    """``Other#``: textX looks for the parts of the group in what is a mere name."""
    for element in model.objects("Element"):
        for repetition in model.targets(element, "repetition"):
            if _operator(model, repetition) != "#":
                continue
            for expression in model.targets(element, "expression"):
                alone = _only_call_of(model, _grouped(model, expression)) is not None
                if alone or model.cls_of(expression) == "Call":
                    message = "'#' is for the parts of a group in parentheses, not for a rule"
                    yield _error(model.span(element), "group", message)


def _refusal(error: Exception, text: str, model: PartialModel, path: Path | None) -> Diagnostic:
    """Why textX does not build a grammar, at the best place that can be told."""
    for name, span, file in _imports(model, path):
        try:
            load_grammar(file)
        except LanguageError as fault:
            return _error(span, "import", f"the imported grammar {name} does not load: {fault}")
    line, column, message = refusal(error)
    if line is not None:
        start = offset_of(text, line, column)
        end = start + len(re.match(r"\w*", text[start:]).group())  # type: ignore[union-attr]
        return _error((start, max(end, start + 1)), "textx", message)
    for rule in _in_order(model, "Rule"):
        if _is_refused_alone(text, model.span(rule)):
            return _error(model.name_span(rule), "textx", message)
    return _error((0, len(text.split("\n")[0])), "textx", message)


def _is_refused_alone(text: str, rule: tuple[int, int]) -> bool:
    """Whether textX refuses a rule for something else than a name that is not there."""
    try:
        metamodel_from_str(text[rule[0] : rule[1]])
    except Exception as error:
        return not str(error).rpartition(": ")[2].startswith(("Unexisting rule", "Unknown class"))
    return False


def _error(span: tuple[int, int], code: str, message: str) -> Diagnostic:
    return Diagnostic(*span, "error", "metamodel", code, message)


def _warning(
    span: tuple[int, int], code: str, message: str, related: tuple[tuple[int, int, str], ...]
) -> Diagnostic:
    return Diagnostic(*span, "warning", "metamodel", code, message, related=related)
