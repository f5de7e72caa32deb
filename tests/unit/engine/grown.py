"""A DAG of text that runs to its end in one go, while pieces of text are added to it: for what must
not depend on whether a DAG is read whole or grows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.node_states import NOT_NEEDED, SKIPPED, State
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.growth.piece import PieceText, read_piece
from condor_pydagman.features.growth.run import PieceOffered
from condor_pydagman.features.publish.run import ReadResult, ResultRead
from condor_pydagman.features.run_if.run import EvaluateConditions
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.vocabulary import EventKind
from tests import make
from tests.features.cache.cached import Store
from tests.features.run_if.scenes import evaluated
from tests.pieces import Pieces
from tests.sim.invariants import validate
from tests.unit.graph.texts import build_text


class GrownRun(make.EngineHarness):
    """A run of a DAG: its jobs end in the order of their nodes' names.

    Args:
        fails: names of nodes whose jobs end with exit code 1.
        numbers: what nodes publish as `n`, by name of the file.
        store: of nodes with a CACHE command.
        halted: nothing starts.

    Attributes:
        texts: of pieces, by digest.
        submitted: names of nodes, in that order.
        running: clusters of jobs that have not ended, by node's name.
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
        self._fails = fails
        self._numbers = numbers or {}
        self._store = store or Store()
        self.texts: dict[str, PieceText] = {}
        dag = build_text(text)
        super().__init__(dag, make.QUIET, given={"growth": Pieces(dag, self.texts)})
        self._text = text
        self.submitted: list[str] = []
        self.running: dict[str, int] = {}
        if halted:
            self.tell(inputs.Halt())
        self.begin()
        self.settle()

    # What happens to it.

    def resume(self) -> None:
        """It is halted no more."""
        self.tell(inputs.Resume())
        self.settle()

    def add(self, text: str) -> str:
        """Add a piece, as a person does; returns why that can't be done, '' if it could."""
        digest = f"{len(self.texts):032x}"
        given = PieceText("p", {"p": text}, BuildOptions())
        piece = at_once(
            read_piece(self.dag, given, self.engine.feature("growth").has_begun, digest)
        )
        self.texts[digest] = given
        self.tell(PieceOffered(len(self.texts), piece, "ann"))
        self.settle()
        return self.ever(do.Grown)[-1].error

    def end_one(self) -> bool:
        """The next job ends; whether there was any."""
        if not self.running:
            return False
        name = min(self.running)
        value = int(name in self._fails)
        self.tell(make.terminated(self.running.pop(name), value=value))
        self.settle()
        return True

    def finish(self) -> None:
        """Run it to its end."""
        for _ in range(1000):
            if not self.end_one():
                break
        assert self.ever(do.Exit), self.outcomes()

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

    def replayed(self) -> None:
        """The tests compare what another DAGMan comes to."""

    def recovered(self) -> Engine:
        """The engine of another DAGMan, which has read the same log; the DAG is as its file gives
        it."""
        dag = build_text(self._text)
        given = {"growth": Pieces(dag, self.texts)}
        engine = Engine(dag, make.QUIET, Throttles(), given=given, check=validate)
        for one in (inputs.Begin(True), *self.log):
            engine.handle(one, self.now)
        return engine

    # The world.

    def answers(self, request: Any) -> list[Any]:
        """The schedd takes and removes jobs at once."""
        if isinstance(request, do.SubmitNode):
            name = self.dag.names[request.node]
            self.submitted.append(name)
            cluster = self.running[name] = len(self.submitted)
            return [inputs.Submitted(request.node, cluster, 1), make.submit(name, cluster)]
        if isinstance(request, do.RemoveJobs):
            gone = [name for name, one in self.running.items() if one == request.cluster]
            for name in gone:
                del self.running[name]
            return [make.of_job(EventKind.JOB_ABORTED, request.cluster) for _ in gone]
        if isinstance(request, EvaluateConditions):
            return [evaluated(request)]
        if isinstance(request, ReadResult):
            number = self._numbers.get(request.file)
            if number is None:
                return [ResultRead(request.node, request.retry, error="it is not there")]
            return [ResultRead(request.node, request.retry, [("n", str(number))])]
        return self._store.answers(self.dag, request)
