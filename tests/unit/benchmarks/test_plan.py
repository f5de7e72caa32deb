"""Who is measured when, with which knobs, and on which DAGs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import costs, dags, subjects
from condor_pydagman.graph.build import BuildOptions, build

ROLLUP = """\
5581b000-7ffd1000 ---p 00000000 00:00 0    [rollup]
Rss:                2000 kB
Pss:                1000 kB
Pss_Dirty:           700 kB
Private_Clean:       100 kB
Private_Dirty:       600 kB
"""


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
