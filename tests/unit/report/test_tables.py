"""A run as rows: its attempts."""

from __future__ import annotations

import csv
import io
import json

from condor_pydagman.follow.run_model import NodeRun
from condor_pydagman.report.all_runs import all_runs
from condor_pydagman.report.attempt_table import csv_text, json_text, rows
from condor_pydagman.report.spans import spans
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.report.runs import make_dag, make_run


def test_nodes_that_join_parent_lines_are_in_no_row() -> None:
    run = make_run()
    run.nodes = {"s+_condor_join_node0": run.nodes["A"], "B": run.nodes["B"]}
    run.nodes["s+_condor_join_node0"].name = "s+_condor_join_node0"
    assert {row["node"] for row in rows(run, make_dag(), 1040.0)} == {"B"}
    assert {span.node for span in spans(run, 1040.0)} == {"B"}


def test_why_a_node_counts_as_done_that_has_not_run() -> None:
    run, dag = make_run(), make_dag()
    skipped, left_out = NodeRun("E", NodeStatus.DONE), NodeRun("A", NodeStatus.DONE)
    skipped.why = "RUN_IF is false: x > 1"
    left_out.is_left_out = True
    run.nodes = {"E": skipped, "A": left_out, "B": run.nodes["B"]}
    run.nodes["B"].attempts[-1].skipped = True
    told = [(row["status"], row["reason"]) for row in rows(run, dag, 1040.0)]
    assert told[:2] == [("DONE", "RUN_IF is false: x > 1"), ("DONE", "CHOOSE leaves it out")]
    assert told[-1] == ("DONE", "its PRE script returned the value of PRE_SKIP")


def test_a_reason_of_the_last_run_stands_in_no_row_of_an_earlier_one() -> None:
    past, last = make_run(), make_run()
    for node in last.nodes.values():
        node.attempts, node.status, node.why = (), NodeStatus.DONE, "nothing has changed"
        node.told_skipped = True
    seen = all_runs([past], last, None)
    *of_attempts, of_last = rows(seen.whole, None, 1040.0, seen.numbers)
    assert not any(row["reason"] for row in of_attempts if row["run"] == 1)
    told = [(row["node"], row["status"]) for row in of_attempts if row["run"] == 1]
    assert told == [("A", "DONE"), ("B", "ERROR"), ("B", "DONE"), ("C", "DONE"), ("D", "ERROR")]
    assert (of_last["node"], of_last["attempt"]) == ("D", None)
    assert (of_last["status"], of_last["reason"]) == ("DONE", "nothing has changed")


def test_csv_and_json_say_the_same() -> None:
    run = make_run()
    run.nodes["A"].name = 'a,"\n'
    run.nodes = {node.name: node for node in run.nodes.values()}
    table = list(csv.DictReader(io.StringIO("".join(csv_text(run, None, 1040.0)), newline="")))
    lines = [json.loads(line) for line in "".join(json_text(run, None, 1040.0)).splitlines()]
    assert [row["node"] for row in table] == [row["node"] for row in lines]
    assert table[0]["node"] == 'a,"\n'
    assert [row["value"] for row in table] == [str(row["value"]) for row in lines]
