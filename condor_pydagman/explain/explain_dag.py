"""Why a DAG does not go on, or why it has failed: all findings and the answer in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

from condor_pydagman.explain.dagman_job_state import (
    dagman_findings,
    failed_by_ad,
    failed_without_log,
    rescue_findings,
)
from condor_pydagman.explain.explanation import Explanation
from condor_pydagman.explain.failed_nodes import failed_node_findings, futile_findings
from condor_pydagman.explain.feature_findings import said
from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.explain.jobs import idle_job_findings, running_findings
from condor_pydagman.follow.notice import Notice, Weight, in_order
from condor_pydagman.follow.notices.collect import notices_of
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.notices.name_lists import nodes_named
from condor_pydagman.follow.run_model import OVER, DagState, newer_counts
from condor_pydagman.printable import number_of
from condor_pydagman.vocabulary import NodeStatus
from condor_pydagman.words import duration

_STATES = {
    DagState.NOT_STARTED: "has not started",
    DagState.IDLE: "is waiting for the schedd to start DAGMan",
    DagState.RUNNING: "is running",
    DagState.HALTED: "is halted",
    DagState.HELD: "is stopped, because DAGMan's job is on hold",
    DagState.INTERRUPTED: "was interrupted",
    DagState.SUCCEEDED: "succeeded",
    DagState.FAILED: "failed",
    DagState.REMOVED: "was removed",
    DagState.UNKNOWN: "is in an unknown state",
}
_WORDS_OF_COUNTS = {
    "done": "done",
    "queued": "in the queue",
    "running": "running",
    "idle": "idle",
    "held": "held",
    "pre": "at the PRE script",
    "post": "at the POST script",
    "ready": "ready",
    "retry": "waiting for a retry",
    "waiting": "waiting for others",
    "unready": "waiting for others",
    "failed": "failed",
    "futile": "unable to run after a failure",
}


def explain_dag(facts: Facts) -> Explanation:
    """Everything that is to be said of a DAG."""
    state = GraphState(facts.dag, facts.run) if facts.dag is not None else None
    inner = {node: explain_dag(known) for node, known in facts.inner.items()}
    by_logs = facts.run.complete
    failed = failed_node_findings(facts, inner) if by_logs else failed_without_log(facts)
    findings = [
        *dagman_findings(facts),
        *failed,
        *failed_by_ad(facts),
        *(futile_findings(state, failed) if state is not None else ()),
        *said("findings", facts, state),
        *idle_job_findings(facts),
        *notices_of(facts),
        *running_findings(facts),
        *_running_subdags(facts, inner),
        *rescue_findings(facts),
        *unknown_findings(facts),
    ]
    return Explanation(facts.name, _headline(facts), in_order(findings))


def unknown_findings(facts: Facts) -> list[Notice]:
    """What could not be found out."""
    return [Notice("unknown", Weight.NOTE, sentence) for sentence in facts.unknown]


def _running_subdags(facts: Facts, inner: dict[str, Explanation]) -> list[Notice]:
    """Sub-DAGs that run and have a problem."""
    failed = {run.name for run in facts.run.nodes.values() if run.status is NodeStatus.ERROR}
    wrong = {node: explanation for node, explanation in inner.items() if explanation.is_wrong}
    found = {node: explanation for node, explanation in wrong.items() if node not in failed}
    if not found:
        return []
    names = tuple(found)
    s = "s" * (len(names) > 1)
    sentence = f"The DAG{s} of {nodes_named(names)} {'have' if s else 'has'} a problem."
    return [Notice("subdag.problem", Weight.PROBLEM, sentence, names, inner=tuple(found.values()))]


def _headline(facts: Facts) -> str:
    text = f"{facts.name} {_STATES[facts.state]}"
    run = facts.run
    if facts.state in OVER and run.begun and run.ended:
        text += f" after {duration(run.ended - run.begun)}"
    elif facts.is_live and run.begun:
        text += f", started {duration(facts.now - run.begun)} ago"
    counts = _counts(facts)
    total = counts.get("total", 0)
    parts = [
        f"{counts[name]} {words}" for name, words in _WORDS_OF_COUNTS.items() if counts.get(name)
    ]
    if not total or not parts:
        return f"{text}."
    return f"{text}: {number_of(total, 'node')}, {', '.join(parts)}."


def _counts(facts: Facts) -> Mapping[str, int]:
    """Nodes by state: as the engine has them, else as DAGMan has counted last."""
    if not facts.counts_hold:
        return newer_counts(facts.ad, facts.run.counts, facts.run.counts_time)[0]
    retry = len(facts.retries)
    return {**facts.counts, "ready": facts.counts["ready"] - retry, "retry": retry}
