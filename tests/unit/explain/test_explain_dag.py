"""All findings about a DAG, and the answer in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.explain.explain_dag import explain_dag
from condor_pydagman.explain.known_facts import Facts
from condor_pydagman.follow.run_model import DagState, Run
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import NOW, attempt, facts_of, hold, script, without_jobs

TEXT = "".join(f"JOB {name} a.sub\n" for name in "ABCDEF") + "PARENT A CHILD B\nPARENT D CHILD E\n"
STATES: dict[str, Any] = {
    "A": (NodeStatus.ERROR, [attempt(value=1)]),
    "C": (NodeStatus.DONE, [attempt(value=0)]),
    "D": (NodeStatus.SUBMITTED, [attempt(running=1, started=NOW - 5)]),
}


def causes(facts: Facts) -> list[str]:
    return [finding.cause for finding in explain_dag(facts).findings]


def test_a_dag_that_runs_and_has_a_failure() -> None:
    explanation = explain_dag(facts_of(TEXT, STATES))
    assert explanation.headline == (
        "t.dag is running, started 3 min 20 s ago: 6 nodes, 1 done, 1 running, 1 ready, 1 waiting"
        " for others, 1 failed, 1 unable to run after a failure."
    )
    assert [finding.cause for finding in explanation.findings] == [
        "node.exit", "node.futile", "job.running", "dag.rescue"
    ]  # fmt: skip
    assert explanation.is_wrong


def test_a_dag_that_runs_well() -> None:
    states = {name: STATES[name] for name in "CD"}
    explanation = explain_dag(facts_of(TEXT, states))
    assert not explanation.is_wrong
    assert [finding.cause for finding in explanation.findings] == ["job.running"]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (DagState.SUCCEEDED, "t.dag succeeded after 50 s: 1 node, 1 done."),
        (DagState.FAILED, "t.dag failed after 50 s: "),
        (DagState.HELD, "t.dag is stopped, because DAGMan's job is on hold: 1 node, 1 done."),
        (DagState.UNKNOWN, "t.dag is in an unknown state: "),
    ],
)
def test_headlines(state: DagState, words: str) -> None:
    facts = facts_of("JOB A a.sub\n", {"A": (NodeStatus.DONE, [attempt(value=0)])}, state=state)
    facts.run.ended = facts.run.begun + 50
    assert explain_dag(facts).headline.startswith(words)


def test_submitted_nodes_are_running_idle_or_held() -> None:
    states = {
        "A": (NodeStatus.SUBMITTED, [attempt()]),
        "C": (NodeStatus.SUBMITTED, [attempt(held=1, holds=[hold()])]),
        "D": (NodeStatus.PRERUN, [without_jobs(pre=script(None))]),
    }
    text = explain_dag(facts_of(TEXT, states)).headline
    assert "6 nodes, 1 idle, 1 held, 1 at the PRE script, 1 ready, 2 waiting for others." in text


def test_counts_of_a_table_or_of_the_job_ad_if_the_logs_are_not_whole() -> None:
    run = Run()
    ad = {"DAG_NodesTotal": 9, "DAG_NodesDone": 4, "DAG_NodesQueued": 5}
    facts = facts_of(None, {}, run=run, ad=ad)
    assert explain_dag(facts).headline == "t.dag is running: 9 nodes, 4 done, 5 in the queue."
    run.counts = (8, 1, 0, 3, 0, 0, 4, 0, 0)
    assert ": 8 nodes, 1 done, 3 in the queue, 4 waiting" in explain_dag(facts).headline
    assert explain_dag(facts_of(None, {}, run=Run())).headline == "t.dag is running."


def test_sub_dags_are_explained_inside() -> None:
    inner = facts_of("JOB I a.sub\n", {"I": (NodeStatus.ERROR, [attempt(value=9)])})
    text = "SUBDAG EXTERNAL A in.dag\nSUBDAG EXTERNAL B in.dag\n"
    running = (NodeStatus.SUBMITTED, [attempt(running=1, started=NOW)])
    states = {"A": (NodeStatus.ERROR, [attempt(value=1)]), "B": running}
    explanation = explain_dag(facts_of(text, states, inner={"A": inner, "B": inner}))
    failed, running_one = explanation.findings[:2]
    assert (failed.cause, failed.inner[0].findings[0].nodes) == ("node.subdag", ("I",))
    assert (running_one.cause, running_one.nodes) == ("subdag.problem", ("B",))
    well = facts_of("JOB I a.sub\n", {})
    facts = facts_of(text, {"B": running}, inner={"B": well})
    assert causes(facts) == ["job.running"]


def test_a_running_node_of_which_no_job_is_known() -> None:
    states = {"P2": (NodeStatus.SUBMITTED, [attempt(running=1, started=NOW, cluster=0)])}
    found = explain_dag(facts_of("JOB P2 a.sub\n", states))
    assert [one.text for one in found.findings[0].evidence] == ["P2 on slot1@one"]


def test_what_is_not_known_is_said() -> None:
    explanation = explain_dag(facts_of(TEXT, {}, unknown=("The schedd does not answer.",)))
    assert explanation.findings[-1].sentence == "The schedd does not answer."
    assert not explanation.is_wrong


def test_a_big_dag_is_explained_quickly() -> None:
    """By counting, not by time: each node and edge is looked at a few times."""
    count = 20_000
    text = "".join(f"JOB N{n} a.sub\n" for n in range(count))
    text += "".join(f"PARENT N{n} CHILD N{n + 1}\n" for n in range(count - 1))
    facts = facts_of(text, {"N0": (NodeStatus.ERROR, [attempt(value=1)])})
    futile = explain_dag(facts).findings[1]
    assert len(futile.nodes) == count - 1
