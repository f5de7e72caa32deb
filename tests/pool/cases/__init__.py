"""The DAGs that both programs are compared on: one file each, and how they are run.

A file `TOPIC/NAME.dag` is a DAG that begins with lines for the test:

    #: run OPTIONS [DAGS]      one run by condor_submit_dag; no such line: one run
    #: early COMMAND           done in the DAG's directory as soon as the first run is submitted
    #: differs RECORD: WHY     a record (see RECORDS) in which ours is another on purpose
    #: ours exits CODES        the exit codes of ours, where they are not those of the stock program
    #: ours says LINE          a line that must be in the `.dagman.out` of ours
    #: ordered                 jobs start one after the other, in the same order

What follows a line `#== FILE` goes into that file. The jobs and scripts of `dags.py` are there too.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.pool import dags as small_dags
from tests.pool.access_point import OURS, STOCK, TIMEOUT_S, AccessPoint, new_directory

DIRECTORY = Path(__file__).resolve().parent
RECORDS = ["exits", "starts", "order", "scripts", "files", "progress", "metrics", "status"]
RECORDS += ["jobstate", "table", "submits", "dag_lines", "node_lines", "own_events", "job_log"]
RECORDS += ["dot", "modes", "output", "parsed"]
OBSERVED = "NODE_STATUS_FILE t.status 1\nJOBSTATE_LOG t.jobstate\nDOT t.dot UPDATE OVERWRITE\n"
# More DAGs than these at the same time would wait for each other and their timing would suffer.
AT_ONCE = 40
LIMIT = TIMEOUT_S  # seconds for one run
# A DAGMan job that has ended, or was removed, says so with these events in its log.
_END = re.compile(r"^(?:005|009) ", re.M)
_HEADER = re.compile(r"^#: (\w+) ?(.*)$", re.M)


@dataclass
class Case:
    """A DAG, and how it is run."""

    name: str
    text: str
    runs: list[list[str]] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    differs: dict[str, str] = field(default_factory=dict)
    our_exits: list[int] | None = None
    our_lines: list[str] = field(default_factory=list)
    ordered: bool = False

    def __post_init__(self) -> None:
        readers = {"run": self._run, "early": self.early.append}
        readers.update(differs=self._differs, ours=self._ours, ordered=self._ordered)
        for word, value in _HEADER.findall(self.text):
            readers[word](value)
        self.runs = self.runs or [[]]

    def _run(self, options: str) -> None:
        self.runs.append(options.split())

    def _differs(self, value: str) -> None:
        records, _, why = value.partition(":")
        assert why.strip(), f"{self.name}: why does it differ?"
        names = RECORDS if records == "all" else records.split()
        assert set(names) <= set(RECORDS), f"{self.name}: {records}"
        self.differs.update(dict.fromkeys(names, why.strip()))

    def _ours(self, value: str) -> None:
        word, _, rest = value.partition(" ")
        assert word in ("exits", "says"), f"{self.name}: {value}"
        if word == "exits":
            self.our_exits = [int(code) for code in rest.split()]
        else:
            self.our_lines.append(rest)

    def _ordered(self, _: str) -> None:
        self.ordered = True

    def comparable(self) -> list[str]:
        """Records that must be the same under both programs."""
        apart = set(self.differs)
        if not self.ordered:
            apart.add("order")  # which is chance
        if self.our_exits:
            apart.add("exits")
        return [record for record in RECORDS if record not in apart]

    def write(self, directory: Path) -> None:
        """Write the DAG, observed, with all files that it needs."""
        new_directory(directory)
        small_dags.write(new_directory(directory / "sub"), "")
        dag, mark, others = self.text.partition("#== ")
        small_dags.write(directory, dag + OBSERVED + mark + others)


def load() -> dict[str, Case]:
    """All cases by name, `TOPIC/NAME`."""
    paths = sorted(DIRECTORY.rglob("*.dag"))
    names = [str(path.relative_to(DIRECTORY).with_suffix("")) for path in paths]
    return {name: Case(name, path.read_text()) for name, path in zip(names, paths)}


@dataclass
class CaseRun:
    """A case in the hands of one of the programs."""

    case: Case
    flavour: str
    directory: Path
    left: Iterator[list[str]] = field(init=False)
    ended: int = 0  # how many of its runs have ended
    job: int = 0  # the DAGMan job of the last run
    until: float = 0.0  # when the last run should have ended (clock of `monotonic`)

    def __post_init__(self) -> None:
        self.left = iter(self.case.runs)

    def start(self, access_point: AccessPoint) -> None:
        """Write the files and submit the first run."""
        self.case.write(self.directory)
        self._submit(access_point, next(self.left))
        for command in self.case.early:
            subprocess.run(command, shell=True, cwd=self.directory, check=True)

    def going(self, access_point: AccessPoint) -> bool:
        """Whether it still goes on; submits the next run when one has ended."""
        log = self.directory / "t.dag.dagman.log"
        ends = len(_END.findall(log.read_text() if log.exists() else ""))
        if ends == self.ended:
            return not self._late(access_point)
        self.ended = ends
        for options in self.left:
            with contextlib.suppress(AssertionError):  # refused: there is one exit code less
                self._submit(access_point, options)
                return True
        return False

    def _submit(self, access_point: AccessPoint, options: list[str]) -> None:
        stock = self.flavour == STOCK
        dagman = access_point.stock_dagman if stock else access_point.our_dagman
        dags = [word for word in options if word.endswith(".dag")]
        # What DAGMan makes of a DAG that is wrong is asked here, not condor_submit_dag.
        unchecked = [] if stock else ["-no_check_dag"]
        words = ["-dagman", dagman, *unchecked, *options[: len(options) - len(dags)]]
        words += ["t.dag", *dags]
        self.job = access_point.submit(self.directory, *words, stock=stock)
        self.until = time.monotonic() + LIMIT

    def _late(self, access_point: AccessPoint) -> bool:
        """Give up on a run that does not end: its records will tell."""
        late = time.monotonic() > self.until
        if late:
            access_point.run("condor_rm", str(self.job), check=False)
        return late


def run_all(access_point: AccessPoint, place: Path, cases: Iterable[Case]) -> None:
    """Run all cases under both programs, in `place`/PROGRAM/NAME."""

    def play(run: CaseRun) -> None:
        run.start(access_point)
        while run.going(access_point):
            time.sleep(0.1)

    runs = [CaseRun(c, f, place / f / c.name) for c in cases for f in (STOCK, OURS)]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(play, runs))
