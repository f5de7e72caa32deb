"""One node: its state, what it waits for, its life."""

from __future__ import annotations

from typing import Any

from condor_pydagman.engine.node_states import SKIPPED
from condor_pydagman.explain.explain_node import explain_node, life_of
from condor_pydagman.explain.explanation import Explanation
from condor_pydagman.follow.notice import Weight
from condor_pydagman.follow.run_model import Attempt, DagState, NodeRun, Run
from condor_pydagman.graph.model import LEFT_OUT
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, NodeStatus
from tests.unit.explain import NOW, attempt, facts_of, hold, mark, script, texts, without_jobs

CHAIN = "".join(f"JOB N{n} a.sub\n" for n in range(10))
CHAIN += "".join(f"PARENT N{n} CHILD N{n + 1}\n" for n in range(9))
CHAIN += "JOB A a.sub\nPARENT A CHILD N9\nFINAL F a.sub\nRETRY A 3 DELAY 60\n"


def explained(name: str, status: NodeStatus, *attempts: Attempt, **fields: Any) -> Explanation:
    """`name` explained, when N0 or A is in that state."""
    root = "A" if name == "A" else "N0"
    return explain_node(facts_of(CHAIN, {root: (status, list(attempts))}, **fields), name)


def test_it_waits_for_a_failed_node_far_above() -> None:
    explanation = explained("N9", NodeStatus.ERROR, attempt(value=1))
    assert explanation.headline == ("Node N9 of t.dag can't run, because an ancestor failed.")
    (found,) = explanation.findings
    assert (found.cause, found.weight) == ("node.waiting", Weight.PROBLEM)
    assert found.sentence == (
        "It is waiting for 2 parents, and ultimately for N0, which failed; A, which is ready."
    )
    assert texts(found)[0] == (
        "t.dag:10: N9 waits for N8 waits for N7 waits for N6 waits for N5 waits for"
        " ... 4 more ... waits for N0, which failed"
    )
    assert found.advice == ("For details of that node: condor_pydagman explain t.dag N0",)


def test_it_waits_for_a_node_that_runs() -> None:
    explanation = explained("N1", NodeStatus.SUBMITTED, attempt(running=1, started=NOW))
    assert explanation.findings[0].weight is Weight.WAITING
    assert not explanation.is_wrong


def test_a_failed_node() -> None:
    explanation = explained("N0", NodeStatus.ERROR, attempt(value=2), attempt(1, 3))
    assert explanation.headline == "Node N0 of t.dag failed."
    assert explanation.findings[0].cause == "node.exit"
    assert [moment.text for moment in explanation.life] == [
        "attempt 1: 1 job submitted (7.0)",
        "attempt 1: ended with exit code 2",
        "attempt 2: 1 job submitted (8.0)",
        "attempt 2: ended with exit code 3",
    ]


def test_a_service_that_was_removed_at_the_end() -> None:
    last = attempt(value=RETURN_JOB_ABORTED, reason="Removed by DAGMan")
    facts = facts_of("JOB A a.sub\nSERVICE S a.sub\n", {"S": (NodeStatus.ERROR, [last])})
    facts.run.nodes["S"].is_service = True
    explanation = explain_node(facts, "S")
    assert (explanation.headline, explanation.findings) == ("Node S of t.dag is done.", ())


def test_nodes_that_wait_for_no_other() -> None:
    ready = explained("A", NodeStatus.READY)
    assert "as soon as the throttles permit" in ready.findings[0].sentence
    final = explained("F", NodeStatus.NOT_READY)
    assert (
        final.findings[0].sentence
        == "It is the FINAL node, which runs after all other nodes have ended."
    )
    delayed = explained("A", NodeStatus.READY, attempt(0, 1))
    assert delayed.findings[0].sentence == "It failed, and the delay of RETRY lasts 55 s more."


def test_what_keeps_dagman_keeps_the_node() -> None:
    explanation = explained("A", NodeStatus.NOT_READY, state=DagState.HELD)
    assert [finding.cause for finding in explanation.findings] == ["dagman.held"]
    held = attempt(held=1, holds=[hold()])
    explanation = explained("N0", NodeStatus.SUBMITTED, held)
    assert explanation.headline == "Node N0 of t.dag has jobs in the queue, for 10 s."
    assert [finding.cause for finding in explanation.findings] == ["job.held"]


