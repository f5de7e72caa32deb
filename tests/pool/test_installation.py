"""The package as pip installs it, on the real pool; beside the stock DAGMan, and in its place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Callable

import pytest

from tests.installation import Installation
from tests.pool import dags
from tests.pool.access_point import AccessPoint, new_directory

pytestmark = pytest.mark.pool

FROM_DAG = 'import htcondor2; htcondor2.Submit.from_dag("t.dag", {})'

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


def cluster(output: str) -> int:
    """The number of the job that condor_submit_dag says it has submitted."""
    found = re.search(r"submitted to cluster (\d+)\.", output)
    assert found, output
    return int(found.group(1))


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


def test_from_dag_takes_the_first_condor_dagman_of_path(
    installation: Installation, installed: Callable[..., str], work: Path
) -> None:
    dags.write(work, "JOB A job.sub\n")
    installed(work, str(installation.python), "-c", FROM_DAG)
    text = (work / "t.dag.condor.sub").read_text()
    assert re.search(rf"^executable\s*= {installation.links}/condor_dagman$", text, re.M)


def leave(access_point: AccessPoint, work: Path, job: int) -> None:
    """Hold the DAGMan job, and wait until DAGMan has gone."""
    access_point.run("condor_hold", str(job))
    out = work / "t.dag.dagman.out"
    access_point.wait_for(lambda: "EXITING WITH STATUS 3" in out.read_text(), say="it to leave")


def test_a_released_dag_runs_under_the_installed_version(
    access_point: AccessPoint, work: Path
) -> None:
    """Under the other DAGMan, which recovers it, either way; and under one that was gone for a
    while, as if it had been uninstalled.  Nothing runs twice."""
    places = {name: work / name for name in ("to-stock", "to-ours", "gone")}
    for place in places.values():
        new_directory(place)
        dags.write(place, CHAIN + REFUSED + FILES)
    link = work / "condor_dagman"
    link.symlink_to(access_point.our_dagman)
    jobs = {
        "to-stock": access_point.submit(places["to-stock"], "t.dag"),
        "to-ours": access_point.submit(places["to-ours"], "t.dag", stock=True),
        "gone": access_point.submit(places["gone"], "-dagman", str(link), "t.dag"),
    }
    for name, place in places.items():
        running(access_point, place, "B")
        leave(access_point, place, jobs[name])
    link.unlink()
    others = {"to-stock": access_point.stock_dagman, "to-ours": access_point.our_dagman}
    for name, program in others.items():
        access_point.run("condor_qedit", str(jobs[name]), "Cmd", f'"{program}"')
    for name, place in places.items():
        access_point.run("condor_release", str(jobs[name]))
        (place / "go").write_text("")
    held = f'ClusterId == {jobs["gone"]} && regexp("missing or not executable", HoldReason)'
    access_point.wait_for(lambda: access_point.queue(held), say="the job to be on hold")
    access_point.wait_for(lambda: dags.runs(places["gone"])["B 0"], say="B to go on alone")
    link.symlink_to(access_point.our_dagman)
    access_point.run("condor_release", str(jobs["gone"]))
    for name, place in places.items():
        assert access_point.wait(place / "t.dag").code == 0
        assert dags.starts(place) == ONCE, name
        assert dags.scripts(place) == sorted([*SCRIPTS, "post X"]), name
        assert "Running in RECOVERY mode" in (place / "t.dag.dagman.out").read_text()
        assert access_point.history(jobs[name])["Cmd"] == others.get(name, str(link))


def test_a_rescue_file_of_one_is_gone_on_from_by_the_other(
    access_point: AccessPoint, work: Path
) -> None:
    places = {"stock": work / "stock", "ours": work / "ours"}
    for first, place in places.items():
        new_directory(place)
        dags.write(place, "JOB A job.sub\nJOB B wait.sub\nPARENT A CHILD B\n" + FILES)
        (place / "wait.sh").write_text("#!/bin/sh\nexit 1\n")
        access_point.submit(place, "t.dag", stock=first == "stock")
    for place in places.values():
        assert access_point.wait(place / "t.dag").code == 1
        (place / "wait.sh").write_text("#!/bin/sh\necho B 0 end now >> ledger\n")
        (place / "t.dag.dagman.log").unlink()
    for first, place in places.items():
        access_point.submit(place, "t.dag", stock=first == "ours")
    for place in places.values():
        assert access_point.wait(place / "t.dag").code == 0
        assert dags.runs(place) == {"A 0": 1, "B 0": 1}
        out = (place / "t.dag.dagman.out").read_text()
        assert out.count("USING RESCUE DAG t.dag.rescue001") == 1
