"""SCRIPT: PRE, POST and HOLD scripts, from their start to what their end leads to."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, queues
from condor_pydagman.engine.inputs import LogEvent, ScriptEnded
from condor_pydagman.engine.queues import ScriptQueue
from condor_pydagman.engine.script_words import NOT_IN_PRE, MacroError, exit_code_macros, expand
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.brake.run import HOLD_WORDS
from condor_pydagman.graph.model import Tolerance
from condor_pydagman.timers import CONFIRM_TIMEOUT_S
from condor_pydagman.vocabulary import (
    RETURN_PRE_FAILED,
    DagStatus,
    EventKind,
    JournalRecord,
    ScriptKind,
)
from tests import make
from tests.make import QUIET

PRE, POST = ScriptKind.PRE, ScriptKind.POST


def test_a_pre_script_runs_before_the_submit_and_its_record_comes_between() -> None:
    harness = make.harness_of("A\nSCRIPT PRE A p.sh $NODE $RETRY")
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
    harness = make.harness_of("A -> B\nSCRIPT PRE A p")
    harness.pre_ends("A", 4)
    assert harness.states() == "A=FAILED B=FUTILE"
    assert harness.engine.run.nodes.errors[0] == "PRE Script failed with status 4"
    assert not harness.ever(do.SubmitNode)


@pytest.mark.parametrize("always", [False, True])
def test_always_run_post_runs_the_post_script_after_a_failed_pre_script(always: bool) -> None:
    made = make.dag("""
        A
        SCRIPT PRE A p
        SCRIPT POST A q $PRE_SCRIPT_RETURN $RETURN $JOBID
    """)
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
    harness = make.harness_of("""
        A -> B
        SCRIPT PRE A p
        SCRIPT POST A q
        PRE_SKIP A 3
    """)
    harness.tell(inputs.ScriptEnded(0, PRE, 3))
    assert harness.asked(do.AppendPreSkip) == [do.AppendPreSkip(0, 1)]
    harness.tell(*harness.echo(harness.last))
    assert harness.state("A").name == "DONE"
    assert harness.submits() == ["B"]


@pytest.mark.parametrize(("skip", "status"), [(0, 0), (3, 4)])
def test_pre_skip_is_for_its_own_status_only_and_never_for_0(skip: int, status: int) -> None:
    harness = make.harness_of(f"A\nSCRIPT PRE A p\nPRE_SKIP A {skip}")
    harness.pre_ends("A", status)
    assert harness.state("A").name == ("SUBMITTING" if status == 0 else "FAILED")


@pytest.mark.parametrize("job", [0, 1, -9])
@pytest.mark.parametrize("post", [0, 1, -9])
def test_the_post_script_decides(job: int, post: int) -> None:
    harness = make.harness_of("A\nSCRIPT POST A q $RETURN $SUCCESS")
    harness.run_node("A", 5, job)
    words = ("q", str(job), str(job == 0))
    assert harness.asked(do.RunScript) == [do.RunScript(0, POST, words)]
    harness.tell(inputs.ScriptEnded(0, POST, post))
    assert harness.asked(do.AppendPostEnded) == [do.AppendPostEnded(0, 5, 0, 0, post)]
    harness.tell(*harness.echo(harness.last))
    assert harness.asked(do.Exit) == [do.Exit(0 if post == 0 else 1)]


def test_a_script_that_could_not_start_is_said() -> None:
    harness = make.harness_of("A\nSCRIPT PRE A p")
    harness.tell(inputs.ScriptEnded(0, PRE, 1, "p: no such file"))
    assert harness.said("Error: Failed to execute PRE for Node A: p: no such file")
    assert harness.asked(do.AppendJournalRecord)


def test_defer_runs_the_script_again_later() -> None:
    harness = make.harness_of("A\nSCRIPT DEFER 2 30 PRE A p")
    harness.tell(inputs.ScriptEnded(0, PRE, 2))
    assert not harness.asked(do.AppendJournalRecord)
    assert harness.engine.next_deadline() == 1030.0
    assert not harness.wait(29.0)
    assert harness.wait(1.0)[-2:-1] == [do.RunScript(0, PRE, ("p",))]
    harness.pre_ends("A", 0)
    assert harness.submits() == ["A"]
    assert harness.engine.report().deferrals.pre == 1


def test_defer_is_for_its_own_status_only() -> None:
    harness = make.harness_of("A\nSCRIPT DEFER 2 30 PRE A p")
    harness.pre_ends("A", 3)
    assert harness.state("A").name == "FAILED"


def test_a_deferred_script_without_a_free_place_does_not_wake_anybody() -> None:
    """Found by the simulator (seed 1101): the deadline stayed in the past, and DAGMan spun."""
    made = make.dag("A B\nSCRIPT DEFER 2 5 PRE A p\nSCRIPT PRE B p")
    harness = make.EngineHarness(made, Config(pending_report_interval=0), Throttles(pre=1)).begin()
    harness.tell(inputs.ScriptEnded(0, PRE, 2))
    assert harness.asked(do.RunScript) == [do.RunScript(1, PRE, ("p",))]
    harness.wait(5.0)
    assert harness.engine.next_deadline() is None
    harness.tell(inputs.ScriptEnded(1, PRE, 0))
    assert harness.asked(do.RunScript) == [do.RunScript(0, PRE, ("p",))]


@pytest.mark.parametrize("kind", [PRE, POST])
def test_a_throttle_bounds_the_scripts_that_run(kind: ScriptKind) -> None:
    text = f"A B C\nSCRIPT {kind.name} ALL_NODES s"
    harness = make.harness_of(text, limits=Throttles(pre=2, post=2))
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
    harness = make.harness_of("A\nSCRIPT PRE A p $WHAT", Config(use_strict=strict))
    assert harness.said("unrecognized macro $WHAT")
    if strict:
        assert harness.asked(do.Exit) == [do.Exit(1)]
        assert harness.engine.run.status is DagStatus.ERROR
    else:
        assert harness.asked(do.RunScript) == [do.RunScript(0, PRE, ("p", "$WHAT"))]


def test_an_answer_of_a_script_that_does_not_run_is_ignored() -> None:
    harness = make.harness_of("A\nSCRIPT PRE A p")
    harness.pre_ends("A", 0)
    assert harness.tell(inputs.ScriptEnded(0, PRE, 1)) == []


def test_retry_runs_the_pre_script_again_with_the_new_number() -> None:
    harness = make.harness_of("A\nSCRIPT PRE A p $RETRY $MAX_RETRIES\nRETRY A 1")
    harness.pre_ends("A", 1)
    assert harness.asked(do.RunScript) == [do.RunScript(0, PRE, ("p", "1", "1"))]
    harness.pre_ends("A", 1)
    assert harness.state("A").name == "FAILED"
    assert harness.engine.run.nodes.errors[0].endswith("(after 1 node retries)")


def test_a_record_that_is_not_read_back_is_written_again() -> None:
    """It was lost in the log; a second copy, should both be read, does no harm."""
    harness = make.harness_of("A\nSCRIPT PRE A x")
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


# Macros in script lines.


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("a.sh $NODE", ("a.sh", "N")),
        ("a.sh\t$node  $Node ", ("a.sh", "N", "N")),
        ("a.sh x$NODE $NODE. '$NODE", None),
        ("a.sh x$NODE 'q q'", ("a.sh", "x$NODE", "'q", "q'")),
        ("$NODE", ("N",)),
    ],
)
def test_whole_words_in_any_case_are_put_in(command: str, words: tuple[str, ...] | None) -> None:
    if words is None:
        with pytest.raises(MacroError, match=r"unrecognized macro \$NODE\. in node n POST"):
            expand(command, {"NODE": "N"}, POST, "n")
    else:
        assert expand(command, {"NODE": "N"}, POST, "n") == words


@pytest.mark.parametrize("name", sorted(NOT_IN_PRE))
def test_what_only_a_post_script_can_know(name: str) -> None:
    values = {name: "1"}
    assert expand(f"a ${name}", values, POST, "n") == ("a", "1")
    with pytest.raises(MacroError, match=f"{name} macro should not be used as a PRE script"):
        expand(f"a ${name}", values, PRE, "n")


def test_a_value_is_not_looked_at_again() -> None:
    assert expand("a $NODE", {"NODE": "$X b"}, POST, "n") == ("a", "$X b")


@pytest.mark.parametrize(
    ("codes", "want"),
    [
        ({}, ("", "", "", "0")),
        ({0: 0}, ("0", "0:1", "0", "0")),
        ({1: 3, 0: 0, 2: 0}, ("0,3", "0:2,3:1", "0,3,0", "0")),
        ({0: -9, 1: -11, 2: None}, ("-1", "-1:2", "-1,-1,", "1")),
    ],
)
def test_exit_code_macros(codes: dict[int, int | None], want: tuple[str, ...]) -> None:
    got = exit_code_macros(codes)
    assert tuple(got.values()) == want
    assert list(got) == ["EXIT_CODES", "EXIT_CODE_COUNTS", "EXIT_CODE_LIST", "JOB_ABORT_COUNT"]


# What the end of a script leads to, once it has been read from the nodes log.


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "PRE Script of node A completed successfully."),
        (4, "PRE Script of Node A failed with status 4"),
        (-9, "PRE Script of node A died on signal 9"),
    ],
)
def test_lines_about_the_end_of_a_pre_script(status: int, words: str) -> None:
    harness = make.harness_of("A\nSCRIPT PRE A p")
    harness.pre_ends("A", status)
    assert harness.said(words)


@pytest.mark.parametrize(
    ("job", "post", "error"),
    [
        (3, 5, "Job exited with status 3 and POST Script failed with status 5"),
        (-9, 5, "Job died on signal 9 and POST Script failed with status 5"),
        (0, 5, "Job succeeded (DAGMAN error 0) and POST Script failed with status 5"),
        (0, -15, "Job succeeded (DAGMAN error 0) and POST Script died on signal 15"),
        (3, -15, "Job exited with status 3 and POST Script died on signal 15"),
    ],
)
def test_error_after_a_failed_post_script(job: int, post: int, error: str) -> None:
    harness = make.harness_of("A\nSCRIPT POST A q")
    harness.run_node("A", 5, value=job)
    harness.post_ends("A", post)
    assert harness.engine.run.nodes.errors[0] == error
    assert harness.engine.run.nodes.values[0] == post


def test_a_removed_job_and_its_post_script() -> None:
    harness = make.harness_of("A\nSCRIPT POST A q $RETURN $SUCCESS $JOB_ABORT_COUNT", procs=1)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert harness.asked(do.RunScript)[0].words == ("q", "-1002", "False", "1")
    harness.post_ends("A", 1)
    assert harness.engine.run.nodes.errors[0] == (
        "Job was removed and POST Script failed with status 1"
    )


@pytest.mark.parametrize(("pre", "words"), [(4, "failed with status 4"), (-9, "died on signal 9")])
def test_error_after_a_failed_pre_and_post_script(pre: int, words: str) -> None:
    harness = make.harness_of("A\nSCRIPT PRE A p\nSCRIPT POST A q", Config(always_run_post=True))
    harness.tell(*harness.echo(harness.tell(inputs.ScriptEnded(0, PRE, pre))))
    harness.post_ends("A", 1)
    error = f"PRE Script {words} and POST Script failed with status 1"
    assert harness.engine.run.nodes.errors[0] == error


def test_an_end_is_read_twice() -> None:
    harness = make.harness_of("A -> B\nSCRIPT PRE ALL_NODES p\nSCRIPT POST A q")
    first = harness.tell(inputs.ScriptEnded(0, PRE, 0))
    harness.tell(*harness.echo(first), *harness.echo(first))
    assert harness.submits() == ["A"]
    harness.run_node("A", 5)
    first = harness.tell(inputs.ScriptEnded(0, POST, 0))
    harness.tell(*harness.echo(first), *harness.echo(first))
    assert harness.said("Ignoring a second end of node A's POST script")
    assert harness.states() == "A=DONE B=PRE_RUN"


def test_the_end_of_an_earlier_runs_post_script() -> None:
    harness = make.harness_of("A\nSCRIPT POST A q\nRETRY A 1")
    harness.run_node("A", 5, value=1)
    first = harness.tell(inputs.ScriptEnded(0, POST, 1))
    harness.tell(*harness.echo(first))
    harness.run_node("A", 6, value=1)
    harness.tell(inputs.ScriptEnded(0, POST, 0))
    harness.tell(*harness.echo(first))
    assert harness.said("Ignoring the POST script of an earlier run of node A")
    assert harness.state("A").name == "POST_UNCONFIRMED"


def test_an_old_end_does_not_count_for_a_script_that_runs() -> None:
    """The end of a POST script is only ours to record: what comes while it runs is a double."""
    harness = make.harness_of("A\nSCRIPT POST A q")
    harness.run_node("A", 5)
    harness.tell(make.post_ended("A", 0, 5))
    assert harness.state("A").name == "POST_RUN"


def test_a_pre_script_end_in_a_log_whose_dag_has_no_such_script_any_more() -> None:
    harness = make.EngineHarness("A").begin(recovering=True)
    harness.tell(make.record(JournalRecord.PRE_ENDED, "A", value=1))
    assert harness.state("A").name == "READY"


def test_pre_skip_in_an_old_log() -> None:
    harness = make.EngineHarness("A -> B\nSCRIPT PRE A p\nPRE_SKIP A 4").begin(recovering=True)
    harness.tell(make.pre_skip("A", 3), make.pre_skip("A", 3))
    assert harness.states() == "A=DONE B=READY"
    assert harness.said("PRE_SKIP return value 4 indicates we are done (successfully) with node A")


def test_pre_skip_beats_always_run_post() -> None:
    made = make.dag("""
        A
        SCRIPT PRE A p
        SCRIPT POST A q
        PRE_SKIP A 4
    """)
    harness = make.EngineHarness(made, Config(always_run_post=True)).begin()
    harness.pre_ends("A", 4)
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert not any(run.kind is POST for run in harness.ever(do.RunScript))


# A log of stock DAGMan's, which has no records of a failed submission and a failed PRE script.


def test_an_old_log_shows_a_failed_submission_by_the_end_of_the_post_script_alone() -> None:
    harness = make.EngineHarness("A -> B\nSCRIPT POST A q\nRETRY A 2").begin(recovering=True)
    harness.tell(make.post_ended("A", 0), make.submit("B", 5))
    assert harness.states() == "A=DONE B=SUBMITTED"


def test_an_old_log_shows_a_failed_submission_and_a_failed_post_script() -> None:
    made = make.dag("""
        A -> B
        SCRIPT PRE A p
        SCRIPT POST A q
        RETRY A 2
    """)
    harness = make.EngineHarness(made, Config(always_run_post=False)).begin(recovering=True)
    harness.tell(make.post_ended("A", 3))
    assert harness.states() == "A=FAILED B=FUTILE"
    error = "Job submit failed and POST Script failed with status 3"
    assert harness.engine.run.nodes.errors[0].startswith(error)


def test_an_old_log_shows_what_may_have_been_a_failed_pre_script() -> None:
    """Stock's recovery retries the node whatever it was."""
    made = make.dag("""
        A
        SCRIPT PRE A p
        SCRIPT POST A q
        RETRY A 1
    """)
    harness = make.EngineHarness(made, Config(always_run_post=True)).begin(recovering=True)
    harness.tell(make.post_ended("A", 3))
    assert harness.states() == "A=PRE_WAIT"
    harness.tell(make.post_ended("A", 3))
    assert harness.states() == "A=FAILED"
    error = "PRE Script or submission failed and POST Script failed with status 3"
    assert harness.engine.run.nodes.errors[0].startswith(error)


