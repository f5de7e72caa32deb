"""What a follower makes of logs."""

from __future__ import annotations

from pathlib import Path

from condor_pydagman.adapters.local_time import logged_minute
from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.follower import Follower, Plan, unknown_plan
from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.follow.nodes_log import NodesLogEvent, log_events
from condor_pydagman.follow.run_model import NodeRun, Run
from condor_pydagman.follow.tally import Tally
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.records.dagman_out import OutKind, OutLine
from condor_pydagman.records.own_events import RecordRead, record_event
from tests import schemas
from tests.dag_logs import BEGIN, DagLogs

A = "JOB A a.sub\n"
_WHEN = "2026-11-21 11:56:29"


def plan_of(text: str) -> Plan:
    """A DAG of that text, as a run begins with it."""
    return Plan(build(["t.dag"], lambda _: iter(text.splitlines(keepends=True)), BuildOptions()))


def follower_of(text: str = "") -> Follower:
    """One that follows a DAG of that text; without one, a DAG that nobody has read."""
    return Follower(lambda: plan_of(text) if text else unknown_plan())


def line(
    what: OutKind, time: float = 1.0, node: str = "", number: int = 0, text: str = ""
) -> OutLine:
    return OutLine(what, time, node, number, text, 0)


def names(follower: Follower, *lines: OutLine) -> list[str]:
    """The names of what happens by these lines."""
    return [event.name for one in lines for event in follower.take(one)]


def take(follower: Follower, read: RecordRead, when: float) -> list[DagEvent]:
    """Take in a record of DAGMan's; returns what has happened."""
    action = AppendJournalRecord(read.record, 0, retry=read.retry, value=read.value, text=read.text)
    text = record_event(_WHEN, read.node, action)
    (event,) = log_events(b"\n" + text.encode(), 0, LocalTimes(lambda text, utc: BEGIN, 2026))
    return follower.take(event._replace(time=when))


class Bench(DagLogs):
    """Logs of a DAG, and what a follower makes of them."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.events: list[DagEvent] = []

    def follow(self, text: str = "", *, failures_allowed: int = 0) -> Run:
        """What the nodes log says of a DAG of that text; without one, of a DAG that nobody has
        read."""
        self.follower = follower_of(text)
        if failures_allowed:
            self.events += self.follower.take(line(OutKind.TOLERANCE, number=failures_allowed))
        for event in self.read():
            self.events += self.follower.take(event)
        schemas.check_events(self.events)
        assert self.follower.plan
        return self.follower.run

    def read(self) -> list[NodesLogEvent]:
        """The events of the nodes log."""
        times = LocalTimes(logged_minute, 2026)
        return list(log_events(self.log.read_bytes(), 0, times))

    def tally(self, text: str) -> Tally:
        """Numbers of the run of a DAG of that text."""
        return Tally(self.follow(text), self.follower.engine)

    def node(self, lines: str = "") -> NodeRun:
        """What it says of node A of a DAG that has these lines, too."""
        return self.follow(A + lines).nodes["A"]

    def told(self, name: str) -> list[DagEvent]:
        return [event for event in self.events if event.name == name]
