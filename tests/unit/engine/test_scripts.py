"""PRE and POST scripts: their start, their end, and what an end leads to."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.run_records import CONFIRM_TIMEOUT_S
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Script
from condor_pydagman.vocabulary import RETURN_PRE_FAILED, DagStatus, JournalRecord, ScriptKind
from tests import make

PRE, POST = ScriptKind.PRE, ScriptKind.POST


def test_a_pre_script_runs_before_the_submit_and_its_record_comes_between() -> None:
    harness = make.EngineHarness(make.dag("A", pre={"A": "p.sh $NODE $RETRY"})).begin()
    assert harness.asked(do.RunScript) == [do.RunScript(0, PRE, ("p.sh", "A", "0"))]
    assert not harness.asked(do.SubmitNode)
    harness.tell(inputs.ScriptEnded(0, PRE, 0))
    assert harness.asked(do.AppendJournalRecord) == [
        do.AppendJournalRecord(JournalRecord.PRE_ENDED, 0, 0, 0)
    ]
    assert not harness.asked(do.SubmitNode)
    harness.tell(*harness.echo(harness.last))
    assert harness.submits() == ["A"]
    assert harness.said("PRE Script of node A completed successfully.")


def test_a_failed_pre_script_fails_the_node_without_a_job() -> None:
    harness = make.EngineHarness(make.dag("A -> B", pre={"A": "p"})).begin()
    harness.pre_ends("A", 4)
    assert harness.states() == "A=FAILED B=FUTILE"
    assert harness.engine.run.nodes.errors[0] == "PRE Script failed with status 4"
    assert not harness.ever(do.SubmitNode)


@pytest.mark.parametrize("always", [False, True])
def test_always_run_post_runs_the_post_script_after_a_failed_pre_script(always: bool) -> None:
    made = make.dag("A", pre={"A": "p"}, post={"A": "q $PRE_SCRIPT_RETURN $RETURN $JOBID"})
    harness = make.EngineHarness(made, Config(always_run_post=always)).begin()
    harness.pre_ends("A", 4)
    if not always:
        assert harness.state("A").name == "FAILED"
        return
    words = ("q", "4", str(RETURN_PRE_FAILED), "-1.-1")
    assert harness.asked(do.RunScript) == [do.RunScript(0, POST, words)]
    harness.post_ends("A")
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_pre_skip_makes_a_node_done_without_job_and_post() -> None:
    made = make.dag("A -> B", pre={"A": "p"}, post={"A": "q"}, pre_skips={"A": 3})
    harness = make.EngineHarness(made).begin()
    harness.tell(inputs.ScriptEnded(0, PRE, 3))
    assert harness.asked(do.AppendPreSkip) == [do.AppendPreSkip(0, 1)]
    harness.tell(*harness.echo(harness.last))
    assert harness.state("A").name == "DONE"
    assert harness.submits() == ["B"]


@pytest.mark.parametrize(("skip", "status"), [(0, 0), (3, 4)])
def test_pre_skip_is_for_its_own_status_only_and_never_for_0(skip: int, status: int) -> None:
    made = make.dag("A", pre={"A": "p"}, pre_skips={"A": skip})
    harness = make.EngineHarness(made).begin()
    harness.pre_ends("A", status)
    assert harness.state("A").name == ("SUBMITTING" if status == 0 else "FAILED")


@pytest.mark.parametrize("job", [0, 1, -9])
@pytest.mark.parametrize("post", [0, 1, -9])
def test_the_post_script_decides(job: int, post: int) -> None:
    harness = make.EngineHarness(make.dag("A", post={"A": "q $RETURN $SUCCESS"})).begin()
    harness.run_node("A", 5, job)
    words = ("q", str(job), str(job == 0))
    assert harness.asked(do.RunScript) == [do.RunScript(0, POST, words)]
    harness.tell(inputs.ScriptEnded(0, POST, post))
    assert harness.asked(do.AppendPostEnded) == [do.AppendPostEnded(0, 5, 0, 0, post)]
    harness.tell(*harness.echo(harness.last))
    assert harness.asked(do.Exit) == [do.Exit(0 if post == 0 else 1)]


def test_a_script_that_could_not_start_is_said() -> None:
    harness = make.EngineHarness(make.dag("A", pre={"A": "p"})).begin()
    harness.tell(inputs.ScriptEnded(0, PRE, 1, "p: no such file"))
    assert harness.said("Error: Failed to execute PRE for Node A: p: no such file")
    assert harness.asked(do.AppendJournalRecord)


def test_defer_runs_the_script_again_later() -> None:
    harness = make.EngineHarness(make.dag("A", pre={"A": Script("p", 2, 30)})).begin()
    harness.tell(inputs.ScriptEnded(0, PRE, 2))
    assert not harness.asked(do.AppendJournalRecord)
    assert harness.engine.next_deadline() == 1030.0
    assert not harness.wait(29.0)
    assert harness.wait(1.0)[-2:-1] == [do.RunScript(0, PRE, ("p",))]
    harness.pre_ends("A", 0)
    assert harness.submits() == ["A"]
    assert harness.engine.report().deferrals.pre == 1


def test_defer_is_for_its_own_status_only() -> None:
    harness = make.EngineHarness(make.dag("A", pre={"A": Script("p", 2, 30)})).begin()
    harness.pre_ends("A", 3)
    assert harness.state("A").name == "FAILED"


def test_a_deferred_script_without_a_free_place_does_not_wake_anybody() -> None:
    """Found by the simulator (seed 1101): the deadline stayed in the past, and DAGMan spun."""
    made = make.dag("A B", pre={"A": Script("p", 2, 5), "B": "p"})
    harness = make.EngineHarness(made, Config(pending_report_interval=0), Throttles(pre=1)).begin()
    harness.tell(inputs.ScriptEnded(0, PRE, 2))
    assert harness.asked(do.RunScript) == [do.RunScript(1, PRE, ("p",))]
    harness.wait(5.0)
    assert harness.engine.next_deadline() is None
    harness.tell(inputs.ScriptEnded(1, PRE, 0))
    assert harness.asked(do.RunScript) == [do.RunScript(0, PRE, ("p",))]


@pytest.mark.parametrize("kind", [PRE, POST])
def test_a_throttle_bounds_the_scripts_that_run(kind: ScriptKind) -> None:
    scripts = dict.fromkeys("ABC", "s")
    made = make.dag("A B C", pre=scripts) if kind is PRE else make.dag("A B C", post=scripts)
    harness = make.EngineHarness(made, limits=Throttles(pre=2, post=2)).begin()
    if kind is POST:
        for cluster, name in enumerate("ABC", 1):
            harness.take(name, cluster)
        harness.tell(*(make.terminated(cluster) for cluster in (1, 2, 3)))
    assert [run.node for run in harness.asked(do.RunScript)] == [0, 1]
    harness.tell(inputs.ScriptEnded(1, kind, 0))
    assert [run.node for run in harness.asked(do.RunScript)] == [2]
    report = harness.engine.report()
    assert (report.deferrals.pre, report.deferrals.post) == ((1, 0) if kind is PRE else (0, 1))


@pytest.mark.parametrize("strict", [0, 1])
def test_an_unknown_macro_is_fatal_only_if_strict(strict: int) -> None:
    harness = make.EngineHarness(
        make.dag("A", pre={"A": "p $WHAT"}), Config(use_strict=strict)
    ).begin()
    assert harness.said("unrecognized macro $WHAT")
    if strict:
        assert harness.asked(do.Exit) == [do.Exit(1)]
        assert harness.engine.run.status is DagStatus.ERROR
    else:
        assert harness.asked(do.RunScript) == [do.RunScript(0, PRE, ("p", "$WHAT"))]


def test_an_answer_of_a_script_that_does_not_run_is_ignored() -> None:
    harness = make.EngineHarness(make.dag("A", pre={"A": "p"})).begin()
    harness.pre_ends("A", 0)
    assert harness.tell(inputs.ScriptEnded(0, PRE, 1)) == []


def test_retry_runs_the_pre_script_again_with_the_new_number() -> None:
    made = make.dag("A", pre={"A": "p $RETRY $MAX_RETRIES"}, retries={"A": 1})
    harness = make.EngineHarness(made).begin()
    harness.pre_ends("A", 1)
    assert harness.asked(do.RunScript) == [do.RunScript(0, PRE, ("p", "1", "1"))]
    harness.pre_ends("A", 1)
    assert harness.state("A").name == "FAILED"
    assert harness.engine.run.nodes.errors[0].endswith("(after 1 node retries)")


def test_a_record_that_is_not_read_back_is_written_again() -> None:
    """It was lost in the log; a second copy, should both be read, does no harm."""
    harness = make.EngineHarness(make.dag("A", pre={"A": "x"})).begin()
    harness.tell(inputs.ScriptEnded(0, PRE, 0))
    first = harness.asked(do.AppendJournalRecord)
    assert len(first) == 1
    assert harness.engine.next_deadline() is not None
    harness.wait(CONFIRM_TIMEOUT_S)
    assert harness.asked(do.AppendJournalRecord) == first
    harness.tell(make.record(JournalRecord.PRE_ENDED, "A"))
    assert harness.submits() == ["A"]
    harness.tell(make.record(JournalRecord.PRE_ENDED, "A"))
    assert not harness.submits()
    harness.wait(CONFIRM_TIMEOUT_S)
    assert not harness.asked(do.AppendJournalRecord)