def test_a_doubled_end_of_a_post_script_without_a_job_is_of_one_run() -> None:
    made = make.dag("""
        A
        SCRIPT PRE A p
        SCRIPT POST A q
        RETRY A 1
    """)
    harness = make.EngineHarness(made, Config(always_run_post=True)).begin()
    harness.pre_ends("A", 1)
    first = harness.tell(inputs.ScriptEnded(0, POST, 1))
    harness.tell(*harness.echo(first), *harness.echo(first))
    assert harness.state("A").name == "PRE_RUN"
    harness.same_replay()


# ABORT-DAG-ON.


def test_an_abort_by_a_pre_script_with_always_run_post() -> None:
    """Stock starts the POST script and kills it at once; ours does not start it."""
    made = make.dag("""
        A B
        SCRIPT PRE A p
        SCRIPT POST A q
        RETRY A 2
        ABORT-DAG-ON A 3
    """)
    harness = make.EngineHarness(made, Config(always_run_post=True)).begin()
    harness.pre_ends("A", 3)
    assert harness.asked(do.Exit) == [do.Exit(3)]
    assert harness.engine.report().failed == 0
    assert harness.engine.run.nodes.retries == {}


def test_an_abort_by_a_pre_script_that_succeeded() -> None:
    harness = make.harness_of("A\nSCRIPT PRE A p\nABORT-DAG-ON A 0 RETURN 1")
    harness.pre_ends("A", 0)
    assert harness.asked(do.Exit) == [do.Exit(1)]
    assert harness.state("A").name == "READY"
    assert not harness.ever(do.SubmitNode)


