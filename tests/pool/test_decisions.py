"""Conditions on the real pool: branches by attributes of jobs, files of sweeps, rescue files, and
the examples."""

from __future__ import annotations

from tests.pool.scenes import Scene, Stage

STAGE = Stage()
# The job exits with $(code), and writes $(text) into its file first.
STEP = """\
universe = scheduler
executable = step.sh
arguments = "$(JOB) $(code:0) '$(text)'"
queue
"""
SCRIPT = """\
#!/bin/sh
echo "${3:-size = 5}" > "$1.ad"
echo "$1" >> ran
while [ -e "hold.$1" ]; do sleep 0.1; done
exit "$2"
"""


def begin(s: Scene, dag: str, *words: str) -> None:
    (s.work / "step.sub").write_text(STEP)
    (s.work / "step.sh").write_text(SCRIPT)
    (s.work / "step.sh").chmod(0o755)
    nodes = dict.fromkeys(word for line in dag.splitlines() for word in _edge(line))
    s.submit("".join(f"JOB {node} step.sub\n" for node in nodes) + dag, *words)


def _edge(line: str) -> list[str]:
    """The nodes of a PARENT line, but for those of sweeps."""
    words = [one for one in line.split() if "{" not in one]
    return [one for one in words if one not in ("PARENT", "CHILD")] if "CHILD" in words else []


def ran(s: Scene) -> list[str]:
    return sorted((s.work / "ran").read_text().split())


@STAGE.scene
def attributes_of_a_job_decide(s: Scene) -> None:
    begin(
        s,
        "PARENT A CHILD X Y\nPUBLISH A ATTRIBUTES NumJobStarts,Cmd\n"
        'RUN_IF X Parents.A.NumJobStarts >= 0 && regexp("step.sh$", Parents.A.Cmd)\n'
        "RUN_IF Y Parents.A.NumJobStarts > 5\n",
    )
    assert s.ends() == 0, s.out()[-4000:]
    assert ran(s) == ["A", "X"]


@STAGE.scene
def a_rescue_dag_knows_what_was_decided(s: Scene) -> None:
    begin(
        s,
        "PARENT A CHILD X Y B\nPARENT B CHILD Z\nPARENT A CHILD Z\nPUBLISH A FILE A.ad\n"
        "RUN_IF X Parents.A.size > 9\nPARENT X CHILD X1\nPARENT X1 B CHILD E\n"
        'RUN_IF Z Parents.A.size == 5 && Parents.B.Outcome == "DONE"\n'
        'RUN_IF E Parents.X1.Outcome == "SKIPPED" && Done == 1\n'
        'RUN_IF Y true\nVARS B code="1"\n',
    )
    assert s.ends() == 1
    rescue = s.text("t.dag.rescue001").splitlines()
    assert {"SKIPPED X", "SKIPPED X1", "DONE A", "DONE Y"} <= set(rescue)
    assert "NODE_RESULT A [ size = 5; ExitCode = 0; Retries = 0 ]" in rescue
    (s.work / "A.ad").unlink()
    text = (s.work / "t.dag").read_text().replace('VARS B code="1"', "")
    (s.work / "t.dag").write_text(text)
    s.submit_again()
    assert s.ends() == 0, s.out()[-4000:]
    assert ran(s) == ["A", "B", "B", "E", "Y", "Z"]


@STAGE.scene
def each_node_of_a_sweep_publishes_a_file_of_its_own(s: Scene) -> None:
    begin(
        s,
        'SWEEP try_{x} step.sub OVER x IN 4 7 VARS text="size = $(x)"\n'
        "PARENT try_{x} CHILD X\nPUBLISH try_{x} FILE try_$(x).ad\n"
        "RUN_IF X Parents.try_4.size + Parents.try_7.size == 11\n",
    )
    assert s.ends() == 0, s.out()[-4000:]
    assert ran(s) == ["X", "try_4", "try_7"]


@STAGE.scene
def the_examples_run(s: Scene) -> None:
    found = {}
    for name, code in (("choose", 0), ("switch", 0), ("handler", 1)):
        s.bring("decisions")
        (s.work / "ran").unlink(missing_ok=True)
        dag = s.work / f"{name}.dag"
        s.cluster = s.access_point.submit(s.work, dag.name)
        assert s.access_point.wait(dag).code == code
        found[name] = ran(s)
    assert found == {
        "choose": ["measure", "report", "small"],
        "switch": ["choose", "two", "two-more"],
        "handler": ["repair", "tidy", "work"],
    }


test_decisions = STAGE.tests()
