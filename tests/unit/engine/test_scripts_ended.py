"""What the end of a script leads to, once it has been read from the nodes log."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.vocabulary import EventKind, JournalRecord, ScriptKind
from tests import make

PRE, POST = ScriptKind.PRE, ScriptKind.POST


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "PRE Script of node A completed successfully."),
        (4, "PRE Script of Node A failed with status 4"),
        (-9, "PRE Script of node A died on signal 9"),
    ],
)
def test_lines_about_the_end_of_a_pre_script(status: int, words: str) -> None:
    harness = make.EngineHarness(make.dag("A", pre={"A": "p"})).begin()
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
    harness = make.EngineHarness(make.dag("A", post={"A": "q"})).begin()
    harness.run_node("A", 5, value=job)
    harness.post_ends("A", post)
    assert harness.engine.run.nodes.errors[0] == error
    assert harness.engine.run.nodes.values[0] == post


def test_a_removed_job_and_its_post_script() -> None:
    harness = make.EngineHarness(
        make.dag("A", post={"A": "q $RETURN $SUCCESS $JOB_ABORT_COUNT"})
    ).begin()
    harness.take("A", 5)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert harness.asked(do.RunScript)[0].words == ("q", "-1002", "False", "1")
    harness.post_ends("A", 1)
    assert harness.engine.run.nodes.errors[0] == (
        "Job was removed and POST Script failed with status 1"
    )


@pytest.mark.parametrize(("pre", "words"), [(4, "failed with status 4"), (-9, "died on signal 9")])
def test_error_after_a_failed_pre_and_post_script(pre: int, words: str) -> None:
    made = make.dag("A", pre={"A": "p"}, post={"A": "q"})
    harness = make.EngineHarness(made, Config(always_run_post=True)).begin()
    harness.tell(*harness.echo(harness.tell(inputs.ScriptEnded(0, PRE, pre))))
    harness.post_ends("A", 1)
    error = f"PRE Script {words} and POST Script failed with status 1"
    assert harness.engine.run.nodes.errors[0] == error


def test_an_end_is_read_twice() -> None:
    harness = make.EngineHarness(
        make.dag("A -> B", pre={"A": "p", "B": "p"}, post={"A": "q"})
    ).begin()
    first = harness.tell(inputs.ScriptEnded(0, PRE, 0))
    harness.tell(*harness.echo(first), *harness.echo(first))
    assert harness.submits() == ["A"]
    harness.run_node("A", 5)
    first = harness.tell(inputs.ScriptEnded(0, POST, 0))
    harness.tell(*harness.echo(first), *harness.echo(first))
    assert harness.said("Ignoring a second end of node A's POST script")
    assert harness.states() == "A=DONE B=PRE_RUN"


def test_the_end_of_an_earlier_runs_post_script() -> None:
    harness = make.EngineHarness(make.dag("A", post={"A": "q"}, retries={"A": 1})).begin()
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
    harness = make.EngineHarness(make.dag("A", post={"A": "q"})).begin()
    harness.run_node("A", 5)
    harness.tell(make.post_ended("A", 0, 5))
    assert harness.state("A").name == "POST_RUN"


def test_a_pre_script_end_in_a_log_whose_dag_has_no_such_script_any_more() -> None:
    harness = make.EngineHarness("A").begin(recovering=True)
    harness.tell(make.record(JournalRecord.PRE_ENDED, "A", value=1))
    assert harness.state("A").name == "READY"


def test_pre_skip_in_an_old_log() -> None:
    made = make.dag("A -> B", pre={"A": "p"}, pre_skips={"A": 4})
    harness = make.EngineHarness(made).begin(recovering=True)
    harness.tell(make.pre_skip("A", 3), make.pre_skip("A", 3))
    assert harness.states() == "A=DONE B=READY"
    assert harness.said("PRE_SKIP return value 4 indicates we are done (successfully) with node A")


def test_pre_skip_beats_always_run_post() -> None:
    made = make.dag("A", pre={"A": "p"}, post={"A": "q"}, pre_skips={"A": 4})
    harness = make.EngineHarness(made, Config(always_run_post=True)).begin()
    harness.pre_ends("A", 4)
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert not any(run.kind is POST for run in harness.ever(do.RunScript))


# A log of stock DAGMan's, which has no records of a failed submission and a failed PRE script.


def test_an_old_log_shows_a_failed_submission_by_the_end_of_the_post_script_alone() -> None:
    made = make.dag("A -> B", post={"A": "q"}, retries={"A": 2})
    harness = make.EngineHarness(made).begin(recovering=True)
    harness.tell(make.post_ended("A", 0), make.submit("B", 5))
    assert harness.states() == "A=DONE B=SUBMITTED"


def test_an_old_log_shows_a_failed_submission_and_a_failed_post_script() -> None:
    made = make.dag("A -> B", pre={"A": "p"}, post={"A": "q"}, retries={"A": 2})
    harness = make.EngineHarness(made, Config(always_run_post=False)).begin(recovering=True)
    harness.tell(make.post_ended("A", 3))
    assert harness.states() == "A=FAILED B=FUTILE"
    error = "Job submit failed and POST Script failed with status 3"
    assert harness.engine.run.nodes.errors[0].startswith(error)


def test_an_old_log_shows_what_may_have_been_a_failed_pre_script() -> None:
    """Stock's recovery retries the node whatever it was."""
    made = make.dag("A", pre={"A": "p"}, post={"A": "q"}, retries={"A": 1})
    harness = make.EngineHarness(made, Config(always_run_post=True)).begin(recovering=True)
    harness.tell(make.post_ended("A", 3))
    assert harness.states() == "A=PRE_WAIT"
    harness.tell(make.post_ended("A", 3))
    assert harness.states() == "A=FAILED"
    error = "PRE Script or submission failed and POST Script failed with status 3"
    assert harness.engine.run.nodes.errors[0].startswith(error)