def test_an_abort_by_a_job_that_succeeded() -> None:
    harness = make.harness_of("A -> B\nABORT-DAG-ON A 0")
    harness.run_node("A", 5)
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert not harness.ever(do.WriteRescue)
    assert harness.states() == "A=DONE B=READY"


def test_an_abort_by_a_post_script() -> None:
    harness = make.harness_of("""
        A B
        SCRIPT POST A q
        RETRY A 2
        ABORT-DAG-ON A 3
    """)
    harness.run_node("A", 5)
    harness.post_ends("A", 3)
    assert harness.said("Aborting DAG because we got the ABORT exit value from a POST script")
    assert harness.asked(do.Exit) == [do.Exit(3)]
    assert harness.state("A").name == "FAILED"


@pytest.mark.parametrize("kind", [PRE, POST])
def test_an_abort_replayed(kind: ScriptKind) -> None:
    made = make.dag(f"A B\nSCRIPT {kind.name} A s\nABORT-DAG-ON A 3 RETURN 7")
    harness = make.EngineHarness(made).begin(recovering=True)
    if kind is PRE:
        harness.tell(make.record(JournalRecord.PRE_ENDED, "A", value=3))
    else:
        harness.tell(make.submit("A", 5), make.terminated(5), make.post_ended("A", 3, 5))
    assert not harness.ever(do.Exit)
    harness.tell(inputs.LogCaughtUp())
    assert harness.ever(do.Exit) == [do.Exit(7)]


