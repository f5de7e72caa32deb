"""Rubin's lsst-ctrl-bps-htcondor: prepare, submit, status, report, cancel, restart and ping of a
workflow with groups (sub-DAGs), retries and a final job, under stock and ours.

The workflow is handed to BPS as `bps submit` has it after the quantum graph has been made, since
that needs a data butler and what follows it does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients.client import FLAVOURS, Client, directory, masked
from tests.pool.access_point import OURS, STOCK

# The job `make_3` goes on until the file `go` is there, or fails if there is none.
WAITS, FAILS, REFUSED, SUCCEEDS = "waits", "fails", "refused", "succeeds"
# Runs of their own for tests that change what others look at, and as what they begin.
CANCELLED, RESTARTED = "cancelled", "restarted"
BEGINS_AS = {CANCELLED: WAITS, RESTARTED: FAILS}


@dataclass
class Workflow:
    """One run of the workflow, as BPS knows it."""

    client: Client
    flavour: str
    path: Path
    run_id: str = ""

    def bps(self, *words: str) -> str:
        """What a `bps` command says; ids, times and paths masked."""
        program = self.client.program("bps", "bps")
        done = self.client.run(self.flavour, program, *words, cwd=self.path, check=False)
        return self.mask(done.stdout + done.stderr)

    def mask(self, text: str) -> str:
        text = re.sub(r"#\d{9,}\b", "#SINCE", text)
        text = masked(text, DIR=str(self.path), RUN=self.run_id)
        return re.sub(r"([ -])\1+", r"\1", text)  # columns are as wide as the ids

    def wait_for_removal(self) -> None:
        cluster = int(float(self.run_id))
        access_point = self.client.access_point
        access_point.wait_for(lambda: access_point.gone(cluster), say="removal")


@pytest.fixture(scope="module")
def workflows(client: Client, place: Path) -> Callable[[str, str], Workflow]:
    """Runs by flavour and by what `make_3` does; each has ended, or waits."""
    made = {}
    for flavour in FLAVOURS:
        for story in (WAITS, FAILS, REFUSED, SUCCEEDS, CANCELLED, RESTARTED):
            path = directory(place, "bps", flavour, story)
            workflow = made[flavour, story] = Workflow(client, flavour, path)
            words = (str(path), BEGINS_AS.get(story, story))
            said = client.drive(flavour, "bps", "bps_workflow.py", *words, cwd=path)
            workflow.run_id = said.split()[-1]
    for (_, story), workflow in made.items():
        _wait(workflow, BEGINS_AS.get(story, story))
    return lambda flavour, story: made[flavour, story]


def _wait(workflow: Workflow, story: str) -> None:
    access_point = workflow.client.access_point
    dag = workflow.path / "sample.dag"
    if story != WAITS:
        code = access_point.wait(dag).code
        assert code == (0 if story == SUCCEEDS else 1), (workflow.flavour, story)
        return
    # One group is done, the other one waits for make_3, which runs.
    wanted = "DAG_NodesDone == 6 && DAG_NodesQueued == 1 && DAG_JobsRunning == 1"
    mine = f"ClusterId == {int(float(workflow.run_id))} && {wanted}"
    access_point.wait_for(lambda: access_point.queue(mine), say=f"{workflow}", dag=dag)
    # bps reads the node status file, which is written once a minute.
    status = dag.with_suffix(".node_status")
    access_point.wait_for(lambda: "NodesDone = 6;" in status.read_text(), say=str(status), dag=dag)


def test_the_dag_is_the_same(workflows: Callable[[str, str], Workflow]) -> None:
    dags = [workflows(f, SUCCEEDS) for f in FLAVOURS]
    assert dags[0].mask((dags[0].path / "sample.dag").read_text()) == dags[1].mask(
        (dags[1].path / "sample.dag").read_text()
    )


@pytest.mark.parametrize("story", [FAILS, SUCCEEDS])
@pytest.mark.parametrize("command", ["report", "status"])
def test_what_bps_says_of_its_files(
    workflows: Callable[[str, str], Workflow], story: str, command: str
) -> None:
    said = {}
    for flavour in FLAVOURS:
        workflow = workflows(flavour, story)
        said[flavour] = workflow.bps(command, "--id", str(workflow.path))
    # It reads our notes (events 008 of no job) past, with a warning for each.
    lines = said[OURS].splitlines(keepends=True)
    ours = "".join(line for line in lines if "Log event missing ids" not in line)
    assert ours == said[STOCK]
    assert ("SUCCEEDED" if story == SUCCEEDS else "FAILED") in ours


def test_why_a_job_was_refused(workflows: Callable[[str, str], Workflow]) -> None:
    """Stock's `.dagman.out` names a line of the submit file, ours what is wrong with it."""
    said = {}
    for flavour in FLAVOURS:
        workflow = workflows(flavour, REFUSED)
        lines = workflow.bps("report", "--id", str(workflow.path)).splitlines()
        said[flavour] = [line for line in lines if "Log event missing ids" not in line]
    errors = {f: [line for line in said[f] if line.startswith("ERROR: ")] for f in FLAVOURS}
    assert len(errors[OURS]) == len(errors[STOCK]) == 1
    assert "submit of node make_3 failed" in errors[OURS][0]
    assert "nosuch" in errors[OURS][0]
    rest = {f: [line for line in said[f] if line not in errors[f]] for f in FLAVOURS}
    assert rest[OURS] == rest[STOCK]


