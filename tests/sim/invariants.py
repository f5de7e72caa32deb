"""Checks all invariants of the engine by recounting.  Tests do so after each input."""

from __future__ import annotations

from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.gated_nodes import GATE
from condor_pydagman.engine.jobs import ENDED as PROC_ENDED
from condor_pydagman.engine.jobs import HELD, IDLE
from condor_pydagman.engine.node_states import (
    ALONE,
    CLEANING,
    ENDED,
    State,
)
from condor_pydagman.engine.state import RunState

_ANY_PARENTS = frozenset((State.WAITING, State.DONE, State.FUTILE))  # parents may be in any state


def validate(run: RunState) -> None:
    """Raise AssertionError, with the numbers, if any invariant does not hold."""
    _counts(run)
    _procs(run)
    _ready(run)
    _parents(run)
    _futile(run)
    _turns(run)
    _throttles(run)
    _special(run)
    _grown(run)
    for validate_feature in run.hooks.validate:
        validate_feature()


def _counts(run: RunState) -> None:
    nodes = run.nodes
    recount, services = [0] * len(State), [0] * len(State)
    for node, state in enumerate(nodes.states):
        (services if node in nodes.services else recount)[state] += 1
    assert recount == nodes.counts, (recount, nodes.counts)
    assert services == nodes.service_counts, (services, nodes.service_counts)


def _procs(run: RunState) -> None:
    idle = held = 0
    for jobs in run.job_table.by_node.values():
        for flags in jobs.procs.values():
            assert not (flags & PROC_ENDED and flags & (IDLE | HELD)), flags
            assert flags & IDLE or not flags & HELD, flags
            idle += bool(flags & IDLE)
            held += bool(flags & HELD)
    assert (idle, held) == (run.job_table.idle, run.job_table.held), (idle, held)
    for cluster, node in run.job_table.by_cluster.items():
        assert run.job_table.by_node[node].cluster == cluster, (cluster, node)
    for cluster, procs in run.job_table.shared.items():
        for proc, node in procs.items():
            assert run.job_table.by_node[node].target == (cluster, proc), (cluster, proc, node)


def _ready(run: RunState) -> None:
    """Every READY node is queued or set aside, or is a feature's, and nothing else is."""
    aside = set(run.categories.waiting())
    for node in run.ready.tickets:
        assert run.nodes.states[node] == State.READY, run.nodes.move_history(node)
    for node in run.nodes.in_state(State.READY):
        queued = node in run.ready or node in aside or run.hooks.holds_back
        assert queued, run.nodes.move_history(node)


def _parents(run: RunState) -> None:
    """A node past WAITING has only DONE parents, unless a user marked it DONE; a weak one may have
    failed."""
    states = run.nodes.states
    for node, state in enumerate(states):
        if state in _ANY_PARENTS or run.nodes.marks[node] & CLEANING:
            continue
        if node in run.nodes.gated.parents:
            assert state == State.FAILED or node in run.nodes.gated.opened, node
            continue
        if node in run.nodes.errors and state == State.FAILED:
            continue  # a person may have cancelled it before its parents had ended
        for parent in run.dag.parents(node):
            if states[parent] == State.DONE:
                continue
            group = run.dag.group_of(parent)
            elsewhere = group not in (None, run.dag.group_of(node))
            if elsewhere and parent in run.retrying.extra_retries:
                continue  # it goes on with what its parent has done before it began anew
            weak = states[parent] == State.FAILED and run.dag.is_weak(parent, node)
            assert weak, run.nodes.move_history(node)


def _futile(run: RunState) -> None:
    """Of the nodes that have not begun, those are futile of which a parent failed or is futile."""
    nodes = run.nodes
    if nodes.stale or not (State.FAILED in nodes.states or State.FUTILE in nodes.states):
        return
    for node in nodes.in_state(State.WAITING, State.FUTILE):
        if node in nodes.gated.parents or nodes.marks[node] & CLEANING:
            continue
        lost = any(_is_lost(run, parent, node) for parent in run.dag.parents(node))
        assert lost == (nodes.states[node] == State.FUTILE), nodes.move_history(node)


def _is_lost(run: RunState, parent: int, node: int) -> bool:
    if run.nodes.states[parent] != State.FAILED:
        return run.nodes.states[parent] == State.FUTILE
    return not run.nodes.marks[parent] & ALONE and not run.dag.is_weak(parent, node)


def _turns(run: RunState) -> None:
    """Nodes that wait for the end of their parents wait for those that have not ended."""
    gated = run.nodes.gated
    for node, parents in gated.parents.items():
        unfinished = sum(run.nodes.states[parent] not in ENDED for parent in parents)
        assert unfinished == gated.unfinished[node], run.nodes.move_history(node)
        assert run.nodes.waiting[node] >= GATE, run.nodes.move_history(node)


def _throttles(run: RunState) -> None:
    counts, limits = run.nodes.counts, run.limits
    if run.limits_changed:
        return  # more may run than could start now
    if limits.pre:
        assert counts[State.PRE_RUN] <= limits.pre
    if limits.post:
        assert counts[State.POST_RUN] <= limits.post
    if limits.hold:
        assert run.scripts.hold.running <= limits.hold


def _special(run: RunState) -> None:
    """While the FINAL node runs nothing else is ready; before the go-ahead, nothing is begun."""
    states = run.nodes.states
    if run.phase is Phase.FINISHING and not run.final_waits:
        for node in run.nodes.in_state(State.READY, State.RETRY_WAIT):
            assert node == run.final, run.nodes.move_history(node)
    if not run.provisioner.ready and not run.recovering:
        for node, state in enumerate(states):
            free = node == run.provisioner.node or node in run.nodes.services
            free = free or node == run.final
            ended = state in (State.DONE, State.FAILED, State.FUTILE)  # by people's commands
            assert free or ended or state == State.WAITING, node
    for node in run.nodes.in_state(State.RETRY_WAIT):
        assert run.retrying.queue.due(node) is not None, run.nodes.move_history(node)


def _grown(run: RunState) -> None:
    """A DAG that has grown is as one that has always been so: the countdown of parents fits."""
    nodes, dag = run.nodes, run.dag
    assert len(nodes.states) == len(nodes.clusters) == len(dag), len(dag)
    assert len(nodes.waiting) == dag.vertex_count, dag.vertex_count
    if not dag.changes or dag.groups or run.nodes.stale:
        return
    left = dict.fromkeys(dag.vertices(), 0)
    for vertex in dag.vertices():
        for after in _unreleased(run, vertex):
            left[after] += 1
    for vertex, count in left.items():
        gate = GATE if vertex in nodes.gated.parents else 0
        assert nodes.waiting[vertex] == count + gate, (vertex, nodes.waiting[vertex], count)


def _unreleased(run: RunState, vertex: int) -> list[int]:
    """The successors that a vertex still keeps waiting."""
    after = run.dag.successors(vertex)
    if vertex < 0:
        return list(after) if run.nodes.waiting[vertex] else []
    state = run.nodes.states[vertex]
    if state == State.DONE:
        return []
    if state != State.FAILED or run.nodes.marks[vertex] & ALONE:
        return list(after)
    marks = run.dag.edges.weak_marks(vertex)
    return [one for one, weak in zip(after, marks) if not weak]
