"""Nodes logs with events that are not of the DAG's jobs, or that can't be: what both programs make
of them.
"""

from __future__ import annotations

import re
from typing import Any

from tests.pool import dags
from tests.pool.scenes import Scene, Stage

STAGE = Stage()
WHEN = "2026-11-21 11:56:29"
HELD = "Job was held.\n\tno room\n\tCode 1 Subcode 2"
EXCEPTION = "Shadow exception!\n\tno room\n\t0  -  Run Bytes Sent By Job"
ABORTED = "Job was aborted.\n\tof no use"


def add(s: Scene, kind: int, job: str, text: str) -> None:
    """Append an event to the nodes log."""
    with open(s.work / "t.dag.nodes.log", "a", encoding="utf-8") as log:
        log.write(f"{kind:03} ({job}) {WHEN} {text}\n...\n")


@STAGE.by_both
def a_helper_of_the_schedd_has_trouble(s: Scene) -> Any:
    """It transfers files that several jobs have in common, and has the job's cluster id."""
    s.submit("JOB A told.sub\nJOB B job.sub\nPARENT A CHILD B\nJOBSTATE_LOG j.log\n", started="A 0")
    cluster = s.job("A")
    add(s, 7, f"{cluster:03}.-1000.000", EXCEPTION)
    add(s, 12, f"{cluster:03}.-1001.000", HELD)
    add(s, 9, f"{cluster:03}.-1000.000", ABORTED)
    s.says("-1000: Common Transfer Shadow", 2)
    s.touch("go.A")
    code = s.ends()
    events = re.findall(r"Event: (\w+ for HTCondor Node A) \(\d+(\.-\d+\.0)\)", s.out())
    skipped = re.findall(r"Warning: Skipping .*", s.out())
    states = [line.split()[1:3:2] for line in s.text("j.log").splitlines()]
    return code, events, skipped, states, dags.runs(s.work)


@STAGE.by_both
def a_node_is_submitted_before_its_turn(s: Scene) -> Any:
    """The verdict is the same when the DAG is started again, and nothing has been thrown away."""
    s.submit(
        "JOB A told.sub\nJOB B told.sub\nPARENT A CHILD B\nJOB C job.sub\nFINAL F job.sub\n"
        "SCRIPT PRE C wait.sh C\nJOBSTATE_LOG j.log\n"
    )
    s.started("A 0")
    add(s, 0, "9999999.000.000", 'Job submitted from host: <h>\n    [ DAGNodeName = "B" ]')
    codes = [s.ends()]
    s.gone()
    s.touch("go.A", "go.B")
    (s.work / "t.dag.dagman.log").unlink()
    s.run("condor_submit", "t.dag.condor.sub")
    codes.append(s.ends())
    said = re.findall(r"Error: DAG semantics(?:.*\n){11}", s.out())
    said = [re.sub(r"(?m)^\S+ \S+ ", "", text) for text in said]
    files = sorted(path.name for path in s.work.iterdir() if not path.name.startswith("go."))
    # The lines before it depend on the second in which each event was written.
    last = [x.split()[1:3] for x in s.text("j.log").splitlines() if "RECOVERY" not in x][-1]
    return codes, said, files, last, dags.runs(s.work)


test_the_same = STAGE.beside_stock()