def test_a_doubled_end_of_a_post_script_without_a_job_is_of_one_run() -> None:
    made = make.dag("A", pre={"A": "p"}, post={"A": "q"}, retries={"A": 1})
    harness = make.EngineHarness(made, Config(always_run_post=True)).begin()
    harness.pre_ends("A", 1)
    first = harness.tell(inputs.ScriptEnded(0, POST, 1))
    harness.tell(*harness.echo(first), *harness.echo(first))
    assert harness.state("A").name == "PRE_RUN"
    harness.same_replay()


# ABORT-DAG-ON.


def test_an_abort_by_a_pre_script_with_always_run_post() -> None:
    """Stock starts the POST script and kills it at once; ours does not start it."""
    made = make.dag("A B", pre={"A": "p"}, post={"A": "q"}, aborts={"A": 3}, retries={"A": 2})
    harness = make.EngineHarness(made, Config(always_run_post=True)).begin()
    harness.pre_ends("A", 3)
    assert harness.asked(do.Exit) == [do.Exit(3)]
    assert harness.engine.report().failed == 0
    assert harness.engine.run.nodes.retries == {}


def test_an_abort_by_a_pre_script_that_succeeded() -> None:
    made = make.dag("A", pre={"A": "p"}, aborts={"A": (0, 1)})
    harness = make.EngineHarness(made).begin()
    harness.pre_ends("A", 0)
    assert harness.asked(do.Exit) == [do.Exit(1)]
    assert harness.state("A").name == "READY"
    assert not harness.ever(do.SubmitNode)


def test_an_abort_by_a_job_that_succeeded() -> None:
    harness = make.EngineHarness(make.dag("A -> B", aborts={"A": 0})).begin()
    harness.run_node("A", 5)
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert not harness.ever(do.WriteRescue)
    assert harness.states() == "A=DONE B=READY"


def test_an_abort_by_a_post_script() -> None:
    made = make.dag("A B", post={"A": "q"}, aborts={"A": 3}, retries={"A": 2})
    harness = make.EngineHarness(made).begin()
    harness.run_node("A", 5)
    harness.post_ends("A", 3)
    assert harness.said("Aborting DAG because we got the ABORT exit value from a POST script")
    assert harness.asked(do.Exit) == [do.Exit(3)]
    assert harness.state("A").name == "FAILED"


@pytest.mark.parametrize("kind", [PRE, POST])
def test_an_abort_replayed(kind: ScriptKind) -> None:
    made = make.dag(
        "A B",
        pre={"A": "s"} if kind is PRE else {},
        post={"A": "s"} if kind is POST else {},
        aborts={"A": (3, 7)},
    )
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
    made = make.dag(
        "A -> B; C",
        pre={"A": "p"},
        post={"A": "q"},
        pre_skips={"A": 4},
        retries={"A": 1},
    )
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
