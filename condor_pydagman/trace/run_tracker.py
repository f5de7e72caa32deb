"""Follows a run: entries of its two logs in, a `Run` kept up to date and events out.

The nodes log tells of jobs and nodes (`node_tracker`); `.dagman.out` of what is only there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from condor_pydagman import features
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.node_tracker import NodeTracker
from condor_pydagman.trace.nodes_log_text import NodesLogEvent
from condor_pydagman.trace.out_log_text import OutKind, OutLine
from condor_pydagman.trace.run_history import Halted, NodePlan, NodeRun, Run, Start
from condor_pydagman.vocabulary import DagStatus, NodeStatus

COUNTS = ("total", "done", "pre", "queued", "post", "ready", "unready", "failed", "futile")
# What follows from events of the nodes log, mostly of the same second.
_AFTER = (
    OutKind.RETRY,
    OutKind.NO_RETRY,
    OutKind.SKIPPED,
    OutKind.ABORT,
    OutKind.REMOVED,
    OutKind.RESCUE_TO,
    OutKind.END,
)
_LAST_OF_SECOND = 0.999999


def order(line: OutLine) -> float:
    """Where a line stands among events of the nodes log, which have milliseconds: a line of whole
    seconds behind those of its second, if it follows from one."""
    if line.time % 1 or not (line.what in _AFTER or line.text == "POST"):
        return line.time
    return line.time + _LAST_OF_SECOND


class RunTracker:
    """What happens in a run.

    Args:
        plans: what the DAG says of each node; None if that is not known.

    Attributes:
        run: is kept up to date; another one as soon as another run begins.
        wanted: whether events are told, see `hear`.
    """

    def __init__(self, plans: Mapping[str, NodePlan] | None = None) -> None:
        self.run = Run()
        self._plans = plans
        self._events: list[DagEvent] = []
        self._total = 0
        self.wanted = True
        self._begin()
        self._do: dict[OutKind, Callable[[OutLine], None]] = {
            OutKind.START: self._start,
            OutKind.VERSION: self._version,
            OutKind.NEW_RUN: self._new_run,
            OutKind.RECOVERY: self._recovery,
            OutKind.TOLERANCE: self._tolerance,
            OutKind.RESCUE_FROM: self._rescue_from,
            OutKind.RESCUE_READ: self._rescue_read,
            OutKind.RESCUE_TO: self._rescue_to,
            OutKind.SCRIPT_START: self._script_start,
            OutKind.SCRIPT_END: self._script_end,
            OutKind.SCRIPT_DEFERRED: self._script_deferred,
            OutKind.RETRY: self._retry,
            OutKind.NO_RETRY: self._no_retry,
            OutKind.SUBMIT_FAILURE: self._submit_failure,
            OutKind.SKIPPED: self._skipped,
            OutKind.NO_SITE_YET: self._of_feature,
            OutKind.HALT: self._halt,
            OutKind.HALT_REASON: self._halt_reason,
            OutKind.RESUME: self._resume,
            OutKind.LIMIT: self._limit,
            OutKind.STATUS: self._status,
            OutKind.TOTAL: self._count_total,
            OutKind.COUNTS: self._counts,
            OutKind.ABORT: self._abort,
            OutKind.REMOVED: self._removed,
            OutKind.END: self._end,
        }

    def hear(self, *, wanted: bool) -> None:
        """Whether events are wanted: to make them takes more time than all else."""
        self.wanted = wanted
        self._nodes.hear(self._events.append if wanted else None)

    def plan(self, plans: Mapping[str, NodePlan] | None) -> None:
        """What the DAG says of each node, from the next run on; of this one, if nothing of it has
        been taken in."""
        self._plans = plans
        if not self.run.last:
            self._begin()

    def take(self, entry: NodesLogEvent | OutLine) -> list[DagEvent]:
        """Take in the next entry of one of the logs; returns what has happened."""
        if isinstance(entry, NodesLogEvent):
            return self.take_job_event(entry)
        return self.take_out_line(entry)

    def take_job_event(self, event: NodesLogEvent) -> list[DagEvent]:
        """Take in the next event of the nodes log; returns what has happened."""
        self.run.begun = self.run.begun or event.time
        self._nodes.take(event)
        return self._taken()

    def take_out_line(self, line: OutLine) -> list[DagEvent]:
        """Take in the next line of `.dagman.out`; returns what has happened."""
        self.run.last = max(self.run.last, line.time)
        self._do[line.what](line)
        return self._taken()

    def _taken(self) -> list[DagEvent]:
        if not self._events:
            return []
        events = self._events[:]
        self._events.clear()
        return events

    def _tell(self, name: str, time: float, **data: Any) -> None:
        if self.wanted:
            self._events.append(DagEvent(name, time, data=data))

    def _begin(self) -> None:
        for name, plan in (self._plans or {}).items():
            status = NodeStatus.DONE if plan.done else NodeStatus.NOT_READY
            self.run.nodes[name] = NodeRun(name, status)
        say = self._events.append if self.wanted else None
        self._nodes = NodeTracker(self.run, self._plans, say)

    def _start(self, line: OutLine) -> None:
        self.run.starts.append(Start(line.time))
        self.run.ended, self.run.exit_code = 0.0, None
        self.run.rescued_from, self.run.rescue_read = 0, ""
        self.run.begun = self.run.begun or line.time
        self._tell("dag.start", line.time)

    def _version(self, line: OutLine) -> None:
        if self.run.starts:
            self.run.starts[-1] = self.run.starts[-1]._replace(version=line.text)

    def _new_run(self, line: OutLine) -> None:
        before, self.run = self.run, Run()
        self.run.starts = before.starts[-1:]
        self.run.begun = self.run.starts[0].time if self.run.starts else line.time
        self.run.last, self.run.limits = line.time, before.limits
        self.run.failures_allowed = before.failures_allowed
        self.run.rescued_from, self.run.rescue_read = before.rescued_from, before.rescue_read
        self._begin()

    def _recovery(self, line: OutLine) -> None:
        if self.run.starts:
            self.run.starts[-1] = self.run.starts[-1]._replace(recovering=True)

    def _tolerance(self, line: OutLine) -> None:
        self.run.failures_allowed = line.number

    def _rescue_from(self, line: OutLine) -> None:
        self.run.rescued_from = line.number

    def _rescue_read(self, line: OutLine) -> None:
        self.run.rescue_read = line.text

    def _rescue_to(self, line: OutLine) -> None:
        self.run.rescue_written = line.text
        self._tell("dag.rescue", line.time, file=line.text)

    def _script_start(self, line: OutLine) -> None:
        node = self._nodes.node(line.node)
        if line.text == "PRE":
            self._nodes.pre_started(node, line.time)
        elif line.text == "POST":
            self._nodes.post_started(node, line.time)
        else:
            self._nodes.tell("script.start", line.time, node, script=line.text)

    def _script_end(self, line: OutLine) -> None:
        node = self._nodes.node(line.node)
        if line.text == "PRE":
            self._nodes.pre_ended(node, line.number, line.time)
        elif line.text == "HOLD":  # the nodes log has the ends of POST scripts
            self._nodes.tell("script.end", line.time, node, script=line.text, value=line.number)

    def _script_deferred(self, line: OutLine) -> None:
        node = self._nodes.node(line.node)
        self._nodes.script_deferred(node, line.text, line.number, line.time)

    def _retry(self, line: OutLine) -> None:
        self._nodes.retried(self._nodes.node(line.node), line.number, line.time)

    def _no_retry(self, line: OutLine) -> None:
        self._nodes.given_up(self._nodes.node(line.node), line.time)

    def _submit_failure(self, line: OutLine) -> None:
        node = self._nodes.node(line.node)
        self._nodes.submit_failed(node, line.text, line.time)
        if not self._nodes.plan(node).has_post:  # DAGMan says no more of a node without RETRY
            self._nodes.given_up(node, line.time)

    def _skipped(self, line: OutLine) -> None:
        self._nodes.not_needed(self._nodes.node(line.node), line.text, line.time)

    def _of_feature(self, line: OutLine) -> None:
        for lines in features.told("trace", "LINES"):
            if line.what in lines:
                lines[line.what](self.run, line)

    def _halt(self, line: OutLine) -> None:
        if not self.run.halted:
            self.run.halts.append(Halted(line.time))
            self._tell("dag.halt", line.time)

    def _halt_reason(self, line: OutLine) -> None:
        if self.run.halted:
            self.run.halts[-1] = self.run.halts[-1]._replace(reason=line.text)

    def _resume(self, line: OutLine) -> None:
        if self.run.halted:
            self.run.halts[-1] = self.run.halts[-1]._replace(ended=line.time)
            self._tell("dag.resume", line.time)

    def _limit(self, line: OutLine) -> None:
        if self.run.limits.get(line.text) != line.number:
            self.run.limits[line.text] = line.number
            self._tell("dag.limits", line.time, **{line.text: line.number})

    def _status(self, line: OutLine) -> None:
        """All that the stock DAGMan writes of a halt by file."""
        self.run.dag_status = line.number
        if line.number == DagStatus.HALTED:
            self._halt(line)
        elif line.number in (DagStatus.OK, DagStatus.NODE_FAILED):
            self._resume(line)

    def _count_total(self, line: OutLine) -> None:
        self._total = line.number

    def _counts(self, line: OutLine) -> None:
        counts = (self._total, *map(int, line.text.split()))
        changed, self.run.counts = counts != self.run.counts, counts
        self.run.counts_time = line.time
        if changed:
            numbers = dict(zip(COUNTS, counts))
            self._tell("dag.status", line.time, status=self.run.dag_status, **numbers)

    def _abort(self, line: OutLine) -> None:
        self.run.aborted = line.text

    def _removed(self, line: OutLine) -> None:
        self.run.removed = True

    def _end(self, line: OutLine) -> None:
        self.run.ended, self.run.exit_code = line.time, line.number
        self._tell("dag.end", line.time, exit_code=line.number, status=self.run.dag_status)
