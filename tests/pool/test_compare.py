"""The same DAGs under stock condor_dagman and ours: what they leave behind must be the same.

The DAGs are the files below `cases`. All that the test run has tests of are run, under both, when
the first of these tests asks for them; each test then compares one case.

What a pool does is partly chance: which of two jobs starts first, which of two events is logged
first. So a case whose records differ runs again, up to twice, and a record is the same if something
that ours left equals something that stock left. At its end the test run names these cases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.pool import cases, dags, file_records
from tests.pool.access_point import OURS, STOCK, AccessPoint

pytestmark = pytest.mark.pool

CASES = cases.load()


@dataclass
class Result:
    """What the runs of a case by one program left behind."""

    directory: Path

    def text(self, name: str) -> str:
        path = self.directory / name
        return path.read_text() if path.exists() else ""

    @property
    def dagman_out(self) -> list[str]:
        """Lines of `.dagman.out` without their times and the directory's name."""
        text = self.text("t.dag.dagman.out").replace(f"{self.directory}/", "")
        return [line[18:] for line in text.splitlines()]

    def named(self, pattern: str) -> dict[str, str]:
        """Texts of the files whose names match, in all directories."""
        paths = sorted(path for path in self.directory.rglob(pattern) if path.is_file())
        return {str(path.relative_to(self.directory)): path.read_text() for path in paths}


ROUNDS = 3


class Comparison:
    """Cases, run under both programs, and those that differ once more.

    Attributes:
        run_again: names of the cases that differed at first.
    """

    def __init__(self, access_point: AccessPoint, place: Path, wanted: Iterable[str]) -> None:
        self._place = place
        self._known: dict[tuple[str, Path], Any] = {}
        self._rounds: dict[str, int] = dict.fromkeys(wanted, 0)
        self.run_again: set[str] = set()
        for number in range(ROUNDS):
            names = [name for name in self._rounds if not self._settled(name)]
            self.run_again.update(names if number else [])
            cases.run_all(access_point, place / str(number), [CASES[name] for name in names])
            self._rounds.update(dict.fromkeys(names, number + 1))

    def results(self, flavour: str, name: str) -> list[Result]:
        """What the program left of the case, in each round."""
        rounds = range(self._rounds[name])
        return [Result(self._place / str(number) / flavour / name) for number in rounds]

    def records(self, flavour: str, name: str, record: str) -> list[Any]:
        """One record of these."""
        results = self.results(flavour, name)
        return [self._read(record, result.directory) for result in results]

    def _read(self, record: str, directory: Path) -> Any:
        key = record, directory
        if key not in self._known:
            try:
                self._known[key] = READERS[record](Result(directory))
            except (AssertionError, OSError, ValueError) as error:
                self._known[key] = error  # for example not ended; like nothing else
        return self._known[key]

    def _settled(self, name: str) -> bool:
        return (
            self._rounds[name] > 0
            and self._as_told(name)
            and all(self.same(name, record) for record in CASES[name].comparable())
        )

    def same(self, name: str, record: str) -> bool:
        """Whether ours left in some round what stock left in some round."""
        ours, stock = (self.records(flavour, name, record) for flavour in (OURS, STOCK))
        return any(one in stock for one in ours)

    def _as_told(self, name: str) -> bool:
        exits, lines = CASES[name].our_exits, set(CASES[name].our_lines)
        said = [set(result.dagman_out) for result in self.results(OURS, name)]
        return any(lines <= one for one in said) and (
            exits is None or exits in self.records(OURS, name, "exits")
        )


@pytest.fixture(scope="module")
def comparison(
    access_point: AccessPoint, place: Path, request: pytest.FixtureRequest, notices: list[str]
) -> Comparison:
    """The runs of all cases that the test run has tests of."""
    tests = [item for item in request.session.items if item.path == request.path]
    wanted = {test.callspec.params["name"] for test in tests if isinstance(test, pytest.Function)}
    made = Comparison(access_point, place / "compare", sorted(wanted))
    if made.run_again:
        notices.append("compared again: " + " ".join(sorted(made.run_again)))
    return made


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.comparable()])
def test_same(comparison: Comparison, name: str) -> None:
    """In each record; one test for each would take longer than to compare them."""
    ours, stock = (
        {
            record: comparison.records(flavour, name, record)[-1]
            for record in CASES[name].comparable()
            if not comparison.same(name, record)
        }
        for flavour in (OURS, STOCK)
    )
    assert ours == stock


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.our_exits])
def test_our_exit_codes(comparison: Comparison, name: str) -> None:
    assert CASES[name].our_exits in comparison.records(OURS, name, "exits")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.our_lines])
