"""What bundles bring: a bag of short nodes alone, in bundles, and with the programs that people use
instead, side by side on one pool.

Use: python -m benchmarks.bundles [--nodes N] [--rounds R] [--seconds S] [--peers] [--directory D]

`--seconds` is how long each task sleeps; without it a task is /bin/true.  The time is from the
submission of the DAGMan job to its end; the time of a peer is that of its program.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import dags, peers
from benchmarks.place import Failed, Place
from benchmarks.subjects import OURS

TIMEOUT_S = 1800.0
TRUE = "executable = /bin/true\ntransfer_executable = false\n"
SLEEP = "executable = /bin/sleep\ntransfer_executable = false\narguments = {seconds:g}\n"
NO_FILES = "should_transfer_files = NO\n"
FILES = (
    "executable = task.sh\ntransfer_input_files = data.txt\nshould_transfer_files = YES\n"
    "transfer_output_files = made.$(JOB)\narguments = $(JOB)\n"
)
TASK = "#!/bin/sh\ncat data.txt > made.$1\n"
PEERS = ("dask", "parsl-threads", "parsl-htex", "makeflow-local")


class Case(NamedTuple):
    """A bag: how tables call it, the description of its nodes, the BUNDLE line or ''."""

    title: str
    job: str
    line: str = ""


def cases(seconds: float) -> Iterator[Case]:
    """What is measured of ours."""
    plain = (SLEEP.format(seconds=seconds) if seconds else TRUE) + NO_FILES
    yield Case("nodes alone, no file transfer", plain)
    yield Case("in bundles, no file transfer", plain, "BUNDLE b ALL_NODES\n")
    if not seconds:
        yield Case("nodes alone, files transferred", FILES)
        yield Case("in bundles, files transferred", FILES, "BUNDLE b ALL_NODES\n")


def run_case(place: Place, case: Case, nodes: int) -> float:
    """Seconds from submission to end."""
    directory = place.new_directory("bundles")
    dags.bag(nodes, case.job).write(directory)
    (directory / "data.txt").write_text("data\n", encoding="ascii")
    task = directory / "task.sh"
    task.write_text(TASK, encoding="ascii")
    task.chmod(0o755)
    dag = directory / dags.NAME
    dag.write_text(case.line + dag.read_text(encoding="ascii"), encoding="ascii")
    place.submit([directory], OURS, by=OURS)
    events = place.wait_end(directory, TIMEOUT_S)
    return events[-1].time - events[0].time


def run_peer(place: Place, name: str, nodes: int) -> float:
    """Seconds of a peer's program with as many tasks of /bin/true; Failed if there is none."""
    peer = peers.PEERS[name]
    if peer.program not in peers.versions():
        raise Failed(f"{peer.program} is not installed")
    directory = place.new_directory(name)
    argv = peers.command(peer, "bag", nodes, directory, place.environment()["PATH"])
    ((seconds, _),) = place.run_each([(argv, directory)])
    return seconds


def main() -> None:
    """Print a table; the shortest time of all rounds counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--alone", type=int, default=300, help="nodes of the bags without bundles")
    parser.add_argument("--directory", type=Path)
    arguments = parser.parse_args()
    directory = arguments.directory or Path(tempfile.mkdtemp(prefix="bundles-"))
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o755)
    place = Place(directory)
    place.start()
    found: dict[str, list[float]] = {}
    try:
        if arguments.peers:
            peers.install(print)
        for _ in range(arguments.rounds):
            for case in cases(arguments.seconds):
                count = arguments.nodes if case.line else arguments.alone
                found.setdefault(case.title, []).append(count / run_case(place, case, count))
            for name in PEERS if arguments.peers else ():
                try:
                    rate = arguments.nodes / run_peer(place, name, arguments.nodes)
                    found.setdefault(peers.PEERS[name].title, []).append(rate)
                except Failed as error:
                    print(f"{name}: {error}")
    finally:
        place.stop()
    print("| what | tasks a second | median |\n|---|---:|---:|")
    for title, rates in found.items():
        print(f"| {title} | {max(rates):.1f} | {statistics.median(rates):.1f} |")


if __name__ == "__main__":
    main()
