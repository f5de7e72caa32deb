"""What bundles bring: a bag of short nodes alone, in bundles, and with the programs that people use
instead, side by side on one pool.

Use: python -m benchmarks.bundles [--nodes N] [--rounds R] [--seconds S] [--slots K] [--peers]

`--seconds` is how long each task sleeps; without it a task is /bin/true.  The time is from the
submission of the DAGMan job to its end; the time of a peer is that of its program.  The ideal is
that K slots do nothing but sleep.  CPU times are milliseconds a node, less those of a DAG of one
node: of the DAGMan process, of those that it starts, and of the schedd.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import bundle_costs, dags, peers
from benchmarks.bundle_costs import Took
from benchmarks.place import Failed, Place

TRUE = "executable = /bin/true\ntransfer_executable = false\n"
SLEEP = "executable = /bin/sleep\ntransfer_executable = false\narguments = {seconds:g}\n"
NO_FILES = "should_transfer_files = NO\n"
FILES = "transfer_input_files = data.txt\noutput = made.$(JOB)\nshould_transfer_files = YES\n"
PEERS = ("dask", "parsl-threads", "parsl-htex", "makeflow-local")
HEAD = (
    "| what | tasks a second | median | times the ideal | jobs | DAGMan | its helpers | schedd |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|"
)


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
        yield Case("nodes alone, files transferred", TRUE + FILES)
        yield Case("in bundles, files transferred", TRUE + FILES, "BUNDLE b ALL_NODES\n")


def run_case(place: Place, case: Case, nodes: int) -> Took:
    """Run so many nodes of it."""
    directory = place.new_directory("bundles")
    dags.bag(nodes, case.job).write(directory)
    (directory / "data.txt").write_text("data\n", encoding="ascii")
    dag = directory / dags.NAME
    dag.write_text(case.line + dag.read_text(encoding="ascii"), encoding="ascii")
    return bundle_costs.run(place, directory, nodes)


def run_peer(place: Place, name: str, nodes: int) -> float:
    """Seconds of a peer's program with as many tasks of /bin/true; Failed if there is none."""
    peer = peers.PEERS[name]
    if peer.program not in peers.versions():
        raise Failed(f"{peer.program} is not installed")
    directory = place.new_directory(name)
    argv = peers.command(peer, "bag", nodes, directory, place.environment()["PATH"])
    ((seconds, _),) = place.run_each([(argv, directory)])
    return seconds


def row(case: Case, nodes: int, ideal_s: float, found: list[Took], start: Took) -> str:
    """A line of the table.

    Args:
        ideal_s: the least that it can take; 0: next to nothing.
        found: of each round.
        start: of a DAG of one node.
    """
    fastest, usual = min(one.seconds for one in found), bundle_costs.medians(found)
    more = max(nodes - 1, 1)
    cpu = [
        f"{(whole - of_start) * 1000 / more:.2f}"
        for whole, of_start in zip(usual[2:], start[2:])  # the CPU times
    ]
    over = f"{usual.seconds / ideal_s:.3f}" if ideal_s else "-"
    cells = [
        f"{nodes / fastest:.1f}",
        f"{nodes / usual.seconds:.1f}",
        over,
        f"{usual.jobs:g}",
        *cpu,
    ]
    return f"| {case.title} | {' | '.join(cells)} |"


def main() -> None:
    """Print a table; the shortest time of all rounds counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--slots", type=int, default=16, help="of the pool; at least its cores")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--alone", type=int, default=300, help="nodes of the bags without bundles")
    parser.add_argument("--directory", type=Path)
    arguments = parser.parse_args()
    directory = arguments.directory or Path(tempfile.mkdtemp(prefix="bundles-"))
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o755)
    place = Place(directory)
    place.start(arguments.slots)
    try:
        lines = list(measured(place, arguments))
    finally:
        place.stop()
    print("\n".join([HEAD, *lines]))


def measured(place: Place, chosen: argparse.Namespace) -> Iterator[str]:
    """The lines of the table."""
    if chosen.peers:
        peers.install(print)
    wanted = {case: chosen.nodes if case.line else chosen.alone for case in cases(chosen.seconds)}
    wanted = {case: count for case, count in wanted.items() if count}
    starts = {case: run_case(place, case, 1) for case in wanted}
    found: dict[Case, list[Took]] = {case: [] for case in wanted}
    rates: dict[str, list[float]] = {}
    for _ in range(chosen.rounds):
        for case, count in wanted.items():
            found[case].append(run_case(place, case, count))
        for name in PEERS if chosen.peers else ():
            try:
                rate = chosen.nodes / run_peer(place, name, chosen.nodes)
                rates.setdefault(peers.PEERS[name].title, []).append(rate)
            except Failed as error:
                print(f"{name}: {error}")
    for case, count in wanted.items():
        ideal_s = count * chosen.seconds / max(chosen.slots, os.cpu_count() or 1)
        yield row(case, count, ideal_s, found[case], starts[case])
    for title, some in rates.items():
        yield f"| {title} | {max(some):.1f} | {statistics.median(some):.1f} | - | - | - | - | - |"


if __name__ == "__main__":
    main()
