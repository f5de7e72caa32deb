"""What the DAGMans of one user cost after a restart of the schedd, which starts all at once.

    .venv/bin/python -m benchmarks.schedd_restart [--dags N] [--seconds S] [--of ours stock]
        [--ours DIRECTORY] [--knob NAME=VALUE ...]

A pool of its own is started.  Each DAG has one node, whose job is on hold: no DAGMan finds anything
to do.  Memory is the peak of the sum of PSS, of DAGMans and the processes that they have forked;
CPU is theirs until the end of the measurement, and `back` is the time until the last one has begun.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import costs, dags, events
from benchmarks.bundle_costs import schedd_pid
from benchmarks.idle_steps import START_TIMEOUT_S, directories_of
from benchmarks.place import Failed, Place
from benchmarks.subjects import OURS, STOCK
from condor_pydagman.pool import processes

SETTLE_S = 30.0  # after the DAGs have been submitted, so that processes beside DAGMans have left
LOOK_S = 0.2  # between two looks at the memory; each takes some 20 ms
NAME = "condor_dagman"
BEGUN = "** PID = "  # in `.dagman.out`, once for each start


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--dags", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=60.0, help="from the new schedd on")
    parser.add_argument("--of", nargs="+", default=[STOCK, OURS], choices=[STOCK, OURS])
    parser.add_argument("--ours", default="", help="directory of our commands")
    parser.add_argument("--knob", nargs="*", default=[], help="of ours")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        Path(directory).chmod(0o755)
        place = Place(
            Path(directory), arguments.ours, dict(one.split("=", 1) for one in arguments.knob)
        )
        place.start()
        try:
            print("| of | peak PSS | PSS at the end | CPU | back |\n|---|---:|---:|---:|---:|")
            for subject in arguments.of:
                homes = directories_of(place, f"back-{subject}", dags.held(), arguments.dags)
                print(f"| {subject} | {_restarted(place, subject, homes, arguments.seconds)} |")
        finally:
            place.stop()


def _restarted(place: Place, subject: str, directories: Sequence[Path], seconds: float) -> str:
    place.submit(directories, subject)
    for directory in directories:
        log = directory / f"{dags.NAME}.nodes.log"
        place.wait_events(log, events.SUBMIT, 1, START_TIMEOUT_S)
    time.sleep(SETTLE_S)
    old = schedd_pid(place)
    os.kill(old, signal.SIGTERM)
    _wait_for_another(place, old)
    begun = time.monotonic()
    peak = back_s = 0.0
    while time.monotonic() < begun + seconds:
        found = _memory(_dagmans(place))
        peak = max(peak, found)
        if not back_s and all(map(_is_back, directories)):
            back_s = time.monotonic() - begun
        time.sleep(LOOK_S)
    cpu = sum(costs.cpu_seconds(pid) + _of_children(pid) for pid in _dagmans(place))
    place.remove_all()
    return f"{peak:.0f} MB | {found:.0f} MB | {cpu:.2f} s | {back_s:.1f} s"


def _wait_for_another(place: Place, old: int) -> None:
    """Wait until the master has started another schedd; the old one ends a DAGMan in a second."""
    while True:
        with contextlib.suppress(Failed):  # there is none just now
            if schedd_pid(place) != old:
                return
        time.sleep(LOOK_S)


def _is_back(directory: Path) -> bool:
    """Whether the DAG there has been begun twice."""
    return (directory / f"{dags.NAME}.dagman.out").read_text("utf-8", "replace").count(BEGUN) > 1


def _dagmans(place: Place) -> list[int]:
    """All DAGMans, and what they have forked."""
    pids = processes.family(schedd_pid(place))
    return [pid for pid in pids if processes.stat_of(pid).name == NAME]


def _memory(pids: Sequence[int]) -> float:
    total = 0.0
    for pid in pids:
        with contextlib.suppress(OSError):  # it has just ended
            total += costs.memory(pid)["pss"]
    return total


def _of_children(pid: int) -> float:
    """CPU seconds of children that have ended, in ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
