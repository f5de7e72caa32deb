"""Throttles that are full: how many nodes wait because of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from condor_pydagman.diagnosis.explanation import Evidence, Finding, Weight
from condor_pydagman.diagnosis.graph_state import GraphState
from condor_pydagman.diagnosis.known_facts import Facts
from condor_pydagman.diagnosis.phrases import nodes_named
from condor_pydagman.engine.decisions import retry_delay_s
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import does, message, number_of
from condor_pydagman.trace.run_history import Attempt, NodeRun
from condor_pydagman.vocabulary import NodeStatus, ScriptKind


class Throttle(NamedTuple):
    """A throttle of the whole DAG.

    Attributes:
        attribute: its name in DAGMan's job ad.
        option: of condor_submit_dag.
        counted: what it limits, for a sentence.
    """

    attribute: str
    option: str
    counted: str


_JOBS = Throttle("DAGMan_MaxJobs", "-MaxJobs", "node{s} with jobs in the queue")
_IDLE = Throttle("DAGMan_MaxIdle", "-MaxIdle", "job{s} idle")
_PRE = Throttle("DAGMan_MaxPreScripts", "-MaxPre", "PRE script{s} running")
_POST = Throttle("DAGMan_MaxPostScripts", "-MaxPost", "POST script{s} running")


def idle_jobs(attempt: Attempt) -> int:
    """How many of its jobs are in the queue and neither run nor are held."""
    return max(attempt.procs - attempt.ended_procs - attempt.running - attempt.held, 0)


def limit_of(throttle: Throttle, facts: Facts) -> int:
    """Its value now, 0 for none."""
    value = facts.ad.get(throttle.attribute, facts.run.limits.get(throttle.attribute, 0))
    return value if isinstance(value, int) else 0


def throttle_findings(facts: Facts, state: GraphState | None) -> list[Finding]:
    """A finding for each throttle that keeps nodes from going on."""
    if not facts.is_live or facts.run.halted:
        return []
    return [*_of_scripts(facts), *_of_nodes(facts, state)]


def _of_nodes(facts: Facts, state: GraphState | None) -> Iterator[Finding]:
    ready = _ready(facts, state)
    if not ready:
        return
    attempts = [run.attempts[-1] for run in _in_state(facts, NodeStatus.SUBMITTED) if run.attempts]
    yield from _full(_JOBS, len(attempts), ready, facts)
    yield from _full(_IDLE, sum(map(idle_jobs, attempts)), ready, facts)
    if state is not None:
        yield from _of_categories(facts, state.dag, ready)


def _of_scripts(facts: Facts) -> Iterator[Finding]:
    for throttle, kind, status in (
        (_PRE, ScriptKind.PRE, NodeStatus.PRERUN),
        (_POST, ScriptKind.POST, NodeStatus.POSTRUN),
    ):
        found = _in_state(facts, status)
        waiting = [run.name for run in found if not _runs(run, kind)]
        yield from _full(throttle, len(found) - len(waiting), waiting, facts)


def _full(throttle: Throttle, number: int, waiting: list[str], facts: Facts) -> Iterator[Finding]:
    limit = limit_of(throttle, facts)
    if not limit or number < limit or not waiting:
        return
    counted = throttle.counted.format(s="" if number == 1 else "s")
    sentence = (
        f"{throttle.option[1:]} is reached: {number:,} {counted}, the limit is {limit};"
        f" {nodes_named(waiting)} {does(len(waiting), 'be')} waiting because of that."
    )
    place = facts.limit_places.get(throttle.attribute, "")
    evidence = Evidence(place or f"{throttle.attribute} of DAGMan's job", str(limit))
    advice = f"To set another limit, submit with: condor_submit_dag {throttle.option} N"
    if facts.cluster:
        advice = f"To change the limit now: condor_qedit {facts.cluster} {throttle.attribute} N"
    yield Finding("throttle.full", Weight.WAITING, sentence, tuple(waiting), (evidence,), (advice,))


def _of_categories(facts: Facts, dag: Dag, ready: list[str]) -> Iterator[Finding]:
    """Categories with a MAXJOBS line."""
    submitted: Counter[str] = Counter()
    for run in _in_state(facts, NodeStatus.SUBMITTED):
        submitted[_category(dag, run.name)] += 1
    for category, limit in dag.category_limits.items():
        waiting = [name for name in ready if _category(dag, name) == category]
        if submitted[category] >= limit and waiting:
            sentence = (
                f"Category {message(category)} is full: {number_of(submitted[category], 'node')} of"
                f" it in the queue, MAXJOBS {message(category)} {limit} in the DAG file;"
                f" {nodes_named(waiting)} {does(len(waiting), 'be')} waiting because of that."
            )
            evidence = Evidence(facts.name, f"MAXJOBS {message(category)} {limit}")
            yield Finding("throttle.full", Weight.WAITING, sentence, tuple(waiting), (evidence,))


def _category(dag: Dag, name: str) -> str:
    node = dag.find(name)
    return dag.categories.get(node, "") if node is not None else ""


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


def retry_delay_left(dag: Dag, node: int, run: NodeRun, now: float) -> float:
    """Seconds until a failed node is tried again, 0.0 if it waits for no delay."""
    retry = dag.retries.get(node)
    if retry is None or not retry.delay or not run.attempts or not run.attempts[-1].over:
        return 0.0
    delay = retry_delay_s(retry, run.attempts[-1].number + 1, dag.names[node])
    return max(run.since + delay - now, 0.0)


def _is_new(run: NodeRun | None) -> bool:
    """Whether no script of the next attempt has run."""
    return run is None or not run.attempts or run.attempts[-1].over


def _runs(run: NodeRun, kind: ScriptKind) -> bool:
    attempt = run.attempts[-1] if run.attempts else None
    script = attempt and (attempt.pre if kind is ScriptKind.PRE else attempt.post)
    return bool(script and script.started and script.value is None)


def _in_state(facts: Facts, status: NodeStatus) -> list[NodeRun]:
    return [run for run in facts.run.nodes.values() if run.status is status]
