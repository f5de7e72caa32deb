"""What goes on in a DAG that runs."""

from __future__ import annotations

from condor_pydagman.explain.jobs import running_findings
from condor_pydagman.explain.known_facts import Facts
from condor_pydagman.follow.notice import Weight
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import NOW, attempt, facts_of, script, texts, without_jobs

TEXT = "".join(f"JOB {name} a.sub\n" for name in "ABCD") + "RETRY A 5 DELAY 60\n"


def sentences(facts: Facts) -> list[str]:
    return [finding.sentence for finding in running_findings(facts)]


def test_jobs_and_scripts() -> None:
    facts = facts_of(TEXT, {
        "A": (NodeStatus.READY, [attempt(0, 3)]),
        "B": (NodeStatus.PRERUN, [without_jobs(pre=script(None))]),
        "C": (NodeStatus.SUBMITTED, [attempt(running=1, started=NOW - 80)]),
        "D": (NodeStatus.POSTRUN, [attempt(value=0, post=script(None))]),
    })  # fmt: skip
    assert sentences(facts) == [
        "1 PRE script of node B has been running for 1 min.",
        "1 POST script of node D has been running for 1 min.",
        "1 job of node C has been running for 1 min 20 s.",
    ]
    found = running_findings(facts)[-1]
    assert found.weight is Weight.NOTE
    assert texts(found) == ["t.dag.nodes.log: job 7.0 of C on slot1@one"]
    assert not sentences(facts._replace(state=DagState.FAILED))


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


def test_jobs_that_no_machine_keeps() -> None:
    facts = facts_of(TEXT, {
        "A": (NodeStatus.SUBMITTED, [attempt(evictions=3)]),
        "B": (NodeStatus.SUBMITTED, [attempt(evictions=2)]),
        "C": (NodeStatus.SUBMITTED, [attempt(1, evictions=7)]),
        "D": (NodeStatus.DONE, [attempt(value=0, evictions=9)]),
    })  # fmt: skip
    (found,) = running_findings(facts)
    assert (found.cause, found.nodes) == ("job.evicted", ("A", "C"))
    assert found.sentence.endswith(" begin anew each time: job 8.0 of C 7 times.")
    assert found.advice[0] == "For the reasons: condor_pydagman events t.dag"


def test_a_noop_node_has_no_job() -> None:
    noop = attempt(running=1, started=NOW - 8, cluster=0)
    facts = facts_of("JOB P2 a.sub NOOP\n", {"P2": (NodeStatus.SUBMITTED, [noop])})
    assert texts(running_findings(facts)[0]) == ["t.dag.nodes.log: P2 on slot1@one"]
