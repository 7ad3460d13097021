"""The evaluation of all constraints over a growing model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from language_server.constraints.constraint_set import ConstraintSet
from language_server.constraints.given import state_given
from language_server.constraints.lasting import lasting_violations
from language_server.constraints.query import View
from language_server.constraints.settling import Settled, settle
from language_server.constraints.state import State
from language_server.constraints.theory import Assertion
from language_server.constraints.violation import Violation, is_contradictory, violations
from language_server.partial_model import (
    Cell,
    Draft,
    ObjectId,
    PartialModel,
    Reading,
    Surroundings,
    Truth,
    finish,
    refine,
)
from language_server.syntax import Event, Parse

_Pending = tuple[tuple[Cell, ...], "_Pending | None"]


class Evaluation:
    """A partial model with the state of all constraints over it; a persistent value.

    The answers are brought up to date when they are asked for, from those of the nearest earlier
    evaluation that was asked, so that a sequence of events may be read in one go.
    """

    __slots__ = (
        "_base",
        "_contradictions",
        "_obligations",
        "_pending",
        "_settled",
        "constraints",
        "model",
    )

    def __init__(
        self,
        constraints: ConstraintSet,
        model: PartialModel,
        base: Settled,
        pending: _Pending | None,
    ) -> None:
        self.constraints = constraints
        self.model = model
        self._base = base
        self._pending = pending
        self._settled: Settled | None = None
        self._contradictions: tuple[Violation, ...] | None = None
        self._obligations: tuple[Violation, ...] | None = None

    @staticmethod
    def initial(
        constraints: ConstraintSet,
        given: tuple[Assertion, ...] = (),
        surroundings: Surroundings | None = None,
    ) -> Evaluation:
        """The evaluation of the empty text; see ``ConstraintSet.initial``."""
        draft = Draft.blank(constraints.schema, surroundings)
        base = Settled(draft.commit())
        state_given(draft, constraints, given)
        draft.touched.append(("start",))
        return Evaluation(constraints, draft.commit(), base, (tuple(draft.touched), None))

    def refine(self, event: Event) -> Evaluation:
        """The evaluation after one more parse event."""
        draft = Draft(self.model)
        refine(draft, event)
        return self.followed_by(draft)

    def refine_all(self, events: Iterable[Event]) -> Evaluation:
        """The evaluation after some more parse events."""
        draft = Draft(self.model)
        for event in events:
            refine(draft, event)
        return self.followed_by(draft)

    def shut(self, features: Mapping[ObjectId, frozenset[str]]) -> Evaluation:
        """The evaluation if text has no place for these features of some objects any more."""
        draft = Draft(self.model)
        for node, symbols in features.items():
            draft.shut(node, symbols)
        return self.followed_by(draft)

    def close(self) -> Evaluation:
        """The text ends here: what is not stated is false."""
        if self.model.closed:
            return self
        draft = Draft(self.model)
        finish(draft)
        return self.followed_by(draft)

    def followed_by(self, draft: Draft) -> Evaluation:
        """The evaluation of a draft that was begun from this one's model."""
        touched = tuple(draft.touched)
        if self._settled is not None:
            return Evaluation(self.constraints, draft.commit(), self._settled, (touched, None))
        return Evaluation(self.constraints, draft.commit(), self._base, (touched, self._pending))

    @property
    def contradictions(self) -> tuple[Violation, ...]:
        """What is violated in every completion; an empty tuple does not prove that there is one."""
        if self._contradictions is None:
            settled = self._up_to_date()
            if not self.model.closed and not is_contradictory(settled):
                self._contradictions = ()
                return ()
            found = violations(self.constraints, settled, certain_only=True)
            self._contradictions = tuple(v for v in found if v.severity == "error")
        return self._contradictions

    @property
    def obligations(self) -> tuple[Violation, ...]:
        """What would be violated if the text ended here."""
        return tuple(v for v in self._all() if v.severity == "error")

    @property
    def warnings(self) -> tuple[Violation, ...]:
        """Error predicates of a lower severity that hold as the text stands."""
        return tuple(v for v in self._all() if v.severity != "error")

    def lasting(self, reading: Reading) -> tuple[Violation, ...]:
        """What is violated in a closed text and would be however it went on.

        Args:
            reading: how the text was read.
        """
        reopened = reading.reopened(self.model)
        return lasting_violations(self.constraints, self._up_to_date(), reopened)

    def read(self, parse: Parse) -> tuple[Evaluation, Reading]:
        """The closed model of a whole text, begun from this one."""
        draft = Draft(self.model)
        reading = Reading.of(draft, parse)
        return self.followed_by(draft), reading

    def edited(self, reading: Reading, parse: Parse) -> tuple[Evaluation, Reading] | None:
        """The closed model of an edited text, made from this one by what the edit changes.

        Args:
            reading: how this model was read.
            parse: the text now.

        Returns:
            None where it has to be read anew. It has to where there are propagation rules: what may
            follow rests on everything that could be stated, which is not kept.
        """
        if self.constraints.rules:
            return None
        self._up_to_date()
        draft = Draft(self.model)
        edited = reading.edited(draft, parse)
        return None if edited is None else (self.followed_by(draft), edited)

    def truth(self, symbol: str, args: tuple[ObjectId, ...]) -> Truth:
        """The value of a class, reference or predicate for some objects.

        Args:
            symbol: name of a class or predicate, or symbol of a reference.
            args: as many objects as the symbol takes.
        """
        if symbol not in self.constraints.compiler.definitions and (
            self.model.closed or not self.constraints.rules
        ):
            return self.model.truth(symbol, args)
        if self.model.closed:
            holds = self._holds(symbol, args, "now")
            return Truth.of(holds, holds)
        return Truth.of(self._holds(symbol, args, "may"), self._holds(symbol, args, "must"))

    def _holds(self, symbol: str, args: tuple[ObjectId, ...], view: View) -> bool:
        compiler = self.constraints.compiler
        name = compiler.wrapped(compiler.refined(symbol, view))
        query = compiler.query(name, (True,) * len(args), view)
        if view == "may":
            return self._state().possible_row(query, args)
        return bool(self._state().rows(query, args))

    def rows(self, predicate: str) -> Iterator[tuple[ObjectId, ...]]:
        """The rows of a predicate as the text stands."""
        pattern = (False,) * len(self.constraints.compiler.parameters(predicate))
        query = self.constraints.compiler.query(predicate, pattern, "now")
        yield from self._state().rows(query, ())

    def _state(self) -> State:
        return self._up_to_date().state()

    def _all(self) -> tuple[Violation, ...]:
        if self._obligations is None:
            self._obligations = violations(self.constraints, self._up_to_date(), certain_only=False)
        return self._obligations

    def _up_to_date(self) -> Settled:
        if self._settled is None:
            batches = []
            pending = self._pending
            while pending is not None:
                touched, pending = pending
                batches.append(touched)
            cells = chain.from_iterable(reversed(batches))
            self._settled = settle(self.constraints, self._base, self.model, cells)
            self._pending = None
            self._base = self._settled
        return self._settled
