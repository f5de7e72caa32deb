"""What throttles count, and jobs that are held: by the facts for an explanation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from condor_pydagman.engine.rules import retry_delay_s
from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.follow.carriers import with_jobs
from condor_pydagman.follow.notices.facts import (
    HELD,
    Facts,
    Load,
    Nodes,
    QueuedJob,
    Throttled,
    queued,
)
from condor_pydagman.follow.notices.held_jobs import logged_holds
from condor_pydagman.follow.run_model import NodeRun
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import NodeKind, NodeStatus, ScriptKind

_TO_START = (NodeStatus.NOT_READY, NodeStatus.READY, NodeStatus.PRERUN)
_LEFT = (*_TO_START, NodeStatus.SUBMITTED, NodeStatus.POSTRUN)


def with_load(facts: Facts, state: GraphState | None) -> Facts:
    """With what notices need of the queue; without the edges of the DAG, `state` is None."""
    retrying, next_retry = _retrying(facts, state)
    return facts._replace(
        held=_held_jobs(facts),
        held_by="HoldReason in the queue" if facts.jobs is not None else facts.nodes_log,
        load=_load(facts, state) if facts.is_live else None,
        retrying=retrying,
        next_retry=next_retry,
        to_start=state is not None and _has_any(state, _TO_START, NodeKind.FINAL, NodeKind.SERVICE),
        all_ended=state is not None and not _has_any(state, _LEFT, NodeKind.SERVICE),
    )


def retry_delay_left(dag: Dag, node: int, run: NodeRun, now: float) -> float:
    """Seconds until a failed node is tried again, 0.0 if it waits for no delay."""
    retry = dag.retries.get(node)
    if retry is None or not retry.delay or not run.attempts or not run.attempts[-1].over:
        return 0.0
    delay = retry_delay_s(retry, run.attempts[-1].number + 1, dag.names[node])
    return max(run.since + delay - now, 0.0)


def _retrying(facts: Facts, state: GraphState | None) -> tuple[Nodes, float]:
    """Failed nodes that wait for their next attempt, and when the first begins."""
    if state is None:
        return Nodes(), 0.0
    waiting = []
    for node in state.of_status(NodeStatus.READY):
        run = state.run_of(node)
        left = retry_delay_left(state.dag, node, run, facts.now) if run is not None else 0.0
        if run is not None and left:
            waiting.append((left, run.name))
    waiting.sort()
    left = waiting[0][0] if waiting else 0.0
    return _nodes([name for _, name in waiting]), facts.now + left


def _has_any(state: GraphState, statuses: Sequence[NodeStatus], *apart: NodeKind) -> bool:
    """Whether any node is in one of these states, nodes of some kinds apart."""
    return any(state.dag.kinds[node] not in apart for node in state.of_status(*statuses))


def _held_jobs(facts: Facts) -> Sequence[QueuedJob]:
    """As the schedd says, or else as the nodes log has it."""
    if facts.jobs is not None:
        return [job for job in facts.jobs if job.status == HELD]
    return list(logged_holds(with_jobs(facts.run, facts.run.nodes.values())))


def _load(facts: Facts, state: GraphState | None) -> Load:
    nodes = [run for run in _in_state(facts, NodeStatus.SUBMITTED) if run.attempts]
    attempts = [run.attempts[-1] for run in with_jobs(facts.run, nodes)]
    ready = _ready(facts, state)
    return Load(
        queued(len(nodes), facts.taken.jobs if facts.taken else None, _nodes(ready)),
        Throttled(sum(attempt.idle for attempt in attempts), _nodes(ready)),
        _scripts(facts, ScriptKind.PRE, NodeStatus.PRERUN),
        _scripts(facts, ScriptKind.POST, NodeStatus.POSTRUN),
        dict(_categories(facts, state.dag, ready)) if state is not None else {},
    )


def _nodes(names: Sequence[str]) -> Nodes:
    return Nodes(len(names), names)


def _scripts(facts: Facts, kind: ScriptKind, status: NodeStatus) -> Throttled:
    found = _in_state(facts, status)
    waiting = [run.name for run in found if not script_started(run, kind)]
    return Throttled(len(found) - len(waiting), _nodes(waiting))


def _categories(facts: Facts, dag: Dag, ready: Sequence[str]) -> Iterator[tuple[str, Throttled]]:
    """Those with a MAXJOBS line."""
    submitted: Counter[str] = Counter()
    for run in _in_state(facts, NodeStatus.SUBMITTED):
        submitted[dag.category_of(run.name)] += 1
    for category in dag.category_limits:
        waiting = [name for name in ready if dag.category_of(name) == category]
        places = facts.taken.categories.get(category, 0) if facts.taken else None
        yield category, queued(submitted[category], places, _nodes(waiting))


def _ready(facts: Facts, state: GraphState | None) -> list[str]:
    """Nodes that could be submitted now; a node with a PRE script that has not run can't."""
    if state is None:
        return [run.name for run in _in_state(facts, NodeStatus.READY)]
    dag, found = state.dag, []
    for node in state.of_status(NodeStatus.READY):
        run = state.run_of(node)
        if dag.script(node, ScriptKind.PRE) is not None and _is_new(run):
            continue
        if run is None or not retry_delay_left(dag, node, run, facts.now):
            found.append(dag.names[node])
    return found


def _is_new(run: NodeRun | None) -> bool:
    """Whether no script of the next attempt has run."""
    return run is None or not run.attempts or run.attempts[-1].over


def script_started(run: NodeRun, kind: ScriptKind) -> float:
    """When the script of the last attempt started, if it runs; 0.0 otherwise."""
    attempt = run.attempts[-1] if run.attempts else None
    script = attempt and (attempt.pre if kind is ScriptKind.PRE else attempt.post)
    return script.started if script and script.value is None else 0.0


def _in_state(facts: Facts, status: NodeStatus) -> list[NodeRun]:
    return [run for run in facts.run.nodes.values() if run.status is status]
