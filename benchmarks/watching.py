"""What it takes to look at a DAG: `watch`, `events` and `report` on logs of many nodes.

    .venv/bin/python -m benchmarks.watching --nodes 100000 --nodes 1000000

The logs are written here, as DAGMan and the schedd write them; no pool is needed.
"""

from __future__ import annotations

import argparse
import heapq
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from benchmarks.place import Failed
from tests.log_samples import BYTES, HOST, SLOT, TABLE, USAGE

BEGIN = 1795000000.0
PACE_S = 0.02  # between submissions
WAIT_S, RUN_S = 3.0, 10.0
WIDTH = 10  # children of a node
# Their words, and how many nodes at most; 0: any number.
COMMANDS = {
    "watch --once": (["watch", "--once"], 0),
    "tail": (["tail"], 0),
    "report": (["report", "-o", os.devnull], 200_000),
    "report --format csv": (["report", "--format", "csv", "-o", os.devnull], 200_000),
    "events": (["events"], 200_000),
}


def write_dag(directory: Path, nodes: int) -> None:
    """A DAG whose nodes have ended, and its logs."""
    with open(directory / "t.dag", "w") as file:
        for node in range(nodes):
            file.write(f"JOB N{node} a.sub\n")
        for node in range(nodes):
            if node % WIDTH:
                file.write(f"PARENT N{node - node % WIDTH} CHILD N{node}\n")
    with (
        open(directory / "t.dag.nodes.log", "w") as log,
        open(directory / "t.dag.dagman.out", "w") as out,
    ):
        out.write(f"{_out(BEGIN)} ** condor_dagman (CONDOR_DAGMAN) STARTING UP\n")
        out.write(f"{_out(BEGIN)} MultiLogFiles: truncating log file x\n")
        for when, node, what in _events(nodes):
            _write_event(log, out, when, node, what)
            if node % 1000 == 0:
                _write_counts(out, when, nodes, node)
        out.write(f"{_out(when)} **** condor_dagman (condor_DAGMAN) pid 7 EXITING WITH STATUS 0\n")


def _events(nodes: int) -> Iterator[tuple[float, int, int]]:
    """Time, node, and what: 0 submitted, 1 runs, 2 has ended; children follow their parents."""
    delays = (0.0, WAIT_S, WAIT_S + RUN_S)
    own = (_each(range(0, nodes, WIDTH), what, delay) for what, delay in enumerate(delays))
    after = WAIT_S + 2 * RUN_S
    children = [node for node in range(nodes) if node % WIDTH]
    others = (_each(children, what, after + delay) for what, delay in enumerate(delays))
    return heapq.merge(*own, *others)


def _each(nodes: Iterable[int], what: int, delay: float) -> Iterator[tuple[float, int, int]]:
    return ((BEGIN + node * PACE_S + delay, node, what) for node in nodes)


def _write_event(log: TextIO, out: TextIO, when: float, node: int, what: int) -> None:
    job, stamp, line = f"({node + 1:03d}.000.000)", _log(when), _out(when)
    name = f"N{node}"
    print(f"{line} Event: ULOG for HTCondor Node {name} ({node + 1}.0.0)", file=out)
    if what == 0:
        text = f'000 {job} {stamp} Job submitted from host: {HOST}\n    [ DAGNodeName = "{name}" ]'
        print(f"{line} Submitting HTCondor Node {name} job(s)...", file=out)
    elif what == 1:
        text = f"001 {job} {stamp} Job executing on host: {HOST}\n{SLOT}".rstrip("\n")
    else:
        body = f"\t(1) Normal termination (return value 0)\n{USAGE}{BYTES}{TABLE}"
        text = f"005 {job} {stamp} Job terminated.\n{body}".rstrip("\n")
        print(f"{line} Node {name} job proc ({node + 1}.0.0) completed successfully.", file=out)
    print(f"{text}\n...", file=log)


def _write_counts(out: TextIO, when: float, nodes: int, done: int) -> None:
    row = (done, 0, min(500, nodes - done), 0, 0, max(nodes - done - 500, 0), 0, 0)
    stamp = _out(when)
    print(f"{stamp} Of {nodes} nodes total:", file=out)
    print(f"{stamp}  Done     Pre   Queued    Post   Ready   Un-Ready   Failed   Futile", file=out)
    print(f"{stamp}   ===     ===      ===     ===     ===        ===      ===      ===", file=out)
    print(stamp, *(f"{count:>6}" for count in row), file=out)


def _log(when: float) -> str:
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(when))
    return f"{moment}.{int(when * 1000) % 1000:03d}"


def _out(when: float) -> str:
    return time.strftime("%m/%d/%y %H:%M:%S", time.localtime(when))


def measure(directory: Path, words: list[str]) -> tuple[float, float, float]:
    """Seconds, CPU seconds and MB of a command; Failed if it fails."""
    program = "import sys; from condor_pydagman.cli.pydagman import main; sys.exit(main())"
    begun = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-c", program, words[0], "t.dag", *words[1:]],
        cwd=directory,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
    if status:
        raise Failed(f"{words[0]} has failed")
    cpu = used.ru_utime + used.ru_stime
    return time.monotonic() - begun, cpu, used.ru_maxrss * 1024 / 1e6


def main() -> None:
    """Print a table, as docs/performance.md has it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, action="append")
    arguments = parser.parse_args()
    print("| command | nodes | nodes log, MB | seconds | CPU, s | MB |")
    print("|---|---:|---:|---:|---:|---:|")
    for nodes in arguments.nodes or [100_000]:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
            write_dag(Path(place), nodes)
            size = os.path.getsize(Path(place) / "t.dag.nodes.log") / 1e6
            for name, (words, most) in COMMANDS.items():
                if not most or nodes <= most:
                    seconds, cpu, memory = measure(Path(place), words)
                    row = f"{seconds:.1f} | {cpu:.1f} | {memory:.0f}"
                    print(f"| {name} | {nodes:,} | {size:.0f} | {row} |", flush=True)


if __name__ == "__main__":
    main()
