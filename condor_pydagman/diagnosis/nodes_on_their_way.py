"""What goes on: jobs and scripts that run, failed nodes that wait for their next attempt."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.diagnosis.failed_nodes import failure_of
from condor_pydagman.diagnosis.graph_state import GraphState
from condor_pydagman.diagnosis.known_facts import Facts
from condor_pydagman.diagnosis.load import retry_delay_left
from condor_pydagman.notices.phrases import capitalized, nodes_named
from condor_pydagman.printable import does, message, number_of
from condor_pydagman.trace.notice import Evidence, Notice, Weight
from condor_pydagman.trace.run_history import Attempt, NodeRun
from condor_pydagman.vocabulary import NodeStatus
from condor_pydagman.words import duration, result


def running_findings(facts: Facts, state: GraphState | None) -> list[Notice]:
    """Findings of a DAG that goes on."""
    if not facts.is_live:
        return []
    scripts = [finding for kind in ("PRE", "POST") for finding in _scripts(facts, kind)]
    retries = list(_retries(facts, state)) if state is not None else []
    return [*retries, *scripts, *_jobs(facts)]


def _scripts(facts: Facts, kind: str) -> Iterator[Notice]:
    status = NodeStatus.PRERUN if kind == "PRE" else NodeStatus.POSTRUN
    found = []
    for run in facts.run.nodes.values():
        if run.status is status and run.attempts:
            started = _started(run.attempts[-1], kind)
            if started:
                found.append((started, run.name))
    if not found:
        return
    since, name = min(found)
    longest = f", the longest for {duration(facts.now - since)}, that of node {message(name)}"
    if len(found) == 1:
        longest = f", for {duration(facts.now - since)}"
    names = tuple(name for _, name in sorted(found))
    sentence = (
        f"{number_of(len(found), f'{kind} script')} of {nodes_named(names)}"
        f" {does(len(found), 'be')} running{longest}."
    )
    evidence = (Evidence(facts.out, f"{kind} script of {message(name)} started", since),)
    yield Notice("script.running", Weight.WAITING, sentence, names, evidence)


def _started(attempt: Attempt, kind: str) -> float:
    """When its script started, if it runs; 0.0 otherwise."""
    script = attempt.pre if kind == "PRE" else attempt.post
    return script.started if script is not None and script.value is None else 0.0


def _jobs(facts: Facts) -> Iterator[Notice]:
    running = [
        run
        for run in facts.run.nodes.values()
        if run.status is NodeStatus.SUBMITTED and run.attempts and run.attempts[-1].running
    ]
    if not running:
        return
    count = sum(run.attempts[-1].running for run in running)
    oldest = min(running, key=lambda run: run.attempts[-1].started)
    attempt = oldest.attempts[-1]
    age = duration(facts.now - attempt.started)
    longest = f" for {age}" if count == 1 else f", the longest for {age}"
    names = tuple(run.name for run in running)
    sentence = (
        f"{number_of(count, 'job')} of {nodes_named(names)} {does(count, 'be')} running{longest}."
    )
    host = message(attempt.hosts[-1]) if attempt.hosts else ""
    text = f"job {attempt.job} of {message(oldest.name)} on {host}"
    evidence = (Evidence(facts.nodes_log, text, attempt.started),)
    yield Notice("job.running", Weight.NOTE, sentence, names, evidence)


def _retries(facts: Facts, state: GraphState) -> Iterator[Notice]:
    waiting: list[tuple[float, NodeRun]] = []
    for node in state.of_status(NodeStatus.READY):
        run = state.run_of(node)
        left = retry_delay_left(state.dag, node, run, facts.now) if run is not None else 0.0
        if run is not None and left:
            waiting.append((left, run))
    if not waiting:
        return
    left, first = min(waiting, key=lambda pair: pair[0])
    names = tuple(run.name for _, run in waiting)
    sentence = (
        f"{capitalized(nodes_named(names))} failed and {does(len(waiting), 'be')} waiting for"
        f" the delay of RETRY; the next attempt begins in {duration(left)}."
    )
    evidence = (failed_attempt(first, state, facts),)
    yield Notice("node.retry", Weight.WAITING, sentence, names, evidence)


def failed_attempt(run: NodeRun, state: GraphState, facts: Facts) -> Evidence:
    """How the last attempt of a node that is tried again has failed."""
    failure = failure_of(run, state.dag)
    how = result(failure.value) if failure.value else failure.reason or "failed"
    attempt = run.attempts[-1]
    text = f"attempt {attempt.number + 1} of {message(run.name)}: {how}"
    return Evidence(facts.nodes_log, text, attempt.ended or run.since)