# The same by replay, at every point of a node's life.


@pytest.mark.parametrize("pre", [0, 1, 4])
@pytest.mark.parametrize("job", [0, 1])
@pytest.mark.parametrize("post", [0, 1])
@pytest.mark.parametrize("always", [False, True])
def test_a_life_with_scripts_replayed(pre: int, job: int, post: int, always: bool) -> None:
    made = make.dag("""
        A -> B; C
        SCRIPT PRE A p
        SCRIPT POST A q
        RETRY A 1
        PRE_SKIP A 4
    """)
    harness = make.EngineHarness(made, Config(always_run_post=always)).begin()
    harness.take("C", 99)
    for cluster in (5, 6):
        if harness.state("A").name != "PRE_RUN":
            break
        harness.pre_ends("A", pre)
        harness.same_replay()
        if harness.state("A").name == "SUBMITTING":
            harness.take("A", cluster)
            harness.same_replay()
            harness.tell(make.terminated(cluster, value=job))
            harness.same_replay()
        if harness.state("A").name == "POST_RUN":
            harness.post_ends("A", post)
            harness.same_replay()
    assert harness.state("A").name in ("DONE", "FAILED")


# Scripts that wait for a place, and those put off: a list of what has happened, as `add 1`,
# `defer 1 50`, `discard 1` or `clear`, and as `pop 60 1` which node starts then, `-` for none.


