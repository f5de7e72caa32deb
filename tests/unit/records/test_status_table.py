"""The tables of `.dagman.out`."""

from __future__ import annotations

from condor_pydagman.engine.report import Deferrals, Report
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.records.status_table import deferral_lines, job_lines, status_lines
from condor_pydagman.vocabulary import DagStatus

REPORT = Report(
    total=123456,
    done=100000,
    pre=1,
    queued=2,
    post=3,
    ready=4,
    unready=23446,
    failed=5,
    futile=6,
    hold_scripts=0,
    dag_status=DagStatus.NODE_FAILED,
    in_recovery=False,
    procs_submitted=70,
    procs_idle=7,
    procs_held=8,
    procs_running=9,
    procs_completed=10,
    deferrals=Deferrals(max_idle=3, hold=1),
)
LIMITS = Throttles(jobs=0, idle=1000, pre=20, post=21, hold=22)


def test_status_table() -> None:
    assert status_lines(REPORT) == [
        "DAG status: 2 (DAG_STATUS_NODE_FAILED)",
        "Of 123456 nodes total:",
        " Done     Pre   Queued    Post   Ready   Un-Ready   Failed   Futile",
        "  ===     ===      ===     ===     ===        ===      ===      ===",
        "100000       1        2       3       4      23446        5        6",
        "8 job proc(s) currently held",
    ]


def test_every_number_stands_under_its_heading() -> None:
    lines = status_lines(REPORT._replace(done=0, unready=7))
    assert lines[4] == "    0       1        2       3       4          7        5        6"
    assert len(lines[4]) == len(lines[3])


def test_deferrals_that_happened() -> None:
    assert deferral_lines(REPORT, LIMITS) == [
        "Note: 3 total node deferrals because of -MaxIdle limit (1000)",
        "Note: 1 total HOLD script deferrals because of -MaxHold limit (22) or DEFER",
    ]


def test_all_deferrals() -> None:
    assert deferral_lines(REPORT._replace(deferrals=Deferrals()), LIMITS, always=True) == [
        "Note: 0 total node deferrals because of -MaxJobs limit (0)",
        "Note: 0 total node deferrals because of -MaxIdle limit (1000)",
        "Note: 0 total node deferrals because of node category throttles",
        "Note: 0 total PRE script deferrals because of -MaxPre limit (20) or DEFER",
        "Note: 0 total POST script deferrals because of -MaxPost limit (21) or DEFER",
        "Note: 0 total HOLD script deferrals because of -MaxHold limit (22) or DEFER",
    ]


def test_job_table() -> None:
    lines = job_lines(REPORT._replace(procs_failed=4))
    assert lines[0] == "Total jobs placed to AP: 70"
    assert lines[3].split() == ["7", "8", "9", "6", "4"]
    assert len(lines[3]) == len(lines[1])
