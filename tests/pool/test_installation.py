"""The package as pip installs it, on the real pool; and DAGs with which the other DAGMan goes on:
ours with those of stock, stock with ours.

Stock is recorded: what it leaves behind, from which ours goes on here; and what ours left behind
when stock went on from that, which must be what ours leaves behind today.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Callable

import pytest

from tests.installation import Installation
from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory
from tests.pool.scenes import Scene
from tests.pool.stock import Stock, plain

# Its submission fails, which only the end of its POST script tells in stock's nodes log.
REFUSED = """\
JOB X refused.sub
SCRIPT POST X script.sh 0 post X
PARENT X CHILD B
#== refused.sub
universe = nosuch
queue
"""
# B runs until there is a file `go`.
CHAIN = """\
JOB A job.sub
JOB B wait.sub
JOB C job.sub
PARENT A CHILD B
PARENT B CHILD C
SCRIPT PRE A script.sh 0 pre A
SCRIPT POST A script.sh 0 post A
SCRIPT PRE C script.sh 0 pre C
"""
FILES = """\
#== wait.sub
universe = scheduler
executable = wait.sh
queue
#== wait.sh
#!/bin/sh
echo "B 0 start now" >> ledger
until [ -e go ]; do sleep 0.2; done
echo "B 0 end now" >> ledger
"""
ONCE = {"A 0": 1, "B 0": 1, "C 0": 1}
SCRIPTS = ["post A", "pre A", "pre C"]


@pytest.fixture
def installed(access_point: AccessPoint, installation: Installation) -> Callable[..., str]:
    """Runs a command with the installed ones first on PATH; gives its output."""
    path = f"{installation.links}:{access_point.environment['PATH']}"

    def run(work: Path, *words: str) -> str:
        command = ["env", f"PATH={path}", *words]
        return access_point.run(*command, cwd=work).stdout

    return run


def running(access_point: AccessPoint, work: Path, node: str) -> None:
    """Wait until the node's job has started, and DAGMan has seen that."""
    dag = work / "t.dag"
    access_point.wait_for(lambda: dags.starts(work)[f"{node} 0"], say=f"start of {node}", dag=dag)
    out = work / "t.dag.dagman.out"
    told = f"ULOG_EXECUTE for HTCondor Node {node} "
    access_point.wait_for(lambda: told in out.read_text(), say=f"DAGMan to see {node} run", dag=dag)


def test_a_dag_outlives_the_files_of_its_dagman(
    access_point: AccessPoint,
    installation: Installation,
    installed: Callable[..., str],
    work: Path,
) -> None:
    """A new version is installed over the old one: what runs is the old one, to its end.  It can't
    start another, so the sub-DAG fails; its submit file and the rescue file are written."""
    text = CHAIN + "SUBDAG EXTERNAL S s.dag\nPARENT B CHILD S\nFINAL F job.sub\n"
    dag = dags.write(work, text + "SCRIPT POST F script.sh 1 post F\n" + FILES)
    (work / "s.dag").write_text("JOB A job.sub\n")
    installed(work, "condor_submit_dag", "t.dag")
    running(access_point, work, "B")
    aside = installation.package.with_name("aside")
    installation.package.rename(aside)
    (work / "go").write_text("")
    try:
        assert access_point.wait(dag).code == 1
    finally:
        aside.rename(installation.package)
    out = (work / "t.dag.dagman.out").read_text()
    assert str(installation.prefix) in out
    assert "bug" not in out
    assert dags.runs(work) == {**ONCE, "F 0": 1}
    assert (work / "s.dag.condor.sub").exists()
    assert "No module named" in (work / "s.dag.lib.err").read_text()
    done = re.findall(r"^DONE (\w+)", (work / "t.dag.rescue001").read_text(), re.M)
    assert done == ["A", "B", "C"]


# Times, places, and the numbers of jobs and of this machine, in a log or a rescue file.
STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?")
HOST = re.compile(r"<\d+\.\d+\.\d+\.\d+:[^>]*>")
FIRST_ID = 900001  # of the jobs in a log that was recorded; the pool has no such jobs
END = """\
005 (%s.000.000) 2026-01-01 00:00:00 Job terminated.
\t(1) Normal termination (return value 0)
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Total Remote Usage
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Total Local Usage
...
"""


