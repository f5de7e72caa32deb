"""The same DAGs under stock condor_dagman and ours: what they leave behind must be the same.

The DAGs are the cases of `tests/pool/cases`.  Those that the test run has tests of are run by ours,
once each, when the first of these tests asks for them; each test then compares one case with the
recording of stock.  `python -m tools.record_stock compare` records anew, and names the records that
were not the same each time.

What a pool does is partly chance: which of two jobs starts first, which of two events is logged
first.  So a case makes the order a fact where a record tells of it; see `tests/pool/cases`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import recordings
from tests.pool import cases, dags, file_records
from tests.pool.access_point import OURS, STOCK, AccessPoint
from tests.pool.stock import Stock, plain
from tests.pool.waiting import story

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


class Runs:
    """What the cases left behind under each program; they run when one is asked for."""

    def __init__(self, access_point: AccessPoint, place: Path, wanted: Iterable[str]) -> None:
        self._access_point, self._place = access_point, place
        self._wanted = [CASES[name] for name in wanted]
        self._errors: dict[str, dict[str, AssertionError]] = {}

    def result(self, name: str, flavour: str = OURS) -> Result:
        """What a case left.

        Raises:
            AssertionError: it did not end.
        """
        place = self._place / flavour
        if flavour not in self._errors:
            wanted = [case for case in self._wanted if flavour == OURS or case.comparable()]
            self._errors[flavour] = cases.play_all(self._access_point, place, wanted, flavour)
        if name in self._errors[flavour]:
            raise self._errors[flavour][name]
        return Result(place / name)

    def records(self, name: str, flavour: str = OURS) -> dict[str, Any]:
        """The records of a case that must be the same under both programs."""
        case, result = CASES[name], self.result(name, flavour)
        found: dict[str, Any] = {}
        for record in case.comparable():
            try:
                found[record] = READERS[record](result)
            except (AssertionError, OSError, ValueError) as error:
                assert flavour == OURS, f"{record} of {name}: {error}"
                found[record] = f"can't be read: {error}"
            if record in case.partial:
                found[record] = in_any_order(found[record])
        text = json.dumps(found, sort_keys=True)
        return dict(json.loads(text.replace(str(result.directory), "DIRECTORY")))


@pytest.fixture(scope="module")
def runs(access_point: AccessPoint, place: Path, request: pytest.FixtureRequest) -> Runs:
    """The runs of all cases that the test run has tests of."""
    tests = [item for item in request.session.items if item.path == request.path]
    wanted = {test.callspec.params["name"] for test in tests if isinstance(test, pytest.Function)}
    return Runs(access_point, place / "compare", sorted(wanted))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.comparable()])
def test_same(runs: Runs, name: str, stock: Stock) -> None:
    """In each record; one test for each would take longer than to compare them."""
    topic, _, short = name.partition("/")
    expected = stock.part(topic)(short, lambda: runs.records(name, STOCK))
    ours = plain(runs.records(name))
    explain(runs, name, recordings.difference(expected, ours, ("stock", "ours")))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.our_exits])
def test_our_exit_codes(runs: Runs, name: str) -> None:
    codes, wanted = _exits(runs.result(name)), CASES[name].our_exits
    explain(runs, name, "" if codes == wanted else f"exit codes {codes}, not {wanted}")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.our_lines])
def test_ours_says(runs: Runs, name: str) -> None:
    missing = set(CASES[name].our_lines) - set(runs.result(name).dagman_out)
    explain(runs, name, "\n".join(f"not said: {line}" for line in sorted(missing)))


def in_any_order(value: Any) -> Any:
    """A record without the order of its lines, which is chance."""
    if isinstance(value, dict):
        return {key: in_any_order(entry) for key, entry in value.items()}
    if isinstance(value, str):
        return sorted(value.splitlines())
    return sorted(value) if isinstance(value, list) else value


def explain(runs: Runs, name: str, wrong: str) -> None:
    """Fail if something is wrong, and tell what there is to know."""
    if wrong:
        told = story(runs.result(name).directory / "t.dag")
        pytest.fail(f"{told}\n\ncase {name}\n{wrong}", pytrace=False)


def _exits(result: Result) -> list[int]:
    codes = re.findall(r"EXITING WITH STATUS (\d+)", result.text("t.dag.dagman.out"))
    assert codes, "no run has ended as one should"
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
    names = set(result.named("*")) - set(cases.TOOLS)
    return sorted(name for name in names if not name.endswith(".out"))


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
    """Lines of a submit file without what depends on the program, the HTCondor and the pool."""
    submit = re.sub(r"-CsdVersion \S+", "-CsdVersion V", submit)
    submit = re.sub(r"(_CONDOR_SCHEDD_\w+=)\S+/", r"\1POOL/", submit)
    submit = re.sub(r"(executable += |-dagman )\S+", r"\1DAGMAN", submit)
    return submit.splitlines()


# Lines about the DAG as a whole, in their order. Ours may say more behind these words.  Not those
# about a job that has ended, but which the schedd still had when all jobs were removed.
_DAG_LINES = re.compile(
    r"All jobs Completed!|Aborting DAG because we got the ABORT exit value from a (job|PRE|POST)"
    r"|Aborting DAG\.\.\.|Writing Rescue DAG to \S+|Removing submitted jobs|Received SIGUSR1"
    r"|Starting (final|provisioner) node|Loading saved progress from \S+|USING RESCUE DAG \S+"
    r"|Found rescue DAG number \d+|Failed to parse .*|Processing error .*"
    r"|ERROR: (?!submit|node for condor ID|on Line|the following|Warning is fatal|.* not found!$).*"
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
    # Jobs of NOOP nodes are numbered in the order in which their scripts happened to end.
    lines = [re.sub(r"\b0\.2147483647\.\d+\b", "0.ID.N", line) for line in lines]
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
