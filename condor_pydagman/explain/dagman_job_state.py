"""DAGMan itself: its job that waits, is held or was removed; how it has ended; halts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from condor_pydagman.explain.feature_findings import going_on, is_failure_explained
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import HELD, Facts
from condor_pydagman.follow.notices.halts import cool_down_left, number_in
from condor_pydagman.follow.notices.name_lists import capitalized, nodes_named
from condor_pydagman.follow.run_model import COUNTS, DagState, Run
from condor_pydagman.printable import message, number_of, printable
from condor_pydagman.vocabulary import (
    EXIT_RESTART,
    MAX_FINAL_EXIT_CODE,
    DagStatus,
    NodeKind,
)
from condor_pydagman.words import duration

_ENDED = (DagState.FAILED, DagState.SUCCEEDED)
MAX_SAID = 10  # failed nodes of which DAGMan's words are shown
_OWN = "PYDAGMAN_"  # attributes of this program's DAGMan jobs begin so
_MAX_NAMED = 5  # nodes that a command names one by one


def dagman_findings(facts: Facts) -> list[Notice]:
    """What is to be said of DAGMan itself."""
    found = {
        DagState.NOT_STARTED: _not_started,
        DagState.IDLE: _idle,
        DagState.INTERRUPTED: _interrupted,
        DagState.FAILED: _failed,
        DagState.SUCCEEDED: _succeeded,
        DagState.UNKNOWN: _unknown,
    }.get(facts.state)
    return list(found(facts)) if found is not None else []


def rescue_findings(facts: Facts) -> list[Notice]:
    """With what the DAG goes on when it is submitted again."""
    if facts.is_live:
        return [] if facts.run.removed or facts.run.cancelled_by else _rescue_to_come(facts)
    ended = facts.state in (DagState.FAILED, DagState.REMOVED)
    ended |= facts.state is DagState.SUCCEEDED and bool(facts.run.rescue_written)
    ended |= facts.state is DagState.NOT_STARTED and facts.rescue is not None
    if not ended or not facts.submit_command:
        return []
    if facts.rescue is None:
        sentence = (
            "There is no rescue file: if you submit the DAG again, it starts from the beginning."
        )
        return [_note(sentence, (), f"To run it again: {facts.submit_command}")]
    total = len(facts.dag) - facts.dag.kinds.count(NodeKind.SERVICE) if facts.dag else 0
    of_all = f" of {total}" if total else ""
    are_done = "is done and does" if facts.rescue.done == 1 else "are done and do"
    sentence = (
        f"If you submit the DAG again, it continues from {facts.rescue.path}: {facts.rescue.done}"
        f"{of_all} {'node' if (total or facts.rescue.done) == 1 else 'nodes'} {are_done} not run"
        " again."
    )
    lines = number_of(facts.rescue.done, "DONE line")
    evidence = Evidence(facts.rescue.path, lines, facts.rescue.time)
    when = "When you have fixed the cause" if facts.state in _ENDED else "To continue it"
    advice = f"{when}: {facts.submit_command}"
    return [_note(sentence, (evidence,), advice)]


def _rescue_to_come(facts: Facts) -> list[Notice]:
    failed = [name for name, run in facts.run.nodes.items() if run.has_failed]
    if not failed or facts.run.halted or facts.state is DagState.HALTED:
        return []
    others = "".join(f" and {one}" for one in going_on(facts))
    sentence = (
        f"DAGMan continues with the nodes that can run. When they{others} have"
        " ended, the DAG fails and DAGMan writes a rescue file, from which the DAG continues when"
        " you submit it again."
    )
    return [Notice("dag.rescue", Weight.NOTE, sentence, advice=_rerun(facts, failed))]


def _rerun(facts: Facts, failed: Sequence[str]) -> tuple[str, ...]:
    """How nodes run again in a DAG that runs; the stock program knows no such command."""
    if not any(name.startswith(_OWN) for name in facts.ad):
        return ()
    which = " ".join(map(shlex.quote, failed[:_MAX_NAMED]))
    if len(failed) > _MAX_NAMED:
        which = "--state failed"
    return (
        "When you have fixed the cause: condor_pydagman steer rerun"
        f" {shlex.quote(facts.name)} {which}",
    )


def _note(sentence: str, evidence: tuple[Evidence, ...], advice: str) -> Notice:
    return Notice("dag.rescue", Weight.NOTE, sentence, (), evidence, (advice,))


def _not_started(facts: Facts) -> Iterator[Notice]:
    sentence = f"{facts.name} has not started: there is no {facts.out}."
    advice = (facts.submit_command,) if facts.submit_command else ()
    yield Notice("dagman.not_started", Weight.PROBLEM, sentence, advice=advice)


def _idle(facts: Facts) -> Iterator[Notice]:
    run = facts.run
    # a hold, or a restart of the schedd, ends DAGMan as errors do
    by_itself = run.aborted or (run.errors and facts.ad.get("LastJobStatus") != HELD)
    if by_itself and (run.exit_code or 0) > MAX_FINAL_EXIT_CODE:
        yield from _unknown(facts)
        return
    if cool_down_left(facts.ad, facts.now):
        return  # which halt_notices tells
    since = number_in(facts.ad.get("EnteredCurrentStatus")) or facts.dagman_job.submitted
    age = f" for {duration(facts.now - since)}" if since else ""
    sentence = f"DAGMan's job {facts.cluster} has been idle{age}: the schedd has not started it."
    advice = (
        "The schedd starts such jobs within seconds, unless START_SCHEDULER_UNIVERSE is false or"
        f" MAX_JOBS_RUNNING is reached: condor_q -better-analyze {facts.cluster}",
    )
    evidence = (Evidence(f"job {facts.cluster}", "JobStatus = 1", since),)
    yield Notice("dagman.idle", Weight.WAITING, sentence, (), evidence, advice)


def _interrupted(facts: Facts) -> Iterator[Notice]:
    sentence = (
        "DAGMan is gone, and the DAG is not over: the lock file exists, but no process holds it."
    )
    if facts.ad:
        advice = f"The schedd starts job {facts.cluster} again; DAGMan continues where it stopped."
        weight = Weight.WAITING
    else:
        advice = facts.submit_command and f"To continue where it stopped: {facts.submit_command}"
        weight = Weight.PROBLEM
    evidence = (Evidence(f"{facts.name}.lock", "left behind", facts.run.last),)
    yield Notice("dagman.interrupted", weight, sentence, (), evidence, (advice,) if advice else ())


def _succeeded(facts: Facts) -> Iterator[Notice]:
    if any(run.has_failed for run in facts.run.nodes.values()):
        deciding = []
        if facts.dag is None or facts.dag.of_kind(NodeKind.FINAL):
            deciding.append("the FINAL node")
        if facts.dag is None or any(abort.exit_code == 0 for abort in facts.dag.aborts.values()):
            deciding.append("ABORT-DAG-ON with RETURN 0")
        sentence = "The DAG succeeded although nodes failed"
        if deciding:
            sentence += f": {' or '.join(deciding)} decides the exit code"
        sentence += "."
        yield Notice("dagman.succeeded", Weight.NOTE, sentence)


def _failed(facts: Facts) -> Iterator[Notice]:
    """Only if nothing else says why."""
    failed = any(run.has_failed for run in facts.run.nodes.values())
    if (
        failed
        or failed_count(facts.run)
        or not facts.run.starts
        or facts.run.aborted
        or facts.run.halted
        or is_failure_explained(facts)
    ):
        return
    code = facts.exit_code if facts.exit_code is not None else facts.run.exit_code
    meaning = "and no node failed"
    if facts.run.dag_status == DagStatus.CYCLE:
        meaning = "because the DAG has a cycle"
    sentence = f"condor_dagman ended with exit code {code}, {meaning}."
    evidence = (_errors(facts),)
    advice = (f"To check the DAG: condor_dag_checker -lint {shlex.quote(facts.name)}",)
    yield Notice("dagman.failed", Weight.PROBLEM, sentence, (), evidence, advice)


def _errors(facts: Facts) -> Evidence:
    lines = tuple(map(printable, facts.run.errors))
    return Evidence(facts.out, "errors:" if lines else "", facts.run.ended, lines)


def _unknown(facts: Facts) -> Iterator[Notice]:
    if facts.run.exit_code != EXIT_RESTART or facts.run.aborted:
        return
    sentence = (
        f"condor_dagman ended with exit code {EXIT_RESTART}: it could not continue, and the schedd"
        " starts it again."
    )
    evidence = (_errors(facts),)
    yield Notice("dagman.failed", Weight.PROBLEM, sentence, (), evidence)


def failed_by_ad(facts: Facts) -> list[Notice]:
    """How many nodes have failed, if the logs can't be read: DAGMan's job ad tells no more."""
    count = int(number_in(facts.ad.get(COUNTS["failed"])))
    if facts.run.starts or not count:
        return []
    sentence = f"{number_of(count, 'node')} failed; only the logs of the DAG say which."
    evidence = (Evidence(f"DAG_NodesFailed of job {facts.cluster}", str(count)),)
    return [Notice("node.failed", Weight.PROBLEM, sentence, (), evidence)]


def failed_without_log(facts: Facts) -> list[Notice]:
    """What `.dagman.out` says of failed nodes, if the nodes log is missing: no more than that."""
    run = facts.run
    said = run.said_failed if run.is_list or failed_count(run) else {}
    if run.complete or not (said or failed_count(run)):
        return []
    names = tuple(said)
    missing = f"the nodes log, which would say more, is missing ({facts.nodes_log})"
    if run.is_list:
        sentence = f"{capitalized(nodes_named(names))} failed, {facts.out} says; {missing}."
    else:
        sentence = f"{number_of(failed_count(run), 'node')} failed, {facts.out} says; {missing}."
    evidence = tuple(
        Evidence(facts.out, f"{message(name)}: {message(how) or 'failed'}")
        for name, how in list(said.items())[:MAX_SAID]
    )
    return [Notice("node.failed", Weight.PROBLEM, sentence, names, evidence)]


def failed_count(run: Run) -> int:
    """How many nodes DAGMan last counted as failed."""
    return run.counts.get("failed", 0)