def test_ours_says(comparison: Comparison, name: str) -> None:
    said = [set(result.dagman_out) for result in comparison.results(OURS, name)]
    assert any(set(CASES[name].our_lines) <= lines for lines in said)


def _exits(result: Result) -> list[int]:
    codes = re.findall(r"EXITING WITH STATUS (\d+)", result.text("t.dag.dagman.out"))
    assert codes, f"{result.directory} has not ended"
    return [int(code) for code in codes]


def _order(result: Result) -> list[str]:
    lines = [line.split() for line in result.text("ledger").splitlines()]
    return [f"{words[0]} {words[1]}" for words in lines if words[2] == "start"]


def _scripts(result: Result) -> list[str]:
    """What the scripts wrote down, sorted, and what DEBUG kept of their output."""
    kept = [line for text in result.named("debug.*").values() for line in text.splitlines()]
    lines = dags.scripts(result.directory) + kept
    hidden = [re.sub(r"\b(?!0\.)\d+\.(\d+)\b", r"ID.\1", line) for line in lines]
    return [re.sub(r"Completion=\d+|says\.sh \d{2,}", "", line) for line in hidden]


# `go.out` and the like are what the tests' own commands say.
def _files(result: Result) -> list[str]:
    return [name for name in result.named("*") if not name.endswith(".out")]


def _table(result: Result) -> list[str]:
    """The last status table of the last run."""
    lines = result.dagman_out
    heads = [n for n, line in enumerate(lines) if line.strip().startswith("Done     Pre")]
    return lines[heads[-1] - 2 : heads[-1] + 4] if heads else []


def _submits(result: Result) -> dict[str, list[str]]:
    """What would be submitted for the inner DAGs."""
    found = result.named("*.condor.sub")
    found.pop("t.dag.condor.sub", None)
    return {name: _plain(text) for name, text in found.items()}


def _plain(submit: str) -> list[str]:
    """Lines of a submit file without what depends on the program and the HTCondor."""
    submit = re.sub(r"-CsdVersion \S+", "-CsdVersion V", submit)
    submit = re.sub(r"(executable += |-dagman )\S+", r"\1DAGMAN", submit)
    return submit.splitlines()


# Lines about the DAG as a whole, in their order. Ours may say more behind these words.
_DAG_LINES = re.compile(
    r"All jobs Completed!|Aborting DAG because we got the ABORT exit value from a (job|PRE|POST)"
    r"|Aborting DAG\.\.\.|Writing Rescue DAG to \S+|Removing submitted jobs|Received SIGUSR1"
    r"|Starting (final|provisioner) node|Loading saved progress from \S+|USING RESCUE DAG \S+"
    r"|Found rescue DAG number \d+|Failed to parse .*|Processing error .*"
    r"|ERROR: (?!submit|on Line|the following|Warning is fatal|.* not found!$).*"
)
# Lines about single nodes, whose order between nodes is each run's own.
_NODE_LINES = re.compile(
    r"Running (PRE|POST|HOLD) script|(PRE|POST) Script of|PRE_SKIP return|Retrying node"
    r"|Aborting further retries|Node .* job proc (?!.*was removed)|Node .* completed"
    r"|Node .* have exited the queue|Starting service|Writing Save File|Deferring"
    r"|Total hold count|Node submit failed|Shortcutting node|Provisioner job state: <2>"
    r"|Submitting HTCondor Node|  Hold reason"
)


def _dag_lines(result: Result) -> list[str]:
    matches = [_DAG_LINES.match(line.strip()) for line in result.dagman_out]
    return [match.group() for match in matches if match]


def _node_lines(result: Result) -> list[str]:
    lines = [line for line in result.dagman_out if _NODE_LINES.match(line)]
    return sorted(re.sub(r"\b(?!0\.)\d+\.(\d+)\b|job \d+", r"ID.\1", line) for line in lines)


def _of_directory(read: Callable[[Path], Any], result: Result) -> Any:
    return read(result.directory)


READERS: dict[str, Callable[[Result], Any]] = {
    "exits": _exits,
    "starts": lambda result: dags.starts(result.directory),
    "order": _order,
    "scripts": _scripts,
    "files": _files,
    "table": _table,
    "submits": _submits,
    "dag_lines": _dag_lines,
    "node_lines": _node_lines,
    **{name: partial(_of_directory, read) for name, read in file_records.RECORDS.items()},
}
