"""What one glance at a DAG says."""

from __future__ import annotations

import json
from typing import Any

from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.trace.overview import STATES, Overview, overview
from condor_pydagman.trace.run_history import (
    Attempt,
    Halted,
    Hold,
    NodeRun,
    Run,
    ScriptRun,
)
from condor_pydagman.trace.tally import Tally
from condor_pydagman.vocabulary import NodeStatus

NOW = 1000.0


def node(run: Run, name: str, status: NodeStatus, **attempt: Any) -> Attempt:
    made = run.nodes[name] = NodeRun(name, status)
    made.since = 900.0
    made.attempts.append(Attempt(0))
    for key, value in attempt.items():
        setattr(made.attempts[-1], key, value)
    return made.attempts[-1]


def a_run() -> Run:
    run = Run()
    run.begun = 500.0
    for number in range(10):
        node(run, f"done{number}", NodeStatus.DONE)
    node(run, "long", NodeStatus.SUBMITTED, procs=1, cluster=7, running=1, started=600.0,
         hosts=("slot1@a",))  # fmt: skip
    node(run, "short", NodeStatus.SUBMITTED, procs=1, cluster=8, running=1, started=700.0)
    for name in ("h1", "h2"):
        hold = Hold(800.0, "no such file", 13, 2, "9.0")
        node(run, name, NodeStatus.SUBMITTED, procs=1, held=1, holds=[hold])
    node(run, "idle", NodeStatus.SUBMITTED, procs=3)
    node(run, "code", NodeStatus.ERROR, value=3, procs=1)
    pre = node(run, "pre", NodeStatus.ERROR)
    pre.pre = ScriptRun()
    pre.pre.value = 4
    run.nodes["waits"] = NodeRun("waits")
    run.nodes["ready"] = NodeRun("ready", NodeStatus.READY)
    return run


def seen(run: Run, **how: Any) -> Overview:
    return overview("t.dag", "running", Tally(run), NOW, **{"exact": True, "ad": {}, **how})


def test_counts() -> None:
    counts = seen(a_run()).counts
    assert {name: counts[name] for name in STATES if counts[name]} == {
        "done": 10, "running": 2, "idle": 1, "held": 2, "ready": 1, "waiting": 1, "failed": 2
    }  # fmt: skip
    assert counts["total"] == 19


def test_nodes_that_became_futile_by_dagmans_count() -> None:
    run = a_run()
    run.counts = (19, 10, 0, 5, 0, 1, 0, 2, 1)
    counts = seen(run).counts
    assert (counts["futile"], counts["waiting"]) == (1, 0)


def test_pace() -> None:
    one = seen(a_run())
    assert one.per_second == 10 / 500
    assert one.remaining_s == 5 / one.per_second  # without those that are held
    assert seen(a_run(), running=False).remaining_s is None


def test_no_end_is_foretold_of_a_dag_that_stands_still() -> None:
    halted = a_run()
    halted.halts = [Halted(950.0)]
    assert (seen(halted).per_second, seen(halted).remaining_s) == (0.0, None)
    run = a_run()
    for node in run.nodes.values():
        node.since = 501.0
    one = seen(run)
    assert (one.remaining_s, one.stalled_s) == (None, 499.0)
    run.nodes["done3"].since = 900.0
    assert seen(run).stalled_s == 0  # in 400 s there should have been 8


def test_nodes_that_were_let_go_before_the_run_count_as_done() -> None:
    tally = Tally(a_run(), None, let_go_before=1000)
    counts = overview("t.dag", "running", tally, NOW, exact=True, ad={}).counts
    assert (counts["done"], counts["total"]) == (1010, 1019)


def test_what_runs_is_held_and_has_failed() -> None:
    one = seen(a_run())
    assert [(run.node, run.job, run.host) for run in one.longest] == [
        ("long", "7.0", "slot1@a"), ("short", "8.0", "")
    ]  # fmt: skip
    (group,) = one.held
    assert (group.jobs, group.reason, group.code, group.nodes) == (
        2, "no such file", 13, ["h1", "h2"]
    )  # fmt: skip
    assert [(failure.node, failure.value, failure.reason) for failure in one.failures] == [
        ("pre", 4, "PRE script"), ("code", 3, "")
    ]  # fmt: skip


def test_who_has_cancelled_a_node_is_why_it_has_failed() -> None:
    run = Run()
    run.nodes["A"] = NodeRun("A", NodeStatus.ERROR)
    run.nodes["A"].cancelled_by = "ann"
    run.nodes["A"].since = 900.0
    (failure,) = seen(run).failures
    assert (failure.value, failure.reason, failure.attempts) == (None, "cancelled by ann", 0)


def test_throttles_that_are_full_while_nodes_wait() -> None:
    run = a_run()
    run.limits = {"DAGMan_MaxJobs": 5, "DAGMan_MaxIdle": 3, "DAGMan_MaxPreScripts": 2}
    assert seen(run).throttles == [
        "5 nodes with jobs in the queue (DAGMan_MaxJobs)", "3 idle jobs (DAGMan_MaxIdle)"
    ]  # fmt: skip
    del run.nodes["ready"]
    assert not seen(run).throttles


def test_categories_that_are_full_while_nodes_wait() -> None:
    lines = ["JOB long a.sub\n", "JOB waits a.sub\n", "CATEGORY long big\n", "CATEGORY waits big\n"]
    run = a_run()
    for limit, expected in ((1, ["1 nodes of category big (MAXJOBS)"]), (2, [])):
        text = [*lines, f"MAXJOBS big {limit}\n"]
        dag = build(["t.dag"], lambda _, text=text: iter(text), BuildOptions())  # type: ignore[misc]
        one = overview("t.dag", "running", Tally(run, dag), NOW, exact=True, ad={})
        assert one.throttles == expected


def test_dagmans_own_counts_where_not_all_nodes_are_known() -> None:
    run = a_run()
    run.counts, run.counts_time = (100, 50, 1, 5, 2, 3, 30, 2, 7), 950.0
    one = seen(run, exact=False)
    assert (one.counts["total"], one.counts["done"], one.counted) == (100, 50, 950.0)
    assert (one.counts["running"], one.counts["held"], one.counts["idle"]) == (2, 2, 1)
    ad = {"DAG_NodesTotal": 100, "DAG_NodesDone": 60, "DAG_AdUpdateTime": 960}
    one = seen(run, exact=False, ad=ad)
    assert (one.counts["done"], one.counted) == (60, 960.0)
    assert seen(Run(), exact=False).counts["total"] == 0


def test_as_json() -> None:
    inner = seen(a_run())
    found = json.loads(json.dumps(seen(a_run(), subdags=[inner]).as_json()))
    assert found["longest"][0]["node"] == "long"
    assert found["subdags"][0]["held"][0]["code"] == 13
