"""Pegasus: pegasus-dagman starts condor_dagman, pegasus-monitord follows its `.dagman.out` live and
replays it afterwards, pegasus-status, -analyzer, -statistics and -remove tell and act. The database
that monitord makes must be the same over stock's files and ours.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.clients.client import FLAVOURS, Client, directory, masked
from tests.clients.pegasus_plan import plan
from tests.pool import dags
from tests.pool.access_point import OURS, STOCK

SUCCEEDS = """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
SCRIPT PRE A script.sh 0 pre
SCRIPT POST A script.sh 0 post
SCRIPT POST C script.sh 0 post
PARENT A CHILD B
PARENT B CHILD C
"""
RETRIES = """\
JOB A job.sub
VARS A program="first.sh" code="3"
RETRY A 2
JOB B job.sub
VARS B program="first.sh" code="4"
SCRIPT PRE B script.sh 0 pre
SCRIPT POST B script.sh $RETURN post
RETRY B 2
PARENT A CHILD B
"""
# Monitord itself knows no FINAL nodes, no SUBDAGs without a planner, no nodes
# without a submit file and none with several procs: it crashes over stock's files too.
# Every way to fail, of independent nodes; each at the end of its retries.
FAILS = """\
JOB OK job.sub
JOB CODE job.sub
VARS CODE code="7"
RETRY CODE 1
JOB SIGNAL killed.sub
JOB PRE job.sub
SCRIPT PRE PRE script.sh 3 pre
JOB PREPOST job.sub
SCRIPT PRE PREPOST script.sh 3 pre
SCRIPT POST PREPOST script.sh 5 post
JOB POST job.sub
SCRIPT POST POST script.sh 4 post
JOB SAVED job.sub
VARS SAVED code="1"
SCRIPT POST SAVED script.sh 0 post
JOB NEVER job.sub
PARENT CODE CHILD NEVER
#== killed.sub
universe = scheduler
executable = /bin/sh
arguments = "-c 'kill -9 $$'"
queue
"""
REFUSED = """\
JOB A refused.sub
JOB B job.sub
PARENT A CHILD B
#== refused.sub
universe = nosuch
executable = /bin/true
queue
"""
HELD = """\
JOB A job.sub
VARS A holds="NumJobStarts < 2"
SCRIPT PRE A later.sh 4 ./free.sh $DAGID A
"""
WAITS = """\
JOB A job.sub
JOB B told.sub
JOB C job.sub
PARENT A CHILD B
PARENT B CHILD C
#== told.sh
#!/bin/sh
until test -e go; do sleep 0.2; done
#== told.sub
universe = scheduler
executable = told.sh
queue
"""
RESCUED = SUCCEEDS + 'VARS B program="first.sh" code="3"\n'
STORIES = {
    "succeeds": SUCCEEDS,
    "retries": RETRIES,
    "fails": FAILS,
    "refused": REFUSED,
    "held": HELD,
    "removed": WAITS,
    "recovers": WAITS,
    "rescued": RESCUED,
}
PEGASUS = ("dagman", "monitord", "status", "analyzer", "statistics", "remove")


@dataclass
class Workflow:
    """A workflow in its submit directory."""

    client: Client
    flavour: str
    story: str
    path: Path
    programs: Path
    cluster: int = 0

    def pegasus(self, name: str, *words: str) -> str:
        """What one of Pegasus' programs says; times, ids and paths masked."""
        program = str(self.programs / f"pegasus-{name}")
        done = self.client.run(self.flavour, program, *words, cwd=self.path, check=False)
        said = masked(done.stdout + done.stderr, DIR=str(self.path))
        return re.sub(r" +", " ", said)

    def start(self) -> None:
        (self.path / "t.dag.dagman.log").unlink(missing_ok=True)
        words = ["-dagman", str(self.programs / "pegasus-dagman"), "t.dag"]
        variables = {"PEGASUS_HOME": str(self.programs.parent)}
        said = self.client.run(
            self.flavour, "condor_submit_dag", *words, cwd=self.path, **variables
        ).stdout
        match = re.search(r"submitted to cluster (\d+)", said)
        assert match, said
        self.cluster = int(match[1])

    def until(self, what: Callable[[], Any], say: str) -> None:
        say = f"{self.flavour} {self.story}: {say}"
        self.client.access_point.wait_for(what, say=say, dag=self.path / "t.dag")

    def says(self, text: str) -> bool:
        out = self.path / "t.dag.dagman.out"
        return out.exists() and text in out.read_text()

    def ends(self) -> None:
        self.client.access_point.wait(self.path / "t.dag")

    def said(self) -> str:
        """What pegasus-dagman and each monitord that it started have written."""
        files = sorted([*self.path.glob("monitord.log*"), *self.path.glob("t.dag.lib.*")])
        return "\n".join(f"{file.name}:\n{file.read_text()}" for file in files)

    def replay(self) -> None:
        """Make the database anew from the files that the run left."""
        said = self.pegasus("monitord", "-r", "t.dag.dagman.out")
        assert "exiting with 0" in said, said
        assert "Traceback" not in said, said


