"""What is written down is the workflow, and its jobs keep the ledger that the checker reads."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from condor_pydagman.graph.build import BuildOptions, build
from tests.workflows.files import LEDGER, write
from tests.workflows.ledger import check_ledger
from tests.workflows.shapes import make


def test_the_dag_file_says_what_the_workflow_is(tmp_path: Path) -> None:
    workflow = make("epigenomics", 100)
    path = write(tmp_path, workflow)
    dag = build([str(path)], lambda name: Path(name).read_text(), BuildOptions(cwd=str(tmp_path)))
    assert list(dag.names) == workflow.nodes
    edges = {(dag.names[p], dag.names[n]) for n in range(len(dag)) for p in dag.parents(n)}
    assert edges == set(workflow.edges)


def test_jobs_keep_the_ledger(tmp_path: Path) -> None:
    write(tmp_path, make("blast", 20))
    assert os.access(tmp_path / "job.sh", os.X_OK)
    for node in "AB":
        subprocess.run(["./job.sh", node], cwd=tmp_path, check=True)
    assert check_ledger([("A", "B")], (tmp_path / LEDGER).read_text()) == []
