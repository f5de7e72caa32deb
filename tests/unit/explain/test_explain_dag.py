"""All findings about a DAG, and the answer in one sentence."""

from __future__ import annotations

from condor_pydagman.explain.explain_dag import explain_dag
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.run_model import COUNTS, Run
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import NOW, attempt, facts_of


def causes(facts: Facts) -> list[str]:
    return [finding.cause for finding in explain_dag(facts).findings]


def test_counts_of_a_table_or_of_the_job_ad_if_the_logs_are_not_whole() -> None:
    run = Run()
    ad = {"DAG_NodesTotal": 9, "DAG_NodesDone": 4, "DAG_NodesQueued": 5}
    facts = facts_of(None, {}, run=run, ad=ad)
    assert explain_dag(facts).headline == "t.dag is running: 9 nodes, 4 done, 5 in the queue."
    run.counts = dict(zip(COUNTS, (8, 1, 0, 3, 0, 0, 4, 0, 0)))
    run.counts_time = 1.0
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


def test_a_big_dag_is_explained_quickly() -> None:
    """By counting, not by time: each node and edge is looked at a few times."""
    count = 20_000
    text = "".join(f"JOB N{n} a.sub\n" for n in range(count))
    text += "".join(f"PARENT N{n} CHILD N{n + 1}\n" for n in range(count - 1))
    facts = facts_of(text, {"N0": (NodeStatus.ERROR, [attempt(value=1)])})
    futile = explain_dag(facts).findings[1]
    assert len(futile.nodes) == count - 1
