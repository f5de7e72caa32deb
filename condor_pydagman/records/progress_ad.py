"""What operators read of a DAG in its job ad beside stock DAGMan's attributes: who runs it, when a
node ended last, and what the DAG waits for (docs/administrators.md)."""

from __future__ import annotations

from condor_pydagman import __version__
from condor_pydagman.engine.report import MAX_FAILED_FIRST, Report

VERSION = "PYDAGMAN_Version"  # of condor_pydagman
LAST_END = "PYDAGMAN_LastNodeEnd"  # seconds since the epoch
WAITS_FOR = "PYDAGMAN_WaitsFor"  # a cause of `follow.notice`, perhaps with names; '' for none
WAITS_FOR_COUNT = "PYDAGMAN_WaitsForCount"  # of jobs for a cause `job.`, of nodes for others
REFUSALS = "PYDAGMAN_SubmitRefusals"  # how many submissions the schedd has not taken

RETRIES = "PYDAGMAN_Retries"  # that nodes have taken
FAILED = "PYDAGMAN_FailedNodes"  # names of those that failed first, separated by commas
# seconds, summed over jobs: in the queue, on hold, running, and the last runs of those that failed
TIMES = {
    "PYDAGMAN_IdleSeconds": "idle_s",
    "PYDAGMAN_HeldSeconds": "held_s",
    "PYDAGMAN_RunSeconds": "running_s",
    "PYDAGMAN_WastedSeconds": "wasted_s",
}
MEMORY = "PYDAGMAN_MemoryKB"  # of DAGMan's own, without what processes share
CPU = "PYDAGMAN_CpuSeconds"  # of DAGMan's process


def usage(memory_kb: int, cpu_s: float) -> dict[str, str]:
    """What DAGMan uses, as values of attributes; none if that is not known."""
    return {MEMORY: str(memory_kb), CPU: f"{cpu_s:.2f}"} if memory_kb else {}


def attributes(report: Report) -> dict[str, str | int]:
    """The values of the attributes; one that is not there stands for none."""
    cause, count = waits_for(report)
    values: dict[str, str | int] = {VERSION: __version__, WAITS_FOR: cause, WAITS_FOR_COUNT: count}
    if report.last_end_at:
        values[LAST_END] = int(report.last_end_at)
    if report.refusals:
        values[REFUSALS] = report.refusals
    return values


def waits_for(report: Report) -> tuple[str, int]:
    """What keeps the DAG from going on, or else from ending: a cause of `follow.notice`, and for
    how many nodes or jobs; what a person can change comes first."""
    if report.halts.halted:
        return "dag.halted", report.ready
    ready = report.ready - report.resubmitting
    causes = {
        "job.held": report.procs_held,
        "node.submit": report.resubmitting,
        "throttle.full": ready if report.throttled else 0,
        "job.idle": report.procs_idle if not report.procs_running else 0,
        "job.running": report.procs_running,
        "script.running": report.pre + report.post + report.hold_scripts,
        "node.retry": report.retrying,
        "node.futile": report.futile,
    }
    return next(((cause, count) for cause, count in causes.items() if count > 0), ("", 0))


def summary(report: Report) -> dict[str, str | int]:
    """The values of the attributes that a DAG leaves at its end, for the history."""
    values: dict[str, str | int] = {RETRIES: report.retries}
    values.update((name, round(getattr(report, field))) for name, field in TIMES.items())
    if report.failed_first:
        *most, last = report.failed_first
        more = "..." if len(most) == MAX_FAILED_FIRST - 1 else last
        values[FAILED] = ", ".join([*most, more])
    return values
