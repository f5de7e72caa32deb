"""An engine whose DAG grows, and one with a FEEDER, for tests of growth."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.feeder.commands import Feeder, FeederOfDag
from condor_pydagman.features.feeder.report import FeederReport
from condor_pydagman.features.feeder.run import Fed, RunFeeder
from condor_pydagman.features.growth.commands import Feeding, Piece
from condor_pydagman.features.growth.piece import PieceText, read_piece
from condor_pydagman.features.growth.run import PieceRead
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.stepwise import at_once
from tests import make
from tests.sim.invariants import validate


class Growing:
    """An engine, and what it has asked for."""

    def __init__(self, dag: Dag, *, pieces: dict[str, Piece] | None = None, **how: object) -> None:
        self.dag = dag
        self.pieces = {} if pieces is None else pieces
        self.engine = Engine(
            dag,
            Config(**how),
            Throttles(),
            given={"growth": self.pieces},
            check=validate,
        )
        self.asked: list[Any] = []
        self.now = 1000.0
        self.clusters = 0

    def feed(self, *given: Any) -> list[do.Action]:
        found: list[do.Action] = []
        for one in map(make.as_input, given):
            self.now += 1.0
            found += self.engine.handle(one, self.now)
        self.asked += map(make.requested, found)
        return found

    def begin(self, *, recovering: bool = False) -> Growing:
        self.feed(inputs.Begin(recovering))
        return self

    def state(self, name: str) -> str:
        return State(self.engine.run.nodes.states[self.dag.ids[name]]).name

    def run(self, name: str, code: int = 0) -> None:
        """The node's job is submitted, and ends."""
        self.clusters += 1
        node, cluster = self.dag.ids[name], self.clusters
        if not self.engine.run.recovering:
            self.feed(inputs.Submitted(node, cluster, 1))
        for event in (make.submit(name, cluster), make.terminated(cluster, value=code)):
            self.feed(event)

    def read_back(self, record: do.AppendJournalRecord) -> list[do.Action]:
        return self.feed(*make.appended(self.dag, record))

    def records(self, kind: str) -> list[do.AppendJournalRecord]:
        found = [one for one in self.asked if isinstance(one, do.AppendJournalRecord)]
        return [one for one in found if one.record == kind]

    def take(self, piece: Piece) -> do.AppendJournalRecord:
        """A node's piece comes, and is in force."""
        self.pieces[piece.digest] = piece
        self.feed(PieceRead(self.dag.ids[piece.node], piece))
        record = self.records("GROWN")[-1]
        self.read_back(record)
        return record


def feeder(**how: object) -> Feeder:
    return Feeder(0, 1, 0, 60, 2, "feed")._replace(**how)


class FedDag(Growing):
    """An engine with a FEEDER."""

    def __init__(
        self,
        text: str = "",
        *,
        begin: bool = True,
        limits: Mapping[str, int] = MappingProxyType({}),
        **how: object,
    ) -> None:
        dag = make.dag(text) if text else Dag(["t.dag"])
        if not text:
            dag.finish()
        FeederOfDag.put(dag).feeder = feeder(**how)
        super().__init__(dag, **limits)
        if begin:
            self.begin()

    def runs(self) -> list[int]:
        """Numbers of the feedings that have been asked for."""
        return [one.number for one in self.asked if isinstance(one, RunFeeder)]

    def piece(self, text: str, *, last: bool = False, number: int = 0) -> Piece:
        number = number or self.runs()[-1]
        given = PieceText("f", {"f": text}, BuildOptions(), feeding=Feeding(number, last))
        return at_once(read_piece(self.dag, given, digest=f"d{number}"))

    def give(self, text: str, *, last: bool = False) -> do.AppendJournalRecord:
        """The program writes this; it is in force."""
        piece = self.piece(text, last=last)
        self.pieces[piece.digest] = piece
        self.feed(Fed(self.runs()[-1], piece))
        record = self.records("GROWN")[-1]
        self.read_back(record)
        return record

    def fails(self, error: str = "it is broken") -> None:
        self.feed(Fed(self.runs()[-1], error=error))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.feed(inputs.Wake())

    def exit_code(self) -> int | None:
        exits = [one for one in self.asked if isinstance(one, do.Exit)]
        return exits[0].code if exits else None

    def end(self) -> None:
        """The rescue file is written."""
        assert isinstance(self.asked[-1], do.WriteRescue)
        self.feed(inputs.RescueWritten())

    @property
    def report(self) -> FeederReport | None:
        report: FeederReport | None = self.engine.run.features["feeder"].report()
        return report