@pytest.mark.parametrize(
    ("happened", "next_time", "length"),
    [
        ("add 2, add 1, pop 0 2, pop 0 1, pop 0 -", None, 0),
        ("defer 1 10, add 2", 10.0, 1),
        ("defer 1 10, add 2, pop 9.9 2, pop 9.9 -, pop 10 1", None, 0),
        ("add 1, defer 2 5, discard 1, discard 2", None, 0),
        ("add 1, defer 2 5, discard 1, discard 2, pop 99 -", None, 0),
        ("add 1, discard 1, add 1, pop 0 1, pop 0 -", None, 0),
        ("add 1, defer 2 1, clear, pop 2 -", None, 0),
        ("add 1, defer 2 5, pop 5 1", None, 1),
        ("add 1, defer 2 5, pop 5 1, discard 2", None, 0),
        ("defer 1 50, defer 2 60, clear, add 3", None, 1),
        ("defer 1 50, defer 2 60, clear, add 3, pop 100 3, defer 1 150, discard 1, add 4", None, 1),
        # an old log showed its job; now its retry
        ("defer 1 50, discard 1, defer 1 90", 90.0, 0),
        ("defer 1 50, discard 1, defer 1 90, pop 60 -, pop 90 1, pop 99 -", None, 0),
        # a place of an earlier time starts no script that is put off
        ("add 1, discard 1, add 1, pop 0 1, defer 1 50, pop 10 -", 50.0, 0),
        ("add 1, discard 1, add 1, pop 0 1, defer 1 50, pop 10 -, pop 50 1", None, 0),
    ],
)
def test_the_queue_of_scripts(happened: str, next_time: float | None, length: int) -> None:
    queue = ScriptQueue()
    for step in happened.split(", "):
        what, *words = step.split()
        if what == "pop":
            assert queue.pop(float(words[0])) == (None if words[1] == "-" else int(words[1])), step
        else:
            numbers: list[Any] = [int(word) for word in words]
            getattr(queue, what)(*numbers)
    assert (queue.next_time(), len(queue)) == (next_time, length)


# HOLD scripts: one for each time a proc goes on hold, and no part of the node's life.


HOLD = ScriptKind.HOLD


def held(cluster: int, proc: int = 0, text: str = "why") -> LogEvent:
    return make.of_job(EventKind.JOB_HELD, cluster, proc, text=text)


def released(cluster: int, proc: int = 0) -> LogEvent:
    return make.of_job(EventKind.JOB_RELEASED, cluster, proc)


def with_hold_script(
    script: str = "h", *, defer: str = "", procs: int = 1, limit: int = 0
) -> make.EngineHarness:
    """A has the script, and the schedd has taken its jobs."""
    text = f"A -> B\nSCRIPT {defer} HOLD A {script}"
    return make.harness_of(text, QUIET, Throttles(hold=limit), procs=procs)


def of_hold(proc: int = 0, number: int = 1) -> inputs.HeldProc:
    return inputs.HeldProc(0, 5, proc, number)


def ended(status: int = 0, proc: int = 0, number: int = 1) -> ScriptEnded:
    return ScriptEnded(0, HOLD, status, held=of_hold(proc, number))


def started(harness: make.EngineHarness) -> list[tuple[int, int]]:
    """Of which holds scripts have just been started: proc, number of its hold."""
    runs = [run.held for run in harness.asked(do.RunScript)]
    return [(held.proc, held.number) for held in runs if held is not None]


