"""HTCondor's own clients, shown the same DAG under stock condor_dagman and ours: what they print
must be the same. The DAG stands still, a node in each state that lasts, while they look; then it
ends.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory

pytestmark = pytest.mark.pool

FLAVOURS = (STOCK, OURS)
STANDS_STILL = """DAG_NodesDone == 1 && DAG_NodesPrerun == 1 && DAG_NodesPostrun == 1 &&
    DAG_NodesQueued == 1 && DAG_NodesReady == 1 && DAG_NodesFailed == 1 && DAG_JobsRunning == 1"""
HTCONDOR = [sys.executable, "-c", "from htcondor_cli.cli import main; main()"]
# condor_watch_q wants a terminal.
TERMINAL = [sys.executable, "-c", "import pty, sys; pty.spawn(sys.argv[1:])"]
DAG_ATTRIBUTES = r"(?m)^DAG_(?!AdUpdateTime|Stats|Address).*$"


@dataclass
class Looked:
    """A DAG under one of the programs, and what clients said of it before and after its end."""

    access_point: AccessPoint
    flavour: str
    work: Path
    cluster: int = 0

    def run(self, *argv: str) -> str:
        """What a client prints; ids, owners' times and names by chance masked."""
        done = self.access_point.run(*argv, cwd=self.work, check=False)
        text = re.sub(
            rf"\b(DAG |clusters? |\+){self.cluster}\b", r"\1DAG", done.stdout + done.stderr
        )
        text = re.sub(r"\d+\+\d\d:\d\d(:\d\d)?", "TIME", text.replace(f"{self.work}/", ""))
        text = re.sub(r"\d\d?/\d\d?(/\d+)? +\d\d:\d\d(:\d\d)?|\d\d:\d\d:\d\d", "TIME", text)
        text = re.sub(r"\b\d+\.\d+\b(\.\d+\b)*", "NUMBER", text)
        return re.sub(r"([ =-])\1+", r"\1", text)


@pytest.fixture(scope="module")
def looked(access_point: AccessPoint, place: Path) -> Iterator[dict[str, Looked]]:
    """The DAG under both programs, standing still."""
    both = {}
    for flavour in FLAVOURS:
        work = new_directory(place / "looked" / flavour)
        dags.write(work, dags.STATES)
        cluster = access_point.submit(work, "t.dag", stock=flavour == STOCK)
        both[flavour] = Looked(access_point, flavour, work, cluster)
    for flavour, dag in both.items():
        still = f"ClusterId == {dag.cluster} && {STANDS_STILL}"
        access_point.wait_for(
            lambda c=still: access_point.queue(c), say=f"{flavour}'s states", dag=dag.work / "t.dag"
        )
    yield both
    for dag in both.values():
        access_point.run("condor_rm", str(dag.cluster), check=False)


def said(looked: dict[str, Looked], *argv: str) -> dict[str, str]:
    """What a client says of both; a word DAG of `argv` becomes the DAGMan job's cluster."""
    return {
        flavour: dag.run(*(str(dag.cluster) if word == "DAG" else word for word in argv))
        for flavour, dag in looked.items()
    }


@pytest.mark.parametrize("options", [["-dag", "-nobatch"], ["-batch"], ["-dag"], ["-nobatch"]])
def test_condor_q(looked: dict[str, Looked], options: list[str]) -> None:
    found = said(looked, "condor_q", *options, "DAG")
    lines = {flavour: _rows(text) for flavour, text in found.items()}
    assert lines[OURS] == lines[STOCK]
    assert lines[OURS]


def _rows(text: str) -> list[str]:
    """The rows of a table of condor_q; of a command no more than its program."""
    rows = [line for line in text.splitlines() if line and not line.startswith("- Schedd")]
    return [
        re.sub(r"(condor_dagman) -.*", r"\1", row) for row in rows if "Total for all" not in row
    ]


def test_condor_q_shows_the_same_attributes(looked: dict[str, Looked]) -> None:
    found = said(looked, "condor_q", "-long", "DAG")
    ads = {f: sorted(m[0] for m in re.finditer(DAG_ATTRIBUTES, t)) for f, t in found.items()}
    assert ads[OURS] == ads[STOCK]
    assert len(ads[OURS]) > 15


def test_condor_watch_q(looked: dict[str, Looked]) -> None:
    """It finds the nodes log by an attribute of the DAGMan job, and reads it, records and all."""
    program = looked[OURS].access_point.which("condor_watch_q", ours=True)
    words = ["-clusters", "DAG", "-no-color", "-no-updated-at", "-exit", "any,active,0"]
    found = said(looked, *TERMINAL, sys.executable, program, *words)
    rows = {f: re.search(r"t\.dag\+DAG +(\S+ +\S+ +\S+ +\S+)", t) for f, t in found.items()}
    counts = {f: row[1].split() if row else found[f] for f, row in rows.items()}
    assert counts[OURS] == counts[STOCK]
    assert rows[OURS]


def test_htcondor_dag_status(looked: dict[str, Looked]) -> None:
    found = said(looked, *HTCONDOR, "dag", "status", "DAG")
    assert found[OURS] == found[STOCK]
    assert "has been running" in found[OURS]


def test_htcondor_dag_resources(looked: dict[str, Looked]) -> None:
    found = said(looked, *HTCONDOR, "dag", "resources", "DAG")
    lines = {f: [line for line in t.splitlines() if " B " in line or "job" in line.lower()]
             for f, t in found.items()}  # fmt: skip
    assert [x.split()[0] for x in lines[OURS]] == [x.split()[0] for x in lines[STOCK]]
    assert any("B" in line for line in lines[OURS])


