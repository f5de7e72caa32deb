"""The DAG's list of common input files: noted before the first job that has one is submitted."""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.vocabulary import NodeKind, Note
from tests import make

FIRST = inputs.CommonInput(0, "a,b")


def lists(bench: make.Bench) -> list[str]:
    """What the last submissions were told of the DAG's list."""
    return [action.common_input for action in bench.asked(do.SubmitNode)]


def test_it_is_noted_before_anything_is_submitted_and_told_to_later_nodes() -> None:
    bench = make.Bench("A B").begin()
    assert lists(bench) == [""]
    actions = bench.tell(FIRST)
    kinds = [type(action) for action in actions]
    assert kinds.index(do.AppendNote) < kinds.index(do.SubmitNode)
    [note] = bench.asked(do.AppendNote)
    assert (note.note, note.text) == (Note.COMMON_INPUT, "a,b")
    assert (bench.submits(), lists(bench)) == (["A"], ["a,b"])
    assert bench.engine.submitting == 0
    bench.read_back()
    bench.take("A", 1)
    assert (bench.submits(), lists(bench)) == (["B"], ["a,b"])


def test_the_node_is_announced_once() -> None:
    bench = make.Bench("A").begin()
    bench.tell(FIRST)
    said = [say.text for say in bench.ever(do.Say)]
    assert said.count("Submitting HTCondor Node A job(s)...") == 1


def test_a_restart_knows_it() -> None:
    bench = make.Bench("A -> B").begin()
    bench.tell(FIRST)
    bench.read_back()
    bench.run_node("A", 1)
    other = bench.same_replay()
    assert other.engine.common_input == "a,b"
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    assert (other.submits(), lists(other)) == (["B"], ["a,b"])


def test_a_restart_between_note_and_submission() -> None:
    bench = make.Bench("A").begin()
    bench.tell(FIRST)
    bench.read_back()
    other = bench.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    assert (other.submits(), lists(other)) == (["A"], ["a,b"])


def test_the_first_note_counts() -> None:
    bench = make.Bench("A B").begin(recovering=True)
    bench.tell(make.note(Note.COMMON_INPUT, "A")._replace(text="a"))
    bench.tell(make.note(Note.COMMON_INPUT, "B")._replace(text="b"))
    assert bench.engine.common_input == "a"


def test_nothing_is_submitted_any_more_when_the_dag_is_removed_meanwhile() -> None:
    bench = make.Bench(make.dag("A -> F", kinds={"F": NodeKind.FINAL})).begin()
    bench.tell(inputs.Stop(), FIRST)
    assert "A" not in bench.submits()
    assert not [note for note in bench.ever(do.AppendNote) if note.note is Note.COMMON_INPUT]


def test_a_dag_that_ends_for_a_full_disk_leaves_the_node_alone() -> None:
    bench = make.Bench("A B").begin()
    bench.tell(FIRST, inputs.AppendFailed("no space"))
    assert bench.submits() == ["A"]  # on its way already; removed with everything else


def test_it_does_not_answer_for_a_node_that_was_found_in_the_queue() -> None:
    bench = make.Bench("A").begin()
    bench.tell(make.submit("A", 5, 0), FIRST)
    assert not bench.submits()
