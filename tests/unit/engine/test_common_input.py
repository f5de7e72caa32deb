"""The DAG's list of common input files: recorded before the first job that has one is submitted."""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.vocabulary import JournalRecord
from tests import make

FIRST = inputs.CommonInput(0, "a,b")


def lists(harness: make.EngineHarness) -> list[str]:
    """What the last submissions were told of the DAG's list."""
    return [action.common_input for action in harness.asked(do.SubmitNode)]


def test_the_list_is_recorded_before_anything_is_submitted_and_given_to_later_nodes() -> None:
    harness = make.harness_of("A B")
    assert lists(harness) == [""]
    actions = harness.tell(FIRST)
    kinds = [type(action) for action in actions]
    assert kinds.index(do.AppendJournalRecord) < kinds.index(do.SubmitNode)
    [record] = harness.asked(do.AppendJournalRecord)
    assert (record.record, record.text) == (JournalRecord.COMMON_INPUT, "a,b")
    assert (harness.submits(), lists(harness)) == (["A"], ["a,b"])
    assert harness.engine.run.submission.in_flight == [0]
    harness.read_back()
    harness.take("A", 1)
    assert (harness.submits(), lists(harness)) == (["B"], ["a,b"])


def test_the_node_is_announced_once() -> None:
    harness = make.harness_of("A")
    harness.tell(FIRST)
    said = [say.text for say in harness.ever(do.Say)]
    assert said.count("Submitting HTCondor Node A job(s)...") == 1


def test_a_restart_knows_the_list_of_common_input() -> None:
    harness = make.harness_of("A -> B")
    harness.happens(FIRST)
    harness.run_node("A", 1)
    other = harness.same_replay()
    assert other.engine.run.submission.common_input == "a,b"
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    assert (other.submits(), lists(other)) == (["B"], ["a,b"])


def test_a_restart_between_record_and_submission() -> None:
    harness = make.harness_of("A")
    harness.happens(FIRST)
    other = harness.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    assert (other.submits(), lists(other)) == (["A"], ["a,b"])


def test_the_first_record_counts() -> None:
    harness = make.EngineHarness("A B").begin(recovering=True)
    harness.tell(make.record(JournalRecord.COMMON_INPUT, "A")._replace(text="a"))
    harness.tell(make.record(JournalRecord.COMMON_INPUT, "B")._replace(text="b"))
    assert harness.engine.run.submission.common_input == "a"


def test_nothing_is_submitted_any_more_when_the_dag_is_removed_meanwhile() -> None:
    harness = make.harness_of("A\nFINAL F n.sub")
    harness.tell(inputs.DagRemoved(), FIRST)
    assert "A" not in harness.submits()
    assert not [
        record
        for record in harness.ever(do.AppendJournalRecord)
        if record.record == JournalRecord.COMMON_INPUT
    ]


def test_a_dag_that_ends_for_a_full_disk_leaves_the_node_alone() -> None:
    harness = make.harness_of("A B")
    harness.tell(FIRST, inputs.AppendFailed("no space"))
    assert harness.submits() == ["A"]  # on its way already; removed with everything else


def test_the_list_does_not_answer_for_a_node_that_was_adopted() -> None:
    harness = make.harness_of("A")
    harness.tell(make.submit("A", 5, 0), FIRST)
    assert not harness.submits()


def test_a_halt_meanwhile_holds_the_submission_back() -> None:
    harness = make.harness_of("A")
    harness.tell(inputs.Halt("tea"), FIRST)
    assert harness.state("A").name == "READY"
    assert not harness.ever(do.AppendJournalRecord)
    assert not harness.submits()
    harness.tell(inputs.Resume())
    assert harness.submits() == ["A"]
