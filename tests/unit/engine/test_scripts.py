"""PRE and POST scripts: their start, their end, and what an end leads to."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import NOTE_AGAIN
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Script
from condor_pydagman.vocabulary import RETURN_PRE_FAILED, DagStatus, Note, ScriptKind
from tests import make

PRE, POST = ScriptKind.PRE, ScriptKind.POST


def test_a_pre_script_runs_before_the_submit_and_its_note_comes_between() -> None:
    bench = make.Bench(make.dag("A", pre={"A": "p.sh $NODE $RETRY"})).begin()
    assert bench.asked(do.RunScript) == [do.RunScript(0, PRE, ("p.sh", "A", "0"))]
    assert not bench.asked(do.SubmitNode)
    bench.tell(inputs.ScriptEnded(0, PRE, 0))
    assert bench.asked(do.AppendNote) == [do.AppendNote(Note.PRE_ENDED, 0, 0, 0)]
    assert not bench.asked(do.SubmitNode)
    bench.tell(*bench.echo(bench.last))
    assert bench.submits() == ["A"]
    assert bench.said("PRE Script of node A completed successfully.")


def test_a_failed_pre_script_fails_the_node_without_a_job() -> None:
    bench = make.Bench(make.dag("A -> B", pre={"A": "p"})).begin()
    bench.pre_ends("A", 4)
    assert bench.states() == "A=FAILED B=FUTILE"
    assert bench.engine.nodes.errors[0] == "PRE Script failed with status 4"
    assert not bench.ever(do.SubmitNode)


@pytest.mark.parametrize("always", [False, True])
def test_always_run_post(always: bool) -> None:
    made = make.dag("A", pre={"A": "p"}, post={"A": "q $PRE_SCRIPT_RETURN $RETURN $JOBID"})
    bench = make.Bench(made, Config(always_run_post=always)).begin()
    bench.pre_ends("A", 4)
    if not always:
        assert bench.state("A").name == "FAILED"
        return
    words = ("q", "4", str(RETURN_PRE_FAILED), "-1.-1")
    assert bench.asked(do.RunScript) == [do.RunScript(0, POST, words)]
    bench.post_ends("A")
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_pre_skip_makes_a_node_done_without_job_and_post() -> None:
    made = make.dag("A -> B", pre={"A": "p"}, post={"A": "q"}, pre_skips={"A": 3})
    bench = make.Bench(made).begin()
    bench.tell(inputs.ScriptEnded(0, PRE, 3))
    assert bench.asked(do.AppendPreSkip) == [do.AppendPreSkip(0, 1)]
    bench.tell(*bench.echo(bench.last))
    assert bench.state("A").name == "DONE"
    assert bench.submits() == ["B"]


@pytest.mark.parametrize(("skip", "status"), [(0, 0), (3, 4)])
def test_pre_skip_is_for_its_own_status_only_and_never_for_0(skip: int, status: int) -> None:
    made = make.dag("A", pre={"A": "p"}, pre_skips={"A": skip})
    bench = make.Bench(made).begin()
    bench.pre_ends("A", status)
    assert bench.state("A").name == ("SUBMITTING" if status == 0 else "FAILED")


@pytest.mark.parametrize("job", [0, 1, -9])
@pytest.mark.parametrize("post", [0, 1, -9])
def test_the_post_script_decides(job: int, post: int) -> None:
    bench = make.Bench(make.dag("A", post={"A": "q $RETURN $SUCCESS"})).begin()
    bench.run_node("A", 5, job)
    words = ("q", str(job), str(job == 0))
    assert bench.asked(do.RunScript) == [do.RunScript(0, POST, words)]
    bench.tell(inputs.ScriptEnded(0, POST, post))
    assert bench.asked(do.AppendPostEnded) == [do.AppendPostEnded(0, 5, 0, 0, post)]
    bench.tell(*bench.echo(bench.last))
    assert bench.asked(do.Exit) == [do.Exit(0 if post == 0 else 1)]


def test_a_script_that_could_not_start_is_said() -> None:
    bench = make.Bench(make.dag("A", pre={"A": "p"})).begin()
    bench.tell(inputs.ScriptEnded(0, PRE, 1, "p: no such file"))
    assert bench.said("Error: Failed to execute PRE for Node A: p: no such file")
    assert bench.asked(do.AppendNote)


def test_defer_runs_the_script_again_later() -> None:
    bench = make.Bench(make.dag("A", pre={"A": Script("p", 2, 30)})).begin()
    bench.tell(inputs.ScriptEnded(0, PRE, 2))
    assert not bench.asked(do.AppendNote)
    assert bench.engine.next_deadline() == 1030.0
    assert not bench.wait(29.0)
    assert bench.wait(1.0)[-2:-1] == [do.RunScript(0, PRE, ("p",))]
    bench.pre_ends("A", 0)
    assert bench.submits() == ["A"]
    assert bench.engine.report().deferrals.pre == 1


def test_defer_is_for_its_own_status_only() -> None:
    bench = make.Bench(make.dag("A", pre={"A": Script("p", 2, 30)})).begin()
    bench.pre_ends("A", 3)
    assert bench.state("A").name == "FAILED"


def test_a_deferred_script_without_a_free_place_does_not_wake_anybody() -> None:
    """Found by the simulator (seed 1101): the deadline stayed in the past, and DAGMan spun."""
    made = make.dag("A B", pre={"A": Script("p", 2, 5), "B": "p"})
    bench = make.Bench(made, Config(pending_report_interval=0), Throttles(pre=1)).begin()
    bench.tell(inputs.ScriptEnded(0, PRE, 2))
    assert bench.asked(do.RunScript) == [do.RunScript(1, PRE, ("p",))]
    bench.wait(5.0)
    assert bench.engine.next_deadline() is None
    bench.tell(inputs.ScriptEnded(1, PRE, 0))
    assert bench.asked(do.RunScript) == [do.RunScript(0, PRE, ("p",))]


@pytest.mark.parametrize("kind", [PRE, POST])
def test_throttle_of_scripts(kind: ScriptKind) -> None:
    scripts = dict.fromkeys("ABC", "s")
    made = make.dag("A B C", pre=scripts) if kind is PRE else make.dag("A B C", post=scripts)
    bench = make.Bench(made, limits=Throttles(pre=2, post=2)).begin()
    if kind is POST:
        for cluster, name in enumerate("ABC", 1):
            bench.take(name, cluster)
        bench.tell(*(make.terminated(cluster) for cluster in (1, 2, 3)))
    assert [run.node for run in bench.asked(do.RunScript)] == [0, 1]
    bench.tell(inputs.ScriptEnded(1, kind, 0))
    assert [run.node for run in bench.asked(do.RunScript)] == [2]
    report = bench.engine.report()
    assert (report.deferrals.pre, report.deferrals.post) == ((1, 0) if kind is PRE else (0, 1))


@pytest.mark.parametrize("strict", [0, 1])
def test_an_unknown_macro_is_fatal_only_if_strict(strict: int) -> None:
    bench = make.Bench(make.dag("A", pre={"A": "p $WHAT"}), Config(use_strict=strict)).begin()
    assert bench.said("unrecognized macro $WHAT")
    if strict:
        assert bench.asked(do.Exit) == [do.Exit(1)]
        assert bench.engine.status is DagStatus.ERROR
    else:
        assert bench.asked(do.RunScript) == [do.RunScript(0, PRE, ("p", "$WHAT"))]


def test_an_answer_of_a_script_that_does_not_run_is_ignored() -> None:
    bench = make.Bench(make.dag("A", pre={"A": "p"})).begin()
    bench.pre_ends("A", 0)
    assert bench.tell(inputs.ScriptEnded(0, PRE, 1)) == []


def test_retry_runs_the_pre_script_again_with_the_new_number() -> None:
    made = make.dag("A", pre={"A": "p $RETRY $MAX_RETRIES"}, retries={"A": 1})
    bench = make.Bench(made).begin()
    bench.pre_ends("A", 1)
    assert bench.asked(do.RunScript) == [do.RunScript(0, PRE, ("p", "1", "1"))]
    bench.pre_ends("A", 1)
    assert bench.state("A").name == "FAILED"
    assert bench.engine.nodes.errors[0].endswith("(after 1 node retries)")


def test_a_note_that_is_not_read_back_is_written_again() -> None:
    """It was lost in the log; a second copy, should both be read, does no harm."""
    bench = make.Bench(make.dag("A", pre={"A": "x"})).begin()
    bench.tell(inputs.ScriptEnded(0, PRE, 0))
    first = bench.asked(do.AppendNote)
    assert len(first) == 1
    assert bench.engine.next_deadline() is not None
    bench.wait(NOTE_AGAIN)
    assert bench.asked(do.AppendNote) == first
    bench.tell(make.note(Note.PRE_ENDED, "A"))
    assert bench.submits() == ["A"]
    bench.tell(make.note(Note.PRE_ENDED, "A"))
    assert not bench.submits()
    bench.wait(NOTE_AGAIN)
    assert not bench.asked(do.AppendNote)