@pytest.mark.parametrize("command", ["report", "status"])
@pytest.mark.parametrize("by", ["id", "path"])
def test_what_bps_says_while_it_runs(
    workflows: Callable[[str, str], Workflow], command: str, by: str
) -> None:
    said = {}
    for flavour in FLAVOURS:
        workflow = workflows(flavour, WAITS)
        name = workflow.run_id if by == "id" else str(workflow.path)
        said[flavour] = workflow.bps(command, "--id", name)
    assert said[OURS] == said[STOCK]
    assert "RUNNING" in said[OURS]


def test_the_summary_of_all_runs(workflows: Callable[[str, str], Workflow]) -> None:
    lines = {}
    for flavour in FLAVOURS:
        workflow = workflows(flavour, WAITS)
        said = workflow.bps("report").splitlines()
        lines[flavour] = [line for line in said if " RUN tester " in line]
    assert lines[OURS] == lines[STOCK]
    assert len(lines[OURS]) == 1


def test_ping(workflows: Callable[[str, str], Workflow]) -> None:
    assert "Ping successful" in workflows(OURS, SUCCEEDS).bps("ping")


def test_cancel(workflows: Callable[[str, str], Workflow]) -> None:
    said = {}
    for flavour in FLAVOURS:
        workflow = workflows(flavour, CANCELLED)
        first = workflow.bps("cancel", "--id", workflow.run_id)
        workflow.wait_for_removal()
        said[flavour] = (first, workflow.bps("report", "--id", str(workflow.path)))
    assert _without_notes(said[OURS]) == _without_notes(said[STOCK])
    assert "Successfully canceled" in said[OURS][0]


def _without_notes(said: tuple[str, str]) -> list[str]:
    lines = "\n".join(said).splitlines()
    return [line for line in lines if "Log event missing ids" not in line]


def test_restart_from_the_rescue_file(workflows: Callable[[str, str], Workflow]) -> None:
    said = {}
    for flavour in FLAVOURS:
        workflow = workflows(flavour, RESTARTED)
        (workflow.path / "go").touch()
        (workflow.path / "sample.dag.dagman.log").rename(workflow.path / "first.log")
        first = workflow.bps("restart", "--id", str(workflow.path))
        match = re.search(r"Run Id: (\d+\.0)", first)
        assert match, first
        workflow.run_id = match[1]
    for flavour in FLAVOURS:
        workflow = workflows(flavour, RESTARTED)
        assert workflow.client.access_point.wait(workflow.path / "sample.dag").code == 0
        said[flavour] = ("", workflow.bps("report", "--id", str(workflow.path)))
    assert _without_notes(said[OURS]) == _without_notes(said[STOCK])
