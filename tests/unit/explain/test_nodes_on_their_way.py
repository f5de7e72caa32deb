"""What goes on in a DAG that runs."""

from __future__ import annotations

from condor_pydagman.explain.jobs import running_findings
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import NOW, attempt, facts_of, script, texts, without_jobs


def sentences(facts: Facts) -> list[str]:
    return [finding.sentence for finding in running_findings(facts)]


def test_of_several_the_longest() -> None:
    facts = facts_of(None, {
        "A": (NodeStatus.PRERUN, [without_jobs(pre=script(None))]),
        "B": (NodeStatus.PRERUN, [without_jobs(pre=script(None))]),
        "C": (NodeStatus.SUBMITTED, [attempt(running=2, started=NOW - 80)]),
        "D": (NodeStatus.SUBMITTED, [attempt(running=1, started=NOW - 8)]),
    })  # fmt: skip
    facts.run.nodes["B"].attempts[0].pre.started = NOW - 7200  # type: ignore[union-attr]
    assert sentences(facts) == [
        "2 PRE scripts of nodes B and A are running, the longest for 2 h (node B).",
        "3 jobs of nodes C and D are running, the longest for 1 min 20 s.",
    ]


def test_a_noop_node_has_no_job() -> None:
    noop = attempt(running=1, started=NOW - 8, cluster=0)
    facts = facts_of("JOB P2 a.sub NOOP\n", {"P2": (NodeStatus.SUBMITTED, [noop])})
    assert texts(running_findings(facts)[0]) == ["t.dag.nodes.log: P2 on slot1@one"]
