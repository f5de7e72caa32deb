"""How the ENOUGH lines of a DAG stand, and nodes that are not needed."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.engine.node_states import NOT_NEEDED
from condor_pydagman.explain.explain_node import explain_node
from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.explain.known_facts import Facts
from condor_pydagman.features.enough.explain import findings
from condor_pydagman.features.enough.run import EnoughRecord
from condor_pydagman.features.enough.shown import EnoughSeen, ReachedEnough, notices
from condor_pydagman.follow.notice import Notice, Weight
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import NOW, attempt, facts_of, known, mark, texts

LINE = "ENOUGH CATEGORY c 2"
NODES = "".join(f"JOB {name} a.sub\nCATEGORY {name} c\n" for name in "ABCD")
SEARCH = f"{NODES}{LINE}\n"
MERGED = f"{NODES}JOB M a.sub\nJOB N a.sub\nPARENT A B C D CHILD M\nPARENT M CHILD N\n"
MERGED += "ENOUGH PARENTS M 3\n"


def facts_with(text: str, failed: str = "", done: str = "", left: str = "", **more: Any) -> Facts:
    """Of nodes that have failed, are done, are not needed."""
    states = {name: (NodeStatus.ERROR, [attempt(value=1)]) for name in failed}
    states.update({name: (NodeStatus.DONE, [attempt(value=0)]) for name in done})
    states.update({name: (NodeStatus.DONE, []) for name in left})
    facts = facts_of(text, states, **more)
    for name in left:
        mark(facts.run.nodes[name], NOT_NEEDED)
        facts.run.nodes[name].why = f"{LINE}; it had failed: exit code 1"
    return facts


def found(facts: Facts) -> list[Notice]:
    assert facts.dag is not None
    return [*notices(known(facts)), *findings(facts, GraphState(facts.dag, facts.run))]


def reached(**more: Any) -> Facts:
    facts = facts_with(SEARCH, done="AB", left="CD", **more)
    EnoughSeen.put(facts.run).reached[LINE] = ReachedEnough(
        EnoughRecord(LINE, "2 of 4 nodes are done"), NOW - 5
    )
    return facts


def test_a_dag_without() -> None:
    assert not found(facts_with(NODES, failed="A"))


def test_it_is_reached() -> None:
    (finding,) = found(reached())
    assert (finding.cause, finding.weight) == ("enough.reached", Weight.NOTE)
    assert finding.sentence == (
        "ENOUGH CATEGORY c 2 is reached: 2 of 4 nodes are done; 2 nodes are not needed."
    )
    assert finding.nodes == ("C", "D")
    assert texts(finding) == ["t.dag.nodes.log: ENOUGH CATEGORY c 2: 2 of 4 nodes are done"]
    (again,) = notices(known(reached()._replace(dag=None)))
    assert again == finding, "without the DAG's files, too"


def test_it_is_not_reached_yet_or_was_not() -> None:
    (finding,) = found(facts_with(SEARCH, done="A", failed="B"))
    assert (finding.cause, finding.weight) == ("enough.open", Weight.NOTE)
    assert finding.sentence == (
        "ENOUGH CATEGORY c 2 is not reached yet: of 4 nodes 1 is done, 2 are enough."
    )
    assert texts(finding) == ["t.dag:9: ENOUGH CATEGORY c 2"]
    (finding,) = found(facts_with(SEARCH, done="A", state=DagState.REMOVED))
    assert "is not reached: of 4 nodes" in finding.sentence
    facts = facts_with(SEARCH, state=DagState.NOT_STARTED)
    facts.run.starts = []
    assert not found(facts)


def test_it_can_not_be_reached_any_more() -> None:
    (finding,) = found(facts_with(SEARCH, done="A", failed="BCD"))
    assert (finding.cause, finding.weight) == ("enough.lost", Weight.PROBLEM)
    assert finding.sentence == (
        "ENOUGH CATEGORY c 2 can no longer be reached: of 4 nodes 3 failed or can't run, so at"
        " most 1 can be done, and 2 would be enough."
    )
    assert finding.nodes == ("B", "C", "D")


@pytest.mark.parametrize("line", ["FEEDER BELOW 1 PROGRAM feed\n", "EXTEND A x.dag\n"])
def test_nodes_may_be_added_that_make_it_enough(line: str) -> None:
    (finding,) = found(facts_with(SEARCH + line, done="A", failed="BCD"))
    assert finding.cause == "enough.open"
    ended = facts_with(SEARCH + line, done="A", failed="BCD", state=DagState.FAILED)
    (finding,) = found(ended)
    assert finding.cause == "enough.lost"


def test_enough_parents_can_not_be_done_any_more() -> None:
    (finding,) = found(facts_with(MERGED, failed="A", left="B"))
    assert finding.sentence == (
        "ENOUGH PARENTS M 3 can no longer be reached: of 4 nodes 1 failed or can't run and 1 is"
        " not needed, so at most 2 can be done, and 3 would be enough."
    )
    assert finding.nodes == ("A", "M")


# Of one node.


def test_a_node_that_is_not_needed() -> None:
    explanation = explain_node(reached(), "C")
    assert explanation.headline == "Node C of t.dag is not needed."
    assert explanation.findings[0].sentence == (
        "It is not needed: ENOUGH CATEGORY c 2 is reached, as 2 of 4 nodes are done."
    )
    assert [moment.text for moment in explanation.life] == [
        "not needed: ENOUGH CATEGORY c 2; it had failed: exit code 1"
    ]
    facts = reached()
    facts.run.nodes["C"].why = "all its parents are not needed"
    (finding,) = explain_node(facts, "C").findings
    assert finding.sentence == "It is not needed: all its parents are not needed."
    assert "is not needed" in explain_node(facts._replace(dag=None), "C").headline
    assert "is done" in explain_node(reached(), "A").headline


def test_a_node_that_an_earlier_run_did_not_need() -> None:
    facts = facts_with(f"{SEARCH}NOT_NEEDED C\n")
    facts.run.rescue_read = "t.dag.rescue001"
    explanation = explain_node(facts, "C")
    assert explanation.headline == "Node C of t.dag is not needed."
    (finding,) = explanation.findings
    assert finding.sentence == (
        "It is not needed: an earlier run did not need it, t.dag.rescue001 says."
    )


def test_a_node_of_whose_parents_enough_can_not_be_done() -> None:
    facts = facts_with(MERGED, failed="AB")
    explanation = explain_node(facts, "M")
    assert explanation.headline == (
        "Node M of t.dag can't run, because too few of its parents can still be done."
    )
    assert [finding.cause for finding in explanation.findings] == ["enough.lost"]
    (finding,) = explain_node(facts, "N").findings
    assert (finding.weight, finding.nodes) == (Weight.PROBLEM, ("M",))
    assert finding.sentence == (
        "It is waiting for 1 parent, and ultimately for M, which can't run, because too few of its"
        " parents can still be done."
    )


def test_a_node_that_waits_for_enough_parents() -> None:
    facts = facts_with(MERGED, failed="A", done="B")
    finding = explain_node(facts, "M").findings[0]
    assert finding.sentence == (
        "It is waiting for enough of its 4 parents (ENOUGH PARENTS M 3: 1 is done, 3 are enough),"
        " and ultimately for C, which is ready; D, which is ready."
    )
