"""What the engine shows: reports of the run and of nodes, script macros, what is awaited."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, views
from condor_pydagman.engine.report import NodeReport, Report
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.vocabulary import EventKind, NodeStatus, ScriptKind
from tests import make


def reports(harness: make.EngineHarness) -> dict[str, NodeReport]:
    return {report.name: report for report in harness.engine.node_reports()}


def test_what_node_reports_show() -> None:
    harness = make.harness_of("A -> B; C\nSCRIPT PRE C p\nRETRY A 1")
    harness.run_node("A", 5, 1)
    harness.take("A", 6, procs=2)
    harness.tell(make.of_job(EventKind.EXECUTE, 6, 0), make.of_job(EventKind.JOB_HELD, 6, 1))
    got = reports(harness)
    assert got["A"] == NodeReport(0, "A", NodeStatus.SUBMITTED, 0, 1, 1, 2, 1, True, "", "6.1.0")
    assert (got["B"].status, got["B"].waiting_parents) == (NodeStatus.NOT_READY, 1)
    assert (got["C"].status, got["C"].job) == (NodeStatus.PRERUN, "")


@pytest.mark.parametrize("lost", [False, True])
def test_a_submission_under_way_at_the_end_counts_as_one_that_was_made(lost: bool) -> None:
    harness = make.harness_of("A B\nABORT-DAG-ON A 3", procs=1)
    if lost:
        harness.tell(inputs.SubmitFailed(1, "no reply", permanent=False, unknown=True))
    report = harness.engine.report()
    assert (report.queued, report.ready) == (1, 1)
    harness.tell(make.terminated(5, value=3))
    assert harness.asked(do.Exit)
    report = harness.engine.report()
    assert (report.queued, report.ready, report.failed) == (1, 0, 1)
    assert reports(harness)["B"].status is NodeStatus.SUBMITTED


def test_what_cannot_be_submitted_has_failed_at_the_end_though_the_log_does_not_say_so_yet() -> (
    None
):
    harness = make.harness_of("A B\nABORT-DAG-ON A 3", procs=1)
    harness.engine.handle(inputs.SubmitFailed(1, "not taken", permanent=True), harness.now)
    harness.tell(make.terminated(5, value=3))
    assert harness.asked(do.Exit)
    report = harness.engine.report()
    assert (report.ready, report.failed) == (0, 2)
    assert (reports(harness)["B"].status, reports(harness)["B"].error) == (
        NodeStatus.ERROR,
        "Job submit failed",
    )


def test_what_waits_for_its_turn_at_the_end_was_not_begun() -> None:
    harness = make.harness_of("A B\nABORT-DAG-ON A 3", limits=Throttles(jobs=1), procs=1)
    harness.tell(make.terminated(5, value=3))
    assert harness.asked(do.Exit)
    assert reports(harness)["B"].status is NodeStatus.READY


def test_macros_before_any_job() -> None:
    harness = make.harness_of("""
        A -> B; C
        SCRIPT PRE A p
        RETRY A 4
        DONE C
    """)
    got = views.Macros(harness.engine.run, 0, ScriptKind.POST)
    expected = {
        "NODE": "A",
        "JOB": "A",
        "RETRY": "0",
        "MAX_RETRIES": "4",
        "DAG_STATUS": "0",
        "FAILED_COUNT": "0",
        "FUTILE_COUNT": "0",
        "DONE_COUNT": "1",
        "QUEUED_COUNT": "0",
        "NODE_COUNT": "3",
        "DAGID": "7",
        "JOBID": "-1.-1",
        "CLUSTERID": "-1",
        "JOB_COUNT": "0",
        "SUCCESS": "True",
        "RETURN": "0",
        "PRE_SCRIPT_RETURN": "0",
        "EXIT_CODES": "",
        "EXIT_CODE_COUNTS": "",
        "EXIT_CODE_LIST": "",
        "JOB_ABORT_COUNT": "0",
    }
    assert {name: got[name] for name in expected} == expected


def test_macros_after_the_jobs() -> None:
    harness = make.harness_of("A\nSCRIPT POST A q", procs=3)
    harness.tell(make.terminated(5, 0), make.terminated(5, 1, 2))
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5, 2))
    got = views.Macros(harness.engine.run, 0, ScriptKind.POST)
    assert (got["JOBID"], got["CLUSTERID"], got["JOB_COUNT"]) == ("5.2", "5", "3")
    assert (got["RETURN"], got["SUCCESS"], got["PRE_SCRIPT_RETURN"]) == ("2", "False", "-1")
    assert (got["EXIT_CODE_LIST"], got["JOB_ABORT_COUNT"]) == ("0,2,", "1")


def test_awaited_names_what_is_under_way() -> None:
    harness = make.harness_of("A -> B; C\nSCRIPT PRE C p", procs=1)
    assert list(harness.engine.awaited()) == [
        "  Node A, HTCondor ID 5, status STATUS_SUBMITTED",
        "  Node C, HTCondor ID 0, status STATUS_PRERUN",
    ]


def test_an_unknown_submit_holds_its_place() -> None:
    harness = make.harness_of("A B")
    harness.tell(inputs.SubmitFailed(0, "lost", permanent=False, unknown=True))
    assert harness.engine.run.nodes_in_queue() == 1
    assert harness.engine.report().queued == 0


# The report starts out empty, and its numbers of nodes always add up.


def total(report: Report) -> int:
    return sum(report[1:9])


def test_numbers_of_nodes_add_up_at_every_step() -> None:
    harness = make.EngineHarness(
        make.dag("""
            A -> B C -> D; E
            SCRIPT POST A q
            SCRIPT PRE B p
            DONE E
        """)
    )
    assert harness.engine.report().unready == 5
    harness.begin()
    harness.run_node("A", 1)
    for ends, status in ((harness.post_ends, 0), (harness.pre_ends, 1)):
        ends("A" if status == 0 else "B", status)
        assert total(harness.engine.report()) == harness.engine.report().total == 5
    report = harness.engine.report()
    assert (report.done, report.failed, report.futile, report.ready) == (2, 1, 1, 1)
