"""The Python interface on a real pool: the example of docs/python.md, and how a DAG stands."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from condor_pydagman import DagState, DagStatus, dag_status, read_dag, read_node_status, read_rescue
from tests import pages
from tests.pool.access_point import AccessPoint

PAGE = Path(__file__).resolve().parents[2] / "docs/python.md"
SUBMIT = """\
executable = /bin/sh
arguments = "-c 'until test -e go; do sleep 0.1; done; exit $(code:0)'"
universe = local
queue
"""
DAG = """\
JOB A a.sub
JOB B a.sub
JOB C a.sub
PARENT A CHILD B
VARS B code="1"
NODE_STATUS_FILE n.status 1
"""
ASK = """\
import json, sys
from condor_pydagman import dag_status
found = dag_status(int(sys.argv[1]))
print(json.dumps([found.state.name, found.counts, found.exit_code]))
"""


@pytest.fixture
def work(work: Path) -> Path:
    (work / "a.sub").write_text(SUBMIT)
    (work / "my.dag").write_text(DAG)
    return work


def example(mark: str = "needs a pool") -> str:
    """What the page shows for a pool."""
    found = re.search(rf"<!-- {mark} -->\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    return found[1]


def test_the_example_submits_and_tells(
    access_point: AccessPoint, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = access_point.run(sys.executable, "-c", example(), cwd=work)
    first, *_, last = done.stdout.splitlines()
    cluster = int(re.fullmatch(r"job (\d+), from my\.dag\.condor\.sub", first)[1])  # type: ignore[index]
    assert re.fullmatch(r"DagState\.(IDLE|RUNNING) .*", last)
    (work / "go").touch()
    assert access_point.wait(work / "my.dag").code == 1
    asked = access_point.run(sys.executable, "-c", ASK, str(cluster), cwd=work).stdout
    counts = [3, 2, 0, 0, 0, 0, 0, 1, 0]
    assert json.loads(asked) == ["FAILED", counts, 1]
    monkeypatch.chdir(work)
    by_files = dag_status("my.dag")
    assert by_files.counts is not None
    assert by_files == DagStatus(
        DagState.FAILED, by_files.counts, by_files.updated, None, exit_code=1, rescue=1
    )
    assert list(by_files.counts) == counts
    assert sorted(read_rescue("my.dag.rescue001").done) == ["A", "C"]
    assert read_dag("my.dag", rescue="my.dag.rescue001")["A"].done
    status = read_node_status("n.status")
    assert (status.outcome, status.counts) == ("failed", by_files.counts)
    assert {name: entry.status.name for name, entry in status.nodes.items()} == {
        "A": "DONE", "B": "ERROR", "C": "DONE",
    }  # fmt: skip


AGAIN = """\
import json, os
from condor_pydagman import dag_events, dag_status, submit_dag, subscribe
for options in ({"force": True}, {}):  # anew, and with the rescue file
    cluster = submit_dag("my.dag", **options).cluster
    told = dag_status("my.dag")
    assert (told.cluster, told.exit_code) in ((cluster, None), (None, None)), told
    by_file = [event.name for event in dag_events("my.dag", follow=True)]
    by_job = [event.name for event in dag_events(cluster, follow=True)]
    assert sorted(by_file) == sorted(by_job), (by_file, by_job)
    print(json.dumps([by_file.count(name) for name in ("dag.start", "job.submit", "dag.end")]))
os.remove("go")
submit_dag("my.dag")
for event in subscribe("my.dag"):
    open("go", "a").close()  # its job has waited for somebody to listen
print(event["event"])
"""


def test_readers_of_a_dag_submitted_again_wait_for_that_run(
    access_point: AccessPoint, work: Path
) -> None:
    """The schedd starts DAGMan some time after it was submitted: until then the logs are those of
    the run before."""
    (work / "go").touch()
    access_point.submit(work, "my.dag")
    assert access_point.wait(work / "my.dag").code == 1
    told = access_point.run(sys.executable, "-c", AGAIN, cwd=work).stdout.splitlines()
    assert told == ["[1, 3, 1]", "[1, 1, 1]", "dag.end"]


def test_the_whole_workflow(access_point: AccessPoint, work: Path) -> None:
    """From data to a plot, with the files of the page."""
    pages.write_files(PAGE.read_text(encoding="utf-8"), work)
    done = access_point.run(sys.executable, "study.py", cwd=work)
    ends = dict(line.split() for line in done.stdout.splitlines())
    assert ends == dict.fromkeys(
        ["Make", *(f"Fit{piece}" for piece in range(8)), "Merge", "Plot"], "0"
    )
    picture = ElementTree.parse(work / "fits.svg").getroot()
    assert len(picture) == 8
