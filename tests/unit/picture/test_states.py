"""States of nodes, and the reader of node status files."""

from __future__ import annotations

import pytest

from condor_pydagman.errors import FileError
from condor_pydagman.features.enough.commands import EnoughsOfDag
from condor_pydagman.features.skipping.commands import SkippedOfDag
from condor_pydagman.follow.shown_states import Shown
from condor_pydagman.graph.model import DONE, LEFT_OUT, Dag
from condor_pydagman.picture.states import NodeAd, States, node_ads
from tests.make import dag as make_dag
from tests.unit.picture import dag_of

# As stock DAGMan writes it, shortened.
STATUS = r"""
[
  Type = "DagStatus";
  DagFiles = {
    "x.dag"
  };
  DagStatus = 3; /* "STATUS_SUBMITTED ()" */
]
[
  Type = "NodeStatus";
  Node = "A";
  NodeStatus = 5; /* "STATUS_DONE" */
  StatusDetails = "";
  RetryCount = 0;
]
[
  Type = "NodeStatus";
  Node = "B";
  NodeStatus = 3; /* "STATUS_SUBMITTED" */
  StatusDetails = "not_idle";
]
[
  Type = "NodeStatus";
  Node = "C";
  NodeStatus = 3; /* "STATUS_SUBMITTED" */
  StatusDetails = "idle";
]
[
  Type = "NodeStatus";
  Node = "D \"q\" \\";
  NodeStatus = 6; /* "STATUS_ERROR" */
  StatusDetails = "Job proc (3.0.0) failed with status 1";
]
"""


def test_a_status_file_of_stock_dagman_is_read() -> None:
    assert list(node_ads(STATUS, "x.status")) == [
        NodeAd("A", Shown.DONE, ""),
        NodeAd("B", Shown.RUNNING, "not_idle"),
        NodeAd("C", Shown.IDLE, "idle"),
        NodeAd('D "q" \\', Shown.FAILED, "Job proc (3.0.0) failed with status 1"),
    ]


@pytest.mark.parametrize(
    ("status", "details", "held", "state", "why"),
    [
        (3, "idle", 1, Shown.HELD, "idle"),
        (3, "not_idle", 1, Shown.RUNNING, "not_idle"),
        (5, "skipped", 0, Shown.SKIPPED, ""),
        (5, "skipped: RUN_IF is false: x: 1", 0, Shown.SKIPPED, "RUN_IF is false: x: 1"),
        (5, "cached: nothing has changed", 0, Shown.CACHED, "nothing has changed"),
        (5, "not needed: ENOUGH ALL_NODES 1", 0, Shown.NOT_NEEDED, "ENOUGH ALL_NODES 1"),
        (5, "Left out by CHOOSE", 0, Shown.LEFT_OUT, ""),
        (5, "User defined as DONE", 0, Shown.DONE, "User defined as DONE"),
        (1, "its RUN_IF is being evaluated", 0, Shown.READY, "its RUN_IF is being evaluated"),
    ],
)
def test_details_tell_finer_states(
    status: int, details: str, held: int, state: Shown, why: str
) -> None:
    text = (
        f'Type = "NodeStatus"; Node = "A"; NodeStatus = {status}; StatusDetails = "{details}";'
        f' RetryCount = 0; JobProcsQueued = 1; JobProcsHeld = {held}; Site = "north";'
    )
    assert list(node_ads(text, "f")) == [NodeAd("A", state, why, "north")]


@pytest.mark.parametrize("number", range(10))
def test_every_status_number_is_a_state(number: int) -> None:
    text = f'Type = "NodeStatus"; Node = "A"; NodeStatus = {number};'
    (ad,) = node_ads(text, "f")
    assert ad.state in Shown


def test_a_file_of_another_kind_is_refused_by_name() -> None:
    with pytest.raises(FileError, match=r"x\.dag is not a node status file.*NODE_STATUS_FILE"):
        list(node_ads("JOB A a.sub\n", "x.dag"))


def test_a_status_file_cut_in_the_middle_gives_what_it_has() -> None:
    half = STATUS[: STATUS.index('Node = "D')]
    assert [ad.name for ad in node_ads(half, "f")] == ["A", "B", "C"]


def test_nodes_done_before_the_start_are_done() -> None:
    dag = Dag()
    dag.add_node("A", "x.sub", flags=DONE)
    dag.add_node("B", "x.sub")
    dag.finish()
    assert list(States(dag).of) == [Shown.DONE, Shown.WAITING]


def test_nodes_that_an_earlier_run_has_not_run() -> None:
    dag = make_dag("JOB A a.sub\nJOB B a.sub\nJOB C a.sub\nJOB D a.sub\n")
    dag.flags[0] |= DONE | LEFT_OUT
    dag.flags[1] |= DONE
    dag.flags[2] |= DONE
    SkippedOfDag.put(dag).skipped[1] = None
    EnoughsOfDag.put(dag).not_needed[2] = None
    states = [Shown.LEFT_OUT, Shown.SKIPPED, Shown.NOT_NEEDED, Shown.WAITING]
    assert list(States(dag).of) == states


def test_a_status_file_wins_and_strangers_are_counted() -> None:
    dag = dag_of("AB")
    states = States(dag)
    states.apply_ads(dag, [NodeAd("B", Shown.FAILED, "why"), NodeAd("Z", Shown.DONE, "")])
    assert list(states.of) == [Shown.WAITING, Shown.FAILED]
    assert (states.details, states.unknown) == ({1: "why"}, 1)
    assert states.counts()[Shown.FAILED] == 1
