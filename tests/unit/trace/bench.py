"""What a tracker makes of logs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.records.own_events import record_event
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.local_times import LocalTimes
from condor_pydagman.trace.node_tracker import NodeTracker
from condor_pydagman.trace.nodes_log_text import log_events
from condor_pydagman.trace.run_history import NodePlan, NodeRun, Run
from condor_pydagman.vocabulary import JournalRecord
from tests.dag_logs import BEGIN, DagLogs


class Bench(DagLogs):
    """Logs of a DAG, and what a tracker makes of them."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.events: list[DagEvent] = []

    def track(self, plans: Mapping[str, NodePlan] | None = None, run: Run | None = None) -> Run:
        run = run or Run()
        self.tracker = NodeTracker(run, plans, self.events.append)
        times = LocalTimes(lambda text, utc: BEGIN, 2026)
        for event in log_events(self.log.read_bytes(), 0, times):
            self.tracker.take(event)
        return run

    def node(self, **plan: object) -> NodeRun:
        return self.track({"A": NodePlan(**plan)}).nodes["A"]  # type: ignore[arg-type]

    def record(
        self, record: JournalRecord, value: int = 0, cluster: int = -1, text: str = "why"
    ) -> None:
        action = AppendJournalRecord(record, 0, retry=0, value=value, text=text, cluster=cluster)
        with open(self.log, "a") as file:
            file.write(record_event("2026-11-21 11:56:29", "A", action._replace(proc=0)))

    def told(self, name: str) -> list[DagEvent]:
        return [event for event in self.events if event.name == name]
