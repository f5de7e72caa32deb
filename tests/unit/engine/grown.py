"""A DAG of text that runs to its end in one go, while pieces of text are added to it: for what must
not depend on whether a DAG is read whole or grows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import NOT_NEEDED, SKIPPED, State
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.growth.piece import PieceText, read_piece
from condor_pydagman.features.growth.run import PieceOffered
from condor_pydagman.features.publish.run import ReadResult, ResultRead
from condor_pydagman.features.run_if.run import (
    EvaluateConditions,
)
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.vocabulary import EventKind
from tests import make
from tests.features.cache.cached import Store
from tests.features.run_if.scenes import evaluated
from tests.pieces import Pieces
from tests.sim.invariants import validate
from tests.unit.graph.texts import build_text


class GrownRun:
    """A run of a DAG: its jobs end in the order of their nodes' names.

    Args:
        fails: names of nodes whose jobs end with exit code 1.
        numbers: what nodes publish as `n`, by name of the file.
        store: of nodes with a CACHE command.
        halted: nothing starts.

    Attributes:
        texts: of pieces, by digest.
        events: all that can be read in the nodes log.
        submitted: names of nodes, in that order.
        exit: how it has ended.
    """

    def __init__(
        self,
        text: str,
        *,
        fails: Collection[str] = (),
        numbers: Mapping[str, int] | None = None,
        store: Store | None = None,
        halted: bool = False,
    ) -> None:
        self._text = text
        self._fails = fails
        self._numbers = numbers or {}
        self._store = store or Store()
        self.texts: dict[str, PieceText] = {}
        self.dag = build_text(text)
        given = {"growth": Pieces(self.dag, self.texts)}
        self.engine = Engine(self.dag, make.QUIET, Throttles(), given=given, check=validate)
        self.events: list[LogEvent] = []
        self.submitted: list[str] = []
        self.exit: do.Exit | None = None
        self._queue: dict[str, int] = {}  # clusters of jobs that have not ended, by node's name
        self._now = 1000.0
        self._clusters = 0
        if halted:
            self._tell(inputs.Halt())
        self._tell(inputs.Begin(False))

    # What happens to it.

    def resume(self) -> None:
        """It is halted no more."""
        self._tell(inputs.Resume())

    def add(self, text: str) -> str:
        """Add a piece, as a person does; returns why that can't be done, '' if it could."""
        digest = f"{len(self.texts):032x}"
        given = PieceText("p", {"p": text}, BuildOptions())
        piece = at_once(
            read_piece(self.dag, given, self.engine.feature("growth").has_begun, digest)
        )
        self.texts[digest] = given
        self._tell(PieceOffered(len(self.texts), piece, "ann"))
        return self._answers.pop()

    @property
    def running(self) -> int:
        """How many jobs have not ended."""
        return len(self._queue)

    def end_one(self) -> bool:
        """The next job ends; whether there was any."""
        if not self._queue:
            return False
        name = min(self._queue)
        value = int(name in self._fails)
        self._tell(make.terminated(self._queue.pop(name), value=value))
        return True

    def finish(self) -> None:
        """Run it to its end."""
        for _ in range(1000):
            if not self.end_one():
                break
        assert self.exit is not None, self.outcomes()

    # What has become of it.

    def outcomes(self) -> dict[str, str]:
        """How each node has ended."""
        run, names = self.engine.run, self.dag.names
        found = {}
        for node, name in enumerate(names):
            state = State(run.nodes.states[node]).name
            if run.nodes.marks[node] & NOT_NEEDED:
                state = "NOT NEEDED"
            elif run.nodes.marks[node] & SKIPPED:
                state = "SKIPPED"
            found[name] = state
        return found

    def replayed(self) -> Engine:
        """The engine of another DAGMan, which has read the same log; the DAG is as its file gives
        it."""
        dag = build_text(self._text)
        given = {"growth": Pieces(dag, self.texts)}
        engine = Engine(dag, make.QUIET, Throttles(), given=given, check=validate)
        for one in (inputs.Begin(True), *self.events):
            engine.handle(one, self._now)
        return engine

    # The world.

    def _tell(self, *given: inputs.Input) -> None:
        todo = list(given)
        self._answers: list[str] = []
        while todo:
            one = todo.pop(0)
            if isinstance(one, LogEvent):
                one = one._replace(time=self._now)
                self.events.append(one)
            self._now += 0.01
            for action in self.engine.handle(one, self._now):
                todo += map(make.as_input, self._done(make.requested(action)))

    def _done(self, action: Any) -> Sequence[Any]:
        if isinstance(action, do.SubmitNode):
            self._clusters += 1
            name = self.dag.names[action.node]
            self.submitted.append(name)
            self._queue[name] = self._clusters
            taken = inputs.Submitted(action.node, self._clusters, 1)
            return [taken, make.submit(name, self._clusters)]
        if isinstance(action, EvaluateConditions):
            return [evaluated(action)]
        if isinstance(action, ReadResult):
            number = self._numbers.get(action.file)
            if number is None:
                return [ResultRead(action.node, action.retry, error="it is not there")]
            return [ResultRead(action.node, action.retry, [("n", str(number))])]
        cached = self._store.answers(self.dag, action)
        if cached:
            return cached
        if isinstance(action, do.RemoveJobs):
            gone = [name for name, one in self._queue.items() if one == action.cluster]
            for name in gone:
                del self._queue[name]
            return [make.of_job(EventKind.JOB_ABORTED, action.cluster) for _ in gone]
        if isinstance(action, do.WriteRescue):
            return [inputs.RescueWritten("")]
        if isinstance(action, do.Grown):
            self._answers.append(action.error)
        if isinstance(action, do.Exit):
            self.exit = action
        return make.appended(self.dag, action)
