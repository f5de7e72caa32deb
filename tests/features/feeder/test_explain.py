"""How the FEEDER of a DAG stands, by what DAGMan says of it; `tests/readers` has the rest."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.features.feeder.shown import FeederSeen, notices
from condor_pydagman.follow.notice import Notice
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import facts_of
from tests.unit.follow.test_overview import DAG, READY, a_run, seen

TEXT = "JOB A a.sub\nFEEDER BELOW 1 PROGRAM feed\n"
DONE = {"A": (NodeStatus.DONE, [])}


def found(told: str, states: Any = DONE, dag: str = TEXT) -> list[Notice]:
    facts = facts_of(dag, states, ad={"PYDAGMAN_Feeder": told}, all_ended=bool(states))
    return list(notices(facts))


def test_it_is_tried_again() -> None:
    (finding,) = found("waits, 0 feedings, 0 nodes; exit code 1", {})
    assert finding.sentence == "The FEEDER failed, and DAGMan runs it again."


@pytest.mark.parametrize(
    ("told", "dag"), [("ended, 2 feedings, 4 nodes", TEXT), ("runs, 2 feedings", "JOB A a.sub\n")]
)
def test_nothing_is_to_be_said(told: str, dag: str) -> None:
    assert not found(told, dag=dag)


def test_no_end_is_foretold_while_it_may_add_more() -> None:
    tally = a_run(f"{DAG}{READY}FEEDER BELOW 99 PROGRAM feed\n")
    assert seen(tally).remaining_s is None
    told = {"PYDAGMAN_Feeder": "waits, 3 feedings, 30 nodes"}
    assert seen(tally, ad=told).remaining_s is None
    assert seen(tally, ad={"PYDAGMAN_Feeder": "ended, 3 feedings, 30 nodes"}).remaining_s
    tally.run.of["feeder"] = FeederSeen(3, "ended")
    assert seen(tally, ad=told).remaining_s
