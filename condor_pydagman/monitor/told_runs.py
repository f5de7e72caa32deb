"""What the files of a DAG tell of its runs: the last one, and those before."""

from __future__ import annotations

import heapq
import time
from operator import attrgetter

from condor_pydagman.adapters.local_time import logged_minute
from condor_pydagman.errors import FileError, PydagmanError
from condor_pydagman.follow.follower import Plan, unknown_plan
from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.follow.past_runs import PastRuns
from condor_pydagman.follow.run_model import Run
from condor_pydagman.follow.tally import Tally
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.monitor.followed_file import FollowedFile
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.plan import read_plan
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import number_of
from condor_pydagman.records.dagman_out import BEGIN_OF_RUN, job_lines, out_lines
from condor_pydagman.report.all_runs import AllRuns
from condor_pydagman.report.all_runs import all_runs as runs_together
from condor_pydagman.report.comparison import Compared

_BLOCK_BYTES = 4 << 20


class Told(NamedTuple):
    """What the files of a DAG tell for a report."""

    found: FoundDag
    last: Run  # its last run
    dag: Dag | None  # None if the DAG files can't be read, `problem` says why then
    problem: str
    seen: AllRuns | None  # all its runs, if the report is about them
    tally: Tally  # of the last run

    @property
    def run(self) -> Run:
        """The run that the report is about, or all together."""
        return self.seen.whole if self.seen is not None else self.last


def told_of(found: FoundDag, *, all_runs: bool = False) -> Told:
    """Read the files of a DAG."""
    plan, problem = _plan(found)
    monitor = DagMonitor(found, read_plan=lambda: plan)
    last = monitor.read()
    if monitor.doubts:  # the DAG has changed since: what the logs tell without it counts
        plan, problem = unknown_plan(), monitor.doubts[0]
        monitor = DagMonitor(found, read_plan=unknown_plan)
        last = monitor.read()
    tally = monitor.tally()  # then the run has the nodes of which nothing has happened, too
    dag = None if plan.is_unknown else plan.dag
    seen = runs_together(earlier_runs(found), last, dag) if all_runs else None
    return Told(found, last, dag, problem, seen, tally)


def _plan(found: FoundDag) -> tuple[Plan, str]:
    try:
        return read_plan(found), ""
    except PydagmanError as error:
        return unknown_plan(), str(error).splitlines()[0]


def check_has_run(told: Told) -> None:
    """Refuse a DAG of which there is nothing to report.

    Raises:
        FileError: what to do is in its message.
    """
    found = told.found
    if not (told.last.starts or told.last.last):
        raise FileError(
            f"{found.name} has not run, or its logs were deleted: there is neither {found.out} nor"
            f" {found.nodes_log}. To run it: condor_pydagman run {found.name}"
        )


def compared_run(told: Told, number: int, name: str) -> Compared:
    """A run of a DAG for a comparison.

    Args:
        number: of the run, from 1 on; -1 is the last one, -2 the one before.
        name: what it is called there.

    Raises:
        FileError: there is no such run.
    """
    runs = [told.last] if number == -1 else [*earlier_runs(told.found), told.last]
    if not number or not -len(runs) <= number <= len(runs):
        raise FileError(f"{told.found.name} has {number_of(len(runs), 'run')}, and no run {number}")
    run = runs[number if number < 0 else number - 1]
    return Compared(name, run, end_of(run, told))


def end_of(run: Run, told: Told) -> float:
    """When a run ended, or now if it goes on; seconds since the epoch."""
    goes_on = run is told.last and told.found.is_live
    return run.ended or (time.time() if goes_on else run.last)


def earlier_runs(found: FoundDag) -> list[Run]:
    """Those before the last, oldest first."""
    file = FollowedFile(found.out, b"\n")
    end = file.line_of_last(*BEGIN_OF_RUN)
    times = LocalTimes(logged_minute, time.localtime().tm_year)
    runs = PastRuns()
    while file.offset < end:
        begin = file.offset
        data = file.read(min(_BLOCK_BYTES, end - begin))
        if not data:
            break
        told = out_lines(data, begin, times.seconds), job_lines(data, begin, times.seconds)
        runs.take(heapq.merge(*told, key=attrgetter("end")))
    return runs.close()
