"""HTCondor's own clients, shown a DAG under our DAGMan: what they print must be what they print of
the same DAG under stock.  They look at one that stands still, a node in each state that lasts, and
at one that has ended.  Others than our condor_submit_dag submit DAGs to our DAGMan.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory
from tests.pool.bindings import need_htcondor_cli
from tests.pool.stock import Stock, plain

# What the job's ad says of the DAG that stands still.
MEANWHILE = {
    "DAG_Status": 2,
    "DAG_InRecovery": 0,
    "DAG_NodesTotal": 8,
    "DAG_NodesDone": 1,
    "DAG_NodesPrerun": 1,
    "DAG_NodesQueued": 1,
    "DAG_NodesPostrun": 1,
    "DAG_NodesHoldrun": 0,
    "DAG_NodesReady": 1,
    "DAG_NodesFailed": 1,
    "DAG_NodesUnready": 1,
    "DAG_NodesFutile": 1,
    "DAG_JobsSubmitted": 4,
    "DAG_JobsIdle": 0,
    "DAG_JobsRunning": 1,
    "DAG_JobsHeld": 0,
    "DAG_JobsCompleted": 3,
}
LIMITS = {
    "DAGMan_MaxIdle": 11,
    "DAGMan_MaxJobs": 12,
    "DAGMan_MaxPreScripts": 13,
    "DAGMan_MaxPostScripts": 14,
    "DAGMan_MaxHoldScripts": 20,
    "DAGMan_MaxSubmitsPerInterval": 100,
}
WORDS = ("-maxidle", "11", "-maxjobs", "12", "-maxpre", "13", "-maxpost", "14")
HTCONDOR = [sys.executable, "-c", "from htcondor_cli.cli import main; main()"]
# condor_watch_q wants a terminal, whose size Python before 3.11 would take for 0 x 0.
SPAWN = "import os, pty, sys; os.environ.update(LINES='24', COLUMNS='80'); pty.spawn(sys.argv[1:])"
TERMINAL = [sys.executable, "-c", SPAWN]
DAG_ATTRIBUTES = r"(?m)^DAG_(?!AdUpdateTime|Stats|Address).*$"


@dataclass
class Looked:
    """A DAG under one of the programs, at which clients look."""

    access_point: AccessPoint
    work: Path
    cluster: int = 0

    def run(self, *argv: str) -> str:
        """What a client prints; ids, owners, times and names by chance masked.

        A word DAG of `argv` becomes the DAGMan job's cluster.
        """
        words = [str(self.cluster) if word == "DAG" else word for word in argv]
        done = self.access_point.run(*words, cwd=self.work, check=False)
        text = re.sub(
            rf"\b(DAG |clusters? |\+){self.cluster}\b", r"\1DAG", done.stdout + done.stderr
        )
        text = re.sub(r"\d+\+\d\d:\d\d(:\d\d)?", "TIME", text.replace(f"{self.work}/", ""))
        text = re.sub(r"\d\d?/\d\d?(/\d+)? +\d\d:\d\d(:\d\d)?|\d\d:\d\d:\d\d", "TIME", text)
        text = re.sub(r"\b\d+\.\d+\b(\.\d+\b)*", "NUMBER", text)
        text = re.sub(r"([ =-])\1+", r"\1", text)
        return text.replace(self.access_point.user, "USER")


@dataclass
class Twins:
    """The same DAG under ours and, where it is recorded, under stock; submitted when asked for."""

    access_point: AccessPoint
    place: Path
    stock: Stock
    bring: Callable[[Looked], None]
    looked: dict[str, Looked] = field(default_factory=dict)

    def under(self, flavour: str) -> Looked:
        """The DAG under one of the programs, in the state in which clients look at it."""
        if flavour not in self.looked:
            work = new_directory(self.place / flavour)
            dags.write(work, dags.STATES)
            dag = self.looked[flavour] = Looked(self.access_point, work)
            stock = flavour == STOCK
            dag.cluster = self.access_point.submit(work, *WORDS, "t.dag", stock=stock)
            self.bring(dag)
        return self.looked[flavour]

    def same(self, name: str, look: Callable[[Looked], Any]) -> Any:
        """Check that what `look` finds of ours is what it finds of stock's; returns it."""
        ours = look(self.under(OURS))
        assert plain(ours) == self.stock(name, lambda: look(self.under(STOCK)))
        return ours

    def remove(self) -> None:
        for dag in self.looked.values():
            dag.access_point.run("condor_rm", str(dag.cluster), check=False)


@pytest.fixture(scope="module")
def standing(access_point: AccessPoint, place: Path, stock: Stock) -> Iterator[Twins]:
    """The DAG standing still."""

    def bring(dag: Looked) -> None:
        wanted = " && ".join(f"{name} == {value}" for name, value in MEANWHILE.items())
        still = f"ClusterId == {dag.cluster} && {wanted}"
        access_point.wait_for(lambda: access_point.queue(still), still, dag.work / "t.dag")

    twins = Twins(access_point, place / "stock_clients" / "standing", stock, bring)
    yield twins
    twins.remove()