HISTOGRAM = """\
import sys
from htcondor_cli.histogram import HistogramMode, produce_job_event_histogram
print("\\n".join(produce_job_event_histogram(sys.argv[1], HistogramMode[sys.argv[2]])))
"""


@pytest.mark.parametrize("mode", ["CUMULATIVE", "INSTANT"])
def test_htcondor_dag_histogram(looked: dict[str, Looked], mode: str) -> None:
    """What it draws of the nodes log, whose times must have no fractions for it."""
    for dag in looked.values():
        text = (dag.work / "t.dag.nodes.log").read_text()
        (dag.work / "whole.log").write_text(re.sub(r"(:\d\d)\.\d{3}\b", r"\1", text))
    found = said(looked, sys.executable, "-c", HISTOGRAM, "whole.log", mode)
    for text in found.values():
        assert "Traceback" not in text, text
    legends = {f: sorted(set(re.findall(r"[A-Z][a-z]+", text))) for f, text in found.items()}
    assert legends[OURS] == legends[STOCK] != []


def test_how_it_ends(looked: dict[str, Looked]) -> None:
    """After this test both DAGs have ended; those below look at what is left."""
    for dag in looked.values():
        (dag.work / "go").touch()
    assert {dag.access_point.wait(dag.work / "t.dag").code for dag in looked.values()} == {1}
    for dag in looked.values():
        dag.access_point.history(dag.cluster)


def test_condor_history(looked: dict[str, Looked]) -> None:
    found = said(looked, "condor_history", "DAG", "-long", "-limit", "1")
    ads = {f: sorted(m[0] for m in re.finditer(DAG_ATTRIBUTES, t)) for f, t in found.items()}
    assert ads[OURS] == ads[STOCK]
    jobs = "DAGManJobId == {} && DAGNodeName =!= undefined"
    names = {}
    for flavour, dag in looked.items():
        constraint = jobs.format(dag.cluster)
        text = dag.run(
            "condor_history", "-constraint", constraint, "-af", "DAGNodeName", "ExitCode"
        )
        names[flavour] = sorted(text.splitlines())
    assert names[OURS] == names[STOCK] == ["A 0", "B 0", "C 0", "D 0", "F 3", "P 0", "Q 0"]


@pytest.mark.parametrize("log", ["t.dag.dagman.log", "t.dag.nodes.log"])
def test_condor_wait(looked: dict[str, Looked], log: str) -> None:
    """It reads the whole log: every job in it has ended."""
    found = said(looked, "condor_wait", "-wait", "10", log)
    assert found[OURS] == found[STOCK] == "All jobs done.\n"


@pytest.mark.parametrize("log", ["t.dag.dagman.log", "t.dag.nodes.log"])
def test_condor_check_userlogs(looked: dict[str, Looked], log: str) -> None:
    """It has nothing against our records, and no job of theirs."""
    found = said(looked, "condor_check_userlogs", log)
    for text in found.values():
        assert text.endswith("Log(s) are okay\n"), text
    if log == "t.dag.nodes.log":
        assert "ULOG_GENERIC (-" in found[OURS]


def test_a_node_is_first_named_by_a_job_of_its_own(looked: dict[str, Looked]) -> None:
    """Tools search the nodes log for that; a PRE script's record comes earlier."""
    for dag in looked.values():
        text = (dag.work / "t.dag.nodes.log").read_text()
        events = text.split("\n...\n")
        named = [event for event in events if "DAGNodeName" in event]
        assert {event[:3] for event in named} == {"000"}
        assert any('DAGNodeName = "A"' in event for event in named)
    assert any('PRE_ENDED"; Node = "A"' in event for event in events)  # of ours, the last


@pytest.mark.parametrize("log", ["t.dag.dagman.log", "t.dag.nodes.log"])
def test_condor_userlog(looked: dict[str, Looked], log: str) -> None:
    found = said(looked, "condor_userlog", log)
    shape = {flavour: re.sub(r"\d+", "N", text).splitlines() for flavour, text in found.items()}
    assert shape[OURS] == shape[STOCK]


def test_htcondor_dag_submit(access_point: AccessPoint, work: Path) -> None:
    """It starts the first condor_dagman on PATH."""
    dag = dags.write(work, "JOB A job.sub\n")
    done = access_point.run(*HTCONDOR, "dag", "submit", "t.dag", cwd=work)
    match = re.search(r"DAG (\d+) was submitted", done.stdout + done.stderr)
    assert match, done
    assert access_point.wait(dag).code == 0
    assert access_point.history(int(match[1]))["Cmd"] == access_point.our_dagman


def test_the_banner_under_pegasus_dagman(access_point: AccessPoint, work: Path) -> None:
    """Pegasus' programs find the id of the DAGMan job in the name it was called by."""
    dag = dags.write(work, "JOB A job.sub\n")
    wrapper = work / "pegasus-dagman"
    wrapper.write_text('#!/bin/sh\ncondor_dagman "$@"\n')
    wrapper.chmod(0o755)
    cluster = access_point.submit(work, "-dagman", str(wrapper), "t.dag")
    assert access_point.wait(dag).code == 0
    out = (work / "t.dag.dagman.out").read_text()
    assert f"** condor_scheduniv_exec.{cluster}.0 (CONDOR_DAGMAN) STARTING UP\n" in out
