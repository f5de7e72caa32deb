"""What waiting DAGs cost the schedd, beside a queue of other jobs: ours and stock's.

    .venv/bin/python -m benchmarks.busy_schedd [--dags N] [--jobs N] [--seconds S] [--of ours stock]

A pool of its own is started.  Each DAG has one node, whose job is on hold as the other jobs are.
Those are older than the DAGs: as the schedd goes through its queue from the oldest job on, looks of
a DAGMan at its own job ad then cost most.  The CPU time is that of the schedd in a second, with
what it forks to answer queries.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

import htcondor2

from benchmarks import costs, dags, events
from benchmarks.bundle_costs import schedd_pid
from benchmarks.idle_steps import START_TIMEOUT_S, directories_of
from benchmarks.place import Place, started_place
from benchmarks.subjects import OURS, STOCK

SETTLE_S = 60.0  # after jobs and DAGs have been submitted
AT_ONCE = 1000  # jobs of one submission
FEW = 50  # DAGs
DAGMANS = "JobUniverse == 7"


def main() -> None:
    """Print a table, as docs/performance.md has it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--dags", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=620.0, help="two looks at the job ad")
    parser.add_argument("--of", nargs="+", default=[STOCK, OURS], choices=[STOCK, OURS])
    arguments = parser.parse_args()
    with started_place() as place:
        homes = {  # before the queue has jobs: a new directory waits until it has none
            subject: directories_of(place, f"busy-{subject}", dags.held(), arguments.dags)
            for subject in arguments.of
        }
        _fill(place, arguments.jobs)
        time.sleep(SETTLE_S)
        print("| what | CPU of the schedd in a second |\n|---|---:|")
        print(f"| no DAG | {_spent(place, arguments.seconds / 4)} |", flush=True)
        for subject, directories in homes.items():
            used = _beside(place, subject, directories, arguments.seconds)
            print(f"| {arguments.dags} DAGs of {subject} | {used} |", flush=True)


def _fill(place: Place, jobs: int) -> None:
    """Put jobs into the queue that stay there."""
    os.environ.update(place.environment())
    htcondor2.reload_config()
    held = htcondor2.Submit("executable = /bin/true\nhold = true\n")
    for _ in range(0, jobs, AT_ONCE):
        htcondor2.Schedd().submit(held, count=AT_ONCE)


def _beside(place: Place, subject: str, directories: Sequence[Path], seconds: float) -> str:
    try:
        for first in range(0, len(directories), FEW):  # all of a call have the same time limit
            place.submit(directories[first : first + FEW], subject)
        for directory in directories:
            log = directory / f"{dags.NAME}.nodes.log"
            place.wait_events(log, events.SUBMIT, 1, START_TIMEOUT_S)
        time.sleep(SETTLE_S)
        return _spent(place, seconds)
    finally:
        schedd = htcondor2.Schedd()
        while schedd.query(DAGMANS, projection=["ClusterId"], limit=1):
            schedd.act(htcondor2.JobAction.Remove, DAGMANS)  # of hundreds, one may be left out
            time.sleep(5.0)
        time.sleep(SETTLE_S)


def _spent(place: Place, seconds: float) -> str:
    schedd = schedd_pid(place)
    before = costs.spent(schedd)
    time.sleep(seconds)
    used = costs.spent(schedd) - before
    return f"{1000 * used / seconds:.2f} ms"


if __name__ == "__main__":
    main()
