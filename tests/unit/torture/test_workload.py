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
