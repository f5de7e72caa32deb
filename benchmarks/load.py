"""Time and memory to load big DAGs, ours beside stock: python -m benchmarks.load

Each shape of `shapes.py` is written once, in its full size and in a tenth of it, and read by four
programs: condor_dagman and condor_dag_checker, the stock ones and ours.  `condor_dagman -Dot` loads
a DAG wholly and then ends, since the DAG asks for no picture; condor_dag_checker does so with
-Statistics.  No pool is needed.  It judges nothing: the exit code is 0 whatever the numbers are.

Memory is the greatest resident size, as wait4(2) tells.  A process begins as a copy of its parent,
which is a program of some 6 MB: that is the least that it can tell.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import shapes
from condor_pydagman.errors import PoolError
from condor_pydagman.pool import personal
from condor_pydagman.pool.choice import find
from condor_pydagman.pool.privileges import identity

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
PROGRAMS = ("condor_dagman", "condor_dag_checker")
TENTH = 10  # by how much the smaller DAG of a shape is smaller


@dataclass(frozen=True)
class Case:
    """A DAG to load; without `joins` DAGMan is told not to make join nodes."""

    shape: str
    joins: bool = True

    def __str__(self) -> str:
        return self.shape if self.joins else f"{self.shape}-unjoined"


CASES = {str(case): case for case in [*map(Case, shapes.SHAPES), Case("product", joins=False)]}


@dataclass
class Cost:
    """What one process took; `failure` says why the rest means nothing, '' if it does.

    `seconds` by the clock, `cpu` seconds of user and system, `memory` in MB (10^6 bytes).
    """

    seconds: float
    cpu: float
    memory: float
    failure: str = ""


@dataclass
class Row:
    """One DAG and one program: costs by whose program it is, of the DAG and of its tenth."""

    case: str
    program: str
    nodes: int
    edges: int
    megabytes: float
    full: dict[str, Cost]
    tenth: dict[str, Cost]


class Measurement:
    """Loads DAGs below a directory by both programs of both kinds.

    Args:
        directory: where to work; the user that the programs run as must be able to write there.
        binaries: 'stock' and 'ours' -> where their programs are.
        version: what condor_submit_dag would tell condor_dagman that it is.
        timeout_s: seconds after which a process is ended.
    """

    def __init__(
        self, directory: Path, binaries: dict[str, Path], version: str, timeout_s: float
    ) -> None:
        self._directory = directory
        self._binaries = binaries
        self._timeout_s = timeout_s
        self._turn = 0
        self._version = version

    def rows(self, case: Case, nodes: int, rounds: int) -> Iterator[Row]:
        """Measure one DAG and its tenth."""
        tenth, _ = self.costs(case, nodes // TENTH, rounds)
        full, size = self.costs(case, nodes, rounds)
        edges = shapes.SHAPES[case.shape].edges(nodes)
        for program in PROGRAMS:
            yield Row(str(case), program, nodes, edges, size / 1e6, full[program], tenth[program])

    def costs(
        self, case: Case, nodes: int, rounds: int, programs: tuple[str, ...] = PROGRAMS
    ) -> tuple[dict[str, dict[str, Cost]], int]:
        """Costs by program and by whose it is; and the size of the DAG files."""
        place = self._directory / "dag"
        shutil.rmtree(place, ignore_errors=True)
        size = shapes.write(case.shape, nodes, place)
        place.chmod(0o777)
        costs: dict[str, dict[str, Cost]] = {program: {} for program in programs}
        for _ in range(rounds):
            for program in programs:
                self._turn += 1
                kinds = list(self._binaries)
                for whose in kinds if self._turn % 2 else reversed(kinds):
                    cost = self._run(case, nodes, program, whose, place)
                    costs[program][whose] = best(costs[program].get(whose), cost)
        shutil.rmtree(place)
        return costs, size

    def _run(self, case: Case, nodes: int, program: str, whose: str, place: Path) -> Cost:
        path = self._binaries[whose] / program
        if not path.is_file():
            return Cost(0, 0, 0, "not there")
        log = place / "x.out"
        log.unlink(missing_ok=True)
        if program == "condor_dagman":
            words = ["-f", "-l", ".", "-Lockfile", "x.lock", "-Dot", "-CsdVersion", self._version]
            argv = [str(path), *words, "-Dag", shapes.NAME]
        else:
            joins = "-JoinNodes" if case.joins else "-NoJoinNodes"
            argv = [str(path), "-Statistics", joins, shapes.NAME]
        environment = self._environment(case, place)
        cost, text = run(argv, environment, place, self._timeout_s)
        if program == "condor_dagman" and log.exists():
            text = log.read_text(encoding="utf-8", errors="replace") + text
        if not cost.failure and not loaded(text, nodes + joined(case)):
            cost.failure = "has not loaded all nodes"
        if cost.failure:
            lines = text.split("\n")
            say(f"  {path}: {cost.failure}; {next(filter(None, reversed(lines)), '')[:200]}")
        return cost

    def _environment(self, case: Case, place: Path) -> dict[str, str]:
        """All knobs at their defaults but that for /tmp; HTCondor needs a directory for logs."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("_CONDOR_", "CONDOR_"))}
        return {
            **kept,
            "CONDOR_CONFIG": "ONLY_ENV",
            "_CONDOR_LOG": str(place),
            "_CONDOR_DAGMAN_LOG": "x.out",
            "_CONDOR_DAGMAN_USE_JOIN_NODES": str(case.joins),
            "_CONDOR_DAGMAN_AVOID_SLASH_TMP": "False",  # the checkout may be there
        }


