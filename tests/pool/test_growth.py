"""DAGs that grow: by what their nodes write, by people, across kills of DAGMan and rescue files."""

from __future__ import annotations

from tests.pool import dags
from tests.pool.scenes import FIRST, Scene, Stage
from tests.pool.test_steering import steer

STAGE = Stage()
# As Epigenomics: a split whose number of parts only it knows, a chain for each part, a merge.
EPIGENOMICS = """\
JOB split job.sub
SCRIPT POST split split.sh
EXTEND split lanes.dag TRUSTED
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
    s.started(*(f"align{lane} 0" for lane in LANES))
    s.settled()
    assert "Submitting HTCondor Node merge " not in s.out()
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
def a_rescue_file_knows_what_new_nodes_have_decided(s: Scene) -> None:
    s.submit(
        'JOB A told.sub\nJOB Z first.sub\nVARS Z code="3"\n#== look.sh\n#!/bin/sh\n'
        "echo 'n = 5' > look.ad\n" + FIRST
    )
    s.started("A 0")
    (s.work / "more.dag").write_text(
        "JOB look job.sub\nSCRIPT POST look look.sh\nPUBLISH look FILE look.ad\nJOB X job.sub\n"
        "JOB Y job.sub\nPARENT look CHILD X\nPARENT look Z CHILD Y\nRUN_IF X Parents.look.n > 7\n"
        'RUN_IF Y Parents.look.n == 5 && Parents.Z.Outcome == "DONE"\n'
        "JOB cached job.sub\nCACHE cached\n"
    )
    assert "RUN_IF can't be said of node Z" in add(s, "RUN_IF Z true\n", code=1)
    assert "BRAKE can't be added" in add(s, "BRAKE b 1 HALT\n", code=1)
    assert "no limit is defined" in add(s, "JOB L job.sub\nSHARED_LIMIT none NODES L\n", code=1)
    assert steer(s, "add", "more.dag") == "4 nodes added\n"
    s.touch("go.A")
    assert s.ends() == 1
    assert "SKIPPED X\n" in s.text("t.dag.rescue001")
    assert "NODE_RESULT look " in s.text("t.dag.rescue001")
    s.submit_again()
    assert s.ends() == 0
    assert dags.runs(s.work)["Y 0"] == 1
    assert dags.runs(s.work)["cached 0"] == 1


def add(s: Scene, text: str, code: int = 0) -> str:
    """Add these lines."""
    (s.work / "lines.dag").write_text(text)
    return steer(s, "add", "lines.dag", code=code)


test_growth = STAGE.tests()
