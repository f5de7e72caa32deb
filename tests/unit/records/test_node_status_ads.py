"""Node status files read back, as ads."""

from __future__ import annotations

import time

from condor_pydagman.records.node_status_ads import OUTCOME, node_status_ads

TEXT = """[
  Type = "DagStatus";
  DagFiles = {
    "a }; b.dag",
    "c\\".dag"
  };
  Timestamp = 5; /* "Type = 3;" */
  DagStatus = 3; /* "STATUS_SUBMITTED (removed)" */
]
[
  Type = "NodeStatus";
  Node = "x; NodeStatus = 9;\\n\\\\";
  NodeStatus = 5; /* "STATUS_DONE" */
  RetryCount = -1;
  Odd = 3 + 4;
]
[ Type = "StatusEnd"; NextUpdate = 0; /* "none" */ ]
"""


def test_ads_with_their_values() -> None:
    head, node, end = node_status_ads(TEXT)
    assert head == {
        "Type": "DagStatus", "DagFiles": ("a }; b.dag", 'c".dag'), "Timestamp": 5,
        "DagStatus": 3, OUTCOME: "removed",
    }  # fmt: skip
    assert node == {
        "Type": "NodeStatus", "Node": "x; NodeStatus = 9;\n\\", "NodeStatus": 5, "RetryCount": -1,
    }  # fmt: skip
    assert end == {"Type": "StatusEnd", "NextUpdate": 0}


def test_nothing_is_made_of_other_text() -> None:
    assert list(node_status_ads("JOB A a.sub\n")) == []


def test_text_that_never_ends_a_string_takes_linear_time() -> None:
    began = time.process_time()
    list(node_status_ads('Node = "' + "\\" * 200_001))
    list(node_status_ads("DagFiles = {" + '"a", ' * 50_000))
    assert time.process_time() - began < 2
