"""DAGs that grow: by what their nodes write, by people, across kills of DAGMan and rescue files."""

from __future__ import annotations

import pytest

from tests.pool import dags
from tests.pool.scenes import FIRST, Played, Scene, Stage
from tests.pool.test_steering import steer

pytestmark = pytest.mark.pool

STAGE = Stage()
# As Epigenomics: a split whose number of parts only it knows, a chain for each part, a merge.
EPIGENOMICS = """\
JOB split job.sub
SCRIPT POST split split.sh
EXTEND split lanes.dag
JOB merge job.sub
JOB index job.sub
PARENT split CHILD merge
PARENT merge CHILD index
#== split.sh
#!/bin/sh
for lane in 1 2 3; do
    echo "JOB filter$lane job.sub"
    echo "JOB align$lane told.sub"
    echo "PARENT filter$lane CHILD align$lane"
done > lanes.dag
"""
LANES = ("1", "2", "3")


@STAGE.scene
def a_split_finds_its_parts_at_run_time(s: Scene) -> None:
    s.submit(EPIGENOMICS)
    for lane in LANES:
        s.started(f"align{lane} 0")
    assert not dags.starts(s.work)["merge 0"]
    s.kill()  # what was added is known from then on, whatever becomes of the file
    (s.work / "lanes.dag").write_text("JOB other job.sub\n")
    s.touch(*(f"go.align{lane}" for lane in LANES))
    assert s.ends() == 0
    names = ["split", "merge", "index", *(f"{what}{n}" for n in LANES for what in WHAT)]
    assert dags.runs(s.work) == {f"{name} 0": 1 for name in names}
    flat = s.run("condor_pydagman", "flatten", "--grown", "t.dag")
    assert "JOB align3 told.sub" in flat
    assert "EXTEND" not in flat


WHAT = ("filter", "align")


@STAGE.scene
def a_list_becomes_nodes_and_a_rescue_file_knows_them(s: Scene) -> None:
    s.submit(
        "JOB A job.sub\nSCRIPT POST A list.sh\nJOB Z job.sub\nPARENT A CHILD Z\n"
        "SCATTER A list run-{1} first.sub VARS code={2}\n"
        '#== list.sh\n#!/bin/sh\nprintf "x 0\\ny 3\\n" > list\n' + FIRST
    )
    assert s.ends() == 1
    text = s.text("t.dag.rescue001")
    assert text.count("GROWN 1 ") == 1
    assert s.rescue() == ["A", "run-x"]
    (s.work / "list").unlink()
    s.submit_again()
    assert s.ends() == 0
    assert dags.runs(s.work) == {"A 0": 1, "run-x 0": 1, "run-y 0": 2, "Z 0": 1}


@STAGE.scene
def what_is_wrong_fails_the_node_and_is_tried_again(s: Scene) -> None:
    s.submit(
        "JOB A job.sub\nSCRIPT POST A more.sh $RETRY\nRETRY A 1\nEXTEND A more.dag\n"
        "#== more.sh\n#!/bin/sh\n"
        'test "$1" = 0 && echo "JOB A job.sub" > more.dag || echo "JOB B job.sub" > more.dag\n'
    )
    assert s.ends() == 0
    assert dags.runs(s.work) == {"A 0": 1, "A 1": 1, "B 0": 1}
    assert "more.dag:1" in s.out()
    assert "Node A already exists in DAG" in s.out()


@STAGE.scene
def a_person_adds_nodes(s: Scene) -> None:
    s.submit("JOB A told.sub\nJOB B job.sub\nPARENT A CHILD B\n")
    s.started("A 0")
    (s.work / "more.dag").write_text("JOB X job.sub\nPARENT A CHILD X\nPARENT X CHILD B\n")
    assert steer(s, "add", "more.dag", "--dry") == "1 node would be added\n"
    assert steer(s, "add", "more.dag") == "1 node added\n"
    assert "Node X already exists in DAG" in steer(s, "add", "more.dag", code=1)
    (s.work / "late.dag").write_text("JOB Y job.sub\nPARENT Y CHILD A\n")
    assert "Node A has begun" in steer(s, "add", "late.dag", code=1)
    s.touch("go.A")
    assert s.ends() == 0
    order = [line.split()[0] for line in s.text("ledger").splitlines() if " end " in line]
    assert order == ["A", "X", "B"]


@pytest.mark.parametrize("name", STAGE.scenes)
def test_growth(played: Played, name: str) -> None:
    played.check(name)
