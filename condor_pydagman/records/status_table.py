"""The tables that `.dagman.out` shows of a DAG: nodes, deferrals, job procs.

Monitors read them by pattern, so the columns are stock DAGMan's.
"""

from __future__ import annotations

from condor_pydagman.engine.report import Report
from condor_pydagman.engine.throttles import Throttles


def status_lines(report: Report) -> list[str]:
    """The status table: six lines."""
    counts = (
        f"{report.done:5d}   {report.pre:5d}    {report.queued:5d}   {report.post:5d}"
        f"   {report.ready:5d}      {report.unready:5d}    {report.failed:5d}    {report.futile:5d}"
    )
    return [
        f"DAG status: {int(report.dag_status)} (DAG_STATUS_{report.dag_status.name})",
        f"Of {report.total} nodes total:",
        " Done     Pre   Queued    Post   Ready   Un-Ready   Failed   Futile",
        "  ===     ===      ===     ===     ===        ===      ===      ===",
        counts,
        f"{report.procs_held} job proc(s) currently held",
    ]


def deferral_lines(report: Report, limits: Throttles, *, always: bool = False) -> list[str]:
    """Notes on how often nodes or scripts had to wait for throttles; those with 0 only if
    `always`."""
    seen = report.deferrals
    notes = (
        (seen.max_jobs, f"node deferrals because of -MaxJobs limit ({limits.jobs})"),
        (seen.max_idle, f"node deferrals because of -MaxIdle limit ({limits.idle})"),
        (seen.category, "node deferrals because of node category throttles"),
        (seen.pre, f"PRE script deferrals because of -MaxPre limit ({limits.pre}) or DEFER"),
        (seen.post, f"POST script deferrals because of -MaxPost limit ({limits.post}) or DEFER"),
        (seen.hold, f"HOLD script deferrals because of -MaxHold limit ({limits.hold}) or DEFER"),
    )
    return [f"Note: {count} total {text}" for count, text in notes if count or always]


def job_lines(report: Report) -> list[str]:
    """The job table."""
    failed = report.procs_failed
    counts = (
        f"  {report.procs_idle:7d}  {report.procs_held:7d}     {report.procs_running:7d}"
        f"     {report.procs_completed - failed:10d} {failed:10d}"
    )
    return [
        f"Total jobs placed to AP: {report.procs_submitted}",
        "     Idle     Held     Running     Successful     Failed",
        "      ===      ===         ===            ===        ===",
        counts,
    ]
