"""Programs and libraries that write DAGs and submit them: ezdag, pycondor, htcondor2.dags, LIGO's
glue.pipeline, nipype. Their DAGs must run under our commands as they do under stock's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients.client import FLAVOURS, Client, directory, masked
from tests.pool.access_point import OURS, STOCK

LIBRARIES = ["ezdag", "pycondor", "bindings", "glue", "nipype"]
THREE = ["second.0", "second.1", "second.2"]
# What each DAG's jobs and scripts write down; `first` of some is tried twice.
NOTED = {
    "ezdag": ["first", *THREE],
    "pycondor": ["first", "first", *THREE, "within"],
    "bindings": ["pre", "first", "post", *THREE, "third.0", "third.1", "third.2", "within", "end"],
    "glue": ["first", "first", "second", "third"],
    "nipype": ["first", "second", "third"],
}


@dataclass
class Written:
    """A DAG that a library has written and submitted."""

    path: Path
    said: str

    @property
    def dag(self) -> Path:
        """The DAG file: the one that has been submitted, of those that others contain."""
        logs = [log for log in self.path.rglob("*.dagman.log") if "inner" not in log.name]
        assert len(logs) == 1, (logs, self.said)
        return Path(str(logs[0])[: -len(".dagman.log")])

    def mask(self, text: str) -> str:
        text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", text)
        text = re.sub(r"\d{6}-\d\d:\d\d:\d\d,\d+", "TIME", text)
        text = re.sub(r"cluster \d+", "cluster N", masked(text, DIR=str(self.path)))
        return re.sub(r"clusters \d+", "clusters N", text)


@pytest.fixture(scope="module")
def written(client: Client, place: Path) -> Callable[[str, str], Written]:
    """What each library has written, run to its end by each program."""

    def run(flavour: str, library: str) -> Written:
        path = directory(place, "written", flavour, library)
        said = client.drive(flavour, "writers", "write_dag.py", library, cwd=path)
        if library == "glue":  # leaves it to its user to submit
            said = client.run(flavour, "condor_submit_dag", "sample.dag", cwd=path).stdout
        done = Written(path, said)
        assert client.access_point.wait(done.dag).code == 0, (flavour, library)
        return done

    pairs = [(flavour, library) for flavour in FLAVOURS for library in LIBRARIES]
    with ThreadPoolExecutor(len(pairs)) as threads:
        results = list(threads.map(lambda pair: run(*pair), pairs))
    made = dict(zip(pairs, results))
    return lambda flavour, library: made[flavour, library]


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_job_has_run(written: Callable[[str, str], Written], library: str) -> None:
    for flavour in FLAVOURS:
        noted = (written(flavour, library).path / "ledger").read_text().split()
        assert Counter(noted) == Counter(NOTED[library]), flavour


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_library_hears_the_same(written: Callable[[str, str], Written], library: str) -> None:
    if library in ("ezdag", "bindings"):
        for flavour in FLAVOURS:
            assert written(flavour, library).said.isdigit()  # the cluster, from Schedd.submit
        return
    said = {}
    for flavour in FLAVOURS:
        run = written(flavour, library)
        lines = run.mask(run.said).splitlines()
        said[flavour] = sorted(line for line in lines if "To monitor" not in line)
    assert said[OURS] == said[STOCK]


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_same_files_are_left(written: Callable[[str, str], Written], library: str) -> None:
    left = {}
    for flavour in FLAVOURS:
        run = written(flavour, library)
        names = [run.mask(str(p)) for p in run.path.rglob("*.dag*")]
        left[flavour] = sorted(names)
    assert left[OURS] == left[STOCK]
