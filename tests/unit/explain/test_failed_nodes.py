"""Why nodes have failed."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.explain.explain_dag import explain_dag
from condor_pydagman.explain.explanation import Explanation
from condor_pydagman.explain.failed_nodes import failed_node_findings, failure_of, futile_findings
from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.explain.known_facts import Excerpt, Facts
from condor_pydagman.features.growth.shown import refusal
from condor_pydagman.follow import overview
from condor_pydagman.follow.node_placements import NodePlacements
from condor_pydagman.follow.notice import Notice, Weight
from condor_pydagman.follow.run_model import Attempt, DagState, NodeRun, Run, Usage
from condor_pydagman.vocabulary import MAY_BE_MACRO, RETURN_JOB_ABORTED, NodeStatus
from tests.unit.explain import NOW, attempt, facts_of, script, texts, without_jobs

TEXT = "JOB A a.sub\nJOB B b.sub\nSUBDAG EXTERNAL X in.dag\nPARENT A CHILD B\n"


def failed(text: str | None = TEXT, name: str = "A", *attempts: Attempt, **fields: Any) -> Facts:
    return facts_of(text, {name: (NodeStatus.ERROR, list(attempts))}, **fields)


def the_finding(facts: Facts, inner: dict[str, Explanation] | None = None) -> Notice:
    (found,) = failed_node_findings(facts, inner or {})
    return found


@pytest.mark.parametrize(
    ("last", "cause", "sentence"),
    [
        (attempt(value=3), "node.exit", "its job ended with exit code 3."),
        (attempt(value=-9), "node.signal", "its job ended with signal 9 (Killed)."),
        (
            attempt(value=3, procs=3, ended_procs=3, failed_procs=2),
            "node.exit",
            "2 of its 3 jobs failed, the first with exit code 3.",
        ),
        (without_jobs(pre=script(1)), "node.pre", "its PRE script ended with exit code 1."),
        (
            attempt(value=3, post=script(2)),
            "node.post",
            "its POST script ended with exit code 2, after its job ended with exit code 3.",
        ),
        (attempt(value=0, post=script(-15)), "node.post", "ended with signal 15 (Terminated)."),
        (
            without_jobs(reason="no such universe ."),
            "node.submit",
            "its jobs can't be submitted: no such universe.",
        ),
        (
            attempt(value=RETURN_JOB_ABORTED, reason="via condor_rm"),
            "node.removed",
            "its job was removed: via condor_rm.",
        ),
        (
            attempt(value=RETURN_JOB_ABORTED, reason="DAG Abort: DAG is exiting"),
            "node.stopped",
            "its job was removed when the DAG ended.",
        ),
        (attempt(value=0), "node.failed", "the logs do not say why."),
    ],
)
def test_causes(last: Attempt, cause: str, sentence: str) -> None:
    found = the_finding(failed(TEXT, "A", last))
    assert found.cause == cause
    assert found.sentence.startswith("Node A failed: ")
    assert found.sentence.endswith(sentence)
    assert found.weight is (Weight.NOTE if cause == "node.stopped" else Weight.PROBLEM)


def test_a_script_that_could_not_be_started() -> None:
    facts = failed(TEXT, "A", attempt(value=0, post=script(1)))
    facts.run.unstarted["A"] = "p.sh: No such file"
    found, how = the_finding(facts), "POST script could not be started: p.sh: No such file"
    assert (found.sentence, found.advice) == (f"Node A failed: its {how}.", ())
    assert overview.failure_of(facts.run.nodes["A"], facts.run).reason == how


@pytest.mark.parametrize(
    ("last", "what"),
    [(without_jobs(pre=script(-9)), "PRE"), (attempt(value=0, post=script(-9)), "POST")],
)
def test_a_script_that_is_killed_when_the_dag_ends(last: Attempt, what: str) -> None:
    facts = failed(TEXT, "A", last)
    assert the_finding(facts).cause == f"node.{what.lower()}"
    facts.run.abort(NOW - 49, "its script had ended before")
    assert the_finding(facts).advice
    facts.run.remove(NOW - 50, "ann")
    found = the_finding(facts)
    sentence = f"Node A failed: its {what} script was killed when the DAG ended."
    assert (found.cause, found.sentence) == ("node.stopped", sentence)
    assert (found.weight, found.advice) == (Weight.NOTE, ())
    assert texts(found)[0] == f"t.dag.dagman.out: {what} script of A: signal 9 (Killed)"


def test_scripts_that_are_killed_when_the_dag_ends() -> None:
    facts = failed(TEXT, "A", without_jobs(pre=script(-9)))
    facts.run.nodes["B"].status = NodeStatus.ERROR
    facts.run.nodes["B"].attempts = [without_jobs(pre=script(-9))]
    facts.run.abort(NOW - 60, "a node failed")
    assert the_finding(facts).sentence == (
        "Nodes A and B failed: their PRE scripts were killed when the DAG ended."
    )


def test_a_node_without_any_attempt() -> None:
    assert failure_of(NodeRun("A", NodeStatus.ERROR), Run(), None).cause == "node.failed"


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
    assert texts(found)[0] == "t.dag.nodes.log: job 7.0 of A on slot1@one: exit code 0"


@pytest.mark.parametrize("attempts", [(), (attempt(value=RETURN_JOB_ABORTED, reason="gone"),)])
def test_a_cancelled_node(attempts: tuple[Attempt, ...]) -> None:
    facts = failed(TEXT, "A", *attempts)
    facts.run.nodes["A"].cancelled_by = "ann"
    found = the_finding(facts)
    assert (found.cause, found.sentence) == ("node.cancelled", "Node A was cancelled by ann.")
    assert [evidence.source for evidence in found.evidence] == ["t.dag:1"]


def test_evidence_is_the_event_the_place_and_the_error_file() -> None:
    excerpts = {"A": Excerpt("err.A", ("bad",))}
    found = the_finding(failed(TEXT, "A", attempt(value=2), attempt(1, 3), excerpts=excerpts))
    assert "in the last of 2 attempts" in found.sentence
    assert texts(found) == [
        "t.dag.nodes.log: job 8.0 of A on slot1@one: exit code 3",
        "t.dag:1: node A, submit file a.sub",
        "err.A: its last lines:",
    ]
    assert found.evidence[-1].lines == ("bad",)


def test_an_error_file_that_has_nothing_to_show() -> None:
    excerpts = {"A": Excerpt("err.A"), "B": Excerpt("err.B", problem="can't be read")}
    facts = failed(TEXT, "A", attempt(value=2), excerpts=excerpts)
    facts.run.nodes["B"].status = NodeStatus.ERROR
    facts.run.nodes["B"].attempts = [attempt(value=3)]
    one, other = failed_node_findings(facts, {})
    assert texts(one)[-1] == "err.A: is empty"
    assert texts(other)[-1] == "err.B: can't be read"


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


def test_what_a_script_has_written_needs_a_line_in_the_dag_file() -> None:
    last = without_jobs(pre=script(1))
    assert "SCRIPT DEBUG" in the_finding(failed(TEXT, "A", last)).advice[0]
    excerpts = {"A": Excerpt("pre.log", ("why",))}
    assert not the_finding(failed(TEXT, "A", last, excerpts=excerpts)).advice


def test_held_too_often() -> None:
    reason = "DAG Limit: Max number of held jobs was reached."
    found = the_finding(failed(TEXT, "A", attempt(value=RETURN_JOB_ABORTED, reason=reason)))
    assert "DAGMAN_MAX_JOB_HOLDS" in found.advice[0]


def test_a_timeout() -> None:
    reason = "Node Timeout: DAG node A (7.0.0) ran for 60 s (TIMEOUT running 60)"
    found = the_finding(failed(TEXT, "A", attempt(value=RETURN_JOB_ABORTED, reason=reason)))
    assert found.advice == ("Its TIMEOUT in the DAG file sets the limit.",)


def test_a_service_that_fails_does_no_harm() -> None:
    states = {name: (NodeStatus.ERROR, [attempt(value=1)]) for name in "AS"}
    facts = facts_of("JOB A a.sub\nSERVICE S s.sub\n", states)
    assert [finding.weight for finding in failed_node_findings(facts, {})] == [
        Weight.PROBLEM, Weight.NOTE
    ]  # fmt: skip


def test_a_service_whose_jobs_were_removed_at_the_end_has_not_failed() -> None:
    states = {
        "A": (NodeStatus.DONE, []),
        "S": (NodeStatus.ERROR, [attempt(value=RETURN_JOB_ABORTED)]),
    }
    facts = facts_of("JOB A a.sub\nSERVICE S s.sub\n", states)
    facts.run.nodes["S"].is_service = True
    assert not failed_node_findings(facts, {})


def test_failures_of_one_kind_are_one_finding_with_three_examples() -> None:
    names = [f"N{number}" for number in range(20)]
    text = "".join(f"JOB {name} {name}.sub\n" for name in names)
    reasons = (f"can't read {name}.sub: no such file, node {name}" for name in names)
    facts = facts_of(text, {
        name: (NodeStatus.ERROR, [without_jobs(reason=reason)])
        for name, reason in zip(names, reasons)
    })  # fmt: skip
    found = the_finding(facts)
    assert found.nodes == tuple(names)
    assert found.sentence.startswith(
        "20 nodes (N0, N1, N2 and 17 more) failed: their jobs can't be submitted, for example: "
    )
    for node in facts.run.nodes.values():
        node.attempts = [attempt(value=3)]
    found = the_finding(facts)
    assert "failed: their jobs ended with exit code 3." in found.sentence
    assert len(found.evidence) == 3


def test_a_sub_dag_leads_to_its_own_explanation() -> None:
    inner = Explanation("in.dag", "in.dag has failed.")
    found = the_finding(failed(TEXT, "X", attempt(value=1)), {"X": inner})
    assert (found.cause, found.inner) == ("node.subdag", (inner,))
    assert texts(found)[-1] == "t.dag:3: node X"


def test_without_the_dag_file() -> None:
    found = the_finding(failed(None, "A", attempt(value=3)))
    assert texts(found) == ["t.dag.nodes.log: job 7.0 of A on slot1@one: exit code 3"]


def test_nodes_behind_a_failed_one() -> None:
    facts = failed(TEXT, "A", attempt(value=3))
    assert facts.dag is not None
    (found,) = futile_findings(GraphState(facts.dag, facts.run), ())
    assert found.sentence == "Node B can't run, because A failed."
    facts = facts_of(TEXT, {"A": (NodeStatus.DONE, [attempt(value=0)])})
    assert facts.dag is not None
    assert not futile_findings(GraphState(facts.dag, facts.run), ())


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


def test_what_follows_from_a_failure_is_told_after_it() -> None:
    ended = attempt(value=RETURN_JOB_ABORTED, reason="DAG Removed: by ann")
    facts = failed("JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n", "A", ended)
    causes = [one.cause for one in explain_dag(facts._replace(state=DagState.REMOVED)).findings]
    assert causes.index("node.stopped") < causes.index("node.futile")


def test_a_cancelled_node_of_a_dag_that_has_ended() -> None:
    facts = failed(TEXT, "A", attempt(value=0))
    facts.run.nodes["A"].cancelled_by = "ann"
    for state, words in ((DagState.RUNNING, "steer rerun"), (DagState.FAILED, "submit the DAG")):
        (advice,) = the_finding(facts._replace(state=state)).advice
        assert words in advice


def test_names_are_printable() -> None:
    name = "\x1b[31mA"
    facts = failed(None, name, attempt(value=3))
    found = the_finding(facts)
    assert "\x1b" not in found.sentence + "".join(texts(found))


def test_exit_codes_of_data_nodes() -> None:
    found = the_finding(failed("DATA A a.dap\n", "A", attempt(value=12)))
    assert found.advice == (
        "Exit code 12 of a DATA node means: the source is not there (docs/data-placement.md).",
    )
    assert the_finding(failed(TEXT, "A", attempt(value=12))).advice == ()
    (advice,) = the_finding(failed("DATA A a.dap\n", "A", attempt(value=30))).advice
    assert "its requests failed for different reasons" in advice


def test_a_data_node_that_is_not_submitted_has_a_request_to_be_mended() -> None:
    found = the_finding(failed("DATA A a.dap\n", "A", without_jobs(reason="no such key")))
    assert found.cause == "node.submit"
    assert "Fix the request file;" in found.advice[0]


def test_the_exit_code_of_a_request_of_the_final_node() -> None:
    facts = failed("JOB B b.sub\nFINAL A a.dap\n", "A", attempt(value=12))
    facts.run.placements["A"] = NodePlacements()
    assert the_finding(facts).advice[0].startswith("Exit code 12 of a request means: the source")


def test_text_that_could_become_a_macro_is_not_the_submit_files_fault() -> None:
    reason = f"part {MAY_BE_MACRO}: a$(HOME)"
    (advice,) = the_finding(failed(TEXT, "A", without_jobs(reason=reason))).advice
    assert advice.startswith("Change the text where it comes from")


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        (
            'VARS A part="it\'s"',
            "Change the text where it comes from: VARS, the list",
        ),
        ('VARS A part="its"', "Fix the submit file"),
    ],
)
def test_a_quote_of_a_variable_is_not_the_submit_files_fault(line: str, advice: str) -> None:
    last = without_jobs(reason="Unbalanced quote starting here: 's")
    (found,) = the_finding(failed(f"{TEXT}{line}\n", "A", last)).advice
    assert found.startswith(advice)


def test_a_noop_node_has_no_job() -> None:
    last = attempt(value=0, cluster=0, hosts=(), reason="What it adds: refused")
    evidence = the_finding(failed(TEXT, "A", last)).evidence
    assert [one.text for one in evidence if one.text.startswith("A: ")]
    assert not any("job  of" in one.text for one in evidence)
