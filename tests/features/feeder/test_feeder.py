"""FEEDER: a program that adds to the DAG when few nodes are left, live and replayed."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.features.feeder.commands import FeederOfDag
from condor_pydagman.features.feeder.report import FeederReport
from condor_pydagman.features.feeder.run import Fed, RunFeeder
from condor_pydagman.features.growth.commands import Feeding, GrownPiece, GrowthOfDag
from condor_pydagman.features.growth.run import PieceOffered
from condor_pydagman.vocabulary import LAST, DagStatus
from tests import make
from tests.unit.engine.growing import FedDag, Growing, feeder


def test_an_empty_dag_is_fed_until_there_is_no_more() -> None:
    it = FedDag(below=2)
    assert it.runs() == [1]
    it.give("JOB A a\nJOB B b\nPARENT A CHILD B\n")
    assert it.runs() == [1]
    it.run("A")
    assert it.runs() == [1, 2]
    it.give("JOB C c\n", last=True)
    it.run("C")
    assert it.exit_code() is None
    it.run("B")
    assert it.exit_code() == 0
    assert it.report == FeederReport("ended", 2, 3)


def test_there_is_no_more_at_the_first_time() -> None:
    it = FedDag()
    it.give("", last=True)
    assert it.exit_code() == 0


def test_a_dag_waits_for_its_feeder() -> None:
    it = FedDag("A", below=1)
    assert it.runs() == []
    it.run("A")
    assert it.runs() == [1]
    assert it.exit_code() is None
    assert it.report == FeederReport("runs", 0, 0)


def test_what_the_program_is_told() -> None:
    it = FedDag("A -> B", below=3, program="feed.sh $FEEDING $open_count x$DONE_COUNT $NODE_COUNT")
    asked = it.asked[-1] if isinstance(it.asked[-1], RunFeeder) else None
    asked = asked or next(one for one in it.asked if isinstance(one, RunFeeder))
    assert asked.words == ("feed.sh", "1", "2", "x$DONE_COUNT", "2")
    told = dict(asked.variables)
    assert (told["PYDAGMAN_FEEDING"], told["PYDAGMAN_FED_COUNT"]) == ("1", "0")
    assert (told["PYDAGMAN_OPEN_COUNT"], told["PYDAGMAN_ROOM_COUNT"]) == ("2", "1999998")


def test_nothing_now_is_asked_again_after_growing_pauses() -> None:
    it = FedDag()
    for pause in (10.0, 20.0, 40.0, 60.0, 60.0):
        asked = len(it.runs())
        it.feed(Fed(1))
        assert it.engine.next_deadline() == it.now + pause
        it.wait(pause)
        assert len(it.runs()) == asked + 1
    assert it.runs() == [1] * 6
    it.give("JOB A a\n")
    it.run("A")
    assert it.runs()[-1] == 2  # at once


def test_a_piece_without_nodes_counts_but_is_followed_by_a_pause() -> None:
    it = FedDag()
    it.give("SUBMIT-DESCRIPTION s {\nexecutable = /bin/true\n}\n")
    assert it.runs() == [1]
    it.wait(10.0)
    assert it.runs() == [1, 2]


def test_a_program_that_fails_is_run_again_and_then_no_more() -> None:
    it = FedDag("A", below=2, retries=2)
    for pause in (10.0, 20.0):
        it.fails("exit code 1\nsaid so")
        assert it.report == FeederReport("waits", 0, 0, "exit code 1")
        it.wait(pause - 2.0)
        before = len(it.runs())
        it.wait(2.0)
        assert len(it.runs()) == before + 1
    it.fails("exit code 1\nsaid so")
    (record,) = it.records("FEEDER_FAILED")
    assert record.text == "feeding 1: exit code 1"
    it.read_back(record)
    it.read_back(record)
    assert it.report == FeederReport("failed", 0, 0, "feeding 1: exit code 1")
    it.run("A")
    it.end()
    assert it.exit_code() == 1
    assert it.engine.report().dag_status is DagStatus.ERROR
    assert it.runs() == [1, 1, 1]
    said = [one.text for one in it.asked if isinstance(one, do.Say)]
    assert any("its FEEDER has failed: feeding 1: exit code 1" in text for text in said)


def test_a_success_gives_all_retries_back() -> None:
    it = FedDag(retries=1)
    it.fails()
    it.wait(10.0)
    it.give("JOB A a\n")
    it.run("A")
    it.fails()
    it.wait(10.0)
    assert it.runs() == [1, 1, 2, 2]
    assert not it.records("FEEDER_FAILED")


def test_a_record_that_is_not_read_back_is_written_again() -> None:
    it = FedDag(retries=0)
    it.fails()
    due = it.engine.next_deadline()
    assert due is not None
    it.wait(due - it.now)
    assert len(it.records("FEEDER_FAILED")) == 2
    assert it.exit_code() is None
    it.read_back(it.records("FEEDER_FAILED")[0])
    it.end()
    assert it.exit_code() == 1


def test_a_dag_with_as_many_nodes_as_one_can_have_ends_its_feeder() -> None:
    it = FedDag("A", below=5, limits={"max_grown_nodes": 4})
    assert room(it) == 3
    it.give("JOB B b\nJOB C c\n")
    assert room(it) == 1
    it.feed(Fed(2, it.piece("JOB D d\nJOB E e\n")))
    assert it.report is not None
    assert it.report.error == (
        "the DAG would have 5 nodes, more than the 4 of PYDAGMAN_MAX_GROWN_NODES: another DAG can"
        " go on, see docs/growth.md"
    )
    it.wait(10.0)
    assert it.give("JOB D d\n").text.split()[-1] == LAST
    assert it.report == FeederReport("ended", 2, 3)
    for name in "ABCD":
        it.run(name)
    assert it.exit_code() == 0


def test_a_person_takes_the_last_room() -> None:
    it = FedDag("A", below=5, limits={"max_grown_nodes": 2})
    person = it.piece("JOB B b\n")._replace(feeding=None)
    it.feed(PieceOffered(7, person, "ann"))
    it.pieces[person.digest] = person
    it.read_back(it.records("GROWN")[-1])
    assert it.report == FeederReport("ended", 0, 0)
    it.feed(Fed(1, it.piece("JOB C c\n")))
    assert len(it.records("GROWN")) == 1
    it.run("A")
    it.run("B")
    assert it.exit_code() == 0


def test_a_feeder_without_a_limit_has_room_for_all_that_a_dag_can_have() -> None:
    assert room(FedDag("A", below=5, limits={"max_grown_nodes": 0})) == 2**31 - 1


def room(it: FedDag) -> int:
    """What the program was told last."""
    asked = [one for one in it.asked if isinstance(one, RunFeeder)][-1]
    return int(dict(asked.variables)["PYDAGMAN_ROOM_COUNT"])


def test_what_is_refused_when_it_comes_counts_as_a_failure() -> None:
    it = FedDag("A", below=2)
    it.feed(Fed(1, it.piece("JOB B b\n")._replace(dag=make.dag("A"), known=())))
    assert it.report is not None
    assert it.report.error == "there is a node A already"


def test_at_most() -> None:
    it = FedDag("A", below=5, at_most=3)
    it.give("JOB B b\nJOB C c\n")
    assert it.runs() == [1, 2]
    it.feed(Fed(2, it.piece("JOB D d\nJOB E e\n")))
    assert it.report is not None
    assert it.report.error == "it has 2 nodes, and the FEEDER may add 1 more: AT-MOST 3"
    it.wait(10.0)
    it.give("JOB D d\n")
    assert it.report == FeederReport("ended", 2, 3)
    for name in "ABCD":
        it.run(name)
    assert it.exit_code() == 0


def test_a_halted_dag_is_not_fed() -> None:
    it = FedDag("A")
    it.feed(inputs.Halt("wait"))
    it.run("A")
    assert it.runs() == []
    it.feed(inputs.Resume())
    assert it.runs() == [1]


def test_a_halted_dag_that_could_only_be_fed_ends_as_one_with_nodes_left() -> None:
    it = FedDag("A")
    it.feed(inputs.Halt("wait"))
    it.run("A")
    due = it.engine.next_deadline()
    assert due is not None
    it.wait(due - it.now)
    it.end()
    assert it.exit_code() not in (None, 0)


def test_a_dag_that_ends_is_not_fed_and_the_program_is_killed() -> None:
    it = FedDag("A", below=2)
    it.feed(inputs.DagRemoved())
    it.end()
    assert any(isinstance(one, do.KillScripts) for one in it.asked)
    it.feed(Fed(1, error="killed"))
    assert not it.records("FEEDER_FAILED")


def test_a_replay_knows_what_has_been_fed() -> None:
    it = FedDag()
    records = [it.give("JOB A a\n")]
    it.run("A")
    assert it.runs() == [1, 2]
    again = FedDag(begin=False)
    again.pieces["d1"] = again.piece("JOB A a\n", number=1)
    again.begin(recovering=True)
    again.read_back(records[0])
    again.run("A")
    again.feed(inputs.LogCaughtUp(), inputs.QueueListed(()))
    assert again.runs() == [2]


@pytest.mark.parametrize("last", [False, True])
def test_a_rescue_dag_goes_on_where_the_last_run_was(last: bool) -> None:
    dag = make.dag("A")
    dag.flags[0] |= 2
    GrowthOfDag.put(dag).pieces.append(GrownPiece(1, "d1", "", 1, Feeding(4, last)))
    FeederOfDag.put(dag).feeder = feeder()
    it = Growing(dag).begin()
    asked = [one.number for one in it.asked if isinstance(one, RunFeeder)]
    assert asked == ([] if last else [5])


def test_a_replay_that_shows_a_failure_ends_as_one() -> None:
    it = FedDag(begin=False)
    it.begin(recovering=True)
    it.read_back(do.AppendJournalRecord("FEEDER_FAILED", -1, 0, text="feeding 1: no"))
    it.feed(inputs.LogCaughtUp(), inputs.QueueListed(()))
    assert it.runs() == []
    it.end()
    assert it.exit_code() == 1


def test_the_provisioner_comes_first() -> None:
    dag = make.dag("P; A")
    dag.kinds[0] = 3
    FeederOfDag.put(dag).feeder = feeder(below=3)
    engine = Growing(dag).begin()
    assert not [one for one in engine.asked if isinstance(one, RunFeeder)]


def test_a_dag_without_one_has_no_report() -> None:
    it = Growing(make.dag("A"))
    assert isinstance(it.engine, Engine)
    assert "feeder" not in it.engine.run.features


def test_what_the_program_says_can_do_no_harm() -> None:
    it = FedDag()
    it.fails("\x1b[2J" + "x" * 1000)
    assert it.report is not None
    assert "\x1b" not in it.report.error
    assert len(it.report.error) == 300
