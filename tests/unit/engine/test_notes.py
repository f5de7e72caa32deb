"""Our own decisions, read back from the nodes log: once, twice, late, or of another run."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import NOTE_AGAIN
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.graph.model import Retry, Timeout
from condor_pydagman.vocabulary import EventKind, NodeKind, Note, ScriptKind
from tests import make


def test_a_note_about_an_earlier_run_is_ignored() -> None:
    made = make.dag("A", pre={"A": "p"}, retries={"A": 1})
    bench = make.Bench(made).begin()
    bench.pre_ends("A", 1)
    bench.tell(make.note(Note.PRE_ENDED, "A", value=0, retry=0))
    assert bench.said("Ignoring a note about an earlier run of node A")
    assert bench.state("A").name == "PRE_RUN"


def everything() -> make.Bench:
    """A DAG with a node for every kind of note."""
    made = make.dag(
        "A -> B; C; P; S; F",
        kinds={"P": NodeKind.PROVISIONER, "S": NodeKind.SERVICE, "F": NodeKind.FINAL},
        pre={"A": "p", "C": "p"},
        post={"B": "q"},
        retries={"A": 2, "C": Retry(1, delay=60)},
        timeouts={"B": Timeout(queued=60)},
        pre_skips={"C": 4},
    )
    return make.Bench(made).begin()


@pytest.mark.parametrize("kind", list(Note))
@pytest.mark.parametrize("name", ["A", "B", "C", "P", "S", "F", "Z", ""])
@pytest.mark.parametrize("retry", [0, 1, -5])
def test_any_note_about_any_node_at_any_time_does_no_harm(
    kind: Note, name: str, retry: int
) -> None:
    """Written by a bug, by somebody else or by a log of another DAG: no crash, no loop."""
    for value in (0, 3, -9):
        event = make.note(kind, name, value=value, retry=retry, cluster=5, proc=0)
        bench = everything()
        bench.tell(event, event)
        other = make.Bench(bench.dag).begin(recovering=True)
        other.tell(event, event, inputs.LogCaughtUp())
        if other.asked(do.QueryQueue):
            other.tell(inputs.QueueListed([]))
        other.tell(event)


@pytest.mark.parametrize("kind", [Note.JOB_ENDED, Note.JOB_LOST, Note.ADOPTED, Note.SURPLUS])
def test_a_note_of_a_job_tells_nothing_of_another_node(kind: Note) -> None:
    bench = make.Bench("A; B -> C").begin()
    bench.take("A", 5)
    bench.tell(make.note(kind, "B", value=1, cluster=5, proc=0))
    assert bench.said("ignoring a note of job (5.0.")
    assert bench.engine.book.by_cluster[5] == bench.dag.ids["A"]


def test_a_generic_event_of_somebody_else() -> None:
    bench = make.Bench("A").begin()
    assert not bench.tell(LogEvent(EventKind.GENERIC, 5, 0, 0, node="A", text="hello"))


def test_a_note_of_an_unknown_node_is_said() -> None:
    bench = make.Bench("A").begin()
    bench.tell(make.note(Note.PRE_ENDED, "Z"))
    assert bench.said("for unknown Node")


def test_a_failed_submission_is_noted_with_its_reason() -> None:
    bench = make.Bench(make.dag("A -> B", retries={"A": 3})).begin()
    bench.tell(inputs.SubmitFailed(0, "no such file", permanent=True))
    (note,) = bench.asked(do.AppendNote)
    assert (note.note, note.text) == (Note.SUBMIT_FAILED, "no such file")
    assert bench.state("A").name == "SUBMIT_NOTED"
    bench.read_back()
    assert bench.engine.nodes.errors[0] == "Job submit failed: no such file"
    assert bench.states() == "A=FAILED B=FUTILE"
    bench.same_replay()


def test_a_failed_submission_with_a_post_script() -> None:
    words = "q $RETURN $SUCCESS $JOBID $RETRY"
    bench = make.Bench(make.dag("A -> B", retries={"A": 3}, post={"A": words})).begin()
    bench.tell(inputs.SubmitFailed(0, "no such file", permanent=True))
    bench.read_back()
    assert bench.asked(do.RunScript)[0].words[:4] == ("q", "-1001", "True", "-1.-1")
    bench.same_replay()
    bench.post_ends("A")
    assert bench.states() == "A=DONE B=SUBMITTING"
    bench.same_replay()


def test_a_failed_submission_whose_post_script_fails_is_not_retried() -> None:
    bench = make.Bench(make.dag("A -> B", retries={"A": 3}, post={"A": "q"})).begin()
    bench.tell(inputs.SubmitFailed(0, "no such file", permanent=True))
    bench.read_back()
    bench.post_ends("A", 1)
    assert bench.states() == "A=FAILED B=FUTILE"
    assert bench.engine.nodes.errors[0].startswith(
        "Job submit failed and POST Script failed with status 1"
    )


def test_a_doubled_note_of_a_failed_submission() -> None:
    bench = make.Bench(make.dag("A; B", post={"A": "q"})).begin()
    first = bench.tell(inputs.SubmitFailed(0, "no", permanent=True))
    bench.tell(*bench.echo(first), *bench.echo(first))
    assert len(bench.asked(do.RunScript)) == 1


def test_an_adoption_is_noted_until_it_has_been_read_back() -> None:
    """The log shows nothing else of that job: a replay without the note would run it twice."""
    bench = make.Bench("A").begin(recovering=True)
    bench.tell(inputs.LogCaughtUp(), inputs.QueueListed([inputs.QueuedJob(5, 0, "A", 0)]))
    noted = bench.asked(do.AppendNote)
    assert [note.note for note in noted] == [Note.ADOPTED]
    bench.wait(NOTE_AGAIN)
    assert bench.asked(do.AppendNote) == noted
    bench.read_back()
    bench.wait(NOTE_AGAIN)
    assert not bench.asked(do.AppendNote)


def test_adopted_procs_in_a_replay() -> None:
    bench = make.Bench("A -> B").begin(recovering=True)
    bench.tell(make.note(Note.ADOPTED, "A", value=3, cluster=5))
    assert bench.state("A").name == "SUBMITTED"
    assert bench.engine.report().procs_submitted == 3
    bench.tell(*(make.terminated(5, proc) for proc in range(3)))
    assert bench.states() == "A=DONE B=READY"


def test_an_adopted_job_whose_submit_event_comes_after_all() -> None:
    bench = make.Bench("A -> B").begin(recovering=True)
    bench.tell(make.note(Note.ADOPTED, "A", value=1, cluster=5), make.submit("A", 5))
    assert bench.engine.report().procs_submitted == 1
    bench.tell(make.terminated(5))
    assert bench.state("A").name == "DONE"


def test_a_lost_proc_of_another_cluster() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5)
    bench.tell(make.note(Note.JOB_LOST, "A", cluster=4, proc=0))
    assert bench.state("A").name == "SUBMITTED"
    bench.tell(make.note(Note.JOB_LOST, "A", cluster=5, proc=0))
    assert bench.state("A").name == "FAILED"


def test_the_end_of_a_proc_that_was_given_up_as_lost() -> None:
    bench = make.Bench(make.dag("A; B", retries={"A": 1})).begin()
    bench.take("A", 5)
    bench.take("B", 6)
    bench.tell(make.note(Note.JOB_LOST, "A", cluster=5, proc=0))
    assert bench.submits() == ["A"]
    bench.tell(make.terminated(5))
    assert bench.state("A").name == "SUBMITTING"


def test_a_note_that_is_not_read_back_is_written_again_and_only_it() -> None:
    bench = make.Bench(make.dag("A B", pre={"A": "p", "B": "p"})).begin()
    bench.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 0))
    lost = bench.asked(do.AppendNote)
    bench.wait(10.0)
    bench.tell(inputs.ScriptEnded(1, ScriptKind.PRE, 0))
    bench.read_back()
    assert bench.engine.next_deadline() == bench.now - 10 + NOTE_AGAIN
    bench.wait(NOTE_AGAIN - 10)
    assert bench.asked(do.AppendNote) == lost
    bench.tell(*bench.echo(lost), *bench.echo(lost))  # both after all
    assert bench.state("A").name == "READY"
    bench.wait(NOTE_AGAIN)
    assert not bench.asked(do.AppendNote)


@pytest.mark.parametrize("kind", ["post", "skip", "noop"])
def test_other_events_of_ours_are_written_again_too(kind: str) -> None:
    made = make.dag(
        "A; B",
        post={"A": "q"} if kind == "post" else {},
        pre={"A": "p"} if kind == "skip" else {},
        pre_skips={"A": 4} if kind == "skip" else {},
        noop="A" if kind == "noop" else "",
    )
    bench = make.Bench(made).begin()
    if kind == "post":
        bench.run_node("A", 5)
        bench.tell(inputs.ScriptEnded(0, ScriptKind.POST, 0))
    elif kind == "skip":
        bench.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 4))
    appends = (do.AppendPostEnded, do.AppendPreSkip, do.AppendNoop)
    lost = [action for action in bench.all if isinstance(action, appends)]
    bench.wait(NOTE_AGAIN)
    assert [action for action in bench.last if isinstance(action, appends)] == lost
    bench.read_back()
    assert bench.state("A").name == "DONE"


def test_half_of_a_noop_is_read_back() -> None:
    bench = make.Bench(make.dag("A; B", noop="A")).begin()
    bench.tell(make.noop("A", 1)[0])
    assert bench.state("A").name == "SUBMITTED"
    bench.wait(NOTE_AGAIN)
    bench.read_back()
    assert bench.state("A").name == "DONE"


def test_an_old_log_with_half_of_a_noop() -> None:
    bench = make.Bench(make.dag("A -> B", noop="A")).begin(recovering=True)
    bench.tell(make.noop("A", 1)[0], inputs.LogCaughtUp(), inputs.QueueListed([]))
    bench.read_back()
    assert bench.states() == "A=DONE B=SUBMITTING"


def timed_out_and_not_read_back() -> make.Bench:
    bench = make.Bench(make.dag("A", timeouts={"A": Timeout(total=50)})).begin()
    bench.take("A", 5, procs=2)
    bench.wait(50.0)
    assert [action.note for action in bench.asked(do.AppendNote)] == [Note.TIMED_OUT]
    return bench


@pytest.mark.parametrize(
    "other",
    [
        make.note(Note.JOB_LOST, "A", cluster=4, proc=0),
        make.note(Note.ADOPTED, "A", value=2, cluster=5),
        make.note(Note.TIMED_OUT, "A", retry=7, cluster=5),
        make.post_ended("A", 0),
        make.pre_skip("A", 3),
    ],
)
def test_another_event_of_ours_about_the_node_is_not_the_one_that_is_awaited(
    other: LogEvent,
) -> None:
    bench = timed_out_and_not_read_back()
    lost = bench.asked(do.AppendNote)
    bench.tell(other)
    bench.wait(NOTE_AGAIN)
    assert bench.asked(do.AppendNote) == lost
    bench.read_back()
    assert [removal.cluster for removal in bench.asked(do.RemoveJobs)] == [5]
    bench.wait(NOTE_AGAIN)
    assert not bench.asked(do.AppendNote)
