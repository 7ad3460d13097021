"""A language D = (G, M, C): grammar, metamodel and constraints, loaded and fitted together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from textx.metamodel import TextXMetaModel

from language_server.constraints import Assertion, ConstraintSet, Theory
from language_server.constraints.problem import ProblemError, load_given, load_problem
from language_server.constraints.problem_facts import written
from language_server.diagnostic import Diagnostic
from language_server.languages.agreement import Mismatch, agree, clashes_with_textx, idle_imports
from language_server.languages.analysis import (
    BYTE_ORDER_MARK,
    Analysis,
    Check,
    analyse,
    shifted,
)
from language_server.languages.comments import NO_COMMENTS, CommentStyle, comment_style
from language_server.languages.compiler import Compiler
from language_server.languages.declaration import OwnRules
from language_server.languages.error import LanguageError
from language_server.languages.examples import Example, read_examples
from language_server.languages.grammar_file import (
    finding_as_error,
    load_grammar,
    read_text,
    rules_of,
)
from language_server.languages.grammar_language import grammar_language
from language_server.languages.imports import Disk, Home, Library, Neighbours
from language_server.languages.metamodel import implied_theory
from language_server.languages.own_code import PATIENCE, Decision, decide
from language_server.languages.problem_language import further_problem_check
from language_server.languages.prompt import HIDDEN_NAME, PromptTemplate, without_name
from language_server.languages.references import link_rules
from language_server.languages.text_meaning import with_subset_rules, without_meaning
from language_server.languages.textx_judge import (
    SECONDS,
    has_processors,
    line_and_column,
    load_problems,
)
from language_server.partial_model import LinkRules, Surroundings
from language_server.syntax import Grammar


@dataclass(frozen=True)
class Definition:
    """The files a language is made of.

    Attributes:
        name: what the language is called.
        grammar: the ``.tx`` file; None for a language that is registered with textX.
        problem: the ``.problem`` file; None where the metamodel is what the grammar implies.
        examples: the folder of example models.
        extensions: endings of model files, with the dot.
        patterns: names of model files that no ending covers, as globs (``Makefile.*``).
        units: classes whose objects are syntactic units; where there are none, all are.
        given: a ``.problem`` file with facts that hold of every text from the start.
        compiler: what has the last word on finished texts, where it is installed.
        prompt: how a language model is told about the language.
    """

    name: str
    grammar: Path | None = None
    problem: Path | None = None
    examples: Path | None = None
    extensions: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    given: Path | None = None
    compiler: Compiler | None = None
    prompt: PromptTemplate = field(default_factory=PromptTemplate)


@dataclass(frozen=True, eq=False)
class Language:
    """A language ready for use; it holds no state of any document.

    Attributes:
        name: what the language is called.
        metamodel: textX's metamodel, the judge of syntax.
        theory: classes, features and constraints.
        definition: the files it was made of.
        doubts: what grammar and problem file do not agree on without being wrong.
        examples: descriptions with valid models.
        comment: how comments are written.
        summary: what the grammar's author says about the language.
        check_further: rules of the language that its constraints cannot state; asked about texts
            that textX loads.
        own_rules: what the language knows beyond grammar, metamodel and constraints.
        given: facts that hold of every text from the start; see `with_given`.
        home: which file of which library its texts are, None where they are of no file.
    """

    name: str
    metamodel: TextXMetaModel
    grammar: Grammar
    theory: Theory
    constraints: ConstraintSet
    definition: Definition
    examples: tuple[Example, ...] = ()
    comment: CommentStyle = NO_COMMENTS
    doubts: tuple[LanguageError, ...] = ()
    summary: str = ""
    check_further: Check | None = None
    own_rules: OwnRules | None = None
    given: tuple[Assertion, ...] = ()
    home: Home | None = None

    @property
    def extensions(self) -> tuple[str, ...]:
        """Endings of model files, with the dot."""
        return self.definition.extensions

    @property
    def units(self) -> tuple[str, ...]:
        """Classes whose objects are syntactic units; where there are none, all are."""
        return self.definition.units

    @property
    def root(self) -> str:
        """The class of the grammar that whole texts are objects of."""
        return str(self.metamodel.rootcls.__name__)

    @cached_property
    def warnings(self) -> tuple[LanguageError, ...]:
        """The doubts, and what in the grammar its users will pay for; found at first use."""
        return (*self.doubts, *map(finding_as_error, self.grammar.findings))

    @property
    def prompt(self) -> PromptTemplate:
        """How a language model is told about the language."""
        return self.definition.prompt

    @cached_property
    def told(self) -> dict[str, str]:
        """What the placeholders {language}, {summary} and {facts} of the prompt stand for."""
        name, summary = self.name, self.summary
        if self.prompt.hides_language:
            name, summary = HIDDEN_NAME, without_name(summary, name, self.grammar.keywords)
        facts = "These facts hold: " + " ".join(map(written, self.given)) if self.given else ""
        return {"language": name, "summary": summary, "facts": facts}

    @cached_property
    def grammar_rules(self) -> tuple[str, ...]:
        """The rules of the grammar as they are written, each a row; see `rules_of`."""
        path = self.definition.grammar or self.metamodel.file_name
        return rules_of(Path(path)) if path and Path(path).is_file() else ()

    @cached_property
    def links(self) -> LinkRules:
        """How references are resolved."""
        return self.constraints.mapping.links or link_rules(self.metamodel)

    def at(self, path: Path, library: Library) -> Language:
        """The language for the text of one file; what it imports is found by the library."""
        looks_around = self.links.imports or self.links.has_own or self.has_code
        return replace(self, home=Home(library, path)) if looks_around else self

    def with_given(self, facts: Path) -> Language:
        """The language for texts of which some facts hold from the start.

        Args:
            facts: a problem file with assertions in the words of the language's metamodel.

        Raises:
            LanguageError: the first mistake in that file.
        """
        read_text(facts, "file of given facts")
        try:
            return replace(self, given=(*self.given, *load_given(facts, self.theory)))
        except ProblemError as error:
            raise _problem_error(error) from None

    def prompted(self, grammar: bool | None = None, hides_language: bool | None = None) -> Language:
        """The language told in another way; None leaves what its manifest says."""
        prompt = self.prompt
        if grammar is not None:
            prompt = replace(prompt, grammar=grammar)
        if hides_language is not None:
            prompt = replace(prompt, hides_language=hides_language)
        return replace(self, definition=replace(self.definition, prompt=prompt))

    @property
    def _home(self) -> Home:
        return self.home or Home(Library(Disk()), None)

    def surroundings(self, path: Path | None = None) -> Surroundings | None:
        """The files around a text; None where the language does not look beyond the text.

        Args:
            path: the file of the text, by default where the language is at home.
        """
        if not self.links.imports:
            return None
        return Neighbours(self._home.library, self, path or self._home.path)

    def analyse(
        self, text: str, path: Path | None = None, known: Analysis | None = None
    ) -> Analysis:
        """The document view of a text: its problems, its model, its parse. Never raises.

        Args:
            text: the text.
            path: the file it belongs to, which what it imports is relative to; by default where
                the language is at home.
            known: the analysis of an earlier version of the text by this language.
        """
        path = path or self._home.path
        around = self.surroundings(path)
        analysis = analyse(
            self.grammar,
            self.constraints,
            text,
            path,
            self.check_further,
            around,
            known,
            own_rules=self.own_rules,
            given=self.given,
        )
        decision = self._decided(text, analysis, path)
        if decision is None:
            return analysis
        found = (*analysis.diagnostics, *shifted(decision.problems, text))
        return replace(analysis, diagnostics=found, targets=decision.targets)

    @property
    def has_code(self) -> bool:
        """Whether code has a word in which texts are valid, besides how references are resolved."""
        ours = self.check_further is not None or self.own_rules is not None
        return ours or has_processors(self.metamodel)

    def refusal(self, text: str) -> Diagnostic | None:
        """What such code has against a text that has no other problem.

        All that `judge` asks but the compiler, which is another program.
        """
        if not self.has_code:
            return None
        path = self._place(None)
        found = self.analyse(text, path).diagnostics  # takes less time than textX
        if not any(each.severity == "error" for each in found):
            found = self._load_problems(text, path, PATIENCE)
        return next((each for each in found if each.severity == "error"), None)

    def allows(self, text: str) -> bool:
        """Whether code that resolves references takes a text without other problems."""
        if not self.links.has_own:
            return True
        parse = self.grammar.parse(text)
        return decide(self, self._home.library, text, parse, self._home.path).loads

    def _decided(self, text: str, analysis: Analysis, path: Path | None) -> Decision | None:
        """What textX says to a text in which we find nothing wrong with references ourselves."""
        if not self.links.has_own or not analysis.parse.complete:
            return None
        if any(each.source in ("reference", "syntax") for each in analysis.diagnostics):
            return None
        body, home = text.removeprefix(BYTE_ORDER_MARK), self._home
        return decide(self, home.library, body, analysis.parse, path)

    def problems(
        self, text: str, path: Path | None = None, analysis: Analysis | None = None
    ) -> tuple[Diagnostic, ...]:
        """The problems of a text, and what else its language has to say of it.

        Args:
            text, path: as for `analyse`.
            analysis: that of the text, where it is known already.
        """
        path = path or self._home.path
        analysis = analysis or self.analyse(text, path)
        if self.own_rules is None or any(each.severity == "error" for each in analysis.diagnostics):
            return analysis.diagnostics
        body = text.removeprefix(BYTE_ORDER_MARK)
        remarks = self.own_rules.remarks(body, analysis.evaluation.model, path)
        return (*analysis.diagnostics, *shifted(remarks, text))

    def judge(self, text: str, path: Path | None = None) -> tuple[Diagnostic, ...]:
        """The final word on a finished text.

        textX loads it, then the constraints are checked, then the language's compiler is asked:
        a workspace may name any program, so it runs when a text is judged, not while one types.
        """
        path = self._place(path)
        against = self._load_problems(text, path)
        if against:
            return against
        found = self.analyse(text, path).diagnostics
        compiler = self.definition.compiler
        if compiler is None or any(each.severity == "error" for each in found):
            return found
        return (*found, *shifted(compiler.problems(text.removeprefix(BYTE_ORDER_MARK)), text))

    def _place(self, path: Path | None) -> Path | None:
        """Where a text that is judged is: textX asks that as soon as it imports."""
        path = path or self._home.path
        return Path.cwd() / "text" if path is None and self.links.imports else path

    def _load_problems(
        self, text: str, path: Path | None, seconds: float = SECONDS
    ) -> tuple[Diagnostic, ...]:
        root = None if self.home is None else self.home.library.files.root
        loader = self.own_rules.loader if self.own_rules is not None else self.metamodel
        body = text.removeprefix(BYTE_ORDER_MARK)
        return shifted(load_problems(loader, body, path, seconds, root), text)


def build(definition: Definition, metamodel: TextXMetaModel | None = None) -> Language:
    """Loads a language from its files.

    Args:
        definition: the files.
        metamodel: textX's metamodel of a registered language, which then needs no grammar file.

    Raises:
        LanguageError: the first mistake in one of them, or between them.
    """
    summary = ""
    if metamodel is None:
        if definition.grammar is None:
            raise LanguageError(f"language '{definition.name}' has no grammar")
        metamodel = load_grammar(definition.grammar)
        summary = _leading_comment(read_text(definition.grammar, "grammar"))
    for unit in definition.units:
        if unit not in metamodel:
            raise LanguageError(
                f"the grammar has no rule '{unit}'",
                definition.grammar,
                cure=f"write a rule of the grammar in 'units' of language '{definition.name}'",
            )
    theory = _theory(definition, metamodel)
    agreement = agree(metamodel, theory)
    doubts = []
    for mismatch in (*without_meaning(theory), *agreement.mismatches):
        error = _mismatch_error(mismatch, definition)
        if mismatch.severity == "error":
            raise error
        if definition.problem is not None:
            doubts.append(error)
    clashes = (*clashes_with_textx(metamodel), *idle_imports(metamodel))
    doubts += [_mismatch_error(clash, definition) for clash in clashes]
    style = comment_style(metamodel)
    examples = read_examples(definition.examples, style) if definition.examples else ()
    try:
        grammar = Grammar.of(metamodel)
        constraints = ConstraintSet.of(with_subset_rules(theory), agreement.mapping)
    except RecursionError:
        raise LanguageError("the grammar is nested too deeply", definition.grammar) from None
    _check_aliases(definition, grammar)
    language = Language(
        name=definition.name,
        metamodel=metamodel,
        grammar=grammar,
        theory=theory,
        constraints=constraints,
        definition=definition,
        examples=examples,
        comment=style,
        doubts=tuple(doubts),
        summary=summary,
        check_further=further_problem_check(definition.grammar),
        own_rules=grammar_language(definition.grammar, grammar),
    )
    return language if definition.given is None else language.with_given(definition.given)


def _check_aliases(definition: Definition, grammar: Grammar) -> None:
    cure = f"see 'aliases' in the manifest's [language.prompt] of language '{definition.name}'"
    for alias, own in definition.prompt.aliases:
        if not grammar.writes(own):
            raise LanguageError(
                f"the grammar has no text '{own}' for '{alias}' to stand for",
                definition.grammar,
                cure=cure,
            )
        if alias in grammar.keywords:
            raise LanguageError(
                f"'{alias}' cannot stand for '{own}': it is a word of the grammar itself",
                definition.grammar,
                cure=cure,
            )


def _theory(definition: Definition, metamodel: TextXMetaModel) -> Theory:
    if definition.problem is None:
        return implied_theory(metamodel)
    read_text(definition.problem, "problem file")
    try:
        return load_problem(definition.problem)
    except ProblemError as error:
        raise _problem_error(error) from None


def _problem_error(error: ProblemError) -> LanguageError:
    return LanguageError(
        error.message, error.path, error.line or None, error.column or None, error.cure
    )


def _mismatch_error(mismatch: Mismatch, definition: Definition) -> LanguageError:
    """A mismatch at its place in the problem file (or one it imports), else in the grammar."""
    path, start = definition.grammar, mismatch.in_grammar and mismatch.in_grammar[0]
    in_problem = mismatch.in_problem if definition.problem is not None else None
    if in_problem is not None:
        path, start = definition.problem, in_problem.start
        if in_problem.path not in (None, Path(path or "").resolve()):
            path = in_problem.path
    message, cure = mismatch.message, mismatch.cure
    if path is None or start is None:
        return LanguageError(message, path, cure=cure)
    line, column = line_and_column(read_text(path, "file"), start)
    if in_problem is not None and mismatch.in_grammar and definition.grammar:
        there = line_and_column(read_text(definition.grammar, "grammar"), mismatch.in_grammar[0])
        message += f" ({definition.grammar.name}:{there[0]}:{there[1]})"
    return LanguageError(message, path, line, column, cure)


def _leading_comment(grammar: str) -> str:
    """The comment a grammar begins with: what its author says about the language."""
    rows = []
    for row in grammar.splitlines():
        if not row.startswith("//"):
            break
        rows.append(row[2:].removeprefix(" ").rstrip())
    return "\n".join(rows).strip()
