"""Jobs that are no node's own, and that carry several nodes: what their events tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.follow import event_facts
from condor_pydagman.follow.nodes_log import said
from condor_pydagman.follow.run_model import Attempt, Carrier, Hold, NodeRun, Run
from condor_pydagman.vocabulary import JOB_ENDS, EventKind, NodeStatus

_RUNS = (EventKind.EXECUTE, EventKind.JOB_UNSUSPENDED)
TAKEN = (EventKind.JOB_EVICTED, EventKind.SHADOW_EXCEPTION, EventKind.JOB_RECONNECT_FAILED)


def in_queue(run: Run) -> Iterator[Carrier]:
    """The carriers of a run whose job is in the queue."""
    return (one for one in run.carriers.values() if one.job.in_queue)


def with_jobs(run: Run, nodes: Iterable[NodeRun]) -> Iterator[NodeRun]:
    """Of these nodes, which are in the queue, those with jobs of their own; and the carriers in the
    queue, each in place of its nodes."""
    if not run.carriers:
        return iter(nodes)
    alone = (node for node in nodes if not is_carried(node))
    return chain(alone, in_queue(run))


def carrier_of(node: NodeRun) -> Carrier | None:
    """The carrier in which a node is in the queue; None of any other node."""
    if node.status is not NodeStatus.SUBMITTED or not node.attempts or node.attempts[-1].procs:
        return None
    return node.attempts[-1].carrier


def is_carried(node: NodeRun) -> bool:
    """Whether the node is in the queue in a carrier."""
    return carrier_of(node) is not None


def nodes_of(run: Run, name: str) -> tuple[str, ...]:
    """The nodes of a job by the name of a node that it has in the queue: those that are in it."""
    carrier = run.carriers.get(name)
    if carrier is None:
        return (name,)
    known = map(run.nodes.get, carrier.nodes)
    inside = [node.name for node in known if node is not None and carrier_of(node) is carrier]
    return (*inside, *unknown_nodes(run, carrier))


def unknown_nodes(run: Run, carrier: Carrier) -> list[str]:
    """Those of its nodes that are in it and of which the log tells nothing else: of a DAG that
    nobody has read."""
    inside = (name for name in carrier.nodes if run.carried.get(name) is carrier)
    return [name for name in inside if name not in run.nodes]


def slot_on(carrier: Carrier, machine: str) -> str:
    """The slot in which the job of a carrier has run on a machine last; the machine if none is
    known."""
    slots = [one for one in carrier.job.hosts if one.partition("@")[2] == machine]
    return slots[-1] if slots else machine


def take(carrier: Carrier, event: LogEvent) -> None:
    """An event of the job of a carrier."""
    job, kind = carrier.job, event.kind
    if kind == EventKind.SUBMIT:
        carrier.status, carrier.since = NodeStatus.SUBMITTED, event.time
        job.cluster, job.proc, job.procs = event.cluster, event.proc, 1
        job.submitted = event.time
    elif kind in JOB_ENDS:
        _end(job, event)
    elif kind in _RUNS:
        _set_running(job, 1, event.time)
        if kind == EventKind.EXECUTE:
            job.started = job.started or event.time
            job.hosts += (event_facts.host(said(event)),)
    elif kind == EventKind.JOB_HELD:
        _set_running(job, 0, event.time)
        why = event_facts.reason(said(event)), *event_facts.hold_codes(said(event))
        job.held = 1
        job.holds.append(Hold(event.time, *why, job.job))
    elif kind == EventKind.JOB_RELEASED:
        _release(job, event.time)
    elif kind in TAKEN or kind == EventKind.JOB_SUSPENDED:
        job.evictions += kind in TAKEN and bool(job.running)
        _set_running(job, 0, event.time)


def close(carrier: Carrier, time: float) -> None:
    """Nothing is in the carrier any more; perhaps the log does not show the end of its job."""
    job = carrier.job
    carrier.status, carrier.since = NodeStatus.DONE, time
    job.ended = job.ended or time
    job.running, job.ended_procs, job.over = 0, job.procs, True
    _release(job, job.ended)


def _end(job: Attempt, event: LogEvent) -> None:
    """Until what it has done is at home, what it carries is shown as it was."""
    job.ended, job.ended_procs = event.time, 1
    job.end_with(event.value)
    job.reason = event.text
    _release(job, event.time)
    if event.kind == EventKind.JOB_TERMINATED:
        job.usage = event_facts.usage(said(event))
        job.cpu_s = event_facts.cpu_s(said(event))


def _release(job: Attempt, time: float) -> None:
    job.held = 0
    if job.holds and not job.holds[-1].released:
        job.holds[-1] = job.holds[-1]._replace(released=time)


def _set_running(job: Attempt, running: int, time: float) -> None:
    if running != job.running and (running or job.started):
        job.note_pause(running, time)
    job.running = running
    if running:
        _release(job, time)
