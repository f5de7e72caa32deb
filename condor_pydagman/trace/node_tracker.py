"""What happens to nodes: entries of the nodes log in, their attempts and states out.

This knows what DAGMan makes of an event as far as the state of a node needs it: whether a script
follows, whether the node has failed, whether it may be tried again (manual: "DAG Execution").
What DAGMan alone decides (a retry that ONLY-IF forbids, say) it takes from DAGMan's own lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from condor_pydagman import features
from condor_pydagman.engine.decisions import failures_allowed
from condor_pydagman.records.own_events import parse_record
from condor_pydagman.records.placement_event import COMPLETED, FAILED, RESCHEDULED, parse_event
from condor_pydagman.trace import nodes_log_text as log_text
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.job_table import JobTable
from condor_pydagman.trace.node_placements import NodePlacements, event_fields
from condor_pydagman.trace.nodes_log_text import NodesLogEvent, job_id, noop_of
from condor_pydagman.trace.run_history import Attempt, Hold, NodePlan, NodeRun, Run, ScriptRun
from condor_pydagman.vocabulary import (
    RETURN_JOB_ABORTED,
    SHARED_CLUSTER,
    EventKind,
    JournalRecord,
    NodeStatus,
)

_NO_PLAN = NodePlan()
_PLACEMENT_EVENTS = {COMPLETED: "data.done", RESCHEDULED: "data.retry", FAILED: "data.fail"}


class NodeTracker:
    """What happens to nodes, by the nodes log.

    Args:
        run: is kept up to date.
        plans: what the DAG says of each node; None if that is not known: then a node that has
            failed counts as failed for good until it is tried again.
        say: takes each event; None if nobody wants them.
    """

    def __init__(
        self,
        run: Run,
        plans: Mapping[str, NodePlan] | None,
        say: Callable[[DagEvent], None] | None,
    ) -> None:
        self.run = run
        self.plans = plans if plans is not None else {}
        self._say = say
        self._jobs = JobTable()
        self._do: dict[int, Callable[[NodesLogEvent], None]] = {
            EventKind.SUBMIT: self._submit,
            EventKind.CLUSTER_SUBMIT: self._submit,
            EventKind.EXECUTE: self._execute,
            EventKind.JOB_EVICTED: self._evict,
            EventKind.SHADOW_EXCEPTION: self._evict,
            EventKind.JOB_RECONNECT_FAILED: self._evict,
            EventKind.JOB_TERMINATED: self._terminate,
            EventKind.JOB_ABORTED: self._abort,
            EventKind.JOB_HELD: self._hold,
            EventKind.JOB_RELEASED: self._release,
            EventKind.POST_SCRIPT_TERMINATED: self._post_ended,
            EventKind.PRESKIP: self._skip,
            EventKind.CLUSTER_REMOVE: self._cluster_removed,
            EventKind.GENERIC: self._record,
        }

    def hear(self, say: Callable[[DagEvent], None] | None) -> None:
        """From now on send events there, or nowhere."""
        self._say = say

    def take(self, event: NodesLogEvent) -> None:
        """Take in the next event of the nodes log."""
        if event.time > self.run.last:
            self.run.last = event.time
        do = self._do.get(event.kind)
        if do is not None:
            do(event)

    def node(self, name: str) -> NodeRun:
        """The node of that name, which may be new."""
        node = self.run.nodes.get(name)
        if node is None:
            node = self.run.nodes[name] = NodeRun(name)
        return node

    def plan(self, node: NodeRun) -> NodePlan:
        """What the DAG says of a node."""
        return self.plans.get(node.name, _NO_PLAN)

    def current(self, node: NodeRun) -> Attempt:
        """The attempt that goes on, or a new one."""
        if not node.attempts or node.attempts[-1].over:
            node.attempts.append(Attempt(len(node.attempts)))
            node.no_retry = False
            if self.run.of:
                node.attempts[-1].site = self._site_of(node)
        return node.attempts[-1]

    def _site_of(self, node: NodeRun) -> str:
        plan = self.plan(node)
        found = (where(self.run, plan) for where in features.told("trace", "site_of"))
        return next(filter(None, found), "")

    def _last(self, node: NodeRun) -> Attempt:
        """The newest attempt, even if it is over."""
        return node.attempts[-1] if node.attempts else self.current(node)

    def tell(self, name: str, time: float, node: NodeRun, job: str = "", **data: Any) -> None:
        """Send an event about a node's newest attempt."""
        if self._say is None:
            return
        self._say(DagEvent(name, time, node.name, max(len(node.attempts) - 1, 0), job, data))

    def say(self, event: DagEvent) -> None:
        """Send an event of the whole DAG."""
        if self._say is not None:
            self._say(event)

    def set_status(self, node: NodeRun, status: NodeStatus, time: float, **data: Any) -> None:
        """The node comes into a state."""
        if node.status is status:
            return
        was, node.status, node.since = node.status, status, time
        node.why = str(data.get("reason", ""))
        self.tell("node.state", time, node, status=status.name, was=was.name, **data)

    def pre_started(self, node: NodeRun, time: float) -> None:
        """Its PRE script has started; its end may have been told before."""
        last = node.attempts[-1] if node.attempts else None
        if last is not None and last.pre is not None and not last.pre.started:
            last.pre.started = min(time, last.pre.ended)
            self.tell("script.start", time, node, script="PRE")
            return
        attempt = self._last(node) if node.skipped else self.current(node)
        attempt.pre = ScriptRun(time)
        self.tell("script.start", time, node, script="PRE")
        if not (attempt.procs or node.skipped):
            self.set_status(node, NodeStatus.PRERUN, time)

    def pre_ended(self, node: NodeRun, value: int, time: float) -> None:
        """Its PRE script has ended, as one of the two logs says; the other one may say it again."""
        attempt = self._last(node)
        pre = attempt.pre
        if pre is not None and pre.value is not None:
            return
        if pre is None:
            if attempt.over:
                return
            pre = attempt.pre = ScriptRun()
        pre.ended, pre.value = time, value
        self.tell("script.end", time, node, script="PRE", value=value)
        if attempt.procs or node.skipped:
            return
        if value and value == self.plan(node).pre_skip:
            return  # the nodes log says that it is skipped
        if value:
            self.failed(node, time, value, "PRE script")
        else:
            self.set_status(node, NodeStatus.READY, time)

    def post_started(self, node: NodeRun, time: float) -> None:
        """Its POST script has started."""
        attempt = self._last(node)
        post = attempt.post = attempt.post or ScriptRun()
        if post.started:
            return
        post.started = max(min(time, post.ended or time), attempt.ended)
        self.tell("script.start", post.started, node, script="POST")
        if post.value is None:
            attempt.over = False
            self.set_status(node, NodeStatus.POSTRUN, time)

    def script_deferred(self, node: NodeRun, kind: str, value: int, time: float) -> None:
        """A PRE or POST script has ended, and is run again later (SCRIPT DEFER)."""
        attempt = self._last(node)
        self.tell("script.end", time, node, script=kind, value=value, deferred=True)
        if kind == "POST":
            attempt.post = None
        else:
            attempt.pre = None
            self.set_status(node, NodeStatus.READY, time)

    def submit_failed(self, node: NodeRun, why: str, time: float) -> None:
        """Its jobs could not be submitted; both logs may say so."""
        attempt = self._last(node)
        if attempt.reason == why or attempt.procs:
            return
        attempt.reason = why
        self.tell("node.submit_failed", time, node, reason=why)

    def given_up(self, node: NodeRun, time: float) -> None:
        """DAGMan will not try it again."""
        node.no_retry = True
        attempt = self._last(node)
        if attempt.reason and not attempt.procs:
            self.failed(node, time, None, attempt.reason)
        elif attempt.over and node.status is NodeStatus.READY:
            self.set_status(node, NodeStatus.ERROR, time, value=attempt.value)

    def not_needed(self, node: NodeRun, why: str, time: float) -> None:
        """It is skipped: by its RUN_IF, or with all its parents; or an ENOUGH does not need it."""
        node.skipped = True
        self.set_status(node, NodeStatus.DONE, time, skipped=True, reason=why)

    def retried(self, node: NodeRun, number: int, time: float) -> None:
        """DAGMan tries it again; the nodes log may have shown that before."""
        if number <= node.retries_told:
            return
        node.retries_told = number
        self.tell("node.retry", time, node, retry=number)
        attempt = node.attempts[-1] if node.attempts else None
        if attempt is not None and attempt.over and attempt.number < number:
            self.set_status(node, NodeStatus.READY, time)

    def _submit(self, event: NodesLogEvent) -> None:
        name = log_text.node_name(event.text)
        if not name:
            return
        node = self.node(name)
        attempt = self.current(node)
        if attempt.cluster and (attempt.cluster, attempt.noop) != (
            event.cluster,
            noop_of(event),
        ):
            attempt.over = True
            attempt = self.current(node)
        shared = f"    {SHARED_CLUSTER}" in event.text
        self._begin_jobs(node, attempt, event, shared=shared)
        if event.kind == EventKind.CLUSTER_SUBMIT:
            attempt.factory = True
            return
        attempt.procs += 1
        self.tell("job.submit", event.time, node, job_id(event))
        self.set_status(node, NodeStatus.SUBMITTED, event.time)

    def _begin_jobs(
        self, node: NodeRun, attempt: Attempt, event: NodesLogEvent, *, shared: bool
    ) -> None:
        if not attempt.submitted:
            attempt.cluster, attempt.proc, attempt.noop = (
                event.cluster,
                event.proc,
                noop_of(event),
            )
            attempt.submitted = event.time
            attempt.reason = ""
        self._jobs.add(event, node, attempt, shared=shared)

    def _execute(self, event: NodesLogEvent) -> None:
        found = self._jobs.find(event)
        if found is None:
            return
        node, attempt = found
        host = log_text.host(event.text)
        attempt.hosts += (host,)
        attempt.started = attempt.started or event.time
        self._jobs.set_running(event, attempt)
        self.tell("job.execute", event.time, node, job_id(event), host=host)

    def _evict(self, event: NodesLogEvent) -> None:
        found = self._jobs.find(event)
        if found is None or not self._jobs.set_idle(event, found[1]):
            return
        found[1].evictions += 1
        why = log_text.eviction_reason(event.text)
        self.tell("job.evict", event.time, found[0], job_id(event), reason=why)

    def _terminate(self, event: NodesLogEvent) -> None:
        found = self._jobs.find(event)
        if found is None:
            return
        node, attempt = found
        value = log_text.end_value(event.text)
        usage = log_text.usage(event.text)
        attempt.cpu_s += log_text.cpu_s(event.text)
        sent, received = log_text.transferred(event.text)
        attempt.bytes_sent += sent
        attempt.bytes_received += received
        attempt.usage = log_text.larger(attempt.usage, usage)
        data: dict[str, Any] = {"value": value}
        if usage and self._say is not None:
            data["usage"] = {name: row._asdict() for name, row in usage.items()}
        self.tell("job.terminate", event.time, node, job_id(event), **data)
        self._proc_ended(event, node, attempt, 0 if value is None else value)

    def _abort(self, event: NodesLogEvent) -> None:
        found = self._jobs.find(event)
        if found is None:
            return
        node, attempt = found
        why = log_text.reason(event.text)
        attempt.reason = attempt.reason or why
        self.tell("job.abort", event.time, node, job_id(event), reason=why)
        self._proc_ended(event, node, attempt, RETURN_JOB_ABORTED)

    def _hold(self, event: NodesLogEvent) -> None:
        found = self._jobs.find(event)
        if found is None:
            return
        node, attempt = found
        code, subcode = log_text.hold_codes(event.text)
        hold = Hold(event.time, log_text.reason(event.text), code, subcode, job_id(event))
        attempt.holds.append(hold)
        self._jobs.set_held(event, attempt)
        data = {"reason": hold.reason, "code": code, "subcode": subcode}
        self.tell("job.hold", event.time, node, hold.job, **data)

    def _release(self, event: NodesLogEvent) -> None:
        found = self._jobs.find(event)
        if found is None or not self._jobs.set_released(event, found[1]):
            return
        why = log_text.reason(event.text)
        self.tell("job.release", event.time, found[0], job_id(event), reason=why)

    def _proc_ended(
        self, event: NodesLogEvent, node: NodeRun, attempt: Attempt, value: int
    ) -> None:
        if not self._jobs.end(event, attempt):
            return
        attempt.ended_procs += 1
        attempt.ended = event.time
        if value:
            attempt.failed_procs += 1
            allowed = self.run.failures_allowed
            allowed = failures_allowed(self.plan(node).tolerance, attempt.procs, allowed)
            attempt.failed |= attempt.failed_procs > allowed
        if attempt.value is None or (value and not attempt.value):
            attempt.value = value
        self._end_of_jobs(node, attempt, event.time)

    def _cluster_removed(self, event: NodesLogEvent) -> None:
        found = self._jobs.find(event)
        if found is not None and found[1].factory:
            found[1].factory = False
            found[1].failed |= "Complete" not in event.text
            if found[1].value is None:
                found[1].value = RETURN_JOB_ABORTED if found[1].failed else 0
            self._end_of_jobs(*found, event.time)

    def _end_of_jobs(self, node: NodeRun, attempt: Attempt, time: float) -> None:
        if attempt.in_queue or attempt.factory or attempt.over:
            return
        plan = self.plan(node)
        if plan.has_post:
            self.set_status(node, NodeStatus.POSTRUN, time)
        elif attempt.failed or node.is_cancelled:
            self.failed(node, time, attempt.value, attempt.reason)
        else:
            self._done(node, time)

    def _post_ended(self, event: NodesLogEvent) -> None:
        node = self.node(log_text.node_name(event.text))
        attempt = self._last(node)
        post = attempt.post = attempt.post or ScriptRun()
        value = log_text.end_value(event.text) or 0
        if post.value is not None:
            return
        post.ended, post.value = event.time, value
        self.tell("script.end", event.time, node, script="POST", value=value)
        if value:
            self.failed(node, event.time, value, "POST script")
        elif node.is_cancelled:
            self.failed(node, event.time, attempt.value, attempt.reason)
        else:
            self._done(node, event.time)

    def _skip(self, event: NodesLogEvent) -> None:
        node = self.node(log_text.node_name(event.text))
        node.skipped = True
        self._last(node)
        self._done(node, event.time, skipped=True)

    def _record(self, event: NodesLogEvent) -> None:
        """One of our DAGMan's own records; a job can't write one (`records.own_events`)."""
        if event.cluster >= 0:
            return
        read = parse_record(event.text)
        if read is None:
            self._placement(event)
            return
        node = self.node(read.node) if read.node else None
        for feature in features.traced(read.record.name):
            feature.RECORDS[read.record](self, node, read, event.time)
        if node is None:
            return
        if read.record is JournalRecord.PRE_ENDED:
            self.pre_ended(node, read.value, event.time)
        elif read.record is JournalRecord.SUBMIT_FAILED:
            self.submit_failed(node, read.text, event.time)
            self.failed(node, event.time, None, read.text)
        elif read.record in (JournalRecord.JOB_LOST, JournalRecord.JOB_ENDED):
            lost = read.record is JournalRecord.JOB_LOST
            job = event._replace(cluster=read.cluster, proc=read.proc)
            found = self._jobs.find(job)
            if found is not None:
                value = RETURN_JOB_ABORTED if lost else read.value
                self.tell("job.abort" if lost else "job.terminate", event.time, node, job_id(job))
                self._proc_ended(job, *found, value)

    def _placement(self, event: NodesLogEvent) -> None:
        """A note of a DATA node's worker."""
        noted = parse_event(event.text)
        if noted is None:
            return
        node = self.node(noted.node)
        self.run.placements.setdefault(node.name, NodePlacements()).add(noted, event.time)
        name, job = _PLACEMENT_EVENTS.get(noted.state), f"{noted.cluster}.{noted.proc}"
        if name is not None and self._say is not None:
            self.tell(name, event.time, node, job, **event_fields(noted))

    def _done(self, node: NodeRun, time: float, **data: Any) -> None:
        node.attempts[-1].over = True
        self.set_status(node, NodeStatus.DONE, time, **data)

    def failed(self, node: NodeRun, time: float, value: int | None, why: str) -> None:
        """The attempt has failed; the POST script of a failed job comes before this."""
        attempt = self._last(node)
        attempt.over = True
        plan = self.plan(node)
        if self.run.of or attempt.reason:
            for before in features.told("trace", "before_failed"):
                if before(self, node, attempt, time):
                    return None
        limit = plan.retries if node.retries is None else node.retries
        is_last = node.no_retry or _ends_retries(plan, value)
        if attempt.number < node.anew_from + limit and not is_last:
            return self.retried(node, attempt.number + 1, time)
        data = {"value": value, "reason": why or None}
        told = {name: known for name, known in data.items() if known is not None}
        self.set_status(node, NodeStatus.ERROR, time, **told)


def _ends_retries(plan: NodePlan, value: int | None) -> bool:
    """Whether no other attempt follows one that failed with this value, however many are left."""
    if value is not None and value in (*plan.unless_exit, plan.abort_on):
        return True
    return bool(plan.only_if) and value not in plan.only_if