def recordable(log: str) -> list[str]:
    """The events of a nodes log of CHAIN and REFUSED, node by node, each job with a number of its
    own; without how large a job is, which is not always told."""
    nodes: dict[str, str] = {}
    found: dict[str, list[str]] = {node: [] for node in ("", "X", "A", "B", "C")}
    for event in filter(None, log.split("\n...\n")):
        cluster, _, rest = event[5:].partition(".")
        named = re.search(r'(?:Node = "|DAGNodeName = "|DAG Node: )(\w+)', event)
        if named:
            nodes[cluster] = named[1]
        node = nodes.get(cluster, "")
        number = FIRST_ID + list(found).index(node) if int(cluster) > 0 else cluster
        text = HOST.sub("<127.0.0.1:1>", STAMP.sub("2026-01-01 00:00:00", rest))
        text = re.sub(r"t\.dag\+\d+", "t.dag+N", re.sub(r"\d\d:\d\d:\d\d", "00:00:00", text))
        if not event.startswith("006 "):
            found[node].append(f"{event[:5]}{number}.{text}\n...\n")
    return [event for events in found.values() for event in events]


def begun(s: Scene) -> dict[str, Any]:
    """Run CHAIN until B runs, and hold DAGMan; what it leaves behind."""
    s.submit(CHAIN + REFUSED + FILES)
    running(s.access_point, s.work, "B")
    s.hold()
    lock = re.sub(r"\d+", "N", s.text("t.dag.lock"))
    return {"log": recordable(s.text("t.dag.nodes.log")), "lock": lock}


def goes_on(s: Scene, program: str) -> dict[str, Any]:
    """Release a DAG that was held, under another DAGMan; what ran, and what it left before."""
    left = begun(s)
    s.run("condor_qedit", str(s.cluster), "Cmd", f'"{program}"')
    s.run("condor_release", str(s.cluster))
    s.touch("go")
    assert s.ends() == 0
    assert "Running in RECOVERY mode" in s.out()
    assert s.access_point.history(s.cluster)["Cmd"] == program
    return {**left, "starts": dags.starts(s.work), "scripts": dags.scripts(s.work)}


def test_ours_goes_on_with_a_dag_of_stock(
    access_point: AccessPoint, work: Path, stock: Stock
) -> None:
    """Released under ours; nothing runs twice.  B has ended meanwhile."""
    ours = access_point.our_dagman
    left = stock(
        "from stock to ours",
        lambda: goes_on(scene(access_point, work / "live", STOCK), ours),
    )
    assert (left["starts"], left["scripts"]) == (ONCE, sorted([*SCRIPTS, "post X"]))
    s = scene(access_point, work / OURS)
    s.write(CHAIN + REFUSED + FILES)
    log = "".join("".join(event) for event in left["log"])
    (number,) = set(re.findall(r'\((\d+)\.\d+\.\d+\) [^(]*DAGNodeName = "B"', log))
    (s.work / "t.dag.nodes.log").write_text(log + END % number)
    (s.work / "t.dag.nodes.log").chmod(0o666)
    (s.work / "t.dag.lock").write_text("".join(left["lock"]).replace("N", "1"))
    s.submit_again()
    assert s.ends() == 0
    assert "Running in RECOVERY mode" in s.out()
    assert (dags.starts(s.work), dags.scripts(s.work)) == ({"C 0": 1}, ["pre C"])


def scene(access_point: AccessPoint, work: Path, flavour: str = OURS) -> Scene:
    """A scene in a new directory."""
    return Scene(access_point, new_directory(work), flavour=flavour)


def test_a_dagman_that_was_gone_for_a_while_goes_on_and_stock_could(
    access_point: AccessPoint, work: Path, stock: Stock
) -> None:
    """As if it had been uninstalled while its DAG was on hold.  Nothing runs twice."""
    went = stock(
        "from ours to stock",
        lambda: goes_on(scene(access_point, work / "live"), access_point.stock_dagman),
    )
    assert (went["starts"], went["scripts"]) == (ONCE, sorted([*SCRIPTS, "post X"]))
    link = work / "condor_dagman"
    link.symlink_to(access_point.our_dagman)
    s = scene(access_point, work / OURS)
    s.submit(CHAIN + REFUSED + FILES, "-dagman", str(link))
    running(access_point, s.work, "B")
    s.hold()
    assert plain(recordable(s.text("t.dag.nodes.log"))) == went["log"]
    link.unlink()
    s.run("condor_release", str(s.cluster))
    s.touch("go")
    held = f'ClusterId == {s.cluster} && regexp("missing or not executable", HoldReason)'
    s.until(lambda: access_point.queue(held), "the job to be on hold")
    s.until(lambda: dags.runs(s.work)["B 0"], "B to go on alone")
    link.symlink_to(access_point.our_dagman)
    s.run("condor_release", str(s.cluster))
    assert s.ends() == 0
    assert dags.starts(s.work) == ONCE
    assert dags.scripts(s.work) == sorted([*SCRIPTS, "post X"])
    assert "Running in RECOVERY mode" in s.out()
    assert access_point.history(s.cluster)["Cmd"] == str(link)