def test_macros_of_a_hold_script() -> None:
    words = (
        "h $NODE $RETURN $JOBID $JOB_COUNT $SUCCESS $EXIT_CODES $EXIT_CODE_LIST"
        " $EXIT_CODE_COUNTS $PRE_SCRIPT_RETURN $JOB_ABORT_COUNT $DAG_STATUS $QUEUED_COUNT"
    )
    harness = with_hold_script(words)
    harness.tell(held(5))
    assert harness.said("  Hold reason: why")
    assert harness.said("Running HOLD script of Node A...")
    (run,) = harness.asked(do.RunScript)
    assert run == do.RunScript(
        0,
        HOLD,
        ("h", "A", "-1", "5.0", "1", "True", "", "", "", "-1", "0", "0", "1"),
        held=of_hold(),
    )


@pytest.mark.parametrize("status", [0, 1, -9])
def test_the_exit_code_of_a_hold_script_is_ignored(status: int) -> None:
    harness = with_hold_script()
    harness.tell(held(5))
    harness.tell(ended(status))
    (record,) = harness.last
    assert record == do.AppendJournalRecord(JournalRecord.HOLD_ENDED, 0, 0, 1, 5, 0)
    assert not harness.read_back()
    assert harness.states() == "A=SUBMITTED B=WAITING"
    harness.tell(released(5), make.terminated(5))
    assert harness.states() == "A=DONE B=SUBMITTING"


def test_the_number_of_waiting_hold_scripts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "MAX_HOLD_SCRIPTS", 3)
    harness = with_hold_script(limit=1)
    for _ in range(20):
        harness.tell(held(5), released(5))
    assert len([say for say in harness.ever(do.Say) if "HOLD scripts wait" in say.text]) == 1
    for _ in range(20):
        harness.tell(ended())
    assert len(harness.ever(do.RunScript)) == 4


def test_a_hold_script_that_can_not_be_started() -> None:
    harness = with_hold_script()
    harness.tell(held(5))
    harness.tell(ScriptEnded(0, HOLD, 1, "no such file"))
    assert harness.said("Error: Failed to execute HOLD for Node A: no such file")
    assert harness.engine.report().hold_scripts == 0
    harness.tell(make.terminated(5))
    assert harness.state("A").name == "DONE"


def test_a_hold_script_runs_once_for_each_hold() -> None:
    harness = with_hold_script()
    for number in (1, 2, 3):
        harness.tell(held(5))
        assert started(harness) == [(0, number)]
        harness.tell(ended(number=number), released(5))
    assert harness.engine.run.scripts.hold.running == 0


def test_hold_scripts_of_several_procs_at_once() -> None:
    """Two HELD events before the first script has ended make stock DAGMan die, and die again."""
    harness = with_hold_script(procs=3)
    harness.tell(held(5, 0), held(5, 1), held(5, 2))
    assert started(harness) == [(0, 1), (1, 1), (2, 1)]
    assert harness.engine.report().hold_scripts == 3
    harness.tell(ended(), ended(), ended())
    assert harness.engine.report().hold_scripts == 0
    harness.tell(ended())  # one more than ran
    assert harness.engine.report().hold_scripts == 0


def test_a_throttle_bounds_the_hold_scripts_that_run() -> None:
    harness = with_hold_script(procs=3, limit=2)
    harness.tell(held(5, 0), held(5, 1), held(5, 2))
    assert started(harness) == [(0, 1), (1, 1)]
    assert harness.engine.report().deferrals.hold == 1
    assert harness.engine.next_deadline() is None
    harness.tell(ended())
    assert started(harness) == [(2, 1)]
    harness.tell(ended(), ended())
    assert not harness.asked(do.RunScript)


def test_defer_runs_a_hold_script_again_later() -> None:
    harness = with_hold_script(defer="DEFER 4 30", limit=20)
    harness.tell(held(5))
    harness.tell(ended(4))
    assert harness.said("Deferring HOLD script of node A for 30 seconds (exit status was 4)...")
    assert harness.engine.report().deferrals.hold == 1
    assert harness.engine.next_deadline() == harness.now + 30
    assert not harness.wait(29.0)
    harness.wait(1.0)
    assert started(harness) == [(0, 1)]
    assert harness.engine.next_deadline() is None
    harness.tell(ended(3))
    assert harness.engine.next_deadline() is None


def test_a_deferred_one_without_a_free_place_does_not_wake_anybody() -> None:
    harness = with_hold_script(defer="DEFER 4 30", procs=2, limit=1)
    harness.tell(held(5, 0), held(5, 1))
    harness.tell(ended(4))
    assert started(harness) == [(1, 1)]
    harness.wait(40.0)
    assert not harness.asked(do.RunScript)
    assert harness.engine.next_deadline() is None
    harness.tell(ended(proc=1))
    assert started(harness) == [(0, 1)]