@pytest.fixture(scope="module")
def programs(client: Client, place: Path) -> Path:
    """A directory with Pegasus' programs, which the package has as modules only."""
    made = directory(place, "pegasus-home", "bin")
    python = client.program("pegasus", "python")
    where = client.run(OURS, python, "-c", "import Pegasus; print(Pegasus.__path__[0])").stdout
    for name in PEGASUS:
        program = made / f"pegasus-{name}"
        program.write_text(f'#!/bin/sh\nexec {python} {where.strip()}/cli/{program.name}.py "$@"\n')
        program.chmod(0o755)
    return made


@pytest.fixture(scope="module")
def workflows(client: Client, programs: Path, place: Path) -> Callable[[str, str], Workflow]:
    """Every story under both programs, ended; monitord has followed each."""
    made = {}
    for flavour in FLAVOURS:
        for story, text in STORIES.items():
            path = directory(place, "pegasus", flavour, story)
            plan(dags.write(path, text))
            made[flavour, story] = Workflow(client, flavour, story, path, programs)
            made[flavour, story].start()
    for workflow in made.values():
        _meddle(workflow)
    for workflow in made.values():
        workflow.ends()
        workflow.replay()
    return lambda flavour, story: made[flavour, story]


def _meddle(workflow: Workflow) -> None:
    """What people do to a workflow that runs."""
    run = workflow.client.access_point.run
    job = str(workflow.cluster)
    if workflow.story == "removed":
        workflow.until(lambda: workflow.says("ULOG_EXECUTE for HTCondor Node B"), "B")
        workflow.pegasus("status")
        assert "Success" in workflow.pegasus("remove", str(workflow.path))
    elif workflow.story == "recovers":
        workflow.until(lambda: workflow.says("ULOG_EXECUTE for HTCondor Node B"), "B")
        run("condor_hold", job)
        held = f"ClusterId == {job} && JobStatus == 5"
        workflow.until(lambda: workflow.client.access_point.queue(held), "hold")
        run("condor_release", job)
        workflow.until(lambda: workflow.says("done with RECOVERY mode"), "recovery")
        (workflow.path / "go").touch()
    elif workflow.story == "rescued":
        workflow.ends()
        assert (workflow.path / "t.dag.rescue001").exists()
        workflow.start()


# Of a job that condor_submit would refuse, stock writes no line that monitord knows.
SAME = [story for story in STORIES if story != "refused"]
PAIRS = pytest.mark.parametrize("story", SAME)


@PAIRS
def test_the_replayed_database_is_the_same(
    workflows: Callable[[str, str], Workflow], story: str
) -> None:
    ours, stock = (Database(workflows(flavour, story)) for flavour in (OURS, STOCK))
    assert ours.jobs() == stock.jobs()
    assert ours.instances() == stock.instances()
    assert ours.states() == stock.states()
    assert ours.workflows() == stock.workflows()


@PAIRS
def test_the_jobstate_log_is_the_same(
    workflows: Callable[[str, str], Workflow], story: str
) -> None:
    """Both the one that monitord wrote while the workflow ran and the replayed one."""
    live = [] if story == "recovers" else ["jobstate.log.000"]  # a hold ends monitord any time
    for name in (*live, "jobstate.log"):
        ours, stock = (_jobstate(workflows(flavour, story), name) for flavour in (OURS, STOCK))
        assert ours == stock, f"{name}\n{workflows(OURS, story).said()}"