@pytest.fixture(scope="module")
def ended(access_point: AccessPoint, place: Path, stock: Stock) -> Iterator[Twins]:
    """The DAG after its end."""

    def bring(dag: Looked) -> None:
        (dag.work / "go").touch()
        assert access_point.wait(dag.work / "t.dag").code == 1
        access_point.history(dag.cluster)

    twins = Twins(access_point, place / "stock_clients" / "ended", stock, bring)
    yield twins
    twins.remove()


def test_the_job_ad_is_correct_while_the_dag_runs(
    access_point: AccessPoint, standing: Twins
) -> None:
    cluster = standing.under(OURS).cluster
    (ad,) = access_point.queue(f"ClusterId == {cluster}")
    assert {name: ad.get(name) for name in LIMITS} == LIMITS
    assert all(type(ad[name]) is int for name in (*MEANWHILE, *LIMITS, "DAG_AdUpdateTime"))
    assert ad["QDate"] <= ad["DAG_AdUpdateTime"] <= time.time() + 1
    assert ad["JobBatchId"] == f"{cluster}.0"
    assert ad["JobBatchName"] == f"t.dag+{cluster}"
    assert ad["OtherJobRemoveRequirements"] == f"DAGManJobId =?= {cluster}"


@pytest.mark.parametrize("options", [["-dag", "-nobatch"], ["-batch"], ["-dag"], ["-nobatch"]])
def test_condor_q(standing: Twins, options: list[str]) -> None:
    name = " ".join(["condor_q", *options])
    assert standing.same(name, lambda dag: _rows(dag.run("condor_q", *options, "DAG")))


def _rows(text: str) -> list[str]:
    """The rows of a table of condor_q; of a command no more than its program."""
    rows = [line for line in text.splitlines() if line and not line.startswith("- Schedd")]
    return [
        re.sub(r"(condor_dagman) -.*", r"\1", row.lstrip())  # columns are as wide as the ids
        for row in rows
        if "Total for all" not in row
    ]


def _attributes(text: str) -> list[str]:
    """The attributes of the DAG in an ad."""
    return sorted(match[0] for match in re.finditer(DAG_ATTRIBUTES, text))


def test_condor_q_shows_the_same_attributes(standing: Twins) -> None:
    words = ("condor_q", "-long", "DAG")
    assert len(standing.same("condor_q -long", lambda dag: _attributes(dag.run(*words)))) > 15


def test_condor_watch_q(standing: Twins) -> None:
    """It finds the nodes log by an attribute of the DAGMan job, and reads it, records and all."""
    program = standing.access_point.which("condor_watch_q", ours=True)
    words = ["-clusters", "DAG", "-no-color", "-no-updated-at", "-exit", "any,active,0"]

    def counts(dag: Looked) -> list[str]:
        text = dag.run(*TERMINAL, sys.executable, program, *words)
        row = re.search(r"t\.dag\+DAG +(\S+ +\S+ +\S+ +\S+)", text)
        assert row, text
        return row[1].split()

    standing.same("condor_watch_q", counts)


def test_htcondor_dag_status(standing: Twins) -> None:
    need_htcondor_cli()
    said = standing.same("htcondor dag status", _status)
    assert "has been running" in said


def _status(dag: Looked) -> str:
    """What `htcondor dag status` says, but for how long the DAG has been running."""
    text = dag.run(*HTCONDOR, "dag", "status", "DAG")
    return re.sub(r"(has been running) for .*", r"\1", text)


def test_htcondor_dag_resources(standing: Twins) -> None:
    need_htcondor_cli()

    def rows(dag: Looked) -> list[Any]:
        text = dag.run(*HTCONDOR, "dag", "resources", "DAG")
        return re.findall(r"(?m)^(\w+) NUMBER (\w+) |^(Total .* idle)", text)

    found = standing.same("htcondor dag resources", rows)
    assert [row[0] or row[2] for row in found] == ["B", "Total 1 jobs; 1 running, 0 idle"]


HISTOGRAM = """\
import sys
from htcondor_cli.histogram import HistogramMode, produce_job_event_histogram
print("\\n".join(produce_job_event_histogram(sys.argv[1], HistogramMode[sys.argv[2]])))
"""


@pytest.mark.parametrize("mode", ["CUMULATIVE", "INSTANT"])
def test_htcondor_dag_histogram(standing: Twins, mode: str) -> None:
    """What it draws of the nodes log, whose times must have no fractions for it."""
    need_htcondor_cli()

    def legend(dag: Looked) -> list[str]:
        text = (dag.work / "t.dag.nodes.log").read_text()
        (dag.work / "whole.log").write_text(re.sub(r"(:\d\d)\.\d{3}\b", r"\1", text))
        text = dag.run(sys.executable, "-c", HISTOGRAM, "whole.log", mode)
        assert "Traceback" not in text, text
        return sorted(set(re.findall(r"[A-Z][a-z]+", text)))

    assert standing.same(f"htcondor dag histogram {mode}", legend)


