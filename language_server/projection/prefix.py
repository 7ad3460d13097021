"""The prefix of a text with all its readings: the syntax and the partial model, side by side.

A `Prefix` is a persistent value: advancing returns a new one, rolling back is keeping the old one.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from language_server.constraints import Assertion, ConstraintSet, Evaluation, Theory
from language_server.languages import Language
from language_server.partial_model import closed_names
from language_server.projection.attribute_values import named_by_constraints
from language_server.projection.completability import complete
from language_server.projection.folds import Content, Fold, beginning, fold
from language_server.projection.layout import Ending, Layout, layout_of
from language_server.projection.moves import Move, moves, moves_of
from language_server.projection.openings import Openings
from language_server.projection.spelling import is_free, may_become
from language_server.projection.verdict import Effort, Known, Verdict
from language_server.syntax import (
    Assign,
    Close,
    Expected,
    Open,
    ParseState,
    Refer,
    Trail,
    comment_end,
    joint,
    stands_apart,
)

if TYPE_CHECKING:
    from language_server.constraints import Violation

# A name no person writes: it stands for "some name that is not declared yet".
_ANY_NEW_NAME = "\N{OBJECT REPLACEMENT CHARACTER}"
# Keywords of one value that are looked ahead for one that does not fit.
_KEYWORDS_AHEAD = 4


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read the prefix: a terminal that may stand at its end and the model so far."""

    expected: Expected
    evaluation: Evaluation


