"""Jobs on hold, by HoldReasonCode."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.diagnosis.explanation import Evidence, Finding, Weight
from condor_pydagman.diagnosis.hold_codes import RELEASE, hold_code
from condor_pydagman.diagnosis.known_facts import HELD, Facts, QueuedJob
from condor_pydagman.diagnosis.phrases import nodes_named
from condor_pydagman.printable import does, message, number_of
from condor_pydagman.trace.run_history import DagState
from condor_pydagman.words import duration

MAX_EXAMPLES = 3
MAX_JOBS = 5  # in a command
_IN_QUEUE = (DagState.RUNNING, DagState.HALTED, DagState.HELD, DagState.INTERRUPTED, DagState.IDLE)


def held_jobs(facts: Facts) -> list[QueuedJob]:
    """The jobs that are held: as the schedd says, or else as the nodes log has it."""
    if facts.jobs is not None:
        return [job for job in facts.jobs if job.status == HELD]
    return list(_logged(facts)) if facts.state in _IN_QUEUE else []


def held_job_findings(facts: Facts) -> list[Finding]:
    """A finding for each HoldReasonCode."""
    groups: dict[int, list[QueuedJob]] = {}
    for job in held_jobs(facts):
        groups.setdefault(job.code, []).append(job)
    return [_finding(code, jobs, facts) for code, jobs in groups.items()]


def hold_advice(code: int, jobs: str) -> tuple[str, ...]:
    """What can be done about jobs that are held for that reason."""
    known = hold_code(code)
    advice = (known.advice, RELEASE if known.advice else RELEASE.replace("Then release", "Release"))
    return tuple(text.format(jobs=jobs) for text in advice if text)


def _finding(code: int, jobs: list[QueuedJob], facts: Facts) -> Finding:
    nodes = tuple(dict.fromkeys(job.node for job in jobs))
    oldest = min((job.since for job in jobs if job.since), default=0.0)
    since = f" for {duration(facts.now - oldest)}" if oldest else ""
    sentence = (
        f"{number_of(len(jobs), 'job')} of {nodes_named(nodes)} {does(len(jobs), 'be')} held"
        f"{since}: {hold_code(code).meaning} (HoldReasonCode {code})."
    )
    listed = " ".join(job.job for job in jobs[:MAX_JOBS])
    if len(jobs) > MAX_JOBS and facts.cluster:
        listed = f"-constraint 'DAGManJobId == {facts.cluster} && HoldReasonCode == {code}'"
    return Finding(
        "job.held",
        Weight.PROBLEM,
        sentence,
        nodes,
        tuple(_evidence(job, facts) for job in jobs[:MAX_EXAMPLES]),
        hold_advice(code, listed),
    )


def _evidence(job: QueuedJob, facts: Facts) -> Evidence:
    source = "HoldReason in the queue" if facts.jobs is not None else facts.nodes_log
    text = f"job {job.job} of {message(job.node)}: {message(job.reason)}"
    return Evidence(source, text, job.since)


def _logged(facts: Facts) -> Iterator[QueuedJob]:
    for node in facts.run.nodes.values():
        for hold in node.attempts[-1].holds if node.attempts and node.attempts[-1].held else ():
            if not hold.released:
                yield QueuedJob(
                    hold.job, node.name, HELD, hold.time, hold.reason, hold.code, hold.subcode
                )