@PAIRS
def test_pegasus_status(workflows: Callable[[str, str], Workflow], story: str) -> None:
    said = {f: workflows(f, story).pegasus("status", "-l", ".") for f in FLAVOURS}
    assert said[OURS] == said[STOCK]
    assert re.search(r"\b(Success|Failure)\b", said[OURS])


@PAIRS
def test_pegasus_analyzer(workflows: Callable[[str, str], Workflow], story: str) -> None:
    said = {f: sorted(workflows(f, story).pegasus("analyzer", ".").splitlines()) for f in FLAVOURS}
    assert said[OURS] == said[STOCK]


@PAIRS
def test_pegasus_statistics(workflows: Callable[[str, str], Workflow], story: str) -> None:
    """How many jobs there were, succeeded, failed, were tried again; not how long they took."""
    said = {}
    for flavour in FLAVOURS:
        text = workflows(flavour, story).pegasus("statistics", "-s", "summary", ".")
        said[flavour] = re.findall(r"^(?:Tasks|Jobs|Sub-Workflows) .*$", text, re.M)
    assert said[OURS] == said[STOCK]
    assert len(said[OURS]) == 3


def test_monitord_learns_of_a_refused_job(workflows: Callable[[str, str], Workflow]) -> None:
    found = {f: _jobstate(workflows(f, "refused"), "jobstate.log") for f in FLAVOURS}
    assert found[OURS].pop("A") == ["SUBMIT_FAILED -"]
    assert found[OURS] == found[STOCK]
    assert "Failure" in workflows(OURS, "refused").pegasus("status", "-l", ".")


@dataclass
class Database:
    """What monitord has put into the database, without times and numbers given by chance."""

    workflow: Workflow

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.workflow.path / "t.stampede.db")) as connection:
            yield from connection.execute(query).fetchall()

    def jobs(self) -> list[tuple[Any, ...]]:
        return sorted(self.rows("SELECT exec_job_id, submit_file, type_desc FROM job"))

    def instances(self) -> list[tuple[Any, ...]]:
        """Each run of each job: has it an id, its exit code, are its times known?"""
        query = """SELECT exec_job_id, sched_id IS NULL, exitcode, local_duration IS NULL,
            cluster_duration IS NULL, subwf_id FROM job_instance JOIN job USING (job_id)
            ORDER BY exec_job_id, job_submit_seq"""
        return list(self.rows(query))

    def states(self) -> list[tuple[Any, ...]]:
        """The states of each run of each job, in their order."""
        query = """SELECT exec_job_id, state, reason IS NULL FROM jobstate
            JOIN job_instance USING (job_instance_id) JOIN job USING (job_id)
            ORDER BY exec_job_id, job_submit_seq, jobstate_submit_seq"""
        return _released_first(list(self.rows(query)), lambda row: row[1])

    def workflows(self) -> list[tuple[Any, ...]]:
        query = """SELECT wf_uuid, dag_file_name, state, restart_count, status, reason
            FROM workflow JOIN workflowstate USING (wf_id) ORDER BY wf_uuid, workflowstate.rowid"""
        return list(self.rows(query))


def _jobstate(workflow: Workflow, name: str) -> dict[str, list[str]]:
    """Lines of monitord's log by job, without times and ids."""
    found: dict[str, list[str]] = {}
    for line in (workflow.path / name).read_text().splitlines():
        _, job, *words = line.split()
        words = ["ID" if re.fullmatch(r"\d+\.\d+", word) else word for word in words]
        found.setdefault(job, []).append(" ".join(words[: 2 if job != "INTERNAL" else None]))
    return {
        job: _released_first(lines, lambda line: line.split()[0]) for job, lines in found.items()
    }


def _released_first(found: list[Any], state: Callable[[Any], str]) -> list[Any]:
    """The same in the usual order: a busy schedd may write that a job was released after it has
    started again."""
    for place, (one, other) in enumerate(zip(found, found[1:])):
        if (state(one), state(other)) == ("EXECUTE", "JOB_RELEASED"):
            found[place], found[place + 1] = other, one
    return found
