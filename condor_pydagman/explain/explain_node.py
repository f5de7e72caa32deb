"""One node: why it is in its state, what it waits for, and all that has happened to it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from copy import copy

from condor_pydagman.explain.explain_dag import explain_dag, unknown_findings
from condor_pydagman.explain.explanation import Explanation, Moment
from condor_pydagman.explain.failed_nodes import (
    failure_advice,
    failure_evidence,
    failure_sentence,
)
from condor_pydagman.explain.feature_findings import awaited_parents, said
from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.explain.jobs import idle_job_findings, running_findings
from condor_pydagman.follow.carriers import carrier_of
from condor_pydagman.follow.failures import failure_of
from condor_pydagman.follow.notice import Evidence, Notice, Weight, in_order
from condor_pydagman.follow.notices.facts import IDLE, Facts
from condor_pydagman.follow.notices.held_jobs import held_job_notices
from condor_pydagman.follow.notices.name_lists import names_of
from condor_pydagman.follow.notices.put_offs import put_off_notices
from condor_pydagman.follow.run_model import Attempt, NodeRun, Run, ScriptRun
from condor_pydagman.follow.shown_states import LOOKS, Shown, shown_state, why_done
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import logged_name
from condor_pydagman.printable import message, number_of
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, NodeKind, NodeStatus
from condor_pydagman.words import duration, result

MAX_CHAINS = 5  # of nodes that it waits for
MAX_LINKS = 6  # names in a chain
MAX_HOSTS = 3
_STATES = {
    NodeStatus.NOT_READY: "is waiting for other nodes",
    NodeStatus.READY: "is ready",
    NodeStatus.PRERUN: "is at its PRE script",
    NodeStatus.SUBMITTED: "has jobs in the queue",
    NodeStatus.POSTRUN: "is at its POST script",
    NodeStatus.DONE: "is done",
    NodeStatus.ERROR: "failed",
    NodeStatus.FUTILE: "can't run, because an ancestor failed",
}
_OF_ITSELF = ("node.", "job.", "script.")  # beginnings of causes that are told of the node itself
_OF_DAG = ("dagman", "dag")  # causes that concern every node
_WAITING = (NodeStatus.NOT_READY, NodeStatus.READY, NodeStatus.FUTILE)


def explain_node(facts: Facts, name: str) -> Explanation:
    """All that is to be said of a node.

    Args:
        name: its full name; a node of `facts.dag`, or of `facts.run` if the graph is not known.
    """
    state = GraphState(facts.dag, facts.run) if facts.dag is not None else None
    number = facts.dag.find(name) if facts.dag is not None else None
    run = facts.run.nodes.get(logged_name(name)) or NodeRun(name)
    status = run.counted
    if state is not None and number is not None:
        run, status = state.run_of(number) or run, state.status[number]
    findings = [
        *_of_whole_dag(facts, {name, run.name}, status),
        *said("of_node", facts, run),
        *_own_jobs(facts, run),
        *_failure(facts, run, status),
        *(_waits(facts, state, number) if state is not None and number is not None else ()),
        *_itself(facts, state, number, status),
        *unknown_findings(facts),
    ]
    stands, since = _STATES[status], _since(facts, run)
    if carrier_of(run) is not None:
        stands = "is in the queue, in a job with others"
    if status is NodeStatus.DONE:
        since = _how_done(facts, run)
    elif status is NodeStatus.READY and shown_state(run) is Shown.RETRY:
        stands = "is waiting for its retry"
    if _is_unneeded(state, number, run):
        stands, since = "is not needed", ""
        findings += said("unneeded", facts, run)
    elif state is not None and number is not None and number in state.unreachable:
        stands = state.unreachable[number]
    headline = f"Node {message(name)} of {facts.name} {stands}{since}."
    if not facts.run.complete:
        headline = f"The state of node {message(name)} of {facts.name} is not known."
        findings = [*_said_of(facts, name), *unknown_findings(facts)]
    return Explanation(
        facts.name, headline, in_order(findings), name, tuple(life_of(run, facts.run))
    )


def _said_of(facts: Facts, name: str) -> Iterator[Notice]:
    """What `.dagman.out` says of a node that has failed."""
    how = facts.run.said_failed.get(logged_name(name))
    if how is not None:
        evidence = (Evidence(facts.out, f"{message(name)}: {message(how) or 'failed'}"),)
        verb = "failed" if facts.run.is_list else "failed, perhaps not for good"
        sentence = f"Node {message(name)} {verb}, {facts.out} says."
        yield Notice("node.failed", Weight.PROBLEM, sentence, (name,), evidence)


def _is_unneeded(state: GraphState | None, number: int | None, run: NodeRun) -> bool:
    if state is None or number is None:
        return run.is_unneeded
    return state.is_unneeded(number)


def _how_done(facts: Facts, run: NodeRun) -> str:
    """Of a node that counts as done: why it has not run, if so."""
    why = why_done(run)
    if why:
        state = shown_state(run)
        is_said = state in (Shown.DONE, Shown.LEFT_OUT) or why.startswith(LOOKS[state].word)
        return f": {why}" if is_said else f" ({LOOKS[state].word}): {why}"
    if run.attempts:
        return ""
    to_come = facts.rescue.path if facts.rescue is not None and not facts.run.starts else ""
    rescue = facts.run.rescue_read or to_come
    if rescue:
        return f" since an earlier run: {rescue}, or the DAG file, says so"
    return ": the DAG file says so"


def life_of(run: NodeRun, of_dag: Run) -> Iterator[Moment]:
    """What has happened to a node of a run of a DAG."""
    moments: list[Moment] = []
    for attempt in run.attempts:
        which = f"attempt {attempt.number + 1}: " if len(run.attempts) > 1 else ""
        of_features = map(Moment._make, said("moments", of_dag, attempt))
        found = [*_moments(attempt, run.since), *of_features]
        found.sort(key=lambda moment: moment.time)
        moments += (moment._replace(text=which + moment.text) for moment in found)
    yield from moments
    if run.cached:
        yield Moment(run.since, f"done already: {message(why_done(run))} (CACHE)")
    if run.skipped and run.since:  # in this run, not in an earlier one
        why = message(run.why) or "its PRE script returned the value of PRE_SKIP"
        how = "not needed" if run.is_unneeded else "skipped"
        yield Moment(run.since, why if why.startswith(how) else f"{how}: {why}")


def _moments(attempt: Attempt, since: float) -> Iterator[Moment]:
    yield from _script(attempt.pre, "PRE")
    if attempt.reason and not attempt.procs:
        yield Moment(since, f"can't be submitted: {message(attempt.reason)}")
    if attempt.submitted and attempt.procs and attempt.carrier is None:
        what = number_of(attempt.procs, "job")
        name = attempt.job if attempt.procs == 1 else f"cluster {attempt.cluster}"
        yield Moment(attempt.submitted, f"{what} submitted ({name or 'NOOP'})")
    if attempt.started:
        hosts = [host for host in dict.fromkeys(attempt.hosts) if host]
        where = f" on {names_of(hosts, MAX_HOSTS)}" if hosts else ""
        yield Moment(attempt.started, f"running{where}")
    for hold in attempt.holds:
        yield Moment(hold.time, f"job {hold.job} held ({hold.code}): {message(hold.reason)}")
        if hold.released:
            yield Moment(hold.released, f"job {hold.job} no longer held")
    if attempt.ended and not attempt.in_queue:
        yield Moment(attempt.ended, _end(attempt))
    yield from _script(attempt.post, "POST")


def _script(script: ScriptRun | None, kind: str) -> Iterator[Moment]:
    if script is None:
        return
    if script.started:
        yield Moment(script.started, f"{kind} script started")
    if script.value is not None:
        yield Moment(script.ended, f"{kind} script ended with {result(script.value)}")


def _end(attempt: Attempt) -> str:
    if attempt.value == RETURN_JOB_ABORTED:
        return f"removed: {message(attempt.reason)}"
    value = result(attempt.value) if attempt.value is not None else "an unknown result"
    if attempt.procs > 1:
        failed = attempt.failed_procs
        how = f", {failed} of them failed, the first with {value}" if failed else f" with {value}"
        return f"{attempt.procs} jobs ended{how}"
    evicted = f" after {number_of(attempt.evictions, 'eviction')}" if attempt.evictions else ""
    return f"ended with {value}{evicted}"


def _of_whole_dag(facts: Facts, names: set[str], status: NodeStatus) -> list[Notice]:
    """What the explanation of the DAG says of this node, by its names in the DAG file and in the
    logs, or of DAGMan itself."""
    if status is NodeStatus.DONE:
        return []
    found = []
    for finding in explain_dag(facts).findings:
        of_dag = finding.cause.partition(".")[0] in _OF_DAG and finding.cause != "dag.rescue"
        alone = not (names.isdisjoint(finding.nodes) or finding.cause.startswith(_OF_ITSELF))
        if of_dag or alone:
            found.append(finding)
    return found


def _own_jobs(facts: Facts, node: NodeRun) -> Iterator[Notice]:
    """Its jobs and scripts in the queue, without those of other nodes that stand alike; or the job
    that it is in with others."""
    carrier = carrier_of(node)
    node = carrier or node
    run = copy(facts.run)
    run.nodes = {} if carrier else {node.name: node}
    run.put_offs = {name: off for name, off in run.put_offs.items() if name == node.name}
    run.carriers = {carrier.name: carrier} if carrier else {}
    fits = []
    for fit in facts.fits:
        mine = [job for job in facts.jobs or () if job.node == node.name and job.status == IDLE]
        if node.name in fit.nodes and mine:
            fits.append(fit._replace(jobs=len(mine), nodes=(node.name,), job=mine[0].job))
    jobs = facts.jobs
    if jobs is not None:
        jobs = tuple(job for job in jobs if job.node == node.name)
    held = [job for job in facts.held if job.node == node.name]
    own = facts._replace(run=run, jobs=jobs, fits=tuple(fits), held=held)
    yield from idle_job_findings(own)
    yield from held_job_notices(own)
    yield from put_off_notices(own)
    yield from running_findings(own)


def _failure(facts: Facts, run: NodeRun, status: NodeStatus) -> Iterator[Notice]:
    if status is not NodeStatus.ERROR:
        return
    failure = failure_of(run, facts.run, facts.dag)
    evidence = tuple(failure_evidence(failure, facts))
    inner = (explain_dag(facts.inner[run.name]),) if run.name in facts.inner else ()
    advice = tuple(failure_advice(failure, facts))
    if len(run.attempts) > 1 and run.attempts[-2].procs:
        logs = shlex.join(["condor_pydagman", "logs", facts.name, run.name, "--attempt"])
        advice += (f"For what the attempt before wrote: {logs} {run.attempts[-2].number + 1}",)
    sentence = failure_sentence([failure])
    yield Notice(failure.cause, Weight.PROBLEM, sentence, (run.name,), evidence, advice, inner)


def _waits(facts: Facts, state: GraphState, node: int) -> Iterator[Notice]:
    """The nodes before it that are to end first: the last in each chain keeps all others."""
    is_waiting = state.status[node] in (NodeStatus.NOT_READY, NodeStatus.FUTILE)
    if not is_waiting or node in state.unreachable:
        return
    chains = [chain for chain in state.blockers(node) if len(chain) > 1]
    if not chains:
        return
    failed = [chain for chain in chains if _is_lost(state, chain[-1])]
    first = sorted(chains, key=lambda chain: (chain not in failed, len(chain)))
    names = tuple(dict.fromkeys(state.dag.names[chain[-1]] for chain in first))
    parents = awaited_parents(state, node) or number_of(len(state.unmet(node)), "parent")
    sentence = f"It is waiting for {parents}, and ultimately for {_standing(state, first)}."
    evidence = tuple(
        Evidence(state.dag.place(chain[0]) or facts.name, _chain(state, chain))
        for chain in first[:MAX_CHAINS]
    )
    weight = Weight.PROBLEM if failed else Weight.WAITING
    command = shlex.join(["condor_pydagman", "explain", facts.name, names[0]])
    advice = (f"For details of that node: {command}",)
    yield Notice("node.waiting", weight, sentence, names, evidence, advice)


def _is_lost(state: GraphState, node: int) -> bool:
    return state.status[node] is NodeStatus.ERROR or node in state.unreachable


def _standing(state: GraphState, chains: list[list[int]]) -> str:
    ends = list(dict.fromkeys(chain[-1] for chain in chains))
    shown = [f"{message(state.dag.names[end])}, which {_state(state, end)}" for end in ends[:3]]
    more = f", and {len(ends) - 3} more" if len(ends) > 3 else ""
    return "; ".join(shown) + more


def _state(state: GraphState, node: int) -> str:
    return state.unreachable.get(node) or _STATES[state.status[node]]


def _chain(state: GraphState, chain: list[int]) -> str:
    names = [message(name) for name in state.names_of(chain)]
    if len(names) > MAX_LINKS:
        left = len(names) - MAX_LINKS
        names = [*names[: MAX_LINKS - 1], f"... {left} more ...", names[-1]]
    return f"{' waits for '.join(names)}, which {_state(state, chain[-1])}"


def _itself(
    facts: Facts, state: GraphState | None, node: int | None, status: NodeStatus
) -> Iterator[Notice]:
    """Why a node that waits for no other is where it is."""
    if state is None or node is None or status not in _WAITING:
        return
    left = facts.retries.get(node, 0.0) - facts.now
    if left > 0:
        sentence = f"It failed, and the delay of RETRY lasts {duration(left)} more."
        yield Notice("node.retry", Weight.WAITING, sentence, (state.dag.names[node],))
    elif state.dag.kinds[node] == NodeKind.FINAL and facts.is_live:
        sentence = "It is the FINAL node, which runs after all other nodes have ended."
        yield Notice("node.state", Weight.NOTE, sentence, (state.dag.names[node],))
    elif status is NodeStatus.READY and facts.is_live and not facts.run.halted:
        yield _ready(facts, state.dag, node)
    elif facts.is_live and not facts.run.halted and not state.unmet(node):
        yield from said("held_back", facts, state.dag, node)


def _ready(facts: Facts, dag: Dag, node: int) -> Notice:
    sentence = "All its parents have ended; DAGMan starts it as soon as the throttles permit it."
    by_throttles = Notice("node.state", Weight.NOTE, sentence, (dag.names[node],))
    found: Notice = next(said("held_back", facts, dag, node), by_throttles)
    return found


def _since(facts: Facts, run: NodeRun) -> str:
    if not run.since or run.status not in (
        NodeStatus.PRERUN, NodeStatus.SUBMITTED, NodeStatus.POSTRUN
    ):  # fmt: skip
        return ""
    return f", for {duration(facts.now - run.since)}"
