"""A rescue file, written and read again, marks the same nodes done: on a disk as in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from condor_pydagman.adapters import files
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.records import rescue
from tests import make

SHAPE = "A -> B C; B C -> D; E -> F"
CREATED = (2026, 1, 2, 3, 4, 5)


@pytest.fixture(params=["fake", "real"])
def through(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[list[str]], str]:
    """Where the text goes and comes from: `World.rescue_text`, or a file."""
    if request.param == "fake":
        return "".join
    path = str(tmp_path / "t.dag.rescue001")

    def by_disk(chunks: list[str]) -> str:
        files.replace(path, chunks)
        return files.read_text(path)

    return by_disk


def done(dag: Dag) -> set[str]:
    return {name for name, flags in zip(dag.names, dag.flags) if flags & DONE}


@pytest.mark.parametrize("failed", ["", "B", "A", "E"])
def test_the_same_nodes_are_done(through: Callable[[list[str]], str], failed: str) -> None:
    harness = make.EngineHarness(SHAPE).begin()
    cluster = 1
    waiting = harness.submits()
    finished = set()
    while waiting:
        name = waiting.pop(0)
        harness.run_node(name, cluster, value=1 if name == failed else 0)
        cluster += 1
        finished |= set() if name == failed else {name}
        waiting += harness.submits()
    reports = harness.engine.node_reports()
    text = through(
        list(rescue.rescue_text(harness.dag, reports, created=CREATED, reset_retries=True))
    )
    fresh = make.dag(SHAPE)
    apply_progress(fresh, text, "t.dag.rescue001")
    assert done(fresh) == finished
