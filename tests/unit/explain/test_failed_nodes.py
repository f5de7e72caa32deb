"""Why nodes have failed."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.explain.explanation import Explanation
from condor_pydagman.explain.failed_nodes import failed_node_findings, futile_findings
from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.features.growth.shown import refusal
from condor_pydagman.follow.node_placements import NodePlacements
from condor_pydagman.follow.notice import Notice
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.run_model import Attempt, Usage
from condor_pydagman.vocabulary import MAY_BE_MACRO, NodeStatus
from tests.unit.explain import attempt, facts_of, texts, without_jobs

TEXT = "JOB A a.sub\nJOB B b.sub\nSUBDAG EXTERNAL X in.dag\nPARENT A CHILD B\n"


def failed(text: str | None = TEXT, name: str = "A", *attempts: Attempt, **fields: Any) -> Facts:
    return facts_of(text, {name: (NodeStatus.ERROR, list(attempts))}, **fields)


def the_finding(facts: Facts, inner: dict[str, Explanation] | None = None) -> Notice:
    (found,) = failed_node_findings(facts, inner or {})
    return found


def test_a_failed_node_without_any_attempt_has_a_finding() -> None:
    found = the_finding(failed())
    assert found.sentence == "Node A failed: the logs do not say why."


@pytest.mark.parametrize("attempts", [(), (attempt(value=0),)])
def test_a_node_that_dagman_takes_as_failed(attempts: tuple[Attempt, ...]) -> None:
    facts = failed(TEXT, "A", *attempts)
    facts.run.nodes["A"].why = "RUN_IF fails: it is undefined"
    assert the_finding(facts).sentence == "Node A failed: RUN_IF fails: it is undefined."
    assert "isUndefined(...)" in the_finding(facts).advice[0]
    facts.run.nodes["B"].status, facts.run.nodes["B"].why = NodeStatus.ERROR, "RUN_IF fails: x"
    facts.run.nodes["A"].why = "RUN_IF fails: x"
    assert the_finding(facts).sentence == "Nodes A and B failed: for example, RUN_IF fails: x."


def test_a_node_whose_piece_is_refused() -> None:
    facts = failed(TEXT, "A", attempt(value=0))
    facts.run.nodes["A"].why = refusal("ERROR: it can't have SCRIPT")
    found = the_finding(facts)
    assert found.advice[0].startswith("t.dag.dagman.out has all errors, with their lines")
    assert texts(found) == ["t.dag:1: node A, submit file a.sub"]


def test_memory_is_compared_for_a_killed_job() -> None:
    usage = {"Memory (MB)": Usage(900.0, 512.0, 512.0)}
    found = the_finding(failed(TEXT, "A", attempt(value=-9, usage=usage)))
    assert texts(found)[0].endswith("900 MB of memory used, 512 MB requested")
    assert "request_memory" in found.advice[0]


@pytest.mark.parametrize(
    ("value", "words"), [(127, "PATH"), (126, "permissions"), (137, "signal 9"), (5, "")]
)
def test_exit_codes_of_shells(value: int, words: str) -> None:
    advice = " ".join(the_finding(failed(TEXT, "A", attempt(value=value))).advice)
    assert words in advice
    assert bool(words) == bool(advice)


def test_a_sub_dag_leads_to_its_own_explanation() -> None:
    inner = Explanation("in.dag", "in.dag has failed.")
    found = the_finding(failed(TEXT, "X", attempt(value=1)), {"X": inner})
    assert (found.cause, found.inner) == ("node.subdag", (inner,))
    assert texts(found)[-1] == "t.dag:3: node X"


def test_nodes_behind_a_node_that_is_done_wait_for_it_alone() -> None:
    """A failed before B, which is done; what B kept waiting has another parent that failed."""
    text = "JOB A a.sub\nJOB B a.sub DONE\nJOB C a.sub\nJOB D a.sub\n"
    text += "PARENT A CHILD B\nPARENT B D CHILD C\n"
    facts = facts_of(text, {"A": (NodeStatus.ERROR, [attempt(value=1)])})
    assert facts.dag is not None
    assert not futile_findings(GraphState(facts.dag, facts.run), ())
    facts = facts_of(text, {name: (NodeStatus.ERROR, [attempt(value=1)]) for name in "AD"})
    assert facts.dag is not None
    (found,) = futile_findings(GraphState(facts.dag, facts.run), ())
    assert found.sentence == "Node C can't run, because D failed."


def test_names_are_printable() -> None:
    name = "\x1b[31mA"
    facts = failed(None, name, attempt(value=3))
    found = the_finding(facts)
    assert "\x1b" not in found.sentence + "".join(texts(found))


def test_exit_codes_of_data_nodes() -> None:
    assert the_finding(failed(TEXT, "A", attempt(value=12))).advice == ()
    (advice,) = the_finding(failed("DATA A a.dap\n", "A", attempt(value=30))).advice
    assert "its requests failed for different reasons" in advice


def test_the_exit_code_of_a_request_of_the_final_node() -> None:
    facts = failed("JOB B b.sub\nFINAL A a.dap\n", "A", attempt(value=12))
    facts.run.placements["A"] = NodePlacements()
    assert the_finding(facts).advice[0].startswith("Exit code 12 of a request means: the source")


def test_text_that_could_become_a_macro_is_not_the_submit_files_fault() -> None:
    reason = f"part {MAY_BE_MACRO}: a$(HOME)"
    (advice,) = the_finding(failed(TEXT, "A", without_jobs(reason=reason))).advice
    assert advice.startswith("Change the text where it comes from")


def test_a_noop_node_has_no_job() -> None:
    last = attempt(value=0, cluster=0, hosts=(), reason="What it adds: refused")
    evidence = the_finding(failed(TEXT, "A", last)).evidence
    assert [one.text for one in evidence if one.text.startswith("A: ")]
    assert not any("job  of" in one.text for one in evidence)