def test_a_paused_dag_does_not_start_it_and_does_not_spin() -> None:
    harness = with_hold_script(defer="DEFER 4 30", procs=2)
    harness.tell(held(5, 0), ended(4), inputs.Halt(pause=True))
    harness.wait(40.0)
    assert not harness.asked(do.RunScript)
    assert harness.engine.next_deadline() is None
    harness.tell(held(5, 1))
    assert not harness.asked(do.RunScript)
    harness.tell(inputs.Resume())
    assert started(harness) == [(1, 1), (0, 1)]


def test_a_halted_dag_starts_it() -> None:
    harness = with_hold_script()
    harness.tell(inputs.Halt())
    harness.tell(held(5))
    assert started(harness) == [(0, 1)]


def test_nothing_waits_for_it_at_the_end() -> None:
    harness = make.harness_of("A\nSCRIPT HOLD A h", QUIET, procs=1)
    harness.tell(held(5), released(5), make.terminated(5))
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert not harness.ever(do.KillScripts)


def test_a_script_whose_node_has_gone_on() -> None:
    harness = with_hold_script()
    harness.tell(held(5), released(5), make.terminated(5))
    harness.tell(ended())
    assert not harness.read_back()
    assert harness.engine.run.scripts.hold.running == 0


def test_after_a_restart_only_those_that_are_on_hold_still() -> None:
    harness = with_hold_script(procs=4)
    harness.tell(held(5, 0), held(5, 1), held(5, 2))
    harness.tell(released(5, 1), make.terminated(5, 2))
    other = harness.replay()
    assert not other.ever(do.RunScript)
    other.tell(inputs.LogCaughtUp())
    assert not other.ever(do.RunScript)
    other.tell(inputs.QueueListed(other.queue()))
    assert started(other) == [(0, 1)]


def test_after_a_restart_only_those_whose_end_is_not_in_the_log() -> None:
    harness = with_hold_script(procs=3)
    harness.tell(held(5, 0), held(5, 1), held(5, 2))
    harness.happens(ended(proc=1))
    harness.happens(ended(4, proc=2), released(5, 2), held(5, 2))
    other = harness.restart()
    assert started(other) == [(0, 1), (2, 2)]
    other.happens(ended(proc=0), ended(proc=2, number=2))
    again = other.restart()
    assert not again.ever(do.RunScript)
    again.tell(released(5, 1), held(5, 1))
    assert started(again) == [(1, 2)], "it is the second hold of this proc, after a restart as well"


def test_after_a_restart_one_that_was_put_off_runs() -> None:
    harness = with_hold_script(defer="DEFER 4 30")
    harness.tell(held(5))
    harness.tell(ended(4))
    assert not harness.asked(do.AppendJournalRecord)
    assert started(harness.restart()) == [(0, 1)]


def test_held_twice_in_an_old_log_is_one_script() -> None:
    harness = with_hold_script()
    harness.tell(held(5), released(5), held(5))
    assert started(harness.restart()) == [(0, 2)]


def test_a_proc_held_in_an_earlier_run_of_its_node() -> None:
    harness = make.harness_of("A\nSCRIPT HOLD A h\nRETRY A 1", QUIET, procs=1)
    harness.tell(held(5), make.of_job(EventKind.JOB_ABORTED, 5))
    harness.take("A", 6)
    assert not harness.restart().ever(do.RunScript)


def test_a_restart_obeys_the_throttle() -> None:
    harness = with_hold_script(procs=3, limit=2)
    harness.tell(held(5, 0), held(5, 1), held(5, 2))
    other = harness.restart()
    assert started(other) == [(0, 1), (1, 1)]
    other.tell(ended())
    assert started(other) == [(2, 1)]


def test_a_node_without_a_hold_script() -> None:
    harness = make.harness_of("A", procs=1)
    harness.tell(held(5))
    assert not harness.asked(do.RunScript)
    assert harness.engine.report().procs_held == 1


@pytest.mark.parametrize("strict", [0, 1])
def test_an_unknown_macro_in_a_hold_script(strict: int) -> None:
    harness = make.harness_of("A\nSCRIPT HOLD A h $WHAT", Config(use_strict=strict), procs=1)
    harness.tell(held(5))
    assert harness.said("Warning: unrecognized macro $WHAT in node A HOLD script arguments")
    if strict:
        assert harness.asked(do.Exit) == [do.Exit(1)]
    else:
        assert harness.asked(do.RunScript) == [
            do.RunScript(0, HOLD, ("h", "$WHAT"), held=of_hold())
        ]


