"""How a DAG has grown: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.features.feeder.shown import FeederSeen
from condor_pydagman.features.growth.shown import GrowthSeen
from condor_pydagman.follow.run_model import Run
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.event_words import event_words
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.follow.bench import A, Bench, follower_of, take

ERROR = NodeStatus.ERROR


def grown(number: int, text: str) -> RecordRead:
    return RecordRead("GROWN", "", 0, number, text)


def known(run: Run) -> tuple[int, str, str, float]:
    seen = FeederSeen.of(run)
    return seen.number, seen.state, seen.reason, seen.time


def test_pieces_of_a_feeder_until_it_ends() -> None:
    follower = follower_of(A)
    assert [one.data for one in take(follower, grown(1, "d"), 5.0)] == [{"piece": 1}]
    assert not take(follower, grown(1, "d"), 5.0)
    assert "feeder" not in follower.run.of
    (event,) = take(follower, grown(2, "e FEEDING 1"), 6.0)
    assert event.data == {"piece": 2, "feeding": 1}
    assert event_words(event) == "nodes were added to the DAG"
    assert known(follower.run) == (1, "", "", 6.0)
    assert not take(follower, grown(2, "e FEEDING 1"), 7.0)
    assert known(follower.run) == (1, "", "", 6.0)
    _, event = take(follower, grown(3, "f FEEDING 2 LAST"), 8.0)
    assert (event.name, event.data) == ("dag.feeder", {"state": "ended", "feedings": 2})
    assert event_words(event) == "the FEEDER ended"
    assert known(follower.run) == (2, "ended", "", 8.0)


def test_a_feeder_that_fails() -> None:
    follower = follower_of(A)
    read = RecordRead("FEEDER_FAILED", "", 0, 0, "feeding 1: no table")
    (event,) = take(follower, read, 5.0)
    assert event_words(event) == "the FEEDER failed: feeding 1: no table"
    assert known(follower.run) == (0, "failed", "feeding 1: no table", 5.0)
    assert not take(follower, read, 6.0)


def test_damaged_records_tell_what_can_be_read() -> None:
    follower = follower_of(A)
    for number, text in enumerate(("", "d FEEDING", "d FEEDING x", f"d FEEDING {'9' * 5000}"), 1):
        assert [one.data for one in take(follower, grown(number, text), 5.0)] == [{"piece": number}]
    assert GrowthSeen.of(follower.run).pieces == {1, 2, 3, 4}


def test_a_node_whose_addition_is_refused_has_failed(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7)
    bench.record("GROWTH_FAILED", text="ERROR: it is wrong")
    node = bench.node("EXTEND A more.dag\n")
    assert (node.status, node.attempts[-1].over) == (ERROR, True)
    assert node.why == "what it adds to the DAG is refused: it is wrong"


def test_the_dag_grows_once_by_each_piece(bench: Bench) -> None:
    for number in (1, 1, 2):
        bench.record("GROWN", number, text="d")
    bench.follow()
    assert [event.data for event in bench.told("dag.grow")] == [{"piece": 1}, {"piece": 2}]


def test_growth_is_kept_for_the_report() -> None:
    follower = follower_of(A)
    take(follower, grown(1, "d"), 5.0)
    take(follower, RecordRead("GROWN", "A", 0, 2, "e"), 6.0)
    take(follower, grown(3, "f FEEDING 1"), 7.0)
    kept = follower.run.interventions.kept
    assert [(one.by, one.what, one.nodes) for one in kept] == [
        ("", "nodes added", ()),
        ("EXTEND or SCATTER", "nodes added", ("A",)),
        ("FEEDER", "nodes added", ()),
    ]
