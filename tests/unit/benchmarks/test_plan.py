"""Who is measured when, with which knobs, and on which DAGs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks import costs, dags, events, measure, run, subjects
from condor_pydagman.graph.build import BuildOptions, build

ROLLUP = """\
5581b000-7ffd1000 ---p 00000000 00:00 0    [rollup]
Rss:                2000 kB
Pss:                1000 kB
Pss_Dirty:           700 kB
Private_Clean:       100 kB
Private_Dirty:       600 kB
"""
EVENTS = """\
000 (1.000.000) 2026-11-21 10:00:00.100 Job submitted
...
000 (2.000.000) 2026-11-21 10:00:01.100 Job submitted
...
005 (1.000.000) 2026-11-21 10:00:02.600 Job terminated.
...
000 (3.000.000) 2026-11-21 10:00:02.605 Job submitted
...
005 (3.000.000) 2026-11-21 10:00:04.100 Job terminated.
...
"""


def test_each_is_measured_and_turns_are_taken() -> None:
    everyone = subjects.EVERYONE
    plan = list(measure.order(measure.STEPS, everyone, 20))
    assert set(plan) == {
        (name, one) for name, step in measure.STEPS.items() for one in step.subjects
    }
    assert {one for _, one in plan} == {*everyone}
    held = [one for name, one in plan if name == "held"]
    assert held.count("stock") == 1
    assert held.count("ours") == held.count("floor") == measure.STEPS["held"].turns
    assert held.index("ours") < held.index("floor")


def test_turns_can_be_fewer() -> None:
    plan = [one for _, one in measure.order(["chain", "held"], subjects.ALL, 1)]
    assert plan == [*subjects.ONE_BY_ONE, *reversed(subjects.ALL)]


def test_rounds_repeat_the_plan_the_other_way_round() -> None:
    plan = [("chain", "stock"), ("chain", "ours")]
    assert measure.repeated(plan, 1) == plan
    assert measure.repeated(plan, 3) == [*plan, *reversed(plan), *plan]


def test_the_quick_measurements_exist() -> None:
    assert set(measure.QUICK_STEPS) < set(measure.STEPS)
    assert run.arguments(["--quick"]).only == list(measure.QUICK_STEPS)
    assert run.arguments([]).only == list(measure.STEPS)


def test_only_the_subjects_that_are_wanted() -> None:
    plan = measure.order(["chain", "submit"], ["ours", "floor"], 2)
    assert sorted(plan) == [
        ("chain", "floor"),
        ("chain", "ours"),
        ("submit", "ours"),
        ("submit", "ours"),
    ]


def test_only_the_tuned_one_is_tuned() -> None:
    assert subjects.knobs("stock", {}) == {}
    assert subjects.knobs("ours", {"A": "b"}) == {"_CONDOR_A": "b"}
    tuned = subjects.knobs("tuned", {})
    assert tuned["_CONDOR_DAGMAN_USER_LOG_SCAN_INTERVAL"] == "1"
    together = {"_CONDOR_PYDAGMAN_MAX_NODES_IN_CLUSTER": "1000"}
    assert subjects.knobs("together", {}) == together


@pytest.mark.parametrize(
    "workload",
    [
        dags.chain(5),
        dags.bag(4, dags.HELD),
        dags.fan(3),
        dags.product(3),
        dags.workflow("montage", 30),
    ],
)
def test_dagman_and_the_bare_loop_get_the_same_dag(workload: dags.Workload, tmp_path: Path) -> None:
    workload.write(tmp_path)
    path = tmp_path / dags.NAME
    options = BuildOptions(cwd=str(tmp_path), use_join_nodes=False)
    dag = build([str(path)], lambda name: Path(name).read_text(), options)
    bare = json.loads((tmp_path / dags.FLOOR_NAME).read_text())
    assert list(dag.names) == list(bare["nodes"])
    edges = {(p, c) for some, more in bare["edges"] for p in some for c in more}
    assert {(dag.names[p], dag.names[n]) for n in range(len(dag)) for p in dag.parents(n)} == edges
    keeping = {node for node, text in bare["nodes"].items() if "keep_claim_idle" in text}
    assert keeping == {parent for parent, _ in edges}


def test_memory_of_a_process() -> None:
    sizes = costs.sizes(ROLLUP)
    assert sizes == pytest.approx({"rss": 2.048, "pss": 1.024, "uss": 0.7168})


def test_this_process_costs_something() -> None:
    assert costs.cpu_seconds(os.getpid()) > 0
    assert costs.wake_ups(os.getpid()) >= 0
    total = costs.memory_sum([os.getpid()])
    assert 0 < total["uss"] <= total["pss"] <= total["rss"]
    assert costs.available() > 0


def test_times_of_a_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(EVENTS)
    found = events.read(tmp_path / "log")
    assert events.makespan(found) == pytest.approx(4.0)
    assert events.reactions(found) == pytest.approx([0.005], abs=1e-5)
    assert events.rate(found) == pytest.approx(2 / 2.505)
    assert events.read(tmp_path / "absent") == []
    assert events.rate([]) is None


def submitted(*found: tuple[int, float]) -> list[events.Event]:
    return [events.Event(events.SUBMIT, cluster, moment) for cluster, moment in found]


def test_a_cluster_counts_from_the_end_of_the_first() -> None:
    two = submitted((1, 10.0), (1, 10.1), (2, 10.5), (2, 11.1))
    assert events.rate(two) == pytest.approx(2.0)
    one = submitted((1, 10.0), (1, 10.5))
    assert events.rate(one, begin=8.5) == pytest.approx(1.0)
    assert events.rate(one) is None


@pytest.mark.parametrize(
    "words",
    [
        ["--only", "chain,nothing"],
        ["--subjects", "theirs"],
        ["--knob", "A"],
        ["--rounds", "0"],
        ["--from", "absent.json"],
        ["--json", "absent/x.json"],
    ],
)
def test_a_wrong_command_line_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        run.arguments(words)
    assert refused.value.code == 2
    assert words[0] in capsys.readouterr().err