def test_the_limit_of_holds_removes_the_jobs_and_the_script_runs_all_the_same() -> None:
    harness = make.harness_of("A\nSCRIPT HOLD A h\nRETRY A 1", Config(max_job_holds=1), procs=1)
    harness.tell(held(5))
    assert harness.said(
        "Total hold count for job 5 (node A)has reached DAGMAN_MAX_JOB_HOLDS (1);"
        " all job proc(s) for this node will now be removed"
    )
    assert harness.asked(do.RemoveJobs) == [
        do.RemoveJobs("DAG Limit: Max number of held jobs was reached.", 5)
    ]
    assert started(harness) == [(0, 1)]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert harness.submits() == ["A"]


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_the_limit_counts_procs_that_are_on_hold_now(limit: int) -> None:
    harness = make.harness_of("A", Config(max_job_holds=limit), procs=3)
    harness.tell(held(5, 0), released(5, 0), held(5, 0), held(5, 0))
    assert bool(harness.ever(do.RemoveJobs)) == (limit == 1)
    harness.tell(held(5, 1))
    assert bool(harness.ever(do.RemoveJobs)) == (limit in (1, 2))
    harness.tell(held(5, 2))
    assert len(harness.ever(do.RemoveJobs)) == (limit > 0)


def test_the_limit_of_holds_goes_by_no_reason_of_a_job() -> None:
    """A job may hold itself with the words of a BRAKE, which the DAG has not got."""
    harness = make.harness_of("A", Config(max_job_holds=1), procs=1)
    harness.tell(make.of_job(EventKind.JOB_HELD, 5, text=HOLD_WORDS))
    assert harness.ever(do.RemoveJobs)


def test_the_limit_of_holds_in_a_replay() -> None:
    made = make.dag("A\nSCRIPT POST A q $RETURN $JOB_ABORT_COUNT")
    harness = make.EngineHarness(made, Config(max_job_holds=2)).begin()
    harness.take("A", 5, procs=2)
    harness.tell(held(5, 0), held(5, 1))
    other = harness.restart()
    assert [removal.cluster for removal in other.asked(do.RemoveJobs)] == [5]
    gone = [make.of_job(EventKind.JOB_ABORTED, 5, proc) for proc in (0, 1)]
    other.tell(*gone)
    assert other.asked(do.RunScript)[0].words == ("q", "-1002", "2")
    harness.tell(*gone)
    harness.same_replay()


def test_an_event_of_a_proc_that_has_ended_starts_nothing() -> None:
    harness = with_hold_script(procs=2)
    harness.tell(make.terminated(5, 0), held(5, 0))
    assert not harness.asked(do.RunScript)
    assert harness.engine.report().procs_held == 0


def test_a_doubled_event_starts_no_second_script() -> None:
    harness = make.harness_of("A\nSCRIPT HOLD A h", procs=1)
    held = make.of_job(EventKind.JOB_HELD, 5)
    harness.tell(held, held)
    assert len(harness.ever(do.RunScript)) == 1
    harness.tell(make.of_job(EventKind.JOB_RELEASED, 5), held)
    assert len(harness.ever(do.RunScript)) == 2


class Watched(dict[int, int]):
    """Flags of procs, which count how many of them are looked at one after the other."""

    looked = 0

    def values(self) -> Any:
        self.looked += len(self)
        return super().values()

    def items(self) -> Any:
        self.looked += len(self)
        return super().items()


def test_the_limit_of_holds_is_no_reason_to_look_at_all_procs() -> None:
    harness = make.harness_of("A", Config(max_job_holds=50), procs=40)
    jobs = harness.engine.run.job_table.by_node[0]
    harness.engine.check = None
    jobs.procs = watched = Watched(jobs.procs)
    harness.tell(*(held(5, proc) for proc in range(40)))
    assert (jobs.held, watched.looked) == (40, 0)


def test_what_it_is_told_while_procs_end_and_in_the_next_run() -> None:
    made = make.dag("A\nSCRIPT HOLD A h $RETURN\nRETRY A 1")
    made.tolerances[0] = Tolerance(1)
    harness = make.EngineHarness(made, QUIET).begin()
    harness.take("A", 5, procs=4)
    said = []
    for event in (held(5, 3), make.terminated(5, 0), held(5, 2), make.terminated(5, 1, 3)):
        said += [run.words[1] for run in harness.tell(event) if isinstance(run, do.RunScript)]
    harness.tell(released(5, 2), held(5, 2))
    assert [*said, harness.asked(do.RunScript)[0].words[1]] == ["-1", "0", "3"]
    harness.tell(make.terminated(5, 2, 4), make.of_job(EventKind.JOB_ABORTED, 5, 3))
    harness.take("A", 6)
    harness.tell(held(6))
    assert harness.asked(do.RunScript)[0].words == ("h", "-1")
