"""read_node_status and write_node_status."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman import FileError, NodeCounts, NodeStatus, NodeStatusEntry, NodeStatusFile
from condor_pydagman import read_node_status as read
from condor_pydagman import write_node_status as write

RUNNING = NodeStatusFile(
    dag_files=("t.dag", 'odd"}; name.dag'),
    timestamp=1795253067,
    counts=NodeCounts(4, 1, 0, 1, 0, 0, 1, 1, 0),
    procs_held=1,
    procs_idle=2,
    nodes={
        "A": NodeStatusEntry(NodeStatus.DONE),
        'B"\\': NodeStatusEntry(NodeStatus.SUBMITTED, "not_idle", 2, 3, 1),
        "C": NodeStatusEntry(NodeStatus.ERROR, "Job proc failed; NodeStatus = 5;\n/* it"),
        "D": NodeStatusEntry(NodeStatus.NOT_READY),
    },
    next_update=1795253127,
)


@pytest.mark.parametrize(
    "status",
    [
        RUNNING,
        NodeStatusFile(("t.dag",), 1795253067, NodeStatus.DONE, "success"),
        NodeStatusFile(("t.dag",), 1795253067, NodeStatus.ERROR, "removed"),
        NodeStatusFile(("t.dag",), 1795253067, outcome="held"),
    ],
    ids=["running", "success", "removed", "held"],
)
def test_what_is_written_is_read_back(status: NodeStatusFile, tmp_path: Path) -> None:
    write(tmp_path / "s", status)
    assert read(tmp_path / "s") == status


def test_a_file_without_nodes_as_stock_writes_it(tmp_path: Path) -> None:
    text = """[
  Type = "DagStatus";
  DagFiles = {
    "job_dagman_node.dag"
  };
  Timestamp = 1399674138; /* "Fri May  9 17:22:18 2014" */
  DagStatus = 3; /* "STATUS_SUBMITTED ()" */
  NodesTotal = 12;
  NodesDone = 11;
  NodesFailed = 1;
]
[
  Type = "StatusEnd";
  EndTime = 1399674138; /* "Fri May  9 17:22:18 2014" */
  NextUpdate = 1399674141; /* "Fri May  9 17:22:21 2014" */
]
"""
    (tmp_path / "s").write_text(text)
    found = read(tmp_path / "s")
    assert found.counts == NodeCounts(total=12, done=11, failed=1)
    assert found.next_update == 1399674141


@pytest.mark.parametrize("text", ["", "JOB A a.sub\n", '[ Type = "DagStatus"; DagFiles = 3; ]'])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "s").write_text(text)
    with pytest.raises(FileError, match="is not a node status file"):
        read(tmp_path / "s")


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(FileError, match="can't read the node status file"):
        read("/nosuch/file")