def test_a_node_that_is_done_has_no_problem() -> None:
    explanation = explained("N0", NodeStatus.DONE, attempt(value=0), state=DagState.FAILED)
    assert (explanation.headline, explanation.findings) == ("Node N0 of t.dag is done.", ())


def test_without_the_dag_file() -> None:
    facts = facts_of(None, {"A": (NodeStatus.ERROR, [attempt(value=1)])})
    assert explain_node(facts, "A").findings[0].cause == "node.exit"


def life(node: NodeRun) -> list[str]:
    return [moment.text for moment in life_of(node, Run())]


def test_the_whole_life_of_a_node() -> None:
    node = NodeRun("A")
    released = hold()._replace(time=NOW - 45, released=NOW - 40)
    node.attempts = [
        attempt(
            value=0, pre=script(0), started=NOW - 48, holds=[released], evictions=2, post=script(1)
        )
    ]
    node.attempts[0].pre.started = NOW - 120  # type: ignore[union-attr]
    node.attempts[0].pre.ended = NOW - 110  # type: ignore[union-attr]
    node.attempts[0].post.started = NOW - 5  # type: ignore[union-attr]
    node.attempts[0].post.ended = NOW - 1  # type: ignore[union-attr]
    assert life(node) == [
        "PRE script started",
        "PRE script ended with exit code 0",
        "1 job submitted (7.0)",
        "running on slot1@one",
        "job 7.0 held (13): no such file",
        "job 7.0 no longer held",
        "ended with exit code 0 after 2 evictions",
        "POST script started",
        "POST script ended with exit code 1",
    ]


def test_several_jobs_removed_skipped_and_not_submitted() -> None:
    node = NodeRun("A")
    node.attempts = [attempt(value=3, procs=4, ended_procs=4, failed_procs=2)]
    assert life(node)[-1] == "4 jobs ended, 2 of them failed, the first with exit code 3"
    node.attempts = [attempt(value=0, procs=4, ended_procs=4)]
    assert life(node) == ["4 jobs submitted (cluster 7)", "4 jobs ended with exit code 0"]
    node.attempts = [attempt(value=RETURN_JOB_ABORTED, reason="via condor_rm")]
    assert life(node)[-1] == "removed: via condor_rm"
    node.attempts = [without_jobs(reason="no universe")]
    assert life(node) == ["can't be submitted: no universe"]
    node.attempts, node.status = [], NodeStatus.DONE
    mark(node, SKIPPED)
    assert life(node) == ["skipped: its PRE script returned the value of PRE_SKIP"]
    node.why = "RUN_IF is false: n is 3"
    assert life(node) == ["skipped: RUN_IF is false: n is 3"]


def test_a_node_that_is_left_out() -> None:
    facts = facts_of(CHAIN, {"N0": (NodeStatus.DONE, [])})
    assert facts.dag is not None
    facts.dag.flags[0] |= LEFT_OUT
    assert explain_node(facts, "N0").headline == ("Node N0 of t.dag is done: CHOOSE leaves it out.")


def test_a_skipped_node_is_not_done_by_the_dag_file() -> None:
    facts = facts_of(CHAIN, {"N0": (NodeStatus.DONE, [])})
    assert explain_node(facts, "N0").headline == ("Node N0 of t.dag is done: the DAG file says so.")
    mark(facts.run.nodes["N0"], SKIPPED)
    assert explain_node(facts, "N0").headline == (
        "Node N0 of t.dag is done (skipped): it was skipped in an earlier run."
    )


def test_nothing_is_said_of_other_nodes_that_stand_alike() -> None:
    nodes = {
        name: (NodeStatus.SUBMITTED, [attempt(running=1, started=NOW - 5 - number)])
        for number, name in enumerate(("N0", "A"))
    }
    (found,) = explain_node(facts_of(CHAIN, nodes), "A").findings
    assert (found.nodes, found.sentence) == (("A",), "1 job of node A has been running for 6 s.")
