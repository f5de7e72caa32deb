"""A run as rows: its attempts, and what groups of nodes did at each site."""

from __future__ import annotations

import csv
import io
import json

from condor_pydagman.report.attempt_table import FIELDS, csv_text, json_text, rows
from condor_pydagman.report.site_table import SiteUse, sites_used
from condor_pydagman.trace.run_history import Attempt, GroupSite, NodeRun, Run
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.report.runs import make_dag, make_run


def test_a_row_for_each_attempt_and_for_nodes_without() -> None:
    run = make_run()
    run.nodes["E"] = NodeRun("E")
    found = list(rows(run, make_dag(), 1040.0))
    assert [(row["node"], row["attempt"], row["status"]) for row in found] == [
        ("A", 0, "DONE"), ("B", 0, "ERROR"), ("B", 1, "DONE"), ("C", 0, "DONE"), ("D", 0, "ERROR"),
        ("E", None, "NOT_READY"),
    ]  # fmt: skip
    assert all(tuple(row) == FIELDS for row in found)
    first = found[0]
    assert (first["pre_start"], first["submit"], first["execute"], first["end"]) == (
        1000, 1002, 1004, 1010
    )  # fmt: skip
    assert (first["memory_mb_requested"], first["memory_mb_used"]) == (100, 30)
    assert (first["description"], first["hosts"], first["job"]) == ("a.sub", ["slot1@one"], "7.0")
    held = found[3]
    assert (held["holds"], held["waiting_s"], held["held_s"], held["running_s"]) == (1, 1, 1, 1)


def test_csv_and_json_say_the_same() -> None:
    run = make_run()
    run.nodes["A"].name = 'a,"\n'
    run.nodes = {node.name: node for node in run.nodes.values()}
    table = list(csv.DictReader(io.StringIO("".join(csv_text(run, None, 1040.0)), newline="")))
    lines = [json.loads(line) for line in "".join(json_text(run, None, 1040.0)).splitlines()]
    assert [row["node"] for row in table] == [row["node"] for row in lines]
    assert table[0]["node"] == 'a,"\n'
    assert [row["value"] for row in table] == [str(row["value"]) for row in lines]


# What groups of nodes did at each site.


def attempt(number: int, site: str, **facts: float) -> Attempt:
    made = Attempt(number)
    made.site = site
    for name, value in facts.items():
        setattr(made, name, value)
    return made


def a_run() -> Run:
    run = Run()
    run.groups = {"g": GroupSite("south", 2), "h": GroupSite("east", 1), "i": GroupSite()}
    moved = NodeRun("moved", NodeStatus.DONE)
    moved.attempts = [
        attempt(0, "north", started=10.0, stopped=40.0, value=0),
        attempt(1, "south", started=60.0, stopped=70.0, value=0),
    ]
    moved.attempts[1].pauses = ((62.0, 65.0),)
    goes_on = NodeRun("goes on", NodeStatus.SUBMITTED)
    goes_on.attempts = [attempt(0, "north", value=3), attempt(1, "south", started=90.0)]
    run.nodes = {"moved": moved, "goes on": goes_on, "elsewhere": NodeRun("elsewhere")}
    return run


def test_each_site_with_what_was_there() -> None:
    assert sites_used(a_run(), 100.0) == [
        SiteUse("east", 1, 0, 0, 0, 0.0),
        SiteUse("north", 0, 0, 2, 1, 30.0),
        SiteUse("south", 1, 1, 2, 0, 17.0),
    ]


def test_a_dag_without_groups_has_no_sites() -> None:
    assert sites_used(Run(), 100.0) == []
