"""Recovery of a big DAG, ours beside stock: python -m benchmarks.recovery

A DAG of 100,000 nodes in 100 layers, the nodes log of a run in which all but the last node have
ended, and the lock file of a DAGMan that died: each program is started on them by hand and reads
the log until it says `...done with RECOVERY mode`.  Then its status table must show all nodes but
one as done, and it is killed.  The same with a log that shows no more than the start of the
first node tells what is not the replay.  No pool is needed, and none is asked.  With --post each
node has a POST script, which makes it four events a node instead of three.

Time is by the clock, seen every few milliseconds; CPU and the greatest resident memory are those of
the moment at which the program says that it has recovered.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import shapes
from benchmarks.load import CHECKOUT, say, stock_version
from condor_pydagman.errors import PoolError
from condor_pydagman.pool import personal
from condor_pydagman.pool.choice import find
from condor_pydagman.pool.privileges import identity

NODES = 100_000
QUICK_NODES = 10_000
SHAPE = "vars"
FIRST_CLUSTER = 100
POLL_INTERVAL_S = 0.005  # seconds
RECOVERED = b"...done with RECOVERY mode"
TABLE = re.compile(rb"Of \d+ nodes total:.*\n.*Done.*\n.*===.*\n\S+ \S+ +(\d+) +\d+ +(\d+) ")

HOST = "<192.0.2.17:9618?addrs=192.0.2.17-9618&alias=ap.example.org&noUDP&sock=schedd_1034_5c1a>"
WHEN = "2026-11-21 11:56:29"
_ENDING = "\t(1) Normal termination (return value 0)\n"
_USAGE = "".join(
    f"\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  {what} Usage\n"
    for what in ("Run Remote", "Run Local", "Total Remote", "Total Local")
)
_BYTES = "".join(
    f"\t0  -  {when} Bytes {way} By Job\n"
    for when in ("Run", "Total")
    for way in ("Sent", "Received")
)


@dataclass
class Cost:
    """What a program took until it had recovered; `failure` says why the rest means nothing.

    `seconds` by the clock, `cpu` seconds of user and system, `memory` in MB (10^6 bytes).
    """

    seconds: float = 0.0
    cpu: float = 0.0
    memory: float = 0.0
    failure: str = ""


def write_log(path: Path, nodes: int, ended: int, *, post: bool) -> None:
    """The nodes log as the schedd writes it: `ended` nodes have ended, the next one runs.

    With `post`, also what DAGMan writes of POST scripts.
    """
    width = max(nodes // shapes.LAYERS, 1)
    with path.open("w", encoding="ascii") as stream:
        for first in range(0, ended + 1, width):
            some = range(first, min(first + width, ended + 1))
            stream.writelines(map(_submitted, some))
            stream.writelines(map(_executing, some))
            stream.writelines(_terminated(node) for node in some if node < ended)
            if post:
                stream.writelines(_post_ended(node) for node in some if node < ended)


def _submitted(node: int) -> str:
    return (
        f"{_head(0, node)} Job submitted from host: {HOST}\n"
        f'    [ DAGNodeName = "n{node:06}"; JobBatchName = "{shapes.NAME}+7" ]\n...\n'
    )


def _executing(node: int) -> str:
    return f"{_head(1, node)} Job executing on host: {HOST}\n...\n"


def _terminated(node: int) -> str:
    return f"{_head(5, node)} Job terminated.\n{_ENDING}{_USAGE}{_BYTES}...\n"


def _post_ended(node: int) -> str:
    return f"{_head(16, node)} POST Script terminated.\n{_ENDING}    DAG Node: n{node:06}\n...\n"


def _head(kind: int, node: int) -> str:
    return f"{kind:03} ({FIRST_CLUSTER + node:03}.000.000) {WHEN}"


class Recovery:
    """Lets programs recover in one directory.

    Args:
        place: where the DAG is; the user that the programs run as must be able to write there.
        nodes: how many the DAG has.
        post: whether its nodes have POST scripts.
        version: what condor_submit_dag would tell condor_dagman that it is.
        timeout_s: seconds after which a process is ended.
    """

    def __init__(
        self, place: Path, nodes: int, *, post: bool, version: str, timeout_s: float
    ) -> None:
        self._place = place
        self._nodes = nodes
        self._post = post
        self._version = version
        self._timeout_s = timeout_s

    def run(self, program: Path, ended: int, knobs: dict[str, str] | None = None) -> Cost:
        """Start a condor_dagman on the log of a run in which so many nodes have ended.

        Args:
            knobs: what to add to its environment.
        """
        log, out = self._place / f"{shapes.NAME}.nodes.log", self._place / "x.out"
        write_log(log, self._nodes, ended, post=self._post)
        log.chmod(0o666)
        (self._place / "x.lock").write_text("7\n", encoding="ascii")
        (self._place / "x.lock").chmod(0o666)
        out.unlink(missing_ok=True)
        words = ["-f", "-l", ".", "-Lockfile", "x.lock", "-Dag", shapes.NAME]
        argv = [str(program), *words, "-CsdVersion", self._version]
        with (self._place / "said").open("wb") as said:
            begin = time.perf_counter()
            process = subprocess.Popen(
                identity().command(argv),
                cwd=self._place,
                env={**self._environment(), **(knobs or {})},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
            try:
                return self._watch(process, out, begin, ended)
            finally:
                process.kill()
                process.wait()

    def _watch(self, process: subprocess.Popen[bytes], out: Path, begin: float, ended: int) -> Cost:
        """Wait for the end of recovery, then for the status table that proves it."""
        cost, text = None, b""
        for piece in self._pieces(process, out, begin + self._timeout_s):
            text += piece
            if cost is None and RECOVERED in text:
                cost = Cost(time.perf_counter() - begin, *_used(process.pid))
                text = text[text.index(RECOVERED) :]
            table = None if cost is None else TABLE.search(text)
            if cost is not None and table is not None:
                if int(table[1]) != ended or not int(table[2]):
                    cost.failure = f"{int(table[1])} nodes done, {int(table[2])} queued"
                return cost
            text = text[-2000:]
        return Cost(failure=f"ends, or takes more than {self._timeout_s:.0f} s")

    @staticmethod
    def _pieces(process: subprocess.Popen[bytes], out: Path, deadline: float) -> Iterator[bytes]:
        """What is written to a file that grows, piece by piece."""
        while not out.exists() and process.poll() is None and time.perf_counter() < deadline:
            time.sleep(POLL_INTERVAL_S)
        if not out.exists():
            return
        with out.open("rb") as stream:
            while time.perf_counter() < deadline:
                piece = stream.read(1 << 24)
                if piece:
                    yield piece
                elif process.poll() is not None:
                    return
                else:
                    time.sleep(POLL_INTERVAL_S)

    def _environment(self) -> dict[str, str]:
        """All knobs at their defaults but two: stock DAGMan would not run without a pool."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("_CONDOR_", "CONDOR_"))}
        return {
            **kept,
            "CONDOR_CONFIG": "ONLY_ENV",
            "CONDOR_ID": "",
            "_CONDOR_LOG": str(self._place),
            "_CONDOR_DAGMAN_LOG": "x.out",
            "_CONDOR_DAGMAN_USE_STRICT": "0",
            "_CONDOR_DAGMAN_AVOID_SLASH_TMP": "False",  # the checkout may be there
        }


