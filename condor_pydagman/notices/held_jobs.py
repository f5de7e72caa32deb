"""Jobs on hold, by HoldReasonCode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from condor_pydagman.notices.hold_codes import RELEASE, hold_code
from condor_pydagman.notices.known import HELD, Known, QueuedJob
from condor_pydagman.notices.phrases import nodes_named
from condor_pydagman.printable import does, message, number_of
from condor_pydagman.trace.notice import Evidence, Notice, Weight
from condor_pydagman.trace.run_history import DagState, NodeRun
from condor_pydagman.words import duration

_BY_STEER = "(condor_pydagman steer)"  # what HoldReason ends with
# How meanings begin that are about one job, and the same of several.
_OF_MANY = (
    ("it was ", "they were "),
    ("it ", "they "),
    ("its ", "their "),
    ("the job's ", "the jobs' "),
)
MAX_EXAMPLES = 3
MAX_JOBS = 5  # in a command
_IN_QUEUE = (DagState.RUNNING, DagState.HALTED, DagState.HELD, DagState.INTERRUPTED, DagState.IDLE)


def held_job_notices(known: Known) -> list[Notice]:
    """One for each HoldReasonCode; none of a DAG that has ended."""
    if known.state not in _IN_QUEUE:
        return []
    groups: dict[int, list[QueuedJob]] = {}
    for job in sorted(known.held, key=_number):
        groups.setdefault(job.code, []).append(job)
    return [_notice(code, jobs, known) for code, jobs in groups.items()]


def hold_advice(code: int, jobs: str) -> tuple[str, ...]:
    """What can be done about jobs that are held for that reason."""
    known = hold_code(code)
    advice = (known.advice, RELEASE if known.advice else RELEASE.replace("Then release", "Release"))
    return tuple(text.format(jobs=jobs) for text in advice if text)


def logged_holds(nodes: Iterable[NodeRun]) -> Iterator[QueuedJob]:
    """The jobs of these nodes that are held, as the nodes log has it."""
    for node in nodes:
        for hold in node.attempts[-1].holds if node.attempts and node.attempts[-1].held else ():
            if not hold.released:
                yield QueuedJob(
                    hold.job, node.name, HELD, hold.time, hold.reason, hold.code, hold.subcode
                )


def _meaning(code: int, jobs: Sequence[QueuedJob]) -> str:
    if all(job.reason.endswith(_BY_STEER) for job in jobs):
        return "someone used condor_pydagman steer hold"
    meaning = hold_code(code).meaning
    if len(jobs) > 1:
        for begin, of_many in _OF_MANY:
            if meaning.startswith(begin):
                return of_many + meaning[len(begin) :]
    return meaning


def _number(job: QueuedJob) -> tuple[int, ...]:
    return tuple(int(part) for part in job.job.split(".") if part.isdecimal())


def _notice(code: int, jobs: Sequence[QueuedJob], known: Known) -> Notice:
    nodes = tuple(dict.fromkeys(job.node for job in jobs))
    oldest = min((job.since for job in jobs if job.since), default=0.0)
    held = f"{does(len(jobs), 'be')} held"
    if oldest:
        are = "has been held" if len(jobs) == 1 else "are held, the longest"
        held = f"{are} for {duration(known.now - oldest)}"
    sentence = (
        f"{number_of(len(jobs), 'job')} of {nodes_named(nodes)} {held}: {_meaning(code, jobs)}"
        f" (HoldReasonCode {code})."
    )
    listed = " ".join(job.job for job in jobs[:MAX_JOBS])
    if len(jobs) > MAX_JOBS and known.cluster:
        listed = f"-constraint 'DAGManJobId == {known.cluster} && HoldReasonCode == {code}'"
    return Notice(
        "job.held",
        Weight.PROBLEM,
        sentence,
        nodes,
        tuple(_evidence(job, known) for job in jobs[:MAX_EXAMPLES]),
        hold_advice(code, listed),
        since=oldest,
        command=f"condor_release {listed}",
        button="release",
        awaited=f"held jobs of {number_of(len(nodes), 'node')} to be released",
    )


def _evidence(job: QueuedJob, known: Known) -> Evidence:
    text = f"job {job.job} of {message(job.node)}: {message(job.reason)}"
    return Evidence(known.held_by, text, job.since)
