"""DAGs that grow: by what their nodes write, by people, by a FEEDER."""

from __future__ import annotations

import json

from condor_pydagman.pool import processes
from tests.pool.scenes import Scene, Stage
from tests.pool.test_steering import steer
from tests.schemas import check

STAGE = Stage()
UNIVERSES = ("vanilla", "local", "scheduler")
ITEMS = ("$ENV(HOME)", "US$5", "([1+1])", "(DOLLAR)", "(Name)")
REFUSED = ("$(JOB)", "$$([1+1])", "x$")


@STAGE.scene
def items_are_text_whatever_they_hold(s: Scene) -> None:
    """A job writes them: they must not reach what else a description can, also side by side."""
    lines, files = "", "#== list\n" + "\n".join(ITEMS + REFUSED) + "\n"
    for kind in UNIVERSES:
        lines += f"JOB {kind} job.sub NOOP\n"
        lines += (
            f"SCATTER {kind} list {kind}-{{number}} {kind}.sub VARS one={{item}} two={{item}}\n"
        )
        files += f"#== {kind}.sub\nuniverse = {kind}\nexecutable = /bin/echo\n"
        files += "arguments = $(one)$(two)\noutput = $(JOB).said\nlog = log\n"
    s.submit(lines + files)
    assert s.ends() == 1
    for kind in UNIVERSES:
        said = [s.text(f"{kind}-{number}.said").strip() for number in range(len(ITEMS))]
        assert said == [item * 2 for item in ITEMS]
    for item in REFUSED:
        assert f"one has text that could become a macro: {item}." in s.out()
    assert not list(s.work.glob(f"*-{len(ITEMS)}.said"))


@STAGE.scene
def a_person_adds_nodes(s: Scene) -> None:
    s.submit("JOB A told.sub\nJOB B job.sub\nPARENT A CHILD B\n", started="A 0")
    (s.work / "more.dag").write_text("JOB X job.sub\nPARENT A CHILD X\nPARENT X CHILD B\n")
    assert steer(s, "add", "more.dag", "--dry") == "1 node would be added\n"
    assert steer(s, "add", "more.dag") == "1 node added\n"
    assert "Node X already exists in DAG" in steer(s, "add", "more.dag", code=1)
    (s.work / "late.dag").write_text("JOB Y job.sub\nPARENT Y CHILD A\n")
    assert "Node A has begun" in steer(s, "add", "late.dag", code=1)
    dag = s.text("t.dag")
    (s.work / "t.dag").write_text(dag + "JOB X job.sub\n")
    s.kill()
    s.until(lambda: not s.pid() and s.ad().get("JobStatus") == 5, "DAGMan to be on hold")
    why = "Node X already exists in DAG. Take what was added out of the DAG file"
    assert why in " ".join(s.answer("condor_pydagman", "explain", "t.dag").stdout.split())
    (s.work / "t.dag").write_text(dag)
    s.release()
    s.touch("go.A")
    assert s.ends() == 0
    order = [line.split()[0] for line in s.text("ledger").splitlines() if " end " in line]
    assert order == ["A", "X", "B"]


@STAGE.scene
def the_feeder_is_killed_with_the_dag(s: Scene) -> None:
    s.submit(
        "JOB A told.sub\nFEEDER BELOW 2 PROGRAM hang.sh\n"
        "#== hang.sh\n#!/bin/sh\necho $$ > hang.pid\nexec sleep 1000\n"
    )
    pid = s.until(lambda: s.text("hang.pid").strip(), "the program to run")
    info = json.loads(steer(s, "info", "--json"))
    check("info", info)
    assert info["feeder"] == {"state": "runs", "feedings": 0, "nodes": 0, "error": ""}
    s.remove()
    s.gone()
    s.until(lambda: not processes.stat_of(int(pid)).alive, "the end of the program", after_end=True)


test_growth = STAGE.tests()