class Prefix:
    """A text that may go on, and the question what may come next."""

    def __init__(
        self,
        language: Language,
        state: ParseState,
        initial: Fold,
        known: Known | None = None,
        to_judge: Prefix | None = None,
    ) -> None:
        self.language = language
        self.state = state
        self._initial = initial
        self._to_judge = to_judge  # a beginning of this text that the constraints are asked about
        self._known = known  # the witness of an earlier prefix of this text, to be used again

    @staticmethod
    def start(language: Language, given: Iterable[Assertion] = ()) -> Prefix:
        """The empty prefix; `given` facts hold from the start, besides those of the language."""
        return Prefix(
            language,
            language.grammar.start(),
            beginning(language.constraints, (*language.given, *given), language.surroundings()),
        )

    @staticmethod
    def of_grammar(language: Language) -> Prefix:
        """The empty prefix, ruled by the grammar alone; see `judged` (strategy ``grammar``)."""
        return Prefix(
            language,
            language.grammar.start(),
            beginning(_NO_CONSTRAINTS, (), None),
            to_judge=Prefix.start(language),
        )

    @property
    def text(self) -> str:
        return self.state.text

    @property
    def only_grammar(self) -> bool:
        """Whether the constraints are left aside; see `judged`."""
        return self._to_judge is not None

    def advance(self, text: str) -> Prefix:
        """The prefix with `text` appended; equal to feeding it in any pieces."""
        if text == "":
            return self  # with all that is known of it
        to_judge = self.__dict__.get("judged", self._to_judge) if self._to_judge else None
        state = self.state.advance(text)
        return Prefix(self.language, state, self._initial, self._known, to_judge)

    @cached_property
    def judged(self) -> Prefix:
        """This text under grammar and constraints; the prefix itself if it is that already."""
        if self._to_judge is None:
            return self
        return self._to_judge.advance(self.text[len(self._to_judge.text) :])

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """All readings that no contradiction rules out, first the one textX tries first."""
        return tuple(self._read(each) for each in self.state.expected() if self._viable(each))

    @cached_property
    def first_reading(self) -> Reading | None:
        """The first of the readings, found without the others."""
        found = next((each for each in self.state.expected() if self._viable(each)), None)
        return self._read(found) if found is not None else None

    @cached_property
    def alive(self) -> bool:
        """False only if it is proven that no text completes this prefix to a consistent model."""
        if not self.state.alive:
            return False
        if self.only_grammar and self.state.goes_on:
            return True
        if any(self._viable(expected) for expected in self.state.each_expected()) or self.complete:
            return True
        # Where the readings were too many to list, none of those left out is ruled out.
        return not self.state.exhaustive

    @property
    def parses(self) -> bool:
        """Whether the grammar lets the text end here, whatever else is against it."""
        return self.state.finish() is not None

    @cached_property
    def complete(self) -> bool:
        """Whether the text may end here: it follows the grammar and violates no constraint."""
        finished = self.finished
        if finished is None or finished.obligations:
            return False
        return self._to_judge is not None or self.language.allows(self.text)

    @cached_property
    def refusal(self) -> str | None:
        """Why the language's own code refuses a text that is `complete`; None if it does not."""
        found = None if self.only_grammar else self.language.refusal(self.text)
        return found.message if found is not None else None

    @cached_property
    def finished(self) -> Evaluation | None:
        """The model if the text ended here, None where it may not end."""
        trail = self.state.finish()
        if trail is None:
            return None
        constraints = self.language.constraints
        if constraints.schema.no_scopes is not None or constraints.rules:
            # Only behind the end of the text it is known what references mean that are linked
            # then, and what contradicts a rule that speaks of what there is not.
            return self._fold(trail).evaluation.close()
        # The root closes with the text. What is open then is known without closing it, and without
        # going through all that stays open until then.
        if isinstance(trail.event, Close) and trail.parent is not None:
            trail = trail.parent
        return self._fold(trail).evaluation

    @cached_property
    def obligations(self) -> int:
        """What would have to be added to lift all that is violated if the text ended here.

        Counted as the constraints count (`Violation.degree`), in the reading that owes least.
        """
        finished = self.finished
        models = [finished] if finished else [reading.evaluation for reading in self.readings]
        return min((sum(owed.degree for owed in model.obligations) for model in models), default=0)

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why the prefix is not alive; empty while it is."""
        if self.alive:
            return ()
        if not self.state.alive:
            return ("no text that goes on like this follows the grammar",)
        violations: dict[str, None] = {}
        for violation in self._contradictions():
            violations[violation.message] = None
        return tuple(violations) or ("no value that may stand here keeps the model consistent",)

    def expected(self) -> tuple[Expected, ...]:
        """The terminals that may stand here by the grammar; `readings` has those that may stay."""
        return self.state.expected()

    def ends_unit(self, since: int) -> bool:
        """Whether a syntactic unit has ended behind the first `since` characters, in any case.

        A unit is an object of one of the language's `units`, of any class where it names none.
        """
        trails = {expected.trail for expected in self.state.expected()}
        finished = self.state.finish()
        if finished is not None:
            trails.add(finished)
        units = self.language.units
        return bool(trails) and all(_has_unit(trail, since, units) for trail in trails)

    @cached_property
    def future(self) -> Hashable | None:
        """What decides how the text may go on: prefixes with equal ones have equal answers.

        None where that is not told: where code of the language's own looks at the whole text.
        """
        if self.only_grammar:
            return self.state.future(None)
        return None if self.language.links.has_own else self.state.future(self._content)

    def openings(self) -> Openings | None:
        """What the end of the prefix leaves open; None where that is not all there is to know."""
        return self._openings

    @cached_property
    def _openings(self) -> Openings | None:
        each = self.state.openings()
        return Openings(self, each, False) if each is not None else None

    def openings_behind(self) -> Openings | None:
        """As `openings`, if the terminals that are whole at the end of the prefix end there."""
        each = self.state.openings_behind()
        return Openings(self, each, True) if each is not None else None

    def values(self, expected: Expected) -> bool | tuple[str, ...]:
        """What the terminal at the end of the prefix may still be, as far as propagation tells.

        Returns:
            True: whatever the grammar allows; False: nothing; else the rests of the only names.
        """
        if expected.terminal.kind == "keyword" or expected.target is None:
            return self._viable(expected)
        known = self._fold(expected.trail)
        if known.contradictory:
            return False
        if expected.feature is None or self._viable_reference(expected, known, _ANY_NEW_NAME):
            return True
        if is_free(expected):
            return self._viable_name(expected, known)
        begun = expected.value_begun + expected.typed
        return tuple(
            name[len(begun) :]
            for name, _ in known.evaluation.model.candidates(expected.target)
            if name.startswith(begun) and self._viable_reference(expected, known, name)
        )

    def may_follow(self, char: str) -> bool:
        """False only if no text goes on with ``char``: a first look, by the grammar alone."""
        return self.state.may_follow(char)

    @property
    def in_comment(self) -> bool:
        return self.state.in_comment

    def joint(self, terminal: str) -> str:
        """The white space to write before `terminal` so that it is read as a terminal of its own.

        As the language's examples have it, where the grammar allows that; '' where none is needed.
        """
        if not self.in_comment:
            usual = self._layout.between(self._ending, terminal)
            skipped = self.state.skips(terminal) if usual else ""
            if usual and all(character in skipped for character in usual):
                return usual
            if stands_apart(self.state, terminal):
                return ""
        return joint(self.state, terminal).removesuffix(terminal)

    @cached_property
    def comment_end(self) -> str:
        """A short text that ends the comment the prefix ends in; '' if none is known or needed."""
        return (comment_end(self.state) if self.in_comment else None) or ""

    @cached_property
    def settled(self) -> Prefix:
        """The prefix with the terminal at its end read as finished, if white space can end it."""
        white = self.state.skips()
        if self.in_comment or not white:
            return self
        if not any(each.typed and self._viable(each) for each in self.state.expected()):
            return self
        return self.advance(" " if " " in white else white[0])

    def forced(self) -> str:
        """Text that must come next whatever the model says; '' where there is a choice.

        Only inside a terminal: before one, white space and comments are the writer's choice.
        """
        if self.in_comment:
            return ""
        rests: list[str] = []
        for expected in self.state.expected():
            if "" in rests:
                return ""  # there is a choice, whatever the other readings are
            if not self._viable(expected):
                continue
            if not expected.typed:
                return ""
            if expected.terminal.kind == "keyword":
                rests.append(expected.terminal.text[len(expected.typed) :])
                continue
            names = self.values(expected)
            if isinstance(names, bool):
                return ""
            rests += names
        return _common_prefix(rests) if rests and not self.complete else ""

    def usual(self) -> str:
        """What comes next if the text is laid out as the language's examples are; '' for a choice.

        Between terminals only. A space before a terminal that is not known is left to the writer:
        tokens of words begin with it.
        """
        if self.complete or self.in_comment or not self.readings:
            return ""
        texts = []
        for reading in self.readings:
            terminal = reading.expected.terminal
            text = terminal.text if terminal.kind == "keyword" else terminal.example()
            if reading.expected.typed or text is None:
                return ""
            if not self._layout.knows(self._ending, text):
                return ""
            texts.append(self.joint(text) + (text if terminal.kind == "keyword" else ""))
        return _common_prefix(texts).removesuffix(" ")

    def behind(self, trail: Trail) -> Evaluation:
        """The model with its constraints behind the events of a trail of this prefix."""
        return self._fold(trail).evaluation

    def allows_reference(self, reading: Reading, name: str) -> bool:
        """Whether the reference at the end of the prefix may be to `name`."""
        return self._viable_reference(reading.expected, self._fold(reading.expected.trail), name)

    def moves(self) -> tuple[Move, ...]:
        """The model-level steps possible here."""
        return moves(self)

    def nearest_moves(self, within: int | None = None) -> Iterator[Move]:
        """The moves behind which the grammar asks for least, one by one, up to `within`.

        What is a whole terminal already is made longer only where nothing else helps.
        """
        each = self.state.expected()
        whole = any(expected.whole and self._viable(expected) for expected in each)
        for expected in sorted(each, key=lambda e: (whole and bool(e.typed), e.remaining)):
            if (within is None or expected.remaining <= within) and self._viable(expected):
                yield from moves_of(self, self._read(expected))

    def completable(self, effort: Effort | None = None) -> Verdict:
        """Whether some text completes this prefix into a consistent model.

        Returns:
            "yes" with a witness that was checked, "no" with reasons that prove it, else "unknown".
        """
        if not self.alive:
            return Verdict("no", None, self.reasons)
        verdict, self._known = complete(self, effort or Effort(), self._known)
        return verdict

    @cached_property
    def _ending(self) -> Ending:
        return self._layout.end_of(self.text)

    @property
    def _layout(self) -> Layout:
        return layout_of(self.language)

    def _fold(self, trail: Trail) -> Fold:
        memo: Fold | None = trail.memo
        return memo if memo is not None else fold(trail, self._initial)

    def _content(self, trail: Trail) -> Content:
        return self._fold(trail).content

    def _read(self, expected: Expected) -> Reading:
        return Reading(expected, self._fold(expected.trail).evaluation)

    def _contradictions(self) -> Iterable[Violation]:
        for expected in self.state.expected():
            yield from self._fold(expected.trail).evaluation.contradictions

    def _viable(self, expected: Expected, ahead: int = _KEYWORDS_AHEAD) -> bool:
        """Whether the terminal at the end of the prefix can still take a value that fits.

        A value of several keywords may go on for ever; it is followed for ``ahead`` of them.
        """
        known = self._fold(expected.trail)
        if known.contradictory:
            return False
        if expected.feature is None:
            return True
        if expected.terminal.kind == "keyword":
            return ahead == 0 or self._viable_keyword(expected, ahead)
        if expected.target is not None:
            return self._viable_name(expected, known)
        return self._viable_identity(expected, known)

    def _viable_identity(self, expected: Expected, known: Fold) -> bool:
        """Whether what is read can become the name of an object that there may be."""
        if expected.cls is None or expected.feature is None:
            return True
        names = closed_names(known.evaluation.model, expected.cls, expected.feature)
        terminal, begun = expected.terminal, expected.value_begun + expected.typed
        if names is None:
            return self._viable_new_name(expected, known)
        if any(terminal.match(name, 0) != len(name) for name in names):
            return True  # it is not written as it is
        # What is read behind a whole name may turn out not to belong to it.
        readings = (begun, begun.casefold())
        return any(
            name.startswith(readings) or each.startswith(name)
            for name in names
            for each in readings
        )

    def _viable_new_name(self, expected: Expected, known: Fold) -> bool:
        """Whether an object may be there that gets any name here: a new one, or one with a role.

        Names that nothing waits for, that nothing has and no constraint speaks of are alike.
        """
        model = known.evaluation.model
        rule = model.schema.rules.get(expected.cls or "")
        if rule is None or rule.key or expected.feature != "name" or model.scopes is not None:
            return True
        spoken_of = named_by_constraints(self.language)
        if spoken_of is None or model.given_names(rule.name):
            return True
        if self._viable_name_of_new(expected, known, _ANY_NEW_NAME):
            return True
        begun = expected.value_begun + expected.typed
        there = (node.name for node in model.nodes.values() if node.name)
        waiting = (name for _, name in model.pending)
        return any(
            self._viable_name_of_new(expected, known, name)
            for name in {*spoken_of, *there, *waiting}
            if name.startswith(begun)
        )

    def _viable_name_of_new(self, expected: Expected, known: Fold, name: str) -> bool:
        assert expected.feature is not None
        at = expected.value_start
        assign = Assign(expected.feature, expected.many, name, expected.rule, at, at)
        return not known.then(assign).contradictory

    def _viable_keyword(self, expected: Expected, ahead: int) -> bool:
        # Of this reading alone: the others speak for themselves, and which of them there are hangs
        # on white space that may still come. So the answer is that of all texts that say the same.
        after = Prefix(self.language, self.state.alone(expected), self._initial)
        end = expected.start + len(expected.terminal.text)
        return (
            any(
                after._viable(behind, ahead - 1)
                if _same_value(expected, behind)
                else not after._fold(behind.trail).contradictory
                for behind in after.state.each_expected()
                if behind.start >= end
            )
            or not after.state.exhaustive
        )

    def _viable_name(self, expected: Expected, known: Fold) -> bool:
        assert expected.target is not None
        if self._viable_reference(expected, known, _ANY_NEW_NAME):
            return True
        return any(
            may_become(expected, name) and self._viable_reference(expected, known, name)
            for name, _ in known.evaluation.model.candidates(expected.target)
        )

    def _viable_reference(self, expected: Expected, known: Fold, name: str) -> bool:
        assert expected.feature is not None and expected.target is not None
        at = expected.value_start
        feature, many, target = expected.feature, expected.many, expected.target
        return not known.then(
            Refer(feature, many, target, name, expected.rule, at, at)
        ).contradictory


_NO_CONSTRAINTS = ConstraintSet.of(Theory(), None)


def _same_value(before: Expected, behind: Expected) -> bool:
    """Whether a terminal goes on with the value that the one before it is part of."""
    return (
        behind.feature == before.feature
        and behind.cls == before.cls
        and bool(behind.value_begun)
        and behind.trail.size == before.trail.size
    )


def _has_unit(trail: Trail, since: int, units: Container[str]) -> bool:
    """Whether an object of one of the classes ends in a trail behind the first characters."""
    ends: list[int] = []
    at: Trail | None = trail
    while at is not None and at.event is not None:
        event = at.event
        if isinstance(event, Close):
            ends.append(event.end)
        elif isinstance(event, Open) and ends:
            end = ends.pop()
            if end > since and (not units or event.cls in units):
                return True
        if not ends and not isinstance(event, Close | Open) and event.end <= since:
            return False
        at = at.parent
    return False


def _common_prefix(texts: list[str]) -> str:
    shortest = min(texts, key=len)
    for index, character in enumerate(shortest):
        if any(text[index] != character for text in texts):
            return shortest[:index]
    return shortest
