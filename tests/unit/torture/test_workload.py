"""What is tortured is what was drawn: the DAG is whole."""

from __future__ import annotations

from pathlib import Path
from random import Random

from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import Dag
from tests.torture import waits
from tests.torture.workload import Workload, draw, files


def built(workload: Workload, name: str = "t.dag") -> Dag:
    texts = files(workload)
    return build([name], lambda path: texts[Path(path).name], BuildOptions(cwd="."))


def test_the_dag_is_what_was_drawn() -> None:
    for seed in range(60):
        workload = waits.draw(Random(seed), 100) if seed % 2 else draw(Random(seed))
        dag = built(workload)
        nodes = {node.name: node for node in workload.nodes}
        assert set(dag.names) == set(nodes)
        for number, name in enumerate(dag.names):
            parents = {dag.names[parent] for parent in dag.parents(number)}
            assert set(nodes[name].parents) <= parents
            retry = dag.retries.get(number)
            assert (retry.limit if retry else 0) == nodes[name].retries
            assert dag.is_noop(number) == nodes[name].noop
