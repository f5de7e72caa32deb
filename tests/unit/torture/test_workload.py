"""What is tortured is what was drawn: the DAG is whole, and its programs keep the ledger."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import Dag
from tests.torture.ledger import parse, programs
from tests.torture.workload import Workload, draw, files


def built(workload: Workload, name: str = "t.dag") -> Dag:
    texts = files(workload)
    return build([name], lambda path: texts[Path(path).name], BuildOptions(cwd="."))


def test_the_dag_is_what_was_drawn() -> None:
    for seed in range(60):
        workload = draw(Random(seed))
        dag = built(workload)
        nodes = {node.name: node for node in workload.nodes}
        assert set(dag.names) == set(nodes)
        for number, name in enumerate(dag.names):
            parents = {dag.names[parent] for parent in dag.parents(number)}
            assert set(nodes[name].parents) <= parents
            retry = dag.retries.get(number)
            assert (retry.limit if retry else 0) == nodes[name].retries
            assert dag.is_noop(number) == nodes[name].noop


def test_every_kind_of_node_is_drawn() -> None:
    workloads = [draw(Random(seed)) for seed in range(60)]
    nodes = [node for workload in workloads for node in workload.nodes]
    for trait in ("pre", "post", "skip", "noop", "vanilla", "final", "retries", "fails"):
        assert any(getattr(node, trait) for node in nodes), trait
    assert {node.by for node in nodes if node.fails} == {"job", "pre", "post"}
    assert any(node.procs > 1 for node in nodes)
    assert not all(node.works for node in nodes)
    assert any(node.name.startswith("S+") for node in nodes)
    assert any(workload.inner for workload in workloads)
    assert any(workload.options for workload in workloads)


def test_where_all_must_succeed() -> None:
    for seed in range(40):
        workload = draw(Random(seed), sure=True, retries=2)
        assert all(node.works and not node.final for node in workload.nodes)
        assert all(node.retries >= node.fails + 2 for node in workload.nodes)
        assert not workload.inner


def test_bundles_are_drawn_where_they_may_be() -> None:
    assert not any(node.bundled for seed in range(20) for node in draw(Random(seed)).nodes)
    workloads = [draw(Random(seed), bundles=1.0) for seed in range(40)]
    nodes = [node for workload in workloads for node in workload.nodes]
    assert {node.bundled for node in nodes} == {"", "no", "yes"}
    assert not any(node.final or node.noop for node in nodes if node.bundled)
    lines = [" ".join(workload.lines) for workload in workloads]
    assert all("BUNDLE all SIZE " in line for line in lines)
    assert {"CHAINS" in line for line in lines} == {True, False}
    assert {bool(node.reads) for node in nodes if node.writes} == {True, False}
    assert all(node.writes == bool(node.bundled) for node in nodes)


def test_without_outputs() -> None:
    for seed in range(20):
        assert not any(node.writes for node in draw(Random(seed), bundles=1.0, outputs=False).nodes)


def test_the_same_seed_gives_the_same() -> None:
    assert draw(Random(3)) == draw(Random(3))


def run(directory: Path, *words: str) -> int:
    environment = {"CONDOR_ID": "12.0", "PATH": "/usr/bin:/bin"}
    return subprocess.run(words, cwd=directory, env=environment, check=False).returncode


def test_the_programs_keep_the_rules_and_the_ledger(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    for name, text in programs(ledger, tmp_path).items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    assert run(tmp_path, "./job.sh", "12.0", "A", "0", "13.1", "0", "1") == 1
    assert run(tmp_path, "./job.sh", "12.0", "A", "1", "14.1", "0", "1") == 0
    (tmp_path / "ad").write_text("ClusterId = 14\nDAGManJobId = 12\n")
    words = ["./bundled.sh", "A", "2", "0", "1"]
    assert run(tmp_path, "env", f"_CONDOR_JOB_AD={tmp_path}/ad", *words) == 0
    words[-1:] = ["0", "A.out", ""]
    assert run(tmp_path, "env", f"_CONDOR_JOB_AD={tmp_path}/ad", *words) == 0
    assert (tmp_path / "A.out").read_text() == "A\n"
    assert run(tmp_path, *words[:-1], "A.out,B.out") == 3
    assert run(tmp_path, "./script.sh", "pre", "A", "0", "0", "skip") == 7
    assert run(tmp_path, "./script.sh", "post", "A", "0", "1", "0") == 1
    assert run(tmp_path, "./script.sh", "post", "A", "0", "0", "1") == 2
    assert run(tmp_path, "./script.sh", "post", "A", "1", "0", "1") == 0
    lines, odd = parse(ledger.read_text())
    assert odd == []
    assert {line.owner for line in lines} == {12}
    assert [(line.what, line.extra) for line in lines] == [
        *(("start", 0), ("end", 1)),
        *(("start", 0), ("end", 0), ("start", 0), ("end", 0), ("start", 0), ("end", 0)),
        *(("pre", 0), ("pre-end", 7)),
        *(("post", 1), ("post-end", 1), ("post", 0), ("post-end", 2)),
        *(("post", 0), ("post-end", 0)),
    ]
    assert (lines[0].cluster, lines[0].proc) == (13, 1)