def run(
    argv: list[str], environment: dict[str, str], place: Path, timeout_s: float
) -> tuple[Cost, str]:
    """What a process costs, run as the pool's user, and what it said; killed after `timeout_s`."""
    program = [sys.executable, "-I", "-S", str(HERE / "spent.py"), str(timeout_s)]
    with (place / "said").open("w+b") as said:
        process = subprocess.Popen(
            identity().command([*program, *argv]),
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        said.seek(0)
        text = said.read().decode("utf-8", errors="replace")
    text, _, told = text.rstrip().rpartition("\n")
    try:
        seconds, cpu, size, code, ended = json.loads(told)
    except ValueError:
        return Cost(0, 0, 0, f"was not started: {told[:200]}"), text
    cost = Cost(seconds, cpu, size / 1e6)
    if not ended:
        cost.failure = f"more than {timeout_s:.0f} s"
    elif code < 0:
        cost.failure = f"dies of {signal.Signals(-code).name}"
    elif code:
        cost.failure = f"exit code {code}"
    return cost, text


def stock_version(binaries: Path) -> str:
    """The `$CondorVersion` of the programs there."""
    environment = {"PATH": os.defpath, "CONDOR_CONFIG": "ONLY_ENV"}
    said = subprocess.check_output([binaries / "condor_version"], env=environment, text=True)
    return said.partition("\n")[0]


def joined(case: Case) -> int:
    """How many join nodes it has."""
    return shapes.SHAPES[case.shape].joins if case.joins else 0


def loaded(text: str, nodes: int) -> bool:
    """Whether a program's log or output says that it knows that many nodes."""
    found = re.search(r"Dag contains (\d+) total nodes|TotalNodes = (\d+)", text)
    return found is not None and int(found[1] or found[2]) == nodes


def best(one: Cost | None, other: Cost) -> Cost:
    """The least of everything; a failure stays."""
    if one is None or one.failure:
        return one or other
    if other.failure:
        return other
    return Cost(
        min(one.seconds, other.seconds), min(one.cpu, other.cpu), min(one.memory, other.memory)
    )


def render(rows: list[Row]) -> str:
    """The table that people read, in Markdown; a ratio below 1 means that ours needs less."""
    lines = [
        "| DAG | program | nodes | edges | file | stock | | ours | | ours / stock: time | CPU"
        " | memory | CPU beside a tenth: stock | ours |",
        f"|---|---|{'---:|' * 12}",
    ]
    for row in rows:
        stock, ours = row.full.get("stock"), row.full.get("ours")
        cells = [
            row.case,
            row.program,
            f"{row.nodes:,}",
            f"{row.edges:,}",
            f"{row.megabytes:.1f} MB",
            *_shown(stock),
            *_shown(ours),
            _ratio(ours, stock, "seconds"),
            _ratio(ours, stock, "cpu"),
            _ratio(ours, stock, "memory"),
            _growth(row, "stock"),
            _growth(row, "ours"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _shown(cost: Cost | None) -> list[str]:
    if cost is None:
        return ["-", "-"]
    if cost.failure:
        return [cost.failure, "-"]
    return [f"{cost.seconds:.2f} s (CPU {cost.cpu:.2f})", f"{cost.memory:.0f} MB"]


def _ratio(upper: Cost | None, lower: Cost | None, what: str, digits: int = 2) -> str:
    if upper is None or lower is None or upper.failure or lower.failure:
        return "-"
    return f"{getattr(upper, what) / getattr(lower, what):.{digits}f}"


def _growth(row: Row, whose: str) -> str:
    """How many times the CPU time of the tenth the whole takes: 10 if it grows with the size."""
    return _ratio(row.full.get(whose), row.tenth.get(whose), "cpu", digits=1)


def arguments(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="DAGs of a tenth of the size")
    parser.add_argument("--rounds", type=int, default=1, help="the best of so many counts")
    parser.add_argument(
        "--only",
        metavar="NAMES",
        default=",".join(CASES),
        help="which DAGs, with commas between them; all are %(default)s",
    )
    parser.add_argument("--whose", choices=("stock", "ours"), help="measure only one side")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one process")
    parser.add_argument("--json", metavar="FILE", help="write all numbers there too")
    parser.add_argument("--ours", metavar="DIRECTORY", type=Path, help="where our commands are")
    parser.add_argument("--dir", metavar="DIRECTORY", help="where to work")
    chosen = parser.parse_args(argv)
    chosen.only = chosen.only.split(",")
    for name in chosen.only:
        if name not in CASES:
            parser.error(f"--only {name}: there are {', '.join(CASES)}")
    return chosen


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
    if chosen.whose:
        binaries = {chosen.whose: binaries[chosen.whose]}
    directory = base / f"load.{os.getpid()}"
    directory.mkdir(parents=True)
    directory.chmod(0o777)
    rows: list[Row] = []
    try:
        version = stock_version(stock)
        print(f"{version}\nPython {platform.python_version()}, {os.cpu_count()} cores\n")
        measurement = Measurement(directory, binaries, version, chosen.timeout)
        for name in chosen.only:
            case = CASES[name]
            nodes = shapes.SHAPES[case.shape].nodes // (TENTH if chosen.quick else 1)
            say(f"{case}: {nodes} nodes")
            rows += measurement.rows(case, nodes, chosen.rounds)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(render(rows))
    if chosen.json:
        numbers = json.dumps([dataclasses.asdict(row) for row in rows], indent=2)
        Path(chosen.json).write_text(f"{numbers}\n", encoding="utf-8")
    return 0


def say(text: str) -> None:
    """Tell what goes on; the table alone goes to standard output."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
