"""What is known of the FEEDER of a run: data and its bookkeeping, as in `run_records`."""

from __future__ import annotations

from condor_pydagman.engine.report import FeederReport
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.graph.model import Dag, Feeder, GrownPiece

FEEDER_FAILED = Kind("FEEDER that has failed")
FIRST_PAUSE_S = 10.0  # before the program is run again that has failed, or had nothing to add
MAX_PAUSE_S = 600.0  # after failures
MAX_EMPTY_PAUSE_S = 60.0  # after runs that had nothing to add


class Feeding:
    """The FEEDER of a run.  Written by its own methods alone.

    Attributes:
        feeder: as the DAG has it; None if it has none, or none that is to be run.
        fed: how many feedings are in force.
        nodes: how many nodes these have brought.
        ended: the program has said that there is no more.
        failed: why it is asked no more, '' if it is not so.
        asked: whether the program runs, or what it has written is being read.
        failures: how often it has failed since it last did well.
        again_at: when it may be run again, seconds since the epoch.
        last_error: why it has failed last, '' if it did well after that.
    """

    __slots__ = (
        *("again_at", "asked", "ended", "failed", "failures", "fed", "feeder"),
        *("last_error", "nodes", "_empty"),
    )

    def __init__(self, dag: Dag, *, active: bool) -> None:
        """`active`: the program is to be run, if there is one."""
        self.feeder: Feeder | None = dag.feeder if active else None
        self.fed = dag.let_go.fed
        self.nodes = dag.let_go.fed_nodes
        self.ended = dag.let_go.last
        self.failed = ""
        self.asked = False
        self.failures = 0
        self.again_at = 0.0
        self.last_error = ""
        self._empty = 0
        for piece in dag.pieces:
            self.take(piece)

    def __bool__(self) -> bool:
        """Whether there is a FEEDER that may add more: the DAG does not end before it has ended."""
        return self.feeder is not None and not (self.ended or self.failed or self.room == 0)

    @property
    def room(self) -> int | None:
        """How many nodes it may still add; None if there is no limit."""
        if self.feeder is None or not self.feeder.at_most:
            return None
        return max(0, self.feeder.at_most - self.nodes)

    def begin(self) -> None:
        """The program is being run."""
        self.asked = True

    def answered(self) -> None:
        """It has been run, and what it has written was read."""
        self.asked = False

    def did_well(self) -> None:
        """It gives something."""
        self.failures = 0
        self.last_error = ""

    def had_nothing(self, now: float) -> None:
        """It has nothing to add now: it is asked again, and each time after a longer pause."""
        self.did_well()
        self.again_at = now + min(FIRST_PAUSE_S * 2**self._empty, MAX_EMPTY_PAUSE_S)
        self._empty += 1

    def did_fail(self, error: str, now: float) -> None:
        """It has failed, and is run again after a pause."""
        self.failures += 1
        self.last_error = error
        self.again_at = now + min(FIRST_PAUSE_S * 2 ** (self.failures - 1), MAX_PAUSE_S)

    def fail(self, why: str) -> None:
        """The record has been read: it is asked no more."""
        self.failed = why

    def take(self, piece: GrownPiece) -> None:
        """A piece is in force; it may be one of the feeder."""
        if piece.feeding is None:
            return
        self.fed = max(self.fed, piece.feeding.number)
        self.nodes += piece.size
        self.ended = self.ended or piece.feeding.last
        if piece.size:
            self._empty = 0

    def report(self) -> FeederReport | None:
        """How it does; None if there is none."""
        if self.feeder is None:
            return None
        state = "runs" if self.asked else "waits"
        if self.ended or self.room == 0:
            state = "ended"
        elif self.failed:
            state = "failed"
        return FeederReport(state, self.fed, self.nodes, self.failed or self.last_error)