def _used(pid: int) -> tuple[float, float]:
    """CPU seconds and greatest resident memory, MB, of a process that lives."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    memory = int(found[1]) * 1024 / 1e6 if found else 0.0
    return ticks / os.sysconf("SC_CLK_TCK"), memory


def best(one: Cost | None, other: Cost) -> Cost:
    """The least of everything; a failure stays."""
    if one is None or one.failure or other.failure:
        return other if one is None or other.failure else one
    return Cost(
        min(one.seconds, other.seconds), min(one.cpu, other.cpu), min(one.memory, other.memory)
    )


def render(costs: dict[str, dict[str, Cost]], nodes: int) -> str:
    """The table that people read, in Markdown; a ratio below 1 means that ours needs less."""
    lines = ["| | stock | ours | ours / stock |", "|---|---:|---:|---:|"]
    for name, title, unit, digits in (
        ("seconds", "time", "s", 2),
        ("cpu", "CPU", "s", 2),
        ("memory", "memory", "MB", 0),
    ):
        stock, ours = (_values(costs[whose], name) for whose in ("stock", "ours"))
        rows = (f"until recovered, {nodes:,} nodes", "the same, nothing to replay", "difference")
        for index, text in enumerate(rows):
            shown = [f"{values[index]:,.{digits}f} {unit}" for values in (stock, ours)]
            ratio = f"{ours[index] / stock[index]:.2f}" if stock[index] > 0 else "-"
            lines.append(f"| {title}: {text} | {' | '.join(shown)} | {ratio} |")
    return "\n".join(lines) + "\n"


def _values(costs: dict[str, Cost], name: str) -> list[float]:
    whole, start = getattr(costs["whole"], name), getattr(costs["start"], name)
    return [whole, start, whole - start]


def arguments(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"a DAG of {QUICK_NODES:,} nodes")
    parser.add_argument("--post", action="store_true", help="nodes with POST scripts")
    parser.add_argument("--rounds", type=int, default=1, help="the best of so many counts")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one process")
    parser.add_argument("--json", metavar="FILE", help="write all numbers there too")
    parser.add_argument("--ours", metavar="DIRECTORY", type=Path, help="where our commands are")
    parser.add_argument("--dir", metavar="DIRECTORY", help="where to work")
    return parser.parse_args(argv)


def measure(
    recovery: Recovery, binaries: dict[str, Path], nodes: int, rounds: int
) -> dict[str, dict[str, Cost]]:
    """Costs by whose program it is, and by 'whole' or 'start'."""
    costs: dict[str, dict[str, Cost]] = {whose: {} for whose in binaries}
    for number in range(rounds):
        for whose in binaries if number % 2 == 0 else reversed(list(binaries)):
            for which, ended in (("start", 0), ("whole", nodes - 1)):
                cost = recovery.run(binaries[whose] / "condor_dagman", ended)
                say(f"{whose}, {ended} ended: {cost.failure or f'{cost.seconds:.2f} s'}")
                costs[whose][which] = best(costs[whose].get(which), cost)
    return costs


def main(argv: list[str]) -> int:
    """Measure; returns 2 only if nothing can be measured here."""
    chosen = arguments(argv)
    base = Path(chosen.dir).absolute() if chosen.dir else CHECKOUT / "var"
    try:
        stock = find(personal.cache_directory(os.environ, identity().way == "account"), say).bin
    except PoolError as error:
        say(f"can't measure: {error}")
        return 2
    binaries = {"stock": stock, "ours": chosen.ours or Path(personal.commands_directory())}
    nodes = QUICK_NODES if chosen.quick else NODES
    place = base / f"recovery.{os.getpid()}"
    place.mkdir(parents=True)
    try:
        version = stock_version(stock)
        print(f"{version}\nPython {platform.python_version()}, {os.cpu_count()} cores\n")
        shapes.write(SHAPE, nodes, place)
        if chosen.post:
            with (place / shapes.NAME).open("a", encoding="ascii") as stream:
                stream.write("SCRIPT POST ALL_NODES /bin/true\n")
        place.chmod(0o777)
        recovery = Recovery(
            place, nodes, post=chosen.post, version=version, timeout_s=chosen.timeout
        )
        costs = measure(recovery, binaries, nodes, chosen.rounds)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if any(cost.failure for found in costs.values() for cost in found.values()):
        return 2
    print(render(costs, nodes))
    if chosen.json:
        numbers = {
            whose: {which: dataclasses.asdict(cost) for which, cost in found.items()}
            for whose, found in costs.items()
        }
        Path(chosen.json).write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
