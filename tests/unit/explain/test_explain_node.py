"""One node: its state, what it waits for, its life."""

from __future__ import annotations

from condor_pydagman.engine.node_states import SKIPPED
from condor_pydagman.explain.explain_node import explain_node
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import attempt, facts_of, mark

CHAIN = "".join(f"JOB N{n} a.sub\n" for n in range(10))
CHAIN += "".join(f"PARENT N{n} CHILD N{n + 1}\n" for n in range(9))
CHAIN += "JOB A a.sub\nPARENT A CHILD N9\nFINAL F a.sub\nRETRY A 3 DELAY 60\n"


def test_without_the_dag_file() -> None:
    facts = facts_of(None, {"A": (NodeStatus.ERROR, [attempt(value=1)])})
    assert explain_node(facts, "A").findings[0].cause == "node.exit"


def test_a_skipped_node_is_not_done_by_the_dag_file() -> None:
    facts = facts_of(CHAIN, {"N0": (NodeStatus.DONE, [])})
    assert explain_node(facts, "N0").headline == ("Node N0 of t.dag is done: the DAG file says so.")
    mark(facts.run.nodes["N0"], SKIPPED)
    assert explain_node(facts, "N0").headline == (
        "Node N0 of t.dag is done (skipped): it was skipped in an earlier run."
    )