def test_condor_history(ended: Twins) -> None:
    words = ("condor_history", "DAG", "-long", "-limit", "1")
    assert ended.same("condor_history -long", lambda dag: _attributes(dag.run(*words)))


def test_condor_history_of_the_nodes(ended: Twins) -> None:
    def names(dag: Looked) -> list[str]:
        nodes = f"DAGManJobId == {dag.cluster} && DAGNodeName =!= undefined"
        words = ("condor_history", "-constraint", nodes, "-af", "DAGNodeName", "ExitCode")
        return sorted(dag.run(*words).splitlines())

    found = ended.same("condor_history of the nodes", names)
    assert found == ["A 0", "B 0", "C 0", "D 0", "F 3", "P 0", "Q 0"]


@pytest.mark.parametrize("log", ["t.dag.dagman.log", "t.dag.nodes.log"])
def test_condor_wait(ended: Twins, log: str) -> None:
    """It reads the whole log: every job in it has ended."""
    words = ("condor_wait", "-wait", "600", log)
    assert ended.same(f"condor_wait {log}", lambda dag: dag.run(*words)) == "All jobs done.\n"


@pytest.mark.parametrize("log", ["t.dag.dagman.log", "t.dag.nodes.log"])
def test_condor_check_userlogs(ended: Twins, log: str) -> None:
    """It has nothing against our records, and no job of theirs."""
    text = ended.under(OURS).run("condor_check_userlogs", log)
    assert text.endswith("Log(s) are okay\n"), text
    if log == "t.dag.nodes.log":
        assert "ULOG_GENERIC (-" in text


def test_a_node_is_first_named_by_a_job_of_its_own(ended: Twins) -> None:
    """Tools search the nodes log for that; a PRE script's record comes earlier."""

    def kinds(dag: Looked) -> list[str]:
        named = [event for event in events(dag) if "DAGNodeName" in event]
        assert any('DAGNodeName = "A"' in event for event in named)
        return sorted({event[:3] for event in named})

    def events(dag: Looked) -> list[str]:
        return (dag.work / "t.dag.nodes.log").read_text().split("\n...\n")

    assert ended.same("events that name a node", kinds) == ["000"]
    assert any('PRE_ENDED"; Node = "A"' in event for event in events(ended.under(OURS)))


@pytest.mark.parametrize("log", ["t.dag.dagman.log", "t.dag.nodes.log"])
def test_condor_userlog(ended: Twins, log: str) -> None:
    def shape(dag: Looked) -> list[str]:
        return re.sub(r"\d+", "N", dag.run("condor_userlog", log)).splitlines()

    ended.same(f"condor_userlog {log}", shape)


def test_htcondor_dag_submit(access_point: AccessPoint, work: Path) -> None:
    """It starts the first condor_dagman on PATH."""
    need_htcondor_cli()
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


# Ways to submit.

FROM_DAG = """\
import sys, htcondor2
options = eval(sys.argv[1])
made = htcondor2.Submit.from_dag("t.dag", options)
print(htcondor2.Schedd().submit(made).cluster())
"""


@pytest.mark.parametrize(
    "options",
    [{}, {"maxidle": 5, "maxjobs": 3, "batch-name": "mine", "debug": 4, "force": True}],
    ids=["default", "options"],
)
def test_submit_from_dag_runs_our_dagman(
    access_point: AccessPoint, work: Path, options: dict[str, Any]
) -> None:
    dag = dags.write(work, "JOB A job.sub\nJOB B job.sub\n")
    done = access_point.run(sys.executable, "-c", FROM_DAG, repr(options), cwd=work)
    assert access_point.wait(dag).code == 0
    ad = access_point.history(int(done.stdout))
    assert ad["Cmd"] == access_point.our_dagman
    assert ad["DAG_NodesDone"] == 2
    assert ad["DAGMan_MaxIdle"] == options.get("maxidle", 1000)
    assert ad["DAGMan_MaxJobs"] == options.get("maxjobs", 0)
    assert ad["JobBatchName"] == options.get("batch-name", f"t.dag+{done.stdout.strip()}")


def test_stock_condor_submit_dag_runs_our_dagman(access_point: AccessPoint, work: Path) -> None:
    dag = dags.write(work, "JOB A job.sub\n")
    words = ["-dagman", access_point.our_dagman, "-maxpre", "4", "t.dag"]
    cluster = access_point.submit(work, *words, stock=True)
    assert access_point.wait(dag).code == 0
    ad = access_point.history(cluster)
    assert (ad["DAG_NodesDone"], ad["DAGMan_MaxPreScripts"]) == (1, 4)
