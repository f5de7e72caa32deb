"""What people have asked of nodes and of the DAG: from records in the nodes log."""

from __future__ import annotations

import pytest

from condor_pydagman.features.steering.explain import findings
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.follow.shown_states import Shown, shown_state, why_done
from condor_pydagman.records.dagman_out import OutKind
from condor_pydagman.report.event_words import event_words
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.follow.bench import A, Bench, follower_of, line, names

DONE, ERROR, READY = NodeStatus.DONE, NodeStatus.ERROR, NodeStatus.READY


def steered(bench: Bench, text: str, retry: int = 0) -> None:
    bench.record("STEERED", 1, text=text, retry=retry)


def test_a_failed_node_that_runs_again_has_its_retries_once_more(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7, value=3)
    bench.submit("A", 8)
    bench.terminate(8, value=3)
    steered(bench, "ann rerun descendants", retry=1)
    bench.submit("A", 9)
    bench.terminate(9, value=3)
    node = bench.node("RETRY A 1\n")
    assert (node.status, [one.is_retry for one in node.attempts]) == (READY, [False, True, False])
    (told,) = bench.told("node.steered")
    assert told.data == {"command": "rerun", "by": "ann", "options": "descendants"}


@pytest.mark.parametrize(("command", "status"), [("skip", DONE), ("done", DONE), ("cancel", ERROR)])
def test_a_node_that_has_not_begun_is_steered(
    bench: Bench, command: str, status: NodeStatus
) -> None:
    steered(bench, f"ann {command}")
    node = bench.node()
    assert (node.status, node.attempts) == (status, ())


def test_a_cancelled_node_is_not_tried_again(bench: Bench) -> None:
    bench.submit("A", 7)
    steered(bench, "ann cancel begun")
    bench.terminate(7, value=3)
    assert bench.node("RETRY A 3\n").status is ERROR
    assert bench.told("node.state")[-1].data["reason"] == "cancelled by ann"


def test_who_has_cancelled_a_node_is_known_until_it_runs_again(bench: Bench) -> None:
    steered(bench, "ann cancel")
    steered(bench, "ann rerun")
    steered(bench, "bob cancel")
    assert bench.node().cancelled_by == "bob"


def test_a_cancelled_node_fails_though_its_post_script_succeeds(bench: Bench) -> None:
    bench.submit("A", 7)
    steered(bench, "ann cancel begun")
    bench.terminate(7, value=3)
    bench.post("A", 0, 7)
    assert bench.node("SCRIPT POST A x\n").status is ERROR


def test_a_retry_after_a_cancelled_attempt_is_not_cancelled(bench: Bench) -> None:
    bench.submit("A", 7)
    steered(bench, "ann cancel begun retry")
    assert bench.node().cancelled_by == ""


def test_a_command_of_a_later_version_is_passed_over(bench: Bench) -> None:
    steered(bench, "ann teleport")
    bench.node()
    assert not bench.told("node.steered")


def test_who_did_what_is_kept_for_the_report(bench: Bench) -> None:
    steered(bench, "ann hold")
    steered(bench, "ann cancel begun retry")
    bench.node()
    kept = bench.follower.run.interventions.kept
    assert [(one.by, one.what, one.nodes) for one in kept] == [
        ("ann", "hold", ("A",)), ("ann", "cancel retry", ("A",))
    ]  # fmt: skip


def test_what_is_asked_of_the_whole_dag_is_told(bench: Bench) -> None:
    """Of halts `.dagman.out` tells."""
    bench.record("DAG_STEERED", 1, node="", text="ann limits jobs 5 idle 3")
    bench.record("DAG_STEERED", 2, node="", text="ann halt")
    bench.node()
    said = [event_words(event) for event in bench.told("dag.steered")]
    assert said == ["ann asks: limits jobs 5 idle 3", "ann asks: halt"]
    facts = Facts("t.dag", DagState.RUNNING, 0.0, bench.follower.run)
    (finding,) = findings(facts, None)
    assert finding.sentence == "People steered the whole DAG, 2 times."
    assert [one.text for one in finding.evidence] == said
    done = bench.follower.run.interventions.kept
    assert [(one.by, one.what, one.nodes) for one in done] == [("ann", "limits jobs 5 idle 3", ())]


def test_a_node_that_a_person_has_skipped_is_told_apart(bench: Bench) -> None:
    steered(bench, "ann skip")
    tally = bench.tally(A)
    node = tally.run.nodes["A"]
    assert (shown_state(node), why_done(node)) == (Shown.SKIPPED, "skipped by ann")
    assert (node.skipped, tally.not_run()) == (True, {"skipped": 1})
    assert not tally.run.ends  # which tells how fast nodes run
    bench.record("STEERED", 2, text="bob rerun")
    tally = bench.tally(A)
    assert (shown_state(tally.run.nodes["A"]), tally.not_run()) == (Shown.READY, {})


def test_a_skip_that_comes_too_late_skips_nothing(bench: Bench) -> None:
    bench.submit("A", 7)
    steered(bench, "ann skip")
    bench.terminate(7)
    tally = bench.tally(A)
    node = tally.run.nodes["A"]
    assert (shown_state(node), node.skipped, tally.not_run()) == (Shown.DONE, False, {})


def test_a_node_with_pre_skip_that_a_person_has_skipped_counts_once(bench: Bench) -> None:
    steered(bench, "ann skip")
    tally = bench.tally(f"{A}SCRIPT PRE A x\nPRE_SKIP A 5\n")
    assert tally.not_run() == {"skipped": 1}


def test_holds_and_releases_are_kept_for_the_report_too() -> None:
    follower = follower_of(A)
    said = "put on hold, as ann wants", "released, as bob wants"
    assert names(follower, *(line(OutKind.STEERED, node="A", text=text) for text in said)) == []
    done = follower.run.interventions.kept
    assert [(one.by, one.what, one.nodes) for one in done] == [
        ("ann", "hold", ("A",)), ("bob", "release", ("A",))
    ]  # fmt: skip
