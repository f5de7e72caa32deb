"""Real workflow shapes on the real pool: every node exactly once, and after its parents."""

from __future__ import annotations

from pathlib import Path

from tests.pool.access_point import AccessPoint
from tests.workflows.files import LEDGER, write
from tests.workflows.ledger import check_ledger
from tests.workflows.shapes import SHAPES, make

# Together more than 500 nodes; the workflows run side by side.
SIZE = 70


def test_real_shapes_run_every_node_once_and_in_order(
    access_point: AccessPoint, work: Path
) -> None:
    workflows = {shape: make(shape, SIZE, seed=1) for shape in SHAPES}
    assert sum(len(workflow.nodes) for workflow in workflows.values()) >= 500
    dags = {}
    for shape, workflow in workflows.items():
        directory = work / shape
        directory.mkdir(mode=0o777)
        dags[shape] = write(directory, workflow)
        access_point.submit(directory, dags[shape].name)
    for shape, workflow in workflows.items():
        assert access_point.wait(dags[shape]).code == 0
        ledger = (work / shape / LEDGER).read_text()
        assert check_ledger(workflow.edges, ledger, workflow.nodes) == []
