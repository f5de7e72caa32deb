"""Nodes with a CACHE command on the real pool: what runs again, and what does not; rescue
files, and what a dry run says."""

from __future__ import annotations

import re

from tests.pool.scenes import Scene, Stage

STAGE = Stage()
STEP = """\
universe = scheduler
executable = step.sh
arguments = "$(JOB) $(code:0) $(RETRY)"
queue
"""
# Writes NAME.out from NAME.in.
SCRIPT = """\
#!/bin/sh
echo "$1" >> ran
while [ -e "hold.$1" ]; do sleep 0.1; done
cat "$1.in" > "$1.out"
exit "$2"
"""
# Two samples, each prepared and measured, and a summary.
ANALYSIS = """\
PARENT A CHILD A2
PARENT B CHILD B2
PARENT A2 B2 CHILD sum report
CACHE ALL_NODES INPUTS $(JOB).in OUTPUTS $(JOB).out
"""
ALL = ["A", "A2", "B", "B2", "report", "sum"]


def begin(s: Scene, dag: str, *words: str) -> None:
    (s.work / "step.sub").write_text(STEP)
    (s.work / "step.sh").write_text(SCRIPT)
    (s.work / "step.sh").chmod(0o755)
    nodes = dict.fromkeys(word for line in dag.splitlines() for word in _edge(line))
    for node in nodes:
        (s.work / f"{node}.in").write_text(f"{node}\n")
    s.submit("".join(f"JOB {node} step.sub\n" for node in nodes) + dag, *words)


def _edge(line: str) -> list[str]:
    words = line.split()
    return [one for one in words if one not in ("PARENT", "CHILD")] if "CHILD" in words else []


def ran(s: Scene) -> list[str]:
    """The nodes whose jobs have run since the last call."""
    file = s.work / "ran"
    found = sorted(file.read_text().split()) if file.exists() else []
    file.unlink(missing_ok=True)
    return found


def again(s: Scene, *words: str) -> list[str]:
    """Run the DAG to its end once more, from its start; the nodes whose jobs have run."""
    return goes_on(s, "-f", *words)


def goes_on(s: Scene, *words: str) -> list[str]:
    """Run the DAG to its end, by its rescue file if there is one; the nodes whose jobs have run."""
    s.submit_again(*words)
    assert s.ends() == 0, s.out()[-4000:]
    return ran(s)


@STAGE.scene
def what_has_changed_runs_again_and_what_depends_on_it(s: Scene) -> None:
    begin(s, ANALYSIS)
    assert s.ends() == 0, s.out()[-4000:]
    assert ran(s) == ALL
    assert again(s) == []
    s.says("CACHE: node sum is done already: nothing has changed since the last run")
    (s.work / "B.in").write_text("other\n")
    assert again(s) == ["B", "B2", "report", "sum"]
    s.says("CACHE: node B is to run: its input B.in has changed")
    s.says("CACHE: node B2 is to run: its parent B has run")
    (s.work / "report.out").unlink()
    assert again(s) == ["report"]
    (s.work / "step.sh").write_text(SCRIPT + "\n")
    assert again(s) == ALL
    s.says("CACHE: node A is to run: its executable has changed")
    (s.work / "t.dag.cache").unlink()
    assert again(s) == ALL
    assert again(s) == []


@STAGE.scene
def a_rescue_dag_and_a_run_without_it(s: Scene) -> None:
    begin(s, ANALYSIS + 'VARS B2 code="1"\n')
    assert s.ends() == 1
    assert ran(s) == ["A", "A2", "B", "B2"]
    text = (s.work / "t.dag").read_text().replace('VARS B2 code="1"', "")
    (s.work / "t.dag").write_text(text)
    assert goes_on(s) == ["B2", "report", "sum"]
    assert again(s) == []
    (s.work / "B.in").write_text("other\n")
    assert again(s, "-choose_from", "A2") == []
    assert again(s) == ["B", "B2", "report", "sum"]


@STAGE.scene
def a_dry_run_says_what_would_run(s: Scene) -> None:
    begin(s, ANALYSIS)
    assert s.ends() == 0, s.out()[-4000:]
    (s.work / "B2.in").write_text("other\n")
    kept = s.text("t.dag.cache")
    text = s.run("condor_pydagman", "dry-run", "t.dag")
    assert "CACHE: B2: to run: its input B2.in has changed\n" in text
    assert "CACHE: sum report: to run: its parent B2 runs\n" in text
    assert "with 3 jobs\n" in text
    assert "CACHE: A A2 B: done already" in s.run("condor_dag_checker", "-lint", "t.dag")
    s.access_point.run(
        *("condor_dagman", "-f", "-l", ".", "-Debug", "3", "-Dag", "t.dag", "-DryRun"),
        cwd=s.work,
        environment={"_CONDOR_DAGMAN_LOG": "dry.out"},
    )
    said = s.text("dry.out")
    assert "CACHE: B2: to run: its input B2.in has changed" in said
    processed = set(re.findall(r"Processing node: (\S+)", said))
    assert processed & set(ALL) == {"B2", "sum", "report"}
    assert s.text("t.dag.cache") == kept
    assert ran(s) == ALL


@STAGE.scene
def the_example_runs(s: Scene) -> None:
    s.bring("caching")
    (s.work / "t.dag").write_text(s.text("analysis.dag"))
    assert len(again(s)) == 5
    assert again(s) == []
    (s.work / "b.txt").write_text("three\n")
    assert again(s) == ["clean_b", "measure_b", "summary"]


test_caching = STAGE.tests()
